#!/bin/sh
# Friction beside Coulomb's and viscous one, motors that are driven by a voltage, late commands and wrong encoders:
# random joints beside their equations, solved by SciPy; numbers found again from a recording; late actions of
# environments; and what is refused.
. "$(dirname "$0")/../scratch.sh"

cat >compare.py <<'PYTHON'
"""Single joints with random numbers of their actuators: errors of the coordinate at two steps, and their order."""
import csv, math, os, random, subprocess, sys
import numpy
from scipy.integrate import solve_ivp

program, count = os.environ["HOPSCOTCH"], int(sys.argv[1])
slow, duration = 0.05, 0.6 # friction_speed (rad/s), s

def numbers(voltage):
    p = {name: random.uniform(low, high) for name, low, high in [
        ("armature", 0.01, 0.05), ("damping", 0.0, 0.3), ("friction", 0.0, 0.4), ("stiction", 0.1, 0.6),
        ("stribeck", 0.3, 2.0), ("load", 0.0, 0.2), ("stickload", 0.0, 0.3), ("drag", 0.0, 0.2), ("kp", 20.0, 40.0),
        ("kd", 0.2, 1.0), ("bias", -0.5, 0.5), ("encoder", -0.2, 0.2), ("delay", 0.0, 0.09), ("amplitude", 0.5, 1.0)]}
    if voltage:
        p.update({name: random.uniform(low, high) for name, low, high in [
            ("resistance", 0.5, 3.0), ("kt", 0.05, 0.2), ("emf", 0.05, 0.2), ("gear", 5.0, 12.0),
            ("voltage", 4.0, 14.0)]})
    return p

def exact(p, inertia, frequency):
    def slope(t, y):
        q, rate = y
        command = p["amplitude"] * math.sin(2 * math.pi * frequency * max(t - p["delay"], 0.0))
        asked = p["kp"] * (command - q - p["encoder"]) - p["kd"] * rate + p["bias"]
        effort = asked
        if "kt" in p:
            asked = min(max(asked, -p["voltage"]), p["voltage"])
            effort = p["gear"] * p["kt"] / p["resistance"] * (asked - p["gear"] * p["emf"] * rate)
        size, rest = math.sqrt(rate * rate + slow * slow), math.exp(-(rate / p["stribeck"]) ** 2)
        dry = p["friction"] + p["load"] * abs(effort) + (p["stiction"] + p["stickload"] * abs(effort)) * rest
        drag = (p["damping"] + dry / size + p["drag"] * size) * rate
        return [rate, (effort - drag) / (inertia + p["armature"])]
    return solve_ivp(slope, (0, duration), [0, 0], rtol=1e-10, atol=1e-12, method="Radau", max_step=1e-3).y[:, -1]

def got(p, kind, dt, order, name, frequency):
    with open("joint.xml", "w") as file:
        file.write(f"""<mujoco model="joint"><compiler angle="radian"/><worldbody>
<body name="arm"><inertial pos="0 0 0" mass="0.3" diaginertia="0.05 0.05 0.05"/>
<joint name="turn" type="{kind}" axis="0 0 1"/></body></worldbody>
<actuator><motor joint="turn"/></actuator></mujoco>""")
    with open("joint.yaml", "w") as file:
        file.write(f"""version: 1
experiment: joint
model: articulated
simulation: {{robot: joint.xml, dt: {dt}, order: {order}, duration: {duration}, control: {{mode: gait}}}}
parameters:
  gravity: 0
  friction_speed: {slow}
  gait_frequency: {frequency}
""" + "".join(f"  turn_{name}: {value!r}\n" for name, value in p.items()) + """
search: {method: grid, over: {push_x: [0.0]}}
objective: {minimize: gap_max}
""")
    run = lambda *words: subprocess.run([program, *words, "--results", "m"], check=True, capture_output=True)
    run("run", "joint.yaml", "--name", name, "--progress", "none")
    run("replay", f"{name}/0", "-o", "joint.csv")
    row = list(csv.DictReader(open("joint.csv")))[-1]
    return numpy.array([float(row["turn_q"]), float(row["turn_rate"])])

bad = 0
for seed in range(count):
    random.seed(seed)
    kind, order = ("hinge", "slide")[seed // 2 % 2], ("one", "two")[seed // 4 % 2]
    p, frequency = numbers(seed % 2 == 1), random.uniform(1.0, 2.0)
    right = exact(p, 0.3 if kind == "slide" else 0.05, frequency)
    errors = [max(abs(got(p, kind, dt, order, f"j{seed}_{k}", frequency) - right)) for k, dt in enumerate((4e-4, 2e-4))]
    print(seed, kind, order, errors, numpy.log2(errors[0] / errors[1]), file=sys.stderr)
    if not (errors[1] < (0.2 if order == "one" else 2e-3) and errors[0] > (1.8 if order == "one" else 2.5) * errors[1]):
        bad += 1
        print(seed, kind, order, p, right, errors)
sys.exit(bad > 0)
PYTHON
if with_python "friction and voltages beside SciPy" scipy numpy; then
    python3 compare.py "$([ -n "${QUICK:-}" ] && echo 8 || echo 32)" >out 2>err
    check $? "random joints beside SciPy"
fi

# the encoder, delay, friction and masses of an arm are found again from what its encoders read
cat >bar.xml <<'XML'
<mujoco model="bar"><compiler angle="radian"/><worldbody>
 <body name="upper"><inertial pos="0 0 -0.15" mass="1.5" diaginertia="0.02 0.02 0.002"/>
  <joint name="shoulder" axis="0 1 0"/>
  <body name="fore" pos="0 0 -0.3"><inertial pos="0 0 -0.12" mass="0.8" diaginertia="0.008 0.008 0.001"/>
   <joint name="elbow" axis="1 0 0"/></body></body></worldbody>
 <actuator><position joint="shoulder" kp="40" kv="1"/><position joint="elbow" kp="30" kv="0.8"/></actuator></mujoco>
XML
# bar NAME SETTING PARAMETERS SEARCH OBJECTIVE
bar()
{
    printf 'version: 1\nexperiment: %s\nmodel: articulated\n' "$1"
    printf 'simulation: {robot: bar.xml, dt: 0.002, duration: 1.5, order: two, control: {mode: gait}%s}\n' "$2"
    printf 'parameters: {all_amplitude: 0.7, gait_frequency: 1.3, all_stribeck: 0.5%s}\n' "$3"
    printf 'search: {%s}\nobjective: {minimize: %s}\n' "$4" "$5"
}
bar bar '' ', shoulder_encoder: 0.03, all_delay: 0.0137, all_stiction: 0.4, fore_movedx: 0.02, fore_logx: 0.3' \
    'method: grid, over: {push_x: [0.0]}' gap_max >bar.yaml
works run bar.yaml --results r --progress none
works replay bar/0 --results r -o bar.csv
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "time,shoulder_q,elbow_q,elbow_rate"; next }
    NR % 5 == 2 { printf "%s,%.17g,%s,%s\n", $1, $at["shoulder_q"] + 0.03, $at["elbow_q"], $at["elbow_rate"] }' \
    bar.csv >record.csv
bar found ', reference: record.csv' '' 'method: lbfgs,
  lbfgs: {gradient: adjoint, start: center, stop: {iterations: 60}},
  over: {shoulder_encoder: {range: [-0.1, 0.1]}, all_delay: {range: [0, 0.04]}, all_stiction: {range: [0, 1]},
         fore_movedx: {range: [-0.1, 0.1]}, fore_logx: {range: [-1, 1]}}' reference_error >found.yaml
works run found.yaml --results r --progress none
works show found/best --results r
awk '{ value[$1] = $2 }
    function off(name, right) { return (value[name] - right) ^ 2 > (1e-5 * right) ^ 2 }
    END { exit off("shoulder_encoder", 0.03) || off("all_delay", 0.0137) || off("all_stiction", 0.4) ||
               off("fore_movedx", 0.02) || off("fore_logx", 0.3) }' out
check $? "encoder, delay, friction, centre and inertia found from a recording"

# late actions of environments whose episodes end and begin at different times
library=${HOPSCOTCH%/*}/libhopscotch.so
if with_python "late actions of environments" numpy gymnasium && ! lacks_program "$library"; then
    cp -r "$root/experiments/quadruped_env.yaml" "$root/experiments/robots" .
    sed 's/^    base_vx: .*/&\n    all_delay: {uniform: [0.0, 0.03]}/; s/period: 20ms/&, longest_delay: 30ms/' \
        quadruped_env.yaml >late_env.yaml
    PYTHONPATH="$root/tests:$root/runner/python" PYTHONDONTWRITEBYTECODE=1 HOPSCOTCH_LIBRARY="$library" \
        python3 - >out 2>err <<'PYTHON'
from environments import compare
for mode in ("next_step", "same_step", "disabled"):
    compare("late_env.yaml", mode, 7, 40, {"simulation.duration": 0.3, "parameters.fall_tilt": 0.2}, 10)
PYTHON
    check $? "late actions of environments, stepped together as one by one"
fi

# refused WORDS SETTING...: the spec with these lines of parameters is refused, and says so
refused()
{
    words=$1
    shift
    {
        printf 'version: 1\nexperiment: x\nmodel: articulated\n'
        printf 'simulation: {robot: arm.xml, control: {%s}%s}\nparameters:\n' "$mode" "$more"
        printf '  %s\n' "$@"
        printf 'search: {method: grid, over: {gravity: [9.81]}}\nobjective: {minimize: gap_max}\n'
    } >x.yaml
    "$HOPSCOTCH" check x.yaml >out 2>err
    found=$?
    grep -q "$words" err && [ $found -ne 0 ]
    check $? "refused: $words"
}
cat >arm.xml <<'XML'
<mujoco model="arm"><compiler angle="radian"/><worldbody>
 <body name="a"><inertial pos="0 0 -0.1" mass="1" diaginertia="0.1 0.1 0.1"/><joint name="shoulder" axis="0 1 0"/>
  <body name="b" pos="0 0 -0.3"><inertial pos="0 0 -0.1" mass="1" diaginertia="0.1 0.1 0.1"/>
   <joint name="wrist" type="ball"/>
   <body name="c" pos="0 0 -0.3"><inertial pos="0 0 -0.1" mass="1" diaginertia="0.1 0.1 0.1"/>
    <joint name="finger" axis="0 1 0"/></body></body></body></worldbody>
 <actuator><position joint="shoulder" kp="20" kv="1"/></actuator></mujoco>
XML
mode='mode: gait' more=
refused "name shoulder_stribeck" 'shoulder_stiction: 0.1'
refused "needs shoulder_resistance, shoulder_kt and shoulder_emf" 'shoulder_voltage: 12'
refused "name shoulder_kp (V/rad)" 'shoulder_resistance: 1' 'shoulder_kt: 0.1' 'shoulder_emf: 0.1'
refused "joint finger has no motor, and so no delay, load or voltage: add one to the robot's file" 'finger_delay: 0.01'
mode='mode: external, command: effort'
refused "driven by a voltage: that needs control mode" 'shoulder_resistance: 1' 'shoulder_kt: 0.1' \
    'shoulder_emf: 0.1' 'shoulder_kp: 4' 'shoulder_kd: 0'
mode='mode: external'
refused "shoulder_delay needs control.longest_delay (s) with control mode" 'shoulder_delay: 0.01'
mode='mode: external, longest_delay: 0.02'
refused "shoulder_delay is 0.03, must be in .0, 0.02. s" 'shoulder_delay: 0.03'
mode='mode: external, longest_delay: 5'
refused "control.longest_delay (5 s) is more than 1000 steps dt" 'shoulder_delay: 0.03'
mode='mode: gait, longest_delay: 0.02'
refused "control.longest_delay needs control: {mode: external}" 'shoulder_delay: 0.01'
mode='mode: hold' more=', groups: {arm: [shoulder, wrist]}'
refused "joint wrist has several coordinates" 'arm_encoder: 0.1'
refused "body a has its inertia by a_ixx ... and by a_logx ...: name those of one kind" 'a_ixx: 1' 'a_logx: 0.1'
sed 's/0.1 0.1 0.1"\/><joint name="shoulder"/0.1 0.1 0.2"\/><joint name="shoulder"/' arm.xml >flat.xml
mv flat.xml arm.xml
refused "a_logx ... begin at the inertia in the robot's file" 'a_logx: 0.1'
cp "$root/experiments/robots/quadruped.xml" arm.xml
mode='mode: raibert' more=
refused "control mode raibert has no delay of commands: leave .*_delay out" 'all_delay: 0.01'
exit $status
