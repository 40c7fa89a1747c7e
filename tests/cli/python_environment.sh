#!/bin/sh
# Environments in Python (runner/python): Gymnasium's own checks; the same numbers as single environments that Gymnasium
# steps one by one, in every way to begin again; arrays without a copy, also of torch; clear errors; nothing leaks; the
# example of the page.
. "$(dirname "$0")/../scratch.sh"
with_python "environments in Python" numpy gymnasium || exit 0
library=${HOPSCOTCH_LIBRARY:-$(dirname "$HOPSCOTCH")/libhopscotch.so}
lacks_program "$library" && exit 0
export PYTHONPATH="$root/tests:$root/runner/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
export HOPSCOTCH_LIBRARY="$library"
cp "$root/experiments/hopper_env.yaml" .

python3 - >log 2>&1 <<'END'
import gc
import os
import resource
import threading
import warnings

import gymnasium
import hopscotch
import numpy
from gymnasium.utils.env_checker import check_env
from environments import compare, same

SPEC = "hopper_env.yaml"
short = {"simulation.duration": 0.3, "simulation.settle": 0.1}
# What it advises against is meant: actions have units, and states no limits.
MEANT = ("symmetric and normalized space", "minimum value is -infinity", "maximum value is infinity")
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    check_env(hopscotch.Env(SPEC), skip_render_check=True)
texts = [str(warning.message) for warning in said]
assert len(texts) == 3 and all(any(words in text for text in texts) for words in MEANT), texts
print("good Gymnasium's checker")


def push(step, actions):
    if step % 40 < 25:  # tilts the hopper until it falls; episodes are cut after 0.3 s
        actions[::2, 1] = 60.0



for mode in ("next_step", "same_step", "disabled"):
    compare(SPEC, mode, 7, 150, short, 20, push)
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

# seeds of some lanes, at first and later
one = hopscotch.Env(SPEC)
env = hopscotch.VectorEnv(SPEC, 3, "cpu")
first = env.reset(seed=[11, None, 12])[0]
for lane, seed in ((0, 11), (2, 12)):
    same(first[lane], one.reset(seed=seed)[0], "a seed of a lane")
again = env.reset(seed=[None, 11, None])[0]
same(again[1], first[0], "a seed of another lane")
assert not numpy.array_equal(again[0], first[0])
print("good seeds of some lanes")

# what is observed lies in the space, whatever is drawn
env = hopscotch.VectorEnv(SPEC, 50, "cpu", settings={
    "environment.observe": ["u1", "u2", "u1_max", "x_dot_des", "z_foot"], "parameters.u1_min": numpy.float64(5),
    "replicates.perturb.u1_max": {"uniform": [50, 200]}, "simulation.duration": 0.2, "simulation.settle": 0.1})
observed = [env.reset(seed=1)[0]] + [env.step(numpy.full((50, 2), 1e9))[0] for _ in range(30)]
assert all(rows in env.observation_space for rows in observed)
assert max(rows[:, 0].max() for rows in observed) > 150 and observed[0][:, 0].max() == 0
print("good observations lie in their space")

# bounds of one's own for actions
env = hopscotch.VectorEnv(SPEC, 3, "cpu", action_bounds={"u1": (-5, 1e9)})
same(env.single_action_space.low, [-5, env.actions[1][2]], "low")
same(env.single_action_space.high, [row[3] for row in env.actions], "high")
one = hopscotch.Env(SPEC, action_bounds=(-1, 1))
assert one.action_space.low.tolist() == [-1, -1] and one.action_space.high.tolist() == [1, 1]
one.reset(seed=1)
one.step(numpy.array([9.0, 0.0]))  # is taken as it is
for wrong, text in (({"u3": (0, 1)}, "there is no action 'u3', but u1, u2"), ((1e6, 1e7), "u1 has no room")):
    try:
        hopscotch.VectorEnv(SPEC, 3, "cpu", action_bounds=wrong)
    except ValueError as error:
        assert text in str(error), error
    else:
        raise AssertionError(wrong)
print("good actions in bounds")

# arrays without a copy
plain = hopscotch.VectorEnv(SPEC, 5, "cpu", autoreset="same_step", settings=short)
shared = hopscotch.VectorEnv(SPEC, 5, "cpu", autoreset="same_step", settings=short, arrays=numpy.from_dlpack)
same(plain.reset(seed=1)[0], shared.reset(seed=1)[0], "shared")
ended = 0
for _ in range(60):
    actions = numpy.array([[0.0, 60.0]] * 2 + [[0.0, 0.0]] * 3)  # some fall
    mine, other = plain.step(actions), shared.step(actions)
    for k in range(4):
        same(mine[k], other[k], "shared")
    over = mine[2] | mine[3]
    same(over, other[4]["_final_obs"], "lanes that ended")
    for lane in numpy.flatnonzero(over):
        same(mine[4]["final_obs"][lane], other[4]["final_obs"][lane], "their last observations")
    ended += over.sum()
assert ended > 5, ended
assert mine[0].base is None and other[0] is shared.array(1)
refused_writes = 0
for kept in (plain.array(1), shared.array(1)):
    try:
        kept[0, 0] = 1.0
    except ValueError:
        refused_writes += 1
assert refused_writes == 2 and plain.array(0).flags.writeable
kept = [(env, env.array(1), env.array(1).copy()) for env in (plain, shared)]
for env, _, _ in kept:
    env.close()
gc.collect()
others = [hopscotch.VectorEnv(SPEC, 5, "cpu") for _ in range(20)]  # would take the place of what was freed
for other in others:
    other.reset(seed=2)
for _, array, before in kept:
    same(array, before, "an array outlives the environment")
del kept, array, before, mine, other, others
print("good arrays without a copy")


# what other packages have, by DLPack alone
class Foreign:
    """A tensor of another package; one that has a gradient must be detached first, as torch has it."""

    def __init__(self, array, gradient=False):
        self.array, self.gradient, self.shape, self.dtype = array, gradient, array.shape, array.dtype

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **_):
        assert not self.gradient, "not detached"
        return self.array.__dlpack__()

    def detach(self):
        return Foreign(self.array)


one, two = (hopscotch.VectorEnv(SPEC, 4, "cpu", arrays=numpy.from_dlpack) for _ in range(2))
one.reset(seed=3), two.reset(seed=3)
same(one.step(numpy.full((4, 2), 9.0))[0], two.step(Foreign(numpy.full((4, 2), 9.0), True))[0], "foreign actions")
mask = numpy.array([0, 1, 0, 1], "uint8")
same(one.reset(seed=7, options={"reset_mask": mask.astype(bool)})[0],
     two.reset(seed=7, options={"reset_mask": Foreign(mask)})[0], "foreign mask")
print("good arrays of other packages")

# another thread is inside
env = hopscotch.VectorEnv(SPEC, 5000, "cpu", threads=1, settings={"simulation.control.period": "500ms"})
env.reset()


def step_once():
    while True:
        try:
            return env._handle.call("hopscotch_env_step")
        except hopscotch.Error as error:
            assert error.code == 4, error


step = threading.Thread(target=step_once)
step.start()
busy = None
while step.is_alive() and not busy:
    try:
        env.reset()
    except hopscotch.Error as error:
        busy = error
assert busy and busy.code == 4 and "has not returned yet" in str(busy) and step.is_alive(), busy
try:
    env.close()
    raise AssertionError("closed")
except hopscotch.Error as error:
    assert error.code == 4 and "has not returned yet" in str(error) and not env.closed, error
step.join()
env.reset()
env.close()
assert env.closed and not env._handle.pointer
print("good closed while another thread steps: refused, and open")


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
for mask in (numpy.zeros(4), numpy.zeros(3, "uint8"), numpy.zeros((2, 2), "uint8"), numpy.ones(8, "uint8")[::2]):
    refused(ValueError, "4 bool", env.reset, options={"reset_mask": Foreign(mask)})
for seed in (-1, [1, 2], [1, 2, 3, -4], 1.5, True, 2**64, 2**64 - 3, "1234"):
    refused(ValueError, "seed is an integer", env.reset, seed=seed)
before = env.array(hopscotch.library.STEPS).copy()
actions = numpy.array([[1.0, numpy.inf]] * 4)
actions[2, 1] = numpy.nan
refused(hopscotch.Error, f"action {env.actions[1][0]} of environment 2 is NaN", env.step, actions)
same(before, env.array(hopscotch.library.STEPS), "nothing has changed")
env.step(numpy.array([[-numpy.inf, numpy.inf]] * 4))
for name in (-1, 12, 2**31, 2**40, 2**64, 1.0, True, None):
    refused(ValueError, "name is an integer from 0 to 11", env.array, name)
env.step(numpy.ones((4, 2), "int8"))
env.close()
env.close()
refused(hopscotch.Error, "closed", env.step, numpy.zeros((4, 2)))
refused(hopscotch.Error, "closed", env.reset)
refused(hopscotch.Error, "closed", env.episodes)
refused(ValueError, "autoreset", hopscotch.VectorEnv, SPEC, autoreset="sometimes")
refused(ValueError, "dtype", hopscotch.VectorEnv, SPEC, dtype="float16")
for lanes in (-1, 0, 2**64 + 8, 2**24 + 1, 2.0, "4", None, True):
    refused(ValueError, "lanes is an integer from 1 to 16777216", hopscotch.VectorEnv, SPEC, lanes=lanes)
for threads in (-1, 2**32 + 1, None):
    refused(ValueError, "threads is an integer", hopscotch.VectorEnv, SPEC, threads=threads)
for seed in (-1, 2**64, 1.5, True):
    refused(ValueError, "seed is an integer", hopscotch.VectorEnv, SPEC, seed=seed)
refused(hopscotch.Error, "unknown device 'abacus'", hopscotch.VectorEnv, SPEC, device="abacus")
refused(ValueError, "device is auto", hopscotch.VectorEnv, SPEC, device=None)
refused(ValueError, "zero byte", hopscotch.VectorEnv, SPEC + "\0", device="cpu")
refused(ValueError, "stream is an integer", hopscotch.VectorEnv, SPEC, device="cpu", stream=-1)
refused(TypeError, "settings is a dict", hopscotch.VectorEnv, SPEC, settings=["seed=1"])
refused(hopscotch.Error, "spec:1:1: error: model is missing", hopscotch.VectorEnv, {"version": 1, "experiment": "x"})
refused(hopscotch.Error, "no_such", hopscotch.VectorEnv, "no_such.yaml")
refused(hopscotch.Error, "hopper_env.yaml", hopscotch.VectorEnv, SPEC, settings={"simulation.control.mode": "raibert"})
print("good wrong arguments are errors")

# A lane that this step begins or leaves alone needs no action: next_step and disabled.
for mode in ("next_step", "disabled"):
    settings = {"simulation.duration": 0.02, "simulation.settle": 0}
    env = hopscotch.VectorEnv(SPEC, 2, "cpu", autoreset=mode, settings=settings)
    env.reset()
    while not env.step(numpy.zeros((2, 2)))[3].all():
        pass
    env.step(numpy.full((2, 2), numpy.nan))
    env.close()
print("good actions that are not used may be NaN")

# A reward and a condition see what the episode drew.
env = hopscotch.VectorEnv(SPEC, 16, "cpu", settings={"environment.reward": "x_dot_des",
                                                     "environment.terminate": "x_dot_des > 1.5"})
env.reset()
drawn = env.parameters()
_, rewards, terminated, _, _ = env.step(numpy.zeros((16, 2)))
column = [k for k in range(drawn.shape[1]) if numpy.array_equal(drawn[:, k], rewards)]
assert len(column) == 1 and numpy.array_equal(terminated, drawn[:, column[0]] > 1.5) and 0 < terminated.sum() < 16
env.close()
print("good a reward sees what was drawn")

# A searched parameter has the value of the only trial; of several trials none is taken.
with open(SPEC) as file:
    text = file.read()
with open("searched.yaml", "w") as file:
    file.write(text + """search:
  method: grid
  over:
    g: [5]
    l_2: {derive: "0.1 * g"}
""")
env = hopscotch.VectorEnv("searched.yaml", 2, "cpu")
env.reset()
assert (env.parameters() == 5.0).any(axis=1).all() and (env.parameters() == 0.5).any(axis=1).all()
env.close()
with open("searched.yaml") as file:
    line = next(number for number, words in enumerate(file, 1) if "g: [5]" in words)
with open("searched.yaml") as file, open("several.yaml", "w") as several:
    several.write(file.read().replace("g: [5]", "g: [5, 6]"))
refused(hopscotch.Error, f"several.yaml:{line}:5: error: g is searched, and an environment takes one value",
        hopscotch.VectorEnv, "several.yaml", device="cpu")
hopscotch.VectorEnv("several.yaml", device="cpu", settings={"search.over.g": [6]}).close()
refused(hopscotch.Error, "is searched", hopscotch.VectorEnv, "searched.yaml",
        settings={"search": {"method": "cmaes", "over": {"g": {"range": [5, 6]}}}})
print("good an environment of a search")

# a spec as a dict, with numbers of numpy; a name that is no UTF-8
spec = {"version": 1, "experiment": "own", "model": "hopper",
        "simulation": {"duration": numpy.float64(1), "settle": 0.5, "control": {"mode": "external", "period": 0.01}},
        "environment": {"observe": ["z_foot", "phi_leg"], "reward": "-failed"}}
assert hopscotch.VectorEnv(spec, 2, "cpu").reset(seed=1)[0].shape == (2, 2)
assert [name for name in os.listdir(".") if name.startswith(".spec-")] == []
os.link(SPEC, b"\xff.yaml")
for name in (b"\xff.yaml", os.fsdecode(b"\xff.yaml")):
    assert hopscotch.VectorEnv(name, 2, "cpu").num_envs == 2
print("good a spec as a dict, and any name of a file")


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
if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # which keeps what is freed
    assert resident() - begun < 4096, (begun, resident())
print("good nothing leaks")
END
ended=$?
while read -r word name; do
    [ "$word" = good ] && check 0 "$name"
done <log
[ $ended -eq 0 ]
check $? "all of it: $(grep -v '^good' log | tail -n 3 | tr '\n' ' ')"

# torch: its tensors are the arrays of an environment; on a GPU where there is one
if with_python "environments in torch" torch; then
    python3 - >out 2>err <<'END'
import hopscotch
import torch

devices = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
for device in devices:
    env, plain = (hopscotch.VectorEnv("hopper_env.yaml", 6, d, autoreset="disabled", arrays=a)
                  for d, a in ((device, torch.from_dlpack), ("cpu", None)))
    first, _ = env.reset(seed=3)
    assert first.device.type == device and first.tolist() == plain.reset(seed=3)[0].tolist()
    weight = torch.full((6, 2), 30.0, dtype=torch.float64, device=device, requires_grad=True)
    for _ in range(40):
        rows = env.step(weight * 2)[0]
        same = plain.step((weight * 2).detach().cpu().numpy())[0]
        assert not rows.requires_grad and rows.tolist() == same.tolist()
    assert env.step((weight * 2).float())[0].tolist() == plain.step((weight * 2).detach().cpu().numpy())[0].tolist()
    for mask in (torch.tensor([1, 0, 1, 0, 0, 0], dtype=torch.uint8), torch.tensor([True] * 2 + [False] * 4)):
        rows = env.reset(options={"reset_mask": mask.to(device)})[0]
        assert rows.tolist() == plain.reset(options={"reset_mask": mask.numpy().astype(bool)})[0].tolist()
    for kind in (torch.bool, torch.complex64):
        try:
            env.step(torch.zeros((6, 2), dtype=kind, device=device))
            raise AssertionError(kind)
        except TypeError as error:
            assert "real numbers" in str(error), error
    kept, before = rows, rows.clone()
    env.close()
    assert torch.equal(kept, before)
print(*devices)
END
    check $? "tensors of torch, on: $(tail -n 1 out)"
fi

# the example of experiments/README.md
mkdir -p experiments && cp hopper_env.yaml experiments
awk '/^```python/ { inside = 1; text = ""; next }
     /^```/ && inside { inside = 0; if (text ~ /VectorEnv/) printf "%s", text }
     inside { text = text $0 "\n" }' "$root/experiments/README.md" >example.py
echo 'assert observations.shape == (64, 11) and rewards.shape == (64,), observations.shape' >>example.py
[ "$(wc -l <example.py)" -ge 6 ] && python3 -W ignore example.py >out 2>err
check $? "the example in experiments/README.md"
exit $status
