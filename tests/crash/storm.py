"""SIGKILL storm: campaigns of every kind are killed at random instants, also during recovery, and continued by `run` or
`resume` until they are done. After every kill all files are readable and every committed row is there; at the end the
campaign equals an uninterrupted one: 0 lost, 0 doubled.

KILLS=N   in all (1000; 24 with QUICK=1)      ONLY="later cmaes"   some of the specs, all KILLS of them
"""
import os
import time

import crash

SPECS = ("grid", "random", "replicates", "arrays", "files", "cmaes", "nsga2", "adam", "lbfgs", "lbfgs_serial", "morris",
         "sobol", "blocks", "record_rows", "kept_blocks")
SPECS = tuple(os.environ.get("ONLY", " ".join(SPECS)).split())
KILLS = int(os.environ.get("KILLS", "24" if crash.QUICK else "1000"))


def kill_once(place, draw, wall):
    """One run, killed after a random time. Gives its status if it ended before that."""
    resume = place.has_campaign() and draw.random() < 0.5
    process = place.start("resume" if resume else "run")
    time.sleep(draw.uniform(0.1, 0.7) * wall)
    process.kill()
    text = process.communicate()[0].decode(errors="replace")
    return process.returncode, text


def campaign(spec, whole, wall, draw, kills):
    """Kills one campaign until it is done or `kills` are used up, then lets it end. Gives (kills, what went wrong)."""
    place = crash.Place("cut", spec, draw.choice((8, 16, 48)))
    used, known, rows = 0, set(), 0
    while used < kills:
        status, text = kill_once(place, draw, wall)
        if status == 0:
            break
        if status != -9:
            return used, f"ended with status {status}: {text}"
        used += 1
        wrong = place.damage(known)
        if wrong:
            return used, wrong
        known = set(place.shards())
        # rows of trials that are no longer among the best are deleted
        by_batches = spec in ("record_rows", "kept_blocks", "blocks")
        counted = "total(trials) FROM batches" if by_batches else "count(*) FROM trials"
        now = place.query("SELECT " + counted)[0][0] if place.has_campaign() else 0
        if now < rows:
            return used, f"{rows} rows before the kill, {now} after it"
        rows = now
    result = place.call("run")
    if result.status != 0:
        return used, f"does not resume: status {result.status}: {result.text}"
    if place.recovered()[2] != 0:
        return used, f"committed arrays were lost: {place.recovered()}"
    return used, whole.difference(place)


def timed(place):
    place.clear()
    start = time.monotonic()
    place.call("run")
    return time.monotonic() - start


def storm(spec, kills):
    draw, used, campaigns = crash.seeded("storm", spec), 0, 0
    whole = crash.Whole("storm", spec)
    place = crash.Place("timed", spec)
    wall = min(timed(place) for _ in range(3))
    while used < kills:
        campaigns += 1
        killed, wrong = campaign(spec, whole, wall, draw, min(kills - used, 12))
        used += killed
        if wrong:
            crash.report(False, f"storm: {spec}, campaign {campaigns}, kill {used}: {wrong}")
            return
    crash.report(True, f"storm: {spec}: {used} kills in {campaigns} campaigns, nothing lost, nothing doubled")


for name in SPECS:
    storm(name, KILLS // len(SPECS))
crash.finish()
