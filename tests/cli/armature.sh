#!/bin/sh
# Armature of slides and balls on turning parents: a bead on a radial slide of a turning disc, and random trees of
# hinges, slides and balls beside MuJoCo's Runge-Kutta method, which defines what their armature means.
. "$(dirname "$0")/../scratch.sh"

# A disc that a stiff motor turns to and fro, and a bead on it whose armature feels no centrifugal force:
# (m + armature) r'' = m w^2 r. 0.591 m by Lagrange's equations.
cat >spin.xml <<'XML'
<mujoco model="spin"><compiler angle="radian"/><option><flag contact="disable"/></option>
 <worldbody>
  <body name="disc"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><joint name="turn" axis="0 0 1"/>
   <body name="bead" pos="0.5 0 0"><inertial pos="0 0 0" mass="1" diaginertia="1e-3 1e-3 1e-3"/>
    <joint name="radial" type="slide" axis="1 0 0" armature="4"/></body>
  </body>
 </worldbody>
 <actuator><position joint="turn" kp="20000" kv="400"/></actuator>
</mujoco>
XML
cat >spin.yaml <<'YAML'
version: 1
experiment: spin
model: articulated
simulation: {robot: spin.xml, dt: 0.0005, duration: 1, control: {mode: gait}}
parameters: {attach_stiffness: 1.0e9, attach_turn_stiffness: 1.0e9, gait_frequency: 0.5, turn_amplitude: 1.5}
search: {method: grid, over: {gravity: [9.81]}}
objective: {minimize: gap_max}
YAML
works run spin.yaml --results r --progress none
works replay spin/0 --results r -o spin.csv
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "radial_q") column = i } { last = $column }
    END { exit !(last > 0.586 && last < 0.596) }' spin.csv
check $? "a slide on a turning disc: $(tail -n 1 spin.csv | cut -c 1-200)"

cat >compare.py <<'PYTHON'
"""Random trees with armature at every joint: the error of their coordinates after 0.4 s at two steps, by MuJoCo."""
import csv, os, random, subprocess, sys
import mujoco, numpy

program, count = os.environ["HOPSCOTCH"], int(sys.argv[1])
header = '<mujoco><compiler angle="radian"/><option timestep="1e-4" integrator="RK4"><flag contact="disable"/></option>'
header += "<worldbody>"

def numbers(low, high, n=3): return " ".join(f"{random.uniform(low, high):.6f}" for _ in range(n))

def joint(name, kind):
    more = f'damping="{random.uniform(0, 0.3):.4f}" armature="{10 ** random.uniform(-1, 0.5):.6f}"'
    axis = "" if kind == "ball" else f' axis="{numbers(0.2, 1)}" stiffness="20" springref="0.6"'
    return f'<joint name="{name}" type="{kind}" pos="{numbers(-0.1, 0.1)}"{axis} {more}/>'

def tree(free):
    kinds = [random.choice(["hinge", "slide", "ball"]) for _ in range(4)]
    if free: kinds[1] = "hinge" # whose spring moves it
    text, joints = header, []
    for i, kind in enumerate(kinds):
        name = f"j{i}"
        text += f'<body name="b{i}" pos="{numbers(-0.3, 0.3)}" euler="{numbers(-1, 1)}">'
        text += "<freejoint/>" if i == 0 and free else joint(name, kind)
        inertia = [random.uniform(0.5, 1) for _ in range(3)]
        text += f'<inertial pos="{numbers(-0.2, 0.2)}" mass="{random.uniform(0.5, 2):.4f}" euler="{numbers(-1, 1)}" '
        text += 'diaginertia="%.5f %.5f %.5f"/>' % tuple(0.05 * (sum(inertia) - x) for x in inertia)
        if i > 0 or not free: joints.append((name, kind))
    return text + "</body>" * len(kinds) + "</worldbody></mujoco>", joints

def exact(model, joints):
    data = mujoco.MjData(model)
    while data.time < 0.4 - 1e-9: mujoco.mj_step(model, data)
    values = []
    for name, kind in joints:
        q = data.joint(name).qpos
        values += [q[1], q[2], q[3], q[0]] if kind == "ball" else [q[0]]
    return numpy.array(values)

def got(joints, dt, name):
    with open("tree.yaml", "w") as file:
        file.write(f"""version: 1
experiment: tree
model: articulated
simulation: {{robot: tree.xml, dt: {dt}, duration: 0.4}}
parameters: {{attach_stiffness: 1.0e10, attach_turn_stiffness: 1.0e10}}
search: {{method: grid, over: {{gravity: [9.81]}}}}
objective: {{minimize: gap_max}}
""")
    run = lambda *words: subprocess.run([program, *words, "--results", "m"], check=True, capture_output=True)
    run("run", "tree.yaml", "--name", name, "--progress", "none")
    run("replay", f"{name}/0", "-o", "tree.csv")
    row = list(csv.DictReader(open("tree.csv")))[-1]
    values = []
    for name, kind in joints:
        values += [float(row[f"{name}_q{k}"]) for k in "xyzw"] if kind == "ball" else [float(row[f"{name}_q"])]
    return numpy.array(values)

bad = 0
for seed in range(count):
    random.seed(seed)
    text, joints = tree(seed % 3 == 0)
    with open("tree.xml", "w") as file: file.write(text)
    right = exact(mujoco.MjModel.from_xml_string(text), joints)
    errors = []
    for dt in (0.001, 0.0005):
        errors.append(float(max(abs(got(joints, dt, f"tree{seed}_{dt}") - right))))
    order = numpy.log2(errors[0] / errors[1])
    if not (order > 0.9 and errors[1] < 2e-2):
        bad += 1
        print(seed, [k for _, k in joints], errors, order)
sys.exit(bad > 0)
PYTHON
if with_python "armature beside MuJoCo" mujoco numpy; then
    python3 compare.py "$([ -n "${QUICK:-}" ] && echo 4 || echo 20)" >out 2>err
    check $? "random trees beside MuJoCo"
fi
exit $status
