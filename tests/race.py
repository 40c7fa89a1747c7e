"""The decisions of a race (replicates.race) against this one, from the replicates of a run without a race.

    python3 tests/race.py RACE.db FLAT.db START KEEP [OVER [QUANTILE]] [--maximize] [--failures] [--failed RULE]

FLAT.db ran the same spec without `race`, and stores its replicates: all that a race could run. The rungs are walked
through here: who goes on, how many replicates each trial has, its fitness, the mean and the spread of its metric f.
"""
import argparse
import math
import sqlite3
import statistics

asked = argparse.ArgumentParser()
asked.add_argument("race")
asked.add_argument("flat")
asked.add_argument("start", type=int)
asked.add_argument("keep", type=float)
asked.add_argument("over", nargs="?", default="mean")
asked.add_argument("quantile", nargs="?", type=float)
asked.add_argument("--maximize", action="store_true")
asked.add_argument("--failures", action="store_true")
asked.add_argument("--failed", default="any")
asked.add_argument("--objective", default="lambda f, x3: f")
asked.add_argument("--constraint", default="")
asked = asked.parse_args()
race, flat = sqlite3.connect(asked.race), sqlite3.connect(asked.flat)
objective = eval(asked.objective)
constraint = eval(asked.constraint) if asked.constraint else None
count = flat.execute("SELECT replicates FROM campaign").fetchone()[0]

value, metric, violation = {}, {}, {}
for trial, f, x3 in flat.execute("SELECT trial, f, x3 FROM replicates ORDER BY trial, replicate"):
    number = objective(f, x3)
    value.setdefault(trial, []).append(number if number is not None and math.isfinite(number) else None)
    metric.setdefault(trial, []).append(f)
    violation.setdefault(trial, []).append(max(0.0, constraint(f, x3)) if constraint else 0.0)


def fitness(trial, n):
    values = value[trial][:n]
    failed = sum(v is None for v in values)
    if failed and asked.failed == "any":
        return None
    if asked.failed.startswith("penalty"):
        values = [float(asked.failed[8:-1]) if v is None else v for v in values]
    values = [v for v in values if v is not None]
    if not values:
        return None
    if asked.over == "mean":
        return sum(values) / len(values)
    if asked.over == "worst":
        return min(values) if asked.maximize else max(values)
    values.sort()
    at = (len(values) - 1) * (0.5 if asked.over == "median" else asked.quantile)
    below = int(at)
    return values[below] + ((at - below) * (values[below + 1] - values[below]) if at > below else 0.0)


def rank(trial, n):
    of = fitness(trial, n)
    failed = sum(v is None for v in value[trial][:n]) if asked.failures else 0
    worst = max((w for v, w in zip(value[trial][:n], violation[trial][:n]) if v is not None), default=0.0)
    return failed, of is None, worst, 0.0 if of is None else -of if asked.maximize else of, trial


n, rung, alive, had = asked.start, 0, sorted(value), {}
for trial in alive:
    had[trial] = n
while n < count:
    able = [trial for trial in alive if asked.failures or fitness(trial, n) is not None]
    alive = sorted(able, key=lambda trial: rank(trial, n))[:max(1, math.ceil(len(alive) * asked.keep - 1e-9))]
    rung += 1
    stored = race.execute("SELECT trial, fitness FROM race WHERE rung = ? ORDER BY place", (rung,)).fetchall()
    assert [t for t, _ in stored] == alive, (rung, stored, alive)
    for trial, of in stored:
        mine = fitness(trial, n)
        assert (of is None) == (mine is None) and (of is None or abs(of - mine) <= 1e-12 * abs(of)), (rung, trial)
    n = math.ceil(n / asked.keep - 1e-9)
    n = count if n >= 0.75 * count else n
    for trial in alive:
        had[trial] = n
rows = race.execute("SELECT id, replicates, fitness, n_failed, f, f_std FROM trials ORDER BY id").fetchall()
assert {row[0]: row[1] for row in rows} == had, ([row[:2] for row in rows], had)
for trial, n, of, failed, mean, std in rows:
    mine = fitness(trial, n)
    assert (of is None) == (mine is None) and (of is None or abs(of - mine) <= 1e-12 * abs(of)), (trial, of, mine)
    assert failed == sum(v is None for v in value[trial][:n]), (trial, failed)
    assert abs(mean - sum(metric[trial][:n]) / n) <= 1e-12 * abs(mean)
    assert abs(std - statistics.stdev(metric[trial][:n])) <= 1e-9 * abs(std)
stored = race.execute("SELECT trial, replicate, f, x3 FROM replicates ORDER BY trial, replicate").fetchall()
wanted = [row for row in flat.execute("SELECT trial, replicate, f, x3 FROM replicates ORDER BY trial, replicate")
          if row[1] < had[row[0]]]
assert stored == wanted  # the same bits, and nothing else was run
print("%d trials, %d rungs, %d replicates of %d" % (len(had), rung, len(stored), len(had) * count))
