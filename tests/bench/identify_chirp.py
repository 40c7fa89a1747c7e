#!/usr/bin/env python3
"""The 49 numbers of a robot with 12 joints that PACE fits (arXiv 2509.06342): armature, damping, dry friction and
encoder of each joint, and the delay of the commands, from five seconds of chirps.

    tests/bench/identify_chirp.py build/hopscotch [--repeats N] [--seed S] [--noise 1e-3] [--dt 0.002]
    tests/bench/identify_chirp.py build/hopscotch --write     the recording and the commands of experiments/

A repeat draws a robot and the noise of its encoders, records it, runs experiments/identify_chirp.yaml on the recording
and counts which intervals of `hopscotch fit` hold the truth. Times are of the processor, of all threads, and of the
wall.
"""
import csv
import math
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SPEC = os.path.join(ROOT, "experiments", "identify_chirp.yaml")
DURATION, ROBOTS = 5.0, "robots/quadruped.xml"
JOINTS = [f"{leg}_{part}" for leg in ("front_left", "front_right", "hind_left", "hind_right")
          for part in ("hip", "thigh", "knee")]
MIDDLE = {"hip": 0.0, "thigh": 0.8, "knee": -1.6}
DELAY = 0.013  # s


def middle(joint):
    return MIDDLE[joint.split("_")[-1]]


def commands(folder):
    """Of each joint a sweep of frequencies of its own, 50 commands a second."""
    with open(os.path.join(folder, "identify_chirp_commands.csv"), "w") as f:
        f.write("time," + ",".join(JOINTS) + "\n")
        for k in range(round(DURATION * 50)):
            t, row = k / 50, []
            for i, joint in enumerate(JOINTS):
                low, high = 0.2 + 0.05 * (i % 4), 3.0 + 0.5 * (i // 3)
                turn = 2 * math.pi * (low * t + (high - low) * t * t / (2 * DURATION)) + i
                row.append(middle(joint) + (0.3 if joint.endswith("hip") else 0.4) * math.sin(turn))
            f.write(f"{t:g}," + ",".join(f"{x:.4f}" for x in row) + "\n")


def draw(random_numbers):
    truth = {}
    for joint in JOINTS:
        truth[f"{joint}_armature"] = round(random_numbers.uniform(0.005, 0.02), 4)
        truth[f"{joint}_damping"] = round(random_numbers.uniform(0.1, 0.6), 3)
        truth[f"{joint}_friction"] = round(random_numbers.uniform(0.1, 0.6), 3)
        truth[f"{joint}_encoder"] = round(random_numbers.uniform(-0.03, 0.03), 4)
    truth["all_delay"] = DELAY
    return truth


def hopscotch(folder, *arguments):
    out = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=folder)
    if out.returncode != 0:
        sys.exit(out.stderr)
    return out.stdout


def record(folder, truth, random_numbers, noise):
    """100 rows a second of what encoders read."""
    with open(os.path.join(folder, "truth.yaml"), "w") as f:
        f.write("version: 1\nexperiment: truth\nmodel: articulated\n"
                f"simulation: {{robot: {ROBOTS}, base: fixed, terrain: none, duration: {DURATION:g}, dt: {DT}, "
                "control: {mode: actions, file: identify_chirp_commands.csv}}\n"
                "parameters: {all_kp: 40, all_kd: 1, " + ", ".join(f"{k}: {v}" for k, v in truth.items()) + "}\n"
                "initial: {" + ", ".join(f"{joint}_start: {middle(joint)}" for joint in JOINTS) + "}\n"
                "objective: {minimize: energy}\n")
    hopscotch(folder, "run", "truth.yaml", "--results", "truth", "--progress", "none")
    rows = csv.DictReader(hopscotch(folder, "replay", "truth/0", "--results", "truth", "-o", "-").splitlines())
    digits = 5 if noise > 0 else 17
    with open(os.path.join(folder, "identify_chirp.csv"), "w") as f:
        f.write("time," + ",".join(f"{joint}_q" for joint in JOINTS) + "\n")
        for row in list(rows)[::round(0.01 / DT)]:
            read = [float(row[f"{j}_q"]) + truth[f"{j}_encoder"] + random_numbers.gauss(0, noise) for j in JOINTS]
            f.write(f"{float(row['time']):.6g}," + ",".join(f"{x:.{digits}f}" for x in read) + "\n")


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def fit(folder):
    """Values with their intervals, trials, seconds of the wall and of the processor, and what `fit` says."""
    shutil.copy(SPEC, folder)
    shutil.rmtree(os.path.join(folder, "results"), ignore_errors=True)
    wall, processor = time.monotonic(), processor_seconds()
    out = hopscotch(folder, "run", "identify_chirp.yaml", "--set", f"simulation.dt={DT}", "--progress", "none")
    wall, processor = time.monotonic() - wall, processor_seconds() - processor
    said = subprocess.run([program, "fit", "identify_chirp/best", "--format", "csv"], capture_output=True, text=True,
                          cwd=folder)
    return (list(csv.DictReader(said.stdout.splitlines())), int(re.search(r"trials +(\d+)", out)[1]), wall, processor,
            said.stderr)


def repeat(seed, noise):
    random_numbers = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(ROOT, "experiments", "robots"), os.path.join(folder, "robots"))
        commands(folder)
        truth = draw(random_numbers)
        record(folder, truth, random_numbers, noise)
        rows, trials, wall, processor, said = fit(folder)
        held, worst = 0, 0.0
        for row in rows:
            true = truth[row["parameter"]]
            held += float(row["low"]) <= true <= float(row["high"])
            worst = max(worst, abs(float(row["value"]) / true - 1))
        verdict = next((line for line in said.splitlines() if line.startswith("noise")), "")
        print(f"seed {seed}: {held} of {len(rows)} intervals hold the truth, greatest error {worst:.2g}, {trials} trials, "
              f"{wall:.1f} s, {processor:.1f} s of the processor; {verdict}", flush=True)
        return held, len(rows)


def option(name, default):
    return type(default)(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


if len(sys.argv) < 2:
    sys.exit(__doc__)
program = os.path.abspath(sys.argv[1])
DT = option("--dt", 0.002)
if "--write" in sys.argv:
    numbers = random.Random(1)
    to = os.path.join(ROOT, "experiments")
    with tempfile.TemporaryDirectory() as work:
        shutil.copytree(os.path.join(to, "robots"), os.path.join(work, "robots"))
        commands(work)
        record(work, draw(numbers), numbers, 1e-3)
        for file in ("identify_chirp.csv", "identify_chirp_commands.csv"):
            shutil.copy(os.path.join(work, file), to)
    sys.exit()
counts = [repeat(option("--seed", 1) + k, option("--noise", 1e-3)) for k in range(option("--repeats", 1))]
print(f"{sum(c[0] for c in counts)} of {sum(c[1] for c in counts)} intervals hold the truth")
