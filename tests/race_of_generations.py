"""Oracle of races within the generations of cmaes: python3 race_of_generations.py DATABASE START COUNT [WORD...]

The objective is f + 2 x5 x1. Words: common; maximize: the negative of it; failing: a replicate with x5 <= -1 fails;
penalty: it has the value 90 then.

Replays the race of every generation from the stored replicates: which members run more, until all are clear, by the
rule of runner/experiment/search/cmaes/race.c, written anew. Where replicates are common, members are compared by the
least squares fit of value = member + replicate, solved here by alternating means over the table with gaps, instead of
rung by rung. Prints what differs; exit code 1 if anything does.
"""

import math
import sqlite3
import struct
import sys

BETA, APART = 1.3, 2


def mean(values):
    return sum(values) / len(values)


def variance_of_mean(values):
    if len(values) < 2:
        return math.inf
    center = mean(values)
    return sum((v - center) ** 2 for v in values) / (len(values) - 1) / len(values)


def levels(values, had, common):
    """What members are ranked by, if each has the first had[k] of values[k]."""
    known = {k: [v for v in values[k][: had[k]] if v is not None] for k in had}
    if not common:
        return {k: mean(known[k]) for k in had if known[k]}
    most = max(had.values())
    effect = [0.0] * most
    member = {k: mean(known[k]) for k in had}
    for _ in range(20000):
        moved = 0.0
        for r in range(most):
            new = mean([values[k][r] - member[k] for k in had if had[k] > r])
            moved, effect[r] = max(moved, abs(new - effect[r])), new
        for k in had:
            member[k] = mean([values[k][r] - effect[r] for r in range(had[k])])
        if moved < 1e-13 * max(1.0, *map(abs, member.values())):
            break
    return {k: member[k] + mean(effect) for k in had}


def noise(values, had, a, b, common):
    if common:
        both = range(min(had[a], had[b]))
        return variance_of_mean([values[a][r] - values[b][r] for r in both])
    return sum(variance_of_mean([v for v in values[k][: had[k]] if v is not None]) for k in (a, b))


def race(values, start, count, common):
    """had, levels and simulations per turn of one generation; values[member] has at least what the race asks for."""
    had = {k: start for k in values}
    turns = [sum(had.values())]
    while True:
        level = levels(values, had, common)
        order = sorted(level, key=lambda k: (level[k], k))
        apart = APART if len(order) > APART else 1
        more = set()
        for a, b in zip(order, order[apart:]):
            if level[b] - level[a] < BETA * math.sqrt(noise(values, had, a, b, common)):
                more |= {a, b}
        more = [k for k in more if had[k] < count]
        if not more:
            return had, level, turns
        for k in more:
            twice = 2 * had[k]
            had[k] = count if twice >= 0.75 * count else twice
            if len(values[k]) < had[k]:
                raise LookupError(f"trial {k} has {len(values[k])} replicates, the race gives it {had[k]}")
        turns.append(sum(had.values()))


def main():
    path, start, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    common, maximize = "common" in sys.argv, "maximize" in sys.argv
    base = sqlite3.connect(path)
    sign = -1.0 if maximize else 1.0
    fails, failed = "failing" in sys.argv or "penalty" in sys.argv, 90.0 if "penalty" in sys.argv else None
    wrong = races = 0
    rounds = dict()
    for search, number, row in base.execute("SELECT search, round, debug FROM rounds"):
        fields = struct.unpack(f"{len(row) // 8}d", row)
        rounds[search, number] = {"best": fields[6], "simulations": fields[10], "unclear": fields[11]}
    for search, number in base.execute("SELECT DISTINCT search, round FROM trials ORDER BY 1, 2").fetchall():
        stored, values = {}, {}
        for trial, replicates in base.execute(
            "SELECT id, replicates FROM trials WHERE search = ? AND round = ?", (search, number)
        ).fetchall():
            stored[trial] = replicates
            rows = base.execute(
                "SELECT f + 2 * x5 * (SELECT x1 FROM trials WHERE id = trial), x5 FROM replicates WHERE trial = ? "
                "ORDER BY replicate",
                (trial,),
            )
            values[trial] = [failed if fails and x5 <= -1 else f for f, x5 in rows]
        last = number
        while rounds[search, last]["unclear"] > 0:
            last += 1
        try:
            had, level, turns = race(values, start, count, common)
        except LookupError as problem:
            print(f"search {search}, round {number}: {problem}")
            wrong += 1
            continue
        races += len(turns) > 1
        told = [rounds[search, r]["simulations"] for r in range(number, last + 1)]
        best = sign * rounds[search, last]["best"]
        if had != stored or any(len(values[k]) != had[k] for k in had):
            print(f"search {search}, round {number}: expected {had}, got {stored}")
            wrong += 1
        elif turns != told:
            print(f"search {search}, round {number}: expected simulations {turns}, got {told}")
            wrong += 1
        elif level and abs(best - min(level.values())) > 1e-9 * max(1.0, abs(best)):
            print(f"search {search}, round {number}: ranked best by {best}, expected {min(level.values())}")
            wrong += 1
    print(f"{races} generations raced, {wrong} wrong")
    return 1 if wrong > 0 or races == 0 else 0


sys.exit(main())
