#!/usr/bin/env python3
"""How often the intervals of `hopscotch fit` hold the truth, and how often it rejects a model: records of a pendulum
with new noise, simulated here (Runge-Kutta, 0.2 ms), each fitted by experiments/identify_pendulum.yaml.

    tests/bench/identify_coverage.py build/hopscotch [--repeats N] [--noise S] [--correlation R] [--stribeck S]
        [--start ANGLE] [--first SEED] [--fit OPTION] [--misfit]

--noise: standard deviation (rad), --correlation: of its neighbours. --stribeck: dry friction is greater at rest, by
this factor more than 1; the fit leaves `stiction` at 0. --start: the angle at which the pendulum is let go (rad). --fit:
an option of `hopscotch fit`, such as --bootstrap. --misfit: fits the record without noise instead, and prints how far
the best wrong model is off, in sums of squares of the noise: a test of one degree of freedom at 1 % that finds the
right direction needs 17.8 to reject 95 of 100, one of 250 degrees needs 104.
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

SPEC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "experiments", "identify_pendulum.yaml")
TRUTH = {"length": 0.6, "viscous": 0.12, "dry": 0.15}
STEP, ROWS, BETWEEN = 2e-4, 251, 200  # s; rows of the record, and steps from one to the next


def option(name, default):
    return type(default)(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


def rates(angle, rate, stribeck):
    dry = TRUTH["dry"] * (1 + stribeck * math.exp(-(rate / 0.3) ** 2))
    return rate, (-9.81 / TRUTH["length"] * math.sin(angle) - TRUTH["viscous"] * rate - dry * math.tanh(rate / 0.05))


def motion(start, stribeck):
    """The angle at each row."""
    angle, rate, rows = start, 0.0, [start]
    for step in range(1, (ROWS - 1) * BETWEEN + 1):
        a = rates(angle, rate, stribeck)
        b = rates(angle + STEP / 2 * a[0], rate + STEP / 2 * a[1], stribeck)
        c = rates(angle + STEP / 2 * b[0], rate + STEP / 2 * b[1], stribeck)
        d = rates(angle + STEP * c[0], rate + STEP * c[1], stribeck)
        angle += STEP / 6 * (a[0] + 2 * b[0] + 2 * c[0] + d[0])
        rate += STEP / 6 * (a[1] + 2 * b[1] + 2 * c[1] + d[1])
        if step % BETWEEN == 0:
            rows.append(angle)
    return rows


def noise(numbers, size, correlation):
    last = numbers.gauss(0, size)
    while True:
        yield last
        last = correlation * last + math.sqrt(1 - correlation ** 2) * numbers.gauss(0, size)


def hopscotch(folder, *arguments):
    out = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=folder)
    if out.returncode != 0:
        sys.exit(out.stderr)
    return out


def fit(folder, angles, *options):
    """What `hopscotch fit` says of a record with these angles: its rows, and its remarks."""
    with open(os.path.join(folder, "identify_pendulum.csv"), "w") as record:
        record.write("time,seen\n" + "".join(f"{0.04 * k:.2f},{angle:.9f}\n" for k, angle in enumerate(angles)))
    shutil.rmtree(os.path.join(folder, "results"), ignore_errors=True)
    hopscotch(folder, "run", "identify_pendulum.yaml", "--progress", "none",
              "--set", f"simulation.system.states.angle.start={start}")
    out = hopscotch(folder, "fit", "identify_pendulum/best", "--format", "csv", *options)
    return list(csv.DictReader(out.stdout.splitlines())), out.stderr


if len(sys.argv) < 2:
    sys.exit(__doc__)
program = os.path.abspath(sys.argv[1])
repeats, size, start = option("--repeats", 100), option("--noise", 0.01), option("--start", 1.0)
clean, options = motion(start, option("--stribeck", 0.0)), option("--fit", "").split()
held, accepted, white, long, lacking, widths = Counter(), 0, 0, 0, Counter(), Counter()
with tempfile.TemporaryDirectory() as work:
    shutil.copy(SPEC, work)
    if "--misfit" in sys.argv:
        rows, said = fit(work, clean)
        rms = float(said.split("root mean square ")[1].split()[0])
        print(", ".join(f"{row['parameter']} {float(row['value']):.5f}" for row in rows)
              + f"; misfit {(rms / size) ** 2 * (ROWS - 1):.2f}")
        sys.exit()
    for seed in range(option("--first", 1), option("--first", 1) + repeats):
        errors = noise(random.Random(seed), size, option("--correlation", 0.0))
        rows, said = fit(work, [angle + next(errors) for angle in clean], *options)
        accepted += "the model is enough" in said
        white += "not white" not in said
        long += "\nstep " in said
        lacking.update({line.split()[1].rstrip(":") for line in said.splitlines() if line.startswith("lacking") and "nothing" not in line})
        for row in rows:
            low, high = float(row["low"] or "nan"), float(row["high"] or "nan")
            held[row["parameter"]] += low <= TRUTH[row["parameter"]] <= high
            widths[row["parameter"]] += (high - low) / repeats
print(f"of {repeats} records: intervals hold " + ", ".join(f"{name} {held[name]}" for name in TRUTH)
      + "; their mean widths are " + ", ".join(f"{name} {widths[name]:.3g}" for name in TRUTH)
      + f"; the model is called enough in {accepted}, the residuals white in {white}, the step too long in {long}"
      + "".join(f"; {name} lacking in {n}" for name, n in lacking.most_common()))
