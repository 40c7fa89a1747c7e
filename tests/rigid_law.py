"""What inputs of rigid worlds should give, for tests/cli/rigid_law.sh: the equations of motion in as few coordinates as
they need, by Runge and Kutta's method with a law that decides once a period.

    python3 rigid_law.py pendulum|double|rocket TRAJECTORY.csv TOLERANCE [NUMBER...]

It compares the columns of a trajectory with a sample for each period, and the metric input_work if that is the last
number.
"""
import csv
import math
import sys

GRAVITY = 9.81


def clip(x, low, high):
    return min(max(x, low), high)


def held(law, rate, y, period, duration, steps):
    """States after each period, and the work done until the end: the last component of rate."""
    states, y = [y], list(y) + [0.0]
    h = period / steps
    for k in range(round(duration / period)):
        u = law(k * period, y[:-1])
        for _ in range(steps):
            a = rate(y, u)
            b = rate([p + h / 2 * q for p, q in zip(y, a)], u)
            c = rate([p + h / 2 * q for p, q in zip(y, b)], u)
            d = rate([p + h * q for p, q in zip(y, c)], u)
            y = [p + h / 6 * (i + 2 * j + 2 * k + m) for p, i, j, k, m in zip(y, a, b, c, d)]
        states.append(y[:-1])
    return states, y[-1]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def turn(q, v):
    c = cross(q[:3], v)
    return [x + 2 * (q[3] * y + z) for x, y, z in zip(v, c, cross(q[:3], c))]


# ---- a rod on a hinge, held upright ----------------------------------------------------------------------------------


def pendulum(kp):
    """Of 1.2 kg, 0.5 m above its hinge, I = 0.11 kg m^2; the angle from the top."""
    inertia = 0.11 + 1.2 * 0.25

    def rate(y, u):
        return [y[1], (1.2 * GRAVITY * 0.5 * math.sin(y[0]) + u) / inertia, u * y[1]]

    return held(lambda t, y: clip(-kp * y[0] - 5 * y[1], -8, 8), rate, [0.3, 0.0], 0.02, 3, 20)


def pendulum_columns(row):
    return [2 * math.atan2(row["rod_qy"], row["rod_qw"]), row["rod_wy"]]


# ---- two rods, with a motor in each hinge ----------------------------------------------------------------------------


def double():
    """Angles from hanging, about y. Spong, Robot dynamics and control, 1989, with absolute angles."""
    m1, m2, i1, i2, c1, c2, length = 1.5, 0.8, 0.12, 0.05, 0.4, 0.3, 0.8

    def rate(y, u):
        a, b, p, q = y[:4]
        s, c = math.sin(a - b), math.cos(a - b)
        A, B, D = i1 + m1 * c1 * c1 + m2 * length * length, m2 * length * c2, i2 + m2 * c2 * c2
        first = u[0] - u[1] - (m1 * c1 + m2 * length) * GRAVITY * math.sin(a) - B * s * q * q
        second = u[1] - m2 * c2 * GRAVITY * math.sin(b) + B * s * p * p
        det = A * D - B * B * c * c
        dp, dq = (D * first - B * c * second) / det, (A * second - B * c * first) / det
        return [p, q, dp, dq, u[0] * p + u[1] * (q - p)]

    def law(t, y):
        a, b, p, q = y
        return [6 * math.sin(3 * t) - 0.5 * p, clip(-20 * (b - a - 0.7) - 1.5 * (q - p), -6, 6)]

    return held(law, rate, [0.0] * 4, 0.01, 2, 10)


def double_columns(row):
    angles = [2 * math.atan2(row[name + "_qy"], row[name + "_qw"]) for name in ("upper", "lower")]
    return angles + [row["upper_wy"], row["lower_wy"]]


# ---- a body that spins under a thrust in its own axes ----------------------------------------------------------------


def inverse_times(m, r):
    (a, b, c), (d, e, f), (p, q, s) = m
    det = a * (e * s - f * q) - b * (d * s - f * p) + c * (d * q - e * p)
    rows = [
        [e * s - f * q, c * q - b * s, b * f - c * e],
        [f * p - d * s, a * s - c * p, c * d - a * f],
        [d * q - e * p, b * p - a * q, a * e - b * d],
    ]
    return [dot(row, r) / det for row in rows]


def rocket():
    """Position, quaternion, velocity, and angular velocity in body axes."""
    inertia = [[0.5, 0.05, -0.1], [0.05, 0.8, 0.07], [-0.1, 0.07, 1.1]]
    n = math.sqrt(1.05)
    main, axis, arm, top = [0.1 / n, 0.2 / n, 1 / n], [math.sqrt(0.5)] * 2 + [0.0], [0.1, -0.05, -0.4], [0, 0, 0.3]

    def rate(y, u):
        q, v, w = y[3:7], y[7:10], y[10:13]
        back = [-q[0], -q[1], -q[2], q[3]]
        thrust, side = [u[0] * x for x in main], turn(back, [u[1], 0, 0])
        force = turn(q, [x + z for x, z in zip(thrust, side)])
        roll = [u[2] * x for x in axis]
        torque = [a + b + c for a, b, c in zip(cross(arm, thrust), cross(top, side), roll)]
        gyroscopic = cross(w, [dot(row, w) for row in inertia])
        turned = inverse_times(inertia, [a - b for a, b in zip(torque, gyroscopic)])
        dq = [0.5 * (q[3] * a + b) for a, b in zip(w, cross(q[:3], w))] + [-0.5 * dot(q[:3], w)]
        inside = turn(back, v)
        at_arm, at_top = ([a + b for a, b in zip(inside, cross(w, r))] for r in (arm, top))
        power = dot(thrust, at_arm) + dot(side, at_top) + dot(roll, w)
        return v + dq + [force[0] / 3, force[1] / 3, force[2] / 3 - GRAVITY] + turned + [power]

    def law(t, y):
        return [clip(30 + 30 * math.sin(5 * t), 0, 50), -2 * y[7], -0.5 * turn(y[3:7], y[10:13])[2]]

    return held(law, rate, [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0.5, -1, 3], 0.01, 2, 5)


def rocket_columns(row):
    names = "x y z qx qy qz qw vx vy vz".split()
    q = [row["hull_" + name] for name in names[3:7]]
    spin = turn([-q[0], -q[1], -q[2], q[3]], [row["hull_w" + axis] for axis in "xyz"])
    return [row["hull_" + name] for name in names] + spin


# ---- all of it -------------------------------------------------------------------------------------------------------

case, path, tolerance, work = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[-1])
states, expected = globals()[case](*(float(x) for x in sys.argv[4:-1]))
with open(path) as file:
    rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
columns = globals()[case + "_columns"]
far = max(abs(a - b) for row, state in zip(rows, states) for a, b in zip(columns(row), state))
print(f"{len(rows)} samples, largest difference {far:.2g}; of the work {abs(work - expected):.2g}")
sys.exit(not (len(rows) == len(states) and far <= tolerance and abs(work - expected) <= tolerance))
