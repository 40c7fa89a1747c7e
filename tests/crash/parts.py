"""SIGKILL storm of parts: 64 parts of a grid with trajectories, and of 64 searches of CMA-ES. Parts and gather are
killed at random moments, several parts at once, and gather joins what is done in between. After each kill of gather
every committed row is there, and the parts that were joined stay joined; in the end the digest is that of one run.

KILLS=N   in all (500; 5 with QUICK=1)      ONLY="parts_cmaes"   some of the specs      PARTS=N (64; 4 with QUICK=1)
"""
import os
import subprocess
import time

import crash

SPECS = tuple(os.environ.get("ONLY", "parts_grid parts_cmaes").split())
KILLS = int(os.environ.get("KILLS", "5" if crash.QUICK else "500"))
PARTS = int(os.environ.get("PARTS", "4" if crash.QUICK else "64"))
BATCH = 64 if crash.QUICK else 8  # lanes; many small batches take longer
AT_ONCE = 3
UNFINISHED = 75


class Divided:
    """A campaign in parts: which are done, and which processes run."""

    def __init__(self, spec):
        self.place = crash.Place("cut", spec, BATCH)
        self.draw = crash.seeded("parts", spec)
        self.left = list(range(1, PARTS + 1))
        self.draw.shuffle(self.left)
        self.running, self.kills, self.rows = {}, 0, 0

    def run(self, part):
        self.running[part] = self.place.start("run", "--part", f"{part}/{PARTS}")

    def kill(self, process):
        process.kill()
        self.kills += process.wait() == -9

    def reap(self):
        """Takes parts that have ended from the list. Gives what went wrong."""
        for part, process in list(self.running.items()):
            if process.poll() is None:
                continue
            text = process.communicate()[0].decode(errors="replace")
            del self.running[part]
            if process.returncode == 0:
                self.left.remove(part)
            elif process.returncode != -9:
                return f"part {part} ended with {process.returncode}: {text}"
        return ""

    def gather(self, wall):
        """One gather, killed at a random moment if kills are left. Gives what went wrong."""
        process = self.place.start("gather")
        if self.kills < KILLS and self.draw.random() < 0.8:
            time.sleep(self.draw.uniform(0, 1.2) * wall)
            self.kill(process)
        text = process.communicate()[0].decode(errors="replace")
        if process.returncode not in (0, -9, UNFINISHED):
            return f"gather ended with {process.returncode}: {text}"
        rows = self.place.query("SELECT ifnull(sum(trials), 0) FROM batches")[0][0] if self.place.has_campaign() else 0
        if rows < self.rows:
            return f"{self.rows} rows before gather, {rows} after it"
        self.rows = rows
        return ""

    def turn(self, wall):
        """Starts parts, kills some, gathers. Gives what went wrong."""
        for part in self.left:
            if len(self.running) >= AT_ONCE:
                break
            if part not in self.running:
                self.run(part)
        time.sleep(self.draw.uniform(0.05, 0.5) * wall)
        if self.kills < KILLS and self.running and self.draw.random() < 0.7:
            self.kill(self.draw.choice(list(self.running.values())))
        wrong = self.reap()
        return wrong or (self.gather(wall) if self.draw.random() < 0.3 or not self.left else "")


def timed(spec):
    place = crash.Place("timed", spec, BATCH)
    start = time.monotonic()
    place.call("run", "--part", f"1/{PARTS}")
    return time.monotonic() - start


def storm(spec):
    whole = crash.Place("whole", spec, BATCH)
    status = 124
    while status == 124:  # on a busy machine it may take more than one limit of time
        status = whole.call("run").status
    if status != 0:
        crash.report(False, f"parts: {spec}: one run ended with {status}")
        return
    wanted, wall, campaigns, kills = whole.digest(), timed(spec), 0, 0
    while kills < KILLS:
        divided = Divided(spec)
        divided.kills = kills
        campaigns += 1
        wrong = ""
        while divided.left and not wrong:
            wrong = divided.turn(wall)
        for _ in range(5):
            wrong = wrong or divided.gather(wall)
        result = divided.place.call("gather")
        kills = divided.kills
        if not wrong and result.status != 0:
            wrong = f"the last gather ended with {result.status}: {result.text}"
        if not wrong and divided.place.digest() != wanted:
            wrong = "the digest is not that of one run"
        doctor = divided.place.call("doctor")
        if not wrong and doctor.status != 0:
            wrong = f"doctor: {doctor.text}"
        if wrong:
            crash.report(False, f"parts: {spec}, campaign {campaigns}, {kills} kills: {wrong}")
            return
    crash.report(True, f"parts: {spec}: {PARTS} parts, {kills} kills in {campaigns} campaigns, the digest of one run")


for name in SPECS:
    storm(name)
crash.finish()
