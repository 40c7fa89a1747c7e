#!/bin/sh
# Meshes that collide: the points of their hulls, boxes and capsules around them move as the solids that they are, from
# every kind of file; meshes weigh as these; the campaign keeps what counts; what can't be read is named.
. "$(dirname "$0")/../robots.sh"
# refused WORDS: check fails, and says that
refused()
{
    hop check tumble.yaml --set simulation.robot=wrong.xml && fail "accepted: $1"
    grep -q -- "$1" log || fail "no word of '$1': $(cat log)"
}

# ---- a brick of 0.25 x 0.5 x 0.125 m in each format -----------------------------------------------------------------
mkdir -p meshes pkg/meshes pkg/urdf
signs='+++ ++- +-+ +-- -++ -+- --+ --- +++'
facet='\000\000\000\000\000\000\000\000\000\000\000\000'
corner() # "+-+" as float32
{
    case $1 in +*) printf '\000\000\000\076' ;; *) printf '\000\000\000\276' ;; esac
    case $1 in ?+*) printf '\000\000\200\076' ;; *) printf '\000\000\200\276' ;; esac
    case $1 in ??+) printf '\000\000\200\075' ;; *) printf '\000\000\200\275' ;; esac
}
{
    printf 'solid %74s' ''
    printf '\003\000\000\000'
    n=0
    for sign in $signs; do
        [ $((n % 3)) -ne 0 ] || printf "$facet"
        corner "$sign"
        n=$((n + 1))
        [ $((n % 3)) -ne 0 ] || printf '\000\000'
    done
} >meshes/binary.stl
{
    echo 'solid brick'
    for sign in $signs; do
        echo "$sign" | sed 's/\(.\)\(.\)\(.\)/  vertex \10.125 \20.25 \36.25e-2/'
    done
    echo 'endsolid brick'
} >meshes/text.stl
{
    printf '# a brick\r\nmtllib none.mtl\r\nvn 0 0 1\r\n'
    for sign in $signs; do echo "$sign" | sed 's/\(.\)\(.\)\(.\)/v \1125 \2250 \362.5 0.5 0.5 0.5/'; done
    echo 'f 1 2 3'
} >meshes/brick.OBJ
# robot FILE ASSET GEOM
robot()
{
    printf '%s\n' '<mujoco><compiler meshdir="meshes"/><default><default class="mm"><mesh scale=".001 .001 .001"/>' \
        "</default></default><asset>$2</asset><worldbody><geom type='plane' size='1 1 1'/>" \
        '<body pos="0 0 .4" quat=".9 .3 .1 .2"><freejoint/>' \
        '<inertial mass="2" pos="0 0 0" diaginertia=".04 .01 .05"/>' \
        "<geom $3 friction='.7'/></body></worldbody></mujoco>" >"$1"
}
robot box.xml '' "type='box' size='.125 .25 .0625' pos='.01 0 .02' quat='.8 0 .6 0'"
place="pos='.01 0 .02' quat='.8 0 .6 0' type='mesh'"
robot binary.xml "<mesh file='binary.stl'/><mesh name='looks' file='gone.stl'/>" \
    "type='mesh' mesh='looks' contype='0' conaffinity='0'/><geom $place mesh='binary'"
robot text.xml "<mesh name='t' file='text.stl'/>" "$place mesh='t'"
robot brick.xml "<mesh class='mm' file='brick.OBJ'/>" "$place mesh='brick'"
robot inline.xml "<mesh name='v' vertex='1 2 .5 1 2 -.5 1 -2 .5 1 -2 -.5 -1 2 .5 -1 2 -.5 -1 -2 .5 -1 -2 -.5'
    scale='.125 .125 .125'/>" "$place mesh='v'"
cat >tumble.yaml <<'YAML'
version: 1
experiment: tumble
model: articulated
simulation: {robot: box.xml, duration: 0.4, dt: 0.001, meshes: hull}
initial: {base_wx: 3, base_vx: 0.5}
objective: {minimize: ground_force_max}
YAML
hop run tumble.yaml --name box --progress none || fail "box: $(cat log)"
hop replay box/0 --output box.csv
near "a brick that falls" "$(value box.csv 0 base_z)" 0.2 0.15
for kind in hull box; do
    for name in binary text brick inline; do
        hop run tumble.yaml --name $name-$kind --set simulation.robot=$name.xml --set simulation.meshes=$kind \
            --progress none || fail "$name, $kind: $(cat log)"
        [ "$name" = binary ] && mv meshes away
        hop replay $name-$kind/0 --output $name.csv || fail "replay of $name, $kind: $(cat log)"
        grep -q 'the same to the bit' log || fail "replay of $name, $kind: $(cat log)"
        [ "$name" = binary ] && mv away meshes
        for column in base_x base_y base_z base_qx base_qy base_qz base_wx; do
            near "$column of $name, $kind" "$(value $name.csv 0 $column)" "$(value box.csv 0 $column)" 1e-8
        done
    done
done
hop check tumble.yaml --set simulation.robot=binary.xml
grep -q '8 points of 1 body can touch 1 plane; friction 1' log || fail "points of a brick: $(cat log)"

# A copy that is kept is the same robot, and gives the same text again.
hop run binary-hull --name again --set simulation.duration=0.3 --progress none || fail "a kept robot: $(cat log)"
cmp -s r/binary-hull/files/* r/again/files/* || fail "the kept robot changed"
grep -q 'file=.binary.stl' r/again/files/* && fail "a kept robot names a file"

# ---- a ball of many vertices, in a package of URDF ------------------------------------------------------------------
awk 'BEGIN { for (i = 0; i < 3000; i++) { z = 1 - (2 * i + 1) / 3000; s = sqrt(1 - z * z); a = 2.399963 * i
    printf "v %.9g %.9g %.9g\n", 0.1 * s * cos(a), 0.1 * s * sin(a), 0.1 * z } }' >pkg/meshes/ball.obj
cat >pkg/urdf/ball.urdf <<'XML'
<robot name="ball"><link name="a"><inertial><mass value="1"/>
<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="package://pkg/meshes/none.dae"/></geometry></visual>
<collision><geometry><mesh filename="package://pkg/meshes/ball.obj"/></geometry></collision></link></robot>
XML
hop check tumble.yaml --set simulation.robot=pkg/urdf/ball.urdf || fail "a package: $(cat log)"
grep -q '26 points of 1 body can touch 1 plane' log || fail "points of a ball: $(cat log)"
grep -q 'meshes .*pkg/meshes/ball.obj: its hull reaches 12.3 mm out of that of its 26 points, of 3000 vertices' log ||
    fail "what the hull of a ball loses: $(cat log)"
hop check tumble.yaml --set simulation.robot=pkg/urdf/ball.urdf --set simulation.meshes=capsule ||
    fail "a ball in a capsule: $(cat log)"
grep -q '^meshes' log && fail "a capsule loses nothing: $(cat log)"
sed 's/box.xml/urdf\/ball.urdf/' tumble.yaml >pkg/inside.yaml
hop run pkg/inside.yaml --name inside --progress none || fail "in the package: $(cat log)"
hop run tumble.yaml --name beside --set simulation.robot=pkg/urdf/ball.urdf --progress none || fail "beside: $(cat log)"
cmp -s r/inside/files/* r/beside/files/* || fail "the two are not the same robot"
hop run pkg/inside.yaml --name rests --set simulation.duration=1 --set initial={} --set simulation.settle=true \
    --progress none || fail "rests: $(cat log)"
hop replay rests/0 --output rests.csv
near "a ball at rest" "$(value rests.csv 0 base_z)" 0.095 0.006

hop run pkg/inside.yaml --name cased --set simulation.meshes=capsule --progress none || fail "a capsule: $(cat log)"
mv pkg away
hop replay cased/0 || fail "replay of a capsule: $(cat log)"
mv away pkg
grep -q 'the same to the bit' log || fail "replay of a capsule: $(cat log)"

# ---- a rod of many corners, in a capsule around its longest edge -----------------------------------------------------
awk 'BEGIN { for (i = 0; i < 64; i++) for (y = -0.3; y < 0.31; y += 0.1) { a = i * 0.09817477042468103
    printf "v %.17g %.17g %.17g\n", 0.1 * cos(a), y, 0.1 * sin(a) } }' >meshes/rod.obj
robot rod.xml "<mesh name='rod' file='rod.obj'/>" "type='mesh' mesh='rod' pos='.01 0 .02' quat='.8 0 .6 0'"
robot capsule.xml '' "type='capsule' fromto='.01 -.3 .02 .01 .3 .02' size='.1'"
for name in rod capsule; do
    hop run tumble.yaml --name $name --set simulation.robot=$name.xml --set simulation.meshes=capsule \
        --progress none || fail "$name: $(cat log)"
    hop replay $name/0 --output $name.csv || fail "replay of $name: $(cat log)"
done
for column in base_x base_y base_z base_qx base_qy base_qz base_wx; do
    near "$column of a rod in a capsule" "$(value rod.csv 0 $column)" "$(value capsule.csv 0 $column)" 1e-8
done

# ---- meshes that weigh -----------------------------------------------------------------------------------------------
{
    for sign in +++ ++- +-+ +-- -++ -+- --+ ---; do
        echo "$sign" | sed 's/\(.\)\(.\)\(.\)/v \1125 \2250 \362.5/'
    done
    printf 'f 4/1 2//7 -8 3 # from the first, and back from the last\nf 8 7 5 6\nf 6 5 1\nf 6 1 2\nf 8 4 3 7\n'
    printf 'f 7 3 1 5\r\nf 8 6 2 4\n'
} >meshes/solid.obj
for name in solid box; do
    robot weighs_$name.xml "<mesh class='mm' file='solid.obj' inertia='exact'/>" \
        "$place $([ $name = solid ] && echo "mesh='solid'" || echo "type='box' size='.125 .25 .0625'") density='200'"
    sed -i "/<inertial/d; s/type='mesh' type='box'/type='box'/" weighs_$name.xml
    hop run tumble.yaml --name weighs_$name --set simulation.robot=weighs_$name.xml --progress none ||
        fail "$name weighs: $(cat log)"
    hop show weighs_$name/0 --robot
    grep -q ' 3.125 ' log || fail "mass of $name: $(cat log)"
    mv meshes away
    hop replay weighs_$name/0 --output weighs_$name.csv || fail "replay of $name: $(cat log)"
    grep -q 'the same to the bit' log || fail "replay of $name: $(cat log)"
    mv away meshes
done
for column in base_x base_y base_z base_qx base_qy base_qz base_wx; do
    near "$column of what a mesh weighs" "$(value weighs_solid.csv 0 $column)" "$(value weighs_box.csv 0 $column)" 1e-8
done
hop check tumble.yaml --set simulation.robot=weighs_solid.xml --set simulation.meshes=refuse && fail "a mesh weighs"
grep -q 'gives its body inertia and is a mesh, which is not read; give the body <inertial>, set meshes: hull' log ||
    fail "refuse: $(cat log)"
# unfit WORDS SED: a mesh that weighs, changed like this, is refused
unfit()
{
    sed "$2" weighs_solid.xml >wrong.xml
    refused "$1"
}
sed '/^f 8 6/d' meshes/solid.obj >meshes/open.obj
unfit "its surface is not closed, and so has no exact volume; give the body <inertial>" 's/solid.obj/open.obj/
    s/mesh=.solid./mesh="open"/'
unfit "inertia is 'heavy', expected convex, exact, legacy or shell" 's/exact/heavy/'
unfit "maxhullvert is not read, and mesh 'solid' weighs as its hull" "s/exact/convex' name='solid' maxhullvert='9/"
unfit "write inertia=\"shell\" in its <mesh>" 's/density/shellinertia="true" density/'
sed 's/^f 8 6 2 4/f 8 6 2 9/' meshes/solid.obj >meshes/open.obj
unfit "meshes/open.obj:15: a face needs three corners or more, of 8 vertices" 's/solid.obj/open.obj/
    s/mesh=.solid./mesh="open"/'
corners="vertex='0 0 0 1 0 0 0 1 0 0 0 1'"
unfit "9 of face is not one of 4 vertices, 0 to 3" "s/file='solid.obj'/name='solid' $corners face='0 1 9'/"
unfit "the volume of solid must be greater than 0" "s/exact'/exact' solid='0 1 1 1 1 1 1 1 1 1'/"

# ---- what can't be read ----------------------------------------------------------------------------------------------
robot wrong.xml "<mesh file='binary.stl'/>" "$place mesh='binary'"
hop check tumble.yaml --set simulation.robot=wrong.xml --set simulation.meshes=refuse && fail "refuse"
grep -q 'collides and is a mesh, which is not simulated; .*, set meshes: hull, or add mesh to ignore' log ||
    fail "refuse: $(cat log)"
hop check tumble.yaml --set simulation.robot=wrong.xml --set 'simulation.ignore=[mesh]' || fail "ignore: $(cat log)"
robot wrong.xml "<mesh name='m' file='gone.stl'/>" "$place mesh='m'"
refused "wrong.xml:2:.* error: cannot read 'meshes/gone.stl' in the spec's folder"
robot wrong.xml "<mesh name='m' file='../../secret.stl'/>" "$place mesh='m'"
refused "'../secret.stl' leads out of the spec's folder"
cp meshes/binary.stl meshes/x.dae
robot wrong.xml "<mesh name='m' file='x.dae'/>" "$place mesh='m'"
refused "'meshes/x.dae' is neither STL nor OBJ; convert it"
head -c 200 meshes/binary.stl >meshes/cut.stl
robot wrong.xml "<mesh name='m' file='cut.stl'/>" "$place mesh='m'"
refused "'meshes/cut.stl' has no vertices: it is cut off, or no STL"
printf 'v 1 2 3\nv 1 2\n' >meshes/two.obj
robot wrong.xml "<mesh name='m' file='two.obj'/>" "$place mesh='m'"
refused "meshes/two.obj:2: a vertex needs three numbers within 1e9"
printf 'vertex 1 2 1e10\n' >meshes/far.stl
robot wrong.xml "<mesh name='m' file='far.stl'/>" "$place mesh='m'"
refused "meshes/far.stl:1: a vertex needs three numbers within 1e9"
robot wrong.xml "<mesh name='m' vertex='1 2 3 4'/>" "$place mesh='m'"
refused "vertex has 4 numbers, expected three for each"
robot wrong.xml "<mesh name='m' vertex='1 2 3 4 5 1e10'/>" "$place mesh='m'"
refused "vertex: vertex 2 is not a point within 1e9"
robot wrong.xml "<mesh name='m'/>" "$place mesh='m'"
refused "mesh 'm' has neither a file nor vertices"
robot wrong.xml "<mesh name='m' file='binary.stl' refpos='1 0 0'/>" "$place mesh='m'"
refused "refpos of a mesh is not read; move the geom that has it, or the vertices"
robot wrong.xml "<mesh name='m' file='binary.stl'/>" "$place mesh='n'"
refused "there is no mesh 'n' in <asset>"
robot wrong.xml "<mesh name='m' file='binary.stl'/>" "type='box' mesh='m'"
refused "collides and is a mesh, which is not simulated; use spheres, capsules, boxes or cylinders, or add mesh"
truncate -s 65M meshes/large.stl
robot wrong.xml "<mesh name='m' file='large.stl'/>" "$place mesh='m'"
refused "'meshes/large.stl' has more than 64 MiB"
if [ -z "${QUICK-}" ]; then # 1 GiB of zeros
    truncate -s 63M meshes/large.stl
    robot wrong.xml "$(for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do
        echo "<mesh name='m$i' file='large.stl'/>"
    done)" "$(for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do
        echo "$place mesh='m$i'/><geom"
    done) $place mesh='m1'"
    refused "the meshes have more than 1024 MiB"
fi
passed
