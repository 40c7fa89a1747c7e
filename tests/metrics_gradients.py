"""Gradients through random smooth metrics of the user's own over the columns of robots (`metrics:` of a spec).

    python3 tests/metrics_gradients.py HOPSCOTCH EXPERIMENTS FIRST COUNT

In the current folder. Round r runs one of the specs below with metrics made from the seed r and a sum of them as the
objective, and derives it at a trial by the parameters that are searched. The adjoint agrees with dual numbers up to
rounding, and with central differences as far as these are known, at most to 1e-5.
"""
import csv
import io
import json
import os
import random
import sys

import metrics_random

SPECS = {"robot_gait": {"simulation.duration": 0.2, "simulation.frames": "[trunk, hind_left_shank_link]"},
         "pendulum_chain": {"simulation.duration": 0.4, "simulation.frames": "[rod4, rod9]"},
         "biped_codesign_adam": {"simulation.duration": 0.15, "simulation.frames": "[left_foot]"}}
SMOOTH = ["-(%s)", "sin(%s)", "cos(%s)", "tanh(%s)", "atan(%s)", "exp(-(%s)^2)", "sqrt(1 + (%s)^2)", "%s + %s",
          "%s - %s", "(%s)*(%s)", "(%s)/(1 + (%s)^2)", "hypot(1 + (%s)^2, %s)", "atan2(%s, 2 + cos(%s))",
          "(1 + (%s)^2)^0.75", "if(time > 0.1, %s, %s)"]


def expression(r, names, depth):
    if depth == 0 or r.random() < 0.2:
        return "(%g*%s)" % (round(r.uniform(0.2, 1), 2), r.choice(names))
    form = r.choice(SMOOTH)
    return form % tuple(expression(r, names, depth - 1) for _ in range(form.count("%s")))


def settings_of(r, names, own):
    metrics = {"own_%d" % i: {r.choice(["final", "mean", "rms", "integral"]): expression(r, names, 3)}
               for i in range(r.randint(1, 4))}
    objective = " + ".join("%g*%s" % (round(r.uniform(0.5, 2), 2), name) for name in metrics)
    return {**own, "metrics": json.dumps(metrics), "objective": json.dumps({"minimize": objective})}


def number(text):
    return float(text) if text else float("nan")


# The number of known differences, and what is wrong.
def compare(rows):
    known = 0
    for row in rows:
        adjoint, tangent = number(row["adjoint"]), number(row["tangent"])
        difference, error = number(row["difference"]), number(row["error"])
        if not abs(adjoint - tangent) <= 1e-8 * abs(tangent) + 1e-11:
            return known, "by %s: adjoint %r, tangent %r" % (row["parameter"], adjoint, tangent)
        if not error <= 1e-5 * abs(difference):
            continue
        known += 1
        if not abs(adjoint - difference) <= 5 * error + 1e-7 * abs(difference):
            return known, "by %s: adjoint %r, difference %r" % (row["parameter"], adjoint, difference)
    return known, None


def round_of(hopscotch, experiments, seed):
    r = random.Random(seed)
    name = list(SPECS)[seed % len(SPECS)]
    spec = os.path.join(experiments, name + ".yaml")
    own = {**SPECS[name], "limits.trials": 2, "replicates.count": 1}
    columns = metrics_random.columns_of(hopscotch, spec, own)
    moving = [name for name in columns if name.split("_")[-1][0] in "xyzqvw" and not name.startswith("base")]
    settings = settings_of(r, columns + moving + ["gravity"], own)
    metrics_random.campaign(hopscotch, spec, "one", settings)
    text = metrics_random.run(hopscotch, "gradient", "one/1", "--format", "csv", "--backend", "cpu")
    known, wrong = compare(list(csv.DictReader(io.StringIO(text))))
    return known, wrong and "%s: %s: %s" % (name, wrong, settings["metrics"])


def main(hopscotch, experiments, first, count):
    known = wrong = 0
    for seed in range(first, first + count):
        here, why = round_of(hopscotch, experiments, seed)
        known += here
        wrong += why is not None
        if why is not None:
            print("FAIL seed %d: %s" % (seed, why))
    print("%d rounds of gradients through metrics over columns, %d wrong, %d known differences" % (count, wrong, known))
    return wrong > 0 or known < count


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
