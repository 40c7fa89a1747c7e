#!/usr/bin/env python3
"""Whether the intervals that `objective: {information: ...}` expects are those that recordings give: the best plan of
experiments/plan_pendulum.yaml and a plain one (a sine of 0.3 Hz, as large as the motor allows) are recorded with new
noise, each record is fitted by least_squares, and the spread of the estimates is compared with the expected errors.

    tests/bench/identify_plan.py build/hopscotch [--records 100] [--generations 60]
"""
import csv
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

SPEC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "experiments", "plan_pendulum.yaml")
RANGES = {"length": "[0.5, 0.7]", "viscous": "[0, 1]", "dry": "[0, 1]", "motor": "[0.5, 1.5]", "offset": "[-0.1, 0.1]"}
NOISE = 0.002


def option(name, default):
    return type(default)(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


def hopscotch(*arguments):
    out = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=work)
    if out.returncode != 0:
        sys.exit(out.stderr + out.stdout)
    return out.stdout


def table(*arguments):
    return {row["parameter"]: row for row in csv.DictReader(hopscotch(*arguments, "--format", "csv").splitlines())}


def fitted_spec(plan):
    """The spec of a fit to a record of the plan's motion."""
    text = re.sub(r"(?s)^search:.*", "", open(SPEC).read(), flags=re.M)
    text = text.replace("experiment: plan_pendulum", "experiment: fitted")
    text = text.replace("value: angle + offset, take", "value: angle + offset - record, take")
    text = text.replace("    states:\n", "    inputs: {record: {file: record.csv, unit: rad}}\n    states:\n")
    for name, value in plan.items():
        text = re.sub(rf"      {name}: {{value: [^,]*,", f"      {name}: {{value: {value},", text)
    over = "".join(f"    {name}: {{range: {RANGES[name]}}}\n" for name in RANGES)
    return (text + "search:\n  method: least_squares\n  least_squares: {start: center}\n  over:\n" + over
            + "objective: {residuals: seen}\n")


def measure(campaign, plan):
    expected = table("fit", campaign)
    rows = list(csv.DictReader(hopscotch("replay", campaign, "--sample", "0.04", "-o", "-").splitlines()))
    with open(os.path.join(work, "fitted.yaml"), "w") as f:
        f.write(fitted_spec(plan))
    found = {name: [] for name in RANGES}
    for seed in range(records):
        numbers = random.Random(seed)
        with open(os.path.join(work, "record.csv"), "w") as f:
            f.write("time,record\n" + "".join(
                f"{float(row['time']):.2f},{float(row['angle']) + 0.01 + numbers.gauss(0, NOISE):.9f}\n" for row in rows))
        name = f"fit{seed}_{campaign.replace('/', '_')}"
        hopscotch("run", "fitted.yaml", "--name", name, "--progress", "none")
        for parameter, row in table("fit", f"{name}/best").items():
            found[parameter].append(float(row["value"]))
    print(f"{campaign}: " + ", ".join(
        f"{name} expected {float(expected[name]['error']):.3g} found {statistics.stdev(found[name]):.3g}"
        for name in RANGES), flush=True)
    return {name: float(expected[name]["error"]) for name in RANGES}


if len(sys.argv) < 2:
    sys.exit(__doc__)
program, records = os.path.abspath(sys.argv[1]), option("--records", 100)
with tempfile.TemporaryDirectory() as work:
    subprocess.run(["cp", SPEC, work], check=True)
    hopscotch("run", "plan_pendulum.yaml", "--name", "plan", "--progress", "none", "--set",
              f"search.cmaes.stop.generations={option('--generations', 60)}")
    best = next(csv.DictReader(hopscotch("best", "plan", "--format", "csv").splitlines()))
    plan = {name: best[name] for name in ("base", "a1", "a2", "a3", "p1", "p2", "p3")}
    sine = {"base": 0.3, "a1": 4, "a2": 0, "a3": 0, "p1": 0, "p2": 0, "p3": 0}
    hopscotch("run", "plan_pendulum.yaml", "--name", "sine", "--progress", "none", "--set", "constraints=[]", "--set",
              "search={method: grid, over: {" + ", ".join(f"{k}: [{v}]" for k, v in sine.items()) + "}}")
    print(f"criterion D: plan {best['fitness']}")
    planned, plain = measure("plan/best", plan), measure("sine/0", sine)
    print("intervals of the plain sine through those of the plan: "
          + ", ".join(f"{name} {plain[name] / planned[name]:.3g}" for name in RANGES))
