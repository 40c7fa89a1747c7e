#!/usr/bin/env python3
"""cmaes with and without its surrogate beside the reference implementation (package cma: fmin2, fmin_lq_surr2) on the
functions of the model bbob: the share of 41 targets, 10^2 to 10^-6, that are reached within 10, 20, 50 and 100
evaluations per dimension. Without the package it measures ours alone.

    compare_surrogate.py BENCH_SEARCH [DIMENSIONS [INSTANCES [FUNCTIONS [JOBS]]]]     5,10 1-5 1-24 1

The values of both come from one program. Starts: uniform in [-4, 4]^n, sigma 2, bounds [-5, 5].
"""
import collections
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
OURS = {"cmaes": "", "surrogate": "surrogate: quadratic, "}


def shares(values, dimension):
    """For each budget the share of the targets that one of these values reaches."""
    found = []
    for budget in BUDGETS:
        best = min(values[: budget * dimension], default=float("inf"))
        found.append(sum(best <= target for target in TARGETS) / len(TARGETS))
    return found


def ours(program, options, function, dimension, instance):
    text = options + f"restarts: ipop, stop: {{target: 1e-8, trials: {BUDGETS[-1] * dimension}}}"
    command = [program, "trace", str(function), str(dimension), str(instance), text]
    return [float(line) for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()]


def theirs(program, with_model, function, dimension, instance):
    import cma
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
    options = {"bounds": [-5, 5], "ftarget": 1e-8, "maxfevals": BUDGETS[-1] * dimension, "verbose": -9,
               "seed": 100 * function + instance}
    search = cma.fmin_lq_surr2 if with_model else cma.fmin2
    search(value, lambda: random.uniform(-4, 4, dimension), 2.0, options, restarts=9)
    pipe.stdin.close()
    pipe.wait()
    return seen


def one(task):
    program, name, function, dimension, instance = task
    if name in OURS:
        return shares(ours(program, OURS[name], function, dimension, instance), dimension)
    return shares(theirs(program, name == "pycma lq", function, dimension, instance), dimension)


def numbers(text):
    """1-3,7: 1, 2, 3, 7"""
    ends = [part.split("-") for part in text.split(",")]
    return [number for end in ends for number in range(int(end[0]), int(end[-1]) + 1)]


def table(title, rows, found):
    print(f"\n{title:24s}" + "".join(f"{f'{budget} n':>8s}" for budget in BUDGETS))
    for name in rows:
        mean = [sum(column) / len(column) for column in zip(*found[name])]
        print(f"{name:24s}" + "".join(f"{value:8.3f}" for value in mean))


def main(program, dimensions="5,10", instances="1-5", functions="1-24", jobs="1"):
    names = list(OURS)
    try:
        import cma

        names += ["pycma", "pycma lq"]
        print(f"cma {cma.__version__}")
    except ImportError:
        print("without the package cma: ours alone")
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
