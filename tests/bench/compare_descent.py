#!/usr/bin/env python3
"""What adam, lbfgs and cmaes reach with equal numbers of trials, on bbob functions and the hopper.

    python3 tests/bench/compare_descent.py build/hopscotch          (2 minutes on two cores; prints Markdown)

bbob: 15 searches from random starts, up to 1,000 n trials each, which end at 1e-8 above the optimum: the median of the
best values, how many got there, and their median number of trials. Hopper: eight gains from the model's defaults, 1,000
trials of eight runs of 5 s, five seeds: least, median and greatest fitness, and how many trials it took.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
SEARCHES, TARGET = 15, 1e-8
BBOB = """version: 1
experiment: {name}
seed: 3
model: bbob
simulation: {{function: {function}, dimension: {n}}}
search:
  method: {method}
  over: {{{over}}}
  {method}: {{searches: {searches}, start: random, {options}, stop: {{target: {target}, trials: {trials}{more}}}}}
"""
HOPPER = """version: 1
experiment: {name}
seed: {seed}
model: hopper
simulation: {{duration: 5.0, dt: 1.0e-4, integrator: implicit_midpoint, settle: 1.0}}
parameters: {{x_dot_des: 2.0}}
search:
  method: {method}
  over:
    k_fp:         {{range: [30, 500], scale: log}}
    b_fp:         {{range: [3, 50], scale: log}}
    k_att:        {{range: [30, 500], scale: log}}
    b_att:        {{range: [3, 50], scale: log}}
    k_xdot:       {{range: [0.0, 0.15]}}
    thrust:       {{range: [15, 80], scale: log}}
    T_max_thrust: {{range: [0.05, 0.3]}}
    z_low:        {{range: [0.002, 0.05], scale: log}}
  {method}: {{start: default, {options}, stop: {{trials: 1000}}}}
replicates:
  count: 8
  common: true
  perturb: {{phi_leg: {{normal: [0.01, 0.02]}}, z_foot: {{uniform: [0.35, 0.45]}}}}
objective: {{minimize: "velocity_error + 0.1*cost_of_transport + attitude_rms", over: mean, failed: any}}
"""


def searches(folder, spec, name):
    path = os.path.join(folder, name + ".yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(spec)
    for arguments in (["run", path, "--progress", "none"], ["status", name, "--json"]):
        out = subprocess.run([PROGRAM, *arguments, "--results", folder], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)["searches"]


def bbob_options(method, n):
    iterations = 1000 * n // (2 * n + 1)
    return {"cmaes": ("sigma: 0.2", ""),
            "adam": ("difference: 1e-6, rate: 0.05, schedule: cosine", f", iterations: {iterations}"),
            "lbfgs": ("difference: 1e-6", ", iterations: 100000")}[method]


def bbob_row(folder, function, n):
    cells = []
    for method in ("cmaes", "adam", "lbfgs"):
        options, more = bbob_options(method, n)
        name = f"{function}_{n}_{method}"
        over = ", ".join(f"x{i + 1}: {{range: [-5, 5]}}" for i in range(n))
        spec = BBOB.format(name=name, function=function, n=n, method=method, over=over, options=options, more=more,
                           searches=SEARCHES, target=TARGET, trials=1000 * n)
        rows = searches(folder, spec, name)
        there = [row["evaluations"] for row in rows if row["best"] <= TARGET]
        best = statistics.median(row["best"] for row in rows)
        cells.append(f"{best:.1e}; {len(there)}" + (f" in {statistics.median(there):,.0f}" if there else ""))
    print(f"| {function} | {n} | {' | '.join(cells)} |", flush=True)


def hopper_row(folder, method, options):
    rows = [searches(folder, HOPPER.format(name=f"hopper_{seed}", seed=seed, method=method, options=options),
                     f"hopper_{seed}")[0] for seed in range(1, 6)]
    best = sorted(row["best"] for row in rows)
    trials = statistics.median(row["evaluations"] for row in rows)
    print(f"| {method} | {options} | {best[0]:.4f} | {best[2]:.4f} | {best[4]:.4f} | {trials:,.0f} |", flush=True)


def main():
    print("| function | n | cmaes | adam | lbfgs |\n|---|---|---|---|---|")
    for function in ("sphere", "ellipsoid_separable", "ellipsoid", "rosenbrock", "rosenbrock_rotated"):
        for n in (2, 5, 10):
            with tempfile.TemporaryDirectory() as folder:
                bbob_row(folder, function, n)
    print("\n| hopper by | options | least | median | greatest | trials |\n|---|---|---|---|---|---|")
    for method, options in (("cmaes", "sigma: 0.1"), ("adam", "difference: 1e-2"), ("adam", "difference: 1e-3"),
                            ("lbfgs", "difference: 1e-2"), ("lbfgs", "difference: 1e-3")):
        with tempfile.TemporaryDirectory() as folder:
            hopper_row(folder, method, options)


main()
