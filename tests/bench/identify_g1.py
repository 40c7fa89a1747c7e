#!/usr/bin/env python3
"""Armature, damping and dry friction of all 29 joints of a Unitree G1 (87 numbers), from five seconds in which every
joint of the hanging robot sweeps its frequencies.

    tests/bench/identify_g1.py build/hopscotch [--seed S] [--noise 1e-3] [--dt 0.002] [--threads N]

The robot's file is unitree_mujoco_g1_29dof.xml in $G1 or ../shared/data/g1; without it nothing is measured. The record
is our own simulation of drawn values. Prints trials, seconds of the wall and of the processor (all threads), the
greatest errors, and how many intervals of `hopscotch fit` hold the truth.
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
import xml.etree.ElementTree

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ROBOT = os.path.join(os.environ.get("G1", os.path.join(ROOT, "..", "shared", "data", "g1")),
                     "unitree_mujoco_g1_29dof.xml")
DURATION = 5.0
RANGES = {"armature": "{range: [0.001, 0.1], scale: log}", "damping": "{range: [0, 2]}", "friction": "{range: [0, 2]}"}


def joints():
    """Name, middle and amplitude (rad) of each hinge: both within its range."""
    found = []
    for joint in xml.etree.ElementTree.parse(ROBOT).getroot().find("worldbody").iter("joint"):
        if "range" in joint.attrib:
            low, high = (float(x) for x in joint.get("range").split())
            swing = 0.1 if "waist" in joint.get("name") else min(0.25, 0.3 * (high - low))
            found.append((joint.get("name"), min(max(0.0, low + 1.2 * swing), high - 1.2 * swing), swing))
    return found


def write_commands(path, moved):
    """50 a second, a sweep of frequencies for each joint."""
    with open(path, "w") as f:
        f.write("time," + ",".join(name for name, _, _ in moved) + "\n")
        for k in range(round(DURATION * 50)):
            t, row = k / 50, []
            for i, (_, middle, swing) in enumerate(moved):
                low, high = 0.2 + 0.05 * (i % 4), 3.0 + 0.2 * (i // 3)
                turn = 2 * math.pi * (low * t + (high - low) * t * t / (2 * DURATION)) + i
                row.append(f"{middle + swing * math.sin(turn):.4f}")
            f.write(f"{t:g}," + ",".join(row) + "\n")


def spec(name, moved, rest, parameters=""):
    return (f"version: 1\nexperiment: {name}\nseed: 1\nmodel: articulated\nsimulation:\n  robot: g1.xml\n"
            f"  ignore: [mesh]\n  base: fixed\n  terrain: none\n  duration: {DURATION:g}\n  dt: {DT}\n"
            f"  control: {{mode: actions, file: commands.csv}}\n{rest}"
            f"parameters: {{all_kp: 300, all_kd: 5{parameters}}}\n"
            "initial: {" + ", ".join(f"{name}_start: {middle}" for name, middle, _ in moved) + "}\n")


def hopscotch(folder, *arguments):
    out = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=folder)
    if out.returncode != 0:
        sys.exit(out.stderr)
    return out.stdout


def draw(numbers, moved):
    truth = {}
    for name, _, _ in moved:
        truth[f"{name}_armature"] = round(numbers.uniform(0.005, 0.03), 4)
        truth[f"{name}_damping"] = round(numbers.uniform(0.05, 0.5), 3)
        truth[f"{name}_friction"] = round(numbers.uniform(0.05, 0.5), 3)
    return truth


def record(folder, moved, truth, numbers, noise):
    with open(os.path.join(folder, "truth.yaml"), "w") as f:
        f.write(spec("truth", moved, "", "".join(f", {k}: {v}" for k, v in truth.items())) +
                "objective: {minimize: energy}\n")
    hopscotch(folder, "run", "truth.yaml", "--progress", "none")
    rows = csv.DictReader(hopscotch(folder, "replay", "truth/0", "-o", "-").splitlines())
    names = [f"{name}_q" for name, _, _ in moved]
    with open(os.path.join(folder, "record.csv"), "w") as f:
        f.write("time," + ",".join(names) + "\n")
        for row in list(rows)[::round(0.01 / DT)]:
            f.write(f"{float(row['time']):.6g}," +
                    ",".join(repr(float(row[name]) + numbers.gauss(0, noise)) for name in names) + "\n")


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(folder, seed, noise):
    numbers, moved = random.Random(seed), joints()
    shutil.copy(ROBOT, os.path.join(folder, "g1.xml"))
    write_commands(os.path.join(folder, "commands.csv"), moved)
    truth = draw(numbers, moved)
    record(folder, moved, truth, numbers, noise)
    with open(os.path.join(folder, "g1.yaml"), "w") as f:
        f.write(spec("g1", moved, "  reference: record.csv\n  reference_scale: none\n") +
                "search:\n  method: least_squares\n  over:\n" +
                "".join(f"    {name}: {RANGES[name.split('_')[-1]]}\n" for name in truth) +
                "objective: {residuals: reference}\n")
    wall, processor = time.monotonic(), processor_seconds()
    out = hopscotch(folder, "run", "g1.yaml", "--progress", "none", "--threads", str(option("--threads", 2)))
    wall, processor = time.monotonic() - wall, processor_seconds() - processor
    rows = list(csv.DictReader(hopscotch(folder, "fit", "g1/best", "--format", "csv").splitlines()))
    print(f"{len(moved)} joints, {len(rows)} numbers, {re.search(r'trials +([0-9]+)', out)[1]} trials, {wall:.1f} s, "
          f"{processor:.1f} s of the processor; {re.search('state +(.*)', out)[1]}")
    for kind in RANGES:
        errors = sorted(abs(float(row["value"]) / truth[row["parameter"]] - 1) for row in rows
                        if row["parameter"].endswith(kind))
        print(f"{kind:9} error: median {errors[len(errors) // 2]:.2g}, greatest {errors[-1]:.2g}")
    held = sum(float(row["low"]) <= truth[row["parameter"]] <= float(row["high"]) for row in rows if row["low"])
    print(f"{held} of {len(rows)} intervals hold the truth")


def option(name, default):
    return type(default)(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


if len(sys.argv) < 2:
    sys.exit(__doc__)
program, DT = os.path.abspath(sys.argv[1]), option("--dt", 0.002)
if not os.path.exists(ROBOT):
    sys.exit(f"identify_g1.py: nothing is measured without {ROBOT}: name its folder in G1")
with tempfile.TemporaryDirectory() as work:
    measure(work, option("--seed", 1), option("--noise", 1e-3))
