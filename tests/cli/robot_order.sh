#!/bin/sh
# Robots by steps of order two (simulation.order): the option, the order of the error, equal bits in every way to run, a
# kill and a resume, replays, a robot that stands, and the three kinds of derivatives. robot_rates.sh has MuJoCo.
. "$(dirname "$0")/../robots.sh"
cp "$root/experiments/robots/arm.xml" "$root/experiments/robots/quadruped.xml" "$root/experiments/robots/biped.xml" .
minimize=energy

# ---- the option -----------------------------------------------------------------------------------------------------
swing='control: {mode: gait}, base: fixed'
gains='parameters: {all_kp: 30, all_kd: 1, all_amplitude: 0.5, shoulder_offset: 0.6, elbow_offset: 1.2}
initial: {shoulder_start: 0.5, elbow_start: 1.0}'
spec arm arm.xml 0.5 0.002 "$swing" "$gains"
hop check arm.yaml --set simulation.order=three && fail "order: three is taken"
grep -q 'expected one or two' log || fail "order: three says $(cat log)"
hop run arm.yaml --name plain --progress none || fail "plain: $(cat log)"
hop run arm.yaml --name one --set simulation.order=one --progress none || fail "one: $(cat log)"
[ "$(hop digest plain && cut -d ' ' -f 1 log)" = "$(hop digest one && cut -d ' ' -f 1 log)" ] ||
    fail "order: one is not the default"
hop check arm.yaml --set objective.minimize=step_error && fail "order one has a step_error"
grep -q 'step_error' log || fail "step_error of order one says $(cat log)"

# ---- steps that are too coarse --------------------------------------------------------------------------------------
hop run arm.yaml --name fine --set simulation.order=two --progress none || fail "fine: $(cat log)"
grep -q '^doubtful' log && fail "steps of 2 ms are called doubtful: $(cat log)"
hop run arm.yaml --name rough --set simulation.order=two --set simulation.dt=0.02 --progress none ||
    fail "rough: $(cat log)"
grep -q '^doubtful  1 of 1 trials have step_error > 0.001: dt is too large' log || fail "steps of 20 ms: $(cat log)"

# ---- joints that are too soft ---------------------------------------------------------------------------------------
hop run arm.yaml --name soft --set parameters.attach_stiffness=1e3 --progress none || fail "soft: $(cat log)"
grep -q '^doubtful  1 of 1 trials have gap_max > 0.001: joints gave way by more than 1 mm there' log ||
    fail "soft joints: $(cat log)"

# ---- the order of the error -----------------------------------------------------------------------------------------
# Angles at the end against steps of 25 us: half the step makes the error half, or a quarter.
ends() # NAME ORDER DT
{
    hop run arm.yaml --name "$1" --set simulation.order="$2" --set simulation.dt="$3" --progress none ||
        fail "$1: $(cat log)"
    last "$1" shoulder_q elbow_q | paste -s -d ' '
}
exact=$(ends exact two 0.000025)
for order in one two; do
    coarse=$(ends "coarse_$order" $order 0.002)
    fine=$(ends "fine_$order" $order 0.001)
    echo "$exact $coarse $fine" | awk -v power=$order '
        function far(a, b) { return a > b ? a - b : b - a }
        { coarse = far($3, $1) + far($4, $2); fine = far($5, $1) + far($6, $2); ratio = coarse / fine
          print ratio, fine
          exit power == "one" ? ratio < 1.8 || ratio > 2.2 : ratio < 3.5 || ratio > 4.5 || fine > 5e-5 }' >why ||
        fail "order $order: $(cat why) ($exact; $coarse; $fine)"
done

# ---- equal bits -----------------------------------------------------------------------------------------------------
spec trot quadruped.xml 0.4 0.002 'keyframe: [stand], settle: true, order: two, friction: anchored,
  control: {mode: raibert, gait: trot}' 'parameters: {all_kp: 80, all_kd: 2, fall_height: 0.2}
search: {method: random, trials: 10, over: {speed: {range: [0, 1]}, push_x: {range: [-50, 50]}}}
replicates: {count: 2, perturb: {push_time: {uniform: [0, 0.3]}}}
record: {trajectories: {select: {best: 2}}, debug: {solve: {select: {best: 1}, window: [0.1, 0.11]}}}'
digest_of() # NAME OPTION...
{
    name=$1
    shift
    hop run trot.yaml --name "$name" --progress none "$@" || fail "$name: $(cat log)"
    hop digest "$name" && cut -d ' ' -f 1 log
}
right=$(digest_of whole --threads 1)
[ "$(digest_of threads --threads 3)" = "$right" ] || fail "three threads have other bits"
[ "$(digest_of slices --slice 7)" = "$right" ] || fail "slices of 7 steps have other bits"
[ "$(digest_of scalar --isa scalar)" = "$right" ] || fail "one lane at a time has other bits"
for isa in $(vector_isas "$HOPSCOTCH"); do
    hop run trot.yaml --name "$isa" --isa "$isa" --progress none || continue # a build for one instruction set
    [ "$(hop digest "$isa" && cut -d ' ' -f 1 log)" = "$right" ] || fail "$isa has other bits"
done
sed '/^record/d' trot.yaml >bare.yaml
hop run bare.yaml --name bare --progress none || fail "bare: $(cat log)"
for name in whole bare; do
    hop query $name --format csv --columns energy,slip,step_error || fail "query: $(cat log)"
    cp log $name.csv
done
cmp -s whole.csv bare.csv || fail "recording changes bits"
hop replay whole/3/1 || fail "replay: $(cat log)"
grep -q 'the same to the bit' log || fail "replay: $(cat log)"
if [ -x "$HOPSCOTCH_FAULTS_PROGRAM" ]; then
    HOPSCOTCH_FAULT=sqlwrite:100:KILL "$HOPSCOTCH_FAULTS_PROGRAM" run trot.yaml --name killed --results r --batch 4 \
        --progress none >log 2>&1
    [ $? -gt 128 ] || fail "the run was not killed: $(cat log)"
    hop resume killed --progress none || fail "resume: $(cat log)"
    [ "$(hop digest killed && cut -d ' ' -f 1 log)" = "$right" ] || fail "a killed campaign has other bits"
fi

# ---- it stands ------------------------------------------------------------------------------------------------------
spec stand biped.xml 1 0.002 'order: two' 'parameters: {fall_height: 0.7}'
hop run stand.yaml --progress none || fail "stand: $(cat log)"
hop query stand --format csv --columns survived,ground_force_mean,height_mean,momentum_error || fail "$(cat log)"
awk -F, 'NR == 2 { exit !($1 == 1 && $2 > 100) }' log || fail "it does not stand: $(cat log)"

# ---- derivatives ----------------------------------------------------------------------------------------------------
hop run arm.yaml --name slopes --set simulation.order=two --progress none || fail "slopes: $(cat log)"
hop gradient slopes/0 --parameters all_kp,all_kd,all_amplitude,gravity,gait_frequency --format csv ||
    fail "gradient: $(cat log)"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    function far(x, y) { return x > y ? x - y : y - x }
    { a = $at["adjoint"]; t = $at["tangent"]; d = $at["difference"]; s = $at["error"]; size = a < 0 ? -a : a
      if (a == "" || far(a, t) > 1e-9 * (1 + size) || far(a, d) > 1e-6 * (1 + size) + 10 * s) { print; bad = 1 }
      some += size > 1e-6 }
    END { exit bad || some < 5 }' log >why || fail "derivatives: $(cat why log)"
passed
