#!/bin/sh
# limits.retire with rungs ({at, keep, of}): the best part of each group of trials goes on. Oracle: tests/rungs.py.
. "$(dirname "$0")/../scratch.sh"

cat >rungs.yaml <<'.'
version: 1
experiment: rungs
model: hopper
simulation: {duration: 2, dt: 0.001, integrator: rk4, settle: 0.2}
search: {method: grid, over: {k_fp: {linspace: [50, 200, 20]}, thrust: {linspace: [0, 60, 10]}}}
limits: {retire: [{at: 0.5, keep: 0.25, of: 64}, {at: 1, keep: 0.25, of: 64}]}
.
works run rungs.yaml --progress none
has "retired"
grep -qF 'retire: [{at: 0.5, keep: 0.25, of: 64}, {at: 1, keep: 0.25, of: 64}]' results/rungs/resolved.yaml
check $? "the resolved spec has the rungs"
whole=$(digest rungs)
run query rungs --sql "SELECT rungs, count(*) FROM trials WHERE failure = 'retired' GROUP BY rungs" --format csv
grep -q '^0,' out && grep -q '^1,' out && ! grep -q '^2,' out
check $? "trials are retired at both rungs"
run query rungs --sql "SELECT count(*) FROM trials WHERE failure = 'retired' AND survived <> 0.5 + 0.5*rungs" \
    --format csv
[ "$(tail -n 1 out)" = 0 ]
check $? "they survived to the time of their rung"
for passed in 0 1; do
    chosen="failure = 'retired' and rungs = $passed"
    one=$("$HOPSCOTCH" query rungs --columns id --where "$chosen" --format csv | tail -n 1)
    works replay "rungs/$one"
    has "the same to the bit"
    works replay "rungs/$one" --output retired.csv
    [ "$(tail -n 1 retired.csv | cut -d , -f 1)" = "$([ $passed = 0 ] && echo 0.5 || echo 1)" ]
    check $? "its trajectory ends at the rung"
    run show "rungs/$one"
    has "failure retired, $passed of 2 rungs passed (limits.retire)"
done
works replay "rungs/$("$HOPSCOTCH" query rungs --columns id --order fitness --limit 1 --format csv | tail -n 1)"
has "the same to the bit"
works doctor rungs
works report rungs -o page.html
works run results/rungs/resolved.yaml --progress none --name again
[ "$(digest again)" = "$whole" ]
check $? "equal digest by the resolved spec"
run check rungs.yaml
has "200 trials of hopper, up to 2 s each"
run plan rungs.yaml
has "rungs          "
has "of simulated time, at most: 44 % of"

# whatever ran it
for options in "--threads 1 --batch 7" "--threads 2 --batch 64" "--batch 150" "--slice 77" "--set store.rows=blocks"; do
    # shellcheck disable=SC2086
    "$HOPSCOTCH" run rungs.yaml --name other --progress none $options >out 2>err
    [ "$(digest other)" = "$whole" ]
    check $? "the same digest: $options"
    rm -rf results/other
done
works run rungs.yaml --progress none --name stopped --set limits.trials=128 --batch 7
has "128"
works resume stopped --progress none --set limits.trials=none
[ "$(digest stopped)" = "$whole" ]
check $? "equal digest of a campaign that was stopped and goes on"
if with_faults "a run that is killed"; then
    for at in 90 120 150 180 $([ -n "${QUICK:-}" ] || echo 100 110 130 140 160 170); do
        rm -rf results/killed
        HOPSCOTCH_FAULT=sqlwrite:$at:KILL "$HOPSCOTCH_FAULTS_PROGRAM" run rungs.yaml --progress none --name killed \
            --batch 64 >out 2>err
        killed=$?
        works run rungs.yaml --name killed --progress none
        [ "$(digest killed)" = "$whole" ]
        check $? "killed at write $at (exit code $killed), and resumed"
    done
    "$HOPSCOTCH_FAULTS_PROGRAM" run rungs.yaml --progress none --name devices --backend faulty --device all >out 2>err
    [ "$(digest devices)" = "$whole" ]
    check $? "the same digest: two devices"
fi

# arrays of trials that ended at different times
works run rungs.yaml --name arrays --progress none \
    --set 'record.trajectories={select: {best: 2, every: 50, failures: 5}, sample: 10ms}'
for name in rungs arrays; do
    "$HOPSCOTCH" query $name --columns id,fitness,failure,rungs,survived,distance --format csv >$name.csv 2>err
done
cmp rungs.csv arrays.csv >out 2>err
check $? "recording changes no bit"
works doctor arrays
run query arrays --sql "SELECT count(*), sum(samples = 51), sum(samples = 101), sum(samples = 201) FROM trajectories" \
    --format csv
tail -n 1 out | awk -F, '{ exit !($1 >= 9 && $2 > 0 && $4 >= 2) }'
check $? "arrays end at the rungs"

# rows of some trials
works run rungs.yaml --name some --progress none --set 'record.rows={best: 3, every: 100, failures: 1}'
run status some
has "retired"
best=$("$HOPSCOTCH" query some --columns id --order fitness --limit 1 --format csv | tail -n 1)
works replay "some/$best"
has "the same to the bit"
run replay some/1
has "it is not known at which rung of limits.retire it ended" err

# not failures of the model
works run rungs.yaml --name many --progress none --set limits.failures=60% --batch 64
has "done"

# others that run trials again
works run rungs.yaml --name noisy --progress none --set 'replicates={count: 2, perturb: {phi_leg: {normal: [0, 0.01]}}}'
works verify noisy --seeds 3 --gains 0 --physics 0 --grid 0 --progress none
lacks "retired"
works verify noisy --finalists 4 --seeds 8 --progress none
lacks "retired"

# what it can't be
# wrong RETIRE MESSAGE [OPTION...]
wrong()
{
    refused check rungs.yaml --set "limits.retire=$1"
    has "$2" err
}
wrong '[{at: 1, keep: 0.25}]' "a rung needs at, keep and of: {at: 1, keep: 0.25, of: 4096}"
wrong '[{keep: 0.25, of: 64}]' "a rung needs at, keep and of"
wrong '[{at: 1, of: 64}]' "a rung needs at, keep and of"
wrong '[{at: 1, keep: 0.5, of: 64, when: phi_leg > 1}]' "and \`keep\`, which compares trials: write two entries"
wrong '[{at: 1, keep: 1, of: 64}]' "keep is 1, must be in [0.001, 0.99]"
wrong '[{at: 1, keep: 0.5, of: 1}]' "of is 1, must be in [2, 65536]"
wrong '[{at: 2, keep: 0.5, of: 64}]' "at is 2, and a trial lasts 2 s: it has ended by then"
wrong '[{at: 0.0005, keep: 0.5, of: 64}]' \
    "at is 0.0005: the time of a rung must be a whole number of steps dt (0.001 s)"
wrong '[{at: 0.2, keep: 0.5, of: 64}]' "at is 0.2: the time of a rung must be after settle (0.2 s)"
wrong '[{at: 1, keep: 0.5, of: 64}, {at: 0.5, keep: 0.5, of: 64}]' "at is 0.5, and the rung before is at 1"
wrong '[{at: 0.5, keep: 0.5, of: 64}, {at: 1, keep: 0.5, of: 32}]' "all rungs compare the same trials"
refused check rungs.yaml --set limits.trials=100
has "limits.trials is 100, which is not a number of whole groups of 64 trials: 128 is" err
refused check rungs.yaml --set 'objective.minimize=[velocity_error, attitude_rms]'
has "several objectives (objective) have no best trial" err
refused check rungs.yaml --set 'replicates={count: 8, race: {start: 2}, perturb: {phi_leg: {normal: [0.01, 0.03]}}}'
has "replicates.race compares them by their replicates" err
refused check "$root/experiments/raibert_cmaes.yaml" --set 'limits.retire=[{at: 2, keep: 0.5, of: 64}]'
has "method cmaes chooses trials by the results of earlier ones" err
for spec in bbob_cmaes ndt_cmaes manual_gripper; do
    refused check "$root/experiments/$spec.yaml" --set 'limits.retire=[{at: 1, keep: 0.5, of: 64}]'
    has "no trial can end early" err
done
refused run rungs.yaml --part 1/2
has "limits.retire needs the trials of all parts: remove it to run in parts" err
refused run rungs.yaml --name rungs --extend --set 'search.over.thrust={linspace: [0, 60, 19]}'
has "compares trials in groups (limits.retire), which other trials would change" err
refused run rungs.yaml --name rungs --retry failed
has "chosen by the results that a retry would replace" err
refused merge rungs again --into both
has "the best of each were chosen among its own" err
"$SQL" results/again/campaign.db 'DELETE FROM trials WHERE id = 9' >/dev/null
run doctor again --repair
has "trials that are compared with others (limits.retire) are not repaired one by one" err

with_python "campaigns with rungs, on all models" || exit $status
[ -z "${QUICK:-}" ] || kinds="rk4 adaptive gaps most with_when noisy ball map"
# shellcheck disable=SC2086
python3 "$root/tests/rungs.py" "$HOPSCOTCH" "$root/experiments" ${kinds:-} >out 2>err
check $? "$(tail -n 1 out)"
exit $status
