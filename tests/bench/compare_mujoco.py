#!/usr/bin/env python3
"""The chains of tests/bench/rigid_precision.c by MuJoCo's Runge-Kutta integrator, in joint coordinates: processor time
of 1 s of simulated time against the error of the last rod's centre.

    compare_mujoco.py [LENGTH DURATION]

Needs numpy and mujoco (pip install numpy mujoco).
"""
import sys
import time

import mujoco
import numpy as np


def rates(n, y):
    """Rates of n angles from the x axis and of their rates: rods of 1 m and 1 kg."""
    i = np.arange(n)
    A = n - 1 - np.maximum(i[:, None], i[None, :]) + 0.5
    A[i, i] = n - 1 - i + 1.0 / 3.0
    turn = y[:n, None] - y[None, :n]
    Q = -(A * np.sin(turn)) @ y[n:] ** 2 - 9.81 * np.cos(y[:n]) * (n - 1 - i + 0.5)
    return np.concatenate([y[n:], np.linalg.solve(A * np.cos(turn), Q)])


def exact(n, duration, h=1e-4):
    y = np.zeros(2 * n)
    for _ in range(round(duration / h)):
        k1 = rates(n, y)
        k2 = rates(n, y + h / 2 * k1)
        k3 = rates(n, y + h / 2 * k2)
        k4 = rates(n, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    part = np.ones(n)
    part[-1] = 0.5
    return np.array([part @ np.cos(y[:n]), part @ np.sin(y[:n])])


def chain(n, joint, dt):
    kind = '<joint type="hinge" axis="0 1 0"/>' if joint == "hinge" else '<joint type="ball"/>'
    rods = "".join(
        f'<body pos="{min(i, 1)} 0 0">{kind}<inertial pos="0.5 0 0" mass="1" diaginertia="0.001 {1 / 12} {1 / 12}"/>'
        for i in range(n)
    )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{dt}" integrator="RK4" gravity="0 0 -9.81"><flag contact="disable"/></option>'
        f'<worldbody>{rods}{"</body>" * n}</worldbody></mujoco>'
    )


def measure(n, duration, joint, dt, repeats=5):
    model, steps, least = chain(n, joint, dt), round(duration / dt), float("inf")
    for _ in range(repeats):
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        start = time.process_time()
        mujoco.mj_step(model, data, steps)
        least = min(least, time.process_time() - start)
    mujoco.mj_forward(model, data)
    return least / duration, data.xipos[n][[0, 2]]


def main():
    cases = [(int(sys.argv[1]), float(sys.argv[2]))] if len(sys.argv) == 3 else [(1, 10.0), (10, 1.0)]
    for n, duration in cases:
        place = exact(n, duration)
        print(f"{n} rods, {duration:g} s; us for 1 s of simulated time (MuJoCo {mujoco.__version__}, RK4)")
        for joint in ("hinge", "ball"):
            for dt in (0.02, 0.01, 0.005, 0.0025):
                seconds, got = measure(n, duration, joint, dt)
                print(f"{joint:5} dt {dt:9.3g}   {1e6 * seconds:9.1f}   error {np.hypot(*(got - place)):8.2e} m")


main()
