#!/bin/sh
# The Python package (runner/python): arrays are what the program prints, errors are its errors, an interrupted run goes
# on, and a wheel can be made.
. "$(dirname "$0")/../scratch.sh"
with_python "the package" numpy || exit 0
export PYTHONPATH="$root/runner/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
cp "$root/experiments/smoke.yaml" .

python3 - >log 2>&1 <<'END'
import csv
import subprocess
import sys

import hopscotch
import numpy


def program(*words):
    return subprocess.run([hopscotch.program.find(), *words, "--results", "results"], capture_output=True, text=True,
                          check=True).stdout


few = {"search.over.k_fp": [100, 200, 400], "search.over.thrust": [30], "record.trajectories.select": {"best": 2}}
seen = []
campaign = hopscotch.run("smoke.yaml", settings=few, progress=seen.append)
assert seen[-1]["event"] == "finish" and campaign.status()["state"] == "done", seen
assert campaign.name == "smoke" and "experiment: smoke" in campaign.spec()
assert hopscotch.run("smoke.yaml", settings=few, progress=seen.append).path == campaign.path  # it is done already

# every column of every trial, as the program writes it
rows = list(csv.DictReader(program("query", "smoke", "--columns", "all", "--format", "csv").splitlines()))
trials = campaign.trials()
assert len(rows) == len(trials["id"]) > 100 and list(rows[0]) == list(trials)
for name, column in trials.items():
    for row, value in zip(rows, column):
        same = row[name] == value if column.dtype.kind == "U" else \
            numpy.isnan(value) if row[name] == "" else float(row[name]) == value
        assert same, (name, row["id"], row[name], value)
some = campaign.trials(where="failure = 'none'", order="fitness", columns=["id", "fitness"], limit=4)
assert list(some) == ["id", "fitness"] and (numpy.diff(some["fitness"]) >= 0).all() and len(some["id"]) == 4
best = campaign.best(3)
assert [row["id"] for row in best] == list(some["id"][:3]) and best[0]["fitness"] == some["fitness"][0]
assert campaign.show("best")["trial"] == best[0]["id"]
print("good trials and the best are what the program prints")

# a motion, recorded or not
text = program("replay", "smoke/%d" % best[0]["id"], "-o", "-", "--window", "0.1,0.2").splitlines()
motion = campaign.trajectory("best", window=(0.1, 0.2))
assert list(motion) == text[0].split(",") and len(motion["time"]) == len(text) - 1 > 10
assert all(float(word) == motion[name][k] for k, line in enumerate(text[1:])
           for name, word in zip(motion, line.split(",")))
assert len(campaign.trajectory(7, sample=0.1)["time"]) < 20
print("good a trajectory is what replay prints")

# a dict, with a search that learns
spec = {"version": 1, "experiment": "sphere", "model": "bbob", "simulation": {"function": "sphere", "dimension": 2},
        "search": {"method": "cmaes", "over": {"x1": {"range": [-5, 5]}, "x2": {"range": [-5, 5]}},
                   "cmaes": {"stop": {"generations": 5}}}, "objective": {"minimize": "f"}}
learned = hopscotch.run(spec, name="learned", progress=False)
rounds = learned.rounds()
assert list(rounds["round"]) == [0, 1, 2, 3, 4] and rounds["sigma"].dtype == float and rounds["sigma"][0] > 0, rounds
assert hopscotch.open("results/learned").query("SELECT count(*) AS n FROM trials") == [{"n": 30}]
assert campaign.rounds() == {}
print("good a spec as a dict, and its rounds")


def refused(text, function, *arguments, **words):
    try:
        function(*arguments, **words)
    except hopscotch.Error as error:
        assert text in str(error), (text, str(error))
        return
    raise AssertionError(text)


refused("spec:1:1: error: model is missing", hopscotch.run, {"version": 1, "experiment": "x"})
refused("smoke.yaml", hopscotch.run, "smoke.yaml", settings={"search.over.k_fq": [1]})
refused("unknown name 'nonsense'", campaign.trials, where="nonsense > 1")
refused("there is no campaign", hopscotch.open, "results/nothing")
refused("has no trial", campaign.trajectory, 10**9)
refused("read", campaign.query, "DELETE FROM trials")
print("good errors are the program's")
END
[ $? -eq 0 ] || { cat log && status=1; }
for what in "trials and the best are what the program prints" "a trajectory is what replay prints" \
    "a spec as a dict, and its rounds" "errors are the program's"; do
    grep -q "^good $what" log
    check $? "$what"
done

# Ctrl-C in Python stops the program, and the same call continues
cat >long.py <<'END'
import os
import signal
import sys

import hopscotch

settings = {"search.over.k_xdot": {"arange": [0, 0.095, 0.0005]}, "simulation.duration": 30, "limits.trials": 4000}
signal.signal(signal.SIGINT, signal.default_int_handler)


def interrupt(event):
    if event["trials_done"] > 0:
        os.kill(os.getpid(), signal.SIGINT)


try:
    hopscotch.run("smoke.yaml", name=sys.argv[1], settings=settings, options=["--batch", "16", "--threads", "1"],
                  progress=interrupt if sys.argv[2:] else False)
except KeyboardInterrupt:
    sys.exit(5)
END
python3 long.py cut now >out 2>err
ended=$?
stored=$("$HOPSCOTCH" query results/cut --sql "SELECT count(*) FROM trials" --format csv | tail -n 1)
[ $ended -eq 5 ] && [ "$stored" -gt 0 ] && [ "$stored" -lt 4000 ]
check $? "KeyboardInterrupt stops the run (status $ended, $stored trials)"
python3 long.py cut >out 2>err && python3 long.py whole >out 2>>err &&
    [ "$(digest results/cut)" = "$(digest results/whole)" ]
check $? "the same call continues, to the same digest"

# A wheel, and the package in an environment of its own, by what the machine has. It finds the program of the source
# folder that it was installed from.
if ! python3 -c 'import setuptools, pip, wheel, ensurepip' 2>log; then
    skip "a wheel" "python3 with pip, setuptools, wheel and venv" "$(python_packages pip setuptools wheel ensurepip)"
    exit $status
fi
mkdir -p source/build source/runner
cp -r "$root/runner/python" source/runner/python
printf '#!/bin/sh\nexec "%s" "$@"\n' "$HOPSCOTCH" >source/build/hopscotch
chmod 755 source/build/hopscotch
make -C "$root" BUILD="$work/source/build" python >out 2>err
check $? "make python"
python3 - "$root/runner/python/hopscotch" source/build/python/hopscotch-*.whl >out 2>err <<'END'
import os
import sys
import zipfile

folder, path = sys.argv[1:]
held = {name for name in zipfile.ZipFile(path).namelist() if name.startswith("hopscotch/")}
assert held == {"hopscotch/" + name for name in os.listdir(folder) if name.endswith(".py")}, held
assert os.path.getsize(path) < 10e6
END
check $? "the wheel has every module"
python3 -m venv --system-site-packages env >out 2>err
check $? "an environment"
for origin in source/build/python/hopscotch-*.whl ./source/runner/python; do
    env/bin/python -m pip install --quiet --no-index --no-deps --no-build-isolation --force-reinstall "$origin" \
        >out 2>err &&
        (unset HOPSCOTCH PYTHONPATH && cd env && bin/python -c 'import hopscotch
assert "env/lib" in hopscotch.__file__ and hopscotch.program.find().endswith("source/build/hopscotch")
assert hopscotch.open("../results/smoke").best(1)[0]["id"] >= 0') >out 2>err
    check $? "installed from ${origin#*source/}, it finds the program"
done
exit $status
