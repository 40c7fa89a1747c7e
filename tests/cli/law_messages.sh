#!/bin/sh
# What a user of a law meets: a constant's unit, names that are nearly right, laws in files, what was not finite, lists
# of columns with blanks, and the colours of two trials.
. "$(dirname "$0")/../scratch.sh"

cat >pendulum.xml <<'END'
<mujoco model="pendulum"><compiler angle="radian"/><worldbody><body name="rod" pos="0 0 1">
<joint name="pivot" axis="0 1 0" damping="0.05"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02" mass="1"/></body></worldbody>
<actuator><motor name="motor" joint="pivot" ctrlrange="-5 5"/></actuator></mujoco>
END
# spec NAME LAW [METRICS]: LAW is what stands behind `law:`
spec()
{
    printf '%s\n' 'version: 1' "experiment: $1" 'model: articulated' 'simulation:' '  robot: pendulum.xml' \
        '  duration: 1' '  dt: 0.005' "  control: {mode: law, period: 0.01, law: $2}" 'initial: {pivot_start: 1}' \
        "metrics: {${3:-end: {final: pivot_q\}}}" 'search: {over: {gravity: [9, 10]}}' \
        'objective: {minimize: end}' >"$1.yaml"
}
pump='parameters: {k: {value: 2, unit: N m s/(J rad)}, goal: {value: 2, unit: J}}'
effort='effort: {pivot: k*(goal - E)*pivot_rate}'

# ---- units ----------------------------------------------------------------------------------------------------------
spec plain "{$pump, let: {I: 0.08, E: 0.5*I*pivot_rate^2}, $effort}"
refused check plain.yaml
has 'J - 1/s^2: both sides must have the same unit; a gain in kg m^2 on the right would fit; a constant gets' err
has 'let: {c: {value: 2, unit: kg m^2}}' err
spec named "{$pump, let: {I: {value: 0.08, unit: kg m^2}, E: 0.5*I*pivot_rate^2}, $effort}"
works check named.yaml
spec given "{$pump, let: {E: {value: 0.04*pivot_rate^2, unit: J}}, $effort}"
refused check given.yaml
has 'E has the unit J, and this is in 1/s^2; a constant gets its unit so: ' err

# ---- names ----------------------------------------------------------------------------------------------------------
spec modes '{modes: {a: {effort: {pivot: 1}, events: [{rises: pivot_q, to: b}]}, b: {effort: {pivot: 2}}}}'
works check modes.yaml
refused check modes.yaml --set 'metrics.m={final: mode}'
has "unknown name 'mode'; did you mean 'law_mode'?" err
echo '{parameters: {k: 2}, effort: {pivot: -k*pivot_rate}}' >brake.yaml
spec file brake.yaml
works models file.yaml
has 'declared by the law'
lacks 'declared by the system'
refused check file.yaml --set simulation.control.law.parameters.k=3
has 'simulation.control.law is a file of its own, brake.yaml: parameters.k sets a parameter of it' err
works check file.yaml --set parameters.k=3
refused check file.yaml --set simulation.robot.mass=3
has 'the value above this key in the spec is not a mapping' err

# ---- what was not finite --------------------------------------------------------------------------------------------
spec root '{effort: {pivot: 0}}' 'end: {final: pivot_q}, root: {mean: sqrt(0.5 - pivot_q)}'
sed -i 's/minimize: end/minimize: end + root/' root.yaml
works run root.yaml --progress none
works replay root/0
has 'non_finite: metrics that are not finite: root'
works replay root/0 --json
lacks 'metrics that'
spec jump '{effort: {pivot: sqrt(0.5 - time)}}'
works run jump.yaml --progress none
works replay jump/1
has 'non_finite: all columns are finite until the end, at 0.515 s; what the law gave or held last was not'
cat >falls.yaml <<'END'
version: 1
experiment: falls
model: equations
simulation:
  duration: 2
  dt: 0.01
  system:
    parameters: {a: 1}
    states: {x: {start: 1}}
    rates: {x: -a}
    columns: {level: log(x)}
    metrics: {mean_level: {mean: log(x)}}
search: {over: {a: [1, 2]}}
replicates: {count: 2, perturb: {x: {uniform: [0.5, 3]}}}
objective: {minimize: mean_level}
END
works run falls.yaml --progress none
works replay falls/0
has 'non_finite: replicate 0: column level is nan at 1.75 s; metrics that are not finite: mean_level'
works replay falls/0/1
has 'non_finite: replicate 1: column level is nan at 0.56 s'

# ---- pictures -------------------------------------------------------------------------------------------------------
works run file.yaml --progress none
works plot file/0 file/1 --columns ' pivot_q , pivot_rate' -o two.svg
grep -q 'class="ln h2"' two.svg && grep -q 'class="ln h3"' two.svg && ! grep -q 'class="ln s' two.svg
check $? "two trials are blue and orange"
works query file --columns 'gravity, end'
works query file --order 'end : desc, gravity'
code=2 refused plot file/0 --phase pivot_q,pivot_rate,base_x,base_z
has 'another panel is another --phase X,Y' err
works plot file/0 --phase 'pivot_q, pivot_rate' --phase pivot_q,base_x -o phase.svg
exit $status
