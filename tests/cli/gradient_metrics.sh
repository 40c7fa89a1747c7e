#!/bin/sh
# Gradients through metrics of the user's own over the columns of a robot (`metrics:` of a spec): by the adjoint, the
# tangent and differences; searches along them; what has no derivative.
. "$(dirname "$0")/../scratch.sh"
fail()
{
    echo "FAIL gradient_metrics: $*"
    status=1
}
good() { echo "ok   gradient_metrics: $*"; }
cp -r "$root/experiments/robots" . || exit 3
cat >walk.yaml <<'YAML'
version: 1
experiment: walk
model: articulated
simulation:
  robot: robots/quadruped.xml
  keyframe: [stand]
  duration: 0.2
  dt: 0.002
  control: {mode: gait}
  groups: {thigh: [front_left_thigh, front_right_thigh], knee: [front_left_knee, front_right_knee]}
  design: {shank: {length: knee}}
parameters: {all_kp: 80}
initial: {base_vx: 0.2}
metrics:
  reached: {final: base_x}
  turned:  {final: "base_qx^2 + base_qy^2"}
  bent:    {mean: front_left_knee_q}
  shaken:  {rms: "1*base_wy + 0.1*hind_left_hip_rate"}
  effort:  {rms: "1*front_left_thigh_torque*gait_frequency"}
  carried: {mean: front_left_shank_link_force}
  late:    {integral: "if(time > 0.1, base_vx*thigh_amplitude, 0)"}
  asked:   {mean: "(front_left_thigh_command - front_left_thigh_q)^2"}
  highest: {max: base_z}
  quick:   {part: "base_vx > 0.1"}
  jumps:   {mean: "1*(base_x > 0.05)"}
search:
  method: random
  trials: 3
  over:
    gait_frequency:  {range: [1.0, 3.5]}
    thigh_amplitude: {range: [0.1, 0.6]}
    thigh_offset:    {range: [0.3, 0.9]}
    shank:           {range: [0.9, 1.1]}
    all_kd:          {derive: "0.03 * all_kp + gait_frequency"}
replicates: {count: 2, perturb: {ground_friction: {uniform: [0.5, 1.0]}}}
objective:
  maximize: "3*reached - 0.1*turned + bent*distance - 0.1*shaken - 0.01*effort + 0.001*carried + late - asked*shank"
YAML

# every row: the adjoint is as near to the difference as that is to the truth, and to the tangent up to rounding
agree() # FILE ROWS
{
    awk -F, -v rows="$2" 'NR > 1 { d = $4 - $6; if (d < 0) d = -d
        t = $4 - $5; if (t < 0) t = -t
        size = $6 < 0 ? -$6 : $6
        if ($4 == "" || $5 == "" || $6 == "" || d > 5 * $8 + 1e-7 * size) { print "row " $0; bad = 1 }
        if ($8 > 1e-2 * size + 1e-9 || t > 1e-8 * size + 1e-10) { print "row " $0; bad = 1 }
        n++ }
        END { exit bad || n != rows }' "$1" >&2
}
run() { "$HOPSCOTCH" run walk.yaml --results r --progress none "$@" >log 2>&1 || fail "run: $(cat log)"; }

run
"$HOPSCOTCH" gradient walk/1 --results r --format csv >rows.csv 2>log || fail "$(cat log)"
agree rows.csv 4 2>wrong && good "the three ways agree" || fail "three ways: $(cat wrong log)"
"$HOPSCOTCH" gradient walk/1 --results r --format csv --backend cpu --isa scalar --threads 1 >alone.csv 2>log
cmp -s rows.csv alone.csv && good "the same bits with other kernels" || fail "kernels: $(diff rows.csv alone.csv)"
for metric in reached turned bent shaken effort carried late asked; do
    run --name alone --set "objective={minimize: $metric}" --set replicates.count=1
    "$HOPSCOTCH" gradient alone/1 --results r --format csv --parameters gait_frequency,thigh_amplitude \
        >rows.csv 2>log || fail "$(cat log)"
    agree rows.csv 2 2>wrong || fail "$metric: $(cat wrong log)"
    rm -rf r/alone
done
[ "$status" -eq 0 ] && good "they agree for each metric alone"

# ---- what has no derivative -----------------------------------------------------------------------------------------

run --name bend --set 'objective={minimize: "reached + highest + quick + jumps + gap_max"}'
"$HOPSCOTCH" gradient bend/0 --results r >rows.txt 2>log
said='no adjoint: metrics gap_max, highest (max), quick (part), jumps (its expression jumps) of the objective have no'
grep -qF "$said" log && good "metrics without a derivative are named with the reason" || fail "bend: $(cat log)"
over='over: {gait_frequency: {range: [1.0, 3.5]}, thigh_amplitude: {range: [0.1, 0.6]}}'
"$HOPSCOTCH" check walk.yaml --set "search={method: adam, adam: {gradient: adjoint}, $over}" \
    --set 'objective={minimize: "reached + highest"}' >log 2>&1 && fail "check takes it: $(cat log)"
grep -q 'metric highest (max) of the objective has no derivative.*use `gradient: differences`' log &&
    good "check refuses a search along them" || fail "check: $(cat log)"

# ---- searches -------------------------------------------------------------------------------------------------------

search() # NAME GRADIENT ARGUMENTS...: the fitness of its trials
{
    name=$1 gradient=$2
    shift 2
    run --name "$name" --set 'objective={maximize: "reached - 0.01*effort"}' "$@" \
        --set "search={method: adam, adam: {searches: 3, gradient: $gradient, stop: {iterations: 6}}, $over}"
    "$HOPSCOTCH" query "$name" --results r --format csv --columns id,fitness,reached,effort --order id --limit 0
}
search first adjoint >first.csv 2>log
search scalar adjoint --isa scalar --threads 1 --batch 1 >scalar.csv 2>log
[ "$(wc -l <first.csv)" -eq 19 ] && cmp -s first.csv scalar.csv &&
    good "a search along them has the same bits with other kernels" || fail "search: $(diff first.csv scalar.csv)"
awk -F, 'NR > 1 && $1 < 3 { first = NR == 2 || $2 > first ? $2 : first }
    NR > 1 { best = NR == 2 || $2 > best ? $2 : best }
    END { exit !(best > first + 1e-3) }' first.csv && good "it improves" || fail "no better: $(cat first.csv)"
search tangent tangent >tangent.csv 2>log
paste -d, first.csv tangent.csv | awk -F, 'NR > 1 { d = $2 - $6; if (d < 0) d = -d; if (d > 1e-7) exit 1 }' &&
    good "the tangent takes the same steps" || fail "tangent: $(diff first.csv tangent.csv)"
"$HOPSCOTCH" replay first/best --results r >log 2>&1 && grep -q 'the same to the bit' log &&
    good "its best trial is replayed to the bit" || fail "replay: $(cat log)"

# ---- random metrics -------------------------------------------------------------------------------------------------

with_python "gradients through random metrics" || exit $status
[ -z "${QUICK:-}" ] || ROUNDS=${ROUNDS:-6}
python3 "$root/tests/metrics_gradients.py" "$HOPSCOTCH" "$root/experiments" "${SEED:-1}" "${ROUNDS:-24}" >out 2>&1 &&
    good "$(tail -n 1 out)" || fail "$(cat out)"
exit $status
