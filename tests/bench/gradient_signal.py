#!/usr/bin/env python3
"""For which horizons, grounds and motors gradients of a biped's gait are signal, and where they are noise.

    python3 tests/bench/gradient_signal.py build/hopscotch      (two minutes; prints Markdown)

The start of experiments/biped_codesign_adam.yaml under eight disturbances: the median norm of their gradients (in units
of the ranges), the norm of their mean as a part of that (1: all agree; 0.35: as if each pointed anywhere), the median
cosine of two, and the least cosine between the parts of a gradient by the adjoint and by central differences, of those
differences that say of themselves that they are good to 1 % of the gradient. (Some are not: a point that touches the
ground makes a run jump a little.) tilt: rms (rad) of the worst run, above 0.5 it fell.
"""
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
EXPERIMENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../experiments")
SEEDS = range(1, 9)
WAYS = {"as the spec has it": (), "ground_damping 500 (default)": (("ground_damping: 2000", "ground_damping: 500"),),
        "kd 20 (the file's)": ((r"_kd: +\{range: \[25, 100\]", "_kd: {range: [10, 40]"),)}


def run(*arguments, folder):
    done = subprocess.run([PROGRAM, *arguments, "--results", "results"], capture_output=True, text=True, check=False,
                          cwd=folder)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / (norm(a) * norm(b))


def gradients(text, seconds, seed, folder):
    with open(os.path.join(folder, "spec.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
    name = f"s{len(os.listdir(os.path.join(folder, 'results')))}"
    run("run", "spec.yaml", "--name", name, "--set", f"seed={seed}", "--set", f"simulation.duration={seconds}", "--set",
        "search.adam.stop.iterations=1", "--set", "replicates.count=1", "--progress", "none", folder=folder)
    rows = json.loads(run("gradient", name + "/0", "--json", folder=folder))
    sizes = {}
    for axis, low, high, log in re.findall(r"    (\w+): +\{range: \[([-.\d]+), ([-.\d]+)\](, scale: log)?", text):
        low, high = float(low), float(high)
        sizes[axis] = (low * high) ** 0.5 * math.log(high / low) if log else high - low
    tilt = json.loads(run("query", name, "--columns", "tilt_rms", "--json", folder=folder))[0]["tilt_rms"]
    whole = [row["adjoint"] * sizes[row["parameter"]] for row in rows]
    good = [row for row in rows if row["error"] * sizes[row["parameter"]] < 0.01 * norm(whole)]
    agree = cosine(*([row[way] * sizes[row["parameter"]] for row in good] for way in ("adjoint", "difference")))
    return whole, agree, tilt


def norm(x):
    return math.sqrt(sum(y * y for y in x))


def main():
    print("| setting | duration | norm | of the mean | cosine of two | adjoint with differences | tilt |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with open(os.path.join(EXPERIMENTS, "biped_codesign_adam.yaml"), encoding="utf-8") as file:
        spec = file.read()
    for way, changes in WAYS.items():
        text = spec
        for pattern, by in changes:
            text = re.sub(pattern, by, text)
        for seconds in (1, 1.5, 2, 3, 4):
            with tempfile.TemporaryDirectory() as folder:
                os.makedirs(os.path.join(folder, "robots"))
                os.makedirs(os.path.join(folder, "results"))
                shutil.copy(os.path.join(EXPERIMENTS, "robots/biped.xml"), os.path.join(folder, "robots"))
                pairs = [gradients(text, seconds, seed, folder) for seed in SEEDS]
            cosines = [cosine(a[0], b[0]) for i, a in enumerate(pairs) for b in pairs[:i]]
            size = statistics.median(norm(a) for a, _, _ in pairs)
            mean = norm([statistics.mean(column) for column in zip(*(a for a, _, _ in pairs))])
            print(f"| {way} | {seconds:g} s | {size:.3g} | {mean / size:.2f} | {statistics.median(cosines):.2f} | "
                  f"{min(agree for _, agree, _ in pairs):.4f} | {max(tilt for _, _, tilt in pairs):.2f} |", flush=True)


main()
