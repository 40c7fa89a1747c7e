"""Two people ask and tell at once, and their commands are killed at any instant: nothing is lost or doubled.

    python3 tests/ask_tell.py HOPSCOTCH FIRST COUNT [TRIALS]

In the current folder. Round r takes a search made from the seed r. `model: command` runs it with a function of Python as
its program. Then two threads ask for trials of the same search under `model: manual`, compute the same function, and tell
the results out of order, from tables, JSON and words, some wrong at first and corrected. A fifth of the commands is
killed. At the end all trials, the state of the search and its rounds are the same bytes. TRIALS: about how many (60).
"""
import csv
import io
import json
import math
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time

WORKER = '''
import json, math, sys
sys.path.insert(0, %r)
import ask_tell
hello = json.loads(sys.stdin.readline())
print(json.dumps({"hello": 1}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    failure, metrics = ask_tell.measure(request["parameters"], request["replicate"])
    answer = {"id": request["id"], "metrics": metrics}
    if failure:
        answer["failure"] = failure
    print(json.dumps(answer), flush=True)
'''


def measure(parameters, replicate):
    """The experiment: (failure, metrics). Failures have metrics too."""
    a, b = float(parameters["a"]), float(parameters["b"])
    c = {"rubber": 0.0, "foam": 0.7, "steel": 1.3}[parameters["pad"]]
    slip = (a - 3.25) ** 2 + abs(b - 1.0) ** 1.5 + c + 0.01 * replicate * math.sin(50 * a)
    force = 10.0 - a + 0.25 * b * b
    return ("fell" if a + b > 9.0 else None), {"slip": slip, "force": force}


HEAD = """version: 1
seed: {seed}
parameters:
  a: {{value: 2, unit: N, range: [0, 10]}}
  b: {{value: 1, unit: m/s, range: [-4, 4]}}
  pad: {{words: [rubber, foam, steel]}}
metrics: {{slip: mm, force: {{unit: N}}}}
failures: [fell]
"""
RANGES = "{a: {range: [0, 10]}, b: {range: [-4, 4]}}"


def searches(r):
    """(the sections of a spec, whether it has replicates)"""
    one = "objective: {minimize: slip}\n"
    two = "objective: {minimize: [slip, force]}\n"
    return [
        ("search: {method: grid, over: {a: {linspace: [0, 10, 5]}, b: [-1, 0, 1.5, 3], pad: [rubber, foam]}, "
         "exclude: ['a + b > 10']}\n" + one, 1),
        (f"search: {{method: cmaes, over: {RANGES}, cmaes: {{population: 6, stop: {{generations: 8}}}}}}\n" + one, 1),
        (f"search: {{method: nsga2, over: {RANGES}, nsga2: {{population: 8, stop: {{generations: 10000, "
         "tolerance: 0}}}\nlimits: {trials: 45}\n" + two, 1),
        (f"search: {{method: latin_hypercube, trials: 30, over: {RANGES}}}\nreplicates: {{count: 2}}\n" + one, 2),
        ("search: {method: cmaes, over: {a: {range: [0, 10], integer: true}, b: {range: [-4, 4]}}, "
         "cmaes: {population: 5, searches: 2, stop: {generations: 4}}}\n"
         "constraints: ['force < 9']\n" + one, 1),
        (f"search: {{method: cmaes, over: {RANGES}, cmaes: {{population: 7, restarts: bipop, "
         "stop: {generations: 10000}}}\n"
         "limits: {trials: 45}\n" + one, 1),
        (f"search: {{method: morris, over: {RANGES}, trajectories: 8}}\n" + one, 1),
        (f"search: {{method: cmaes, over: {RANGES}, cmaes: {{population: 6, stop: {{generations: 4}}}}}}\n"
         "replicates: {count: 3, store: true}\nobjective: {minimize: slip, failed: ignore}\n", 3),
    ][r % 8]


def spec_of(r, model, trials):
    text, replicates = searches(r)
    for small in ("generations: 8", "generations: 4"):
        text = text.replace(small, f"generations: {max(2, trials * int(small[-1]) // 60)}")
    text = text.replace("trials: 30", f"trials: {trials // 2}").replace("trials: 45", f"trials: {3 * trials // 4}")
    text = text.replace("[0, 10, 5]", f"[0, 10, {max(2, trials // 12)}]").replace("trajectories: 8",
                                                                              f"trajectories: {max(2, trials // 8)}")
    program = "simulation: {program: [python3, worker.py]}\n" if model == "command" else ""
    return HEAD.format(seed=r) + f"experiment: {model}\nmodel: {model}\n" + program + text, replicates


class Person(threading.Thread):
    """Asks, measures and tells until the campaign ends."""

    def __init__(self, number, seed, results, replicates, shared):
        super().__init__()
        self.random = random.Random(f"{seed} {number}")
        self.number, self.results, self.replicates, self.shared = number, results, replicates, shared
        self.trouble = None
        self.commands = self.killed = 0

    def hopscotch(self, *words, spared=False):
        """(exit code, output, messages); a fifth is killed, after which nobody knows what it did."""
        self.commands += 1
        child = subprocess.Popen([self.shared["program"], *words, "--results", self.results], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if not spared and self.random.random() < 0.2:
            time.sleep(self.random.random() * self.shared["took"])
            child.kill()
            self.killed += 1
        begin = time.monotonic()
        out, err = child.communicate()
        if child.returncode == 0:
            self.shared["took"] = 0.9 * self.shared["took"] + 0.2 * (time.monotonic() - begin)
        return child.returncode, out, err

    def ask(self):
        words = ["ask", "manual", "--format", "csv", "-n", str(self.random.randint(1, 5))]
        again = self.random.random() < 0.3
        code, out, err = self.hopscotch(*words, *(["--again"] if again else []))
        if code < 0:
            return []
        if code != 0:
            raise AssertionError(f"ask: {err}")
        rows = list(csv.DictReader(io.StringIO(out)))
        for row in rows:
            key = row["trial"], row.get("replicate", "0")
            with self.shared["lock"]:
                if not again and key in self.shared["given"]:
                    raise AssertionError(f"trial {key} was given twice")
                if not again:
                    self.shared["given"].add(key)
        if not rows:
            self.shared["said"] = err
        return rows

    def result(self, row):
        failure, metrics = measure({"a": row["a"], "b": row["b"], "pad": row.get("pad") or "rubber"},
                                   int(row.get("replicate") or 0))
        return dict(row, slip=repr(metrics["slip"]), force=repr(metrics["force"]), failure=failure or "")

    def tell(self, results, *options):
        names = ["trial"] + (["replicate"] if self.replicates > 1 else [])
        way = self.random.randrange(3)
        path = f"{self.results}.{self.number}.{'json' if way == 1 else 'csv'}"
        if way == 2:
            for row in results:
                words = [f"{name}={row[name]}" for name in names[1:] + ["slip", "force"]]
                words += [f"failure={row['failure']}" if row["failure"] else "fell=no"]
                self.tell_until("tell", f"manual/{row['trial']}", *words, *options)
            return
        with open(path, "w") as file:
            if way == 1:
                json.dump([{"trial": int(row["trial"]), **({"replicate": int(row["replicate"])} if names[1:] else {}),
                            "slip": float(row["slip"]), "force": float(row["force"]),
                            "failed": row["failure"] or "no"} for row in results], file)
            else:
                writer = csv.DictWriter(file, list(results[0]))
                writer.writeheader()
                writer.writerows(results)
        self.tell_until("tell", "manual", path, *options)

    def tell_until(self, *words):
        """Again until it was not killed. The others may have told the same trial: it is theirs that counts."""
        while True:
            with self.shared["tells"][self.number - 1]:
                code, _, err = self.hopscotch(*words)
            if code == 0 or "other values" in err:
                return
            if code > 0:
                raise AssertionError(f"{' '.join(words)}: {err}")

    def turn(self):
        rows = self.ask()
        if not rows:
            return "is done" not in self.shared["said"] and "is stopped" not in self.shared["said"]
        results = [self.result(row) for row in rows]
        self.random.shuffle(results)
        if self.random.random() < 0.2:  # a mistake, corrected before the rest of the round is told
            with self.shared["tells"][0], self.shared["tells"][1]:  # so that the round stays open until it is corrected
                if self.tell_wrong(results[0]):
                    self.tell(results[:1], "--replace")
                    results = results[1:]
        while results:
            some = self.random.randint(1, len(results))
            self.tell(results[:some])
            results = results[some:]
        return True

    def tell_wrong(self, row):
        """Only where the search can't have learned from it: another replicate or trial is still awaited."""
        code, out, _ = self.hopscotch("status", "manual", "--json", spared=True)
        if code != 0 or json.loads(out)["awaited"] < 2:
            return False
        words = [f"replicate={row['replicate']}"] if self.replicates > 1 else []
        code, _, err = self.hopscotch("tell", f"manual/{row['trial']}", *words, "slip=77", "force=1", spared=True)
        return code == 0

    def run(self):
        try:
            while self.turn() and self.shared["trouble"] is None:
                pass
        except Exception as trouble:  # pylint: disable=broad-except
            self.shared["trouble"] = self.shared["trouble"] or f"person {self.number}: {trouble}"


def contents(path):
    """What two campaigns of one search have in common."""
    with sqlite3.connect(f"file:{path}/campaign.db?mode=ro", uri=True) as database:
        tables = ["SELECT * FROM trials ORDER BY id", "SELECT id, state FROM searches ORDER BY id",
                  "SELECT * FROM rounds ORDER BY search, round", "SELECT * FROM fronts ORDER BY search, round",
                  "SELECT parameter, measure, value, low, high FROM sensitivity ORDER BY parameter, measure"]
        if database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'replicates'").fetchall():
            tables.append("SELECT * FROM replicates ORDER BY trial, replicate")
        return {sql: database.execute(sql).fetchall() for sql in tables}


def play(program, r, trials):
    results = f"results{r}"
    shutil.rmtree(results, ignore_errors=True)
    replicates = 1
    for model in ("command", "manual"):
        text, replicates = spec_of(r, model, trials)
        with open(f"{model}.yaml", "w") as file:
            file.write(text)
    with open("worker.py", "w") as file:
        file.write(WORKER % os.path.dirname(os.path.abspath(__file__)))
    done = subprocess.run([program, "run", "command.yaml", "--results", results, "--allow-programs", "--progress", "none"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return f"run: {done.stderr}"
    shared = {"program": program, "lock": threading.Lock(), "tells": [threading.RLock(), threading.RLock()],
              "given": set(), "said": "", "trouble": None, "took": 0.05}
    first = subprocess.run([program, "ask", "manual.yaml", "-n", "1", "--results", results], capture_output=True,
                           text=True)
    if first.returncode != 0:
        return f"ask: {first.stderr}"
    people = [Person(k, r, results, replicates, shared) for k in (1, 2)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    if shared["trouble"]:
        return shared["trouble"]
    ours, theirs = contents(f"{results}/manual"), contents(f"{results}/command")
    for sql, rows in theirs.items():
        if ours[sql] != rows:
            differ = next((pair for pair in zip(ours[sql], rows) if pair[0] != pair[1]), "the number of rows")
            return f"{sql}: {len(ours[sql])} and {len(rows)} rows; {str(differ)[:300]}"
    doctor = subprocess.run([program, "doctor", "manual", "--results", results], capture_output=True, text=True)
    if doctor.returncode != 0:
        return f"doctor: {doctor.stdout}"
    count = len(ours["SELECT * FROM trials ORDER BY id"])
    print(f"     round {r}: {count} trials, {sum(p.commands for p in people)} commands, "
          f"{sum(p.killed for p in people)} killed", flush=True)
    shutil.rmtree(results)
    return None


def main(program, first, count, trials=60):
    bad = 0
    for r in range(int(first), int(first) + int(count)):
        trouble = play(program, r, int(trials))
        if trouble:
            print(f"FAIL ask_tell: round {r}: {trouble}", flush=True)
            bad += 1
    if not bad:
        print(f"ok   ask_tell: {count} searches, asked and told by two people whose commands are killed: as `run` has them")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
