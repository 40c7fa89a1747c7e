#!/usr/bin/env python3
"""What `hopscotch fit` names as not determined, and which plans fail as undetermined, beside singular values by numpy:
random linear residuals r = J p - y in which some groups of parameters change nothing together.

    tests/undetermined.py HOPSCOTCH [CASES]

Groups and ranges are random; ranges differ by powers of ten, so that a parameter may hold another one with little of
its range. Each group has one direction, which numpy finds as a null space of J; `fit` must name each group, whole and
by itself, and a plan must fail if there is one, whatever J is multiplied by.
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np


def spec(J, y, span, plan):
    """The spec of one case. A plan is at the value 1 of each parameter, so that errors are relative to 1."""
    n, rows = J.shape[1], J.shape[0]
    names = [f"p{i}" for i in range(n)]
    residuals = ["\"" + " + ".join(f"({float(J[k, i])!r})*p{i}" for i in range(n)) + f" - ({float(y[k])!r})\""
                 for k in range(rows)]
    search = ("{method: grid, over: {other: [0]}}" if plan else
              "{method: least_squares, least_squares: {start: center}, over: {"
              + ", ".join(f"{name}: {{range: [{-span[i]:g}, {span[i]:g}]}}" for i, name in enumerate(names)) + "}}")
    information = f", information: {{of: [{', '.join(names)}], noise: 1, criterion: D}}" if plan else ""
    return ("version: 1\nexperiment: case\nmodel: equations\nsimulation:\n  duration: 1\n  system:\n    parameters: {"
            + ", ".join(f"{name}: {{value: 1}}" for name in names) + ", other: {value: 0}}\n"
            "    states: {x: {start: 0}}\n    rates: {x: 1}\n    metrics: {end: {final: x}}\n"
            f"search: {search}\nobjective:\n  {{residuals: [{', '.join(residuals)}]{information}}}\n")


def random_case(numbers):
    n = int(numbers.integers(2, 8))
    rows = int(numbers.integers(n + 3, n + 6))
    order, groups, at = numbers.permutation(n), [], 0
    while at < n and numbers.random() < 0.6:
        size = int(numbers.integers(1, 5))
        groups.append(sorted(int(i) for i in order[at:at + size]))
        at += size
    span = 10.0 ** numbers.integers(-1, 3, n)
    J = np.round(numbers.normal(size=(rows, n)), 2) / span  # few digits: an expression has at most 4,096 characters
    for group in groups:
        weight = numbers.uniform(0.5, 2, len(group)) * numbers.choice([-1, 1], len(group)) \
            * 10.0 ** numbers.integers(-1, 2, len(group))
        last = group[-1]
        J[:, last] = -sum(J[:, i] * w for i, w in zip(group[:-1], weight)) / weight[-1] if len(group) > 1 else 0.0
    y = J @ (span * numbers.uniform(-0.5, 0.5, n)) + 1e-8 * numbers.normal(size=rows)
    return J, y, span, groups


def hopscotch(folder, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, cwd=folder)


def named(said):
    """The groups that the lines `unknown` name."""
    lines = [line[12:].split(":")[0].replace(" together", "") for line in said.splitlines() if line.startswith("unknown")]
    return sorted(sorted(int(name[1:]) for name in re.split(r", | and ", line)) for line in lines)


def check(folder, J, y, span, groups):
    """What is wrong; None: nothing."""
    scaled = J * span
    values = np.linalg.svd(scaled / np.maximum(np.linalg.norm(scaled, axis=0), 1e-300), compute_uv=False)
    if int((values < 1e-9).sum()) != len(groups):
        return "the case is not as it was made"
    for plan in (False, True):
        with open(os.path.join(folder, "case.yaml"), "w") as out:
            out.write(spec(J, y, span, plan))
        name = "plan" if plan else "case"
        ran = hopscotch(folder, "run", "case.yaml", "--name", name, "--progress", "none")
        if ran.returncode != 0:
            return f"{ran.returncode}: {ran.stderr}{ran.stdout}"
        said = hopscotch(folder, "fit", f"{name}/0" if plan else f"{name}/best").stderr
        if plan and ("relative error infinite" in said) != bool(groups):
            return f"a plan with the groups {groups}: {said}"
        if not plan and named(said) != sorted(groups):
            return f"groups {groups}, and it said\n{said}"
    return None


program, cases = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100
wrong = 0
for seed in range(cases):
    with tempfile.TemporaryDirectory() as work:
        trouble = check(work, *random_case(np.random.default_rng(seed)))
        if trouble is not None:
            wrong += 1
            print(f"case {seed}: {trouble}")
print(f"{cases} cases, {wrong} wrong")
sys.exit(wrong > 0)
