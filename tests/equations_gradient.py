"""Gradients of random systems (equations_random.py): the adjoint and the tangent agree to rounding, and of smooth
systems both agree with differences.

    python3 tests/equations_gradient.py HOPSCOTCH FIRST COUNT

Systems FIRST to FIRST + COUNT - 1; every third smooth system gets noise, whose path differences keep, and three
replicates. The objective is a sum of all metrics of a system that have a
derivative and are finite, with random weights. A difference whose steps do not agree with each other says nothing.

Adaptive steps of the run are frozen in a derivative, and move in a difference, by which the error of a step changes:
of system 551, across a knot of a table, by 3e-5 at the tolerance 1e-9, where the derivative is off by 6e-6. Both tend
to the derivative of the motion. So a system of dormand_prince whose difference is off is compared again at 1e-12.
"""
import csv
import math
import random
import shutil
import subprocess
import sys

import equations_random


def kept_metrics(system):
    names = [kind + s for s in system.states for kind in ("end_", "sum_")]
    names += ["root", "share", "begins", "ends", "top", "low"]
    for mode in system.modes:
        for event in system.events[mode]:
            names += ["f_" + event["name"], "v_" + event["name"]]
    return names


def run(program, text, *options):
    shutil.rmtree("results/gradient", ignore_errors=True)
    with open("gradient.yaml", "w") as file:
        file.write(text)
    done = subprocess.run([program, "run", "gradient.yaml", "--name", "gradient", "--progress", "none", *options],
                          capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError("run failed: " + done.stderr[-600:])


def rows(program, *command):
    done = subprocess.run([program, *command, "--format", "csv"], capture_output=True, text=True)
    return list(csv.DictReader(done.stdout.splitlines())), done.stderr


def number(text):
    return float(text) if text else math.nan


def compare(program, system, seed, tolerance):
    """What differs, or None; the rows that were looked at, those with differences."""
    integrators = ["dormand_prince", "rk4", "rodas5p", "implicit_midpoint", "semi_implicit_euler"]
    integrator = integrators[seed // 2 % 5]
    if system.smooth and seed % 3 == 0:
        system.integrator = ["euler_maruyama", "sra3"][seed // 6 % 2]
        system.add_noise()
    noisy = system.integrator in ("sra3", "euler_maruyama")
    if noisy:
        integrator = system.integrator
    names = ["a", "b"] + system.states
    point = ", ".join("%s: %.17g" % (n, dict(system.parameters, **system.start)[n]) for n in names)
    search = "search={method: list, points: [{%s}]}" % point
    text = system.text(integrator, tolerance if system.smooth else "1e-6")
    text = text[:text.index("record:")] if "record:" in text else text
    text += "replicates: {count: 3}\n" if noisy else ""
    run(program, text, "--set", search)
    table, _ = rows(program, "query", "gradient", "--columns", "all")
    if not table or table[0]["failure"] != "none":
        return None, 0, 0
    weight = random.Random(seed)
    terms = ["%.6g*%s" % (weight.uniform(-1, 1), m) for m in kept_metrics(system)
             if math.isfinite(number(table[0].get(m, "")))]
    run(program, text, "--set", search, "--set", 'objective={minimize: "%s"}' % " + ".join(terms))
    table, said = rows(program, "gradient", "gradient/0")
    if "no adjoint" in said or not table:
        return "no gradient: " + said, 0, 0
    looked = differences = 0
    size = max([abs(number(r["adjoint"])) for r in table if r["adjoint"]] + [0.0])
    for r in table:
        adjoint, tangent, difference = (number(r[k]) for k in ("adjoint", "tangent", "difference"))
        if math.isnan(adjoint) and math.isnan(tangent) or not system.smooth and math.isnan(adjoint + tangent):
            continue  # what is not smooth may have none, by the one or the other rounding
        looked += 1
        if not abs(adjoint - tangent) <= 1e-9 * (abs(tangent) + 1e-3 * size + 1e-9):
            return "%s: adjoint %.17g, tangent %.17g" % (r["parameter"], adjoint, tangent), looked, differences
        error = number(r["error"])
        if not system.smooth or r["remark"] or not error <= 1e-7 * (abs(difference) + 1e-3 * size + 1e-6):
            continue
        differences += 1
        # located on a cubic, of which the step is not one
        near = {"implicit_midpoint": 2e-4, "sra3": 1e-2}.get(integrator, 1e-5)
        if not abs(adjoint - difference) <= 20 * error + near * (abs(difference) + 1e-2 * size + 1e-6):
            return "%s: adjoint %.12g, difference %.12g (+- %.1g), %s" % (r["parameter"], adjoint, difference, error,
                                                                         integrator), looked, differences
    return None, looked, differences


def main():
    program, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    failed = looked = differences = systems = again = 0
    for seed in range(first, first + count):
        system = equations_random.System(seed)
        systems += 1
        wrong, rows_looked, rows_differences = compare(program, system, seed, "1e-9")
        if wrong and wrong.endswith("dormand_prince"):
            again += 1
            wrong, rows_looked, rows_differences = compare(program, equations_random.System(seed), seed, "1e-12")
        looked += rows_looked
        differences += rows_differences
        if wrong:
            failed += 1
            print("FAIL system %d: %s" % (seed, wrong))
    print("%d random systems, %d of them twice, %d derivatives by adjoint and tangent, %d of them by differences: "
          "%d wrong" % (systems, again, looked, differences, failed))
    return failed > 0 or looked == 0 or differences == 0


if __name__ == "__main__":
    sys.exit(main())
