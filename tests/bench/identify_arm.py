#!/usr/bin/env python3
"""The recordings of experiments/identify_arm.yaml: an arm moved three times, with other loads, starts, lengths and rates.

    tests/bench/identify_arm.py build/hopscotch --write
    tests/bench/identify_arm.py build/hopscotch --repeats N [--bias RAD]     intervals that hold the truth, alarms

Motions are those of the program itself, with a noise of 1 mrad of the encoders. bias: of the elbow's encoder in the
second recording.
"""
import csv
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
JOINTS = ["turn", "shoulder", "elbow"]
TRUTH = {"turn_armature": 0.031, "shoulder_armature": 0.042, "elbow_armature": 0.013,
         "turn_damping": 0.35, "shoulder_damping": 0.5, "elbow_damping": 0.15,
         "turn_friction": 0.6, "shoulder_friction": 0.8, "elbow_friction": 0.3,
         "upper_mass": 2.71}
# name: robot, start (rad), duration (s), rows per second, lowest and highest frequency (Hz)
MOTIONS = {"light": ("arm", (0.0, 0.5, 1.5), 3.0, 50, 0.2, 2.0),
           "loaded": ("arm_loaded", (0.4, 0.9, 1.2), 2.0, 40, 0.5, 1.5),
           "other": ("arm", (-0.5, 0.2, 1.9), 2.0, 50, 0.3, 2.5)}
DT = 0.002


def hopscotch(folder, *arguments):
    out = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=folder)
    if out.returncode != 0:
        sys.exit(out.stderr)
    return out.stdout


def commands(path, start, duration, low, high):
    """Of each joint a sweep of frequencies around its start, 50 commands a second."""
    with open(path, "w") as f:
        f.write("time," + ",".join(JOINTS) + "\n")
        for k in range(round(duration * 50)):
            t = k / 50
            turn = 2 * math.pi * (low * t + (high - low) * t * t / (2 * duration))
            row = [s + 0.35 * math.sin((1 + 0.3 * i) * turn) for i, s in enumerate(start)]
            f.write(f"{t:g}," + ",".join(f"{x:.4f}" for x in row) + "\n")


def record(folder, name, numbers):
    robot, start, duration, rate, low, high = MOTIONS[name]
    commands(os.path.join(folder, f"identify_arm_{name}_commands.csv"), start, duration, low, high)
    values = dict(TRUTH, all_kp=80, all_kd=4)
    with open(os.path.join(folder, "truth.yaml"), "w") as f:
        f.write(f"version: 1\nexperiment: {name}\nmodel: articulated\n"
                f"simulation: {{robot: robots/{robot}.xml, terrain: none, duration: {duration:g}, dt: {DT}, "
                f"control: {{mode: actions, file: identify_arm_{name}_commands.csv}}}}\n"
                "parameters: {" + ", ".join(f"{k}: {v}" for k, v in values.items()) + "}\n"
                "initial: {" + ", ".join(f"{j}_start: {s}" for j, s in zip(JOINTS, start)) + "}\n"
                "objective: {minimize: energy}\n")
    hopscotch(folder, "run", "truth.yaml", "--results", "truth", "--progress", "none")
    rows = csv.DictReader(hopscotch(folder, "replay", f"{name}/0", "--results", "truth", "-o", "-", "--sample",
                                    str(DT)).splitlines())
    with open(os.path.join(folder, f"identify_arm_{name}.csv"), "w") as f:
        f.write("time," + ",".join(f"{joint}_q" for joint in JOINTS) + "\n")
        for k, row in enumerate(rows):
            if k % round(1 / rate / DT) == 0:
                read = [float(row[f"{j}_q"]) + numbers.gauss(0, 1e-3) for j in JOINTS]
                f.write(f"{k * DT:.6g}," + ",".join(f"{x:.5f}" for x in read) + "\n")


def fit(folder, *more):
    shutil.rmtree(os.path.join(folder, "results"), ignore_errors=True)
    hopscotch(folder, "run", "identify_arm.yaml", "--progress", "none", *more)
    said = subprocess.run([program, "fit", "identify_arm/best", "--format", "csv"], capture_output=True, text=True,
                          cwd=folder)
    return list(csv.DictReader(said.stdout.splitlines())), said.stderr


def repeat(seed, bias):
    with tempfile.TemporaryDirectory() as folder:
        numbers = random.Random(seed)
        shutil.copytree(os.path.join(to, "robots"), os.path.join(folder, "robots"))
        shutil.copy(os.path.join(to, "identify_arm.yaml"), folder)
        for name in MOTIONS:
            record(folder, name, numbers)
        if bias != 0:
            path = os.path.join(folder, "identify_arm_loaded.csv")
            rows = list(csv.reader(open(path)))
            with open(path, "w") as f:
                for i, row in enumerate(rows):
                    f.write(",".join(row if i == 0 else row[:3] + [f"{float(row[3]) + bias:.5f}"]) + "\n")
        rows, said = fit(folder)
        held = [float(r["low"]) <= TRUTH[r["parameter"]] <= float(r["high"]) for r in rows]
        alarms = [word for word, sign in (("offset", "offset "), ("not white", "not white in"),
                                          ("held out", "columns are off by more")) if sign in said]
        print(f"seed {seed}: {sum(held)} of {len(held)} intervals hold the truth; {', '.join(alarms) or 'no alarm'}",
              flush=True)
        return sum(held), len(held), alarms


def option(name, default):
    return type(default)(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


if len(sys.argv) < 3:
    sys.exit(__doc__)
program = os.path.abspath(sys.argv[1])
to = os.path.join(ROOT, "experiments")
if "--write" in sys.argv:
    with tempfile.TemporaryDirectory() as work:
        random_numbers = random.Random(2)
        shutil.copytree(os.path.join(to, "robots"), os.path.join(work, "robots"))
        for motion in MOTIONS:
            record(work, motion, random_numbers)
            for file in (f"identify_arm_{motion}.csv", f"identify_arm_{motion}_commands.csv"):
                shutil.copy(os.path.join(work, file), to)
    sys.exit()
done = [repeat(option("--seed", 10) + k, option("--bias", 0.0)) for k in range(option("--repeats", 1))]
print(f"{sum(d[0] for d in done)} of {sum(d[1] for d in done)} intervals hold the truth; alarms in {len(done)} fits: "
      + ", ".join(f"{word} {sum(word in d[2] for d in done)}" for word in ("offset", "not white", "held out")))
