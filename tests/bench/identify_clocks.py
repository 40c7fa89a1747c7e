#!/usr/bin/env python3
"""Whether `hopscotch fit` names the clock of a record that a system of equations has as an input, and nothing else: the
pendulum of identify_pendulum.yaml, integrated here. Length, friction and noise are drawn. good: the model is right; law:
a law of friction that it lacks; late, early: the record by 0.1 s. A remark on units or times is false in the first two.

    tests/bench/identify_clocks.py build/hopscotch [--good N] [--law N] [--bad N]
"""
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

STEP, EVERY, ROWS = 0.002, 20, 251  # s; steps for each row


def option(name, default):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


def pendulum(draw, kind):
    """Angles after each step."""
    length, viscous, dry = draw.uniform(0.3, 0.9), 10 ** draw.uniform(-1.5, -0.5), draw.uniform(0.02, 0.5)
    stiction, drag = 0.0, 0.0
    if kind == "law":
        stiction, drag = draw.choice([(draw.uniform(0.2, 1.5), 0), (0, draw.uniform(0.2, 1.5))])

    def rates(angle, rate):
        friction = (dry + stiction * math.exp(-(rate / 0.3) ** 2)) * math.tanh(rate / 0.05)
        return rate, -9.81 / length * math.sin(angle) - viscous * rate - drag * abs(rate) * rate - friction

    x, out = (1.0, 0.0), [1.0]
    for _ in range(EVERY * ROWS + 100):
        a = rates(*x)
        b = rates(*(p + STEP / 2 * q for p, q in zip(x, a)))
        c = rates(*(p + STEP / 2 * q for p, q in zip(x, b)))
        d = rates(*(p + STEP * q for p, q in zip(x, c)))
        x = tuple(x[i] + STEP / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]) for i in (0, 1))
        out.append(x[0])
    return out


def record(draw, kind):
    late, noise = {"late": 50, "early": -50}.get(kind, 0), draw.choice([1e-3, 5e-3, 1e-2])
    angles = pendulum(draw, kind)
    with open("identify_pendulum.csv", "w") as out:
        out.write("time,seen\n")
        for k in range(ROWS):
            out.write("%.2f,%.5f\n" % (k * EVERY * STEP, angles[max(EVERY * k - late, 0)] + draw.gauss(0, noise)))


def main():
    program = os.path.abspath(sys.argv[1])
    spec = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../experiments/identify_pendulum.yaml")
    with tempfile.TemporaryDirectory() as work:
        shutil.copy(spec, work)
        os.chdir(work)
        for kind, count in [("good", option("--good", 20)), ("law", option("--law", 20))] + [
                (k, option("--bad", 10)) for k in ("late", "early")]:
            said = right = 0
            for k in range(count):
                record(random.Random("%s %d" % (kind, k)), kind)
                shutil.rmtree("results", ignore_errors=True)
                for words in (["run", "identify_pendulum.yaml", "--progress", "none"], ["fit", "identify_pendulum/best"]):
                    done = subprocess.run([program, *words], capture_output=True, text=True)
                    if done.returncode != 0:
                        sys.exit(done.stderr)
                lines = [x for x in done.stderr.splitlines() if x.startswith(("time", "unit"))]
                said += bool(lines)
                right += any(" s " + kind in x for x in lines)
            print("%s: %d, with a remark %d, right %d" % (kind, count, said, right), flush=True)
        os.chdir("/")


if len(sys.argv) < 2:
    sys.exit(__doc__)
main()
