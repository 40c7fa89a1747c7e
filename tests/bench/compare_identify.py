#!/usr/bin/env python3
"""How well least_squares, adam (along the adjoint's gradient) and cmaes recover the biped of identify_biped.yaml.

    python3 tests/bench/compare_identify.py build/hopscotch [COST]     (a minute on two cores; prints Markdown)
    python3 tests/bench/compare_identify.py build/hopscotch --record   (writes experiments/identify_biped.csv again)

COST (default 3.8): what a gradient costs, forward and back, in simulations of the same steps; the trial that a step of
adam stores is one more. A run with dual numbers counts as DUAL simulations, nine of them for each centre of
least_squares, which stores seven trials an iteration. Five searches each: adam and least_squares from the middle of the
ranges and from four Sobol points, cmaes with five seeds. All minimise the same number (reference_scale: deviation). Error: the greatest over nine parameters of |found/true - 1|, and their rms.
"""
import csv
import io
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
EXPERIMENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../experiments")
TRUE = {"torso_mass": 18.4, "thigh": 1.15, "shank": 0.9, "hip_friction": 2.0, "knee_friction": 1.2,
        "ankle_friction": 0.6, "hip_armature": 0.05, "knee_armature": 0.035, "ankle_armature": 0.015}
NOISE = ((r"_torque$", 0.5), (r"_rate$|^base_w", 0.02), (r"_q$|^base_q", 1e-3), (r"^base_[xyz]$", 2e-3))
DUAL = 3.5  # of a lane alone: the tangent of identify_biped
BUDGETS = (50, 100, 200, 300, 500, 1000, 2000)


def run(*arguments, folder):
    done = subprocess.run([PROGRAM, *arguments, "--results", os.path.join(folder, "results")], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


def copy_spec(name, folder):
    for part in ("robots/biped.xml", "identify_biped.csv", name):
        os.makedirs(os.path.dirname(os.path.join(folder, part)), exist_ok=True)
        shutil.copy(os.path.join(EXPERIMENTS, part), os.path.join(folder, part))
    return os.path.join(folder, name)


def noise_of(column):
    return next((sigma for pattern, sigma in NOISE if re.search(pattern, column)), 0.0)


def record(folder):
    over = ", ".join(f"{name}: [{value}]" for name, value in TRUE.items())
    run("run", copy_spec("identify_biped_adam.yaml", folder), "--name", "truth", "--progress", "none", "--set",
        "simulation.reference=none", "--set", "search={method: grid, over: {" + over + "}}", "--set",
        "objective={minimize: energy}", folder=folder)
    rows = list(csv.DictReader(io.StringIO(run("replay", "truth/0", "--sample", "0.01", "-o", "-", folder=folder))))
    noise = random.Random(1)
    kept = [column for column in rows[0] if noise_of(column) > 0]
    with open(os.path.join(EXPERIMENTS, "identify_biped.csv"), "w", encoding="utf-8") as out:
        print("time", *kept, sep=",", file=out)
        for row in rows:
            values = (f"{float(row[column]) + noise.gauss(0, noise_of(column)):.4g}" for column in kept)
            print(f"{float(row['time']):.2f}", *values, sep=",", file=out)


def errors(found):
    parts = [found[name] / value - 1 for name, value in TRUE.items()]
    return max(abs(x) for x in parts), math.sqrt(statistics.mean(x * x for x in parts))


def best_within(rows, trials):
    return min((row for row in rows if row["id"] < trials), key=lambda row: row["fitness"])


def trials_of(spec, settings, folder):
    name = "search_" + str(len(os.listdir(folder)))
    run("run", spec, "--name", name, "--progress", "none", *(f"--set={s}" for s in settings), folder=folder)
    os.makedirs(os.path.join(folder, name))
    columns = ",".join(["id", "fitness", *TRUE])
    return json.loads(run("query", name, "--columns", columns, "--limit", "0", "--order", "id", "--json",
                          folder=folder))


def table(rows_of, cost):
    print("| simulations | fitness | greatest error | rms error |\n| --- | --- | --- | --- |")
    for budget in BUDGETS:
        trials = int(budget / cost)
        best = [best_within(rows, trials) for rows in rows_of if len(rows) >= trials]
        if not best:
            continue
        middle = [statistics.median(column) for column in zip(*((row["fitness"], *errors(row)) for row in best))]
        worst = max(errors(row)[0] for row in best)
        print(f"| {budget:,} | {middle[0]:.5f} | {middle[1]:.1%} (worst {worst:.0%}) | {middle[2]:.1%} |", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[2:] == ["--record"]:
            record(folder)
            return
        cost = 1 + (float(sys.argv[2]) if len(sys.argv) > 2 else 3.8)
        adam, cmaes = copy_spec("identify_biped_adam.yaml", folder), copy_spec("identify_biped_cmaes.yaml", folder)
        squares = copy_spec("identify_biped.yaml", folder)
        same = "simulation.reference_scale=deviation"
        sobol_start = ["search.least_squares.start=sobol", same]
        print("least_squares:\n")
        table([trials_of(squares, [same], folder),
               *(trials_of(squares, [*sobol_start, f"seed={s}"], folder) for s in range(4))],
              (7 + 9 * DUAL) / 7)
        print()
        long = "search.adam.stop.iterations=420"
        print(f"adam, a step as {cost:g} simulations:\n")
        sobol = ["search.adam.start=sobol", long]
        table([trials_of(adam, [long], folder), *(trials_of(adam, [*sobol, f"seed={s}"], folder) for s in range(4))],
              cost)
        print("\ncmaes:\n")
        table([trials_of(cmaes, [f"seed={s}", "search.cmaes.stop.trials=2000"], folder) for s in range(5)], 1)


main()
