#!/bin/sh
# The ground of a robot's file: friction, planes, height fields, no plane, a terrain that takes their place; what check
# says of it;
# with the Python package mujoco, random worlds against it.
. "$(dirname "$0")/../scratch.sh"
fail()
{
    echo "FAIL contact: $*"
    status=1
}

box()
{
    printf '%s\n' "<mujoco model=\"box\"><worldbody><geom name=\"floor\" type=\"plane\" size=\"9 9 .1\" $2/>" \
        '<body name="box" pos="0 0 .1"><freejoint/>' \
        "<geom name=\"hull\" type=\"box\" size=\".2 .2 .1\" mass=\"1\" ${3:-}/></body></worldbody></mujoco>" >"$1.xml"
}
ball() # with a damped arm, which rolls along
{
    printf '%s\n' "<mujoco model=\"ball\"><worldbody>$2<body name=\"ball\" pos=\"0 0 1\"><freejoint/>" \
        "<geom type=\"sphere\" size=\".1\" mass=\"1\" ${3:-}/><body name=\"arm\" pos=\".1 0 0\">" \
        '<joint name="j" axis="0 1 0" damping="1"/>' \
        '<geom type="sphere" size=".02" mass=".1" contype="0" conaffinity="0"/>' \
        '</body></body></worldbody></mujoco>' >"$1.xml"
}
box slick 'friction=".1"' 'friction=".1"'
box rough 'friction=".3"' 'friction=".1"'
box free 'condim="1"' 'condim="1"'
ball low '<geom type="plane" size="1 1 .1" pos="0 0 -.5"/>'
ball tilted '<geom type="plane" size="1 1 .1" euler="0 10 0"/>'
ball none ''
printf '%s\n' '<mujoco><worldbody><body name="rod"><joint name="hinge" axis="0 1 0"/>' \
    '<geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".5"/></body></worldbody></mujoco>' >rod.xml
printf '%s\n' 'version: 1' 'experiment: contact' 'model: articulated' \
    'simulation: {robot: slick.xml, duration: 1.0, dt: 0.001}' 'initial: {base_vx: 2}' \
    'objective: {minimize: distance}' >case.yaml

# column EXPECTED TOLERANCE NAME OPTIONS...: of the last row of its trajectory
ends()
{
    column=$1 expected=$2 tolerance=$3 name=$4
    shift 4
    "$HOPSCOTCH" run case.yaml --results r --name "$name" --backend cpu --progress none "$@" >log 2>&1 ||
        fail "$name: $(cat log)"
    "$HOPSCOTCH" replay "$name/0" --results r -o "$name.csv" >log 2>&1 || fail "replay of $name: $(cat log)"
    awk -F, -v column="$column" -v expected="$expected" -v tolerance="$tolerance" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        { last = $at }
        END { off = last - expected; if (off < 0) off = -off; print last; exit !(off <= tolerance) }' \
        "$name.csv" >got ||
        fail "$name: $column is $(cat got), expected $expected within $tolerance"
}
ends base_x 1.5095 0.02 slick
ends base_x 0.6796 0.02 rough --set simulation.robot=rough.xml
ends base_x 2.0 0.001 free --set simulation.robot=free.xml
ends base_z -0.4 0.001 low --set simulation.robot=low.xml --set initial={}
ends base_x 0.63 0.02 tilted --set simulation.robot=tilted.xml --set initial={}
ends base_z -3.905 0.01 none --set simulation.robot=none.xml --set initial={}
ends hinge_q 0.1697 0.002 rod --set simulation.robot=rod.xml --set initial={}
ends base_z 0.1 0.001 flat --set simulation.robot=low.xml --set initial={} --set simulation.terrain=flat
ends base_z -3.905 0.01 nowhere --set simulation.robot=low.xml --set initial={} --set simulation.terrain=none

# what check says
says()
{
    words=$1
    shift
    "$HOPSCOTCH" check case.yaml "$@" >log 2>&1 || fail "check: $(cat log)"
    grep -q "^$words" log || fail "check does not say '$words': $(cat log)"
}
says 'ground  *8 points of 1 body can touch 1 plane; friction 0.1; '
says 'ground  *warning: the file has no plane that the robot touches: it falls; name a terrain' \
    --set simulation.robot=none.xml
says 'ground  *the file has no plane that the robot touches, and so there is none$' --set simulation.robot=rod.xml \
    --set initial={}
says "ground  *1 point of 1 body can touch the terrain of the spec, in place of planes; friction 1; " \
    --set simulation.robot=low.xml --set simulation.terrain=flat
says 'ground  *terrain: none: nothing touches anything$' --set simulation.terrain=none
ball egg '<geom type="plane" size="1 1 1"/>' 'contype="0" conaffinity="0"'
says 'ground  *warning: no shape of the file collides: the robot falls through the ground$' \
    --set simulation.robot=egg.xml --set simulation.terrain=flat
box stiff 'solref=".01 1"' 'solimp=".9 .95 .001" solref="-100 -10"'
says 'replaced  *geom solref (2, first in line 1), geom solimp (1, first in line 3): by ground_stiffness, ' \
    --set simulation.robot=stiff.xml
box hilly 'friction=".5"/><geom type="box" size="1 1 1" pos="3 0 0"' ''
says 'ground  *16 points of 1 body can touch 1 plane and 1 other shape of the world; friction 1; ' \
    --set simulation.robot=hilly.xml
says 'skipped  *warning: edge of a box on shapes of the world (1): ' --set simulation.robot=hilly.xml
box heavy 'condim="4"' ''
"$HOPSCOTCH" check case.yaml --set simulation.robot=heavy.xml >log 2>&1 && fail "torsional friction"
grep -q "^heavy.xml:1:[0-9]*: error: geom 'floor' has torsional or rolling friction" log || fail "torsion: $(cat log)"
says 'skipped  *warning: condim (1): in the file, and not simulated' --set simulation.robot=heavy.xml \
    --set simulation.ignore=[condim]

# a height field of a file: a slope of 1 in 18 along y, without friction; the campaign keeps the heights
mkdir -p maps
{
    printf '\002\000\000\000\002\000\000\000'
    printf '\000\000\000\000\000\000\000\000\000\000\200\077\000\000\200\077'
} >maps/slope.bin
printf '%s\n' '<mujoco><compiler meshdir="maps"/>' \
    '<asset><hfield name="slope" file="slope.bin" size="9 9 1 .1"/></asset>' \
    '<worldbody><geom name="hill" type="hfield" hfield="slope" condim="1" pos="0 0 -.5"/>' \
    '<body name="box" pos="0 0 .102"><freejoint/><geom type="box" size=".2 .2 .1" mass="1" condim="1"/></body>' \
    '</worldbody></mujoco>' >hill.xml
ends base_y -0.2717 0.002 hill --set simulation.robot=hill.xml --set simulation.settle=true
ends base_x 2.0 0.001 hill --set simulation.robot=hill.xml --set simulation.settle=true
says 'ground  *8 points of 1 body can touch 1 height field; friction 0; ' --set simulation.robot=hill.xml
says 'hfield  *hill: 2 x 2 heights, 18 m along x and 18 m along y, from -0.5 to 0.5 m; no ground beyond its edges' \
    --set simulation.robot=hill.xml
says 'start  *warning: the robot starts in the ground: shape of body box is [0-9.]* mm deep in it' \
    --set simulation.robot=hill.xml
says 'ground  *8 points of 1 body can touch the terrain of the spec, in place of height fields; ' \
    --set simulation.robot=hill.xml --set simulation.terrain=flat
mv maps gone
"$HOPSCOTCH" replay hill/0 --results r -o again.csv >log 2>&1 || fail "replay without the file: $(cat log)"
cmp -s hill.csv again.csv || fail "replay without the file differs"
grep -q 'nrow="2" ncol="2" elevation="1 1 0 0"' r/hill/files/* || fail "the copy has no heights"
"$HOPSCOTCH" check case.yaml --set simulation.robot=hill.xml >log 2>&1 && fail "a height field without its file"
grep -q "^hill.xml:2:[0-9]*: error: cannot read 'maps/slope.bin' in the spec's folder" log || fail "no file: $(cat log)"
says 'skipped  *warning: hfield (1): in the file, and not simulated' --set simulation.robot=hill.xml \
    --set simulation.ignore=[hfield] --set simulation.terrain=flat
mv gone maps

# a URDF that floats has a plane at z = 0 to stand on; one that is fixed has none
printf '%s\n' '<robot name="ball"><link name="ball"><inertial><mass value="1"/>' \
    '<inertia ixx=".004" iyy=".004" izz=".004" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>' \
    '<sphere radius=".1"/></geometry></collision></link></robot>' >ball.urdf
ends base_z 0.1 0.001 urdf --set simulation.robot=ball.urdf --set 'initial={base_z: 0.2}'
says 'ground  *1 point of 1 body can touch 1 plane; friction 1; ' --set simulation.robot=ball.urdf

# random worlds against MuJoCo
worlds=$([ "${QUICK:-0}" = 1 ] && echo 12 || echo 120)
if with_python "random worlds against MuJoCo"; then
    python3 "$root/tests/bench/contact_mujoco.py" "$HOPSCOTCH" "$worlds" >log 2>&1 || fail "$(cat log)"
    grep '^skip' log
fi
[ $status -eq 0 ] && echo "ok   contact"
exit $status
