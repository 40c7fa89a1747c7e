#!/bin/sh
# What public robots' files hold besides: points, locked and floating joints, dampers of three numbers, motors that are
# stronger one way, declarations behind comments; and robots of other folders, which --allow-files allows.
. "$(dirname "$0")/../robots.sh"
inertial='<inertial><mass value="1"/><inertia ixx=".02" iyy=".02" izz=".02" ixy="0" ixz="0" iyz="0"/></inertial>'

# ---- spheres of radius 0: contact points -----------------------------------------------------------------------------
{
    printf '<robot name="table"><link name="top">%s' "$inertial"
    for x in 0.2 -0.2; do
        for y in 0.2 -0.2; do
            printf '<collision><origin xyz="%s %s -0.1"/><geometry><sphere radius="0"/></geometry></collision>\n' $x $y
        done
    done
    printf '</link></robot>\n'
} >points.urdf
spec points points.urdf 1 0.001 'settle: true'
hop run points.yaml --progress none || fail "points: $(cat log)"
near "a table on four points" "$(last points base_z)" 0.0998774 2e-6 # 0.1 - 9.81/4/2e4
sed 's/radius="0"/radius="-1"/' points.urdf >negative.urdf
hop check points.yaml --set simulation.robot=negative.urdf && fail "a negative radius"
grep -q 'negative.urdf:1:.*radius is -1, expected at least 0' log || fail "a negative radius: $(cat log)"
sed 's/<sphere radius="0"/<sphere/' points.urdf >none.urdf
hop check points.yaml --set simulation.robot=none.urdf && fail "a sphere without a radius"
grep -q '<sphere> needs a radius, 0 for a point' log || fail "no radius: $(cat log)"

# ---- lower = upper: a weld at that coordinate ------------------------------------------------------------------------
# arm FILE JOINT
arm()
{
    inertial='<inertial><origin xyz=".1 0 -.05"/><mass value="1"/>'
    inertial="$inertial<inertia ixx='.02' iyy='.03' izz='.04' ixy='0' ixz='0' iyz='0'/></inertial>"
    printf '%s\n' '<robot name="arm"><link name="world"/>' \
        "<link name='upper'>$inertial</link><link name='lower'>$inertial</link>" \
        '<joint name="shoulder" type="continuous"><parent link="world"/><child link="upper"/><axis xyz="0 1 0"/>' \
        '<origin xyz="0 0 .2" rpy="0 .1 0"/></joint>' "$2</robot>" >"$1"
}
ends='<parent link="upper"/><child link="lower"/>'
limit='<limit lower="0.5" upper="0.5" effort="9" velocity="9"/>'
arm fixed.urdf "<joint name='j' type='fixed'>$ends<origin xyz='0.3 0 -0.4' rpy='0 0.5 0'/></joint>"
arm locked.urdf "<joint name='j' type='revolute'>$ends<origin xyz='0.3 0 -0.4'/><axis xyz='0 2 0'/>$limit</joint>"
arm slid.urdf "<joint name='j' type='prismatic'>$ends<origin xyz='0.1 0 -0.4'/><axis xyz='1 0 0'/>
<limit lower='0.2' upper='0.2' effort='0' velocity='0'/></joint>"
arm straight.urdf "<joint name='j' type='fixed'>$ends<origin xyz='0.3 0 -0.4'/></joint>"
for pair in fixed:locked straight:slid; do
    for robot in "${pair%:*}" "${pair#*:}"; do
        spec "$robot" "$robot.urdf" 0.5 0.001
        hop run "$robot.yaml" --progress none || fail "$robot: $(cat log)"
    done
    near "$pair" "$(last "${pair#*:}" shoulder_q)" "$(last "${pair%:*}" shoulder_q)" 1e-13
done
near "an arm that swings" "$(last locked shoulder_q)" "$(last straight shoulder_q)" 0.5
hop check locked.yaml
grep -q 'skipped .*warning: motion of a joint with lower = upper, which is locked (1)' log || fail "locked: $(cat log)"
arm crossed.urdf "<joint name='j' type='revolute'>$ends<limit lower='0.5' upper='0.4' effort='9' velocity='9'/></joint>"
hop check locked.yaml --set simulation.robot=crossed.urdf && fail "a crossed limit"
grep -q "crossed.urdf:.*limit of joint 'j' is 0.5 to 0.4" log || fail "a crossed limit: $(cat log)"

# ---- a floating joint below the root holds nothing -------------------------------------------------------------------
arm thrown.urdf "<joint name='j' type='floating'>$ends<origin xyz='0.3 0 -0.4'/></joint>"
arm alone.urdf ''
sed -i "s/<link name='lower'>.*/<link name='none'\/>/; s/<\/robot>/<joint name='n' type='fixed'><parent link='upper'\/>\
<child link='none'\/><\/joint><\/robot>/" alone.urdf
spec thrown thrown.urdf 0.5 0.001 'terrain: none'
spec alone alone.urdf 0.5 0.001 'terrain: none'
hop run thrown.yaml --progress none || fail "thrown: $(cat log)"
hop run alone.yaml --progress none || fail "alone: $(cat log)"
near "a link in free fall" "$(last thrown lower_z)" -1.456654 1e-5 # 0.2 - 0.3 sin - 0.4 cos(0.1) - g t (t + dt)/2
near "its place" "$(last thrown lower_x)" 0.258568 1e-6 # 0.3 cos - 0.4 sin
near "what it hung on" "$(last thrown shoulder_q)" "$(last alone shoulder_q)" 0
hop check thrown.yaml
grep -q 'skipped .*where a floating joint starts if `start` moves its parent (1)' log || fail "thrown: $(cat log)"

# ---- no mass at the root ---------------------------------------------------------------------------------------------
echo '<robot name="r"><link name="b"/></robot>' >root.urdf
echo '<mujoco><worldbody><body name="b"><freejoint/></body></worldbody></mujoco>' >root.xml
for robot in root.urdf root.xml; do
    hop check alone.yaml --set "simulation.robot=$robot" && fail "a root without mass"
    grep -q "moves and has no mass.*, or set base: fixed, which holds it to the world" log || fail "root: $(cat log)"
done

# ---- dampers and springs of up to three numbers; motors that are stronger one way ------------------------------------
# hinge FILE JOINT MOTOR
hinge()
{
    printf '%s\n' '<mujoco><worldbody><body name="a" pos="0 0 5"><joint name="j" axis="0 1 0"' "$2/>" \
        '<geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass=".5"/></body></worldbody>' \
        "<actuator>$3</actuator></mujoco>" >"$1"
}
hinge one.xml 'damping=".2" stiffness="3"' ''
hinge three.xml 'damping=".2 0 0" stiffness="3 0 0"' ''
hinge more.xml 'damping=".2 .1" stiffness="3 0 1"' ''
for robot in one three; do
    spec $robot $robot.xml 0.3 0.001
    hop run $robot.yaml --progress none || fail "$robot: $(cat log)"
done
near "three numbers" "$(last three j_q)" "$(last one j_q)" 0
hop check one.yaml --set simulation.robot=more.xml && fail "a damper that is not linear"
for word in damping stiffness; do
    grep -q "^more.xml:2:.* error: $word of joint 'j' is not linear, which is not simulated.*add $word to ignore" log ||
        fail "$word: $(cat log)"
done
hop run one.yaml --name more --set simulation.robot=more.xml --set 'simulation.ignore=[damping, stiffness]' \
    --progress none || fail "ignored: $(cat log)"
near "ignored numbers" "$(last more j_q)" "$(last one j_q)" 0
hop check one.yaml --set simulation.robot=more.xml --set 'simulation.ignore=[damping, stiffness]'
grep -q 'skipped .*stiffness (1), damping (1)' log || fail "no word of what is ignored: $(cat log)"

# A motor that is stronger one way: its effort ends at -1 N m one way and at 2 N m the other, and at those of its joint.
hinge range.xml '' '<position joint="j" kp="40" forcerange="-1 2"/>'
hinge motor.xml 'actuatorfrcrange="-3 .5"' '<motor joint="j" gear="2" ctrlrange="-.25 1"/>'
# pulled NAME ROBOT OFFSET EFFORT [KEY=VALUE]: towards that offset
pulled()
{
    hop run one.yaml --name "$1" --set "simulation.robot=$2.xml" --set "parameters={j_kp: 40, j_offset: $3}" \
        --set simulation.duration=0.05 ${5+--set "$5"} --progress none || fail "$1: $(cat log)"
    near "the effort of $1" "$(last "$1" j_torque)" "$4" 0
    hop show "$1/0" --robot
}
pulled back range -1 -1
pulled forth range 1 2
grep -q 'kp 40, kd 0, -1 to 2 N m' log || fail "both ends: $(cat log)"
pulled torque_back motor -1 -0.5
pulled torque_forth motor 1 0.5
pulled weak range 1 1.5 parameters.all_effort=1.5
pulled own range -1 -0.5 parameters.j_least=-0.5
grep -q 'kp 40, kd 0, -0.5 to 2 N m' log || fail "an end of the spec: $(cat log)"
pulled ignored range -1 -2 'simulation.ignore=[forcerange]'
grep -q 'kp 40, kd 0, at most 2 N m' log || fail "the greater end: $(cat log)"
hop check one.yaml --set simulation.robot=range.xml --set 'simulation.ignore=[forcerange]'
grep -q 'skipped .*forcerange (1)' log || fail "no word of an ignored range: $(cat log)"

# ---- <?xml behind blanks and comments --------------------------------------------------------------------------------
printf '\n <!-- a licence -->\n<?xml version="1.0"\n encoding="utf-8"?>\n' >declared.xml
cat one.xml >>declared.xml
hop run one.yaml --name declared --set simulation.robot=declared.xml --progress none || fail "declared: $(cat log)"
near "a declaration behind a comment" "$(last declared j_q)" "$(last one j_q)" 0
sed -i 's/<geom /<geometry /' declared.xml
hop check one.yaml --set simulation.robot=declared.xml && fail "an unknown element"
grep -q '^declared.xml:7:1: error: unknown element <geometry>' log || fail "its place: $(cat log)"

# ---- robots of other folders -----------------------------------------------------------------------------------------
mkdir -p package/robots work outside
here=$(pwd)
echo '<mujoco><include file="../parts.xml"/><worldbody><geom type="plane" size="1 1 1"/></worldbody></mujoco>' \
    >package/robots/ball.xml
cat >package/parts.xml <<'XML'
<mujoco><worldbody><body name="ball" pos="0 0 1"><freejoint/><geom type="sphere" size=".1"/></body></worldbody></mujoco>
XML
cp one.xml outside/secret.xml
ln -s "$here/outside/secret.xml" package/link.xml
ln -s ../outside package/folder
ln -s package alias
spec far "$here/package/robots/ball.xml" 0.1 0.001
mv far.yaml work
hop check work/far.yaml && fail "a file of another folder"
grep -q "far.yaml:4:.* error: '$here/package/robots/ball.xml' lies outside of the spec's folder; put it" log ||
    fail "a file of another folder: $(cat log)"
for folder in "$here/package" package package/ "$here/package/"; do
    hop check work/far.yaml --allow-files "$folder" || fail "--allow-files $folder: $(cat log)"
done
hop check work/far.yaml --allow-files outside --allow-files package || fail "two folders: $(cat log)"
hop check work/far.yaml --allow-files "$here/alias" --set "simulation.robot=$here/alias/robots/ball.xml" ||
    fail "a folder that is a link: $(cat log)"
hop check work/far.yaml --allow-files outside && fail "another folder is allowed"
hop check work/far.yaml --allow-files package/robots && fail "an include leads out of what is allowed"
grep -q "robots/ball.xml:1:9: error: '../parts.xml' leads out" log || fail "an include leads out: $(cat log)"
hop check work/far.yaml --allow-files package/rob && fail "a part of a name"
grep -q -- '--allow-files: there is no folder package/rob' log || fail "no such folder: $(cat log)"
mkdir package/rob
hop check work/far.yaml --allow-files package/rob && fail "a folder whose name begins alike"
for path in package/../outside/secret.xml package/link.xml package/folder/secret.xml; do
    hop check work/far.yaml --allow-files package --set "simulation.robot=$here/$path" && fail "$path is read"
    grep -q 'leads out of\|is a link out of' log || fail "$path: $(cat log)"
    hop check work/far.yaml --allow-files "$here" --set "simulation.robot=$here/outside/secret.xml" ||
        fail "all is allowed: $(cat log)"
done
hop run work/far.yaml --allow-files package --progress none || fail "a run of a package's robot: $(cat log)"
ls r/far/files >kept
[ "$(wc -l <kept)" = 1 ] || fail "no copy is kept: $(cat kept)"
mv package gone
hop replay far/0 || fail "replay without the package: $(cat log)"
grep -q 'the same to the bit' log || fail "replay without the package: $(cat log)"
hop resume far || fail "resume without the package: $(cat log)"
hop run far --name near --set simulation.duration=0.2 --progress none || fail "run it anew: $(cat log)"
hop doctor far || fail "doctor: $(cat log)"
cp r/far/spec.yaml r/far/changed.yaml
echo 'seed: 7' >>r/far/changed.yaml
hop check r/far/changed.yaml || fail "a changed spec in the folder of the campaign: $(cat log)"
mv gone package
hop submit work/far.yaml --print --parts 2 --set 'search={over: {gravity: [1, 9.81]}}' --allow-files package ||
    fail "submit: $(cat log)"
grep -q -- "--progress none --set .* --allow-files '$here/package'" log || fail "tasks are allowed less: $(cat log)"
passed
