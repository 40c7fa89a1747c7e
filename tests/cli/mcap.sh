#!/bin/sh
# replay --mcap: files that the mcap package reads, their numbers against those of --output, the same bytes again, and
# the way back as `reference`.
. "$(dirname "$0")/../scratch.sh"
cp -r "$root/experiments/robots" .

# A walk of half a second, with the frames of two bodies as columns: where they are by the simulation itself.
cat >walk.yaml <<'YAML'
version: 1
experiment: walk
model: articulated
simulation:
  robot: robots/biped.xml
  duration: 0.5
  dt: 0.002
  control: {mode: gait}
  frames: [right_shank, left_foot]
  groups: {hip: [left_hip, right_hip], knee: [left_knee, right_knee], ankle: [left_ankle, right_ankle]}
parameters: {gait_frequency: 2.0, hip_offset: -0.35, knee_offset: 0.7, ankle_offset: -0.35, hip_amplitude: 0.2}
initial: {base_z: -0.0485, hip_start: -0.35, knee_start: 0.7, ankle_start: -0.35}
replicates: {count: 2, perturb: {base_z: {uniform: [-0.05, -0.04]}}}
objective: {minimize: energy}
YAML
cat >spins.yaml <<'YAML'
version: 1
experiment: spins
model: rigid
simulation:
  duration: 0.2
  world:
    bodies:
      - {name: world, inertia: [1, 2, 3], gravity: false, spin: [0.01, 3.5, 0.01]}
      - {name: b, inertia: [1, 1, 1], position: [2, 0, 1]}
objective: {minimize: energy_error}
YAML
cat >odd.yaml <<'YAML'
version: 1
experiment: odd
model: equations
simulation:
  duration: 0.1
  system:
    states: {x: {start: -1}, y: {start: 0}}
    rates: {x: 1, y: 0}
    columns: {root: {value: sqrt(-0.95 - x)}, large: {value: 1/y}, zero: {value: -y}}
    metrics: {low: {min: x}}
objective: {minimize: low}
YAML
make_gait
for spec in walk spins odd gait; do works run "$spec.yaml" --results r --backend cpu --progress none; done

# written NAME CAMPAIGN/TRIAL [option]...: NAME.mcap and NAME.csv
written()
{
    name=$1
    shift
    works replay "$@" --results r --mcap "$name.mcap" --output "$name.csv"
}
written walk walk/0
written other walk/0/1
written spins spins/0
written odd odd/0
written gait gait/0
written window walk/0 --window 0.1,0.2
has "window.mcap: 51 samples"
written newton gait/0 --debug newton
cp walk.mcap first.mcap
works replay walk/0 --results r --mcap walk.mcap --threads 1
cmp walk.mcap first.mcap
check $? "the same trial gives the same bytes"
"$HOPSCOTCH" replay walk/0 --results r --mcap - >piped 2>err
cmp piped walk.mcap
check $? "into a pipe: the same bytes"
cmp -s walk.mcap other.mcap && false
[ $? -eq 1 ]
check $? "another replicate has other bytes"

# ---- as other programs read it ---------------------------------------------------------------------------------------

if with_python "replay --mcap as the mcap package reads it" mcap; then
    for name in walk other spins odd gait window newton; do
        python3 "$root/tests/mcap_read.py" "$name" >out 2>err
        check $? "$(cat out)"
        cat out >>all
    done
    grep -q '^walk: .*/tf=251 /scene=1 /joint_states=251 ' all && grep -q 'drawn: ground of the motion left_foot' all
    check $? "a robot: poses, shapes, joints"
    awk '/^walk|^window/ { sub("frames within ", ""); far = $0; sub(";.*", "", far); split($0, part, ";")
        if (part[3] + 0 > 0.002) exit 1 }' all
    check $? "frames of bodies are where the simulation has them, within 2 mm of a joint's give"
    python3 - >out 2>err <<'PYTHON'
import json
from mcap.reader import make_reader
with open("walk.mcap", "rb") as file:
    message = next(make_reader(file).iter_messages(topics=["/scene"]))[2]
thigh = next(e for e in json.loads(message.data)["entities"] if e["id"] == "left_thigh") # a capsule in robots/biped.xml
tube, ends = thigh["cylinders"][0], sorted(ball["pose"]["position"]["z"] for ball in thigh["spheres"])
assert tube["size"] == {"x": 0.1, "y": 0.1, "z": 0.4} and tube["pose"]["position"]["z"] == -0.2, tube
assert ends == [-0.4, 0] and all(set(ball["size"].values()) == {0.1} for ball in thigh["spheres"]), thigh["spheres"]
PYTHON
    check $? "a capsule stands in its body's frame as in the robot's file"
    grep -q '^gait: .*/scene=' all && grep -q '^newton: .*/newton=' all
    check $? "a figure in the plane, and rows of the solver"
fi

# ---- the way back ----------------------------------------------------------------------------------------------------

columns='left_knee_q: /joint_states.left_knee.position, right_hip_rate: /joint_states.right_hip.velocity,
    left_ankle_torque: /joint_states.left_ankle.effort'
sed -e 's/experiment: walk/experiment: back/; s/energy/reference_error/; /^replicates:/d' \
    -e "s#^  frames: .*#  reference: {file: walk.mcap, time: stamp, columns: {$(echo $columns)}}#" walk.yaml >back.yaml
sed '/^replicates:/d; s/experiment: walk/experiment: alone/' walk.yaml >alone.yaml
works run alone.yaml --results r --backend cpu --progress none
works replay alone/0 --results r --mcap walk.mcap
works run back.yaml --results r --backend cpu --progress none
error=$("$HOPSCOTCH" query back --results r --columns reference_error --format csv 2>err | tail -n 1)
[ "$error" = 0 ]
check $? "its joints as reference of the same robot: an error of $error"

# ---- no half files ---------------------------------------------------------------------------------------------------

code=2 refused replay walk/0 --results r --mcap walk.bag
has "--mcap writes .mcap" err
code=2 refused replay walk/0 walk/0/1 --results r --mcap two.mcap
echo before >kept.mcap
(ulimit -f 64 && trap '' XFSZ && "$HOPSCOTCH" replay walk/0 --results r --mcap kept.mcap >out 2>err)
[ $? -eq 3 ] && [ "$(cat kept.mcap)" = before ] && [ -z "$(find . -name '*.tmp')" ]
check $? "a full disk leaves the old file"
exit $status
