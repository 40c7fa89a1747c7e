"""Shared by the crash suites: a campaign of tests/crash/specs in its own folder, run by the real program with
tests/crash/preload.c between it and the disk; the checks that must hold at every moment, and at the end.

Environment:
  HOPSCOTCH     the program, linked dynamically (build/hopscotch)
  QUICK=1       a part of each suite, a few seconds long
  SEED=N        of all random choices (1)
  CRASH_FOLDER  where campaigns are made during a test (in memory if there is /dev/shm: a hundred times faster)
"""
import atexit
import glob
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
BUILT = os.environ.get("HOPSCOTCH", os.path.join(REPOSITORY, "build", "hopscotch"))
QUICK = bool(os.environ.get("QUICK"))
SEED = int(os.environ.get("SEED", "1"))
TIME_LIMIT = 60  # s; a run that takes longer counts as hanging
CUT = 100  # bytes left of a damaged shard

memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
work = tempfile.mkdtemp(prefix="crash.", dir=os.environ.get("CRASH_FOLDER", memory))
atexit.register(shutil.rmtree, work, True)
preload = os.path.join(work, "preload.so")
PROGRAM = shutil.copy2(BUILT, os.path.join(work, "hopscotch"))  # a copy, as a build may replace the program
failures = 0
sys.path.insert(0, os.path.dirname(HERE))
from skip import skip  # noqa: E402


def report(good, text):
    """One line a check, as tests/run.sh counts them."""
    global failures
    failures += not good
    print(("ok " if good else "FAIL ") + text, flush=True)


def finish():
    sys.exit(1 if failures else 0)


def build_preload(suite):
    """Compiles the library; ends the suite if the program can't be run with it (static, or with a sanitizer)."""
    compiler = os.environ.get("CC", "cc").split()
    command = compiler + ["-std=c17", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", os.path.join(HERE, "preload.c")]
    if subprocess.run(command + ["-o", preload]).returncode != 0:
        report(False, f"{suite}: tests/crash/preload.c does not compile")
        finish()
    trial = subprocess.run([PROGRAM, "help"], env=dict(os.environ, LD_PRELOAD=preload), capture_output=True)
    libraries = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True).stdout
    if trial.returncode != 0 or re.search("lib[at]san", libraries) or "libsqlite3" not in libraries:
        skip(suite, "all of it", "a program with a shared SQLite, without sanitizers", "make")
        finish()


class Result:
    def __init__(self, status, text):
        self.status, self.text = status, text  # status: as a shell gives it; 124: it hung


class Place:
    """A results folder, and one campaign of a spec in it."""

    def __init__(self, name, spec, batch=16, program=None):
        self.root, self.spec, self.batch = os.path.join(work, name), spec, batch
        self.program = program or PROGRAM
        self.folder = os.path.join(self.root, spec)
        self.database = os.path.join(self.folder, "campaign.db")
        self.clear()

    def clear(self):
        shutil.rmtree(self.root, ignore_errors=True)
        os.makedirs(self.root)

    def copy_of(self, source):
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(source, self.root)

    def command(self, verb, more, progress):
        what = os.path.join(HERE, "specs", self.spec + ".yaml") if verb == "run" else self.spec
        runs = ["--progress", progress, "--batch", str(self.batch), "--threads", "1"]
        return [self.program, verb, what, "--results", self.root, *(runs if verb in ("run", "resume") else []), *more]

    def start(self, verb, *more, progress="none", **preloaded):
        """preloaded: CRASH_FAULT and the like (preload.c), by their names without CRASH_ in small letters."""
        environment = dict(os.environ)
        if preloaded:
            environment.update(LD_PRELOAD=preload, CRASH_ROOT=self.root)
            environment.update({"CRASH_" + name.upper(): str(value) for name, value in preloaded.items()})
        return subprocess.Popen(self.command(verb, more, progress), env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def call(self, verb, *more, **how):
        process = self.start(verb, *more, **how)
        try:
            text = process.communicate(timeout=TIME_LIMIT)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            process.kill()
            text = process.communicate()[0].decode(errors="replace")
            return Result(124, text)
        return Result(process.returncode if process.returncode >= 0 else 128 - process.returncode, text)

    def digest(self):
        result = self.call("digest")
        return result.text.split()[0] if result.status == 0 else f"none: {result.text.strip()}"

    def crash_badly(self):
        """A run that is killed, and more: a shard that no row names, and a damaged one."""
        self.call("run", fault="rename:5:KILL")
        first = self.shards()[0]
        shutil.copyfile(first, os.path.join(self.folder, "shards", "000077.h5"))
        with open(first, "r+b") as shard:
            shard.truncate(CUT)

    def blocks(self):
        """(trials in blocks, blocks, files of blocks)."""
        if not self.has_campaign() or not self.query("SELECT 1 FROM sqlite_schema WHERE name = 'blocks'"):
            return 0, 0, 0
        files = len([shard for shard in self.shards() if os.path.basename(shard).startswith("rows_")])
        return self.query("SELECT ifnull(sum(rows), 0), count(*) FROM blocks")[0] + (files,)

    def crash_in_blocks(self, state):
        """A run of `blocks` that is killed. state: `committed`: some trials are in blocks; `joined`: many small blocks
        became one, and their files are still there."""
        operation, wanted = {"committed": ("rename", lambda trials, blocks, files: trials > 100),
                             "joined": ("unlink", lambda trials, blocks, files: files > blocks + 9)}[state]
        for call in range(3, 200):
            self.clear()
            self.call("run", fault=f"{operation}:{call}:KILL")
            if wanted(*self.blocks()):
                return
        raise ValueError(f"no run of {self.spec} was killed in the state {state}")

    def cut_shards(self):
        """Those that crash_badly damaged, until a run recovers from it."""
        return [shard for shard in self.shards() if os.path.getsize(shard) == CUT]

    def has_campaign(self):
        """Whether there is something to `resume`: before that, `run` is the way to go on."""
        if not os.path.exists(self.database) or not os.path.exists(os.path.join(self.folder, "resolved.yaml")):
            return False
        try:
            return self.query("SELECT count(*) FROM campaign")[0][0] == 1
        except sqlite3.Error:
            return False

    def query(self, sql):
        return self.queries([sql])[0]

    def queries(self, statements):
        """On a copy of the database, so that what a crash left is for the program alone to repair."""
        copy = os.path.join(work, f"copy-{os.getpid()}")
        for suffix in ("", "-wal"):
            if os.path.exists(self.database + suffix):
                shutil.copyfile(self.database + suffix, copy + suffix)
            elif os.path.exists(copy + suffix):
                os.remove(copy + suffix)
        connection = sqlite3.connect(copy)
        try:
            return [connection.execute(sql).fetchall() for sql in statements]
        finally:
            connection.close()
            for suffix in ("", "-wal", "-shm"):
                if os.path.exists(copy + suffix):
                    os.remove(copy + suffix)

    def end(self):
        """How the campaign and its searches ended."""
        ended = "SELECT state, reason, trials_total, (SELECT count(*) FROM events WHERE kind = state) > 0 FROM campaign"
        return self.queries([ended, "SELECT id, method, stop_reason FROM searches ORDER BY id"])

    def shards(self):
        return sorted(glob.glob(os.path.join(self.folder, "shards", "*.h5")))

    def counts(self):
        """Rows of each table that a crash could lose or double, and trials that the batches claim."""
        there = {name for (name,) in self.query("SELECT name FROM sqlite_schema")}
        tables = [table for table in ("trials", "blocks", "replicates", "trajectories", "debug_rows", "rounds",
                                      "fronts", "sensitivity") if table in there]
        counted = self.queries(["SELECT ifnull(sum(rows), 0) FROM blocks" if table == "blocks" else
                                f"SELECT count(*) FROM {table}" for table in tables]
                               + ["SELECT ifnull(sum(trials), 0) FROM batches",
                                  "SELECT ifnull(sum(last - first + 1), 0) FROM round_rows"])
        return {what: rows[0][0] for what, rows in zip([*tables, "in batches", "rounds in shards"], counted)}

    def recovered(self):
        """Totals over all recoveries: (temporary files, uncommitted shards, missing shards)."""
        totals = [0, 0, 0]
        for (text,) in self.query("SELECT text FROM events WHERE kind = 'recovered'"):
            numbers = re.findall(r"(\d+) (?:temporary|uncommitted|missing)", text)
            if len(numbers) != 3:
                raise ValueError("an event that tests/crash/crash.py does not understand: " + text)
            totals = [total + int(number) for total, number in zip(totals, numbers)]
        return totals

    def left_over(self):
        """All that a run left and the next one starts from, but for times."""
        files = sorted(name for _, _, names in os.walk(self.folder) for name in names)
        if not self.has_campaign():
            return repr(files)
        tables = {"campaign": "state", "searches": "*", "shards": "*", "trials": "*", "replicates": "*",
                  "best": "*", "blocks": "first, last, rows, name", "trajectories": "*", "debug_rows": "*",
                  "rounds": "*", "fronts": "*", "round_rows": "*",
                  "sensitivity": "*", "batches": "id, first_trial, last_trial, trials", "summary_failures": "*",
                  "summary_columns": "*", "summary_axes": "*", "sqlite_schema": "*"}
        there = {name for (name,) in self.query("SELECT name FROM sqlite_schema")} | {"sqlite_schema"}
        return repr([files, self.queries([f"SELECT {what} FROM {table}" for table, what in tables.items()
                                          if table in there])])

    def damage(self, known=()):
        """What is wrong with the files as they lie there: "" if every one of them can be read."""
        if os.path.exists(self.database):
            try:
                answer = self.query("PRAGMA integrity_check")
            except sqlite3.Error as error:
                answer = [(str(error),)]
            if answer != [("ok",)]:
                return f"integrity_check: {answer}"
        new = [shard for shard in self.shards() if shard not in known]
        if new and shutil.which("h5dump"):
            dump = subprocess.run(["h5dump", *new], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            if dump.returncode != 0:
                return f"h5dump: {dump.stderr.decode(errors='replace')[:300]}"
        return ""


class Whole:
    """A campaign that ran through: what every other one must come to."""

    def __init__(self, suite, spec, batch=16, program=None):
        place = Place("whole-" + spec, spec, batch, program)
        result = place.call("run")
        self.digest, self.status = place.digest(), result.status
        if result.status != 0 or len(self.digest) != 64:
            report(False, f"{suite}: the uninterrupted run of {spec}: {result.text} {self.digest}")
            finish()
        self.counts, self.end = place.counts(), place.end()

    def difference(self, place):
        """What is lost, doubled or wrong in a campaign that should be complete: "" if nothing is."""
        digest = place.digest()
        if digest != self.digest:
            return f"digest {digest}, expected {self.digest}"
        counts = place.counts()
        if counts != self.counts:
            return f"{counts}, expected {self.counts}"
        end = place.end()
        if end != self.end:
            return f"ended as {end}, expected {self.end}"
        blocks = place.blocks()
        if blocks[1] != blocks[2]:
            return f"{blocks[1]} blocks and {blocks[2]} files of blocks"
        left = [name for _, _, names in os.walk(place.root) for name in names if name.endswith(".tmp")]
        return f"temporary files are left: {left}" if left else ""


def seeded(*parts):
    return random.Random(":".join(map(str, (SEED, *parts))))
