#!/bin/sh
# Tables and inputs of systems (model equations): closed forms, events at the rows of inputs, what lies beyond the ends,
# equal bits, numbers that are frozen with the campaign, files that are too large; with python3 noise in files, and with
# scipy its interpolations and DOP853 (tests/equations_tables.py).
#
#   SEED=N     the first of random cases (1)
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/equations.sh"

# ---- inputs: integrals of held and linear signals between jumps -----------------------------------------------------

cat >drive.csv <<'END'
# time in seconds
time, u, w
0, 1, 0
0.3, -2, 1
1.1, 0.5, 0.25
2.5, 4, 0.5
END
system driven 'duration: 2' 'tolerance: 1e-10' 'dt: 0.07' <<'END_OF_SYSTEM'
parameters: {p: 0}
inputs: {u: {file: drive.csv, unit: N, between: held}, w: {file: drive.csv, unit: N}}
states: {s: {start: 0, unit: N s}, q: {start: 0, unit: N s}}
held: {seen: {start: -1, unit: N}, when: {start: -1, unit: s}}
rates: {s: u, q: w}
events:
  - {name: up, rises: u - 0.1, set: {seen: u, when: time}}
  - {name: down, falls: u + 1}
  - {name: peak, rises: w - 0.999999}
  - {name: look, at: 1.1}
  - {name: clock, rises: time - 1.1}
  - {name: other, crosses: 0.3 - time}
metrics:
  se: {final: s}
  qe: {final: q}
  ue: {final: u}
  top: {max: w}
  low: {min: u}
  mean_u: {mean: u}
  ups: {count: up}
  up_seen: {final: seen}
  up_when: {final: when}
  down_when: {at: down, value: time}
  peaks: {count: peak}
  look_u: {at: look, value: u}
  clocks: {count: clock}
  others: {count: other}
  high: {part: u > 0}
END_OF_SYSTEM
for integrator in dormand_prince rodas5p rk4 implicit_midpoint semi_implicit_euler; do
    rows driven --set "simulation.integrator=$integrator"
    holds 1e-12 se '0.3 - 1.6 + 0.45' "$integrator"
    [ $integrator = semi_implicit_euler ] || # of order 1
        holds 1e-12 qe '0.15 + 0.8*0.625 + 0.9*(0.25 + (0.25 + 0.25*0.9/1.4))/2' "$integrator"
    holds 0 ue 0.5 "$integrator"
    holds 1e-12 top 1 "$integrator"
    holds 0 low -2 "$integrator"
    holds 1e-12 mean_u '-0.85/2' "$integrator"
    holds 0 ups 1 "$integrator: a jump fires an event once"
    holds 0 up_seen 0.5 "$integrator: which sees the new row"
    holds 0 up_when 1.1 "$integrator: at the row"
    holds 0 down_when 0.3 "$integrator"
    holds 0 peaks 1 "$integrator"
    holds 0 look_u 0.5 "$integrator: an instant at a row sees it"
    holds 0 clocks 1 "$integrator: a guard that is zero at a row keeps its side"
    holds 0 others 1 "$integrator: falling too"
    holds 1e-9 high '1.2/2' "$integrator"
done

# rows from before the start; the first and the last are held
printf 'time,u\n-1,3\n-0.5,2\n0.5,7\n' >early.csv
over='{p: [0, 1]}' system early 'duration: 1' <<'END_OF_SYSTEM'
parameters: {p: 0}
inputs:
  u: {file: early.csv, between: held, beyond: hold}
  v: {file: early.csv, column: u, beyond: hold}
  late: {at: [0.25, 0.75], values: [1, 3], beyond: hold}
states: {s: 0, r: 0, q: 0}
rates: {s: u, r: v, q: late}
metrics: {se: {final: s}, re: {final: r}, qe: {final: q}}
END_OF_SYSTEM
rows early
holds 1e-12 se '1 + 3.5'
holds 1e-12 re '0.5*(4.5 + 7)/2 + 3.5'
holds 1e-12 qe '0.25 + 0.5*2 + 0.75'

# of a map: the row of the iteration
over='{p: [0]}' system counted 'duration: 5' <<'END_OF_SYSTEM'
parameters: {p: 0}
inputs: {u: {at: [0, 2, 10], values: [1, 5, 0], between: held}}
states: {s: 0}
next: {s: s + u}
metrics: {se: {final: s}}
END_OF_SYSTEM
rows counted
holds 0 se '1 + 1 + 5 + 5 + 5'

# ---- tables ---------------------------------------------------------------------------------------------------------

printf 'v,drag\n0,0\n1,2\n3,4\n' >drag.csv
printf 'v/angle,0,90\n0,1,2\n10,3,8\n' >lift.csv
over='{p: [0, 0.5, 1, 2, 3]}' system tables 'duration: 1' <<'END_OF_SYSTEM'
parameters: {p: {value: 0, unit: m/s}, b: {value: 45, unit: deg}}
tables:
  drag: {file: drag.csv, unit: N, of: m/s}
  step: {at: [0, 1, 3], values: [5, 6, 7], between: held, beyond: hold}
  lift: {file: lift.csv, unit: N, of: [m/s, deg]}
  curve: {at: [0, 1, 2, 3], values: [0, 1, 8, 27], between: cubic, beyond: extend}
states: {x: 0}
rates: {x: 0}
metrics: {d: {final: drag(p), unit: N}, s: {final: step_(p)}, l: {final: "lift(p, b)"}, c: {final: curve(p + 1)}}
END_OF_SYSTEM
sed -i 's/^      step: /      step_: /' tables.yaml
rows tables
holds 1e-15 d '(p < 1 ? 2*p : p + 1)'
holds 0 s '(p < 1 ? 5 : p < 3 ? 6 : 7)'
holds 1e-15 l '1.5 + 0.1*p*4'
awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 && $at["p"] == 3 { exit !($at["c"] > 27) }' rows.csv
check $? "a cubic goes on behind its end"

# a trial that leaves a table ends there, by the name of the table, whether the mode selects it or not
over='{p: [1, 2]}' system leaving 'duration: 20' 'tolerance: 1e-9' <<'END_OF_SYSTEM'
parameters: {p: 1}
tables: {drag: {file: drag.csv}, grid: {at: [[0, 20], [-1, 1]], values: [[0, 0], [0, 0]]}}
states: {v: 0, y: 0}
modes:
  a: {rates: {v: p, y: drag(v)}, events: [{falls: 2.5 - v, to: b, set: {v: 0}}]}
  b: {rates: {v: p, y: "grid(v, time/6 - 1)"}}
END_OF_SYSTEM
rows leaving
is failure outside_grid
holds 1e-8 survived '(p == 1 ? 12 : 11.25)'
sed -i 's/falls: 2.5 - v/falls: 3.5 - v/' leaving.yaml
rows leaving
is failure outside_drag
holds 1e-8 survived '3/p'

# at the start, and in what an event sets
over='{p: [-1, 1, 4]}' system outside 'duration: 1' <<'END_OF_SYSTEM'
parameters: {p: 0}
tables: {drag: {file: drag.csv}}
states: {v: {start: drag(p)}, x: 0}
rates: {v: 0, x: 1}
let: {far: 7}
events: [{at: 0.5, set: {v: drag(p + 5*x)}}]
metrics: {never: {final: drag(far)}}
END_OF_SYSTEM
rows outside
cut -d , -f 1- rows.csv | awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR > 1 { print $at["p"], $at["failure"], $at["survived"] }' >got
printf '%s\n' '-1 outside_drag 0' '1 diverged 0.5' '4 outside_drag 0' >expected
cmp -s got expected
check $? "a start outside a table fails at once, what is set outside diverges"
awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 && $at["never"] != "" { exit 1 }' rows.csv
check $? "a number outside is none"

# ---- equal bits -----------------------------------------------------------------------------------------------------

over='{p: {linspace: [0, 3, 13]}, k: [0.5, 2]}' system bits 'duration: 3' <<'END_OF_SYSTEM'
parameters: {p: 0, k: 1}
tables:
  spring: {at: [-2, -0.5, 0.1, 1, 4], values: [3, 1, 0.2, -2, -2.5], between: cubic, beyond: extend}
  drag: {at: [-3, 0, 2], values: [1, 0, -2]}
  mix: {at: [[-1, 0.2, 1], [0, 1, 3]], values: [[0, 1, 2], [1, -1, 0], [2, 0.5, 1]], beyond: hold}
inputs:
  u: {at: [0, 0.4, 0.9, 2.2, 3], values: [1, -1, 0.5, 2, 0]}
  g: {at: [0, 1, 2], values: [0, 1, -1], between: held, beyond: hold}
states: {x: {start: p}, v: 0}
rates: {x: v, v: "spring(x) + drag(v) + 0.2*mix(x, time) + k*(u + g)"}
events: [{name: turn, crosses: v}, {name: jump, rises: g - 0.5, set: {v: v + 0.1*spring(x)}}]
metrics:
  xe: {final: x}
  turns: {count: turn}
  top: {max: "mix(x, u)"}
  work: {integral: u*v}
  slow: {part: drag(v) > -0.1}
columns: {force: spring(x) + u}
drawing: [{disc: [x, u], radius: 0.1}, {line: [[0, 0], [x, g]]}]
END_OF_SYSTEM
echo 'record: {trajectories: {select: {every: 5}, sample: 0.1}}' >>bits.yaml
for integrator in dormand_prince rodas5p rk4 implicit_midpoint semi_implicit_euler; do
    rm -rf results/bits
    "$HOPSCOTCH" run bits.yaml --progress none --set "simulation.integrator=$integrator" --isa scalar --batch 1 \
        --threads 1 >out 2>err </dev/null
    check $? "$integrator runs"
    expected=$(digest bits)
    for options in $(vector_isas "$HOPSCOTCH" --isa=) '--batch 7 --slice 11' '--isa scalar --slice 3 --batch 64'; do
        rm -rf results/bits
        # shellcheck disable=SC2086
        "$HOPSCOTCH" run bits.yaml --progress none --set "simulation.integrator=$integrator" $options >out 2>err \
            </dev/null || continue # this processor lacks it
        [ "$(digest bits)" = "$expected" ]
        check $? "$integrator: the same digest, $options"
    done
done
"$HOPSCOTCH" replay bits/3 >out 2>err && grep -q 'same to the bit' out
check $? "a trial replays to the bit"
"$HOPSCOTCH" replay bits/5 --html figure.html >out 2>err && [ -s figure.html ]
check $? "a figure that inputs move is drawn"

# ---- frozen with the campaign ---------------------------------------------------------------------------------------

rows tables
cp -R results/tables kept
printf 'v,drag\n0,0\n1,5\n3,4\n' >drag.csv
"$HOPSCOTCH" replay tables/1 >out 2>err && grep -q 'same to the bit' out
check $? "a trial replays with the numbers of its campaign"
"$HOPSCOTCH" run tables.yaml --progress none >out 2>err </dev/null
[ $? -eq 1 ] && grep -q 'simulation.system can.t change in it' err
check $? "a spec whose file has changed is another spec"
printf '# the same numbers, written otherwise\nspeed , "force"\n0.0,0e0\r\n1,2\n\n3,4.0\n' >drag.csv
"$HOPSCOTCH" run tables.yaml --progress none >out 2>err </dev/null
check $? "the same numbers are the same spec"
rm drag.csv lift.csv
"$HOPSCOTCH" replay tables/1 >out 2>err && "$HOPSCOTCH" resume tables >out 2>err
check $? "a campaign needs its files no more"
"$HOPSCOTCH" check results/tables/resolved.yaml >out 2>err
check $? "nor does its resolved spec"

# names are relative to the file that they stand in
mkdir -p sub/data
printf 'time,u\n0,1\n1,2\n' >sub/data/u.csv
printf 'inputs: {u: {file: data/u.csv}}\nstates: {s: 0}\nrates: {s: u}\nmetrics: {e: {final: s}}\n' >sub/system.yaml
printf '%s\n' 'version: 1' 'experiment: below' 'model: equations' 'simulation: {duration: 1, system: sub/system.yaml}' \
    'search: {method: grid, over: {s: [0]}}' 'objective: {minimize: e}' >below.yaml
rows below
holds 1e-12 e 1.5 "a file beside the system that names it"

# ---- files ----------------------------------------------------------------------------------------------------------

# refused TEXT WHAT: big.csv
over='{p: [0]}' system big 'duration: 1' <<'END_OF_SYSTEM'
parameters: {p: 0}
inputs: {u: {file: big.csv, beyond: hold}}
states: {s: 0}
rates: {s: u}
END_OF_SYSTEM
awk 'BEGIN { print "time,u"; for (i = 0; i < 200000; i++) print i ",1" }' >big.csv
"$HOPSCOTCH" check big.yaml >out 2>err
[ $? -eq 1 ] && grep -q 'big.csv:131074:1: error: .* at most 262144 numbers in all' err
check $? "a file with too many rows is refused at the first of them"
{ echo time,u && yes 1,1 | head -n 10000000; } >big.csv
"$HOPSCOTCH" check big.yaml >out 2>err
[ $? -eq 1 ] && grep -q 'big.yaml:.*: error: .*big.csv' err
check $? "so is one of ten million rows, for its size"
awk 'BEGIN { print "time,u"; for (i = 0; i < 130000; i++) printf "%.5f,%g\n", i/1e5, i % 7 }' >big.csv
"$HOPSCOTCH" run big.yaml --progress none >out 2>err </dev/null && "$HOPSCOTCH" replay big/0 >out 2>err
check $? "130,000 rows are not too many"
awk 'BEGIN { print "time,u"; for (i = 2000; i > 0; i--) print i "," i % 7 }' >big.csv
"$HOPSCOTCH" check big.yaml >out 2>err
[ $? -eq 1 ] && [ "$(grep -c 'stands behind' err)" -eq 5 ] && [ "$(grep -c error: err)" -eq 5 ]
check $? "times that run backwards: five errors, and no other"
printf 'time,u,v\n0,0,1\n1,1,0\n1,2,4\n30,2,4\n' >big.csv
sed 's/^\( *\)inputs: .*/\1inputs: {u: {file: big.csv, column: u}, v: {file: big.csv, column: v}}/' big.yaml >both.yaml
"$HOPSCOTCH" check both.yaml >out 2>err
[ $? -eq 1 ] && grep -q 'big.csv:4:1: error: 1 stands behind 1' err && [ "$(grep -c error: err)" -eq 1 ]
check $? "two inputs with the times of one file: an error of these is one"
# remarked ROWS WORDS: what check says of an input with these times; ROWS sets t of row i
remarked()
{
    awk "BEGIN { print \"time,u\"; for (i = 0; i < 100; i++) { $1; print t \",\" i % 7 } }" >big.csv
    "$HOPSCOTCH" check big.yaml >out 2>err && tr -s ' \n' ' ' <out | grep -q "inputs warning: $2"
    check $? "check: $2"
}
remarked 't = 10*i' 'u has 100 rows from 0 to 990 s, and a trial of 1 s sees 1 of them; are its times in ms?'
remarked 't = 0.01*i + (i > 60)' 'u: rows are missing: 1.01 s between those at 0.6 and 1.61 s'
awk 'BEGIN { print "time,u"; for (i = 0; i < 100; i++) print i*i/9000 "," i % 7 }' >big.csv
"$HOPSCOTCH" check big.yaml >out 2>err && ! grep -q warning out
check $? "an input whose rows get farther apart is none of these"
ln -s /etc/passwd out.csv
sed 's/big.csv/out.csv/' big.yaml >escape.yaml
"$HOPSCOTCH" check escape.yaml >out 2>err
[ $? -eq 1 ] && ! grep -q root: err
check $? "a link out of the folder is refused"

# random WHAT MANY FEW: seeds, and with QUICK=1
random()
{
    seeds=$2
    [ -z "${QUICK:-}" ] || seeds=$3
    python3 "$root/tests/equations_tables.py" "$1" "$HOPSCOTCH" "${SEED:-1}" "$seeds" >out 2>err
    check $? "$(tail -n 1 out)"
    cat err
}
with_python "noise in files of tables" || exit $status
random noise 2000 60
with_python "tables and inputs against scipy" numpy scipy || exit $status
random values 100 6
random motion 100 6
exit $status
