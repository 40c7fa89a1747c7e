"""Derivatives of systems with events, by mpmath with 40 digits: the numbers of tests/cli/equations_gradient.sh.

    python3 tests/equations_gradient_reference.py [NAME]...

Solutions are by extrapolation (Hairer, Norsett & Wanner I, II.9: the midpoint rule, even numbers of steps up to 32),
events by the secant method on steps of the same, and derivatives by central differences of 1e-12, whose error is 1e-24
of the third derivative. Nothing of it is what the program does.
"""
import sys

from mpmath import cos, hypot, mp, mpf, pi, sin, sqrt

mp.dps = 40
NUMBERS = list(range(2, 34, 2))


def midpoint(f, t, y, h, n):
    step = h / n
    last, now = y, [a + step * b for a, b in zip(y, f(t, y))]
    for k in range(1, n):
        last, now = now, [a + 2 * step * b for a, b in zip(last, f(t + k * step, now))]
    end = f(t + h, now)
    return [(a + b + step * c) / 2 for a, b, c in zip(last, now, end)]


def advance(f, t, y, h):
    """One big step: extrapolation in 1/n^2."""
    table = []
    for k, n in enumerate(NUMBERS):
        row = [midpoint(f, t, y, h, n)]
        for j in range(1, k + 1):
            ratio = mpf(n * n) / (NUMBERS[k - j] ** 2) - 1
            row.append([a + (a - b) / ratio for a, b in zip(row[j - 1], table[k - 1][j - 1])])
        table.append(row)
    return table[-1][-1]


class Run:
    """A hybrid system: modes {name: (rates, [(guard, direction, action)])}; action(t, y, run) -> (y, mode)."""

    def __init__(self, modes, mode, y, step):
        self.modes, self.mode, self.y, self.step, self.t, self.seen = modes, mode, list(y), mpf(step), mpf(0), []

    def to(self, end):
        while self.t < end:
            h = min(self.step, end - self.t)
            rates, events = self.modes[self.mode]
            if self.t + h > end - mpf(10) ** -30:
                h = end - self.t
            there = advance(rates, self.t, self.y, h)
            found = None
            for guard, direction, action in events:
                before, after = guard(self.t, self.y), guard(self.t + h, there)
                if abs(before) < mpf(10) ** -25:  # it has just happened
                    small = h / 1000
                    before = guard(self.t + small, advance(rates, self.t, self.y, small))
                if before * direction < 0 < after * direction:
                    at = self.locate(rates, guard, h, before, after)
                    if found is None or at < found[0]:
                        found = at, action
            if found is None:
                self.t, self.y = self.t + h, there
                continue
            at, action = found
            self.y = advance(rates, self.t, self.y, at)
            self.t += at
            self.y, self.mode = action(self.t, self.y, self)
        return self

    def locate(self, rates, guard, h, before, after):
        value = lambda a: guard(self.t + a, advance(rates, self.t, self.y, a))
        low, high, a, b = h / 1000, h, value(h / 1000), after
        if a * after > 0:
            low, a = mpf(0), before
        x0, f0, x1, f1 = low, a, high, b
        for _ in range(60):
            x2 = x1 - f1 * (x1 - x0) / (f1 - f0)
            if not low < x2 < high:
                x2 = (low + high) / 2
            f2 = value(x2)
            if f2 * a > 0:
                low, a = x2, f2
            else:
                high, b = x2, f2
            if abs(x2 - x1) < mpf(10) ** -36 or f2 == 0:
                return x2
            x0, f0, x1, f1 = x1, f1, x2, f2
        raise ArithmeticError("no root")


def lorenz(end):
    def metric(sigma, rho, beta, x, y, z):
        f = lambda t, s: [sigma * (s[1] - s[0]), s[0] * (rho - s[2]) - s[1], s[0] * s[1] - beta * s[2], s[2]]
        y = Run({"m": (f, [])}, "m", [x, y, z, mpf(0)], "0.05").to(mpf(end)).y
        return y[0] + y[3] / end
    return metric, [("sigma", mpf(10)), ("rho", mpf(28)), ("beta", mpf(2.6666666666666665)), ("x", mpf(1)),
                    ("y", mpf(1)), ("z", mpf(1))]


def ball():
    """With drag; the metric is z at the end, the time of the last bounce, and v after it."""
    def metric(g, e, drag, wall, z, v):
        f = lambda t, s: [s[1], -g - drag * s[1] ** 3]

        def bounce(t, s, run):
            run.seen.append((t, -e * s[1]))
            return [s[0], -e * s[1]], "m"
        run = Run({"m": (f, [(lambda t, s: s[0] - wall * sin(t), -1, bounce)])}, "m", [z, v], "0.02").to(mpf(2))
        return run.y[0] + run.seen[-1][0] + run.seen[-1][1]
    return metric, [("g", mpf("9.81")), ("e", mpf("0.8")), ("drag", mpf("0.01")), ("wall", mpf("0.1")), ("z", mpf(1)),
                    ("v", mpf("0.3"))]


def slip():
    def metric(m, k, attack, vx):
        flight = lambda t, s: [s[2], s[3], mpf(0), -mpf("9.81"), s[2], mpf(0)]

        def stance(t, s):
            leg = hypot(s[0] - s[5], s[1])
            force = k * (1 - leg)
            return [s[2], s[3], force * (s[0] - s[5]) / (leg * m), force * s[1] / (leg * m) - mpf("9.81"), s[2], mpf(0)]
        touch = lambda t, s, run: (s[:5] + [s[0] + cos(attack)], "stance")
        modes = {"flight": (flight, [(lambda t, s: s[1] - sin(attack), -1, touch)]),
                 "stance": (stance, [(lambda t, s: hypot(s[0] - s[5], s[1]) - 1, 1, lambda t, s, run: (s, "flight"))])}
        y = Run(modes, "flight", [mpf(0), mpf(1), vx, mpf(0), mpf(0), mpf(0)], "0.01").to(mpf(2)).y
        return y[1] + y[4] / 2
    return metric, [("m", mpf(80)), ("k", mpf(20000)), ("attack", mpf("1.19")), ("vx", mpf(5))]


def gait():
    def metric(slope, m, a, ds):
        mh, b, g = mpf(10), mpf("0.5"), mpf("9.81")
        incline, l = slope * pi / 180, a + b

        def f(t, y):
            s, n, ds, dn = y[:4]
            c = cos(s - n)
            m11, m12, m22 = m * a * a + (mh + m) * l * l, -m * l * b * c, m * b * b
            f1 = m * l * b * sin(s - n) * dn * dn + (m * a + (mh + m) * l) * g * sin(s)
            f2 = -m * l * b * sin(s - n) * ds * ds - m * b * g * sin(n)
            det = m11 * m22 - m12 * m12
            return [ds, dn, (m22 * f1 - m12 * f2) / det, (m11 * f2 - m12 * f1) / det]

        def strike(t, y, run):
            s, n, ds, dn = y
            c = cos(s - n)
            p1 = (-m * a * b + (mh * l * l + 2 * m * a * l) * c) * ds - m * a * b * dn
            p2 = -m * a * b * ds
            q11, q12 = m * l * (l - b * c) + m * a * a + mh * l * l, m * b * (b - l * c)
            q21, q22 = -m * b * l * c, m * b * b
            q = q11 * q22 - q12 * q21
            run.seen.append(t)
            return [n, s, (q22 * p1 - q12 * p2) / q, (q11 * p2 - q21 * p1) / q], "m"
        run = Run({"m": (f, [(lambda t, y: y[0] + y[1] - 2 * incline, 1, strike)])}, "m",
                  [incline - mpf("0.22"), incline + mpf("0.22"), ds, mpf("0.5")], "0.05").to(mpf(3))
        return run.seen[-1] - run.seen[-2] + run.y[0]
    return metric, [("slope", mpf(3)), ("m", mpf(5)), ("a", mpf("0.5")), ("ds", mpf("0.95"))]


CASES = {"lorenz_2": lorenz(2), "lorenz_5": lorenz(5), "ball": ball(), "slip": slip(), "gait": gait()}


def main():
    step = mpf(10) ** -12
    for name in sys.argv[1:] or CASES:
        metric, parameters = CASES[name]
        values = [value for _, value in parameters]
        print(name, "value", mp.nstr(metric(*values), 17))
        for i, (parameter, value) in enumerate(parameters):
            sides = [metric(*(values[:i] + [value + side * step] + values[i + 1:])) for side in (1, -1)]
            print(name, parameter, mp.nstr((sides[0] - sides[1]) / (2 * step), 17), flush=True)


if __name__ == "__main__":
    main()
