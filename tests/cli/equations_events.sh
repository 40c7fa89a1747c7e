#!/bin/sh
# The table of events of systems of a spec (`record.trajectories.events`): rows are the events that metrics count, in
# their order, with mode, states and held numbers before and after; the same from a replay, by every integrator, of a
# window, of several replicates, after a repair; at most as many as are kept, which is said. h5py, pandas and xarray
# read it. The digests of equations_bits.sh have such tables, too.
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/equations.sh"

# events NAME/TRIAL [option]...: its events are in events.csv
events()
{
    replayed=$1
    shift
    works replay "$replayed" --debug events -o events.csv "$@"
}

# table WHAT PROGRAM: an awk program over events.csv sets `bad` where a row is wrong. at[NAME] is the column of a name.
table()
{
    awk -F , "function bad(what) { printf \"row %d: %s: %s\\n\", NR - 2, what, \$0; wrong = 1 }
        function value(name) { if (!(name in at)) bad(\"no column \" name); return \$at[name] }
        NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i; next }
        { rows++ } $2 END { exit wrong || !rows }" events.csv >out 2>err
    check $? "$1"
}

# metric NAME/TRIAL COLUMN: of its row
metric()
{
    "$HOPSCOTCH" query "${1%/*}" --columns "$2" --where "id == ${1#*/}" --format csv 2>err | tail -n 1
}

# A runner: events that set, that lead to another mode, that do neither; two of one name; instants; two at one instant.
over='{k: {linspace: [9000, 30000, 4]}, attack: [60, 64, 68]}' \
    system runner 'duration: 3' 'dt: 2.0e-3' <<'END_OF_SYSTEM'
parameters: {m: 80, k: 20000, l0: 1, g: 9.81, attack: {value: 68, unit: deg}}
states: {x: {start: 0, unit: m}, z: {start: 1, unit: m}, vx: {start: 5, unit: m/s}, vz: {start: 0, unit: m/s}}
held: {foot: {start: 0, unit: m}, n: 0, taken: 0}
let: {angle: attack*pi/180, leg: "hypot(x - foot, z)"}
events:
  - {name: look, every: 0.25, set: {n: n + 1}}
  - {name: again, every: 0.5, set: {n: 10*n}}
  - {name: sank, falls: z - 0.1, fail: fell}
modes:
  flight:
    rates: {x: vx, z: vz, vx: 0, vz: -g}
    events:
      - {name: touchdown, falls: z - l0*sin(angle), to: stance, set: {foot: x + l0*cos(angle)}}
      - {name: apex, falls: vz, set: {taken: taken + step(z - l0*sin(angle))}}
      - {name: done, rises: taken - 4.5, stop: true}
  stance:
    let: {F: "k*(l0 - leg)"}
    rates: {x: vx, z: vz, vx: F*(x - foot)/(leg*m), vz: F*z/(leg*m) - g}
    events: [{name: liftoff, rises: leg - l0, to: flight}, {name: apex, falls: vz}]
metrics:
  touchdowns: {count: touchdown}
  liftoffs: {count: liftoff}
  apexes: {count: apex}
  looks: {count: look}
  agains: {count: again}
  sinks: {count: sank}
  dones: {count: done}
  z_down: {at: touchdown, value: z, take: last}
  foot_before: {at: touchdown, value: foot, take: last}
  foot_after: {after: touchdown, value: foot, take: last}
  n_before: {at: again, value: n, take: last}
  n_after: {after: again, value: n, take: last}
  t_up: {at: liftoff, value: time, take: last}
failures: {backward: vx < 0}
END_OF_SYSTEM
cat >>runner.yaml <<'END'
record: {trajectories: {select: {every: 1}, events: true, sample: 0.5}}
END

in_order='{ if (value("number") != NR - 2) bad("number")
    if (NR > 2 && value("time") < time) bad("time")
    if (NR > 2 && value("from") != mode) bad("mode")
    if (NR > 2 && value("time") == time)
        for (i = 0; i < 7; i++) if ($(6 + i) != after[i]) bad("it sees what those before it have set: " i)
    if (value("event") != "look" && value("event") != "again" && value("n_before") != value("n_after")) bad("n")
    if (value("event") != "touchdown" && value("foot_before") != value("foot_after")) bad("foot")
    if (value("event") == "look" && value("n_after") != value("n_before") + 1) bad("look")
    if (value("event") == "again" && value("n_after") != value("n_before")*10) bad("again")
    if (value("event") == "again" && (last != "look" || time != value("time"))) bad("again before look")
    if (value("to") != (value("event") == "touchdown" ? "stance" : value("event") == "liftoff" ? "flight" \
        : value("from"))) bad("to")
    if (value("x_before") != value("x_after")) bad("x")
    for (i = 0; i < 7; i++) after[i] = $(13 + i)
    time = value("time"); mode = value("to"); last = value("event") }'

# agrees NAME/TRIAL: counts, and values at the last event of a name, are those of the metrics
agrees()
{
    for pair in touchdowns/touchdown liftoffs/liftoff apexes/apex looks/look agains/again sinks/sank dones/done; do
        rows_of=$(awk -F , -v name="${pair#*/}" '$3 == name' events.csv | wc -l)
        [ "$(metric "$1" "${pair%/*}")" = "$((rows_of))" ] || echo "$1: $pair: $rows_of rows"
    done >differ
    for pair in z_down/touchdown/z_before foot_before/touchdown/foot_before foot_after/touchdown/foot_after \
        n_before/again/n_before n_after/again/n_after t_up/liftoff/time; do
        name=${pair#*/} column=${pair##*/}
        last=$(awk -F , -v name="${name%/*}" -v column="$column" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
            $3 == name { last = $at[column] } END { print last }' events.csv)
        [ "$(metric "$1" "${pair%%/*}")" = "$last" ] || echo "$1: $pair: $last, not $(metric "$1" "${pair%%/*}")"
    done >>differ
    cat differ >out
    [ ! -s differ ]
    check $? "$1, $2: the table has the events that metrics count, and the values at the last of them"
}

integrators="rodas5p rk4 dormand_prince" trials="0 7 11"
[ -z "${QUICK:-}" ] || integrators=dormand_prince trials="0 7"
for integrator in $integrators; do
    rows runner --set "simulation.integrator=$integrator"
    for trial in $trials; do
        events "runner/$trial"
        table "runner/$trial, $integrator: in their order, each from where the last one left off" "$in_order"
        agrees "runner/$trial" "$integrator"
    done
done
awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { d += $at["dones"]; s += $at["sinks"] }
    END { exit !d || !s }' rows.csv
check $? "some trials end by stop, others by a failure"
events runner/3 --threads 1
cp events.csv first.csv
for isa in scalar $(vector_isas "$HOPSCOTCH"); do # that this processor has and the program was built for
    "$HOPSCOTCH" run runner.yaml --name "probe_$isa" --isa "$isa" --progress none >out 2>err </dev/null || continue
    events runner/3 --isa "$isa"
    cmp -s first.csv events.csv
    check $? "$isa gives the same table"
done

# ---- a map, and noise -----------------------------------------------------------------------------------------------

over='{r: [3.7, 3.9]}' system chaos 'duration: 300' <<'END_OF_SYSTEM'
parameters: {r: 3.7}
states: {x: 0.3, n: 0}
next: {x: "r*x*(1 - x)", n: n}
events: [{name: high, rises: x - 0.8, set: {n: n + 1}}, {name: look, every: 7}, {name: end, at: 250, stop: true}]
metrics: {highs: {count: high}, looks: {count: look}, ends: {count: end}, top: {at: high, value: x, take: last}}
END_OF_SYSTEM
over='{size: [0.1, 0.5]}' system ball 'duration: 4' 'dt: 1.0e-3' 'integrator: sra3' <<'END_OF_SYSTEM'
parameters: {size: 0.1}
states: {x: 1, v: 0}
rates: {x: v, v: -9.81}
noise: {v: size}
events: [{name: high, falls: x, set: {v: "0.9*abs(v)"}}, {name: look, every: 0.3}, {name: end, at: 3, stop: true}]
metrics: {highs: {count: high}, looks: {count: look}, ends: {count: end}, top: {at: high, value: x, take: last}}
END_OF_SYSTEM
for name in chaos ball; do
    rows "$name"
    events "$name/1"
    expected=$(for column in highs looks ends top; do metric "$name/1" "$column"; done | tr '\n' ' ')
    got=$(awk -F , '{ n[$3]++ } $3 == "high" { x = $4 } END { print n["high"], n["look"], n["end"], x }' events.csv)
    [ "$expected" = "$got " ] && [ "$(tail -n 1 events.csv | cut -d , -f 3)" = end ]
    check $? "$name: the events that metrics count, and the end: $got"
done

# ---- the file -------------------------------------------------------------------------------------------------------

rows runner
works export runner --hdf5 runner.h5
works show runner/3
has 'events of replicate 0: '
works show runner/3 --debug 0
has number
grep -Eq '^event +(look|touchdown|apex) ' out
check $? "show prints the name of the event"
if with_python "h5py reads the table" h5py; then
    works replay runner/3 --debug events -o one.h5
    events runner/3
    python3 - >out 2>err <<'END'
import csv
import glob

import h5py

words_of = ("event", "from", "to")
words = ["look", "again", "sank", "touchdown", "apex", "done", "liftoff"]
rows = list(csv.DictReader(open("events.csv")))
shards = [h5py.File(name)["events"] for name in glob.glob("results/runner/shards/*.h5") if "events" in h5py.File(name)]


def same(events, first, length, where):
    assert length == len(rows) > 10, (where, length, len(rows))
    names, modes = list(events["event"].attrs["words"]), list(events["to"].attrs["words"])
    assert set(names) == set(words) and modes == ["flight", "stance"], (where, names, modes)
    assert all(events[name].dtype == "i4" for name in ("event", "number", "from", "to"))
    for k, row in enumerate(rows):
        at = first + k
        assert float(row["time"]) == events["time"][at] and int(row["number"]) == events["number"][at] == k
        assert row["event"] == names[events["event"][at]]
        assert [row["from"], row["to"]] == [modes[events[name][at]] for name in ("from", "to")]
        for column in row:
            assert column in words_of or float(row[column]) == events[column][at], (where, column, k)
    assert [events[name].attrs["units"][0] for name in ("x_before", "vz_after", "n_after")] == ["m", "m/s", "1"]
    assert events["foot_before"].dims[0][0].name == "/events/sample"


lane = [(e, lane) for e in shards for lane in e["lanes"] if lane["trial"] == 3]
assert len(lane) == 1
same(lane[0][0], lane[0][1]["offset"], lane[0][1]["length"], "the shard")
one = h5py.File("one.h5")["events"]
same(one, 0, one["time"].shape[0], "replay")
every = h5py.File("runner.h5")
assert "trajectories" in every
mine = [i for i, trial in enumerate(every["events"]["trial"]) if trial == 3]
same(every["events"], mine[0], len(mine), "export")
END
    check $? "the shard, a replay and an export have the table of the replay as CSV"
fi
if with_python "pandas reads the table" h5py pandas; then
    {
        awk '/^<!-- checked by tests\/cli\/equations_events.sh/ { wanted = 1; next } /^```/ && inside { exit } inside
            /^```python/ && wanted { inside = 1 }' "$root/results/README.md"
        cat <<'END'
rows = pandas.read_csv("rows.csv", float_precision="round_trip")
counts = table[table.event == "touchdown"].groupby("trial").size().reindex(rows["id"]).fillna(0)
assert (counts.values == rows["touchdowns"].values).all()
last = table[table.event == "touchdown"].groupby("trial")["z_before"].last()
assert len(last) > 5 and (last == rows.set_index("id")["z_down"].reindex(last.index)).all()
END
    } >read.py
    python3 read.py >out 2>err && [ "$(wc -l <out)" -gt 9 ]
    check $? "pandas reads the table, as results/README.md does"
fi
if with_python "xarray reads the table" h5netcdf xarray; then
    python3 - >out 2>err <<'END'
import h5netcdf
import xarray

events = xarray.open_dataset("one.h5", group="events", engine="h5netcdf")
assert all(events[name].dims == ("sample",) for name in events.data_vars if "lane" not in name) and "vz_after" in events
assert events["vz_after"].coords["time"].dims == ("sample",) and events["lanes"].dims == ("lane",)
assert list(events["to"].attrs["words"]) == ["flight", "stance"] and events["x_before"].attrs["units"] == "m"
END
    check $? "xarray reads the table"
fi

if with_python "the package reads the table" numpy; then
    PYTHONPATH="$root/runner/python" PYTHONDONTWRITEBYTECODE=1 python3 - >out 2>err <<'END'
import csv

import hopscotch

rows = list(csv.DictReader(open("events.csv")))
events = hopscotch.open("results/runner").events(3)
assert list(events) == list(rows[0]) and len(rows) > 10
for name, column in events.items():
    assert list(column) == [row[name] if name in ("event", "from", "to") else float(row[name]) for row in rows], name
part = hopscotch.open("results/runner").events(3, window=(0.5, 1))
assert 0 < len(part["time"]) < len(rows) and part["event"][0] in set(events["event"])
END
    check $? "the package reads the table"
fi

# ---- windows, replicates, failures ----------------------------------------------------------------------------------

events runner/3
cp events.csv all.csv
events runner/3 --window 0.5,1.5
awk -F , 'NR == 1 || ($1 >= 0.5 && $1 < 1.5)' all.csv | cut -d , -f 1,3- >expected
cut -d , -f 1,3- events.csv | awk -F , 'NR == 1 || $1 < 1.5' >got
cmp -s expected got && [ "$(wc -l <got)" -gt 5 ]
check $? "a window has the events in it"
works run runner.yaml --name window --progress none \
    --set 'record={debug: {events: {select: {trials: [3]}, window: [0.5, 1.5]}}}'
arrays=$("$SQL" results/window/campaign.db 'SELECT samples FROM debug_rows' | tr -d '\n')
[ "$arrays" = "$(($(wc -l <expected) - 1))" ]
check $? "the stored table of a window has $arrays events"
sed -i -e 's/^record:.*/record: {trajectories: {select: {trials: [3, 4]}, replicates: all, events: true, sample: 1}}/' \
    runner.yaml
echo 'replicates: {count: 3, perturb: {vx: {normal: [5, 0.2]}}, store: true}' >>runner.yaml
rows runner
arrays=$("$SQL" results/runner/campaign.db 'SELECT trial, replicate FROM debug_rows ORDER BY 1, 2' | tr -s '|,\t\n' ' ')
[ "$arrays" = '3 0 3 1 3 2 4 0 4 1 4 2 ' ]
check $? "all replicates have a table: $arrays"
works replay runner/4 --debug events -o first.csv
has 'what is written is of replicate 0 of 3; for another replay runner/4/1' err
works replay runner/4/0 --debug events -o named.csv
lacks 'what is written is of replicate' err
cmp -s first.csv named.csv
check $? "a replay of a trial is of its first replicate"
events runner/4/2
touchdowns=$("$HOPSCOTCH" query runner --sql 'SELECT touchdowns FROM replicates WHERE trial = 4 AND replicate = 2' \
    --format csv 2>err | tail -n 1)
[ "$touchdowns" = "$(grep -c ,touchdown, events.csv)" ]
check $? "replicate 2 has the events that its metrics count"
sed -i -e 's/^record:.*/record: {debug: {events: {on: failure, keep: 2, window: [0.1, 2]}}}/' runner.yaml
rows runner
arrays=$("$SQL" results/runner/campaign.db 'SELECT count(*), max(samples) FROM debug_rows' | tr -s '|,\t' ' ')
failed=$("$SQL" results/runner/campaign.db 'SELECT sum(n_failed) FROM trials')
[ "$arrays" = "$failed 2" ]
check $? "the last two events of every replicate that failed: $arrays, $failed failed"

# ---- the number of rows that are kept -------------------------------------------------------------------------------

over='{p: [0, 1]}' system ticks 'duration: 1' 'dt: 0.5' 'integrator: rk4' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 0}
held: {n: 0}
rates: {x: p}
events: [{name: tick, every: 9.0e-6, set: {n: n + 1}}, {name: half, at: 0.5}]
metrics: {ticks: {count: tick}}
END_OF_SYSTEM
echo 'record: {trajectories: {select: {best: 1}, events: true}}' >>ticks.yaml
rows ticks
works run ticks.yaml --name more --progress none
has 'warning: events of 1 replicate are not complete: the last 100,000 are kept, and one has 111,113' err
has 'events of 1 replicate are not complete' results/more/log.jsonl
events more/0
has 'warning: the first 11,113 events are left out' err
table "the last 100,000 rows, numbered from where they begin" \
    '{ if (value("number") != NR - 2 + 11113) bad("number") } END { if (rows != 100000) bad("rows") }'
[ "$(tail -n 1 events.csv | cut -d , -f 7)" = "$(metric more/0 ticks)" ]
check $? "the last row has the last event"
events more/0 --window 0.4999,0.5001
table "a window has its events" '{ if (value("event") == "half") halves++ } END { if (halves != 1) bad("half") }'
rm -rf results/more
works run ticks.yaml --name more --progress none --set record.debug.events.keep=5
if grep -q complete out err; then false; fi
check $? "no warning where the spec says how many are kept"

# ---- a lost shard ---------------------------------------------------------------------------------------------------

sed -i -e 's/^record:.*/record: {trajectories: {select: {every: 3}, events: true, sample: 1}}/' runner.yaml
rows runner
expected=$(digest runner)
for shard in results/runner/shards/*.h5; do rm "$shard"; done
"$HOPSCOTCH" doctor runner >out 2>err
[ $? -eq 3 ]
check $? "doctor misses the shards"
works doctor runner --repair
[ "$(digest runner)" = "$expected" ] && [ -n "$expected" ]
check $? "doctor --repair records the events again"
works resume runner --progress none --set record.trajectories.events=false
works gc runner --yes
[ "$(digest runner)" != "$expected" ]
check $? "a digest without events is another"

# ---- guards that count ----------------------------------------------------------------------------------------------

# held numbers, states that rest, floor of a state and of time: each reaches 0 where it counts
system counters 'duration: 9.5' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 0, m: 0, y: 1}
held: {n: 0, left: 3, t: 0}
rates: {x: 1, m: 0, y: -0.1*y}
events:
  - {name: tick, every: 1, set: {n: n + 1, m: m + 1, left: left - 1}}
  - {name: fifth, rises: n - 5}
  - {name: state, rises: m - 5}
  - {name: empty, falls: left}
  - {name: whole, rises: floor(x) - 4}
  - {name: hour, rises: floor(time) - 6}
  - {name: again, rises: t - 0.5, set: {t: 0}}
  - {name: seventh, rises: n - 7, set: {t: 0.5}}
  - {name: leaves, crosses: n - 5}
  - {name: half, rises: n - 4.5}
metrics:
  fifth_at: {at: fifth, value: time}
  fifths: {count: fifth}
  state_at: {at: state, value: time}
  empty_at: {at: empty, value: time}
  whole_at: {at: whole, value: time}
  hour_at: {at: hour, value: time}
  again_at: {at: again, value: time}
  leaves_at: {at: leaves, value: time}
  half_at: {at: half, value: time}
END_OF_SYSTEM
for integrator in dormand_prince rk4 rodas5p; do
    rows counters --set "simulation.integrator=$integrator"
    holds 0 'fifth_at*10 + fifths' 41 "$integrator: a tick is at 0"
    holds 0 state_at 4 "$integrator"
    holds 0 empty_at 2 "$integrator"
    holds 1e-9 whole_at 4 "$integrator"
    holds 0 hour_at 6 "$integrator"
    holds 0 again_at 6 "$integrator"
    holds 0 'leaves_at*10 + half_at' 54 "$integrator"
done
system collatz 'duration: 200' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {k: 27}
next: {k: "if(mod(k, 2) = 0, k/2, 3*k + 1)"}
events: [{name: one, falls: k - 1, stop: true}]
END_OF_SYSTEM
rows collatz
holds 0 survived 111 'a map reaches 0'

# ---- what is refused ------------------------------------------------------------------------------------------------

works check runner.yaml --set simulation.system.noise.x=0.1 --set simulation.integrator=sra3
"$HOPSCOTCH" replay runner/0 --debug events >out 2>err
has '--sample, --window, --bodies and --debug need an output' err
over='{p: [0]}' system quiet <<'END_OF_SYSTEM'
parameters: {p: 1}
states: {x: 1}
rates: {x: -p*x}
events: [{name: never, rises: x - 2}]
END_OF_SYSTEM
rows quiet
works replay quiet/0 --debug events -o quiet.csv
[ "$(cat quiet.csv)" = time,number,event,x_before,x_after ]
check $? "the table of a trial without events has no rows"
works replay quiet/0 --debug events -o quiet.h5
refused replay quiet/0 --debug events --svg quiet.svg
has 'there is nothing to draw: trial 0, replicate 0 had no events' err
works run quiet.yaml --name silent --progress none --set record.trajectories.select.best=1 \
    --set record.trajectories.events=true
works doctor silent
# a held number that an event makes none ends the trial there, and one that is finite does not
over='{p: [0, 1]}' system none 'duration: 2' 'dt: 0.25' 'integrator: rk4' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 0}
held: {h: 0, k: 1}
rates: {x: 1}
events: [{at: 0.5, set: {h: 1/p}}]
metrics: {end: {final: x}}
END_OF_SYSTEM
works run none.yaml
works query none --columns id,survived,failure --format csv
printf 'id,survived,failure\n0,0.5,diverged\n1,2,none\n' >expected
cmp -s expected out
check $? "a held number that is none ends a trial where it is set: $(tr '\n' ' ' <out)"
exit $status
