#!/usr/bin/env python3
"""Steps of environments a second on one core: Gymnasium's MuJoCo hopper, EnvPool's, and ours.

    taskset -c 1 python3 tests/bench/compare_environments.py [SECONDS]

Needs gymnasium[mujoco] and envpool; what is not installed is left out. Ours: build/bench_environment cpu SECONDS.
Time is processor time. Actions are drawn before the clock starts. An environment that ends is reset.
"""
import sys
import time

import numpy

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0


def rate(name, step, environments, substeps):
    for _ in range(20):
        step()
    begun, count = time.process_time(), 0
    while time.process_time() - begun < SECONDS:
        for _ in range(20):
            step()
        count += 20
    each = count * environments / (time.process_time() - begun)
    print(f"{name:44} {each:10.3g} environment steps/s {each * substeps:10.3g} time steps/s")


def gymnasium_hopper():
    import gymnasium
    environment = gymnasium.make("Hopper-v5")
    actions = numpy.random.default_rng(1).uniform(-1, 1, (1000, 3))
    environment.reset(seed=1)
    at = 0

    def step():
        nonlocal at
        at = (at + 1) % len(actions)
        _, _, terminated, truncated, _ = environment.step(actions[at])
        if terminated or truncated:
            environment.reset()
    rate("Gymnasium Hopper-v5 (4 steps of RK4)", step, 1, 4)


def envpool_hopper(environments):
    import envpool
    pool = envpool.make_gymnasium("Hopper-v4", num_envs=environments, num_threads=1, seed=1)
    actions = numpy.random.default_rng(1).uniform(-1, 1, (environments, 3))
    pool.reset()
    rate(f"EnvPool Hopper-v4, {environments} at once, a thread", lambda: pool.step(actions), environments, 4)


for measure in (gymnasium_hopper, lambda: envpool_hopper(16), lambda: envpool_hopper(256)):
    try:
        measure()
    except ImportError as missing:
        print(f"left out: {missing}")
