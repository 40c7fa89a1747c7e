#!/usr/bin/env python3
"""The shipped laws by adam (along the adjoint's gradient) and by cmaes, at equal simulated steps.

    python3 tests/bench/compare_laws.py build/hopscotch quadruped|cartpole [RATE [adam|cmaes]]     (prints Markdown)

The searches of experiments/quadruped_law.yaml and cartpole_law.yaml with five seeds, which draw the disturbances and the
samples of cmaes; both begin at the same point with new disturbances for each trial. A step of adam counts as 4.8 trials:
its own, and forward and back (NOTES.md). The last and the best stored trial run again under FRESH fresh seeds, and so
does the start. The pole's sensors do not round while they are searched, because what rounds has no derivative, and they
do under the fresh seeds; its constraint is left out, and counts where it is not met.
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../experiments")
SEEDS, FRESH, COST = range(1, 6), 256, 4.8
ROUNDED = r", quantum: [-.\d]+"
TASKS = {  # trials of a search, replicates of a trial, start and generation of cmaes, sigma
    "quadruped": (240, 24, "default", 24, 0.1),
    "cartpole": (240, 8, "center", 8, 0.3),
}


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments, "--results", "results"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


def fresh(rounded, parameters):
    """Fitness of the shipped law, and its failed replicates, under fresh seeds."""
    point = ", ".join(f"{name}: {value!r}" for name, value in parameters.items())
    run("run", rounded, "--name", "fresh", "--progress", "none", "--set", f"search={{method: list, points: [{{{point}}}]}}",
        "--set", "seed=99", "--set", f"replicates.count={FRESH}", "--set", "objective.failed=penalty(2)")
    rows = json.loads(run("query", "fresh", "--columns", "fitness,n_failed", "--limit", "0", "--json"))
    shutil.rmtree("results/fresh")
    return rows[0]["fitness"], rows[0]["n_failed"]


def search(name, spec, rounded, axes, seed):
    run("run", spec, "--name", name, "--progress", "none", "--set", f"seed={seed}")
    rows = json.loads(run("query", name, "--columns", ",".join(["id", "fitness", *axes]), "--limit", "0", "--json"))
    rows = [row for row in rows if row["fitness"] is not None]
    last, best = max(rows, key=lambda row: row["id"]), min(rows, key=lambda row: row["fitness"])
    first = min(rows, key=lambda row: row["id"])
    return {key: fresh(rounded, {axis: row[axis] for axis in axes})
            for key, row in (("first", first), ("last", last), ("best", best))}


def main():
    task = sys.argv[2]
    trials, replicates, start, population, sigma = TASKS[task]
    rate = float(sys.argv[3]) if len(sys.argv) > 3 else 0.02
    methods = sys.argv[4:] or ["adam", "cmaes"]
    steps = round(trials / COST)
    with open(f"{FOLDER}/{task}_law.yaml", encoding="utf-8") as file:
        text = file.read()
    over = re.search(r"(?m)^  over:\n((?:    .*\n)+)", text).group(1)
    axes = re.findall(r"(?m)^    (\w+):", over)
    text = re.sub(r"(?ms)^search:.*?(?=^\w)", "", re.sub(r"(?ms)^record:.*?(?=^\w|\Z)", "", text))
    text = re.sub(r"(?m)^constraints:.*\n", "", text)
    text = re.sub(r"count: \d+", f"count: {replicates}, common: false" if "common:" not in text else
                  f"count: {replicates}", text)
    rounded = text
    text = re.sub(ROUNDED, "", text)
    options = {"adam": f"gradient: adjoint, start: {start}, rate: {rate}, stop: {{iterations: {steps}}}",
               "cmaes": f"start: {start}, population: {population}, sigma: {sigma}, "
                        f"stop: {{generations: {trials // population}}}"}
    specs = {f"{method}.yaml": f"{text}search:\n  method: {method}\n  over:\n{over}  {method}: {{{options[method]}}}\n"
             for method in options}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for sub in ("robots", "laws"):
            shutil.copytree(f"{FOLDER}/{sub}", sub)
        for name, content in (*specs.items(), ("rounded.yaml", rounded)):
            with open(name, "w", encoding="utf-8") as file:
                file.write(content)
        print("| method | last | of five seeds | failed | best | of five seeds | failed |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for method in methods:
            found = [search(f"{method}_{seed}", f"{method}.yaml", "rounded.yaml", axes, seed) for seed in SEEDS]
            row = []
            for key in ("last", "best"):
                values = [f[key][0] for f in found]
                row.append(f"{statistics.median(values):.4f} | {min(values):.4f} to {max(values):.4f} | "
                           f"{sum(f[key][1] for f in found)} of {FRESH * len(found)}")
            print(f"| {method} | {' | '.join(row)} |", flush=True)
            if method == "adam":
                print("| the start | %.4f | | %d of %d | | | |" % (*found[0]["first"], FRESH), flush=True)


main()
