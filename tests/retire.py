"""Trials that limits.retire ends, on every model with samples in time.

    python3 tests/retire.py HOPSCOTCH EXPERIMENTS [KIND...]

In the current folder. A campaign without limits.retire is replayed with a sample at each step, and the conditions are
looked at in these samples: exactly those trials must be retired in the campaign with limits.retire, with the step after
the sample as their last, and with the samples up to there. All others have the same bits, whatever the instruction set,
the batch and the threads.
"""
import csv
import io
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from metrics_random import FUNCTIONS, VARIES, campaign, instruction_sets, python_of, rows_of, run  # noqa: E402

BALL = """
version: 1
experiment: ball
model: equations
simulation:
  duration: 3
  dt: 0.01
  system:
    parameters: {e: 0.8, h: 1}
    states: {z: h, v: 0}
    held: {n: 0}
    rates: {z: v, v: -9.81}
    events: [{name: bounce, falls: z, set: {v: -e*v, n: n + 1}}, {name: enough, rises: n - 6.5, stop: true}]
    metrics: {lowest: {min: z}, area: {integral: z}}
search: {method: grid, over: {e: {linspace: [0.3, 0.95, 9]}, h: [0.5, 1, 2]}}
objective: {minimize: area}
"""
MAP = """
version: 1
experiment: map
model: equations
simulation:
  duration: 60
  system:
    parameters: {r: 3.2}
    states: {x: 0.3}
    next: {x: r*x*(1 - x)}
    metrics: {mean_x: {mean: x}}
search: {method: grid, over: {r: {linspace: [2.5, 4.2, 31]}}}
objective: {minimize: mean_x}
"""

# kind: (experiment or text, settings, searched parameters, dt, [limits.retire...]). Conditions are of Python too, but
# for MEDIAN: of the first name in the condition, over all trials, at `at`, or the greatest of each trial. So some
# trials retire and others do not.
HOPPER = {"simulation.duration": 1.2, "simulation.dt": 0.001, "replicates.count": 1,
          "search.over": "{k_fp: {linspace: [0, 400, 5]}, thrust: {linspace: [0, 80, 4]}}"}
MODELS = {
    "rk4": ("raibert_gains", {**HOPPER, "simulation.integrator": "rk4"}, ["k_fp", "thrust"], 0.001,
            [[{"at": 0.7, "when": "dx_foot > MEDIAN and phi_leg > -1"}],
             [{"at": 0.3, "when": "phi_body < -0.02"}, {"at": 1.199, "when": "z_foot > MEDIAN"},
              {"when": "k_fp > 390"}]]),
    "midpoint": ("raibert_gains", {**HOPPER, "simulation.integrator": "implicit_midpoint"}, ["k_fp", "thrust"], 0.001,
                 [[{"at": "500ms", "when": "phi_leg > MEDIAN or thrust > 70"}], [{"when": "dphi_leg > MEDIAN"}]]),
    "adaptive": ("raibert_gains", {**HOPPER, "simulation.integrator": "dormand_prince"}, ["k_fp", "thrust"], 0.001,
                 [[{"at": 0.7, "when": "dx_foot > MEDIAN"}], [{"when": "dphi_leg > MEDIAN"}],
                  [{"every": 0.006, "when": "dphi_leg > 0.99*MEDIAN"}, {"at": 0.75, "when": "k_fp < 50"}]]),
    "robot": ("robot_stand", {"simulation.duration": 1.5, "record": "{}", "search.over":
                              "{all_kp: {logspace: [50, 2000, 3]}, all_kd: {logspace: [2, 100, 3]}}"},
              ["all_kp", "all_kd"], 0.002,
              [[{"at": 1.1, "when": "base_z < MEDIAN"}], [{"when": "base_vx > MEDIAN"}],
               [{"every": "14ms", "when": "base_vx > 0.9*MEDIAN"}, {"every": 0.006, "when": "base_z < 0"}]]),
    "world": ("four_bar", {"simulation.duration": 0.1, "simulation.copies": 3, "objective.minimize": "post0_end_z",
                           "record": "{}", "search": "{method: grid, over: {gravity: {linspace: [1, 30, 7]}}}"},
              ["gravity"], 0.001, [[{"at": 0.05, "when": "post0_z < MEDIAN"}], [{"when": "post0_x > MEDIAN"}],
                                    [{"every": 0.009, "when": "post0_x > 0.999*MEDIAN"}]]),
    "ball": (BALL, {}, ["e", "h"], 0.01,
             [[{"at": 1, "when": "z < 0.4*h"}], [{"when": "n > 4.5"}, {"at": 0.005, "when": "h > 1.5"}],
              [{"every": 0.07, "when": "n > 3.5"}]]),
    "ball_rk4": (BALL, {"simulation.integrator": "rk4"}, ["e", "h"], 0.01,
                 [[{"at": 1, "when": "z < 0.4*h"}], [{"when": "n > 4.5"}]]),
    "map": (MAP, {}, ["r"], 1, [[{"at": 10, "when": "x > 0.7"}], [{"at": 0, "when": "r > 4.1"}, {"when": "x < 0.2"}],
                      [{"every": 3, "when": "x > 0.83"}, {"at": 7, "when": "r < 2.6"}]]),
}
LOCATED = ("adaptive", "ball", "ball_rk4")  # steps end at events


def samples_of(hopscotch, trial, step):
    sample = ["--sample", str(step)] if step != 1 else []
    text = run(hopscotch, "replay", trial, "--output", "-", *sample)
    return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(io.StringIO(text))]


def seconds(at):
    return float(at[:-2]) / 1000 if isinstance(at, str) else at


def retires_at(rows, samples, parameters, step):
    """The index of the sample at which a row's condition holds; None: none does."""
    found = []
    for row in rows:
        for i, sample in enumerate(samples[:-1]):
            if "at" in row and sample["time"] < seconds(row["at"]) - 1e-9 * step:
                continue
            if "every" in row and i % round(seconds(row["every"]) / step) != 0:
                continue
            if eval(python_of(row["when"]), FUNCTIONS, {**parameters, **sample}):
                found.append(i)
                break
            if "at" in row:
                break
    return min(found) if found else None


def with_medians(rows, samples, step):
    made = []
    for row in rows:
        name = row["when"].split()[0]
        if "at" in row:
            at = seconds(row["at"]) - 1e-9 * step
            values = [[sample[name] for sample in one if sample["time"] >= at][:1] for one in samples.values()
                      if "MEDIAN" in row["when"]]
        else:
            values = [[max(sample[name] for sample in one[:-1])] for one in samples.values() if "MEDIAN" in row["when"]]
        values = sorted(value[0] for value in values if value)
        median = values[len(values) // 2] if values else None
        made.append({**row, "when": row["when"].replace("MEDIAN", "(%r)" % median)})
    return made


def same(a, b):
    return {**a, **VARIES} == {**b, **VARIES}


def settings_with(settings, rows):
    return {**settings, "limits.retire": json.dumps(rows)}


def compare(hopscotch, kind, rows, flat, early, samples, parameters, step):
    retired = 0
    for of in flat:
        given, taken = early[of["id"]], samples[of["id"]]
        at = retires_at(rows, taken, {p: float(of[p]) for p in parameters}, step)
        if at is None and not same(of, given):
            return retired, "trial %s is another one: %s and not %s" % (of["id"], given, of)
        if at is None:
            continue
        retired += 1
        if given["failure"] != "retired" or given["fitness"] != "":
            return retired, "trial %s is not retired at %r" % (of["id"], taken[at]["time"])
        ended, adaptive = float(given["survived"]), kind in LOCATED
        least = taken[at]["time"]
        if not (least < ended if adaptive else abs(ended - taken[at + 1]["time"]) < 1e-12):
            return retired, "trial %s ended at %r, the condition held at %r" % (of["id"], ended, least)
        if retired > 2:
            continue
        own = samples_of(hopscotch, "early/" + of["id"], step)
        if own[-1]["time"] != ended or own[:at + 1] != taken[:at + 1] or \
                (not adaptive and len(own) != at + 2):
            return retired, "trial %s has other samples" % of["id"]
    return retired, None


def try_kind(hopscotch, experiments, kind, sets):
    file, settings, parameters, step, retires = MODELS[kind]
    spec = os.path.join(experiments, file + ".yaml")
    if file.startswith("\n"):
        spec = kind + ".yaml"
        with open(spec, "w") as out:
            out.write(file)
    campaign(hopscotch, spec, "flat", settings)
    flat = rows_of(hopscotch, "flat")
    samples = {row["id"]: samples_of(hopscotch, "flat/" + row["id"], step) for row in flat}
    told = []
    for asked in retires:
        rows = with_medians(asked, samples, step)
        campaign(hopscotch, spec, "early", settings_with(settings, rows))
        early = {row["id"]: row for row in rows_of(hopscotch, "early")}
        retired, why = compare(hopscotch, kind, rows, flat, early, samples, parameters, step)
        if why is not None:
            return why
        if not 0 < retired < len(flat):
            return "%d of %d trials retired: the test shows nothing (%s)" % (retired, len(flat), rows)
        told.append("%d of %d" % (retired, len(flat)))
        for isa, batch, threads in zip(sets, ("1", "3", "100", "7"), ("1", "2", "2", "1")):
            campaign(hopscotch, spec, "other", settings_with(settings, rows), "--isa", isa, "--batch", batch,
                     "--threads", threads)
            other = rows_of(hopscotch, "other")
            if not all(same(row, early[row["id"]]) for row in other):
                return "--isa %s --batch %s gives other numbers" % (isa, batch)
    print("     %s: %s retired" % (kind, ", ".join(told)))
    return None


def main(hopscotch, experiments, kinds):
    sets, wrong = instruction_sets(hopscotch, experiments), 0
    for kind in kinds or MODELS:
        try:
            why = try_kind(hopscotch, experiments, kind, sets)
        except SystemExit as error:
            why = str(error)
        wrong += why is not None
        if why is not None:
            print("FAIL %s: %s" % (kind, why))
    print("%d models retire trials by their samples, %d wrong" % (len(kinds or MODELS), wrong))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]))
