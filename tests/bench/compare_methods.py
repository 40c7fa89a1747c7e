#!/usr/bin/env python3
"""Search methods on the functions of the model bbob: the share of 41 targets, 10^2 to 10^-6, that are reached within
10, 20, 50 and 100 evaluations per dimension. Beside ours stand the reference implementation of the CMA-ES (package cma:
fmin2, fmin_lq_surr2) and restarts of SLSQP with forward differences (scipy); without a package its rows are left out.
bayesian and auto run for up to 2,000 trials.

    compare_methods.py BENCH_SEARCH [DIMENSIONS [INSTANCES [FUNCTIONS [JOBS [METHODS]]]]]
                                    5,10        1-5        1-24       1     all

The values of all come from one program. Starts: uniform in [-4, 4]^n, sigma 2, bounds [-5, 5].
"""
import collections
import importlib
import multiprocessing
import os
import struct
import subprocess
import sys
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # these matrices are small

TARGETS = [10.0 ** (2 - k / 5) for k in range(41)]
BUDGETS = [10, 20, 50, 100]
GROUPS = {"separable": range(1, 6), "moderate": range(6, 10), "ill": range(10, 15), "multimodal": range(15, 20),
          "weak": range(20, 25)}
OURS = {"cmaes": ("cmaes", "sigma: 0.2, restarts: ipop, stop: {"),
        "surrogate": ("cmaes", "sigma: 0.2, surrogate: quadratic, restarts: ipop, stop: {"),
        "bayesian": ("bayesian", "stop: {"), "lbfgs": ("lbfgs", "restarts: 16, stop: {"),
        **{name: ("lbfgs", f"forward: 1e-8, line: 1, rate: 0.5, memory: 100, start: random, restarts: {restarts}, "
                           "stop: {iterations: 100000, ") for name, restarts in (("lbfgs serial", 16), ("descent", 0))}}
HAND_OVER = "descent surrogate"  # what the first leaves of the evaluations; no method of ours does it
AUTO = {"auto": "", "auto smooth": ", smooth: true"}
THEIRS = {"pycma": "cma", "pycma lq": "cma", "slsqp": "scipy"}


def shares(values, dimension):
    """For each budget the share of the targets that one of these values reaches."""
    found = []
    for budget in BUDGETS:
        best = min(values[: budget * dimension], default=float("inf"))
        found.append(sum(best <= target for target in TARGETS) / len(TARGETS))
    return found


def ours(program, name, function, dimension, instance, trials):
    if name in AUTO:
        method, text = "auto", f"trials: {trials}{AUTO[name]}"
    else:
        method, options = OURS[name]
        text = f"{options}target: 1e-8, trials: {trials}}}"
    command = [program, "trace", str(function), str(dimension), str(instance), method, text]
    return [float(line) for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()]


class Enough(Exception):
    """The evaluations are used up."""


def slsqp(value, random, dimension, most):
    import scipy.optimize

    count = 0

    def counted(x):
        nonlocal count
        if count == most:
            raise Enough
        count += 1
        return value(x)

    try:
        while True:
            scipy.optimize.minimize(counted, random.uniform(-4, 4, dimension), method="SLSQP",
                                    bounds=[(-5, 5)] * dimension, options={"ftol": 1e-12, "maxiter": most})
    except Enough:
        pass


def theirs(program, name, function, dimension, instance):
    import numpy

    warnings.filterwarnings("ignore")
    command = [program, "values", str(function), str(dimension), str(instance)]
    pipe = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    seen = []

    def value(x):
        pipe.stdin.write(struct.pack(f"{dimension}d", *x))
        pipe.stdin.flush()
        seen.append(struct.unpack("d", pipe.stdout.read(8))[0])
        return seen[-1]

    random = numpy.random.RandomState(1000 * function + instance)
    if name == "slsqp":
        slsqp(value, random, dimension, BUDGETS[-1] * dimension)
        pipe.stdin.close()
        pipe.wait()
        return seen
    import cma

    options = {"bounds": [-5, 5], "ftarget": 1e-8, "maxfevals": BUDGETS[-1] * dimension, "verbose": -9,
               "seed": 100 * function + instance}
    search = cma.fmin_lq_surr2 if name == "pycma lq" else cma.fmin2
    search(value, lambda: random.uniform(-4, 4, dimension), 2.0, options, restarts=9)
    pipe.stdin.close()
    pipe.wait()
    return seen


def one(task):
    program, name, function, dimension, instance = task
    budgets = [budget * dimension for budget in BUDGETS]
    if name in AUTO: # another method for each budget
        runs = [ours(program, name, function, dimension, instance, budget) for budget in budgets]
        return [share for k, run in enumerate(runs) for share in shares(run, dimension)[k : k + 1]]
    if name == "bayesian":
        return shares(ours(program, name, function, dimension, instance, min(budgets[-1], 2000)), dimension)
    if name == HAND_OVER:
        runs = [ours(program, part, function, dimension, instance, budgets[-1]) for part in ("descent", "surrogate")]
        return shares(sum(runs, []), dimension)
    if name in OURS:
        return shares(ours(program, name, function, dimension, instance, budgets[-1]), dimension)
    return shares(theirs(program, name, function, dimension, instance), dimension)


def numbers(text):
    """1-3,7: 1, 2, 3, 7"""
    ends = [part.split("-") for part in text.split(",")]
    return [number for end in ends for number in range(int(end[0]), int(end[-1]) + 1)]


def table(title, rows, found):
    print(f"\n{title:24s}" + "".join(f"{f'{budget} n':>8s}" for budget in BUDGETS))
    for name in rows:
        mean = [sum(column) / len(column) for column in zip(*found[name])]
        print(f"{name:24s}" + "".join(f"{value:8.3f}" for value in mean))


def main(program, dimensions="5,10", instances="1-5", functions="1-24", jobs="1", methods="all"):
    names = [*OURS, HAND_OVER, *AUTO, *THEIRS] if methods == "all" else methods.split(",")
    for name in [name for name in names if name in THEIRS]:
        try:
            package = importlib.import_module(THEIRS[name])
            print(f"{name}: {package.__name__} {package.__version__}")
        except ImportError:
            print(f"without the package {THEIRS[name]}: no {name}")
            names.remove(name)
    for dimension in numbers(dimensions):
        tasks = [(program, name, function, dimension, instance) for name in names for function in numbers(functions)
                 for instance in numbers(instances)]
        with multiprocessing.Pool(int(jobs)) as pool:
            results = pool.map(one, tasks, chunksize=4)
        for title, members in {"all": numbers(functions), **GROUPS}.items():
            found = collections.defaultdict(list)
            for task, result in zip(tasks, results):
                if task[2] in members:
                    found[task[1]].append(result)
            if found:
                table(f"n = {dimension}, {title}", names, found)
        for function in numbers(functions):
            found = collections.defaultdict(list)
            for task, result in zip(tasks, results):
                if task[2] == function:
                    found[task[1]].append(result)
            table(f"n = {dimension}, f{function}", names, found)


if __name__ == "__main__":
    main(*sys.argv[1:])
