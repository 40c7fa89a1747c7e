#!/bin/sh
# limits.retire: trials that end where a condition holds at a sample. Oracle: tests/retire.py, by samples of replays.
. "$(dirname "$0")/../scratch.sh"

cat >early.yaml <<'.'
version: 1
experiment: early
model: hopper
simulation: {duration: 2, dt: 0.001, integrator: rk4}
search: {method: grid, over: {k_fp: {linspace: [50, 200, 20]}, thrust: {linspace: [0, 60, 10]}}}
limits: {retire: [{at: 0.7, when: phi_leg > 0.13}, {when: abs(phi_body) > 0.3}]}
.
works run early.yaml --progress none
has "retired"
grep -qF 'retire: [{at: 0.7, when: "phi_leg > 0.13"}, {when: "abs(phi_body) > 0.3"}]' results/early/resolved.yaml
check $? "the resolved spec has the conditions"
whole=$(digest early)
retired=$("$HOPSCOTCH" query early --columns id --where "failure = 'retired'" --format csv | sed -n 2p)
[ -n "$retired" ]
check $? "some trials are retired"
works replay "early/$retired"
has "the same to the bit"
works replay "early/$retired" --output retired.csv
tail -n 1 retired.csv | grep -q '^0\.701'
check $? "its trajectory ends with the step after the sample"
run show "early/$retired"
has "failure retired"
has "survived"
works doctor early
works run results/early/resolved.yaml --progress none --name again
[ "$(digest again)" = "$whole" ]
check $? "equal digest by the resolved spec"
works run early.yaml --progress none --name stopped --set limits.trials=77 --batch 13
works resume stopped --progress none --set limits.trials=none
[ "$(digest stopped)" = "$whole" ]
check $? "equal digest of a campaign that was stopped and goes on"
if with_faults "a run that is killed"; then
    HOPSCOTCH_FAULT=sqlwrite:140:KILL "$HOPSCOTCH_FAULTS_PROGRAM" run early.yaml --progress none --name killed \
        --batch 13 >out 2>err
    expect $? 137 "a run is killed"
    works resume killed --progress none
    [ "$(digest killed)" = "$whole" ]
    check $? "equal digest of a campaign that was killed"
fi

# not counted as failures
works run early.yaml --progress none --name many --set 'limits.retire=[{when: time > 0.05}]' --set limits.failures=10% \
    --batch 110
has "200 retired"
works run early.yaml --progress none --name part --set 'limits.retire=[{when: time > 0.05}]' --set limits.failures=10% \
    --set limits.trials=120 --batch 20
works resume part --progress none --set limits.trials=none --batch 20
run status part
has "200 of 200"

# part of what the campaign is
refused resume early --set 'limits.retire=[{at: 1, when: phi_leg > 0.1}]'
has "limits.retire" err

# with metrics of one's own, in one code
works run early.yaml --progress none --name both --set 'metrics={lean: {max: phi_leg}}'
"$HOPSCOTCH" query both --columns id,failure,fitness,survived --format csv >both.csv
"$HOPSCOTCH" query early --columns id,failure,fitness,survived --format csv >alone.csv
cmp -s both.csv alone.csv
check $? "metrics of one's own change nothing"
[ "$("$HOPSCOTCH" query both --columns lean --where 'lean > -10' --format csv | wc -l)" = 201 ]
check $? "retired trials have them too"

# looks that are rarer than steps: the same whether samples are kept too, or metrics need all of them
rare='limits.retire=[{every: 6ms, when: phi_leg > 0.13}, {at: 0.75, when: abs(phi_body) > 0.05}]'
works run early.yaml --progress none --name rare --set "$rare"
"$HOPSCOTCH" query rare --columns id,failure,fitness,survived --format csv >rare.csv
cut -d , -f 2 rare.csv | grep -q retired && ! cmp -s rare.csv alone.csv
check $? "some are retired, and not those of every step"
works run results/rare/resolved.yaml --progress none --name rare_again
[ "$(digest rare_again)" = "$(digest rare)" ]
check $? "equal digest by the resolved spec"
for more in 'record={trajectories: {select: {every: 3}, sample: 0.004}}' 'metrics={lean: {max: phi_leg}}'; do
    works run early.yaml --progress none --name more --set "$rare" --set "$more" --batch 23
    "$HOPSCOTCH" query more --columns id,failure,fitness,survived --format csv | cmp -s - rare.csv
    check $? "equal with $more"
    rm -rf results/more
done

# wrong SPEC RETIRE MESSAGE
wrong()
{
    refused check "$1" --set "limits.retire=$2"
    has "$3" err
}
wrong early.yaml '[{at: 3, when: phi_leg > 1}]' "at is 3, and a trial lasts 2 s: it has ended by then"
wrong early.yaml '[{at: 1, when: phi_legg > 1}]' "did you mean 'phi_leg'"
wrong early.yaml '[{at: 1, when: phi_leg}]' "a condition compares"
wrong early.yaml '[{at: 1, when: phi_leg > z_foot}]' "rad"
wrong early.yaml '[{at: 1}]' "an entry of retire has no \`when\`"
wrong early.yaml '[3]' "an entry of retire is '3', expected a mapping"
wrong early.yaml '[]' "expected a list of 1 to 64 mappings, such as"
wrong early.yaml '[{at: 1, wen: phi_leg > 1}]' \
    "retire has no key 'wen', expected at or every, and when, or at, keep and of; did you mean 'when'?"
has "retire has no key '" err
has "', expected at or every, and when, or at, keep and of" err
wrong early.yaml '[{at: 1, every: 0.1, when: phi_leg > 1}]' "has \`at\`, one look, or \`every\`, one after the other"
wrong early.yaml '[{every: 0.0015, when: phi_leg > 1}]' "every is 0.0015 s, expected a whole number of steps (0.001 s)"
cat >map.yaml <<'.'
version: 1
experiment: map
model: equations
simulation: {duration: 60, system: {parameters: {r: 3.2}, states: {x: 0.3}, next: {x: r*x*(1 - x)},
  metrics: {mean_x: {mean: x}}}}
search: {method: grid, over: {r: [3, 3.5]}}
objective: {minimize: mean_x}
.
wrong map.yaml '[{every: 0, when: x > 1}]' "every is 0, expected a number of iterations"
wrong early.yaml '[{every: 0, when: phi_leg > 1}]' "every is 0 s, expected a whole number of steps"
wrong early.yaml '[{at: 1 m, when: phi_leg > 1}]' "at is '1 m'"
wrong "$root/experiments/bbob_cmaes.yaml" '[{when: x1 > 1}]' "no trial can end early: model bbob has no samples in time"
wrong "$root/experiments/ndt_cmaes.yaml" '[{when: x > 1}]' "model ndt has no samples in time"
wrong "$root/experiments/manual_gripper.yaml" '[{when: grip > 1}]' "model manual has no samples in time"
wrong "$root/experiments/hopper_env.yaml" '[{when: phi_leg > 1}]' "write the condition in environment.terminate"
refused check "$root/experiments/raibert_lbfgs.yaml" --set search.lbfgs.gradient=adjoint \
    --set 'limits.retire=[{when: phi_leg > 1}]'
has "derivatives are those of whole trials, and limits.retire ends trials early" err
works check "$root/experiments/raibert_lbfgs.yaml" --set 'limits.retire=[{when: phi_leg > 1}]'

with_python "trials that retire, on all models" || exit $status
[ -z "${QUICK:-}" ] || kinds="rk4 adaptive robot ball map"
# shellcheck disable=SC2086
python3 "$root/tests/retire.py" "$HOPSCOTCH" "$root/experiments" ${kinds:-} >out 2>err
check $? "$(tail -n 1 out)"
exit $status
