#!/bin/sh
# Metrics of the user's own over the columns of a model (`metrics:` of a spec): random ones against their definition by
# the samples of replays, and what the program makes of them.
#
#   SEED=N     of the first round (1)      ROUNDS=N    how many (14)
#   QUICK=1    7 of them
. "$(dirname "$0")/../scratch.sh"

# ---- as the model's own ---------------------------------------------------------------------------------------------

cat >own.yaml <<'.'
version: 1
experiment: own
model: hopper
simulation: {duration: 1.5, dt: 0.001, integrator: rk4}
metrics:
  highest: {max: z_foot, doc: greatest height of the foot}
  effort:  {rms: u2}
  mixed:   {mean: "1*abs(u2) + 0.1*dx_foot^2"}
  lands:   {count: "z_foot < 0"}
search: {method: grid, over: {k_fp: {linspace: [50, 200, 12]}}}
objective: {minimize: "effort + 3*highest"}
constraints: ["lands >= 1"]
.
"$HOPSCOTCH" run own.yaml --progress none >out 2>err
check $? 'a run with metrics of its own'
"$HOPSCOTCH" models own.yaml >out 2>err
grep -q '^highest  *m  *greatest height of the foot' out && grep -q '^effort  *N m  *declared' out
check $? 'models lists the metrics with their units'
"$HOPSCOTCH" show own/0 >out 2>err && grep -q 'highest' out
check $? 'show prints them'
"$HOPSCOTCH" replay own/3 >out 2>err && grep -q 'the same to the bit' out err
check $? 'a replay gives their bits'
"$HOPSCOTCH" query own --columns id,highest,effort,mixed,lands --order id --format csv >plain.csv
[ "$(wc -l <plain.csv)" -eq 13 ]
check $? 'a row for each trial'

# what is recorded, and when, changes no metric
for record in '{sample: 0.01, select: {every: 1}}' '{sample: 0.007, select: {trials: [1, 7]}}'; do
    rm -rf results/recorded
    "$HOPSCOTCH" run own.yaml --progress none --set experiment=recorded --set "record.trajectories=$record" >out 2>err
    "$HOPSCOTCH" query recorded --columns id,highest,effort,mixed,lands --order id --format csv >recorded.csv
    cmp -s plain.csv recorded.csv
    check $? "equal metrics with record.trajectories: $record"
done

# a campaign that was stopped goes on with them
"$HOPSCOTCH" run own.yaml --progress none --set experiment=half --set limits.trials=5 >out 2>err
"$HOPSCOTCH" run own.yaml --progress none --set experiment=half --set limits.trials=12 >out 2>err
"$HOPSCOTCH" query half --columns id,highest,effort,mixed,lands --order id --format csv >half.csv
cmp -s plain.csv half.csv
check $? 'equal metrics of a campaign that was continued'
"$HOPSCOTCH" run results/own/resolved.yaml --progress none --set experiment=again >out 2>err
"$HOPSCOTCH" query again --columns id,highest,effort,mixed,lands --order id --format csv >again.csv
cmp -s plain.csv again.csv
check $? 'equal metrics by the resolved spec'

# ---- where there are none -------------------------------------------------------------------------------------------

# refused EXPECTED TITLE [option]...
refused()
{
    expected=$1 title=$2
    shift 2
    if "$HOPSCOTCH" check own.yaml "$@" >out 2>err; then
        check 1 "$title"
    else
        grep -q "$expected" err
        check $? "$title"
    fi
}

refused "unknown name 'z_fot'; did you mean 'z_foot'" 'a misspelt column' --set 'metrics.highest={max: z_fot}'
refused 'm + m/s' 'units that do not fit' --set 'metrics.highest={max: z_foot + dx_foot}'
refused "the model has a metric 'distance' already" 'a name that the model has' --set 'metrics.distance={max: z_foot}'
refused 'after belongs to events' 'after an event' --set 'metrics.highest={after: "z_foot < 0", value: z_foot}'
refused 'needs a value' 'a condition without a value' --set 'metrics.highest={at: "z_foot < 0"}'
refused 'a condition compares' 'a condition that compares nothing' --set 'metrics.highest={count: z_foot}'
refused 'unknown key .maxx. in a metric' 'a misspelt key' --set 'metrics.highest={maxx: z_foot}'
"$HOPSCOTCH" check "$root/experiments/slip_map.yaml" --set 'metrics={a: {max: z}}' 2>err
grep -q 'simulation.system.metrics' err
check $? 'equations have theirs in the system'
"$HOPSCOTCH" check "$root/experiments/bbob_cmaes.yaml" --set 'metrics={a: {mean: x1}}' 2>err
grep -q 'has no time, and mean is over time' err
check $? 'a model without time has no means'

# ---- frames of a robot ----------------------------------------------------------------------------------------------

quadruped="$root/experiments/quadruped_trot.yaml"
"$HOPSCOTCH" models "$quadruped" --set 'simulation.frames=[trunk]' >out 2>err
grep -q '^trunk_x  *m  *trunk; position' out && grep -q '^trunk_wz  *rad/s' out
check $? 'a body of a robot has columns'
"$HOPSCOTCH" check "$quadruped" --set 'simulation.frames=[no_such]' --set 'metrics={a: {max: no_such_x}}' 2>err
grep -q "no moving body or site 'no_such'; it has trunk" err && ! grep -q 'unknown name' err
check $? 'a frame that is not there is one error'
cat >based.xml <<'.'
<mujoco><worldbody><body name="base"><joint type="hinge" axis="0 1 0"/><geom type="sphere" size="0.1" mass="1"/>
<body name="twin"><joint type="hinge" axis="0 1 0"/><geom type="sphere" size="0.1" mass="1"/><site name="twin"/>
</body></body></worldbody>
</mujoco>
.
cat >based.yaml <<'.'
version: 1
experiment: based
model: articulated
simulation: {robot: based.xml, frames: [base]}
objective: {minimize: distance}
.
"$HOPSCOTCH" check based.yaml 2>err
grep -q "columns of 'base' are there already, as base_x" err
check $? 'a frame whose columns have the names of the base'
"$HOPSCOTCH" check based.yaml --set 'simulation.frames=[twin]' 2>err
grep -q "'twin' is a body and a site, or two" err
check $? 'a frame with the name of another'
printf 'time,trunk_x\n0,0\n1,1\n' >trunk.csv
cp -r "$root/experiments/robots" .
sed 's|^simulation:|&\n  frames: [trunk]\n  reference: trunk.csv|' "$quadruped" >compared.yaml
"$HOPSCOTCH" check compared.yaml 2>err
grep -q "reference has a column 'trunk_x', and frames are not compared" err
check $? 'a recorded motion of a frame is refused'
if with_python "frames of a robot" mujoco numpy; then
    python3 "$root/tests/frames.py" "$HOPSCOTCH" >out 2>err
    check $? "$(tail -n 1 out)"
fi

# ---- random metrics -------------------------------------------------------------------------------------------------

with_python "random metrics" || exit $status
[ -z "${QUICK:-}" ] || ROUNDS=${ROUNDS:-7}
python3 "$root/tests/metrics_random.py" "$HOPSCOTCH" "$root/experiments" "${SEED:-1}" "${ROUNDS:-14}" >out 2>err
check $? "$(tail -n 1 out)"
grep FAIL out
cat err
exit $status
