"""How far the stiffness of joints and the step of `articulated` move an acrobot from the exact double pendulum.

    python3 tests/bench/joints_give.py PROGRAM

Two rods of 1 kg and 1 m swing wildly under a law, 5 sin(6 t) N m at the elbow, held for 10 ms. Prints the greatest error
of both angles after 1.5 s (rad) for each stiffness, order and step, against Lagrange's equations in the two angles
(DOP853, tolerance 1e-12); and for one stiffness that of the smallest step of order two against the same springs in the
coordinates of both bodies (Radau, 1e-8), which steps converge to. Needs numpy and scipy. Seconds.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

MASS, INERTIA, CENTRE, LENGTH, GRAVITY = 1.0, 1 / 12, 0.5, 1.0, 9.81
START, END, PERIOD, DAMPING = (1.0, 0.5), 1.5, 0.01, 1e4
STIFFNESS = (1e5, 1e6, 1e7, 1e8, 1e9)
SPRUNG = 1  # of STIFFNESS: whose springs are solved
STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4)
ROBOT = """<mujoco model="acrobot"><compiler angle="radian"/><worldbody>
<body name="upper" pos="0 0 2"><joint name="shoulder" axis="0 1 0"/>
<inertial pos="0 0 -0.5" mass="1" diaginertia="{i} {i} 0.001"/>
<body name="lower" pos="0 0 -1"><joint name="elbow" axis="0 1 0"/>
<inertial pos="0 0 -0.5" mass="1" diaginertia="{i} {i} 0.001"/></body></body></worldbody>
<actuator><motor name="motor" joint="elbow" ctrlrange="-20 20"/></actuator></mujoco>
"""
SPEC = """version: 1
experiment: give
model: articulated
simulation:
  robot: acrobot.xml
  duration: {end}
  dt: {dt}
  order: {order}
  control: {{mode: law, period: {period}, law: {{effort: {{elbow: 5*sin(6*time)}}}}}}
parameters: {{attach_damping: {damping}}}
initial: {{shoulder_start: {start[0]}, elbow_start: {start[1]}}}
metrics: {{q1: {{final: shoulder_q}}, q2: {{final: elbow_q}}}}
search: {{over: {{attach_stiffness: {stiffness}}}}}
objective: {{minimize: q1}}
"""


def held(rates, state, **options):
    """The state at the end; rates(t, state, effort) with the effort held for each period."""
    for k in range(round(END / PERIOD)):
        effort = 5 * np.sin(6 * k * PERIOD)
        state = solve_ivp(rates, (0, PERIOD), state, args=(effort,), **options).y[:, -1]
    return state


def exact():
    """Angles of both rods against the vertical: a, and their rates w."""
    def rates(_, y, effort):
        a, w = y[:2], y[2:]
        couple, cosine, sine = MASS * LENGTH * CENTRE, np.cos(a[0] - a[1]), np.sin(a[0] - a[1])
        inertia = np.array([[INERTIA + MASS * (CENTRE**2 + LENGTH**2), couple * cosine],
                            [couple * cosine, INERTIA + MASS * CENTRE**2]])
        force = np.array([-effort - couple * sine * w[1]**2 - MASS * GRAVITY * (CENTRE + LENGTH) * np.sin(a[0]),
                          effort + couple * sine * w[0]**2 - MASS * GRAVITY * CENTRE * np.sin(a[1])])
        return np.concatenate([w, np.linalg.solve(inertia, force)])
    y = held(rates, np.array([START[0], sum(START), 0, 0]), method="DOP853", rtol=1e-12, atol=1e-13)
    return np.array([y[0], y[1] - y[0]])


def arm(angle):
    """From a rod's centre to its upper end: x, z."""
    return CENTRE * np.array([np.sin(angle), np.cos(angle)])


def turned(w, r):
    return w * np.array([r[1], -r[0]])


def moment(r, force):
    return r[1] * force[0] - r[0] * force[1]


def sprung(stiffness):
    """Rows x, z, angle of both rods, whose joints are springs at the upper end of the lower body (joint.h)."""
    def rates(_, y, effort):
        x, v = y[:6].reshape(2, 3), y[6:].reshape(2, 3)
        force = np.array([[0, -MASS * GRAVITY, -effort], [0, -MASS * GRAVITY, effort]])
        for body in (0, 1):
            r = arm(x[body, 2])
            at, speed = x[body, :2] + r, v[body, :2] + turned(v[body, 2], r)
            seat, moves, lever = np.zeros(2), np.zeros(2), np.zeros(2)
            if body == 1:
                seat, lever = x[0, :2] - arm(x[0, 2]), at - x[0, :2]
                moves = v[0, :2] + turned(v[0, 2], lever)
            pull = -stiffness * (at - seat) - DAMPING * (speed - moves)
            force[body] += np.append(pull, moment(r, pull))
            if body == 1:
                force[0] -= np.append(pull, moment(lever, pull))
        return np.concatenate([v.ravel(), (force / np.array([MASS, MASS, INERTIA])).ravel()])
    upper, lower = START[0], sum(START)
    start = np.concatenate([-arm(upper), [upper], -2 * arm(upper) - arm(lower), [lower], np.zeros(6)])
    y = held(rates, start, method="Radau", rtol=1e-8, atol=1e-10)
    return np.array([y[2], y[5] - y[2]])


def ours(program, order, dt):
    """Rows of both angles, one for each stiffness."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "acrobot.xml").write_text(ROBOT.format(i=INERTIA))
        (here / "give.yaml").write_text(SPEC.format(end=END, dt=dt, order=order, period=PERIOD, damping=DAMPING,
                                                    start=START, stiffness=list(STIFFNESS)))
        subprocess.run([program, "run", "give.yaml", "--progress", "none"], cwd=here, check=True, capture_output=True)
        out = subprocess.run([program, "query", "give", "--columns", "q1,q2", "--order", "id", "--format", "csv"],
                             cwd=here, check=True, capture_output=True, text=True).stdout
    return np.array([[float(x) for x in line.split(",")] for line in out.split()[1:]])


def main():
    program = str(Path(sys.argv[1]).resolve())
    angles, last = exact(), None
    print("order  dt (s)    error at a stiffness of " + ", ".join(f"{k:g}" for k in STIFFNESS) + " N/m")
    for order in ("one", "two"):
        for dt in STEPS:
            last = ours(program, order, dt)
            print(f"{order}    {dt:<9g}", *(f"{e:8.1e}" for e in np.abs(last - angles).max(axis=1)), flush=True)
    springs = sprung(STIFFNESS[SPRUNG])
    print(f"springs of {STIFFNESS[SPRUNG]:g} N/m: {np.abs(springs - angles).max():.1e} from the exact angles, "
          f"{np.abs(last[SPRUNG] - springs).max():.1e} from the last steps")


if __name__ == "__main__":
    main()
