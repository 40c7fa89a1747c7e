#!/usr/bin/env python3
"""What a loop takes that asks for a trial and tells its result, as the campaign grows; beside Optuna and Ax.

    compare_ask_tell.py HOPSCOTCH [TRIALS [LOOPS]]      10000 and all; in an empty folder

Ours: two commands per trial, each a process of its own, and a database that is synchronised by each. 40 trials before each
line of the table go one by one, those in between by the hundred. Optuna: in memory, and in a database of SQLite. Ax: in
memory, and saved to a file after every trial. Their loops end early, after 20 s of processor time. Prints CSV: the loop,
trials so far, milliseconds of processor time and of wall time per trial over the last 40.
"""
import csv
import importlib
import io
import logging
import os
import subprocess
import sys
import time
import warnings

SPEC = """version: 1
experiment: %s
model: manual
seed: 1
parameters:
  a: {value: 2, range: [0, 10]}
  b: {value: 1, range: [-4, 4]}
metrics: {slip: mm}
search: {method: %s, over: {a: {range: [0, 10]}, b: {range: [-4, 4]}}%s}
objective: {minimize: slip}
"""
OURS = {"hopscotch random": ("random", ", trials: %d"),
        "hopscotch cmaes": ("cmaes", ", cmaes: {population: 100, restarts: ipop, stop: {trials: %d}}"),
        "hopscotch bayesian": ("bayesian", ", bayesian: {stop: {trials: %d}}")}
MARKS, LAST, MOST = (40, 100, 250, 1000, 3000, 10000), 40, 20.0  # trials, trials, s of processor time


def slip(a, b):
    return (a - 3.25) ** 2 + abs(b - 1.0) ** 1.5


def ours(program, loop, trials):
    """Yields the number of trials so far."""
    method, rest = OURS[loop]
    name, count = loop.replace(" ", "_"), 0
    with open(f"{name}.yaml", "w") as file:
        file.write(SPEC % (name, method, rest % (min(trials, 300) if method == "bayesian" else trials)))

    def call(*words):
        done = subprocess.run([program, *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return done.stdout

    call("ask", f"{name}.yaml", "--trials", "0")
    while True:
        away = min((mark - LAST - count for mark in MARKS if mark - LAST > count), default=0)
        due = any(mark - LAST <= count < mark for mark in MARKS)
        rows = call("ask", name, "-n", str(1 if due else min(100, max(1, away))), "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(rows)))
        if not rows:
            return
        results = [(row["trial"], slip(float(row["a"]), float(row["b"]))) for row in rows]
        if len(results) == 1:
            call("tell", f"{name}/{results[0][0]}", f"slip={results[0][1]!r}")
        else:
            with open(f"{name}.csv", "w") as file:
                csv.writer(file).writerows([("trial", "slip"), *results])
            call("tell", name, f"{name}.csv")
        count += len(results)
        yield count


def by_optuna(_, loop, trials):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=1) if "TPE" in loop else optuna.samplers.RandomSampler(seed=1)
    storage = f"sqlite:///{loop.replace(' ', '_')}.db" if "SQLite" in loop else None
    study = optuna.create_study(sampler=sampler, storage=storage, study_name="loop")
    for k in range(trials):
        trial = study.ask()
        study.tell(trial, slip(trial.suggest_float("a", 0, 10), trial.suggest_float("b", -4, 4)))
        yield k + 1


def by_ax(_, loop, trials):
    logging.disable(logging.WARNING)
    from ax.api.client import Client
    from ax.api.configs import RangeParameterConfig

    client = Client()
    client.configure_experiment(parameters=[
        RangeParameterConfig(name="a", parameter_type="float", bounds=(0, 10)),
        RangeParameterConfig(name="b", parameter_type="float", bounds=(-4, 4))])
    client.configure_optimization(objective="-slip")
    client.configure_generation_strategy(method="random_search" if "Sobol" in loop else "fast")
    for k in range(trials):
        for index, found in client.get_next_trials(max_trials=1).items():
            client.complete_trial(trial_index=index, raw_data={"slip": slip(found["a"], found["b"])})
        if "saved" in loop:
            client.save_to_json_file(f"{loop.replace(' ', '_')}.json")
        yield k + 1


LOOPS = {**{loop: ours for loop in OURS}, "Optuna random": by_optuna, "Optuna random, SQLite": by_optuna,
         "Optuna TPE": by_optuna, "Ax Sobol": by_ax, "Ax Sobol, saved": by_ax, "Ax": by_ax}


def now():
    used = os.times()
    return sum(used[:4]), time.monotonic()


def measure(program, loop, trials):
    at = {0: now()}
    for count in LOOPS[loop](program, loop, trials):
        at[count] = now()
        late = at[count][0] - at[0][0] > MOST and LOOPS[loop] is not ours and count >= LAST
        if count in MARKS or late:
            spent = [1e3 * (b - a) / LAST for a, b in zip(at[count - LAST], at[count])]
            print(f'"{loop}",{count},{spent[0]:.2f},{spent[1]:.2f}', flush=True)
        if late:
            return


def main(program, trials="10000", loops="all"):
    warnings.filterwarnings("ignore")
    print("loop,trials,processor_ms,wall_ms")
    for loop in list(LOOPS) if loops == "all" else loops.split(";"):
        package = "optuna" if "Optuna" in loop else "ax" if "Ax" in loop else "csv"
        try:
            importlib.import_module(package)
        except ImportError:
            print(f"without the package {package}: no {loop}", file=sys.stderr)
            continue
        measure(os.path.abspath(program), loop, int(trials))


if __name__ == "__main__":
    main(*sys.argv[1:])
