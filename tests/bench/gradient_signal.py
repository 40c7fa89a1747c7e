#!/usr/bin/env python3
"""For which horizons, grounds and motors gradients of a biped's gait are signal, and where they are noise.

    python3 tests/bench/gradient_signal.py build/hopscotch      (a minute; prints Markdown)

The start of experiments/biped_codesign_adam.yaml under eight disturbances: the median and the least cosine between the
gradients of two of them (in units of the ranges), the median norm, and the least cosine between a gradient by the adjoint
and one by central differences. Above 0.7 a gradient says where to go; around 0 it says what that disturbance did.
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
        "kd 20 (the file's)": ((r"_kd: +\{range: \[20, 80\]", "_kd: {range: [10, 40]"),),
        "both": (("ground_damping: 2000", "ground_damping: 500"), (r"_kd: +\{range: \[20, 80\]", "_kd: {range: [10, 40]"))}


def run(*arguments, folder):
    done = subprocess.run([PROGRAM, *arguments, "--results", "results"], capture_output=True, text=True, check=False,
                          cwd=folder)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(x * x for x in b))


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
    return [[row[way] * sizes[row["parameter"]] for row in rows] for way in ("adjoint", "difference")]


def main():
    print("| setting | duration | cosine of two | least | norm | adjoint with differences |")
    print("| --- | --- | --- | --- | --- | --- |")
    with open(os.path.join(EXPERIMENTS, "biped_codesign_adam.yaml"), encoding="utf-8") as file:
        spec = file.read()
    for way, changes in WAYS.items():
        text = spec
        for pattern, by in changes:
            text = re.sub(pattern, by, text)
        for seconds in (0.5, 1, 1.5, 2, 3, 4):
            with tempfile.TemporaryDirectory() as folder:
                os.makedirs(os.path.join(folder, "robots"))
                os.makedirs(os.path.join(folder, "results"))
                shutil.copy(os.path.join(EXPERIMENTS, "robots/biped.xml"), os.path.join(folder, "robots"))
                pairs = [gradients(text, seconds, seed, folder) for seed in SEEDS]
            all_cosines = [cosine(a[0], b[0]) for i, a in enumerate(pairs) for b in pairs[:i]]
            norm = statistics.median(math.sqrt(sum(x * x for x in a)) for a, _ in pairs)
            print(f"| {way} | {seconds:g} s | {statistics.median(all_cosines):.2f} | {min(all_cosines):.2f} | {norm:.3g} | "
                  f"{min(cosine(a, b) for a, b in pairs):.4f} |", flush=True)


main()
