#!/bin/sh
# Robots' files as they come: what is simulated of them against right values (analytic, or MuJoCo's at a small step),
# what is accepted because it changes nothing, what is refused and how, starts in the ground, and names of all kinds.
. "$(dirname "$0")/../robots.sh"

# ---- motors: the constant of an affine one, disabled groups, the controls of a keyframe -----------------------------
cat >bias.xml <<'XML'
<mujoco><worldbody><body name="a" pos="0 0 5"><joint name="j" axis="0 1 0" damping="2"/>
<geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03" mass=".5"/></body></worldbody>
<actuator><general joint="j" gainprm="40" biastype="affine" biasprm="6 -40 0"/></actuator>
<keyframe><key name="up" qpos="0" ctrl="0.2"/></keyframe></mujoco>
XML
spec bias bias.xml 5 0.001
hop run bias.yaml --progress none || fail "bias: $(cat log)"
near "the joint with a constant" "$(last bias j_q)" 0.14642 1e-5 # the root of 6 - 40 q = 0.5 g 0.2 sin q
hop run bias.yaml --name up --set 'simulation.keyframe=[up]' --progress none || fail "up: $(cat log)"
near "the joint that a keyframe commands" "$(last up j_q)" 0.3415 1e-3 # of 14 - 40 q
hop show bias/0 --robot
grep -q 'kp 40, kd 0, bias 6 N m' log || fail "show --robot of a constant: $(cat log)"
sed -e 's/<worldbody>/<option actuatorgroupdisable="3"\/>&/' -e 's/<general /&group="3" /' bias.xml >off.xml
hop run bias.yaml --name off --set simulation.robot=off.xml --set 'parameters={j_damping: 20}' --progress none ||
    fail "off: $(cat log)"
near "the joint whose motor is off" "$(last off j_q)" 0 1e-9

# show --robot shows the trial's numbers, not those of the file
cat >gains.yaml <<'YAML'
version: 1
experiment: gains
model: articulated
simulation: {robot: bias.xml, duration: 0.01, dt: 0.001}
objective: {minimize: energy}
search: {over: {j_kp: [50, 60], a_mass: [0.5, 0.7]}}
replicates: {count: 2, perturb: {j_kd: {uniform: [1, 2]}}}
YAML
hop run gains.yaml --progress none || fail "gains: $(cat log)"
hop show gains/3 --robot
grep -q '^a  *0.7  *j  *hinge  *kp 60, kd drawn, bias 6 N m' log || fail "show --robot of a trial: $(cat log)"

# ---- links without mass ----------------------------------------------------------------------------------------------
cat >planar.urdf <<'XML'
<robot name="planar base"><link name="map"/><link name="along"/><link name="across"/>
<link name="hull"><inertial><origin xyz="0.1 0 0"/><mass value="3"/>
<inertia ixx=".05" iyy=".06" izz=".08" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="arm"><inertial><origin xyz="0.25 0 0"/><mass value="0.8"/>
<inertia ixx=".001" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="px" type="prismatic"><parent link="map"/><child link="along"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" effort="500" velocity="9"/></joint>
<joint name="py" type="prismatic"><parent link="along"/><child link="across"/><axis xyz="0 1 0"/>
<limit lower="-9" upper="9" effort="500" velocity="9"/></joint>
<joint name="yaw" type="continuous"><parent link="across"/><child link="hull"/><axis xyz="0 0 1"/></joint>
<joint name="shoulder" type="continuous"><parent link="hull"/><child link="arm"/><origin xyz="0.3 0 0"/>
<axis xyz="0 0 1"/></joint></robot>
XML
cat >planar.xml <<'XML'
<mujoco model="planar base"><worldbody><body name="hull"><joint name="px" type="slide" axis="1 0 0" range="-9 9"/>
<joint name="py" type="slide" axis="0 1 0" range="-9 9"/><joint name="yaw" axis="0 0 1"/>
<inertial pos=".1 0 0" mass="3" diaginertia=".05 .06 .08"/>
<body name="arm" pos=".3 0 0"><joint name="shoulder" axis="0 0 1"/>
<inertial pos=".25 0 0" mass=".8" diaginertia=".001 .01 .01"/></body></body></worldbody>
<actuator><motor joint="px"/><motor joint="py"/><motor joint="yaw"/><motor joint="shoulder"/></actuator></mujoco>
XML
spec planar planar.urdf 1 0.0005 'base: fixed'
echo 'parameters: {all_kp: 40, all_kd: 1, px_offset: 0.3, py_offset: -0.2, yaw_offset: 0.5, shoulder_offset: -0.7}' \
    >>planar.yaml
hop run planar.yaml --progress none || fail "massless: $(cat log)"
hop run planar.yaml --name parts --set simulation.robot=planar.xml --progress none || fail "parts: $(cat log)"
last planar px_q py_q yaw_q shoulder_q >got
{ near px "$(sed -n 1p got)" 0.5424 2e-3 && near py "$(sed -n 2p got)" -0.3122 2e-3; }
{ near yaw "$(sed -n 3p got)" 0.4431 2e-3 && near shoulder "$(sed -n 4p got)" -0.7125 2e-3; }
last parts px_q >/dev/null
cmp -s planar.csv parts.csv || fail "links without mass differ from joints of one body"
hop check planar.yaml --set simulation.attachment=explicit && fail "links without mass, apart"
grep -q "joint 'px' shares its body with another joint, or its link has no mass" log || fail "apart: $(cat log)"
cat >rail.urdf <<'XML'
<robot name="cart"><link name="rail"><inertial><mass value="0"/>
<inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="cart"><inertial><mass value="1"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-2" upper="2" effort="9" velocity="9"/></joint></robot>
XML
spec rail rail.urdf 1 0.001
hop check rail.yaml && fail "a root without mass floats"
grep -q 'give its <inertial>\|give its link <inertial>, or set base: fixed, which holds it to the world' log ||
    fail "a root without mass: $(cat log)"
hop check rail.yaml --set simulation.base=fixed || fail "a rail: $(cat log)"

# ---- tendons and equalities that do nothing -------------------------------------------------------------------------
leg()
{
    cat <<XML
<mujoco model="leg"><worldbody><geom type="plane" size="3 3 .1"/><body name="hip" pos="0 0 1">
<joint name="hip" axis="0 1 0" damping=".2"/><geom type="capsule" fromto="0 0 0 .1 0 -.35" size=".04" mass="2"/>
<body name="knee" pos=".1 0 -.35"><joint name="knee" axis="0 1 0" damping=".2"/>
<geom type="capsule" fromto="0 0 0 0 0 -.35" size=".03" mass="1"/></body></body></worldbody>$1</mujoco>
XML
}
pull='<joint joint="hip" coef="1"/><joint joint="knee" coef="-1"/></fixed></tendon>'
leg "<tendon><fixed name=\"measured\">$pull" >measured.xml
leg '<equality><joint joint1="hip" joint2="knee" active="false"/></equality>' >inactive.xml
leg "<tendon><fixed name=\"spring\" stiffness=\"30\">$pull" >spring.xml
leg '' >none.xml
spec leg none.xml 1 0.001
for robot in none measured inactive; do
    hop run leg.yaml --name $robot --set simulation.robot=$robot.xml --progress none || fail "$robot: $(cat log)"
    last $robot hip_q knee_q >got
    near "hip of $robot" "$(sed -n 1p got)" 0.28655 1e-3
    near "knee of $robot" "$(sed -n 2p got)" -0.24295 1e-3
    cmp -s none.csv $robot.csv || fail "$robot differs from none"
done
hop check leg.yaml --set simulation.robot=measured.xml
grep -q '^not needed  *.*tendon that does not pull (1)' log || fail "a tendon that measures: $(cat log)"
hop check leg.yaml --set simulation.robot=inactive.xml
grep -q '^not needed  *.*inactive equality (1)' log || fail "an equality that is off: $(cat log)"
hop check leg.yaml --set simulation.robot=spring.xml && fail "a tendon that pulls"
grep -q '<fixed> changes the motion and is not simulated; delete it, or add tendon to ignore' log ||
    fail "a spring: $(cat log)"

# ---- included files beside the robot's folder ------------------------------------------------------------------------
mkdir -p side/a side/b
echo '<mujoco model="robot"><include file="../b/ball.xml"/></mujoco>' >side/a/robot.xml
cat >side/b/ball.xml <<'XML'
<mujocoinclude><worldbody><geom type="plane" size="1 1 .1"/>
<body name="ball" pos="0 0 1"><freejoint/><geom type="sphere" size=".1"/></body></worldbody></mujocoinclude>
XML
spec included a/robot.xml 0.01 0.001
mv included.yaml side
hop run side/included.yaml --progress none || fail "a neighbour is included: $(cat log)"
hop replay included/0 || fail "replay of an include: $(cat log)"
cp side/b/ball.xml outside.xml
echo '<mujoco><include file="../../outside.xml"/></mujoco>' >side/a/robot.xml
hop check side/included.yaml && fail "a path leads out"
grep -q "a/robot.xml:1:9: error: '../outside.xml' leads out of the spec's folder" log || fail "a path out: $(cat log)"

# ---- words that nobody knows -----------------------------------------------------------------------------------------
cat >vendor.urdf <<'XML'
<robot name="vendor" version="1.0"><self_collision_margin value="0.01"/>
<link name="base" layer="2"><inertial><mass value="4"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size=".4 .3 .1"/></geometry><maker:softness xmlns:maker="urn:maker" value="3"/></collision>
<probe_filter><pad>0.02</pad></probe_filter></link>
<link name="leg"><inertial><mass value="1"/>
<inertia ixx=".02" iyy=".02" izz=".002" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="knee" type="revolute"><parent link="base"/><child link="leg"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="40" velocity="10" rated_current="3.5"/>
<dynamics damping="0.5" friction="0.1" backlash="0.002"/>
<drive_card id="7"/></joint></robot>
XML
spec vendor vendor.urdf 0.01 0.001
hop check vendor.yaml && fail "unknown words are accepted"
[ "$(grep -c 'error: unknown .* or add [a-z_:]* to ignore, or unknown for all such words' log)" = 7 ] ||
    fail "seven unknown words at once: $(cat log)"
hop check vendor.yaml --set 'simulation.ignore=[unknown]' || fail "ignore: [unknown]: $(cat log)"
for word in self_collision_margin layer maker:softness probe_filter rated_current backlash drive_card \
    'limit velocity'; do
    grep -q "^skipped  *warning: .*$word (1).*: in the file, and not simulated" log ||
        fail "no word of $word: $(cat log)"
done

# ---- starts in the ground --------------------------------------------------------------------------------------------
cat >low.xml <<'XML'
<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="ball" pos="0 0 .06"><freejoint/>
<geom name="shell" size=".1"/></body></worldbody><keyframe><key name="high" qpos="0 0 1 1 0 0 0"/></keyframe></mujoco>
XML
spec low low.xml 0.5 0.001
hop check low.yaml || fail "low: $(cat log)"
deep="the robot starts in the ground: shape 'shell' of body ball is 40 mm deep in it; raise the"
grep -q "^start  *warning: $deep" log ||
    fail "a start in the ground: $(cat log)"
hop check low.yaml --set 'search={over: {base_z: [0.1, 0.02]}}'
grep -q "is 20 mm deep in it" log || fail "the deepest start: $(cat log)"
for how in true 'true, keyframe: [high]'; do
    spec low low.xml 0.5 0.001 "settle: $how"
    hop check low.yaml || fail "settle: $(cat log)"
    grep -q '^start' log && fail "settled, and in the ground: $(cat log)"
    hop run low.yaml --name "settled" --progress none || fail "settled: $(cat log)"
    hop replay settled/0 --output settled.csv
    near "settle: $how: height" "$(awk -F, 'NR == 2 { print $4 }' settled.csv)" 0.1 1e-15
    hop query settled --columns ground_force_max --format csv
    near "greatest force" "$(tail -n 1 log)" 45 30 # of 41 N that it weighs, not of 800 N
    rm -rf r/settled
done
spec low planar.xml 0.5 0.001 'settle: true'
hop check low.yaml && fail "settle of an arm"
grep -q 'low.yaml:4:.* error: settle needs a robot that floats: this one is fixed to the world' log ||
    fail "arm: $(cat log)"
sed 's/<geom name/<geom contype="0" conaffinity="0" name/' low.xml >ghost.xml
spec low ghost.xml 0.5 0.001 'settle: true'
hop check low.yaml && fail "settle of a ghost"
grep -q 'settle: no shape of the robot can touch the ground' log || fail "ghost: $(cat log)"

# ---- numbers ---------------------------------------------------------------------------------------------------------
heavy='<inertial pos="0 0 0" mass="1e308" diaginertia="1 1 1"/>'
sed -e 's/<keyframe>.*<.keyframe>//' \
    -e "s|pos=\"0 0 .06\"><freejoint/>|&$heavy<body><joint/>$heavy</body>|" low.xml >heavy.xml
spec low heavy.xml 0.5 0.001
hop check low.yaml && fail "masses without a sum"
grep -q 'the masses of the robot are too large to compute with' log || fail "heavy: $(cat log)"

# ---- names -----------------------------------------------------------------------------------------------------------
# A chain whose joints and bodies have names of all kinds; each joint's numbers are searched, and all that reads a
# campaign must find its way.
long=$(printf '%128s' '' | tr ' ' L)
names="grip Grip ground limit attach terrain reach stance push gravity base_z base select from where order group table
index rowid oid _rowid_ null true false yes no on off y n id search round fitness failure n_failed trial seed violation
replicate time and or not min max abs sqrt exp log a A x X distance distance_std objective_1 constraint_1 1st a-b a.b
é É 日本語 naïve # %s%n -- ; \$(id) \`id\` all ALL $long"
set -f
{
    echo '<mujoco><worldbody>'
    for name in $names; do
        echo "<body name=\"$name\" pos=\"0 0 -.1\"><joint name=\"$name\" axis=\"0 1 0\" damping=\"0.1\"/>"
        echo '<geom size=".02"/>'
    done
    for name in $names; do echo '</body>'; done
    echo '</worldbody></mujoco>'
} >names.xml
set +f
spec names names.xml 0.01 0.001
hop check names.yaml || fail "check of names: $(cat log)"
grep -q "^names  *warning: .*joint 'grip' is grip_2.*joint 'Grip' is Grip_3.*joint 'ground' is ground_2" log ||
    fail "names that are taken: $(cat log)"
hop check names.yaml --set 'search={over: {grip_damping: [1, 2]}}' || fail "the model's own grip_damping: $(cat log)"
spec names names.xml 0.01 0.001
sed -i '/^objective/d' names.yaml
cat >>names.yaml <<'YAML'
search: {method: random, trials: 3, over: {gravity: {range: [9, 10]}}}
objective: {minimize: gap_max}
YAML
# every parameter of a joint that can be named
hop run names.yaml --name one --progress none || fail "names: $(cat log)"
hop replay one/0 --output one.csv || fail "columns: $(cat log)"
joints=$(head -n 1 one.csv | tr , '\n' | sed -n 's/_q$//p')
[ "$(echo "$joints" | wc -l)" = "$(set -f && set -- $names && echo $#)" ] ||
    fail "columns of $(echo "$joints" | wc -l) joints"
[ "$(head -n 1 one.csv | tr , '\n' | tr A-Z a-z | sort | uniq -d)" = '' ] || fail "columns that differ in case"
over=$(for joint in $joints; do printf '%s_damping: {range: [0.1, 0.2]}, ' "$joint"; done)
hop run names.yaml --set "search.over={${over%, }}" --set 'replicates={count: 2}' --progress none ||
    fail "a search over all names: $(tail -n 5 log)"
for command in 'digest names' 'replay names/0' 'resume names' 'show names/1' \
    'verify names --seeds 2 --gains 0 --physics 0' 'doctor names' 'best names' 'query names --format csv' \
    'report names'; do
    # shellcheck disable=SC2086
    hop $command || fail "$command: $(tail -n 3 log)"
done

# names of a spec: refused at their place
says()
{
    hop check "$1" && fail "accepted: $1"
    grep -qF -e "$2" log || fail "no '$2': $(cat log)"
}
cat >case.yaml <<'YAML'
version: 1
experiment: case
model: rigid
simulation: {duration: 0.1, dt: 0.001,
  world: {bodies: [{name: top, inertia: [1, 2, 3]}, {name: Top, inertia: [1, 2, 3]}]}}
YAML
says case.yaml \
    "'top' and 'Top' in world.bodies: names must differ in more than case, since columns of tables are called so"
grep -q '^case.yaml:5:' log || fail "no place: $(cat log)"
named() { printf '%s\n' 'version: 1' 'experiment: named' 'model: articulated' "simulation: {$1}" \
    'objective: {minimize: energy}' >named.yaml; }
named 'groups: {hip: [elbow], Hip: [shoulder]}'
says named.yaml "'hip' and 'Hip' in groups: names must differ in more than case"
named 'groups: {Elbow: [shoulder, elbow]}'
says named.yaml 'group Elbow has the name of a joint: give it another'
named 'groups: {GRIP: [shoulder]}'
says named.yaml 'group GRIP would give a parameter that the model has already: give it another name'
named 'groups: {ALL: [shoulder]}'
says named.yaml 'the name `all` is taken'
named 'design: {Gravity: {length: elbow}}'
says named.yaml 'design Gravity has the name of a parameter: give it another'
named 'design: {fitness: {length: elbow}}'
says named.yaml 'design fitness has the name of a column of tables: give it another'
named 'design: {SLIP: {length: elbow}}'
says named.yaml 'design SLIP has the name of a metric: give it another'
named 'design: {Elbow_KP: {length: elbow}}'
says named.yaml 'design Elbow_KP has the name of a parameter: give it another'
passed
