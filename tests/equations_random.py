"""Random systems (model equations): expressions over all functions, tables, inputs and actions, modes, guards, sets,
held numbers, instants, metrics.

    python3 tests/equations_random.py HOPSCOTCH FIRST COUNT [MADE]

Systems FIRST to FIRST + COUNT - 1 are made from these seeds, in the current folder. Half of them are wild, and half of
these have noise: each has the same digest by every instruction set and in batches of 1, 3 and 64, and every MADE-th system
(0: none) by a kernel that the C compiler makes for it. The others are smooth: with scipy their states, integrals, events
and times at the end agree with DOP853 to 1e-6, unless they amplify a change of 1e-9 of their start.
"""
import csv
import math
import os
import random
import shutil
import subprocess
import sys

try:
    import numpy
    from scipy.integrate import DOP853
    from scipy.interpolate import PchipInterpolator
    from scipy.optimize import brentq
except ImportError:
    DOP853 = None

SMOOTH = ["sin(%s)", "cos(%s)", "tanh(%s)", "atan(%s)", "exp(-(%s)^2)", "sqrt(1 + (%s)^2)", "log(2 + (%s)^2)",
          "cosh(tanh(%s))", "sinh(sin(%s))", "tan(sin(%s))", "asin(tanh(%s)/2)", "acos(sin(%s)/2)", "-(%s)", "(%s)^3"]
SMOOTH_TWO = ["%s + %s", "%s - %s", "(%s)*(%s)", "(%s)/(1 + (%s)^2)", "hypot(1 + (%s)^2, %s)", "atan2(%s, 3 + sin(%s))",
              "(2 + sin(%s))^tanh(%s)"]
ROUGH = ["abs(%s)", "floor(%s)", "ceil(%s)", "sign(%s)", "step(%s)", "sqrt(%s)", "log(%s)", "exp(%s)", "tan(%s)",
         "asin(%s)", "(%s)^(-2)", "(not (%s > 0.5))", "(%s)^0", "(%s)^0.5", "acos(%s)", "sinh(%s)"]
ROUGH_TWO = ["min(%s, %s)", "max(%s, %s)", "mod(%s, %s)", "(%s)/(%s)", "(%s)^(%s)", "hypot(%s, %s)", "atan2(%s, %s)",
             "(%s < %s)", "(%s >= %s or false_)", "clip(%s, -0.5, %s)", "if(%s > 0, %s, 0.25)", "(%s = %s)"]


class System:
    """A random system: its text, and the parts of it that the reference needs."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.smooth = seed % 2 == 1
        r = self.random
        self.states = ["s%d" % i for i in range(r.randint(1, 4))]
        self.held = ["h%d" % i for i in range(r.randint(0, 2))]
        self.start = {name: round(r.uniform(-1, 1), 3) for name in self.states + self.held}
        self.parameters = {"a": round(r.uniform(0.2, 2), 3), "b": round(r.uniform(-1, 1), 3), "false_": 0}
        self.tables, self.inputs = self.numbers()
        # of some the first input is an action, with the numbers as its table
        self.period = random.Random(seed * 7919 + 2).choice([0, 0, 0.01, 0.13]) if self.inputs else 0
        self.let = {}
        names = self.states + self.held + ["a", "b"] + (["time"] if r.random() < 0.5 else [])
        names += list(self.inputs)
        for i in range(r.randint(0, 2)):
            self.let["l%d" % i] = self.expression(names, 2)
            names = names + ["l%d" % i]
        self.names = names
        self.modes = ["m%d" % i for i in range(r.randint(1, 3))]
        self.rates = {m: {s: self.rate(s) for s in self.states} for m in self.modes}
        self.add_pulse(random.Random(seed * 7919 + 1))
        self.events = {m: [self.event(m, i) for i in range(r.randint(0, 2))] for m in self.modes}
        self.noise = {m: {} for m in self.modes}
        self.refine = 0
        self.integrator = "dormand_prince" if self.smooth else r.choice(
            ["dormand_prince", "rodas5p", "rk4", "implicit_midpoint", "semi_implicit_euler", "sra3", "euler_maruyama",
             "sra3", "euler_maruyama", "euler_maruyama"])
        if self.integrator in ("sra3", "euler_maruyama"):
            self.add_noise()

    def add_pulse(self, r):
        """Pulses in time, once or in a train, of which a step that is not cut may see nothing."""
        if r.random() < 0.5:
            return
        begin = round(r.uniform(0.1, 3), 3)
        length = round(r.uniform(0.1, 0.5), 3) if self.smooth else 10**r.uniform(-6, 0)
        pulse = r.choice(["(time > %g and time < %g)" % (begin, begin + length),
                          "(a*time >= %g and %g - a*time > 0)" % (begin, begin + length)])
        if not self.smooth and r.random() < 0.5:
            pulse = r.choice(["(mod(time, %g + a) < %g)" % (begin, length), "step(mod(b*time, %g) - b)" % begin,
                              "clip((time - b)/%g, 0, 1)" % length, "(floor(time/%g) < 2)" % begin])
        for mode in self.modes:
            state = r.choice(self.states)
            self.rates[mode][state] += " + %g*%s" % (round(r.uniform(-2, 2), 2), pulse)

    def add_noise(self):
        """Bounded sizes, of states that have their own source or share one."""
        r = self.random
        self.refine = r.choice([0, 0, 1, 5])
        names = ["a", "b", "time"] + self.held
        if self.integrator == "euler_maruyama":
            names = names + self.states
        for state in self.states:
            source = r.choice(["", "", ", by: u", ", by: v"])
            for mode in self.modes:
                if r.random() < 0.7 or mode == self.modes[0] and state == self.states[0]:
                    size = "0.3*tanh(%s)" % self.expression(names, 2)
                    self.noise[mode][state] = '{size: "%s"%s}' % (size, source)

    def numbers(self):
        """Tables, and inputs of systems that are not smooth."""
        r = random.Random(self.random.random())
        rows = lambda n, low, high: [round(low + (high - low) * i / (n - 1) + r.uniform(0, 0.5 / n), 3)
                                     for i in range(n)]
        values = lambda n: [round(r.uniform(-1, 1), 3) for _ in range(n)]
        tables, inputs = {}, {}
        for i in range(r.randint(0, 2)):
            n = r.randint(3, 9)
            between, beyond = ("cubic", "extend") if self.smooth else (
                r.choice(["linear", "cubic", "held"]), r.choice(["fail", "hold", "extend"]))
            tables["t%d" % i] = (rows(n, -2, 2), values(n), between, beyond)
        for i in range(0 if self.smooth else r.randint(0, 2)):
            n = r.randint(2, 40)
            inputs["u%d" % i] = (rows(n, -0.5, 4.5), values(n), r.choice(["linear", "held"]), "hold")
        return tables, inputs

    def expression(self, names, depth):
        r = self.random
        if depth == 0 or r.random() < 0.15:
            return r.choice(names) if r.random() < 0.8 else "%g" % round(r.uniform(0, 3), 2)
        one, two = (SMOOTH, SMOOTH_TWO) if self.smooth or r.random() < 0.5 else (ROUGH, ROUGH_TWO)
        if self.tables and r.random() < 0.15:
            table, argument = r.choice(list(self.tables)), self.expression(names, depth - 1)
            fixed = not any(name in argument for name in names)  # outside of a table that fails it is an error
            return "%s(%s)" % (table, r.choice(names) if fixed else argument)
        if r.random() < 0.5:
            return r.choice(one) % self.expression(names, depth - 1)
        return r.choice(two) % (self.expression(names, depth - 1), self.expression(names, depth - 1))

    def rate(self, state):
        """Bounded: a state stays within a few units."""
        return "%g*tanh(%s) - %g*%s" % (round(self.random.uniform(0.5, 3), 2), self.expression(self.names, 3),
                                        round(self.random.uniform(0.2, 1), 2), state)

    def event(self, mode, index):
        r = self.random
        name, level = r.choice(self.states), round(r.uniform(-0.8, 0.8), 3)
        guard = "%s - %s" % (name, level) if r.random() < 0.6 else "%s + 0.3*sin(2*time) - %s" % (name, level)
        if not self.smooth and r.random() < 0.5:
            guard = self.expression(self.states, 2) + " - 0.123*s0"
        event = {"name": "%se%d" % (mode, index), r.choice(["rises", "falls", "crosses"]): guard}
        if r.random() < 0.25:
            event = {"name": event["name"], r.choice(["every", "at"]): round(r.uniform(0.3, 2), 2)}
        if r.random() < 0.7:
            event["set"] = {t: "sin(%s)" % self.expression(self.names, 2) for t in self.states + self.held
                            if r.random() < 0.5}
            event["set"] = event["set"] or {self.states[0]: "0.5*%s + 0.1" % self.states[0]}
        if r.random() < 0.5 and len(self.modes) > 1:
            event["to"] = r.choice([m for m in self.modes if m != mode])
        return event

    def control(self):
        return ["  control: {period: %g, actions: %s}" % (self.period, self.inputs["u0"][1])] if self.period else []

    def text(self, integrator, tolerance):
        lines = ["version: 1", "experiment: random", "model: equations", "simulation:", "  duration: 4", "  dt: 0.01",
                 "  integrator: " + integrator, "  refine: %d" % self.refine, "  tolerance: " + tolerance,
                 "  steps: 50000", *self.control(), "  system:",
                 "    parameters: {%s}" % ", ".join("%s: %s" % i for i in self.parameters.items()),
                 "    states: {%s}" % ", ".join("%s: %s" % (s, self.start[s]) for s in self.states)]
        for section, entries in ("tables", self.tables), ("inputs", self.inputs):
            if entries:
                lines.append("    %s:" % section)
            for name, (at, values, between, beyond) in entries.items():
                if self.period and name == "u0":
                    lines.append("      u0: {range: [-0.8, 0.8]}")
                    continue
                lines.append("      %s: {at: %s, values: %s, between: %s, beyond: %s}" %
                             (name, at, values, between, beyond))
        if self.held:
            lines.append("    held: {%s}" % ", ".join("%s: %s" % (h, self.start[h]) for h in self.held))
        if self.let:
            lines.append("    let: {%s}" % ", ".join('%s: "%s"' % i for i in self.let.items()))
        lines.append("    modes:")
        for mode in self.modes:
            lines += ["      %s:" % mode,
                      "        rates: {%s}" % ", ".join('%s: "%s"' % i for i in self.rates[mode].items())]
            if self.noise[mode]:
                lines.append("        noise: {%s}" % ", ".join("%s: %s" % i for i in self.noise[mode].items()))
            if self.events[mode]:
                lines.append("        events:")
            for event in self.events[mode]:
                parts = ['%s: {%s}' % (k, ", ".join('%s: "%s"' % i for i in v.items())) if k == "set" else
                         '%s: "%s"' % (k, v) for k, v in event.items()]
                lines.append("          - {%s}" % ", ".join(parts))
        lines.append("    metrics:")
        for s in self.states:
            lines.append("      end_%s: {final: %s}" % (s, s))
            lines.append("      sum_%s: {integral: %s^2}" % (s, s))
        lines += ["      top: {max: s0}", "      low: {min: s0*s0 - s0}", "      root: {rms: s0}",
                  "      share: {part: s0 > 0.1}", "      begins: {first: s0 < 0}", "      ends: {last: s0 < 0}"]
        for mode in self.modes:
            for event in self.events[mode]:
                name = event["name"]
                lines.append("      n_%s: {count: %s}" % (name, name))
                lines.append("      f_%s: {at: %s, value: time, take: first}" % (name, name))
                lines.append("      v_%s: {after: %s, value: s0, take: mean}" % (name, name))
        lines += ["search: {method: grid, over: {b: {linspace: [-1, 1, 5]}, a: [0.4, 1.3]}}",
                  "objective: {minimize: survived}"]
        if any(self.events.values()):
            lines.append("record: {trajectories: {select: {every: 3}, events: true, sample: 1}}")
        return "\n".join(lines) + "\n"


def run(program, name, text, *options):
    """Rows of the trials and the digest."""
    with open(name + ".yaml", "w") as file:
        file.write(text)
    shutil.rmtree("results/" + name, ignore_errors=True)
    done = subprocess.run([program, "run", name + ".yaml", "--name", name, "--progress", "none", *options],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError("run failed: " + done.stderr[-600:])
    done = subprocess.run([program, "digest", name], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError("digest failed: " + done.stderr[-600:])
    digest = done.stdout.split()[0]
    table = subprocess.run([program, "query", name, "--columns", "all", "--format", "csv"], capture_output=True,
                           text=True).stdout
    return list(csv.DictReader(table.splitlines())), digest


# ---- the reference --------------------------------------------------------------------------------------------------

FUNCTIONS = {k: getattr(math, k) for k in "sin cos tanh atan exp sqrt log cosh sinh tan asin acos hypot atan2".split()}


def compiled(text):
    return compile(text.replace("^", "**"), text, "eval")


def tabulated(at, values, between, beyond):
    """A cubic table that goes on along its tangents."""
    inside = PchipInterpolator(at, values)
    slope = inside.derivative()

    def value(x):
        c = min(max(x, at[0]), at[-1])
        return float(inside(c) + (slope(c) * (x - c) if c != x else 0.0))
    return value


class Reference:
    def __init__(self, system, parameters):
        self.system, self.parameters = system, parameters
        code = lambda texts: {k: compiled(v) for k, v in texts.items()}
        self.let = code(system.let)
        self.rates = {m: code(system.rates[m]) for m in system.modes}
        self.tables = {name: tabulated(*table) for name, table in system.tables.items()}
        self.doubtful = False
        self.last = {}  # times of events

    def scope(self, t, y, held):
        scope = dict(FUNCTIONS)
        scope.update(self.tables)
        scope.update(self.parameters)
        scope.update(held)
        scope.update(zip(self.system.states, y))
        scope["time"] = t
        for name, code in self.let.items():
            scope[name] = eval(code, scope)
        return scope

    def slopes(self, t, y, held, mode):
        n = len(self.system.states)
        scope = self.scope(t, y[:n], held)
        return numpy.array([eval(c, scope) for c in self.rates[mode].values()] + [v * v for v in y[:n]])

    def guard(self, event, t, y, held):
        for kind in ("rises", "falls", "crosses"):
            if kind in event:
                return eval(compiled(event[kind]), self.scope(t, y[:len(self.system.states)], held))
        return None

    def side(self, event, t, y, held, mode):
        """The sign of a guard, or that which it will have."""
        value = self.guard(event, t, y, held)
        if value is None:
            return 0
        if abs(value) > 1e-9:
            return math.copysign(1, value)
        step = 1e-5
        later = self.guard(event, t + step, y + step * self.slopes(t, y, held, mode), held)
        if abs(later - value) < 1e-8:
            self.doubtful = True
        return math.copysign(1, later - value)

    def solve(self, shift=0.0, end=4.0):
        system = self.system
        t, mode = 0.0, system.modes[0]
        y = numpy.array([system.start[s] for s in system.states] + [0.0] * len(system.states))
        y[:len(system.states)] += shift
        held = {h: system.start[h] for h in system.held}
        counts, first = {}, {}
        sides = [self.side(e, t, y, held, mode) for e in system.events[mode]]
        begins = ["every" in e for e in system.events[mode]]
        y, held, mode, sides = self.happen(t, y, held, mode, sides, begins, counts, first)
        while t < end:
            events = system.events[mode]
            due = end
            for event in events:
                if "every" in event:
                    k = math.floor(t / event["every"] + 1e-9) + 1
                    due = min(due, k * event["every"])
                if "at" in event and event["at"] > t:
                    due = min(due, event["at"])
            solver = DOP853(lambda s, z: self.slopes(s, z, held, mode), t, y, due, rtol=1e-11, atol=1e-12,
                            max_step=0.05)
            turned = None
            while solver.status == "running" and turned is None:
                solver.step()
                turned = self.seek(solver, events, held, sides)
            if turned is None:
                t, y = solver.t, solver.y.copy()
                fired = [t == due and due < end and ("at" in e and e["at"] == t or "every" in e and
                         abs(t / e["every"] - round(t / e["every"])) < 1e-9) for e in events]
            else:
                t, y, fired = turned
            y, held, mode, sides = self.happen(t, y, held, mode, sides, fired, counts, first)
        return y, counts, first

    def seek(self, solver, events, held, sides):
        dense, low, high = solver.dense_output(), solver.t_old, solver.t
        found, passed = [], []
        for k, event in enumerate(events):
            guard = lambda s: self.guard(event, s, dense(s), held)
            if guard(high) is None:
                continue
            times = numpy.linspace(low, high, 9)
            values = [guard(s) for s in times]
            self.note_touch(values)
            side = sides[k]
            for i in range(8):
                if values[i + 1] * side < 0:
                    root = brentq(guard, times[i], times[i + 1], xtol=1e-14) if values[i] * side > 0 else times[i]
                    if "crosses" in event or ("rises" in event) == (side < 0):
                        found.append((root, k))
                        break
                    side = -side
                    passed.append((root, k, side))
        when = min(found)[0] if found else high
        for root, k, side in sorted(passed):
            if root <= when:
                sides[k] = side
        if not found:
            return None
        if len(found) > 1 and sorted(found)[1][0] - when < 1e-7:
            self.doubtful = True  # which comes first is a matter of rounding
        return when, dense(when), [any(k == i for root, i in found if root == when) for k in range(len(events))]

    def note_touch(self, values):
        """An extremum near 0 is crossed or not by rounding."""
        for a, b, c in zip(values, values[1:], values[2:]):
            if (b - a) * (c - b) <= 0 and abs(b) < 1e-3:
                self.doubtful = True

    def happen(self, t, y, held, mode, sides, fired, counts, first):
        system = self.system
        before = list(sides)
        events, changed = system.events[mode], False
        old = mode
        for k, event in enumerate(events):
            if not fired[k] or mode != old:
                continue
            counts[event["name"]] = counts.get(event["name"], 0) + 1
            first.setdefault(event["name"], t)
            if t - self.last.get(event["name"], -1) < 1e-5:
                self.doubtful = True  # events accumulate
            self.last[event["name"]] = t
            if "set" in event:
                scope = self.scope(t, y[:len(system.states)], held)
                new = {name: eval(compiled(text), dict(scope)) for name, text in event["set"].items()}
                y = y.copy()
                for i, name in enumerate(system.states):
                    y[i] = new.get(name, y[i])
                held = {name: new.get(name, held[name]) for name in held}
                changed = True
            if "to" in event:
                mode, changed = event["to"], True
        if not changed:
            return y, held, mode, [-s if f else s for s, f in zip(sides, fired)]
        sides = [self.side(e, t, y, held, mode) for e in system.events[mode]]
        for k, event in enumerate(system.events[mode]):
            value = self.guard(event, t, y, held)
            if value is not None and abs(value) < 1e-6 and not (mode == old and fired[k]):
                self.doubtful = True
            if mode == old and not fired[k] and before[k] * sides[k] < 0 and (
                    "crosses" in event or ("rises" in event) == (sides[k] > 0)):
                self.cascade = getattr(self, "cascade", 0) + 1
                if self.cascade > 200:
                    self.doubtful = True
                    continue
                jumps = [i == k or (before[i] * sides[i] < 0 and not fired[i]) and (
                    "crosses" in e or ("rises" in e) == (sides[i] > 0)) and "every" not in e and "at" not in e
                         for i, e in enumerate(system.events[mode])]
                if sum(jumps) > 0:
                    first_sides = list(sides)
                    y, held, mode, sides = self.happen(t, y, held, mode, first_sides, jumps, counts, first)
                    if not any("set" in e or "to" in e for e, j in zip(system.events[old], jumps) if j):
                        sides = first_sides
                    return y, held, mode, sides
        return y, held, mode, sides


def compare(system, rows):
    """None: they agree; else what differs. '' : no verdict."""
    verdicts = 0
    for row in (rows[0], rows[3], rows[6]):
        parameters = {"a": float(row["a"]), "b": float(row["b"]), "false_": 0}
        reference = Reference(system, parameters)
        try:
            y, counts, first = reference.solve()
            other = Reference(system, parameters).solve(1e-9)
        except (OverflowError, ValueError, ZeroDivisionError, RecursionError):
            continue
        if reference.doubtful or row["failure"] != "none" or counts != other[1]:
            continue
        if numpy.abs(y - other[0]).max() > 1e-7:
            continue
        verdicts += 1
        n = len(system.states)
        for i, s in enumerate(system.states):
            for name, value in (("end_" + s, y[i]), ("sum_" + s, y[n + i])):
                if abs(float(row[name]) - value) > 1e-6 * (1 + abs(value)):
                    return "trial %s: %s is %s, DOP853 says %.12g" % (row["id"], name, row[name], value)
        for events in system.events.values():
            for event in events:
                name = event["name"]
                if float(row["n_" + name]) != counts.get(name, 0):
                    return "trial %s: %s happens %s times, DOP853 says %d" % (row["id"], name, row["n_" + name],
                                                                              counts.get(name, 0))
                if name in first and abs(float(row["f_" + name]) - first[name]) > 1e-6:
                    return "trial %s: %s first at %s, DOP853 says %.12g" % (row["id"], name, row["f_" + name],
                                                                            first[name])
    return None if verdicts else ""


def made(program, text):
    """(digest, what went wrong) by a kernel made for the campaign, whose trial finds wrong bits."""
    digest = run(program, "random", text, "--batch", "16", "--slice", "23", "--kernels", "made", "--isa", "auto")[1]
    with open("results/random/log.jsonl") as log:
        said = [line for line in log if '"event":"kernel"' in line]
    return digest, "" if said and "not used" not in said[0] and "general" not in said[0] else " ".join(said)


def main():
    program, begin, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    made_each = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    failed, compared, doubtful, failures = 0, 0, 0, {}
    sets = []
    for seed in range(begin, begin + count):
        system = System(seed)
        integrator = system.integrator
        text = system.text(integrator, "1e-10" if system.smooth else "1e-5")
        try:
            rows, digest = run(program, "random", text, "--isa", "scalar", "--batch", "1")
            if not sets:
                for isa in ("v2", "v3", "v4", "neon"):
                    done = subprocess.run([program, "run", "random.yaml", "--name", "probe_" + isa, "--isa", isa,
                                           "--progress", "none"], capture_output=True)
                    sets += [isa] if done.returncode == 0 else []
            wrong = ""
            for options in [["--isa", i] for i in sets] + [["--batch", "3", "--threads", "2"],
                                                           ["--batch", "64", "--slice", "17"]]:
                if run(program, "random", text, *options)[1] != digest:
                    wrong += " " + " ".join(options)
            if made_each > 0 and (seed - begin) % made_each == 0:
                by_made, trouble = made(program, text)
                wrong += (" --kernels made" if by_made != digest else "") + trouble
            message = "another digest by" + wrong if wrong else None
        except RuntimeError as error:
            message = str(error)
        for row in rows:
            failures[row["failure"]] = failures.get(row["failure"], 0) + 1
        if message is None and system.smooth and DOP853 is not None:
            message = compare(system, rows)
            compared += message is None
            doubtful += message == ""
        if message:
            failed += 1
            print("system %d, %s: %s" % (seed, integrator, message))
            os.replace("random.yaml", "random_%d.yaml" % seed)
    print("%d systems, %d failed, %d agree with DOP853, %d are too sensitive for it; ends: %s" %
          (count, failed, compared, doubtful, ", ".join("%s %d" % i for i in sorted(failures.items()))))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
