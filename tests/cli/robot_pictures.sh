#!/bin/sh
# Pictures of robots: a page has the poses of all bodies, also of those on balls and of a second free body; poses side
# by side; the ground; a page of a humanoid is small.
. "$(dirname "$0")/../scratch.sh"
fail()
{
    echo "FAIL robot_pictures: $*"
    status=1
}
run() { "$HOPSCOTCH" run "$@" --results r --backend cpu --progress none >log 2>&1 || fail "run $1: $(cat log)"; }

cat >zoo.xml <<'XML'
<mujoco model="zoo">
  <worldbody>
    <body name="trunk" pos="0 0 0.6">
      <freejoint/>
      <geom type="box" size="0.2 0.1 0.05"/>
      <body name="thigh" pos="0.1 0.1 -0.05"><joint name="hip" type="ball" damping="0.05"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0 0.1 -0.25"/>
        <body name="shin" pos="0 0.1 -0.25"><joint name="knee" axis="0 1 0" damping="0.1"/>
          <geom type="cylinder" size="0.03 0.1" pos="0 0 -0.1"/></body></body>
      <body name="mast" pos="-0.1 0 0.05"><joint name="lift" type="slide" axis="0 0 1" stiffness="50" damping="2"/>
        <geom type="ellipsoid" size="0.05 0.03 0.1" pos="0 0 0.1" contype="0" conaffinity="0"/></body>
    </body>
    <body name="stone" pos="0.6 -0.3 0.5" quat="0.8 0.6 0 0"><freejoint/>
      <geom type="box" size="0.1 0.08 0.06"/></body>
  </worldbody>
</mujoco>
XML
cat >zoo.yaml <<'YAML'
version: 1
experiment: zoo
model: articulated
simulation: {robot: zoo.xml, dt: 0.002, duration: 0.8, terrain: steps, control: {mode: gait}}
parameters: {terrain_height: 0.05, terrain_length: 0.4, terrain_start: -0.3, gait_frequency: 4, knee_kp: 1,
  knee_kd: 0.1}
objective: {maximize: distance}
search: {method: grid, over: {base_vx: [0, 1]}}
YAML
run zoo.yaml
"$HOPSCOTCH" replay zoo/1 --results r --html zoo.html --svg zoo.svg -o zoo.csv >log 2>&1 || fail "replay: $(cat log)"
"$HOPSCOTCH" replay zoo/0 zoo/1 --results r --html pair.html >log 2>&1 || fail "replay of two: $(cat log)"
"$HOPSCOTCH" report zoo --results r -o report.html >log 2>&1 || fail "report: $(cat log)"
"$HOPSCOTCH" replay zoo/1 --results r --terminal >stills 2>&1 || fail "terminal: $(cat stills)"
[ "$(grep -c ' s  ' stills)" -eq 5 ] || fail "stills: $(cat stills)"

cat >look.py <<'PY'
import base64, csv, json, math, re, struct, sys
import xml.dom.minidom

def check(name, good, *more):
    if not good:
        print("FAIL robot_pictures:", name, *more)
        sys.exit(1)

def motions(page):
    return json.loads(re.search(r'id="motions">(.*?)</script>', open(page).read(), re.S).group(1))

one, = motions("zoo.html")
rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(open("zoo.csv"))]
row = {round(row["time"], 6): row for row in rows}
raw, n = base64.b64decode(one["poses"]), len(one["scale"])
numbers = struct.unpack(f"<{len(raw) // 2}h", raw)
check("a pose of each body in each frame", n == 5 and len(numbers) == 7 * n * len(one["time"]), n, len(numbers))
check("frames reach from the start to nearly the end", one["time"][0] == 0 and one["time"][-1] > 0.78, one["time"])
check("what the solids are", [solid["kind"] for solid in one["solids"]] ==
      ["box", "capsule", "cylinder", "ball", "box"], one["solids"])
for frame, time in enumerate(one["time"]):
    at, base = row[round(time, 6)], one["base"][3 * frame:3 * frame + 3]
    def body(b):
        of = [x / 32767 for x in numbers[7 * (frame * n + b):7 * (frame * n + b) + 7]]
        return [p + q * one["reach"] for p, q in zip(base, of)], of[3:]
    for b, name in ((0, "base"), (4, "stone")):
        p, q = body(b)
        error = max(abs(p[k] - at[f"{name}_{axis}"]) for k, axis in enumerate("xyz"))
        check(f"where {name} is at {time}", error < 2e-4, p, at)
        same = sum(q[k] * at[f"{name}_q{axis}"] for k, axis in enumerate("xyzw"))
        check(f"how {name} is turned at {time}", abs(abs(same) - 1) < 1e-3, q, same)
    def times(p, q):
        x, y, z, w = p
        a, b, c, d = q
        return [w * a + x * d + y * c - z * b, w * b + y * d + z * a - x * c, w * c + z * d + x * b - y * a,
                w * d - x * a - y * b - z * c]
    hip = [at[f"hip_q{axis}"] for axis in "xyzw"]
    same = sum(a * b for a, b in zip(times(body(0)[1], hip), body(1)[1]))
    check(f"how the ball is turned at {time}", abs(abs(same) - 1) < 1e-3, same)
check("the ball turns", min(abs(at["hip_qw"]) for at in rows) < 0.999)
ground = one["ground"]
def height(x):
    level, along = math.floor((x + 0.3) / 0.4), (x + 0.3) / 0.4 % 1
    u = max(10 * along - 9, 0)
    return 0 if x < -0.3 else 0.05 * (level + u * u * (3 - 2 * u))
for k, z in enumerate(ground["height"]):
    check("the ground", abs(z - height(ground["from"] + k * ground["step"])) < 1e-4, k, z)
check("the ground is as long as the motion", ground["from"] < -1 and ground["from"] +
      ground["step"] * len(ground["height"]) > 2, ground["from"])
check("two motions", [len(motion["solids"]) for motion in motions("pair.html")] == [5, 5])
check("the report has the motion", len(motions("report.html")[0]["solids"]) == 5)

picture = open("zoo.svg").read()
xml.dom.minidom.parseString(picture)
panel = re.search(r"One cycle of the motion.*?</svg>", picture, re.S).group(0)
times = [float(time) for time in re.findall(r">([0-9.]+) s<", panel)]
check("nine poses of the last cycle", len(times) == 9 and times[0] == 0.55 and times[-1] == 0.8, times)
faces = {name: len(re.findall(rf'class="{name}-', panel)) for name in ("body", "leg", "foot")}
check("all faces that are seen", faces == {"body": 27, "leg": 18, "foot": 45}, faces)
report = re.search(r"One cycle of the motion.*?</svg>", open("report.html").read(), re.S).group(0)
check("the report has the poses", len(re.findall(r'class="body-', report)) == 27)
points = re.findall(r'class="(?:body|leg|foot)-[a-z]+" d="M([-0-9.]+) ([-0-9.]+)', panel)
check("all within the panel", all(-2 < float(x) < 900 and 0 < float(y) < 300 for x, y in points), points)
PY
if with_python "what is in the pages"; then python3 look.py || status=1; fi

# without a gait: all of the motion; a robot that is fixed to the world has its base drawn
printf '%s\n' 'version: 1' 'experiment: arm' 'model: articulated' \
    'simulation: {robot: zoo.xml, duration: 0.5, base: fixed}' 'search: {method: grid, over: {gravity: [9]}}' \
    'objective: {minimize: energy}' >arm.yaml
sed '/name="stone"/,/geom/d' zoo.xml >arm.xml
run arm.yaml --set simulation.robot=arm.xml
"$HOPSCOTCH" replay arm/0 --results r --html arm.html --svg arm.svg >log 2>&1 || fail "arm: $(cat log)"
grep -q 'The motion<' arm.svg && grep -q '>0.000 s<' arm.svg && grep -q '>0.500 s<' arm.svg || fail "not all of it"
grep -q '"body":-1' arm.html && grep -q '"fixed":true' arm.html || fail "an arm without what it stands on"

# trajectories of a robot are whole
"$HOPSCOTCH" replay zoo/0 --results r --bodies stone -o x.csv >log 2>&1 && fail "bodies of a robot"
grep -q -e '--bodies: columns of model articulated belong to the whole robot: leave --bodies out' log ||
    fail "bodies: $(cat log)"

# a robot with too many columns
awk 'BEGIN {
    print "<mujoco><worldbody><geom type=\"plane\" size=\"1 1 1\"/>"
    print "<body name=\"hub\" pos=\"0 0 3\"><freejoint/><geom size=\"0.1\"/>"
    for (chain = 0; chain < 10; chain++) {
        for (i = 0; i < 100; i++) {
            printf("<body name=\"b%d_%d\" pos=\"0.1 0 0\"><joint name=\"j%d_%d\"/>", chain, i, chain, i)
            print "<geom size=\"0.02\"/>"
        }
        for (i = 0; i < 100; i++) print "</body>"
    }
    print "</body></worldbody></mujoco>"
}' >many.xml
"$HOPSCOTCH" check arm.yaml --set simulation.robot=many.xml --set simulation.base=file >log 2>&1 &&
    fail "a robot of 5015 columns"
grep -q 'error: a trajectory of these bodies has 5015 columns, at most 4000 are allowed$' log ||
    fail "columns: $(cat log)"

# a humanoid
g1="$root/../shared/data/g1/unitree_mujoco_g1_29dof.xml"
if [ -r "$g1" ]; then
    cp "$g1" g1.xml
    printf '%s\n' 'version: 1' 'experiment: g1' 'model: articulated' \
        'simulation: {robot: g1.xml, dt: 0.002, duration: 12, ignore: [mesh], control: {mode: gait}}' \
        'parameters: {all_kp: 200, all_kd: 5}' 'search: {method: grid, over: {all_amplitude: [0.1]}}' \
        'objective: {maximize: distance}' >g1.yaml
    run g1.yaml
    "$HOPSCOTCH" replay g1/0 --results r --html g1.html >log 2>&1 || fail "replay of a humanoid: $(cat log)"
    [ "$(wc -c <g1.html)" -lt 2000000 ] || fail "the page of a humanoid has $(wc -c <g1.html) bytes"
else
    skip "the page of a humanoid" "its file, which is no part of the program" "../shared/data/g1"
fi
[ $status -eq 0 ] && echo "ok   robot_pictures"
exit $status
