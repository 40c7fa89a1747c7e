#!/bin/sh
# hopscotch.run(spec, function=f): a function of the calling process is the program of `model: command`. What it may do,
# how its workers end, and what changes no result. list, verify, compare, units, the names of errors. Nothing here needs
# numpy, and only arrays do.
. "$(dirname "$0")/../scratch.sh"
with_python "functions as programs" || exit 0
mkdir without
echo 'raise ModuleNotFoundError("No module named '"'numpy'"'", name="numpy")' >without/numpy.py
export PYTHONPATH="$work/without:$root/runner/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
export TMPDIR="$work/tmp"
mkdir tmp

cat >common.py <<'END2'
import hopscotch

SPEC = {"version": 1, "experiment": "fun", "model": "command", "simulation": {"workers": 3, "timeout": 20},
        "parameters": {"mode": {"value": 0, "unit": "kg"}, "gain": {"range": [0, 10]}},
        "metrics": {"error": "m", "energy": "J"}, "failures": ["fell"], "columns": {"x": "m/s"},
        "search": {"method": "grid", "over": {"mode": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}},
        "objective": {"minimize": "error"}}


def rows(campaign, columns="id, mode, failure, error"):
    return [tuple(row.values()) for row in campaign.query(f"SELECT {columns} FROM trials ORDER BY id")]


def refused(kind, text, function, *arguments, **words):
    try:
        function(*arguments, **words)
    except hopscotch.Error as error:
        assert error.name == kind and text in str(error), (kind, text, error.name, str(error))
        return
    raise AssertionError(text)
END2
good() { grep -q "^good $1" log; check $? "$1"; }

cat >first.py <<'END2'
import os
import sys
import time
import warnings

import hopscotch
from common import SPEC, refused, rows

offset = 2.0  # the function has what it refers to


def simulate(p, seed, trajectory, trial, replicate):
    mode = p["mode"]
    assert set(p) == {"mode", "gain"} and trial >= 0 and replicate >= 0 and seed == int(seed)
    if mode == 1:
        raise hopscotch.Failure("fell", {"error": 3})
    if mode == 2:
        raise ValueError("two is wrong: \x1b[31m")
    if mode == 3:
        os.kill(os.getpid(), 9)
    if mode == 4:
        sys.exit(3)
    if mode == 5:
        time.sleep(1000)
    if mode == 6:
        print("printed by the function")
        os.write(1, b"written by it\n")
        assert sys.stdin.read() == ""
    if mode == 7:
        return {"error": float("nan"), "energy": 0}
    if mode == 8:
        return {"error": 1}
    metrics = {"error": abs(mode - offset), "energy": p["gain"]}
    return (metrics, {"time": [0, 1], "x": [0, mode]}) if trajectory else metrics


def watched(p):
    if p["mode"] == 5:
        with open("slow", "w") as file:
            file.write(str(os.getpid()))
        time.sleep(1000)
    for _ in range(150):
        try:
            os.kill(int(open("slow").read()), 0)
        except ProcessLookupError:
            return {"error": 0, "energy": 0}
        time.sleep(0.01)
    return {"error": 0}


if __name__ == "__main__":
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        campaign = hopscotch.run(SPEC, function=simulate, progress=False, settings={"simulation.timeout": 1.5})
    assert rows(campaign, "mode, failure, error") == [
        (0, "none", 2), (1, "fell", 3), (2, "crashed", None), (3, "crashed", None), (4, "crashed", None),
        (5, "timeout", None), (6, "none", 4), (7, "protocol", None), (8, "protocol", None), (9, "none", 7)], \
        rows(campaign)
    print("good a function's trials are values or failures of their own")
    raised = campaign.raised
    assert raised == [{"trial": 2, "replicate": 0, "text": "ValueError: two is wrong: \x1b[31m"}], raised
    assert len(said) == 1 and said[0].category is RuntimeWarning and said[0].filename == __file__, said
    assert "raised exceptions in 1 trial," in str(said[0].message) and "in trial 2: ValueError" in str(said[0].message)
    log = open("results/fun/workers.log").read()
    for text in ("printed by the function", "written by it", "ValueError: two is wrong", "signal 9", "exit code 3"):
        assert text in log, (text, log)
    print("good the text of an exception is a warning, and in workers.log")

    # the same call continues
    assert rows(hopscotch.run(SPEC, function=simulate, progress=False, settings={"simulation.timeout": 1.5})) == \
        rows(campaign)
    alone = hopscotch.run(SPEC, name="alone", function=watched, progress=False, settings={
        "search.over.mode": [5, 9], "simulation.timeout": 2, "simulation.workers": 1})
    assert rows(alone, "failure") == [("timeout",), ("none",)], rows(alone)
    print("good a worker that is too slow is killed at once")
    verified = campaign.verify(seeds=3, options=["--grid", "0", "--gains", "0", "--physics", "0"])
    assert verified["runs"] == verified["succeeded"] == 3 and verified["fitness"]["value"] == 2, verified
    assert hopscotch.verify("results/fun", seeds=4, function=simulate)["verified_trial"] == 0
    refused("request", "--allow-programs", hopscotch.verify, "results/fun", seeds=5)
    refused("request", "the trials are runs of the function simulate in Python", hopscotch.verify, "results/fun",
            seeds=5, allow_programs=True)
    print("good verify calls the function again")

    assert hopscotch.units(campaign) == campaign.units() == hopscotch.units("results/fun") == {
        "mode": "kg", "gain": "1", "error": "m", "energy": "J", "time": "s", "x": "m/s"}, campaign.units()
    listed = hopscotch.list()
    assert [row["campaign"] for row in listed] == ["alone", "fun"] and listed[0]["method"] == "grid", listed
    assert hopscotch.list(state="running") == [] and hopscotch.list(tag=["a", "b"]) == []
    listed = hopscotch.list(all=True)
    assert listed[2]["campaign"] == "fun/verify/trial_0", listed
    other = hopscotch.run(SPEC, name="other", function=simulate, progress=False,
                          settings={"search.over.mode": [9, 6], "simulation.timeout": 1.5})
    said = hopscotch.compare(campaign, other, seeds=5)
    assert [side["best_fitness"] for side in said["campaigns"]] == [2, 4], said
    assert said["comparisons"][0]["difference"]["value"] == 2, said
    print("good list, units and compare")

    assert {"list", "verify", "compare", "units", "run", "open", "Env", "Failure", "Error"} <= set(dir(hopscotch))
    assert set(hopscotch.__all__) <= set(dir(hopscotch))
    print("good completion knows all names")
    refused("request", "spec:1:", hopscotch.run, {"version": 1}, progress=False)
    refused("usage", "--top", hopscotch.program.call, "best", "fun", "--top", "none")
    refused("package", "arrays need the package numpy", campaign.trials)
    refused("package", "arrays need the package numpy", campaign.trajectory, 0)
    assert hopscotch.Error("x", 3).name == "machine" and hopscotch.Error("x", 130).name == "stopped"
    print("good errors have names")

    by_name = hopscotch.run(SPEC, name="by_name", progress=False,
                            function=lambda mode, gain, seed: {"error": mode + gain, "energy": seed})
    assert [row[3] for row in rows(by_name)] == list(range(10)) and not by_name.raised
    try:
        hopscotch.Env
    except AttributeError:  # without gymnasium, help(hopscotch) goes on
        pass
    print("good parameters by name, and help without gymnasium")

    swept = hopscotch.run({**SPEC, "sweep": {"seed": [1, 2]}}, name="swept", progress=False,
                          function=lambda p, seed: {"error": seed, "energy": 0})
    assert [campaign.name for campaign in swept] == ["swept.seed_1", "swept.seed_2"]
    assert rows(swept[0], "error") != rows(swept[1], "error")
    print("good a sweep is a list of campaigns")

    for wrong in (3, lambda: {}, lambda *, p: {}):
        try:
            hopscotch.run(SPEC, name="wrong", function=wrong)
        except TypeError as error:
            assert "function " in str(error), error
        else:
            raise AssertionError(wrong)
    assert not os.path.exists("results/wrong")
    print("good a function that can't be called so is refused at once")
END2
python3 first.py >log 2>&1 || { cat log && status=1; }
for what in "a function's trials are values or failures of their own" \
    "the text of an exception is a warning, and in workers.log" \
    "a worker that is too slow is killed at once" "verify calls the function again" \
    "list, units and compare" "completion knows all names" "errors have names" \
    "parameters by name, and help without gymnasium" "a sweep is a list of campaigns" \
    "a function that can't be called so is refused at once"; do good "$what"; done

# The example of the page, and the command line.
awk '$0 == "```python" { inside = 1; text = ""; found = 0; next }
    /^```/ { if (inside && found) { printf "%s", text; exit } inside = 0 }
    inside { text = text $0 "\n"; found = found || $0 == "# mine.py" }' "$root/experiments/README.md" >mine.py
python3 mine.py >out 2>err && grep -q '^[12]\.[0-9]* 1\(\.0\)\?$' out
check $? "the example of the page"
works best mine
refused replay mine/best
has "this would run \`python3 -m hopscotch.function f\`" err
refused replay mine/best --allow-programs
has "the trials are runs of the function f in Python: run them from there, with function=f" err

# ---- what changes no result ------------------------------------------------------------------------------------------

cat >second.py <<'END2'
import functools
import random
import sys
import threading

import hopscotch
from common import SPEC, refused, rows

learns = {"search": {"method": "cmaes", "over": {"gain": {"range": [0, 10]}},
                     "cmaes": {"stop": {"generations": 6}}}, "replicates.count": 2}


def noisy(p, seed):
    return {"error": (p["gain"] - 3) ** 2 + random.Random(int(seed)).random(), "energy": 0}


class Model:
    def __init__(self, best):
        self.best = best

    def __call__(self, p, seed):
        return noisy({"gain": p["gain"] if self.best == 3 else self.best}, seed)


def run(name, function, workers, **words):
    return hopscotch.run(SPEC, name=name, function=function, progress=False,
                         settings={**learns, "simulation.workers": workers, **words})


def digest(campaign):
    return hopscotch.program.call("digest", campaign.name).split()[0]


one, three = run("one", noisy, 1), run("three", noisy, 3)
assert digest(one) == digest(three)
expected = rows(one, "id, gain, error")
assert rows(run("object", Model(3), 2), "id, gain, error") == expected
assert rows(run("part", functools.partial(lambda best, p, seed: noisy(p, seed), 3), 2), "id, gain, error") == expected
print("good one or three workers, a function or an object: the same results")

kept = threading.Event()
thread = threading.Thread(target=kept.wait, daemon=True)
thread.start()
assert rows(run("threads", lambda p, seed: noisy(p, seed), 2), "id, gain, error") == expected
print("good a caller with threads")

begun = run("begun", noisy, 1, **{"limits.trials": 8})
noisy_as_it_was = noisy


def noisy(p, seed):  # another function of the same name
    return {"error": 0, "energy": 0}


refused("request", "the program has version 'sha256:", run, "begun", noisy, 1)
noisy = noisy_as_it_was
hopscotch.run(SPEC, name="begun", function=noisy, progress=False, settings={**learns, "simulation.workers": 2,
              "limits.trials": "none"})
assert digest(begun) == digest(one)
print("good a run goes on; by another function it does not")
END2
python3 second.py >log 2>&1 || { cat log && status=1; }
for what in "one or three workers" "a caller with threads" "a run goes on; by another function it does not"; do
    good "$what"
done

# ---- a caller that is killed -----------------------------------------------------------------------------------------

cat >third.py <<'END2'
import os
import signal
import sys
import time

import hopscotch
from common import SPEC

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job of a script ignores it


def slow(p):
    with open("processes", "a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(float(os.environ["SECONDS_A_TRIAL"]))
    return {"error": p["gain"], "energy": 0}


settings = {"search.over": {"gain": {"linspace": [0, 10, 150]}}}
hopscotch.run(SPEC, name=sys.argv[1], function=slow, progress=False, settings=settings)
END2
left() { for process in $(sort -u processes) "$@"; do kill -0 "$process" 2>/dev/null && echo "$process"; done; }
gone() { [ -z "$(left)" ]; }
idle() { "$HOPSCOTCH" status "$1" --json 2>/dev/null | grep -q '"state": "[^r]'; }
begun() { [ "$(sort -u processes | wc -l)" -ge 3 ]; } # all workers are in their first trial
: >processes
export SECONDS_A_TRIAL=0.01
python3 third.py whole >log 2>&1
check $? "a run of 150 trials"
gone
check $? "no worker is left"
[ -z "$(ls tmp)" ]
check $? "nor a folder"
for signal in KILL INT; do
    : >processes
    SECONDS_A_TRIAL=0.5 python3 third.py cut$signal >log 2>&1 & # would go on for longer than the server
    pid=$!
    until_true begun
    since=$(milliseconds)
    kill -$signal $pid
    wait $pid 2>/dev/null
    pid=
    until_true gone
    check $? "a caller that gets SIG$signal leaves no worker behind"
    until_true idle cut$signal
    [ $(($(milliseconds) - since)) -lt 30000 ]
    check $? "the run ends soon ($(($(milliseconds) - since)) ms)"
    run query cut$signal --sql "SELECT count(*) FROM trials WHERE failure <> 'none'" --format csv
    [ "$(tail -n 1 out)" = 0 ]
    check $? "and no trial that failed for it"
    python3 third.py cut$signal >log 2>&1 && [ "$(digest cut$signal)" = "$(digest whole)" ]
    check $? "the same call continues, to the same digest"
done
exit $status
