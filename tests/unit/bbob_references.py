#!/usr/bin/env python3
"""Prints bbob_references of test_bbob.c: values of COCO's suite bbob (package coco-experiment) above f_opt
at x_i = 8 ((7 i) mod 11)/11 - 4, i from 1, for these dimensions and instances."""
import os
import tempfile

import cocoex

CASES = [(2, 1), (3, 7), (5, 2), (10, 15), (20, 4), (40, 11)]
os.chdir(tempfile.mkdtemp())
for function in range(1, 25):
    row = []
    for dimension, instance in CASES:
        problem = cocoex.Suite(
            "bbob", "instances: %d" % instance, "dimensions: %d function_indices: %d" % (dimension, function)
        ).get_problem(0)
        problem._best_parameter("print")
        with open("._bbob_problem_best_parameter.txt") as file:
            optimum = [float(word) for word in file.read().split()]
        x = [8 * (7 * i % 11) / 11 - 4 for i in range(1, dimension + 1)]
        row.append("%.15g" % (problem(x) - problem(optimum)))
    print("    {%s}," % ", ".join(row))
