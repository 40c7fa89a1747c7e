"""Random metrics of the user's own over the columns of every model (`metrics:` of a spec).

    python3 tests/metrics_random.py HOPSCOTCH EXPERIMENTS FIRST COUNT

In the current folder. Round r runs one of the specs below with metrics made from the seed r, replays some of its trials
with a sample at each step, and computes the metrics from these samples. Both agree to 1e-12 of their size. The metrics
do not depend on the instruction set, the size of batches, or on what is recorded.
"""
import csv
import io
import json
import math
import os
import random
import shutil
import subprocess
import sys

REDUCTIONS = ["final", "mean", "rms", "min", "max", "integral", "count", "at", "first", "last", "part"]
TIMED = ["mean", "rms", "integral", "part"]
VARIES = {"seconds": "", "batch": "", "device": ""}  # columns that say how a trial ran
TAKES = ["first", "last", "mean", "min", "max", "spread"]

# name: (experiment, settings, searched parameters that expressions may use, time step; None: the model has no time)
MODELS = {
    "rk4": ("raibert_gains", {"simulation.integrator": "rk4", "simulation.duration": 1.5,
                              "search.over": "{k_fp: [50, 160], thrust: [30, 50]}"}, ["k_fp", "thrust"], "0.001"),
    "adaptive": ("raibert_gains", {"simulation.integrator": "dormand_prince", "simulation.duration": 1.5,
                                   "search.over": "{k_fp: [50, 160], thrust: [30, 50]}"}, ["k_fp", "thrust"], "0.001"),
    "robot": ("quadruped_trot", {"simulation.duration": 0.3}, [], "0.002"),
    "chain": ("pendulum_chain", {"simulation.duration": 0.4}, [], "0.002"),
    "world": ("four_bar", {"simulation.duration": 0.2}, [], "0.001"),
    "alignment": ("ndt_parameters", {}, [], None),
    "function": ("bbob_cmaes", {}, [], None),
}


def run(*arguments, fails=False):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if (done.returncode != 0) != fails:
        raise SystemExit("%s\n%s%s" % (" ".join(arguments), done.stdout, done.stderr))
    return done.stdout


def expression(r, names, depth):
    if depth == 0 or r.random() < 0.2:
        return "(1*%s)" % r.choice(names) if r.random() < 0.8 else "%g" % round(r.uniform(0.1, 3), 2)
    one = lambda: expression(r, names, depth - 1)
    form = r.choice(["abs(%s)", "-(%s)", "cos(%s)", "tanh(%s)", "atan(%s)", "sqrt(1 + (%s)^2)", "%s + %s", "%s - %s",
                     "(%s)*(%s)", "(%s)/(1 + (%s)^2)", "min(%s, %s)", "max(%s, %s)", "hypot(%s, %s)",
                     "if(%s > 0.3, %s, 0.25)", "clip(%s, -0.5, 1.5)"])
    return form % tuple(one() for _ in range(form.count("%s")))


def metric(r, names, timed):
    reduction = r.choice([k for k in REDUCTIONS if timed or k not in TIMED])
    condition = "%s > %s" % (expression(r, names, 1), expression(r, names, 1))
    made = {reduction: expression(r, names, 3)}
    if reduction in ("count", "at", "first", "last", "part"):
        made = {reduction: condition}
    if reduction == "at":
        made.update(value=expression(r, names, 2), take=r.choice(TAKES))
    return made


# ---- the reference --------------------------------------------------------------------------------------------------

def python_of(text):
    text = text.replace("^", "**")
    return compile(text.replace("if(", "if_("), text, "eval")


FUNCTIONS = {"abs": abs, "cos": math.cos, "tanh": math.tanh, "atan": math.atan, "sqrt": math.sqrt, "min": min,
             "max": max, "hypot": math.hypot, "clip": lambda x, a, b: min(max(x, a), b),
             "if_": lambda c, a, b: a if c else b}


def reference(made, samples):
    reduction = next(k for k in REDUCTIONS if k in made)
    times = [sample["time"] for sample in samples]
    value = lambda text: [float(eval(python_of(text), FUNCTIONS, sample)) for sample in samples]
    own = value(made[reduction])
    steps = [b - a for a, b in zip(times, times[1:])]
    if reduction == "final":
        return own[-1]
    if reduction in ("min", "max"):
        return min(own) if reduction == "min" else max(own)
    if reduction in ("mean", "rms", "integral"):
        own = [x * x for x in own] if reduction == "rms" else own
        area = math.fsum(0.5 * (a + b) * h for a, b, h in zip(own, own[1:], steps))
        duration = times[-1] - times[0]
        if reduction != "integral" and duration == 0:
            return math.nan
        return area if reduction == "integral" else area / duration if reduction == "mean" else math.sqrt(area / duration)
    begins = [i for i in range(1, len(own)) if own[i] and not own[i - 1]]
    holds = [i for i in range(len(own)) if own[i]]
    if reduction == "count":
        return len(begins)
    if reduction == "part":
        return math.fsum(h for x, h in zip(own, steps) if x) / (times[-1] - times[0]) if steps else math.nan
    if reduction in ("first", "last"):
        return math.nan if not holds else times[holds[0 if reduction == "first" else -1]]
    taken = [value(made["value"])[i] for i in begins]
    if not taken:
        return math.nan
    return {"first": taken[0], "last": taken[-1], "mean": math.fsum(taken) / len(taken), "min": min(taken),
            "max": max(taken), "spread": max(taken) - min(taken)}[made["take"]]


def near(a, b, size):
    return (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-12 * max(size, abs(b), 1.0)


# ---- a round --------------------------------------------------------------------------------------------------------

def rows_of(hopscotch, name, *more):
    return list(csv.DictReader(io.StringIO(run(hopscotch, "query", name, "--columns", "all", "--order", "id", "--format",
                                               "csv", "--limit", "0", *more))))


def number(text):
    return math.nan if text == "" else float(text)


def campaign(hopscotch, spec, name, settings, *options):
    shutil.rmtree(os.path.join("results", name), ignore_errors=True)
    given = ["--set=%s=%s" % item for item in settings.items()]
    run(hopscotch, "run", spec, "--progress", "none", "--backend", "cpu", "--set=experiment=" + name, *given, *options)


def samples_of(hopscotch, trial, step, parameters):
    sample = ["--sample", step] if step else []
    text = run(hopscotch, "replay", trial, "--output", "-", *sample)
    return [{**parameters, **{k: float(v) for k, v in row.items()}} for row in csv.DictReader(io.StringIO(text))]


def settings_of(settings, step):
    own = {"limits.trials": 4, "replicates.count": 1, **({"simulation.dt": step} if step else {})}
    return {**settings, **own}


def columns_of(hopscotch, spec, settings):
    campaign(hopscotch, spec, "look", {**settings, "limits.trials": 1})
    return run(hopscotch, "replay", "look/0", "--output", "-").splitlines()[0].split(",")


def compare(hopscotch, row, metrics, parameters, step):
    samples = samples_of(hopscotch, "one/" + row["id"], step, {p: float(row[p]) for p in parameters})
    for name, made in metrics.items():
        expected, given = reference(made, samples), number(row[name])
        if not near(given, expected, samples[-1]["time"]):
            return "trial %s: %s is %r and should be %r: %s" % (row["id"], name, given, expected, made)
    return None


def round_of(hopscotch, experiments, seed, sets):
    r = random.Random(seed)
    kind = list(MODELS)[seed % len(MODELS)]
    file, settings, parameters, step = MODELS[kind]
    spec, settings = os.path.join(experiments, file + ".yaml"), settings_of(settings, step)
    names = columns_of(hopscotch, spec, settings) + parameters
    metrics = {"own_%d" % i: metric(r, names, step is not None) for i in range(r.randint(3, 8))}
    settings["metrics"] = json.dumps(metrics)
    campaign(hopscotch, spec, "one", settings)
    rows = rows_of(hopscotch, "one")
    for isa, batch in zip(sets, ("1", "3", "64", "2")):
        campaign(hopscotch, spec, "other", settings, "--isa", isa, "--batch", batch)
        if [{**row, **VARIES} for row in rows_of(hopscotch, "other")] != [{**row, **VARIES} for row in rows]:
            return kind, "--isa %s --batch %s gives other numbers: %s" % (isa, batch, metrics)
    for row in rows[:3]:
        wrong = compare(hopscotch, row, metrics, parameters, step)
        if wrong is not None:
            return kind, wrong
    return kind, None


def instruction_sets(hopscotch, experiments):
    """Those that this processor has and the program was built for, and `auto`."""
    spec, sets = os.path.join(experiments, "bbob_cmaes.yaml"), []
    for isa in ("scalar", "v2", "v3", "v4", "neon"):
        done = subprocess.run([hopscotch, "run", spec, "--progress", "none", "--backend", "cpu", "--isa", isa,
                               "--set=limits.trials=1", "--set=experiment=probe_" + isa], capture_output=True)
        sets += [isa] if done.returncode == 0 else []
    return sets + ["auto"] * (4 - len(sets))


def main(hopscotch, experiments, first, count):
    wrong, sets = 0, instruction_sets(hopscotch, experiments)
    for seed in range(first, first + count):
        kind, why = round_of(hopscotch, experiments, seed, sets)
        wrong += why is not None
        if why is not None:
            print("FAIL seed %d (%s) %s" % (seed, kind, why))
    print("%d rounds of metrics over columns, %d wrong" % (count, wrong))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
