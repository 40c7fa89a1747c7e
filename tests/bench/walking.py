#!/usr/bin/env python3
"""How well the robots that walk do it: each search of experiments/ that is not there yet, then the gains that it
recommends, under fresh seeds, at each commanded speed, on the flat, on slopes and over steps. Prints tables for
NOTES.md.

    PYTHONPATH=runner/python python3 tests/bench/walking.py [WALK...] [--seeds 200] [--results FOLDER] [--g1 G1.xml]
        [-- WORD...]                    words for `hopscotch run`: -- --backend cpu --threads 1

WALK: quadruped_trot, biped_run, gaits_by_speed, hopper_as_robot, hopper_policy, g1_walk (needs the robot's file, which
is not in the repository); all but the last without an argument. Needs numpy. A search takes two to six minutes on a core.
Success: the run does not end in a failure; its interval is Wilson's, 95 %. Means are over the runs that succeeded.
"""
import argparse
import json
import math
import os
import shutil
import sys

import numpy

import hopscotch
from hopscotch import program

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FRESH = 20257  # seed of the runs; none of the searches
PUSHED = {"quadruped_trot": {"push_time": [2, 4], "push_x": [-60, 60], "push_y": [-60, 60]},
          "biped_run": {"push_time": [2, 4], "push_x": [-100, 100], "push_y": [-100, 100]}}
GROUNDS = [("flat", {})] + \
    [(f"slope of {rise:+.0%}", {"simulation.terrain": "slope", "parameters.terrain_slope": rise})
     for rise in (0.1, -0.1, 0.15, -0.15)] + \
    [(f"steps of {100 * rise:+.0f} cm", {"simulation.terrain": "steps", "parameters.terrain_height": rise})
     for rise in (0.02, -0.02, 0.04, -0.04)]


def wilson(good, count):
    """The 95 % interval of a rate (Wilson, J. Am. Stat. Assoc. 22, 1927), in per cent."""
    z, rate = 1.959964, good / count
    middle, half = rate + z**2 / (2 * count), z * math.sqrt(rate * (1 - rate) / count + z**2 / (4 * count**2))
    return [100 * max(0.0, (middle + sign * half) / (1 + z**2 / count)) for sign in (-1, 1)]


def spec(name):
    return os.path.join(ROOT, "experiments", name + ".yaml")


def run(path, options, **arguments):
    return hopscotch.run(path, results=options.results, options=options.words, progress=False, **arguments)


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def head(*cells):
    print()
    row(*cells)
    row(*["--"] * len(cells))


def number(value, digits=3):
    return "–" if value is None else f"{value:.{digits}f}"


def success(good, count):
    low, high = wilson(good, count)
    return f"{good} of {count} (95 %: {low:.1f} to {high:.1f} %)"


def replicates(campaign, columns):
    """Of each trial: how many replicates, how many without a failure, and the means of columns over these."""
    means = ", ".join(f"avg(CASE WHEN failure = 'none' THEN {name} END) AS {name}" for name in columns)
    return campaign.query(f"SELECT trial, count(*) AS n, sum(failure = 'none') AS good, {means} FROM replicates "
                          "GROUP BY trial ORDER BY trial")


def gains_of(campaign, trial, skip=()):
    """The searched and derived parameters of a trial, as settings."""
    parameters = campaign.show(trial)["parameters"]
    return {f"parameters.{name}": row["value"] for name, row in parameters.items()
            if row["from"] in ("searched", "derived", "outer") and name not in skip}


def recommended(campaign):
    """The trial that fresh seeds rank first; the best of a noisy search is its luckiest draw."""
    fresh = [one for one in json_of("best", campaign) if one.get("fresh") is not None]
    return min(fresh, key=lambda one: one["fresh"])["id"] if fresh else "best"


def by_ground(name, speeds, options):
    """A walk with pushes: success and error of each commanded speed on each ground."""
    found = run(spec(name), options)
    head(name, "speed (m/s)", "success", "rms speed error (m/s)", "mean speed (m/s)", "cost of transport")
    for k, (ground, settings) in enumerate(GROUNDS):
        campaign = run(spec(name), options, name=f"{name}_ground_{k}", settings={
            **gains_of(found, recommended(found)), **settings, "seed": FRESH, "record": {},
            "search": {"method": "grid", "over": {"speed": speeds}},
            "replicates": {"count": options.seeds, "store": True,
                           "perturb": {key: {"uniform": range_} for key, range_ in PUSHED[name].items()}}})
        for speed, of in zip(speeds, replicates(campaign, ("speed_error", "mean_speed", "cost_of_transport"))):
            row(ground, f"{speed:g}", success(of["good"], of["n"]), number(of["speed_error"]),
                number(of["mean_speed"], 2), number(of["cost_of_transport"], 2))


def gaits(options):
    """The best of each gait and speed under fresh seeds."""
    found = run(spec("gaits_by_speed"), options)
    names = {(0.5, 0.5): "trot", (0.5, 0.25): "walk", (0.5, 0): "pace", (0, 0.5): "bound", (0, 0): "pronk",
             (0, 0.25): "(0, 0.25)"}
    head("gait", "speed (m/s)", "success", "rms speed error (m/s)", "cost of transport", "in the search")
    best = json_of("best", found, "--per", "point")
    for one in sorted(best, key=lambda one: (one["phase_2"], one["phase_3"], one["speed"])):
        campaign = run(spec("gaits_by_speed"), options, name=f"gaits_by_speed_{one['id']}", settings={
            **gains_of(found, one["id"], ("speed",)), "seed": FRESH,
            "search": {"method": "grid", "over": {"speed": [one["speed"]]}},
            "replicates": {"count": options.seeds, "store": True, "perturb": {"push_y": {"normal": [0, 10]}}}})
        of = replicates(campaign, ("speed_error", "cost_of_transport"))[0]
        row(names[one["phase_2"], one["phase_3"]], f"{one['speed']:g}", success(of["good"], of["n"]),
            *(number(of[key]) for key in ("speed_error", "cost_of_transport")), number(one["cost_of_transport"]))


def json_of(command, campaign, *words):
    return json.loads(program.call(command, campaign.name, "--results", campaign.results, "--json", *words))


def hoppers(options):
    """The hopper as a robot and the model: mean speed at each commanded speed."""
    speeds = [0.5, 1.0, 1.5, 2.0]
    robot = run(spec("hopper_as_robot"), options)
    campaign = run(spec("hopper_as_robot"), options, name="hopper_as_robot_speeds", settings={
        **gains_of(robot, recommended(robot)), "seed": FRESH, "record": {},
        "search": {"method": "grid", "over": {"speed": speeds}},
        "replicates": {"count": options.seeds, "store": True, "perturb": {"pitch_start": {"normal": [0, 0.02]}}}})
    model = run(spec("speed_tracking_cmaes"), options, name="hopper_speeds",
                settings={"search.cmaes.outer": {"x_dot_des": speeds}})
    best = sorted(json_of("best", model, "--per", "point"), key=lambda one: one["x_dot_des"])
    head("commanded (m/s)", "the robot (m/s)", "its success", "its rms speed error (m/s)", "the model (m/s)",
         "the robot's, of the model's")
    for k, (speed, of, theirs) in enumerate(zip(speeds, replicates(campaign, ("speed_error",)), best)):
        motion = campaign.trajectory(k, replicate=0, sample=0.01)
        later = motion["time"] >= 2.0
        speed_of = numpy.polyfit(motion["time"][later], motion["base_x"][later], 1)[0]
        row(f"{speed:g}", number(speed_of), success(of["good"], of["n"]), number(of["speed_error"]),
            number(theirs["mean_speed"]), f"{speed_of / theirs['mean_speed']:.1%}")


def policy(options):
    """The learned hopper under fresh seeds."""
    campaign = run(spec("hopper_policy"), options, name="hopper_policy_fresh",
                   settings={"seed": FRESH, "replicates.count": options.seeds})
    speeds = campaign.trials(order="id", columns=["id", "x_dot_des"])["x_dot_des"]
    head("hopper_policy, speed (m/s)", "success", "mean speed (m/s)", "rms speed error (m/s)", "cost of transport")
    for speed, of in zip(speeds, replicates(campaign, ("mean_speed", "velocity_error", "cost_of_transport"))):
        row(f"{speed:g}", success(of["good"], of["n"]),
            *(number(of[key]) for key in ("mean_speed", "velocity_error", "cost_of_transport")))


def g1(options):
    """The G1, whose file is not in the repository, from a folder with its spec."""
    folder = os.path.join(options.results, "g1")
    os.makedirs(os.path.join(folder, "robots"), exist_ok=True)
    shutil.copy(os.path.join(ROOT, "tests", "bench", "g1_walk.yaml"), folder)
    shutil.copy(options.g1, os.path.join(folder, "robots", "g1.xml"))
    path = os.path.join(folder, "g1_walk.yaml")
    pushes = {"push_time": {"uniform": [3, 7]}, "push_x": {"uniform": [-120, 120]}, "push_y": {"uniform": [-120, 120]}}
    speeds = [0.2, 0.4, 0.6]
    campaign = run(path, options, name="g1_walk_speeds", settings={
        "seed": FRESH, "search": {"method": "grid", "over": {"stride_frequency": [3], "speed": speeds}},
        "replicates": {"count": options.seeds, "store": True, "perturb": pushes}})
    head("g1_walk, speed (m/s)", "success", "rms speed error (m/s)", "mean speed (m/s)", "cost of transport")
    for speed, of in zip(speeds, replicates(campaign, ("speed_error", "mean_speed", "cost_of_transport"))):
        row(f"{speed:g}", success(of["good"], of["n"]),
            *(number(of[key]) for key in ("speed_error", "mean_speed", "cost_of_transport")))


WALKS = {"quadruped_trot": lambda options: by_ground("quadruped_trot", [0.5, 1.0, 1.5, 2.0], options),
         "biped_run": lambda options: by_ground("biped_run", [0.3, 0.5, 0.75, 1.0], options),
         "gaits_by_speed": gaits, "hopper_as_robot": hoppers, "hopper_policy": policy, "g1_walk": g1}


def main():
    words = sys.argv[1:]
    given, for_run = (words[:words.index("--")], words[words.index("--") + 1:]) if "--" in words else (words, [])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("walks", nargs="*", choices=[*WALKS, []], metavar="WALK")
    parser.add_argument("--seeds", type=int, default=200, help="runs of each row")
    parser.add_argument("--results", default="results/walking", help="where campaigns are kept, and found again")
    parser.add_argument("--g1", help="the file of the Unitree G1 (unitree_mujoco's g1_29dof.xml)")
    options = parser.parse_args(given)
    options.words = for_run
    for name in options.walks or [name for name in WALKS if name != "g1_walk" or options.g1]:
        WALKS[name](options)


if __name__ == "__main__":
    main()
