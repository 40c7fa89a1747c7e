#!/usr/bin/env python3
"""Searches of few trials on real tasks: the best fitness after so many trials, and how many trials it takes to get where
plain CMA-ES ends. Beside ours stand TPE (optuna), TuRBO-1 (botorch), HEBO and SMAC3, where they are installed.

    compare_trials.py run HOPSCOTCH TASK METHODS SEEDS RUNS.csv     methods and seeds: a,b and 1-10
    compare_trials.py table RUNS.csv

Tasks, in a temporary folder:
    hopper       eight gains at 2 m/s, 16 replicates of their own for each trial (raibert_bayesian.yaml); 240 trials
    robot_stand  kp, kd and rotor inertia of a biped that is pushed (robot_stand.yaml); 120 trials
    stand        nine numbers of a humanoid of MuJoCo that is pushed (mujoco/stand.yaml); 300 trials
    valley       that of tests/bench/bayesian_speed.c, ten parameters, for the time of a suggestion; 250 trials

A run appends its fitnesses in order (nan: failed) and the processor time of a suggestion over the last 25 trials. Others see
unit cubes on the same scales, and for a trial that failed the worst fitness so far.
"""
import contextlib
import csv
import io
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
HERE = os.path.dirname(os.path.abspath(__file__))
EXPERIMENTS = os.path.join(HERE, "../../experiments")
LOG = {"scale": "log"}
TASKS = {
    "hopper": ("raibert_bayesian.yaml", None, 240),
    "robot_stand": ("robot_stand.yaml", {"all_kp": {"range": [50, 2000], **LOG}, "all_kd": {"range": [2, 100], **LOG},
                                         "all_armature": {"range": [0.002, 0.2], **LOG}}, 120),
    "stand": ("mujoco/stand.yaml", None, 300),
    "valley": (None, {f"x{i}": {"range": [-5, 5]} for i in range(1, 11)}, 250),
}
OURS = {"cmaes": ("cmaes", {}), "surrogate": ("cmaes", {"surrogate": "quadratic"}), "bayesian": ("bayesian", {})}


class Task:
    """An experiment in a folder of its own."""

    def __init__(self, program, name, seed):
        import yaml

        spec, over, self.trials = TASKS[name]
        self.program, self.name, self.seed, self.count = os.path.abspath(program), name, seed, 0
        self.folder = tempfile.mkdtemp()
        if spec:
            base = os.path.dirname(os.path.join(EXPERIMENTS, spec))
            for extra in ("robots", "stand.py", "humanoid.xml"):
                path = os.path.join(base, extra)
                if os.path.isdir(path):
                    shutil.copytree(path, os.path.join(self.folder, extra))
                elif os.path.exists(path):
                    shutil.copy(path, self.folder)
            with open(os.path.join(EXPERIMENTS, spec)) as file:
                self.spec = yaml.safe_load(file)
            self.spec.pop("record", None)
        self.over = over or self.spec["search"]["over"]

    def run(self, search, seed):
        """The fitness of each trial, in order."""
        import yaml

        path = os.path.join(self.folder, "task.yaml")
        with open(path, "w") as file:
            alone = {"recommend": "off"} if "replicates" in self.spec else {}
            yaml.safe_dump({**self.spec, "experiment": "task", "seed": seed, "search": search, **alone}, file)
        words = [self.program, "run", path, "--progress", "none", "--threads", "1", "--results", self.folder + "/results"]
        done = subprocess.run(words + ["--allow-programs"], capture_output=True, text=True, cwd=self.folder)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        words = [self.program, "query", "task", "--columns", "id,fitness", "--order", "id", "--limit", "100000", "--format",
                 "csv", "--results", self.folder + "/results"]
        text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        shutil.rmtree(self.folder + "/results")
        return [float(row[1]) if row[1] not in ("", "nan") else math.nan for row in list(csv.reader(io.StringIO(text)))[1:]]

    def at(self, unit):
        """The parameters at a point of the unit cube."""
        point = {}
        for u, (name, axis) in zip(unit, self.over.items()):
            low, high = axis["range"]
            u = min(1.0, max(0.0, float(u)))
            point[name] = low * (high / low) ** u if axis.get("scale") == "log" else low + u * (high - low)
        return point

    def __call__(self, unit):
        x = self.at(unit)
        self.count += 1
        if self.name == "valley":
            x = list(x.values())
            return sum(100.0 * (a * a - b) ** 2 + (a - 1.0) ** 2 for a, b in zip(x, x[1:]))
        return self.run({"method": "list", "points": [x]}, 100000 * self.seed + self.count)[0]


class Loop:
    """Calls of another search: values, and the time between them."""

    def __init__(self, task):
        self.task, self.values, self.times, self.at = task, [], [], time.process_time()

    def __call__(self, unit):
        self.times.append(1e3 * (time.process_time() - self.at))
        self.values.append(self.task(unit))
        self.at = time.process_time()
        return self.values[-1]

    def told(self):
        """The values, that of a failure being the worst."""
        known = [value for value in self.values if not math.isnan(value)]
        worst = max(known, default=1.0)
        return [worst if math.isnan(value) else value for value in self.values]

    def left(self):
        return self.task.trials - len(self.values)


def by_tpe(loop, n, seed):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    while loop.left():
        trial = study.ask()
        value = loop([trial.suggest_float(f"x{i}", 0, 1) for i in range(n)])
        study.tell(trial, loop.told()[-1] if math.isnan(value) else value)


def by_turbo(loop, n, seed):
    """TuRBO-1 as in BoTorch's tutorial, but with noise up to 0.2 (as Eriksson et al. have it)."""
    import torch
    from botorch.exceptions import ModelFittingError
    from botorch.fit import fit_gpytorch_mll
    from botorch.generation import MaxPosteriorSampling
    from botorch.models import SingleTaskGP
    from gpytorch.constraints import Interval
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.likelihoods import GaussianLikelihood
    from gpytorch.mlls import ExactMarginalLogLikelihood
    from torch.quasirandom import SobolEngine

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    real = {"dtype": torch.double}
    while loop.left():  # a region that got too short begins anew
        points, first = [], len(loop.values)
        sobol = SobolEngine(n, scramble=True, seed=seed + first)
        for _ in range(min(2 * n, loop.left())):
            points.append(sobol.draw(1, **real)[0])
            loop(points[-1])
        length, good, bad, best = 0.8, 0, 0, min(loop.told()[first:])
        while length > 0.5 ** 7 and loop.left():
            x, y = torch.stack(points), -torch.tensor(loop.told()[first:], **real)
            y = ((y - y.mean()) / y.std().clamp_min(1e-12))[:, None]
            kernel = ScaleKernel(MaternKernel(2.5, ard_num_dims=n, lengthscale_constraint=Interval(0.005, 4.0)))
            model = SingleTaskGP(x, y, covar_module=kernel, outcome_transform=None,
                                 likelihood=GaussianLikelihood(noise_constraint=Interval(1e-8, 0.2)))
            with contextlib.suppress(ModelFittingError):
                fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            weights = kernel.base_kernel.lengthscale.squeeze().detach()
            weights = weights / weights.mean()
            weights = weights / torch.prod(weights.pow(1.0 / n))
            centre = x[y.argmax()]
            low, high = ((centre + sign * weights * length / 2).clamp(0.0, 1.0) for sign in (-1, 1))
            many = min(5000, max(2000, 200 * n))
            candidates = low + (high - low) * SobolEngine(n, scramble=True).draw(many, **real)
            mask = torch.rand(many, n, **real) <= min(20.0 / n, 1.0)
            empty = torch.where(mask.sum(dim=1) == 0)[0]
            mask[empty, torch.randint(0, n, (len(empty),))] = True
            tried = torch.where(mask, candidates, centre)
            with torch.no_grad():
                points.append(MaxPosteriorSampling(model=model, replacement=False)(tried, num_samples=1)[0])
            value = loop(points[-1])
            better = not math.isnan(value) and value < best - 1e-3 * abs(best)
            good, bad = (good + 1, 0) if better else (0, bad + 1)
            best = min(best, loop.told()[-1])
            if good == 10:
                length, good = min(2.0 * length, 1.6), 0
            elif bad == max(4, n):
                length, bad = length / 2.0, 0


def by_hebo(loop, n, seed):
    import numpy
    import pandas
    from hebo.design_space.design_space import DesignSpace
    from hebo.optimizers.hebo import HEBO

    numpy.random.seed(seed)
    space = DesignSpace().parse([{"name": f"x{i}", "type": "num", "lb": 0, "ub": 1} for i in range(n)])
    search = HEBO(space, scramble_seed=seed)
    while loop.left():
        asked = search.suggest(1)
        value = loop([float(asked[f"x{i}"].iloc[0]) for i in range(n)])
        search.observe(asked, numpy.array([[loop.told()[-1] if math.isnan(value) else value]]))


def by_smac(loop, n, seed):
    import logging

    logging.disable(logging.CRITICAL)
    from ConfigSpace import ConfigurationSpace, Float
    from smac import BlackBoxFacade, Scenario

    space = ConfigurationSpace(seed=seed)
    space.add([Float(f"x{i}", (0.0, 1.0)) for i in range(n)])

    def target(config, seed=0):
        value = loop([config[f"x{i}"] for i in range(n)])
        return loop.told()[-1] if math.isnan(value) else value

    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(space, deterministic=True, n_trials=loop.task.trials, seed=seed, output_directory=folder)
        BlackBoxFacade(scenario, target, overwrite=True, logging_level=False).optimize()


THEIRS = {"tpe": by_tpe, "turbo": by_turbo, "hebo": by_hebo, "smac": by_smac}


def run(program, task, methods, seeds, path):
    warnings.filterwarnings("ignore")
    ends = [part.split("-") for part in seeds.split(",")]
    for seed in [seed for end in ends for seed in range(int(end[0]), int(end[-1]) + 1)]:
        for method in methods.split(","):
            experiment, took, began = Task(program, task, seed), math.nan, time.monotonic()
            if method in OURS:
                name, options = OURS[method]
                search = {"method": name, "over": experiment.over, name: {**options, "stop": {"trials": experiment.trials}}}
                values = experiment.run(search, seed)
            else:
                loop = Loop(experiment)
                THEIRS[method](loop, len(experiment.over), seed)
                values, took = loop.values, statistics.mean(loop.times[-25:])
            shutil.rmtree(experiment.folder)
            with open(path, "a") as file:
                csv.writer(file).writerow([task, method, seed, f"{took:.1f}", " ".join(f"{value:.6g}" for value in values)])
            print(f"{task} {method} {seed}: {min([v for v in values if v == v], default=math.nan):.4f} of {len(values)}, "
                  f"{time.monotonic() - began:.0f} s", flush=True)


def best(values, count):
    return min([value for value in values[:count] if not math.isnan(value)], default=math.inf)


def until(values, fitness):
    return next((k for k, value in enumerate(values, 1) if value <= fitness), math.inf)


def quartiles(values):
    """Least, quartiles and greatest, linear between two values."""
    values, text = sorted(values), []
    for q in (0, 0.25, 0.5, 0.75, 1):
        at = q * (len(values) - 1)
        low, part = values[math.floor(at)], at - math.floor(at)
        text.append(f"{low + part * (values[math.ceil(at)] - low) if part else low:7.4f}")
    return " ".join(text)


def table(path):
    with open(path) as file:
        runs = {(row[0], row[1], int(row[2])): (float(row[3]), [float(v) for v in row[4].split()]) for row in csv.reader(file)}
    for task in dict.fromkeys(key[0] for key in runs):
        most = TASKS[task][2]
        plain = {seed: best(values, most) for (t, m, seed), (_, values) in runs.items() if (t, m) == (task, "cmaes")}
        for count in sorted({most // 4, most // 2, most}):
            print(f"\n{task}, best after {count} trials: least, quartiles, greatest; seeds")
            for method in dict.fromkeys(key[1] for key in runs if key[0] == task):
                values = [best(v, count) for (t, m, _), (_, v) in runs.items() if (t, m) == (task, method)]
                print(f"{method:12s} {quartiles(values)}   {len(values)}")
        print(f"\n{task}, trials to the end of cmaes with the same seed: median, how many got there; ms per suggestion")
        for method in dict.fromkeys(key[1] for key in runs if key[0] == task):
            mine = {seed: v for (t, m, seed), (_, v) in runs.items() if (t, m) == (task, method)}
            took = statistics.median(t for (k, m, _), (t, _) in runs.items() if (k, m) == (task, method))
            counts = sorted(until(mine[seed], plain[seed]) for seed in mine if seed in plain and plain[seed] < math.inf)
            text = f"{statistics.median_low(counts):6.0f}, {sum(c < math.inf for c in counts)} of {len(counts)}" if counts else ""
            print(f"{method:12s} {text}   {took:.1f}")


if __name__ == "__main__":
    run(*sys.argv[2:]) if sys.argv[1] == "run" else table(sys.argv[2])
