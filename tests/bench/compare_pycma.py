#!/usr/bin/env python3
"""BIPOP-CMA-ES of the reference implementation (package cma) on the functions of the model bbob, as CSV like that of
build/bench_search; then both are compared.

    compare_pycma.py measure BENCH_SEARCH DIMENSIONS INSTANCES BUDGET [FUNCTIONS] >pycma.csv    # 1-12,17
    compare_pycma.py compare tests/bench/search.csv pycma.csv
    compare_pycma.py evaluations BENCH_SEARCH DIMENSIONS RUNS FUNCTIONS

The last one counts the evaluations until 1e-8 of one search without restarts on instances 1 to RUNS, ours (sigma 0.2 of
the ranges, as pycma's 2): means with standard errors, medians, and the ratio of the means.
"""
import csv
import math
import statistics
import struct
import subprocess
import sys
import warnings

TARGETS = [10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-5, 1e-8]


def run(program, function, dimension, instance, budget):
    """Evaluations in all, and those until each target (None: never)."""
    import cma
    import numpy

    command = [program, "values", str(function), str(dimension), str(instance)]
    values = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    state = {"count": 0, "hit": [None] * len(TARGETS)}

    def evaluate(points):
        """A whole generation at once: the program answers behind the pipe while more points go into it."""
        values.stdin.write(b"".join(struct.pack(f"{dimension}d", *x) for x in points))
        values.stdin.flush()
        fitness = struct.unpack(f"{len(points)}d", values.stdout.read(8 * len(points)))
        for value in fitness:
            state["count"] += 1
            for k, target in enumerate(TARGETS):
                if state["hit"][k] is None and value <= target:
                    state["hit"][k] = state["count"]
        return list(fitness)

    random = numpy.random.RandomState(1000 * function + instance)
    options = {"bounds": [-5, 5], "ftarget": 1e-8, "maxfevals": budget * dimension, "verbose": -9, "seed": instance}
    start = lambda: random.uniform(-4, 4, dimension)
    cma.fmin2(None, start, 2.0, options, restarts=9, bipop=True, parallel_objective=evaluate)
    values.stdin.close()
    values.wait()
    return state["count"], state["hit"]


def numbers(text):
    """1-3,7: 1, 2, 3, 7"""
    ends = [part.split("-") for part in text.split(",")]
    return [number for end in ends for number in range(int(end[0]), int(end[-1]) + 1)]


def measure(program, dimensions, instances, budget, functions):
    warnings.filterwarnings("ignore")
    print("function,dimension,target,successes,runs,expected_running_time")
    for dimension in dimensions:
        for function in functions:
            runs = [run(program, function, dimension, i, budget) for i in range(1, instances + 1)]
            for k, target in enumerate(TARGETS):
                successes = sum(hit[k] is not None for _, hit in runs)
                spent = sum(hit[k] if hit[k] is not None else count for count, hit in runs)
                ert = f"{spent / successes:.0f}" if successes else "inf"
                print(f"f{function},{dimension},{target:g},{successes},{instances},{ert}", flush=True)


def evaluations(program, dimension, function, runs):
    import cma
    import numpy

    def ours(instance):
        command = [program, "trace", str(function), str(dimension), str(instance), "cmaes",
                   f"sigma: 0.2, stop: {{target: 1e-8, trials: {2000 * dimension}}}"]
        values = [float(line) for line in subprocess.run(command, check=True, capture_output=True).stdout.split()]
        return next((k for k, value in enumerate(values, 1) if value <= 1e-8), None)

    def theirs(instance):
        command = [program, "values", str(function), str(dimension), str(instance)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as values:
            hit, count = None, 0

            def value(points):
                nonlocal hit, count
                values.stdin.write(b"".join(struct.pack(f"{dimension}d", *x) for x in points))
                values.stdin.flush()
                fitness = list(struct.unpack(f"{len(points)}d", values.stdout.read(8 * len(points))))
                for one in fitness:
                    count += 1
                    hit = count if hit is None and one <= 1e-8 else hit
                return fitness

            random = numpy.random.RandomState(1000 * function + instance)
            options = {"bounds": [-5, 5], "ftarget": 1e-8, "maxfevals": 2000 * dimension, "verbose": -9, "seed": instance}
            cma.fmin2(None, random.uniform(-4, 4, dimension), 2.0, options, parallel_objective=value)
            values.stdin.close()
        return hit

    means = []
    for name, search in ("cmaes", ours), ("pycma", theirs):
        found = [search(instance) for instance in range(1, runs + 1)]
        hits = [count for count in found if count is not None]
        means.append((statistics.mean(hits), statistics.stdev(hits) / len(hits) ** 0.5))
        print(f"f{function} n = {dimension} {name}: {means[-1][0]:.0f} +- {means[-1][1]:.0f}, median "
              f"{statistics.median(hits):.0f}; {len(hits)} of {runs}", flush=True)
    (a, da), (b, db) = means
    print(f"f{function} n = {dimension}: {a / b:.3f} +- {a / b * math.hypot(da / a, db / b):.3f}", flush=True)


def compare(ours, theirs):
    def read(path):
        return {(row["function"], row["dimension"], row["target"]): row for row in csv.DictReader(open(path))}

    ours, theirs = read(ours), read(theirs)
    for dimension in sorted({key[1] for key in theirs}, key=int):
        keys = [key for key in ours if key in theirs and key[1] == dimension]
        ratios = []
        for key in keys:
            pair = [float(table[key]["expected_running_time"]) for table in (ours, theirs)]
            if math.isfinite(pair[0]) and math.isfinite(pair[1]):
                ratios.append(pair[0] / pair[1])
        last = [key for key in keys if key[2] == "1e-08"]
        solved = [sum(int(table[key]["successes"]) for key in last) for table in (ours, theirs)]
        runs = sum(int(ours[key]["runs"]) for key in last)
        print(
            f"dimension {dimension}: runs solved to 1e-8 {solved[0]} and {solved[1]} of {runs},"
            f" median ratio of expected running times {statistics.median(ratios):.3f} over {len(ratios)} pairs"
        )


if __name__ == "__main__":
    if sys.argv[1] == "measure":
        functions = numbers(sys.argv[6] if len(sys.argv) > 6 else "1-24")
        measure(sys.argv[2], numbers(sys.argv[3]), int(sys.argv[4]), int(float(sys.argv[5])), functions)
    elif sys.argv[1] == "evaluations":
        warnings.filterwarnings("ignore")
        for dimension in numbers(sys.argv[3]):
            for function in numbers(sys.argv[5]):
                evaluations(sys.argv[2], dimension, function, int(sys.argv[4]))
    else:
        compare(sys.argv[2], sys.argv[3])
