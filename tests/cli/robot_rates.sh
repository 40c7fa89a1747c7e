#!/bin/sh
# Rates at t = 0 of joints, balls and free bodies, by qvel of a keyframe or by name: against MuJoCo, a top that
# precesses steadily, momentum, and the three kinds of derivatives.
. "$(dirname "$0")/../robots.sh"
minimize=momentum_error

# ---- all kinds of joints against MuJoCo 3.17: RK4 of 1e-5 s, no contacts ---------------------------------------------
cat >all.xml <<'XML'
<mujoco><compiler angle="radian"/><worldbody>
<body name="a" pos="0 0 1" quat=".9 .1 .2 .3"><freejoint/><geom type="box" size=".1 .2 .05" pos=".05 .02 0.01"/>
<body name="b" pos=".2 .1 0" quat=".8 .1 -.3 .2"><joint name="knee" axis="0 1 .2" pos=".02 0 .01" armature=".01"/>
<geom type="capsule" fromto="0 0 0 .3 0.1 0" size=".03"/>
<body name="c" pos=".3 .1 0"><joint name="slide" type="slide" axis="1 .3 0" armature=".1"/>
<geom type="box" size=".05 .03 .04" pos=".02 0.03 0"/>
<body name="d" pos=".1 0 0.1"><joint name="ball" type="ball" pos="0 0.01 0"/>
<geom type="box" size=".05 .03 .08" pos=".02 0.03 .06"/></body></body></body></body>
<body name="e" pos="2 0 1"><joint name="h1" axis="0 1 0"/><joint name="s1" type="slide" axis="0 0 1" stiffness="20"/>
<joint name="h2" axis="1 0 0"/><geom type="box" size=".1 .1 .2" pos="0 0 -.2"/></body>
<body name="f" pos="3 0 1"><freejoint/><geom type="box" size=".1 .05 .2" pos="0.1 0 -.2"/></body></worldbody>
<keyframe><key name="go" qpos="0.1 0.2 1.5 .7 .3 .2 -.1  .4 .05  .9 .1 .3 -.2  .3 .02 .5   3 .1 1.2 .8 .1 .2 .3"
qvel="1 -2 .5 3 -2 4  2 .3 1 -2 3   1.5 -.4 2  .3 .2 2 -3 5 1"/>
<key name="rest" qpos="0.1 0.2 1.5 .7 .3 .2 -.1  .4 .05  .9 .1 .3 -.2  .3 .02 .5   3 .1 1.2 .8 .1 .2 .3"/></keyframe>
</mujoco>
XML
spec go all.xml 0.5 0.0005 'keyframe: [go], terrain: none'
for dt in 0.002 0.0005; do
    hop run go.yaml --name go$dt --set simulation.dt=$dt --progress none || fail "go: $(cat log)"
    hop replay go$dt/0 --output go$dt.csv || fail "replay of go: $(cat log)"
done
rights="base_x:0.683668 base_y:-0.776909 base_qw:0.436122 base_qx:0.836916 base_qy:0.102563 base_qz:0.314404 \
    knee_q:1.243204 slide_q:1.073287 ball_qw:0.442516 ball_qx:0.881846 ball_qy:-0.073394 ball_qz:-0.145399 \
    h1_q:0.171002 s1_q:-1.383647 h2_q:1.491159 f_x:2.782292 f_y:-0.085573 f_qw:-0.156071 f_qx:-0.352321 \
    f_qy:0.882384 f_qz:0.270019"
for right in $rights; do
    near "${right%:*}, dt 2 ms" "$(value go0.002.csv 0 "${right%:*}")" "${right#*:}" 0.0075
    near "${right%:*}, dt 0.5 ms" "$(value go0.0005.csv 0 "${right%:*}")" "${right#*:}" 0.002
done
near "the height" "$(value go0.0005.csv 0 base_z)" 0.642823 0.0015 # g t dt/2 too low
hop run go.yaml --name go_two --set simulation.order=two --set simulation.dt=0.002 --progress none ||
    fail "order two: $(cat log)"
hop replay go_two/0 --output go_two.csv || fail "replay of go_two: $(cat log)"
for right in $rights base_z:0.642823; do
    near "${right%:*}, order two, dt 2 ms" "$(value go_two.csv 0 "${right%:*}")" "${right#*:}" 4e-4
done

# At t = 0 a trajectory has the rates that were given; base_v is of the centre of mass.
for right in knee_rate:2 slide_rate:0.3 h1_rate:1.5 s1_rate:-0.4 h2_rate:2 base_wx:3.095238095238095 \
    base_wy:-4.380952380952381 base_wz:-0.4761904761904754 base_vx:1.041904761904762; do
    near "${right%:*} at t = 0" "$(value go0.0005.csv 1 "${right%:*}")" "${right#*:}" 1e-14
done

# The same by names.
spec named all.xml 0.5 0.0005 'keyframe: [rest], terrain: none' \
    'initial: {base_vx: 1, base_vy: -2, base_vz: 0.5, base_wx: 3.095238095238095,
  base_wy: -4.380952380952381, base_wz: -0.4761904761904754, knee_rate: 2, slide_rate: 0.3, ball_wx: 1, ball_wy: -2,
  ball_wz: 3, h1_rate: 1.5, s1_rate: -0.4, h2_rate: 2, f_vx: -0.7, f_vy: 2.2, f_vz: 1.5, f_wx: -4.333333333333333,
  f_wy: 1.6666666666666667, f_wz: 3.6666666666666667}'
hop run named.yaml --progress none || fail "named: $(cat log)"
hop replay named/0 --output named.csv || fail "replay of named: $(cat log)"
for column in base_x base_qx base_qz knee_q slide_q ball_qx ball_qz h1_q s1_q h2_q f_x; do
    near "$column by names" "$(value named.csv 0 $column)" "$(value go0.0005.csv 0 $column)" 1e-9
done
# by an instruction set that this build has, and by the best
for isa in scalar $(vector_isas "$HOPSCOTCH"); do
    hop run go.yaml --name bits --set simulation.duration=0.1 --isa "$isa" --progress none && break
done
hop replay bits/0 || fail "replay: $(cat log)"
grep -q 'the same to the bit' log || fail "bits of another instruction set: $(cat log)"

# Left out, at rest: as without.
spec ignored all.xml 0.2 0.001 'keyframe: [go], terrain: none'
hop check ignored.yaml --set 'simulation.ignore=[qvel]' || fail "ignore: $(cat log)"
grep -q 'skipped .*qvel (1)' log || fail "no word of qvel: $(cat log)"
hop run ignored.yaml --set 'simulation.ignore=[qvel]' --progress none || fail "ignored: $(cat log)"
hop run ignored.yaml --name rest --set 'simulation.keyframe=[rest]' --progress none || fail "rest: $(cat log)"
for name in ignored rest; do hop replay $name/0 --output $name.csv; done
cmp -s ignored.csv rest.csv || fail "an ignored qvel moves"

# ---- a top that precesses steadily: m g l = I3 w3 W - I1 W^2 cos(theta), I1 about its tip ---------------------------
cat >top.xml <<'XML'
<mujoco><worldbody><body name="top"><joint name="tip" type="ball"/>
<geom type="cylinder" fromto="0 0 .09 0 0 .11" size=".05" mass=".5"/></body></worldbody>
<keyframe><key name="leans" qpos="0.9800665778412416 0 0.19866933079506122 0"/></keyframe></mujoco>
XML
spec top top.xml 1 0.0001 'keyframe: [leans], terrain: none' \
    'initial: {tip_wx: -1.1682550269259515, tip_wz: 285.38179486515446}'
hop run top.yaml --progress none || fail "top: $(cat log)"
hop replay top/0 --output top.csv || fail "replay of the top: $(cat log)"
q() { value top.csv 0 "tip_q$1"; }
awk -v x="$(q x)" -v y="$(q y)" -v z="$(q z)" -v w="$(q w)" 'BEGIN {
    print 2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y) }' >axis
read -r x y z <axis
near "the top's axis along x" "$x" -0.385520 2e-3 # sin(0.4) cos(3)
near "the top's axis along y" "$y" 0.054954 2e-3
near "the top's lean" "$z" 0.921061 2e-4

# ---- thrown: momentum stays ------------------------------------------------------------------------------------------
sed '/<body name="e"/,/h2/d' all.xml | sed 's/  \.3 \.02 \.5   3/ 3/; s/   1\.5 -\.4 2  \.3/ .3/' >thrown.xml
spec thrown thrown.xml 0.5 0.001 'keyframe: [go], terrain: none'
hop run thrown.yaml --progress none || fail "thrown: $(cat log)"
hop query thrown --columns momentum_error --format csv
near "the error of the momentum" "$(tail -n 1 log)" 0 1e-11

# ---- derivatives: adjoint, tangent and differences, in contact ------------------------------------------------------
cat >derived.yaml <<'YAML'
version: 1
experiment: derived
model: articulated
simulation: {robot: all.xml, duration: 0.2, dt: 0.001, keyframe: [go], terrain: flat}
objective: {minimize: "distance + 2 * tilt_rms + height_mean + 0.001 * ground_force_mean"}
initial: {base_z: -1.2}
search: {over: {base_wx: [2], base_wy: [1], base_wz: [-3], knee_rate: [2], slide_rate: [0.3], ball_wx: [1],
  ball_wy: [-2], ball_wz: [3], base_vx: [0.5], knee_start: [0.3], b_ixy: [0.01], a_mass: [8], f_wx: [1]}}
YAML
hop run derived.yaml --progress none || fail "derived: $(cat log)"
"$HOPSCOTCH" gradient derived/0 --results r --format csv >gradient.csv 2>log || fail "gradient: $(cat log)"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { a = $at["adjoint"]; t = $at["tangent"]; d = $at["difference"]; size = (a < 0 ? -a : a) + 1e-3; rows++
      if ((a - t) / size > 1e-9 || (t - a) / size > 1e-9) print $1 ": adjoint " a ", tangent " t
      if ((a - d) / size > 1e-4 || (d - a) / size > 1e-4) print $1 ": adjoint " a ", differences " d
      if ($1 ~ /_wx|rate/ && a == 0 && $1 !~ /^f/) print $1 ": 0" }
    END { if (rows != 13) print rows " derivatives" }' gradient.csv >wrong
[ -s wrong ] && fail "derivatives: $(cat wrong)"

# ---- drawn, searched, of groups; names ------------------------------------------------------------------------------
cat >drawn.yaml <<'YAML'
version: 1
experiment: drawn
model: articulated
simulation: {robot: all.xml, duration: 0.01, dt: 0.001, terrain: none, groups: {leg: [h1, h2]}}
objective: {minimize: distance}
search: {over: {leg_rate: [1, 2]}}
replicates: {count: 3, perturb: {knee_rate: {uniform: [1, 2]}}}
YAML
hop run drawn.yaml --progress none || fail "drawn: $(cat log)"
hop show drawn/0
grep -q '^knee_rate  *0  *rad/s  *drawn per replicate' log || fail "drawn rates: $(cat log)"
awk '$1 == "distance" { found = $3 > 0 } END { exit !found }' log || fail "drawn rates move nothing: $(cat log)"
hop replay drawn/1 --output drawn.csv
near "the rate of a group" "$(value drawn.csv 1 h2_rate)" 2 1e-15
sed 's/"h1"/"yaw"/; s/"a"/"base"/' all.xml >yaw.xml
spec yaw yaw.xml 0.01 0.001 'keyframe: [rest], terrain: none' 'initial: {yaw_rate_2: 3, base_wz: 1}'
hop run yaw.yaml --progress none || fail "yaw: $(cat log)"
hop replay yaw/0 --output yaw.csv
near "a joint called yaw" "$(value yaw.csv 1 yaw_rate)" 3 1e-15
near "a base called base" "$(value yaw.csv 1 base_wz)" 1 1e-15
spec fixed top.xml 0.01 0.001 'keyframe: [leans], terrain: none' 'initial: {base_wx: 1}'
hop check fixed.yaml && fail "a base that is fixed turns"
grep -q "unknown parameter 'base_wx' in initial\|unknown key 'base_wx' in initial" log || fail "fixed: $(cat log)"
spec held all.xml 0.01 0.001 'keyframe: [go], terrain: none'
hop run held.yaml --set simulation.base=fixed --progress none || fail "held: $(cat log)"
hop replay held/0 --output held.csv
near "a joint on a held base" "$(value held.csv 1 knee_rate)" 2 1e-15
passed
