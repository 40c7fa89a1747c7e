"""Trials that rungs of limits.retire end ({at, keep, of}), on the models that have a time.

    python3 tests/rungs.py HOPSCOTCH EXPERIMENTS [KIND...]

In the current folder. Each campaign with rungs is derived here from campaigns without them: one for each rung, whose
`simulation.duration` is the time of the rung, and a whole one. Of each `of` trials in the order of ids the best part by
the first campaign goes on to the second, and so on. A trial that goes on to the end has the row of the whole campaign,
any other one that of the campaign where it ended, as a failure. All columns are compared, to the bit. Then the same
campaign runs again with other batches, threads and instruction sets.
"""
import json
import math
import os
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from metrics_random import campaign, instruction_sets, run  # noqa: E402
from retire import BALL, MAP  # noqa: E402

HOPPER = {"simulation.duration": 2, "simulation.dt": 0.001, "simulation.settle": 0.2, "replicates.count": 1,
          "search.over": "{k_fp: {linspace: [0, 400, 11]}, thrust: {linspace: [0, 80, 7]}}", "record": "{}"}
NOISY = {**HOPPER, "simulation.integrator": "rk4", "replicates":
         "{count: 3, store: true, perturb: {phi_leg: {normal: [0.01, 0.03]}}}"}
TWO = [{"at": 0.5, "keep": 0.25}, {"at": 1, "keep": 0.5}]
ROBOT = {"simulation.duration": 0.6, "record": "{}", "search.over":
         "{all_kp: {logspace: [50, 2000, 5]}, all_kd: {logspace: [2, 100, 4]}}"}
WORLD = {"simulation.duration": 0.1, "simulation.copies": 3, "objective.minimize": "post0_end_z", "record": "{}",
         "search": "{method: grid, over: {gravity: {linspace: [1, 30, 23]}}}"}

# kind: (experiment or text, settings, rungs, of). Of `penalty` a failed trial has a fitness.
KINDS = {
    "rk4": ("raibert_gains", {**HOPPER, "simulation.integrator": "rk4"}, TWO, 16),
    "adaptive": ("raibert_gains", {**HOPPER, "simulation.integrator": "dormand_prince"}, TWO, 64),
    "gaps": ("raibert_gains", {**HOPPER, "simulation.integrator": "rk4", "search.exclude": '["k_fp*thrust > 9000"]'},
             TWO, 16),
    "sample": ("raibert_gains", {**HOPPER, "simulation.integrator": "rk4", "search":
                                 "{method: sobol, trials: 70, over: {k_fp: {range: [0, 400]}, thrust: {range: [0, 80]}}}"},
               TWO, 32),
    "most": ("raibert_gains", {**HOPPER, "simulation.integrator": "rk4", "objective": '{maximize: "-velocity_error"}',
                               "constraints": '["attitude_rms < 0.05"]'}, TWO, 16),
    "own": ("raibert_gains", {**HOPPER, "simulation.integrator": "rk4", "metrics": "{lean: {max: phi_leg}}",
                              "objective.minimize": "lean"}, TWO, 16),
    "with_when": ("raibert_gains", {**HOPPER, "simulation.integrator": "rk4", "RETIRE": [{"at": 0.3, "when":
                                    "phi_leg > 0.1"}]}, TWO, 16),
    "few": ("raibert_gains", {**HOPPER, "simulation.integrator": "rk4", "RETIRE": [{"at": 0.3, "when": "k_fp < 330"}]},
            TWO, 32),  # all of some groups, and all but one of the last
    "noisy": ("raibert_gains", {**NOISY, "objective.failed": "any"}, TWO, 16),
    "ignored": ("raibert_gains", {**NOISY, "objective.failed": "ignore", "objective.over": "worst"}, TWO, 16),
    "penalty": ("raibert_gains", {**NOISY, "objective.failed": "penalty(64)"}, TWO, 16),
    "robot": ("robot_stand", ROBOT, [{"at": 0.1, "keep": 0.5}, {"at": 0.3, "keep": 0.3}], 8),
    "world": ("four_bar", WORLD, [{"at": 0.02, "keep": 0.5}, {"at": 0.05, "keep": 0.3}], 8),
    "ball": (BALL, {}, [{"at": 0.7, "keep": 0.5}, {"at": 1.403, "keep": 0.5}], 8),
    "ball_rk4": (BALL, {"simulation.integrator": "rk4"}, [{"at": "700ms", "keep": 0.5}], 8),
    "map": (MAP, {}, [{"at": 10, "keep": 0.5}, {"at": 20, "keep": 0.5}], 10),
}


def seconds(at):
    return float(at[:-2]) / 1000 if isinstance(at, str) else at


def rows_of(name, table):
    database = sqlite3.connect(os.path.join("results", name, "campaign.db"))
    database.row_factory = sqlite3.Row
    order = "id" if table == "trials" else "trial, replicate"
    return [dict(row) for row in database.execute("SELECT * FROM %s ORDER BY %s" % (table, order))]


def rank(row, most):
    cost = -row["fitness"] if most else row["fitness"]
    return row.get("violation", 0), cost, row["id"]


def ended(row, settings, passed, replicates):
    """The row of a trial that ended at a rung, from that of a campaign with its duration."""
    penalty = settings.get("objective.failed", "").startswith("penalty")
    row = {**row, "rungs": passed, "failure": "retired" if row["failure"] == "none" else row["failure"],
           "n_failed": replicates, "fitness": 64.0 if penalty else None}
    constraints = {name: None for name in row if name == "violation" or name.startswith("constraint_")}
    return {**row, **constraints}


def expected(plain, rungs, of, settings):
    """From the rows of the campaigns without rungs: those of the campaign with them, and how many ended where."""
    most = "maximize" in settings.get("objective", "")
    replicates = 3 if "count: 3" in settings.get("replicates", "") else 1
    trials = [row["id"] for row in plain[-1]]
    by_id = [{row["id"]: row for row in rows} for rows in plain]
    out, passed = {}, [0] * len(plain)
    for first in range(0, len(trials), of):
        group = trials[first:first + of]
        for r, rung in enumerate(rungs):
            rows = [by_id[r][i] for i in group]
            able = [row for row in rows if row["fitness"] is not None and row["n_failed"] < replicates]
            kept = math.ceil(len(group) * rung["keep"] - 1e-9)
            best = sorted(able, key=lambda row: rank(row, most))[:kept]
            group = sorted(row["id"] for row in best)
            for row in rows:
                if row["id"] not in group:
                    out[row["id"]] = ended(row, settings, r, replicates)
                    passed[r] += 1
        for i in group:
            out[i] = {**by_id[-1][i], "rungs": len(rungs)}
            passed[-1] += 1
    return [out[i] for i in trials], passed


def replicates_of(names, rows, count):
    """The replicates of the campaigns where the trials ended."""
    tables = [{(row["trial"], row["replicate"]): row for row in rows_of(name, "replicates")} for name in names]
    out = []
    for row in rows:
        for r in range(count):
            one = tables[row["rungs"]][row["id"], r]
            cut = row["rungs"] < len(names) - 1 and one["failure"] == "none"
            out.append({**one, "failure": "retired"} if cut else one)
    return out


def difference(given, wanted):
    for a, b in zip(given, wanted):
        for name in sorted(set(a) | set(b)):
            if a.get(name, "no such column") != b.get(name, "no such column"):
                return "trial %s: %s is %r, and not %r" % (a.get("id", a.get("trial")), name, a.get(name), b.get(name))
    return None if len(given) == len(wanted) else "%d rows, and not %d" % (len(given), len(wanted))


def try_kind(hopscotch, experiments, kind, sets):
    file, given, rungs, of = KINDS[kind]
    spec = os.path.join(experiments, file + ".yaml")
    if file.startswith("\n"):
        spec = kind + ".yaml"
        with open(spec, "w") as out:
            out.write(file)
    settings = {key: value for key, value in given.items() if key != "RETIRE"}
    conditions = given.get("RETIRE", [])
    plain, names = [], []
    for at in [rung["at"] for rung in rungs] + [None]:
        own = {**settings, **({"simulation.duration": seconds(at)} if at is not None else {}),
               **({"limits.retire": json.dumps(conditions)} if conditions else {})}
        names.append("plain_%s" % at)
        campaign(hopscotch, spec, names[-1], own)
        plain.append(rows_of(names[-1], "trials"))
    settings = {**settings, "limits.retire": json.dumps(conditions + [{**rung, "of": of} for rung in rungs])}
    campaign(hopscotch, spec, "rungs", settings)
    rows, (wanted, passed) = rows_of("rungs", "trials"), expected(plain, rungs, of, settings)
    why = difference(rows, wanted)
    if why is None and "count: 3" in settings.get("replicates", ""):
        why = difference(rows_of("rungs", "replicates"), replicates_of(names, wanted, 3))
    if why is not None:
        return why
    if 0 in passed:
        return "%s trials end at the rungs: the test shows nothing" % passed
    retired = [row["id"] for row in rows if row["failure"] == "retired"]
    for i in (retired[0], retired[-1], max(rows, key=lambda row: row["rungs"])["id"]):
        if "the same to the bit" not in run(hopscotch, "replay", "rungs/%d" % i):
            return "replay of trial %d says something else" % i
    for isa, batch, threads in zip(sets, ("1", "7", "40", "1000"), ("1", "2", "2", "1")):
        campaign(hopscotch, spec, "other", settings, "--isa", isa, "--batch", batch, "--threads", threads)
        if rows_of("other", "trials") != rows:
            return "--isa %s --batch %s --threads %s gives other rows" % (isa, batch, threads)
    print("     %s: %s trials end at the rungs, %d run to the end" %
          (kind, ", ".join(str(count) for count in passed[:-1]), passed[-1]))
    return None


def main(hopscotch, experiments, kinds):
    sets, wrong = instruction_sets(hopscotch, experiments), 0
    for kind in kinds or KINDS:
        try:
            why = try_kind(hopscotch, experiments, kind, sets)
        except SystemExit as error:
            why = str(error)
        wrong += why is not None
        if why is not None:
            print("FAIL %s: %s" % (kind, why))
    print("%d campaigns have the trials at their rungs that others without rungs have, %d wrong" %
          (len(kinds or KINDS), wrong))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]))
