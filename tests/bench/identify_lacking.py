#!/usr/bin/env python3
"""How often `hopscotch fit` rejects a wrong law of friction, and a right one: an arm of two driven joints follows four
seconds of chirps, and encoders record it 100 times a second. Eight numbers are fitted: armature, damping, Coulomb's
friction and encoder of each joint. The spec names the other laws, at 0.

    tests/bench/identify_lacking.py build/hopscotch [--repeats N] [--noise 1e-3] [--law stiction=0.15] [--first SEED]

--law: what the recorded arm has in both joints beside that (N m and the like); none: the model is right.
"""
import csv
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

ROBOT = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="upper" pos="0 0 2"><joint name="shoulder" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03" mass="1.5" contype="0" conaffinity="0"/>
    <body name="lower" pos="0 0 -0.4"><joint name="elbow" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.02" mass="0.6" contype="0" conaffinity="0"/>
    </body></body></worldbody>
  <actuator><motor joint="shoulder"/><motor joint="elbow"/></actuator></mujoco>
"""
JOINTS = ("shoulder", "elbow")
TRUTH = {"armature": 0.02, "damping": 0.2, "friction": 0.3}
RANGES = {"armature": "[0.001, 0.1], scale: log", "damping": "[0, 2]", "friction": "[0, 2]", "encoder": "[-0.1, 0.1]"}
HEAD = """version: 1
experiment: {name}
model: articulated
simulation: {{robot: arm.xml, terrain: none, duration: 4, dt: 0.005,
  control: {{mode: actions, file: commands.csv}}{more}}}
parameters: {{all_kp: 30, all_kd: 0.5, {parameters}}}
initial: {{shoulder_start: 0, elbow_start: 0}}
"""


def option(name, default):
    return type(default)(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


def hopscotch(*arguments):
    out = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=work)
    if out.returncode != 0:
        sys.exit(out.stderr)
    return out


def commands():
    """Of each joint a sweep of frequencies of its own, 50 commands a second."""
    with open(os.path.join(work, "commands.csv"), "w") as f:
        f.write("time," + ",".join(JOINTS) + "\n")
        for k in range(200):
            turns = [2 * math.pi * (low * k / 50 + slope * (k / 50) ** 2) for low, slope in ((0.2, 0.25), (0.3, 0.2))]
            f.write(f"{k / 50:g},{0.5 * math.sin(turns[0]):.4f},{0.6 * math.sin(turns[1]):.4f}\n")


def motion():
    """The angles of the joints at each row of the record."""
    truth = [f"all_{k}: {v}" for k, v in TRUTH.items()] + ["all_stribeck: 0.2"] + [f"all_{k}: {v}" for k, v in law]
    with open(os.path.join(work, "truth.yaml"), "w") as f:
        f.write(HEAD.format(name="truth", more="", parameters=", ".join(truth)) + "objective: {minimize: energy}\n")
    hopscotch("run", "truth.yaml", "--progress", "none")
    rows = list(csv.DictReader(hopscotch("replay", "truth/0", "-o", "-").stdout.splitlines()))
    return [(float(row["time"]), [float(row[f"{joint}_q"]) for joint in JOINTS]) for row in rows[::2]]


def fit(clean, numbers, noise):
    with open(os.path.join(work, "record.csv"), "w") as f:
        f.write("time," + ",".join(f"{joint}_q" for joint in JOINTS) + "\n")
        for time, angles in clean:
            f.write(f"{time:.6g}," + ",".join(f"{angle + numbers.gauss(0, noise):.9f}" for angle in angles) + "\n")
    shutil.rmtree(os.path.join(work, "results"), ignore_errors=True)
    hopscotch("run", "fitted.yaml", "--progress", "none")
    out = hopscotch("fit", "fitted/best", "--format", "csv")
    return list(csv.DictReader(out.stdout.splitlines())), out.stderr


if len(sys.argv) < 2:
    sys.exit(__doc__)
program = os.path.abspath(sys.argv[1])
repeats, noise = option("--repeats", 100), option("--noise", 1e-3)
law = [pair.split("=") for pair in option("--law", "").split()]
accepted, held, lacking, white = 0, 0, Counter(), 0
with tempfile.TemporaryDirectory() as work:
    with open(os.path.join(work, "arm.xml"), "w") as f:
        f.write(ROBOT)
    commands()
    with open(os.path.join(work, "fitted.yaml"), "w") as f:
        f.write(HEAD.format(name="fitted", more=", reference: record.csv, reference_scale: none",
                            parameters="all_stiction: 0, all_stribeck: 0.2, all_drag: 0, all_load: 0"))
        f.write("search:\n  method: least_squares\n  least_squares: {start: center}\n  over:\n" + "".join(
            f"    {joint}_{k}: {{range: {v}}}\n" for joint in JOINTS for k, v in RANGES.items()))
        f.write("objective: {residuals: reference}\n")
    clean = motion()
    for seed in range(option("--first", 1), option("--first", 1) + repeats):
        rows, said = fit(clean, random.Random(seed), noise)
        accepted += "the model is enough" in said
        white += "not white" not in said
        lacking.update({line.split()[1].rstrip(":") for line in said.splitlines() if line.startswith("lacking") and "nothing" not in line})
        for row in rows:
            low, high = float(row["low"] or "nan"), float(row["high"] or "nan")
            held += low <= TRUTH.get(row["parameter"].split("_")[1], 0.0) <= high
print(f"of {repeats} records: {held} of {8 * repeats} intervals hold the truth; the model is called enough in {accepted}, "
      f"the residuals white in {white}" + "".join(f"; {name} lacking in {n}" for name, n in lacking.most_common()))
