"""A billion hoppers on GPUs, of which some trials keep a row (record.rows).

    tests/gpu_billion.py [BUILD [BACKEND [TRIALS [PARTS]]]]

BUILD: the folder of `make` with CUDA, or of `make portable` (build). BACKEND: cuda on all devices, or cpu to try the
script itself. TRIALS: 1e9, about eleven minutes on one H200. PARTS: which parts (all): `whole` prints the time of all
trials against that of the kernels, memory and disk; `first` runs the first hundredth with all rows too, and compares;
`killed` kills a tenth of them ten times and compares digests. Exits with 1 if a bound is missed. Needs numpy for
`first`.
"""

import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

BUILD = sys.argv[1] if len(sys.argv) > 1 else "build"
BACKEND = sys.argv[2] if len(sys.argv) > 2 else "cuda"
TRIALS = int(float(sys.argv[3])) if len(sys.argv) > 3 else 10**9
PARTS = sys.argv[4:] or ["whole", "first", "killed"]
PROGRAM = os.path.join(BUILD, "hopscotch")
FOLDER = tempfile.TemporaryDirectory()
RESULTS = os.path.join(FOLDER.name, "results")
DEVICES = ["--device", "all"] if BACKEND == "cuda" else []
KEPT = "record.rows={best: %d, every: 1000, failures: 100000}" % min(10**6, TRIALS // 100)

SPEC = """version: 1
experiment: billion
seed: 5
model: hopper
simulation: {integrator: dormand_prince, tolerance: 1.0e-6, duration: 5}
search:
  method: random
  trials: %d
  over:
    k_fp:   {range: [140, 160]}
    k_att:  {range: [140, 160]}
    b_att:  {range: [14, 16]}
    thrust: {range: [34, 36]}
"""
failed = 0


def report(good, text):
    global failed
    failed += not good
    print(("ok " if good else "MISSED ") + text, flush=True)


def command(*words):
    return [PROGRAM, *words, "--results", RESULTS]


def words_of_run(name, trials, rows):
    path = os.path.join(FOLDER.name, "billion.yaml")
    with open(path, "w") as out:
        out.write(SPEC % trials)
    return command("run", path, "--name", name, "--backend", BACKEND, *DEVICES, "--progress", "none", "--timings",
                   "--json", "--set", rows)


def run(name, trials, rows):
    with open(os.path.join(FOLDER.name, "out"), "w+") as out:
        child = subprocess.Popen(words_of_run(name, trials, rows), stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        out.seek(0)
        text = out.read()
    if status != 0:
        print(text[-2000:])
        sys.exit(1)
    result = json.loads(text[text.index("{"):])
    result["rss"] = usage.ru_maxrss / 1024**2
    return result


def ask(*words):
    return subprocess.run(command(*words), capture_output=True, text=True).stdout


def folder_bytes(name):
    size = 0
    for folder, _, files in os.walk(os.path.join(RESULTS, name)):
        size += sum(os.path.getsize(os.path.join(folder, file)) for file in files)
    return size


def whole():
    peak = 0
    words = words_of_run("whole", TRIALS, KEPT)
    with open(os.path.join(FOLDER.name, "out"), "w+") as out:
        child = subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT)
        while child.poll() is None:
            time.sleep(1)
            try:
                peak = max(peak, folder_bytes("whole"))
            except OSError:
                pass
        out.seek(0)
        text = out.read()
    if child.returncode != 0:
        print(text[-2000:])
        sys.exit(1)
    result = json.loads(text[text.index("{"):])
    print(text[text.index("{"):], flush=True)
    kernel, wall = result["kernel_seconds"], result["first_launch_to_last_commit"]
    size = folder_bytes("whole")
    report(wall <= 1.15 * kernel, "%d hoppers x 5 s: kernels %.1f s, first launch to last commit %.1f s, %.3f times"
           % (TRIALS, kernel, wall, wall / kernel))
    report(max(peak, size) < 2 * 2**30, "the folder has %.2f GiB at most, %.2f at the end"
           % (max(peak, size) / 2**30, size / 2**30))
    rss = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
    report(rss < 2, "memory %.2f GiB" % rss)
    for words in (("best", "whole", "--top", "5"), ("status", "whole")):
        start = time.perf_counter()
        print(ask(*words))
        print("   %s took %.0f ms" % (words[0], 1e3 * (time.perf_counter() - start)), flush=True)


def database(name):
    return sqlite3.connect("file:%s/%s/campaign.db?mode=ro" % (RESULTS, name), uri=True)


def first():
    import numpy
    trials = TRIALS // 100
    run("some", trials, KEPT)
    result = run("all", trials, "record.rows=all")
    print("   %d with all rows: kernels %.2f s, first launch to last commit %.2f s, rows %.2f s" % (
        trials, result["kernel_seconds"], result["first_launch_to_last_commit"], result["rows_seconds"]), flush=True)
    report(ask("best", "some", "--top", "100", "--format", "csv") == ask("best", "all", "--top", "100", "--format",
                                                                         "csv") != "", "the same best 100")
    some, every = database("some"), database("all")
    counts = "SELECT failure, trials FROM summary_failures WHERE trials > 0 ORDER BY failure"
    report(some.execute(counts).fetchall() == every.execute(
        "SELECT failure, count(*) FROM trials GROUP BY failure ORDER BY failure").fetchall(), "the same failures")
    names = [row[0] for row in some.execute("SELECT name FROM summary_columns")]
    rows = ", ".join('count("%s"), min("%s"), max("%s")' % (name, name, name) for name in names)
    got = every.execute("SELECT %s FROM trials" % rows).fetchone()
    kept = [some.execute("SELECT vals, least, greatest FROM summary_columns WHERE name = ?", [name]).fetchone()
            for name in names]
    wrong = [name for i, name in enumerate(names) if tuple(got[3 * i: 3 * i + 3]) != kept[i]]
    report(not wrong, "counts, least and greatest of %d columns %s" % (len(names), wrong))
    for name in ("fitness", "energy", "mean_speed"):
        values = numpy.fromiter((row[0] for row in every.execute(
            'SELECT "%s" FROM trials WHERE "%s" IS NOT NULL ORDER BY id' % (name, name))), float)
        blob, total = some.execute("SELECT histogram, sum FROM summary_columns WHERE name = ?", [name]).fetchone()
        bins = numpy.frombuffer(blob, [("low", "f8"), ("high", "f8"), ("trials", "i8")])
        ordered = numpy.sort(values)
        ends = numpy.searchsorted(ordered, numpy.append(bins["low"][1:], numpy.inf), side="left")
        found = numpy.diff(numpy.concatenate([[0], ends]))
        report(bool((found == bins["trials"]).all()) and float(numpy.add.accumulate(values)[-1]) == total,
               "%s: a histogram of %d bins, and its sum to the bit" % (name, len(bins)))


def killed():
    trials = TRIALS // 10
    result = run("unkilled", trials, KEPT)
    digest, seconds, kills = ask("digest", "unkilled").split()[0], result["wall_seconds"], 0
    print("   %d: kernels %.1f s, first launch to last commit %.1f s" % (
        trials, result["kernel_seconds"], result["first_launch_to_last_commit"]), flush=True)
    words = words_of_run("killed", trials, KEPT)
    random.seed(1)
    while kills < 10:
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1.0 + random.random() * seconds / 6)
        if child.poll() is not None:
            break
        child.send_signal(signal.SIGKILL)
        child.wait()
        kills += 1
    run("killed", trials, KEPT)
    report(kills >= 5 and ask("digest", "killed").split()[0] == digest, "killed %d times: the same digest" % kills)


def main():
    print(subprocess.run([PROGRAM, "version"], capture_output=True, text=True).stdout.strip())
    for part in PARTS:
        {"whole": whole, "first": first, "killed": killed}[part]()
    sys.exit(failed > 0)


main()
