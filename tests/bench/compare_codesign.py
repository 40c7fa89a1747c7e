#!/usr/bin/env python3
"""Co-design by adam (along the adjoint's gradient) and by cmaes, at equal simulated steps.

    python3 tests/bench/compare_codesign.py build/hopscotch biped          (8 minutes on two cores; prints Markdown)
    python3 tests/bench/compare_codesign.py build/hopscotch g1 [FOLDER]    (FOLDER of the G1's file, default
                                                                            ../shared/data/g1; skipped without it)

Each spec with five seeds, whole, with the body of the file (gait and motors), and with its motors too (gait). The seed
draws the disturbances and the samples of cmaes. The last trial and the best one run again under 1,000 fresh seeds; so
does the start, and the best ones of the whole also for 8 s. A step of adam counts as 4.8 simulations: its trial, and
forward and back (NOTES.md).
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from skip import skip  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
BENCH = os.path.dirname(os.path.abspath(__file__))
SPECS = {"biped": (os.path.join(BENCH, "../../experiments"), "biped_codesign_{}.yaml", "robots/biped.xml"),
         "g1": (BENCH, "g1_codesign_{}.yaml", None)}
PARTS = {"body, motors and gait": (), "motors and gait": ("body",), "gait": ("body", "motors")}
G1_FILE = "unitree_mujoco_g1_29dof.xml"
SEEDS, FRESH, LONG = range(1, 6), 1000, 8


def run(*arguments, folder):
    done = subprocess.run([PROGRAM, *arguments, "--results", "results"], capture_output=True, text=True, check=False,
                          cwd=folder)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


def without(text, parts):
    """Leaves out what `search.over` lists below the comments `# the body` and `# motors`; fixed are the middles."""
    kept, skips, fixed = [], False, []
    for line in text.splitlines():
        heading = re.fullmatch(r" +# (?:the )?(\w+)", line)
        skips = heading.group(1) in parts if heading else skips and line.startswith("    ")
        axis = re.match(r"    (\w+): +\{range: \[([-.\d]+), ([-.\d]+)\](, scale: log)?", line)
        if not skips:
            kept.append(line)
        elif axis:
            low, high = float(axis.group(2)), float(axis.group(3))
            fixed.append(f"{axis.group(1)}: {(low * high) ** 0.5 if axis.group(4) else (low + high) / 2}")
    joined = ", ".join(fixed)
    return re.sub(r"(?m)^parameters: \{", "parameters: {" + joined + (", " if joined else ""), "\n".join(kept)) + "\n"


def fresh(name, trial, folder):
    """Mean fitness under fresh seeds."""
    out = json.loads(run("verify", name, "--trial", str(trial), "--seeds", str(FRESH), "--seed", "99", "--gains", "0",
                         "--physics", "0", "--grid", "0", "--name", f"{name}_{trial}_fresh", "--progress", "none",
                         "--json", folder=folder))
    return out["fitness"]["value"]


def search(spec, name, seed, folder):
    run("run", spec, "--name", name, "--set", f"seed={seed}", "--progress", "none", folder=folder)
    rows = json.loads(run("query", name, "--columns", "id,fitness", "--limit", "0", "--json", folder=folder))
    rows = [row for row in rows if row["fitness"] is not None]
    last, best = max(rows, key=lambda row: row["id"])["id"], min(rows, key=lambda row: row["fitness"])["id"]
    found = fresh(name, best, folder)
    return {"last": found if last == best else fresh(name, last, folder), "best": found,
            "stored": min(row["fitness"] for row in rows)}


def longer(text, name, of, folder):
    """Fitness of the best stored trial of a campaign (None: of the start) for LONG seconds, under fresh seeds."""
    spec = os.path.join(folder, "long.yaml")
    text = re.sub(r"(?m)^  duration: .*", f"  duration: {LONG}.0", text)
    text = re.sub(r"iterations: \d+", "iterations: 1", text)
    with open(spec, "w", encoding="utf-8") as file:
        file.write(text if of is None else text.replace("start: center", f"start: center\n    from: {of}"))
    run("run", spec, "--name", name, "--progress", "none", folder=folder)
    return fresh(name, 0, folder)


def write_row(parts, method, results):
    stored, last, best = ([r[key] for r in results] for key in ("stored", "last", "best"))
    print(f"| {parts} | {method} | {statistics.median(stored):.3f} | {statistics.median(last):.3f} | {min(last):.3f} to "
          f"{max(last):.3f} | {statistics.median(best):.3f} | {min(best):.3f} to {max(best):.3f} |", flush=True)


def compare(source, pattern, folder):
    starts, long = [], []
    print("| what changes | method | best stored | last | of five seeds | best | of five seeds |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for parts, left_out in PARTS.items():
        for method in ("adam", "cmaes"):
            with open(os.path.join(source, pattern.format(method)), encoding="utf-8") as file:
                text = without(file.read(), left_out)
            spec = os.path.join(folder, pattern.format(method))
            with open(spec, "w", encoding="utf-8") as file:
                file.write(text)
            name = f"{method}_{len(left_out)}"
            results = [search(spec, f"{name}_{seed}", seed, folder) for seed in SEEDS]
            if method == "adam" and not left_out:
                whole = text
                starts.append(fresh(f"{name}_{SEEDS[0]}", 0, folder))
            if not left_out:
                long.append(statistics.median(longer(whole, f"{name}_{seed}_long", f"{name}_{seed}", folder)
                                              for seed in SEEDS))
            write_row(parts, method, results)
    print(f"| nothing: the start | | | {starts[0]:.3f} | | | |")
    print(f"\nFor {LONG} s: start {longer(whole, 'start_long', None, folder):.3f}, adam {long[0]:.3f}, cmaes {long[1]:.3f}")


def main():
    robot = sys.argv[2] if len(sys.argv) > 2 else "biped"
    source, pattern, file = SPECS[robot]
    g1 = sys.argv[3] if len(sys.argv) > 3 else "../shared/data/g1"
    if robot == "g1" and not os.path.isfile(os.path.join(g1, G1_FILE)):
        skip("compare_codesign", "the G1", f"{G1_FILE} in {g1}", "name its folder")
        return
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "robots"))
        if robot == "g1":
            shutil.copy(os.path.join(g1, G1_FILE), os.path.join(folder, "robots/g1.xml"))
        else:
            shutil.copy(os.path.join(source, file), os.path.join(folder, file))
        compare(source, pattern, folder)


main()
