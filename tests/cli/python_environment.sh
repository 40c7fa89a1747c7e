#!/bin/sh
# Environments in Python (runner/python): Gymnasium's own checks; the same numbers as single environments that Gymnasium
# steps one by one, in every way to begin again; arrays without a copy; clear errors; nothing leaks; the example of the
# page.
. "$(dirname "$0")/../scratch.sh"
with_python "environments in Python" numpy gymnasium || exit 0
library=${HOPSCOTCH_LIBRARY:-$(dirname "$HOPSCOTCH")/libhopscotch.so}
[ -e "$library" ] || { echo "skip $suite: needs $library" && exit 0; }
export PYTHONPATH="$root/runner/python" PYTHONDONTWRITEBYTECODE=1 HOPSCOTCH_LIBRARY="$library"
cp "$root/experiments/hopper_env.yaml" .

python3 -W ignore - >log 2>&1 <<'END'
import gc
import resource

import gymnasium
import hopscotch
import numpy
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

SPEC = "hopper_env.yaml"
short = {"simulation.duration": 0.3, "simulation.settle": 0.1}
check_env(hopscotch.Env(SPEC), skip_render_check=True)
print("good Gymnasium's checker")


def same(a, b, what):
    assert numpy.array_equal(a, b, equal_nan=True), (what, a, b)


# The hopper falls, and episodes are cut after 0.3 s.
def compare(mode):
    lanes, steps = 7, 150
    ours = hopscotch.VectorEnv(SPEC, lanes, "cpu", autoreset=mode, settings=short)
    theirs = SyncVectorEnv([lambda: hopscotch.Env(SPEC, settings=short)] * lanes,
                           autoreset_mode=AutoresetMode[mode.upper()])
    same(ours.reset(seed=40)[0], theirs.reset(seed=40)[0], "reset")
    ours.action_space.seed(3)
    ended = 0
    for step in range(steps):
        actions = ours.action_space.sample()
        if step % 40 < 25:  # tilts it until it falls
            actions[::2, 1] = 60.0
        mine, other = ours.step(actions), theirs.step(actions)
        for k, what in enumerate(("observation", "reward", "terminated", "truncated")):
            same(mine[k], other[k], (mode, step, what))
        over = mine[2] | mine[3]
        ended += over.sum()
        if mode == "same_step" and over.any():
            same(mine[4]["_final_obs"], other[4]["_final_obs"], "mask")
            for lane in numpy.flatnonzero(over):
                same(mine[4]["final_obs"][lane], other[4]["final_obs"][lane], "last observation")
        if mode == "disabled" and over.any():
            options = {"reset_mask": over}
            same(ours.reset(options=dict(options))[0], theirs.reset(options=dict(options))[0], "mask of a reset")
    assert ended > 20, ended
    ours.close()
    theirs.close()


for mode in ("next_step", "same_step", "disabled"):
    compare(mode)
print("good stepped together as one by one, in every way to begin again")

# any number of lanes; floats of half the size; the seed alone counts
few, many = (hopscotch.VectorEnv(SPEC, n, "cpu", dtype=kind) for n, kind in ((3, "float64"), (100, "float32")))
a, b = few.reset(seed=7)[0], many.reset(seed=7)[0]
assert b.dtype == numpy.float32 and numpy.array_equal(a.astype("float32"), b[:3])
for _ in range(30):
    a, b = few.step(numpy.full((3, 2), 8.0))[0], many.step(numpy.full((100, 2), 8.0))[0]
    assert numpy.array_equal(a.astype("float32"), b[:3])
assert [row[0] for row in few.actions] == ["u1", "u2"] and few.failures[:2] == ["none", "fell"], few.failures
print("good any number of lanes, both kinds of floats")

# arrays without a copy
shared = hopscotch.VectorEnv(SPEC, 5, "cpu", arrays=numpy.from_dlpack)
first, _ = shared.reset(seed=1)
before = first.copy()
second = shared.array(0)
try:
    shared.step(numpy.zeros((5, 2)))
except (ValueError, TypeError) as error:  # numpy takes such arrays as read only
    assert "read-only" in str(error), error
kept = shared.array(1)
shared.close()
same(kept, before, "an array outlives the environment")
del kept, first, second
print("good arrays without a copy")


def refused(kind, words, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"not refused: {words}")


env = hopscotch.VectorEnv(SPEC, 4, "cpu")
refused(hopscotch.Error, "reset", env.step, numpy.zeros((4, 2)))
env.reset()
for shape in ((4,), (4, 3), (3, 2), (2, 4), (0, 2), ()):
    refused(ValueError, "shape (4, 2)", env.step, numpy.zeros(shape))
for kind in ("complex128", "U3", "object", "bool"):
    refused(TypeError, "numbers", env.step, numpy.zeros((4, 2), kind))
refused(ValueError, "4 bool", env.reset, options={"reset_mask": numpy.zeros(4, bool)})
refused(ValueError, "4 bool", env.reset, options={"reset_mask": [True] * 4})
for seed in (-1, [1, 2], [1, 2, 3, -4], 1.5, True, 2**64):
    refused((ValueError, TypeError), "", env.reset, seed=seed)
env.step(numpy.array([[numpy.nan, numpy.inf]] * 4))
env.step(numpy.ones((4, 2), "int8"))
env.close()
env.close()
refused(hopscotch.Error, "closed", env.step, numpy.zeros((4, 2)))
refused(hopscotch.Error, "closed", env.reset)
refused(hopscotch.Error, "closed", env.episodes)
refused(ValueError, "autoreset", hopscotch.VectorEnv, SPEC, autoreset="sometimes")
refused(ValueError, "dtype", hopscotch.VectorEnv, SPEC, dtype="float16")
refused(hopscotch.Error, "lanes", hopscotch.VectorEnv, SPEC, lanes=-1)
refused(hopscotch.Error, "", hopscotch.VectorEnv, SPEC, device="abacus")
refused(hopscotch.Error, "no_such", hopscotch.VectorEnv, "no_such.yaml")
refused(hopscotch.Error, "hopper_env.yaml", hopscotch.VectorEnv, SPEC, settings={"simulation.control.mode": "raibert"})
print("good wrong arguments are errors")


# resident memory (KiB) does not grow with environments that are opened, reset at random and left
def resident():
    gc.collect()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def use(count):
    random = numpy.random.default_rng(count)
    for _ in range(count):
        env = hopscotch.VectorEnv(SPEC, 256, "cpu", autoreset="disabled", threads=1)
        env.reset(seed=1)
        for _ in range(3):
            env.step(numpy.zeros((256, 2)))
            env.reset(options={"reset_mask": random.random(256) < 0.5})
        env.episodes()


use(10)
begun = resident()
use(40)
assert resident() - begun < 4096, (begun, resident())
print("good nothing leaks")
END
ended=$?
while read -r word name; do
    [ "$word" = good ] && check 0 "$name"
done <log
[ $ended -eq 0 ]
check $? "all of it: $(grep -v '^good' log | tail -n 3 | tr '\n' ' ')"

# the example of experiments/README.md
mkdir -p experiments && cp hopper_env.yaml experiments
awk '/^```python/ { inside = 1; text = ""; next }
     /^```/ && inside { inside = 0; if (text ~ /VectorEnv/) printf "%s", text }
     inside { text = text $0 "\n" }' "$root/experiments/README.md" >example.py
echo 'assert observations.shape == (64, 11) and rewards.shape == (64,), observations.shape' >>example.py
[ "$(wc -l <example.py)" -ge 6 ] && python3 -W ignore example.py >out 2>err
check $? "the example in experiments/README.md"
exit $status
