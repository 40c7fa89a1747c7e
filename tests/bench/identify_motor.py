#!/usr/bin/env python3
"""How often the intervals of `hopscotch fit` hold the truth where rows are at unequal times: a motor turned by a sum of
sines of voltage, recorded by an encoder with new noise, simulated here (Runge-Kutta, 0.1 ms), each fitted as equations.

    tests/bench/identify_motor.py build/hopscotch [--repeats N] [--first SEED] [--jitter PART] [--period S] [--gaps PART]
        [--event rows|SECONDS] [--noise S] [--correlation R] [--quantum S] [--jobs N]

--jitter: each row is up to this part of the period early or late. --gaps: part of the rows that are not there. --event:
when the fit compares, at the rows of the recording or every so many seconds. --noise: standard deviation (rad),
--correlation: of its neighbours. --quantum: what the encoder rounds to (rad); 0: nothing.
"""
import csv
import math
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

TRUTH = {"gain": 30.0, "viscous": 4.0, "dry": 8.0}
STEP, DURATION = 1e-4, 2.0
SPEC = """version: 1
experiment: motor
seed: 1
model: equations
simulation:
  duration: 2
  system:
    parameters:
      gain: {{value: 20, unit: 1/s^2/V}}
      viscous: {{value: 2, unit: 1/s}}
      dry: {{value: 4, unit: 1/s^2}}
      slow: {{value: 0.5, unit: 1/s}}
    inputs: {{seen: {{file: record.csv, unit: rad, beyond: hold}}}}
    let:
      low: {{value: 4.4, unit: 1/s}}
      high: {{value: 14.5, unit: 1/s}}
      most: {{value: 1, unit: V}}
      volt: {{value: "most*(3*sin(low*time) + 2*sin(high*time))", unit: V}}
    states: {{angle: {{start: 0, unit: rad}}, speed: {{start: 0, unit: 1/s}}}}
    rates:
      angle: speed
      speed: gain*volt - viscous*speed - dry*tanh(speed/slow)
    events: [{{name: frame, {event}}}]
    metrics: {{error: {{at: frame, value: angle - seen, take: rms}}}}
search:
  method: least_squares
  over:
    gain: {{range: [5, 80]}}
    viscous: {{range: [0.1, 20]}}
    dry: {{range: [0, 30]}}
objective: {{residuals: error}}
"""


def option(name, default):
    return type(default)(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


def rates(time, speed):
    volt = 3 * math.sin(4.4 * time) + 2 * math.sin(14.5 * time)
    return TRUTH["gain"] * volt - TRUTH["viscous"] * speed - TRUTH["dry"] * math.tanh(speed / 0.5)


def motion():
    """(angle, speed) at each step."""
    angle = speed = 0.0
    rows = [(angle, speed)]
    for step in range(int(round(DURATION / STEP))):
        t, h = step * STEP, STEP
        a = rates(t, speed)
        b = rates(t + h / 2, speed + h / 2 * a)
        c = rates(t + h / 2, speed + h / 2 * b)
        d = rates(t + h, speed + h * c)
        angle += h * speed + h * h / 6 * (a + b + c)
        speed += h / 6 * (a + 2 * b + 2 * c + d)
        rows.append((angle, speed))
    return rows


def angle_at(rows, time):
    """By the cubic through the angles and speeds of both ends of the step."""
    k = min(int(time / STEP), len(rows) - 2)
    u = time / STEP - k
    (a, va), (b, vb) = rows[k], rows[k + 1]
    return (a * (1 + 2 * u) * (1 - u) ** 2 + b * u * u * (3 - 2 * u) +
            STEP * (va * u * (1 - u) ** 2 - vb * u * u * (1 - u)))


def record(draw, rows, file):
    period, jitter, last = option("--period", 0.005), option("--jitter", 0.4), 0.0
    size, correlation = option("--noise", 1e-3), option("--correlation", 0.0)
    quantum, gaps = option("--quantum", 0.0), option("--gaps", 0.0)
    with open(file, "w") as out:
        out.write("time,seen\n")
        last = draw.gauss(0, size)
        for k in range(int(round(DURATION / period)) + 1):
            time = min(max(k * period + draw.uniform(-jitter, jitter) * period, 0.0), DURATION)
            if k == 0:
                time = 0.0
            angle = angle_at(rows, time) + last
            last = correlation * last + math.sqrt(1 - correlation ** 2) * draw.gauss(0, size)
            if quantum > 0:
                angle = quantum * round(angle / quantum)
            if k == 0 or draw.random() >= gaps:
                out.write(f"{time:.9f},{angle:.9f}\n")


def repeat(seed):
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as work:
        record(draw, clean, os.path.join(work, "record.csv"))
        event = option("--event", "rows")
        with open(os.path.join(work, "motor.yaml"), "w") as out:
            out.write(SPEC.format(event="rows: seen" if event == "rows" else f"every: {event}"))

        def hopscotch(*arguments):
            done = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=work)
            if done.returncode != 0:
                sys.exit(done.stderr)
            return done

        hopscotch("run", "motor.yaml", "--progress", "none", "--threads", "1")
        out = hopscotch("fit", "motor/best", "--format", "csv")
        return list(csv.DictReader(out.stdout.splitlines())), out.stderr


if len(sys.argv) < 2:
    sys.exit(__doc__)
program, repeats, first = os.path.abspath(sys.argv[1]), option("--repeats", 100), option("--first", 1)
clean = motion()
held, widths, offs, remarks = Counter(), Counter(), Counter(), Counter()
with ThreadPoolExecutor(option("--jobs", 2)) as pool:
    for fitted, said in pool.map(repeat, range(first, first + repeats)):
        remarks.update(line.split()[0] + (" white" if "is white" in line else " not white" if "not white" in line else "")
                       for line in said.splitlines()[1:] if line and not line.startswith(" "))
        for row in fitted:
            name, low, high = row["parameter"], float(row["low"] or "nan"), float(row["high"] or "nan")
            held[name] += low <= TRUTH[name] <= high
            widths[name] += (high - low) / repeats
            offs[name] += (float(row["value"]) - TRUTH[name]) / repeats
print(f"of {repeats} recordings: " + ", ".join(
    f"{name} {held[name]} ({100 * held[name] / repeats:.1f} %; mean width {widths[name]:.4g}, mean error {offs[name]:.2g})"
    for name in TRUTH) + f"; all {100 * sum(held.values()) / repeats / len(TRUTH):.1f} %; remarks {dict(remarks)}")
