#!/bin/sh
# `model: manual`, whose trials people run: `ask` gives trials, `tell` takes results in any order, partly, corrected, by
# several people at once, and killed at any instant. Each error has its place. What a search learns does not depend on
# the order of telling, and is what `run` learns of the same results (tests/ask_tell.py).
#
#   QUICK=1   fewer moments, shorter searches
. "$(dirname "$0")/../scratch.sh"

cat >bench.yaml <<'END'
version: 1
experiment: bench
model: manual
parameters:
  a: {unit: N, range: [0, 10]}
  b: {value: 20, unit: m/s}
  pad: {words: [rubber, foam]}
metrics: {y: mm, z: {unit: s}}
failures: [fell]
search: {method: grid, over: {a: [1, 2, 3], pad: [rubber, foam]}}
objective: {minimize: y}
END

# ---- a grid, by hand -------------------------------------------------------------------------------------------------

works ask bench.yaml --name nothing -n 0
works best nothing
[ "$(cat out)" = "no trial is stored yet" ]
check $? "best of a campaign without trials"
works ask bench.yaml -n 2
has 'trial  a [N]  b [m/s]  pad'
has '    1      1       20  foam'
works ask bench -n 2 --format json
has '{"trial":2,"a":2,"b":20,"pad":"rubber"}'
works ask bench --format csv
has 'trial,a,b,pad,y,z,failure'
has '5,3,20,foam,,,'
works ask bench
has 'bench has no further trials; results of trials 0, 1, 2, 3, 4 and 5 are missing' err
works tell bench/4 y=0.5 z=1
has 'bench: 1 result stored'
has 'results of trials 0, 1, 2, 3 and 5 are still awaited'
works tell bench/1 fell=yes
works best bench
has '   1      4      0.5'
lacks replay
works status bench
has 'state       waiting'
has 'awaited     results of trials 0, 2, 3 and 5, which were asked for'
has 'ask bench'
works status bench --json
has '"awaited": 4'
works tell bench/4 y=0.5 z=1
has '1 result was told before, with the same values'
refused tell bench/4 y=0.75 z=1
has "y=0.75:1:1: error: trial 4 was told with other values (y=0.5 z=1): --replace corrects it" err
works tell bench/4 y=0.75 z=1 --replace
has '1 result stored, 1 of them corrected'
works query bench --sql "SELECT trial, failure, told_before.replaced > '2' AS is_dated FROM told_before" --format csv
has '4,none,1'
grep -q '"event":"corrected","text":"trial 4: y=0.75 z=1; it was y=0.5 z=1"' results/bench/log.jsonl
check $? "the log has the correction"
printf '# a table\ntrial,a,y [mm],z,failed\n0,1,3,1,\n2,2,2,1,no\n3,,,,fell\n5,3,,,\n' >done.csv
works tell bench done.csv
has 'bench: 3 results stored'
has '1 line was left out: it has no results'
works tell bench/5 y=9 z=1
has 'bench is done; '
works query bench --format csv --columns id,y,failure
has '3,,fell'
[ "$(wc -l <out)" -eq 7 ]
check $? "six rows"
works ask bench
has 'bench is done: 6 trials' err
works doctor bench
works report bench
works show bench/best
lacks replay
lacks 'in a batch of'
works tell bench/0 y=0.25 z=1 --replace
works best bench
has '   1      0     0.25'
works doctor bench

cp -r results/bench results/damaged
"$SQL" results/damaged/campaign.db "UPDATE trials SET y = 77 WHERE id = 4"
code=3 refused doctor damaged
refused doctor damaged --repair
has 'people measured what is damaged, and no repair can measure again' err

# ---- errors, with their places ---------------------------------------------------------------------------------------

works ask bench.yaml --name wrong -n 4
wrong() # TEXT MESSAGE [FILE]
{
    printf '%b' "$1" >"${3:-w.csv}"
    refused tell wrong "${3:-w.csv}"
    has "$2" err
    has 'nothing was stored' err
}
wrong 'trial,y,z,speed\n' "w.csv:1:11: error: unknown column 'speed': it is no metric, parameter or failure of the spec"
wrong 'trial,y,Z\n0,1,2\n' "did you mean 'z'?"
wrong 'trial,y [cm],z\n0,1,2\n' 'w.csv:1:7: error: y is in cm here, and the spec has it in mm: convert the values'
wrong 'trial,a (kN),y,z\n0,1,1,2\n' 'a is in kN here, and the spec has it in N'
wrong 'trial,y,z\n0,nan,2\n' "w.csv:2:3: error: y is 'nan', expected a number"
wrong 'trial,y,z\n0,1,inf\n' "w.csv:2:5: error: z is 'inf', expected a number"
wrong 'trial,y,z\n0,1,2\n1,1,2\n0,1,2\n' 'w.csv:4:1: error: trial 0 is there twice, first in line 2: remove one'
wrong 'trial,y,z\n7,1,2\n' 'w.csv:2:1: error: trial 7 was not asked for: `ask` gives the trials to run'
wrong 'trial,y,z\n0,1,\n' 'w.csv:2:1: error: trial 0 has no value of z: give all metrics, or a failure'
wrong 'trial,y,z,failure\n0,,,feel\n' \
    "w.csv:2:5: error: failure is 'feel', expected one of none, failed, skipped, fell; did you mean 'fell'?"
wrong 'trial,y,z,fell\n0,1,1,perhaps\n' "fell is 'perhaps', expected yes or no"
wrong 'trial,fell,failure\n0,yes,skipped\n' "the trial failed as 'fell' already in this line: give one failure"
wrong 'trial,a,y,z\n0,2,1,2\n' "trial 0 has a = 1, and this line says 2: is it another trial's result?"
wrong 'trial,pad,y,z\n0,foam,1,2\n' 'trial 0 has pad = rubber, and this line says foam'
wrong 'trial,pad,y,z\n0,felt,1,2\n' "pad is 'felt', expected one of its words"
wrong 'trial,y,z,y\n0,1,2,3\n' "w.csv:1:11: error: 'y' is there twice: remove one"
wrong 'trial,y,z\n0,1,2,3\n' 'the line has at least 4 fields, and the header has 3'
wrong 'trial,y,z\n0,1\n' 'the line has 2 fields, and the header has 3'
wrong 'y,z\n1,2\n' 'w.csv:2:1: error: a result without the id of its trial: give `trial`'
wrong 'trial,y,z\n-1,1,2\n' "trial is '-1', expected the id of a trial, a whole number"
wrong '' 'the table is empty; it starts with the names of its columns'
wrong '[{"trial": 0, "y": 1, "z": 2}, 7]' \
    "w.json:1:32: error: this is '7', expected an object with the results of a trial" w.json
wrong '[{"trial": 0, "y": [1], "z": 2}]' 'expected a number or a word' w.json
wrong '{"trial": 0, "y": 1, "z": 2}\n\n{"trial": 1, "y": "x", "z": 2}\n' \
    'w.jsonl:3:19: error: y is the text "x", expected a number' w.jsonl
wrong '{"trial": 0, "y": 1, "z": 2}\n{"trial": 1, "y": \n' 'w.jsonl:2:18: error: a value is missing here' w.jsonl
refused tell wrong/0 y=1 y=2 z=1
has "y=2:1:1: error: 'y' is there twice: remove one" err
refused tell wrong/0 failure=fell failure=none y=2 z=1
has "'failure' is there twice: remove one" err
refused tell wrong/0 y
has 'expected NAME=VALUE, such as y=1' err
refused tell wrong/0 y=1 trial=3 z=1
has 'the trial is named already, before its results' err
refused tell wrong/0 fell=no
has 'there is no result of trial 0: give all metrics, or a failure' err
refused tell wrong nofile.csv
has 'there is no file nofile.csv' err
code=2 refused tell wrong y=1
has 'results of a single trial go to CAMPAIGN/TRIAL: ' err
code=2 refused tell wrong/x y=1
has 'tell wrong/12 y=1' err
refused tell wrong/0/1 y=1 z=1
has "'wrong/0' is no campaign: after a name stands one number, the trial's, as in wrong/41" err
refused show wrong/0/1
has "after a name stands one number" err
refused check bench.yaml --set 'replicates={count: 3, race: {start: 2}}'
has 'race gives the best trials more replicates, and people run its trials' err
lacks 'nothing is drawn' err
refused check bench.yaml --set 'recommend={trials: 3}'
has 'recommend runs the best trials under fresh seeds, and people run its trials' err
code=2 refused tell wrong a.csv b.csv
has 'tell takes one file' err
refused tell nobody/1 y=1
works query wrong --format csv --columns id
[ "$(wc -l <out)" -eq 1 ]
check $? "nothing was stored by all of these"

sed 's/over: {a: \[1, 2, 3\]/over: {a: [1, 2]/' bench.yaml >changed.yaml
refused ask changed.yaml --name wrong
for key in 'replicates={count: 2, perturb: {b: {normal: [20, 1]}}}' 'record.rows={best: 3}' limits.wall_time=2h \
    limits.failures=0.5 device.backend=cpu store.rows=blocks 'search={method: adam, over: {a: {range: [0, 1]}}}'; do
    refused ask bench.yaml --name never --set "$key"
    has 'error: ' err
done
has 'methods along a gradient compare trials' err
[ ! -e results/never ]
check $? "a refused spec leaves no campaign"
for command in 'run bench.yaml' 'resume bench' 'plan bench.yaml' 'verify bench' 'replay bench/0' 'gradient bench/0'; do
    # shellcheck disable=SC2086
    refused $command
    has 'people run the trials of model manual: `hopscotch ask` gives the next ones' err
done
printf '%s\n' 'version: 1' 'experiment: f' 'model: bbob' \
    'search: {method: random, trials: 3, over: {x1: {range: [0, 1]}}}' >f.yaml
refused ask f.yaml
has 'ask and tell are for `model: manual`' err
refused ask nobody
sed '/^metrics/d' bench.yaml >bare.yaml
refused check bare.yaml
has 'metrics is missing: the numbers that are measured in a trial' err
sed 's/failures: .*/failures: [skipped]/' bench.yaml >bare.yaml
refused check bare.yaml
has "failures: 'skipped' is built in; remove it" err
mkdir -p results/empty && cp results/wrong/resolved.yaml results/empty/
refused ask empty
: >results/empty/campaign.db
refused tell empty/0 y=1 z=1
has 'empty has no trials yet: `ask` gives them' err

# ---- replicates, told one by one -------------------------------------------------------------------------------------

works ask bench.yaml --name thrice --set replicates.count=3 -n 1
has '    0          2      1'
printf 'trial,replicate,y,z\n0,0,1,1\n0,2,3,1\n' >r.csv
works tell thrice r.csv
has '2 results stored; 0 trials are complete by them'
refused tell thrice/0 y=2 z=1
has 'trial 0 has 3 replicates: give `replicate`, 0 to 2, such as replicate=0' err
refused tell thrice/0 replicate=3 y=2 z=1
works ask thrice -n 1 --again
has '    0          1      1'
lacks '    0          2      1'
works tell thrice/0 replicate=1 y=5 z=1
works query thrice --format csv --columns id,fitness,y,y_std
has '0,3,3,2'
works doctor thrice

# ---- a search that learns: the order of telling changes nothing ------------------------------------------------------

learning='{method: cmaes, over: {a: {range: [0, 10]}, b: {range: [0, 40]}},'
learning="$learning cmaes: {population: 5, stop: {generations: 3}}}"
sed "s/^search.*/search: $learning/"'
     s/^experiment.*/experiment: learns/' bench.yaml >learns.yaml
# The results of what was asked for, in an order: (a - 3)^2 + (b - 7)^2 / 50.
results() # ORDER...
{
    awk -F, 'NR > 1 { printf "%s y=%.17g z=1\n", $1, ($2 - 3) ^ 2 + ($3 - 7) ^ 2 / 50 }' todo.csv | sort "$@"
}
learn() # CAMPAIGN ORDER...
{
    "$HOPSCOTCH" ask learns.yaml --name "$1" --format csv >todo.csv 2>>err || return 1
    learned=$1
    shift
    while [ "$(wc -l <todo.csv)" -gt 1 ]; do
        results "$@" >some
        while read -r trial words; do
            # shellcheck disable=SC2086
            "$HOPSCOTCH" tell "$learned/$trial" $words >>out 2>>err </dev/null || return 1
        done <some
        "$HOPSCOTCH" ask "$learned" --format csv >todo.csv 2>>err || return 1
    done
}
learn forth -n && learn back -rn && learn mixed -k 2
check $? "three orders of telling"
works status forth
has 'state       done: stop.generations generations were computed'
same=$(digest forth)
[ -n "$same" ] && [ "$(digest back)" = "$same" ] && [ "$(digest mixed)" = "$same" ]
check $? "the same digest"
works ask learns.yaml --name told -n 3
works ask told
has '    4'
works ask told
has 'told waits for results of trials 0, 1, 2, 3 and 4: further trials depend on them' err
works ask told --again -n 2
has '    1'
lacks '    2  '
works ask told --older 100000
lacks '    0  '
works ask told --older 0 -n 0
has 'told: 5 trials were asked for; awaited: trials 0, 1, 2, 3 and 4' err
for trial in 3 1 0 4; do works tell told/$trial y=$trial z=1; done
works tell told/3 y=8 z=1 --replace
lacks 'the search learned'
works tell told/2 failure=skipped
has 'ask told'
works tell told/3 y=9 z=1 --replace
has 'the search learned from 1 of the corrected trials before'
works ask told -n 1
has '    5'
works doctor told

# A limit ends a campaign; a higher one goes on with it.
works ask learns.yaml --name limited --set limits.trials=3
[ "$(grep -c '^ *[0-9]' out)" -eq 3 ]
check $? "three trials are given"
for trial in 0 1 2; do works tell limited/$trial y=$trial z=1; done
has 'limited is stopped: limits.trials: 3 trials were run'
works ask limited
has 'limited is stopped' err
works ask limited --set limits.trials=7
[ "$(grep -c '^ *[0-9]' out)" -eq 2 ]
check $? "the rest of the generation"
works tell limited/1 y=1 z=1
has '1 result was told before'
works tell limited/1 y=0.5 z=1 --replace
has 'the search learned from 1 of the corrected trials before' # as the page says, of a generation that a limit cut off
works tell limited/1 y=0.5 z=1 --replace
lacks 'the search learned'
printf '{"trial": 3, "y": 7, "z": 1}\n\n{"trial": 4, "y": 1, "z": 1}\n' >rest.jsonl
works tell limited rest.jsonl
has '2 results stored'
works ask limited --format jsonl
cp out limited.jsonl
works tell limited limited.jsonl
has '2 lines were left out: they have no results'
refused tell limited limited.jsonl --strict
has 'limited.jsonl:1:1: error: there is no result here: give all metrics, or a failure' err
if with_python "dicts without a result"; then
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root/runner/python python3 - >out 2>err <<'END'
import hopscotch

lab = hopscotch.by_hand("bench.yaml", name="dicts")
trials = lab.ask(2)
for row in {"trial": 0, "y": None}, {}, {"trial": 1}, trials[0]:
    for rows in row, [{"trial": 1, "y": 1, "z": 1}, row]:
        try:
            lab.tell(rows)
        except hopscotch.Error as error:
            assert "there is no result here" in str(error) and "nothing was stored" in str(error), error
        else:
            raise AssertionError(rows)
assert lab.status()["awaited"] == 2
lab.tell({**trials[0], "y": 1, "z": 2})
assert lab.status()["awaited"] == 1
END
    check $? "in Python a dict without a result is an error"
fi
works list --state waiting
has limited

# ---- killed at any instant -------------------------------------------------------------------------------------------

# cut PROGRAM WORDS...: as killed there; then the same without a fault
moments()
{
    bad=0 n=1 unharmed=0 tried=0
    while [ "$unharmed" -lt 3 ]; do
        rm -rf results/cut
        "$HOPSCOTCH" ask learns.yaml --name cut --format csv >todo.csv 2>err || bad=9
        results -n | sed 's/^/trial=/; s/ y=/,/; s/ z=/,/; s/^trial=//' | { echo trial,y,z && cat; } >round.csv
        HOPSCOTCH_FAULT="$1:$n:KILL" "$HOPSCOTCH_FAULTS_PROGRAM" tell cut round.csv >out 2>err
        [ $? -eq 137 ] && unharmed=0 || unharmed=$((unharmed + 1))
        "$HOPSCOTCH" tell cut round.csv >out 2>err && "$HOPSCOTCH" ask cut --format csv >next.csv 2>err ||
            bad=$((bad + 1))
        [ "$(digest cut)" = "$once" ] && cmp -s next.csv expected.csv || bad=$((bad + 1))
        n=$((n + ${2:-1})) tried=$((tried + 1))
    done 2>/dev/null
    [ "$bad" -eq 0 ]
    check $? "tell is killed at $tried calls of $1: nothing is lost or doubled"
}
if with_faults "tell that is killed at each call"; then
    works ask learns.yaml --name once --format csv
    cp out todo.csv
    results -n | sed 's/ y=/,/; s/ z=/,/' | { echo trial,y,z && cat; } >round.csv
    works tell once round.csv
    once=$(digest once)
    works ask once --format csv
    cp out expected.csv
    for call in write fsync; do moments $call "$([ -n "${QUICK:-}" ] && echo 7 || echo 1)"; done
fi

# ---- several people, random ------------------------------------------------------------------------------------------

if with_python "several people at once"; then
    PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/ask_tell.py" "$HOPSCOTCH" "${SEED:-0}" \
        "$([ -n "${QUICK:-}" ] && echo 3 || echo 8)" "$([ -n "${QUICK:-}" ] && echo 12 || echo 300)" >random.out 2>&1
    grep -e '^ok' -e '^FAIL' random.out || tail -n 5 random.out
    ! grep -q '^FAIL\|Traceback' random.out || status=1
fi
exit $status
