#!/usr/bin/env python3
"""Evaluations that pycma needs to 1e-8 on four functions of the BBOB report (Hansen, Finck, Ros & Auger, INRIA RR-6829,
2009; f1, f8, f10, f14) of 5 numbers, medians over seeds, as CSV like bbob_pycma.csv:

    python3 tests/papers/bbob_pycma.py [RUNS] >tests/papers/bbob_pycma.csv

needs numpy and cma (pip install numpy cma). A run has a start, an optimum and a rotation of its own.
"""
import math
import statistics
import sys
import warnings

import cma
import numpy

N, TARGET = 5, 1e-8
RAMP = numpy.arange(N)/(N - 1)


def wrinkled(x):
    """T_osz of the report."""
    size = numpy.log(numpy.abs(numpy.where(x == 0, 1, x)))
    low, high = numpy.where(x > 0, 10.0, 5.5), numpy.where(x > 0, 7.9, 3.1)
    return numpy.where(x == 0, 0, numpy.sign(x)*numpy.exp(size + 0.049*(numpy.sin(low*size) + numpy.sin(high*size))))


def function(name, numbers):
    turn, _ = numpy.linalg.qr(numbers.standard_normal((N, N)))
    best = numbers.uniform(-4, 4, N)
    if name == "sphere":
        return lambda x: float(numpy.sum((x - best)**2))
    if name == "ellipsoid":
        return lambda x: float(numpy.sum(10**(6*RAMP)*wrinkled(turn @ (x - best))**2))
    if name == "different_powers":
        return lambda x: math.sqrt(float(numpy.sum(numpy.abs(turn @ (x - best))**(2 + 4*RAMP))))

    def rosenbrock(x):
        z = max(1, math.sqrt(N)/8)*(x - 0.75*best) + 1
        return float(numpy.sum(100*(z[:-1]**2 - z[1:])**2 + (z[:-1] - 1)**2))
    return rosenbrock


def evaluations(name, seed, surrogate):
    """Until the first value that meets the target; none if the run ends before."""
    numbers = numpy.random.default_rng(seed)
    value, counted = function(name, numbers), {"n": 0, "hit": None}

    def counting(x):
        counted["n"] += 1
        result = value(numpy.asarray(x))
        if counted["hit"] is None and result <= TARGET:
            counted["hit"] = counted["n"]
        return result
    options = {"bounds": [-5, 5], "ftarget": TARGET, "verbose": -9, "seed": seed + 1, "maxfevals": 20000}
    start = numbers.uniform(-4, 4, N)
    if surrogate:
        cma.fmin_lq_surr2(counting, start, 2.0, options)
    else:
        cma.fmin2(counting, start, 2.0, options)
    return counted["hit"]


warnings.filterwarnings("ignore")
runs = int(sys.argv[1]) if len(sys.argv) > 1 else 25
print("function,surrogate,runs,successes,median")
for surrogate in (False, True):
    for name in ("sphere", "rosenbrock", "ellipsoid", "different_powers"):
        hits = [evaluations(name, seed, surrogate) for seed in range(runs)]
        median = statistics.median([math.inf if hit is None else hit for hit in hits])
        print(f"{name},{'lq' if surrogate else 'none'},{runs},{sum(hit is not None for hit in hits)},{median:g}", flush=True)
