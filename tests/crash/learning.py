"""Adaptive searches are killed at many random moments of a long campaign, and continued with batches of other sizes.
In the end the database equals, table by table, that of an uninterrupted campaign: trials, histories of rounds, stop
reasons, fronts, states, digests of rows; the shards with the rounds' rows are equal byte by byte. Times and batches are
not compared.

KILLS=N   of each campaign (50; 5 with QUICK=1)      OPTIONS="--set ..."   of each run
"""
import os
import time

import crash

KILLS = int(os.environ.get("KILLS", "5" if crash.QUICK else "50"))
OPTIONS = os.environ.get("OPTIONS", "").split()
BATCHES = (8, 4, 2, 3) if not crash.QUICK else (16, 5, 64)  # lanes; many small batches take longer
# spec: the limit of the search, and the least number of generations that each of its searches then has
CAMPAIGNS = {
    "cmaes": ("search.cmaes.stop.trials=3000", 200),
    "nsga2": ("search.nsga2.stop.generations=200", 200),
    "adam": ("search.adam.stop.iterations=200", 200),
} if not crash.QUICK else {
    "cmaes": ("search.cmaes.stop.trials=500", 40),
    "nsga2": ("search.nsga2.stop.generations=40", 40),
    "adam": ("search.adam.stop.iterations=40", 40),
}

# Columns that must be equal. `digests` cover all columns, so those of tables with times or batches are left out.
SAME = {
    "campaign": "name, experiment, model, spec, resolved, canonical, hash, seed, program_version, numerics_version, "
                "compiler, commit_id, state, reason, trials_total, replicates",
    "searches": "id, method, state, stop_reason",
    "rounds": "*",
    "fronts": "*",
    "round_rows": "search, first, last, row",
    "trials": "*",
    "replicates": "*",
    "trajectories": "trial, replicate, samples, recipe",
    "sensitivity": "*",
    "digests where name IN ('trials', 'replicates', 'rounds', 'fronts', 'sqlite_schema')": "*",
}
TOTALS = "SELECT sum(trials), sum(failures), sum(lanes), max(last_trial) FROM batches"


def contents(place):
    """{what: rows}, of tables that are there, in order."""
    there = {name for (name,) in place.query("SELECT name FROM sqlite_schema")}
    names = [name for name in SAME if name.split()[0] in there]
    rows = place.queries([f"SELECT {SAME[name]} FROM {name} ORDER BY 1, 2" for name in names] + [TOTALS])
    return dict(zip([*names, "batches"], rows))


def difference(whole, place):
    expected, got = contents(whole), contents(place)
    for name, rows in expected.items():
        if rows != got.get(name):
            odd = [pair for pair in zip(rows, got.get(name, [])) if pair[0] != pair[1]]
            return f"{name}: {len(rows)} rows expected, {len(got.get(name, []))} found; " + str(odd[:1])[:300]
    if whole.digest() != place.digest():
        return f"digest {place.digest()}, expected {whole.digest()}"
    return ""


def debug_shards(place):
    """The bytes of the shards that hold rounds."""
    rows = place.query("SELECT DISTINCT name FROM round_rows JOIN shards ON shards.id = shard ORDER BY 1")
    return [open(os.path.join(place.folder, "shards", name), "rb").read() for (name,) in rows]


def generations(place):
    """The fewest of any search so far."""
    if not place.has_campaign():
        return 0
    return place.query("SELECT ifnull(min(n), 0) FROM (SELECT count(*) AS n FROM rounds GROUP BY search)")[0][0]


def seconds(place, sets):
    start = time.monotonic()
    place.call("run", *sets)
    return time.monotonic() - start


def kill_at_random(place, sets, whole, wall, ready, draw):
    """Kills it as often as asked for; what is left of the campaign, `wall` in all, is spread over the kills that are
    left. A run is `ready` to compute after so long; some kills come before. Gives (kills, what went wrong)."""
    known = set()
    for kill in range(KILLS):
        left = 1 - generations(place) / whole
        place.batch = draw.choice(BATCHES)
        process = place.start("run", *sets)
        time.sleep(ready * draw.uniform(0.5, 2) + draw.uniform(0, 2 * wall * left / (KILLS - kill)))
        process.kill()
        text = process.communicate()[0].decode(errors="replace")
        if process.returncode not in (0, -9):
            return kill, f"ended with status {process.returncode}: {text}"
        wrong = place.damage(known)
        if wrong:
            return kill, wrong
        known = set(place.shards())
    return KILLS, ""


def learn(spec):
    sets, least = ("--set", CAMPAIGNS[spec][0], *OPTIONS), CAMPAIGNS[spec][1]
    draw, place = crash.seeded("learning", spec), crash.Place("cut", spec)
    whole = crash.Place("whole", spec, BATCHES[0])
    wall = seconds(whole, sets)
    result, rounds = whole.call("run", *sets), generations(whole)
    ready = min(seconds(whole, sets) for _ in range(3))
    if result.status != 0 or rounds < least:
        crash.report(False, f"learning: {spec}: status {result.status}, {rounds} generations: {result.text}")
        return
    kills, wrong = kill_at_random(place, sets, rounds, wall - ready, ready, draw)
    result = place.call("run", *sets)
    wrong = wrong or ("" if result.status == 0 else f"does not resume: status {result.status}: {result.text}")
    wrong = wrong or difference(whole, place)
    wrong = wrong or ("" if debug_shards(whole) == debug_shards(place) else "the rounds' shards differ")
    checked = place.call("doctor")
    wrong = wrong or ("" if checked.status == 0 else f"the doctor says: {checked.text}")
    trials = place.query("SELECT ifnull(sum(trials), 0) FROM batches")[0][0]
    runs = place.query("SELECT count(*) FROM events WHERE kind IN ('started', 'resumed')")[0][0]
    crash.report(not wrong, f"learning: {spec}: {rounds} generations and more, {trials} trials, killed {kills} times "
                 f"in {runs} runs: " + (wrong or "equal, table by table, to one that ran through"))


for name in CAMPAIGNS:
    learn(name)
crash.finish()
