#!/bin/sh
# Robots that a spec names: includes become part of the campaign's copy, what may be ignored is part of the spec's
# identity, stored campaigns need nothing else, and errors point into the robot's files.
. "$(dirname "$0")/../scratch.sh"
fail()
{
    echo "FAIL robot: $*"
    status=1
}

mkdir -p robots/parts
cat >robots/walker.xml <<'XML'
<mujoco model="walker">
  <include file="parts/defaults.xml"/>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <body name="trunk" pos="0 0 0.6">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.05"/>
      <include file="parts/leg.xml"/>
    </body>
  </worldbody>
  <actuator><position joint="hip" kp="50" kv="2"/></actuator>
  <tendon><fixed name="t" stiffness="1"><joint joint="hip" coef="1"/></fixed></tendon>
</mujoco>
XML
echo '<mujoco><default><joint axis="0 1 0" damping="0.1"/></default></mujoco>' >robots/parts/defaults.xml
cat >robots/parts/leg.xml <<'XML'
<mujoco>
  <body name="leg" pos="0 0 -0.05"><joint name="hip" range="-60 60"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.3"/><geom name="foot" size="0.03" pos="0 0 -0.3"/></body>
</mujoco>
XML
cat >walk.yaml <<'YAML'
version: 1
experiment: walk
model: articulated
simulation: {robot: robots/walker.xml, dt: 0.002, duration: 0.1, ignore: [tendon]}
objective: {minimize: distance}
search: {method: grid, over: {hip_kp: [40, 60]}}
YAML

"$HOPSCOTCH" run walk.yaml --results r --backend cpu --progress none >log 2>&1 || fail "run: $(cat log)"
copy=$(find r/walk/files -type f)
[ "$(basename "$copy")" = "$(sha256sum <"$copy" | cut -d' ' -f1)" ] || fail "copies: $copy"
grep -q '<mujoco><default>' "$copy" || grep -q '<default><joint axis' "$copy" || fail "the copy lacks the defaults"
grep -q '<include' "$copy" && fail "the copy includes files"
grep -q "robot: {file: \"robots/walker.xml\", sha256: \"$(basename "$copy")\"}" r/walk/resolved.yaml ||
    fail "resolved.yaml: $(grep robot r/walk/resolved.yaml)"
grep -qx '  ignore: \["tendon"\]' r/walk/resolved.yaml || fail "ignore: $(grep ignore r/walk/resolved.yaml)"

# What the file holds is said before a run, and what is left out too.
"$HOPSCOTCH" check walk.yaml >log 2>&1 || fail "check: $(cat log)"
for words in 'robot  *walker: 2 bodies, .* kg; joints: 1 free, 1 hinge; 1 motor' \
    'skipped  *warning: tendon.*: in the file, and not simulated' \
    'ground  *[0-9]* points of 2 bodies can touch 1 plane; friction 1; bodies do not touch each other'; do
    grep -q "^$words" log || fail "check does not say '$words': $(cat log)"
done
sed 's|<position joint="hip" kp="50" kv="2"/>|<motor joint="hip"/>|' robots/walker.xml >robots/torque.xml
"$HOPSCOTCH" check walk.yaml --set simulation.robot=robots/torque.xml --set 'search.over={push_x: [0, 1]}' >log 2>&1 ||
    fail "check of torques: $(cat log)"
grep -q '^motors  *warning: 1 motor has no gains and can do nothing' log || fail "no word of gains: $(cat log)"

# a root with several joints: the base is the body behind them
sed 's|<freejoint/>|<joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>|' \
    robots/walker.xml >robots/planar.xml
"$HOPSCOTCH" check walk.yaml --set simulation.robot=robots/planar.xml >log 2>&1 || fail "check of a plane: $(cat log)"
grep -q '^robot  *walker: 3 bodies, .* joints: 1 hinge, 2 slide' log || fail "a plane: $(cat log)"
sed -e 's/^experiment: .*/experiment: plane/' -e 's/duration: [0-9.]*/duration: 0.3/' walk.yaml >plane.yaml
"$HOPSCOTCH" run plane.yaml --set simulation.robot=robots/planar.xml --set 'search.over={z_start: [0.2, 0.3]}' \
    --set 'parameters={push_x: 20, push_time: 0}' --results r --backend cpu --progress none >log 2>&1 ||
    fail "run of a plane: $(cat log)"
"$HOPSCOTCH" query plane --results r --columns height_mean,distance --format csv >plane.csv
awk -F, 'NR == 2 { low = $1 } NR == 3 { good = $1 > low + 0.05 && $2 > 0.001 } END { exit !good }' plane.csv ||
    fail "the base is not the body behind the parts: $(cat plane.csv)"
# a root that slides and turns as a ball: against its own motion as a record it has exactly 0
sed -e 's|<freejoint/>|<joint name="x" type="slide" axis="1 0 0"/><joint name="turn" type="ball"/>|' \
    -e 's|pos="0 0 0.6"|& euler="20 30 40"|' robots/walker.xml >robots/turning.xml
sed 's/^experiment: .*/experiment: turning/' walk.yaml >turning.yaml
own() { "$HOPSCOTCH" "$@" --results r >log 2>&1 || fail "$1 of a root that turns: $(cat log)"; }
own run turning.yaml --set simulation.robot=robots/turning.xml --set 'search.over={hip_start: [0.3]}' --progress none
own replay turning/0 --output turning.csv
own run turning.yaml --name turned --set simulation.robot=robots/turning.xml --set 'search.over={hip_start: [0.3]}' \
    --set simulation.reference=turning.csv --set 'objective={minimize: reference_error}' --progress none
own query turned --columns reference_error --format csv
[ "$(tail -n 1 log)" = 0 ] || fail "a root that turns differs from itself: $(cat log)"
"$HOPSCOTCH" check walk.yaml --set simulation.robot=robots/planar.xml --set simulation.attachment=explicit >log 2>&1 &&
    fail "joints of one body are solved apart"
grep -q "joint 'x' shares its body with another joint, or its link has no mass: only .attachment: tree. can" log ||
    fail "joints of one body, apart: $(cat log)"

"$HOPSCOTCH" show walk/0 --robot --results r >log 2>&1 || fail "show --robot: $(cat log)"
for words in 'trunk  *[0-9.]*  .*free' '  leg  *[0-9.]*  hip  *hinge  -1.047 to 1.047 rad  kp 40, kd 2'; do
    grep -q "^$words" log || fail "show --robot does not say '$words': $(cat log)"
done
cat >hop.yaml <<'YAML'
version: 1
experiment: hop
model: hopper
simulation: {duration: 0.01, settle: 0}
YAML
"$HOPSCOTCH" run hop.yaml --results r --backend cpu --progress none >log 2>&1 || fail "run: $(cat log)"
"$HOPSCOTCH" show hop/0 --robot --results r >log 2>&1 && fail "a hopper is not a robot"
grep -q 'model hopper has no robot' log || fail "show --robot of a hopper: $(cat log)"

# a table of commands: one row is what the motors hold; the second row begins after the period
motors='shoulder_kp: 50, shoulder_kd: 5, elbow_kp: 20, elbow_kd: 2'
arm()
{
    printf '%s\n' 'version: 1' "experiment: $1" 'model: articulated' "simulation: {duration: 0.5, dt: 0.002, $2}" \
        "parameters: {$motors$3}" 'objective: {minimize: energy}' >"$1.yaml"
    "$HOPSCOTCH" run "$1.yaml" --results r --backend cpu --progress none >log 2>&1 || fail "run of $1: $(cat log)"
    "$HOPSCOTCH" query "$1" --results r --columns energy,gap_max --format csv >"$1.csv"
}
arm holds 'control: {mode: hold}' ', shoulder_offset: 0.1, elbow_offset: 0.2'
arm acts 'control: {mode: actions, actions: [0.1, 0.2]}' ''
arm later 'control: {mode: actions, period: 0.6, actions: [0.1, 0.2, 3, 3]}' ''
arm soon 'control: {mode: actions, period: 0.1, actions: [0.1, 0.2, 3, 3]}' ''
cmp -s holds.csv acts.csv || fail "one row of actions is not what holds: $(cat holds.csv acts.csv)"
cmp -s acts.csv later.csv || fail "a row that is never reached: $(cat acts.csv later.csv)"
cmp -s acts.csv soon.csv && fail "a second row changes nothing"

# the same table in a file: columns by name, in any order, and with times instead of a period
printf 'elbow,shoulder\n0.2,0.1\n' >rows.csv
arm filed 'control: {mode: actions, file: rows.csv}' ''
cmp -s acts.csv filed.csv || fail "a file of actions: $(cat acts.csv filed.csv)"
printf 'shoulder,elbow\n0.1,0.2\n3,3\n' >rows.csv
arm periods 'control: {mode: actions, file: rows.csv, period: 0.1}' ''
cmp -s soon.csv periods.csv || fail "a file of actions, with a period: $(cat soon.csv periods.csv)"
printf '# by a hand\ntime,elbow,shoulder\n0,0.2,0.1\n0.1,3,3\n' >rows.csv
arm times 'control: {mode: actions, file: rows.csv, period: 7}' ''
cmp -s soon.csv times.csv || fail "a file of actions with times: $(cat soon.csv times.csv)"
printf 'time,shoulder\n0.05,0.1\n0.2,0.3\n0.3,0.3\n' >rows.csv
arm partly 'control: {mode: actions, file: rows.csv}' ', elbow_offset: 0.2'
printf 'time,shoulder,elbow\n0.0,0.1,0.2\n0.2,0.3,0.2\n' >rows.csv
arm whole 'control: {mode: actions, file: rows.csv}' ''
cmp -s partly.csv whole.csv || fail "joints without a column, and early times: $(cat partly.csv whole.csv)"
mv rows.csv gone.csv
"$HOPSCOTCH" replay whole/0 --results r >log 2>&1 || fail "replay without the file of actions: $(cat log)"
"$HOPSCOTCH" doctor whole --results r >log 2>&1 || fail "doctor of a file of actions: $(cat log)"

# a recorded motion: a trajectory that is written is one, and the same run has no error against it
"$HOPSCOTCH" replay times/0 --results r -o motion.csv >log 2>&1 || fail "replay to a motion: $(cat log)"
sed 's/duration: 0.5/reference: motion.csv, duration: 0.5/; s/^experiment: .*/experiment: moved/' times.yaml >moved.yaml
printf 'time,elbow,shoulder\n0,0.2,0.1\n0.1,3,3\n' >rows.csv
echo 'search: {method: grid, over: {lower_mass: [1.1, 2, 3]}}' >>moved.yaml
sed -i 's/minimize: energy/minimize: reference_error/' moved.yaml
sed '/^search/d' moved.yaml >still.yaml
echo 'replicates: {count: 1, perturb: {gravity: {uniform: [9.8, 9.82]}}}' >>moved.yaml
"$HOPSCOTCH" check still.yaml >log 2>&1 || fail "check of a motion: $(cat log)"
grep -qx 'reference  *251 rows of 21 columns from 0 to 0.5 s, 0 between two steps' log || fail "a motion: $(cat log)"
"$HOPSCOTCH" run still.yaml --results r --name still --backend cpu --progress none >log 2>&1 || fail "still: $(cat log)"
[ "$("$HOPSCOTCH" query still --results r --columns fitness,reference_error --format csv | tail -n 1)" = 0,0 ] ||
    fail "a motion against itself: $("$HOPSCOTCH" query still --results r --columns fitness,reference_error)"
"$HOPSCOTCH" run moved.yaml --results r --backend cpu --progress none --set limits.trials=2 >log 2>&1 ||
    fail "run against a motion: $(cat log)"
mv motion.csv gone.csv
"$HOPSCOTCH" resume moved --results r --progress none --set limits.trials=3 >log 2>&1 ||
    fail "resume without the motion's file: $(cat log)"
"$HOPSCOTCH" replay moved/2 --results r >log 2>&1 || fail "replay without the motion's file: $(cat log)"
"$HOPSCOTCH" verify moved --seeds 3 --gains 0 --physics 0 --grid 0 --results r --progress none >log 2>&1 ||
    fail "verify without the motion's file: $(cat log)"
"$HOPSCOTCH" doctor moved --results r >log 2>&1 || fail "doctor of a motion: $(cat log)"
"$HOPSCOTCH" query moved --results r --columns reference_error --format csv |
    awk 'NR > 1 { good += $1 > 0.01 } END { exit !(good == 3) }' || fail "masses change nothing"

# a spec in another folder: its files are beside it
mkdir below && cp -r robots walk.yaml below && mv robots hidden
printf 'gravity\n9\n' >below/points.csv
"$HOPSCOTCH" run below/walk.yaml --name points --set 'search={method: list, csv: points.csv}' --results r \
    --progress none >log 2>&1 || fail "points for a robot below: $(cat log)"
mv hidden robots

# limits of such files
refused()
{
    "$HOPSCOTCH" check holds.yaml --set "simulation.control={mode: actions, file: $1}" >log 2>&1 && fail "$1 passes"
    grep -q "$2" log || fail "$1: $(head -n 3 log)"
}
awk 'BEGIN { print "elbow"; for (i = 0; i < 524289; i++) print 0 }' >rows.csv
refused rows.csv 'error: control.file has 524289 rows for 2 joints, at most 1048576 commands are allowed'
awk 'BEGIN { print "elbow"; for (i = 0; i < 1048577; i++) print 0 }' >rows.csv
refused rows.csv '^rows.csv:1048578:1: error: the file has too many numbers: at most 1048576 are allowed'
awk 'BEGIN { for (i = 0; i < 4097; i++) printf "a%d,", i }' >rows.csv
refused rows.csv '^rows.csv:1:1: error: the line has too many fields: at most 4096 are allowed'
truncate -s 257M rows.csv
refused rows.csv 'error: rows.csv is larger than 268435456 bytes'

# heights of the ground: a campaign keeps the file
printf '0,0,0\n0.1,0.1,0.1\n' >ground.csv
cat >hilly.yaml <<'YAML'
version: 1
experiment: hilly
model: articulated
simulation: {robot: robots/walker.xml, dt: 0.002, duration: 0.5, ignore: [tendon], terrain: heights,
             terrain_file: ground.csv, terrain_spacing: 2}
parameters: {terrain_y: 0.1}
objective: {minimize: distance}
search: {method: grid, over: {terrain_scale: [0, 1, 2]}}
YAML
"$HOPSCOTCH" check hilly.yaml >log 2>&1 || fail "check of heights: $(cat log)"
grep -qx 'terrain  *2 x 3 heights, 4 m along x and 2 m along y, from 0 to 0.1 m' log || fail "heights: $(cat log)"
"$HOPSCOTCH" run hilly.yaml --results r --backend cpu --progress none >log 2>&1 || fail "run of hilly: $(cat log)"
"$HOPSCOTCH" query hilly --results r --columns height_mean,lateral_drift --format csv >hilly.csv
"$HOPSCOTCH" run hilly.yaml --results r --name flat --set simulation.terrain=flat --set 'simulation.terrain_file=none' \
    --set 'parameters={}' --set 'search.over={terrain_scale: [0]}' >log 2>&1 && fail "flat ground has a scale"
[ "$(find r/hilly/files -type f | wc -l)" -eq 2 ] || fail "hilly keeps $(ls r/hilly/files)"
awk -F, 'NR == 2 { level = $1; good = $2 < 1e-6 } NR > 2 { good = good && $1 > level + 0.02 * (NR - 2) }
    END { exit !(good && NR == 4) }' hilly.csv || fail "heights change nothing: $(cat hilly.csv)"
mv ground.csv gone.csv
"$HOPSCOTCH" replay hilly/2 --results r >log 2>&1 || fail "replay without the file of heights: $(cat log)"
echo 1,1,1 >>"$(grep -lx '0,0,0' r/hilly/files/*)"
"$HOPSCOTCH" replay hilly/2 --results r >log 2>&1 && fail "a damaged copy of heights"
grep -q 'ground.csv has changed: its SHA-256 is ' log || fail "a damaged copy of heights: $(cat log)"

# debug rows: those that a run records are those of replay; each step has a row per body
sed 's/^experiment: .*/experiment: rows/' holds.yaml >rows.yaml
echo 'record: {debug: {solve: {select: {best: 1}, window: [0.1, 0.2]}}}' >>rows.yaml
"$HOPSCOTCH" run rows.yaml --results r --backend cpu --progress none >log 2>&1 || fail "run of rows: $(cat log)"
"$HOPSCOTCH" query rows --results r --columns energy,gap_max --format csv | cmp -s - holds.csv ||
    fail "debug rows change what is measured"
"$HOPSCOTCH" show rows/0 --results r >log 2>&1 && grep -q 'debug/solve' log || fail "show rows: $(cat log)"
"$HOPSCOTCH" show rows/0 --results r --debug 3 >log 2>&1 || fail "show --debug: $(cat log)"
for words in 'rows/0, replicate 0: rows 2 to 3 of 100, the step at 0.10200000000000001 s' \
    'body   joint  *gap  *turn  *force  *torque  *axis  *residual' 'upper  shoulder  *[1-9]' 'lower  elbow  *[1-9]' \
    'residual_max [1-9][0-9.]*e-1[6789] 1, greatest residual of all bodies'; do
    grep -q "^$words" log || fail "show --debug does not say '$words': $(cat log)"
done
"$HOPSCOTCH" replay rows/0 --results r --debug solve -o rows.csv >log 2>&1 || fail "replay --debug: $(cat log)"
awk -F, 'NR == 1 { good = $1 == "time" && $2 == "body" && $11 == "force_z" && $17 == "residual_max" }
    $2 == 0 && $1 > 0.1 { good = good && $11 > 10 && $11 < 30 && $16 < 1e-14 }
    END { exit !(good && NR == 501) }' rows.csv || fail "rows of replay: $(head -n 4 rows.csv)"

# without the named files
mkdir elsewhere && cp -r r/walk elsewhere/walk && mv robots away
"$HOPSCOTCH" best walk --results elsewhere >log 2>&1 || fail "best elsewhere: $(cat log)"
"$HOPSCOTCH" replay walk/1 --results elsewhere >log 2>&1 || fail "replay elsewhere: $(cat log)"
"$HOPSCOTCH" resume walk --results elsewhere --progress none >log 2>&1 || fail "resume elsewhere: $(cat log)"
"$HOPSCOTCH" doctor walk --results elsewhere >log 2>&1 || fail "doctor elsewhere: $(cat log)"
"$HOPSCOTCH" run elsewhere/walk/resolved.yaml --name again --results r --backend cpu --progress none >log 2>&1 ||
    fail "run of resolved.yaml: $(cat log)"
[ "$("$HOPSCOTCH" query again --results r --columns all --format csv)" = \
    "$("$HOPSCOTCH" query walk --results r --columns all --format csv)" ] || fail "resolved.yaml gives other numbers"
"$HOPSCOTCH" merge walk again --into both --results r >log 2>&1 || fail "merge: $(cat log)"
[ "$(find r/both/files -type f | wc -l)" -eq 1 ] || fail "merge keeps $(ls r/both/files)"
mv away robots

# one text is the same robot: the same spec
cp "$copy" robots/whole.xml
"$HOPSCOTCH" run walk.yaml --set simulation.robot=robots/whole.xml --results r --progress none >log 2>&1 ||
    fail "the whole text is another robot: $(cat log)"

# another order of words is the same spec; other words, and another robot, are not
"$HOPSCOTCH" run walk.yaml --set 'simulation.ignore=[tendon, tendon]' --results r --progress none >log 2>&1 ||
    fail "a word twice: $(cat log)"
"$HOPSCOTCH" run walk.yaml --set 'simulation.ignore=[tendon, equality]' --results r --progress none >log 2>&1 &&
    fail "other words are the same spec"
sed -i 's/60 60/50 50/' robots/parts/leg.xml
"$HOPSCOTCH" run walk.yaml --results r --progress none >log 2>&1 && fail "another robot is the same spec"

# a copy is damaged or gone
for kept in elsewhere/walk/files/*; do printf '\n' >>"$kept"; done
"$HOPSCOTCH" best walk --results elsewhere >log 2>&1 && fail "best with a damaged copy"
grep -q 'robots/walker.xml has changed: its SHA-256 is ' log || fail "damaged: $(cat log)"
"$HOPSCOTCH" doctor walk --results elsewhere >log 2>&1 && fail "doctor finds no damaged copy"
grep -q 'FINDING .*robots/walker.xml has changed' log || fail "doctor of a damaged copy: $(cat log)"
rm -r elsewhere/walk/files
"$HOPSCOTCH" replay walk/1 --results elsewhere >log 2>&1 && fail "replay without a copy"
grep -q 'walker.xml is not in elsewhere/walk, nor is a copy of it' log || fail "gone: $(cat log)"

# errors point into the files, and none follows from another
sed -i 's/fromto/formto/' robots/parts/leg.xml
"$HOPSCOTCH" check walk.yaml >log 2>&1 && fail "a misspelt attribute passes"
grep -q "^robots/parts/leg.xml:3:38: error: unknown attribute 'formto' of <geom>; did you mean 'fromto'?" log ||
    fail "misspelt: $(cat log)"
grep -qx 'hopscotch: walk.yaml: 1 error' log || fail "one mistake gives: $(cat log)"
sed -i 's/formto/fromto/' robots/parts/leg.xml
"$HOPSCOTCH" check walk.yaml --set 'simulation.ignore=[]' >log 2>&1 && fail "a tendon passes"
grep -q '^robots/walker.xml:12:11: error: <fixed> changes the motion and is not simulated; delete it, or add' \
    log || fail "tendon: $(cat log)"
"$HOPSCOTCH" check walk.yaml --set 'simulation.ignore=[tendon, "a b"]' >log 2>&1 && fail "'a b' is a word"
grep -q 'error: ignore holds the text "a b", expected words' log || fail "a b: $(cat log)"
echo '<mujoco><include file="../../walk.yaml"/></mujoco>' >robots/out.xml
"$HOPSCOTCH" check walk.yaml --set simulation.robot=robots/out.xml >log 2>&1 && fail "an include leads out"
grep -q "leads out of the spec's folder" log || fail "out: $(cat log)"
ln -s /etc/passwd robots/link.xml
"$HOPSCOTCH" check walk.yaml --set simulation.robot=robots/link.xml >log 2>&1 && fail "a link leads out"
grep -q 'root:' log && fail "a link shows another file: $(cat log)"

# URDF, with its root fixed
cat >arm.urdf <<'XML'
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
</robot>
XML
"$HOPSCOTCH" check walk.yaml --set simulation.robot=arm.urdf --set simulation.ignore=[] --set simulation.base=fixed \
    --set 'search.over={shoulder_kp: [1, 2]}' >log 2>&1 || fail "URDF: $(cat log)"
[ $status -eq 0 ] && echo "ok   robot"
exit $status
