#!/bin/sh
# Gradients of hoppers and rigid bodies by the tangent: against differences where events are located or there are none,
# against located events where steps are fixed, and under adam and lbfgs.
. "$(dirname "$0")/../scratch.sh"

# gradient SPEC NAME ARGUMENTS...: of the trials of a campaign, into got.csv
gradient()
{
    spec=$1 what=$2
    shift 2
    rm -rf r
    : >got.csv
    "$HOPSCOTCH" run "$spec" --name x --results r --progress none "$@" >out 2>err || { check 1 "$what"; return 1; }
    for trial in $(seq 0 $((${trials:-1} - 1))); do
        "$HOPSCOTCH" gradient "x/$trial" --results r --format csv >>got.csv 2>err || { check 1 "$what"; return 1; }
    done
}
# agrees ROWS SPEC NAME ARGUMENTS...: each tangent is the difference to 1e-6 or to ten times what it knows of its error
agrees()
{
    rows=$1
    shift
    gradient "$@" || return 0
    awk -F, -v rows="$rows" '$1 == "parameter" { next }
        { d = $5 - $6; if (d < 0) d = -d; size = $6 < 0 ? -$6 : $6; n++; some += size > 1e-12
          if ($5 == "" || $6 == "" || $4 != "" || (d > 1e-6 * size && d > 10 * $8)) { print; bad = 1 } }
        END { if (n != rows || 2 * some < n) { print n " rows, " some; bad = 1 } exit bad }' got.csv >out
    check $? "$2"
}

# ---- the hopper -----------------------------------------------------------------------------------------------------

cat >hop.yaml <<'YAML'
version: 1
experiment: hop
model: hopper
simulation: {duration: 2.5, settle: 0.5, integrator: dormand_prince, tolerance: 1e-11}
search:
  method: random
  trials: 2
  over:
    k_fp: {range: [100, 200]}
    b_att: {range: [10, 20]}
    k_xdot: {range: [0.01, 0.03]}
    thrust: {range: [30, 40]}
    m: {range: [9, 11]}
    J_l: {range: [0.9, 1.1]}
    x_dot_des: {range: [1, 2]}
    z_foot: {range: [0.3, 0.5]}
    dphi_body: {range: [-0.2, 0.2]}
    b_g: {range: [250, 350]}
    b_stop: {range: [900, 1100]}
    T_max_thrust: {range: [0.1, 0.2]}
    z_low: {range: [0.005, 0.02]}
objective: {minimize: "velocity_error + attitude_rms + 0.1*distance"}
YAML
trials=2
[ -z "${QUICK:-}" ] || trials=1
agrees $((13 * trials)) hop.yaml "the hopper over five hops, every event located" --set simulation.duration=5
agrees $((16 * trials)) hop.yaml "a timed push, by its times too" --set simulation.push=timed \
    --set 'search.over.push_time={range: [0.8, 1.2]}' --set 'search.over.push_impulse={range: [3, 5]}' \
    --set 'search.over.push_duration={range: [0.1, 0.2]}'
if [ -z "${QUICK:-}" ]; then
    agrees $((13 * trials)) hop.yaml "four states" --set simulation.machine=four_state
    agrees $((13 * trials)) hop.yaml "the equations of the reference" --set simulation.equations=reference
    agrees $((15 * trials)) hop.yaml "random pushes" --set simulation.push=random \
        --set 'search.over.push_interval={range: [0.8, 1.2]}' --set 'search.over.push_std={range: [1, 3]}'
    agrees $((15 * trials)) hop.yaml "gusts" --set simulation.wind=gusting \
        --set 'search.over.gust_period={range: [0.8, 1.2]}' --set 'search.over.wind_drag={range: [0.4, 0.6]}'
    agrees $((15 * trials)) hop.yaml "a slope" --set simulation.terrain=slope \
        --set 'search.over.terrain_slope={range: [0.01, 0.03]}' \
        --set 'search.over.terrain_start={range: [0.1, 0.3]}'
    agrees $((15 * trials)) hop.yaml "waves" --set simulation.terrain=sine --set parameters.terrain_start=0.1 \
        --set 'search.over.terrain_height={range: [0.01, 0.03]}' \
        --set 'search.over.terrain_length={range: [0.4, 0.6]}'
    agrees $((13 * trials)) hop.yaml "the terms of the energy balance" --set simulation.accounting=parts \
        --set 'objective={minimize: "change_kinetic + change_ground + dissipated_ground + work_hip + work_thrust"}'
fi
agrees $((13 * trials)) hop.yaml "metrics of the spec's own" \
    --set 'metrics={lean: {rms: phi_body}, far: {final: "x_foot + 2*z_foot"}, work: {integral: "u2*dphi_body"},
           pull: {mean: "u1*thrust"}}' --set 'objective={minimize: "lean + far + 0.01*work + 1e-5*pull"}'
trials=1

# far FILE: how far its gradient is from that of near.csv, in ranges of the parameters, over that one's norm
far()
{
    awk -F, -v column="${2:-5}" 'BEGIN { split("100 10 0.02 10 2 0.2 1 0.2 0.4 100 200 0.1 0.015", range, " ") }
        $1 == "parameter" { next }
        FNR == NR { near[FNR] = $5 * range[FNR - 1]; all += near[FNR]^2; next }
        { off += ($column * range[FNR - 1] - near[FNR])^2 }
        END { printf "%.4f\n", sqrt(off / all) }' near.csv "$1"
}
# With fixed steps the fitness jumps where an event moves to another step. The tangent is that of the motion, and comes
# near with dt; differences of small steps do not.
gradient hop.yaml "located events" && cp got.csv near.csv
for integrator in implicit_midpoint rk4 semi_implicit_euler implicit_euler; do
    for dt in 4e-4 1e-4; do
        gradient hop.yaml "$integrator" --set simulation.integrator=$integrator --set simulation.dt=$dt &&
            far got.csv >"$integrator.$dt"
    done
    echo "$(cat "$integrator.4e-4" "$integrator.1e-4" | tr '\n' ' ') $(far got.csv 6)" >off
    awk '{ exit !($2 < 0.05 && $2 < 0.6 * $1 && $3 > 0.1) }' off
    check $? "$integrator: tangents come near with dt, differences of small steps do not: $(cat off)"
done
grep -q '^remark: with fixed steps an event falls on a step' err
check $? "gradient says so"
gradient hop.yaml "Newton" --set simulation.integrator=implicit_midpoint --set simulation.newton.jacobian=analytic \
    --set simulation.dt=4e-4 &&
    cp got.csv newton.csv
far newton.csv >off
awk '{ exit !($1 < 0.06) }' off
check $? "newton.jacobian: analytic: $(cat off)"

# Under a law the steps are fixed: differences over steps of 1 % of a value, which cross many jumps.
cat >law.yaml <<'YAML'
version: 1
experiment: law
model: hopper
simulation:
  duration: 2
  dt: 2e-5
  settle: 0.5
  integrator: rk4
  control:
    mode: law
    law:
      parameters: {gain: {value: 120, unit: N m/rad}, push: {value: 600, unit: N}, keep: {value: 50, unit: N m/rad/s}}
      held: {s: {start: 0, unit: rad s}}
      effort: {u1: "push*(1 - len_leg/r_s0)", u2: "-gain*(phi_body - phi_leg/2) - b_att*dphi_body - keep*s"}
      every_period: {s: s + period*phi_body}
parameters: {u1_min: -1e5, u1_max: 1e5, u2_min: -1e5, u2_max: 1e5}
search:
  method: list
  points: [{gain: 145, push: 510, b_att: 11, m: 10.2, z_foot: 0.46, keep: 50}]
objective: {minimize: "attitude_rms + 0.1*distance + velocity_error"}
YAML
wide() # wide SPEC WHAT ROWS
{
    gradient "$1" "$2" && "$HOPSCOTCH" gradient x/0 --results r --curve --format csv >curve.csv 2>err
    awk -F, -v rows="$3" 'FNR == NR { if (FNR > 1) { tangent[$1] = $5; value[$1] = $2 } next }
        FNR > 1 && $2 > 0.009 * value[$1] && $2 < 0.011 * value[$1] {
            n++; d = $3 / tangent[$1] - 1; if (d > 0.02 || d < -0.02) { print $1, $3, tangent[$1]; bad = 1 } }
        END { exit bad || n != rows }' got.csv curve.csv >out
    check $? "the tangents of $2 are the differences of wide steps: $(cat out)"
}
wide law.yaml "a law" 6
sed -e 's/mode: law/mode: raibert/' -e 's/gain: {value: 120/gain: {value: 12/' \
    -e 's/effort: .*/add: {u1: "push*(1 - len_leg\/r_s0)", u2: "-gain*phi_body - keep*s"}/' \
    -e 's/gain: 145, push: 510, b_att: 11/gain: 14, b_att: 6/' -e 's/push: {value: 600/push: {value: 50/' \
    -e 's/duration: 2/duration: 1.2/; s/dt: 2e-5/dt: 5e-5/; s/settle: 0.5/settle: 0.3/' law.yaml >added.yaml
wide added.yaml "a law on top of the built-in controller" 5
[ "$(head -n 1 curve.csv)" = parameter,step,difference,from_tangent ] && ! grep -q ',$' curve.csv
check $? "without an adjoint, differences of all steps stand beside the tangent"

# ---- rigid bodies ---------------------------------------------------------------------------------------------------

cat >pendulum.yaml <<'YAML'
version: 1
experiment: pendulum
model: rigid
simulation: {duration: 1.0, dt: 0.01}
search:
  method: random
  trials: 1
  over: {gravity: {range: [9, 10]}, payload_vx: {range: [1, 3]}, payload_x: {range: [-0.1, 0.1]},
         rod_length: {range: [1.9, 2.1]}, alpha: {range: [4, 6]}, beta: {range: [4, 6]}, wind_x: {range: [1, 2]}}
objective: {minimize: "payload_end_x + 0.5*payload_end_z"}
YAML
for form in rattle baumgarte soft; do
    agrees 7 pendulum.yaml "a pendulum by $form" --set simulation.stabilisation=$form
done
cat >exact.yaml <<'YAML'
version: 1
experiment: exact
model: rigid
simulation:
  duration: 1.0
  dt: 0.01
  stabilisation: rattle
  world:
    bodies: [{name: payload, mass: 1, position: [0, 0, -2], velocity: [2, 0, 0]}]
    constraints: [{name: rod, type: distance, a: payload, length: 2}]
search: {method: list, points: [{payload_vx: 2, rod_length: 2}]}
objective: {minimize: "payload_end_x + 0.5*payload_end_z"}
YAML
agrees 2 exact.yaml "a start by rattle that meets the constraints exactly"
agrees 7 pendulum.yaml "its errors" --set simulation.stabilisation=baumgarte --set 'objective={minimize: error_rms}'
four=$root/experiments/four_bar.yaml
four() # REDUNDANT ARGUMENTS...
{
    redundant=$1
    shift
    agrees 5 "$four" "a four-bar mechanism: $redundant" --set simulation.copies=1 --set simulation.duration=0.4 \
        --set simulation.redundant="$redundant" --set 'search={method: random, trials: 1, over: {
            gravity: {range: [9, 10]}, post0_mass: {range: [0.9, 1.1]}, beam1_mass: {range: [0.9, 1.1]},
            post0_wy: {range: [0.9, 1.1]}, post0_vx: {range: [0.4, 0.6]}}}' \
        --set 'objective={minimize: "post0_end_x + post0_end_z"}' --set 'record={}' "$@"
}
four share
four drop
four regularise --set simulation.order=two
agrees 3 "$root/experiments/andrews_squeezer.yaml" "Andrews' squeezer" --set simulation.duration=0.01 \
    --set 'search={method: random, trials: 1, over: {K1_mass: {range: [0.04, 0.05]},
        spring_stiffness: {range: [4000, 5000]}, spring_length: {range: [0.07, 0.08]}}}' \
    --set 'objective={minimize: K1_end_x}' --set 'record={}'
for solver in trees skyline; do
    agrees 4 "$root/experiments/chain_scaling.yaml" "a chain of twelve rods by $solver" --set simulation.copies=12 \
        --set simulation.solver=$solver --set simulation.duration=0.3 --set 'search={method: random, trials: 1, over: {
            gravity: {range: [9, 10]}, rod3_mass: {range: [0.5, 1.5]}, rod12_mass: {range: [0.5, 1.5]},
            rod5_vz: {range: [-0.1, 0.1]}}}' --set 'objective={minimize: "rod12_end_x + rod12_end_z"}'
done
cat >fall.yaml <<'YAML'
version: 1
experiment: fall
model: rigid
simulation:
  duration: 2.0
  dt: 0.003125
  stabilisation: rattle
  order: four
  world:
    bodies: [{name: ball, mass: 2, inertia: [0.1, 0.2, 0.3], position: [0, 0, 5], spin: [1, 2, 3]}]
    forces: [{name: air, type: drag, a: ball, linear: 0.1, area: 0.02},
             {name: spring, type: spring, a: ball, at_a: [0.1, 0, 0], at_b: [0, 0, 8], stiffness: 3, damping: 0.1,
              length: 2}]
search:
  method: random
  trials: 1
  over: {ball_z: {range: [4, 6]}, ball_vz: {range: [-1, 1]}, ball_mass: {range: [1, 3]},
         air_linear: {range: [0.1, 0.2]}, spring_stiffness: {range: [2, 3]}, ball_wx: {range: [1, 2]},
         gravity: {range: [9, 10]}}
objective: {minimize: touchdown}
YAML
agrees 7 fall.yaml "when a body touches down, located within a step"
agrees 7 fall.yaml "metrics of the spec's own over bodies" --set 'metrics={turn: {rms: ball_wy}, q: {final: ball_qx},
    up: {mean: "ball_z*ball_vz"}}' --set 'objective={minimize: "turn + q + 0.1*up"}'

# ---- searches, and what has no gradient -----------------------------------------------------------------------------

descend() # METHOD GRADIENT: its best fitness and its number of trials
{
    "$HOPSCOTCH" run hop.yaml --name "$1-$2" --results s --progress none --set simulation.tolerance=1e-9 \
        --set simulation.duration=2 --set "search={method: $1,
            $1: {gradient: $2, start: default, stop: {iterations: 12}},
            over: {k_xdot: {range: [0.0, 0.1]}, thrust: {range: [20, 60]}, k_fp: {range: [50, 300], scale: log}}}" \
        >out 2>err || return 1
    "$HOPSCOTCH" query "$1-$2" --results s --format csv --sql "SELECT min(fitness), count(*) FROM trials" | tail -n 1
}
for method in adam lbfgs; do
    { descend $method tangent && descend $method differences; } | tr '\n,' '  ' >best
    awk '{ d = $1 - $3; exit !(d < 1e-3 && d > -1e-3 && $2 < 0.7 * $4) }' best
    check $? "$method by the tangent gets as far as by differences, in fewer trials: $(cat best)"
done
"$HOPSCOTCH" run hop.yaml --results s --progress none --set 'search={method: adam, adam: {gradient: adjoint},
    over: {thrust: {range: [20, 60]}}}' >out 2>err
grep -qF 'error: model hopper has no adjoint; use `gradient: tangent`' err
check $? "an adjoint of the hopper is refused"
refused() # SENTENCE SPEC ARGUMENTS...
{
    sentence=$1
    shift
    "$HOPSCOTCH" check "$@" >out 2>err
    grep -qF "error: $sentence; use \`gradient: differences\`" err
    check $? "refused: $sentence"
}
by_tangent='search={method: adam, adam: {gradient: tangent}, over: {gravity: {range: [9, 10]}}}'
of_hopper='search={method: adam, adam: {gradient: tangent}, over: {thrust: {range: [20, 60]}}}'
none='of the objective has no derivative: counts, times, maxima and jumps have none'
refused "metric hop_count $none" hop.yaml \
    --set "$of_hopper" --set 'objective={minimize: hop_count}'
refused "metric apex_mean (the greatest heights at ends of steps) $none" hop.yaml \
    --set "$of_hopper" --set 'objective={minimize: apex_mean}'
cat >canopy.yaml <<'YAML'
version: 1
experiment: canopy
model: rigid
simulation:
  world:
    bodies: [{name: load, mass: 10, inertia: [1, 1, 1], position: [0, 0, 100]}]
    forces: [{name: canopy, type: parachute, a: load, packed: 0.1, area: 5, rate: 2, speed: 5}]
objective: {minimize: load_end_z}
YAML
refused 'a parachute opens at the start of a step: it has no gradient' canopy.yaml --set "$by_tangent"
sed 's/type: parachute.*/type: tether, a: load, at_b: [0, 0, 110], stiffness: 10, damping: 1, length: 11}]/' \
    canopy.yaml >tether.yaml
refused 'the pull of a tether with damping jumps where it becomes taut: it has no gradient' tether.yaml \
    --set "$by_tangent"
"$HOPSCOTCH" models hopper >out 2>err && grep -q '^gradient: by the tangent and differences' out &&
    grep -q '^    no derivative of hop_count' out && "$HOPSCOTCH" models articulated >out 2>err &&
    grep -q '^gradient: by the adjoint, the tangent and differences' out && "$HOPSCOTCH" models bbob >out 2>err &&
    grep -q '^gradient: by differences' out
check $? "models says what has which"
exit $status
