#!/usr/bin/env python3
"""Several recordings of one pendulum, fitted by scipy with an integrator of its own: the oracle of tests/cli/cases.sh.

    tests/cases_oracle.py write BIAS      a.csv, b.csv and c.csv, with noise of 10 mrad; all of c.csv BIAS (rad) off
    tests/cases_oracle.py fit a b c       values and their standard deviations from these, as Python prints them
"""
import sys

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

# start (rad, rad/s), duration (s), time between frames (s)
MOTIONS = {"a": (1.0, 0.0, 10, 0.04), "b": (-0.7, 1.0, 6, 0.04), "c": (0.4, -2.0, 4, 0.04)}


def motion(name, length, viscous, dry):
    angle, rate, duration, apart = MOTIONS[name]
    time = np.linspace(0, duration, round(duration / apart) + 1)

    def rates(_, x):
        return [x[1], -9.81 / length * np.sin(x[0]) - viscous * x[1] - dry * np.tanh(x[1] / 0.05)]

    out = solve_ivp(rates, (0, duration), [angle, rate], t_eval=time, rtol=1e-10, atol=1e-12, max_step=0.05)
    return time, out.y[0]


def residuals(p, seen):
    return np.concatenate([(motion(name, *p)[1] - data)[:-1] for name, data in seen])  # no event at the end


def write(bias):
    random = np.random.default_rng(7)
    for name in MOTIONS:
        time, angle = motion(name, 0.6, 0.12, 0.15)
        angle = angle + 0.01 * random.standard_normal(len(time)) + (bias if name == "c" else 0)
        with open(f"{name}.csv", "w") as f:
            f.write("time,seen\n" + "".join(f"{t:.2f},{x:.6f}\n" for t, x in zip(time, angle)))


def fit(names):
    seen = [(name, np.loadtxt(f"{name}.csv", delimiter=",", skiprows=1)[:, 1]) for name in names]
    best = least_squares(residuals, [0.6, 0.12, 0.15], args=(seen,), xtol=1e-13, ftol=1e-13, gtol=1e-13, jac="3-point",
                         diff_step=1e-4)
    n, normal, scores, first = len(best.fun), best.jac.T @ best.jac, np.zeros((3, 3)), 0
    for _, data in seen:  # each recording has a variance of its own
        own = slice(first, first + len(data) - 1)
        first += len(data) - 1
        scores += np.mean(best.fun[own] ** 2) * n / (n - 3) * best.jac[own].T @ best.jac[own]
    covariance = np.linalg.inv(normal) @ scores @ np.linalg.inv(normal)
    for name, value, error in zip(("length", "viscous", "dry"), best.x, np.sqrt(np.diag(covariance))):
        print(f"{name} {float(value)!r} {float(error)!r}")


if sys.argv[1] == "write":
    write(float(sys.argv[2]))
else:
    fit(sys.argv[2:])
