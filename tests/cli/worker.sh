#!/bin/sh
# hopscotch.worker, which makes a function in Python a worker of `model: command`: what a function may return, raise,
# print and read, and the example of experiments/README.md.
. "$(dirname "$0")/../scratch.sh"
with_python "hopscotch.worker" || exit 0
export PYTHONPATH="$root/runner/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1

# ---- the example of the page -----------------------------------------------------------------------------------------

# block LANGUAGE TEXT: the block of the page in that language that has a line TEXT
block()
{
    awk -v fence="\`\`\`$1" -v wanted="$2" '
        $0 == fence { inside = 1; text = ""; found = 0; next }
        /^```/ { if (inside && found) { printf "%s", text; exit } inside = 0 }
        inside { text = text $0 "\n"; found = found || $0 == wanted }' "$root/experiments/README.md"
}
block python "# simulate.py" >simulate.py
block yaml "experiment: mine" >mine.yaml
works run mine.yaml --allow-programs --progress none
works verify mine --allow-programs --progress none
run query mine --where "error < 0.01" --columns gain --format csv && [ "$(wc -l <out)" -gt 1 ]
check $? "the example of the page finds the gain 2"
works replay mine/best --allow-programs
has "the same to the bit"

# ---- what a function may do ------------------------------------------------------------------------------------------

cat >own.py <<'END'
import os
import subprocess
import sys

from hopscotch.worker import Failure

try:
    from numpy import float64, bool_, int32
except ImportError:
    float64, bool_, int32 = float, bool, int

VERSION = "own 3"


def simulate(mode, seed, trajectory, trial, replicate):
    assert seed == int(seed) and replicate == 0 and trial >= 0
    if mode == 1:
        raise Failure("fell", {"y": 3.0})
    if mode == 2:
        raise ValueError("a wrong value")
    if mode == 3:
        print("printed by the simulator")
        os.write(1, b"written by it\n")
    if mode == 4:
        return {"y": float64(2.5), "z": int32(7)}
    if mode == 5:
        return {"y": float("inf"), "z": 0}
    if mode == 6:
        return {"y": float64("nan"), "z": 0}
    if mode == 7:  # what it reads, or a program that it starts, is no request
        assert sys.stdin.read() == "" and subprocess.run(["cat"], capture_output=True).stdout == b""
    if mode == 8:
        return {"y": 1.0}
    if mode == 9:
        raise Failure("flew")
    if mode == 10:
        return {"y": "a text", "z": 0}
    if mode == 11:
        return {"y": bool_(True), "z": float64(0)}, {"time": [0, 1], "x": [float64(1), float("nan")]}
    if mode == 12:
        sys.exit(3)
    metrics = {"y": 1.0, "z": mode}
    return (metrics, {"time": [0, 0.5, 1], "x": (0, 1, 2)}) if trajectory else metrics


def other(mode):
    return {"y": 2 * mode, "z": 0}
END
cat >own.yaml <<'END'
version: 1
experiment: own
model: command
simulation: {program: [python3, -m, hopscotch.worker, own.py], timeout: 20s}
parameters: {mode: {range: [0, 100]}}
metrics: [y, z]
objective: {minimize: y}
failures: [fell]
columns: {x: m}
search: {method: grid, over: {mode: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}}
END
works run own.yaml --allow-programs --progress none
cat >expected <<'END'
0,none,1
1,fell,3
2,crashed,
3,none,1
4,none,2.5
5,protocol,
6,protocol,
7,none,1
8,protocol,
9,protocol,
10,crashed,
11,none,1
12,crashed,
END
"$HOPSCOTCH" query own --columns mode,failure,y --order mode --format csv 2>err | sed 1d >out
diff expected out >>err
check $? "each mode is a value or a failure of its own trial"
for text in "printed by the simulator" "written by it" "ValueError: a wrong value" \
    "the spec declares no failure 'flew'" "metric 'y' is not a finite number" "metric 'z' is missing"; do
    has "$text" results/own/workers.log
done
run replay own/0 --allow-programs -o motion.csv && cat >expected <<'END' && cmp -s expected motion.csv
time,x
0,0
0.5,1
1,2
END
check $? "a trajectory"
works replay own/11 --allow-programs -o motion.csv
works run own.yaml --name other --set 'simulation.program=[python3, -m, hopscotch.worker, own.py, other]' \
    --set search.over.mode=[3] --allow-programs --progress none
[ "$("$HOPSCOTCH" query other --columns y --format csv | sed 1d)" = 6 ]
check $? "another function of the file"

# ---- its version -----------------------------------------------------------------------------------------------------

sed -i 's/own 3/own 4/' own.py
refused resume own --retry crashed --allow-programs --progress none
has "the program has version 'own 4', but own was computed by 'own 3'" err
works run own.yaml --name dated --set limits.trials=1 --allow-programs --progress none
sed -i '/^VERSION/d' own.py
refused resume dated --set limits.trials=none --allow-programs --progress none
has "the program has version 'sha256:" err

# ---- wrong calls -----------------------------------------------------------------------------------------------------

worker() { python3 -m hopscotch.worker "$@" >out 2>err; }
worker </dev/null
expect $? 1 "a worker without a file"
has "usage: python3 -m hopscotch.worker simulate.py [FUNCTION]" err
worker own.py nothing </dev/null
expect $? 1 "a function that is not there"
has "own.py has no function nothing" err
echo '{"hello": 2}' | worker own.py
expect $? 1 "another protocol"
has "hopscotch speaks version 2 of the protocol, and this worker 1" err

# ---- hopscotch.run ---------------------------------------------------------------------------------------------------

with_python "hopscotch.run" numpy || exit $status
cat >runs.py <<'END'
import hopscotch

few = {"search.over.mode": [3, 4]}
try:
    hopscotch.run("own.yaml", name="by_python", settings=few, progress=False)
except hopscotch.Error as error:
    assert "this would run `python3 -m hopscotch.worker own.py` in " in str(error), error
    assert "add --allow-programs" in str(error), error
else:
    raise SystemExit("it ran without permission")
campaign = hopscotch.run("own.yaml", name="by_python", settings=few, progress=False, allow_programs=True)
assert list(campaign.trials()["y"]) == [1.0, 2.5]
END
python3 runs.py >out 2>err
check $? "hopscotch.run refuses a program unless it is allowed"
exit $status
