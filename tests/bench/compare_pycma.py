#!/usr/bin/env python3
"""BIPOP-CMA-ES of the reference implementation (package cma) on the functions of the model bbob, as CSV like that of
build/bench_search; then both are compared.

    compare_pycma.py measure BENCH_SEARCH DIMENSIONS INSTANCES BUDGET >pycma.csv
    compare_pycma.py compare tests/bench/search.csv pycma.csv
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

    def objective(x):
        values.stdin.write(struct.pack(f"{dimension}d", *x))
        values.stdin.flush()
        value = struct.unpack("d", values.stdout.read(8))[0]
        state["count"] += 1
        for k, target in enumerate(TARGETS):
            if state["hit"][k] is None and value <= target:
                state["hit"][k] = state["count"]
        return value

    random = numpy.random.RandomState(1000 * function + instance)
    options = {"bounds": [-5, 5], "ftarget": 1e-8, "maxfevals": budget * dimension, "verbose": -9, "seed": instance}
    cma.fmin2(objective, lambda: random.uniform(-4, 4, dimension), 2.0, options, restarts=9, bipop=True)
    values.stdin.close()
    values.wait()
    return state["count"], state["hit"]


def measure(program, dimensions, instances, budget):
    warnings.filterwarnings("ignore")
    print("function,dimension,target,successes,runs,expected_running_time")
    for dimension in dimensions:
        for function in range(1, 25):
            runs = [run(program, function, dimension, i, budget) for i in range(1, instances + 1)]
            for k, target in enumerate(TARGETS):
                successes = sum(hit[k] is not None for _, hit in runs)
                spent = sum(hit[k] if hit[k] is not None else count for count, hit in runs)
                ert = f"{spent / successes:.0f}" if successes else "inf"
                print(f"f{function},{dimension},{target:g},{successes},{instances},{ert}", flush=True)


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
        measure(sys.argv[2], [int(d) for d in sys.argv[3].split(",")], int(sys.argv[4]), int(float(sys.argv[5])))
    else:
        compare(sys.argv[2], sys.argv[3])
