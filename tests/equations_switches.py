"""Random functions of time that jump and bend, as rates of systems (model equations): their integrals against sums at
73,000 instants, where `run` does not warn that no step ends at a jump.

    python3 tests/equations_switches.py HOPSCOTCH FIRST COUNT
"""
import math
import random
import subprocess
import sys

DURATION, SAMPLES, TOLERANCE = 7.3, 73000, 5e-3
PARAMETERS = {"a": 1.3, "b": -0.7, "T": 1.1, "k": -1.6, "n": -0.9, "z": 0.0, "c": 2.9}
FUNCTIONS = {"min": min, "max": max, "abs": abs, "floor": math.floor, "ceil": math.ceil,
             "clip": lambda x, low, high: min(max(x, low), high), "mod": lambda x, y: x - y * math.floor(x / y),
             "sign": lambda x: (x > 0) - (x < 0), "step": lambda x: float(x >= 0),
             "choose": lambda condition, x, y: x if condition else y}
RATES = 4


class Expressions:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def number(self):
        return self.random.choice(list(PARAMETERS) + ["0.5", "2", "3.3", "-1", "0.25"])

    def period(self):
        return self.random.choice(["a", "T", "n", "1.7"])

    def line(self):
        a, b = self.number(), self.number()
        return self.random.choice(["time", "-time", a + "*time", "time - " + a, a + " - time",
                                   "%s*time + %s" % (a, b), "(time - %s)/%s" % (a, self.random.choice("2ab"))])

    def bent(self, depth):
        if depth == 0:
            return self.random.choice([self.line(), self.line(), self.number()])
        inner, other = self.bent(depth - 1), self.bent(depth - 1)
        return self.random.choice([
            "abs(%s)" % inner, "min(%s, %s)" % (inner, other), "max(%s, %s)" % (inner, other),
            "clip(%s, %s, %s)" % (inner, self.number(), self.number()), "(%s + %s)" % (inner, other),
            "(%s)*%s" % (inner, self.number()), "mod(%s, %s)" % (self.line(), self.period()),
            "if(%s, %s, %s)" % (self.condition(depth - 1), inner, other), self.line()])

    def condition(self, depth):
        text = "%s %s %s" % (self.bent(depth), self.random.choice(["<", "<=", ">", ">="]), self.number())
        if self.random.random() < 0.25:
            text += " %s %s > %s" % (self.random.choice(["and", "or"]), self.bent(depth), self.number())
        return text

    def rate(self):
        depth = self.random.choice([1, 2, 2, 3])
        inner = self.bent(depth)
        pulse = "if(%s, %s, %s)" % (self.condition(depth), self.number(), self.bent(0))
        return self.random.choice([pulse, pulse, pulse, "floor(%s)" % inner, "ceil(%s)" % inner,
                                   "sign(%s - %s)" % (inner, self.number()), "step(%s - %s)" % (inner, self.number()),
                                   "mod(%s, %s)" % (inner, self.period())])


def integral(rate):
    code = compile(rate.replace("if(", "choose("), "rate", "eval")
    names, step = dict(PARAMETERS, **FUNCTIONS), DURATION / SAMPLES
    return step * sum(eval(code, names, {"time": (i + 0.5) * step}) for i in range(SAMPLES))


def write(name, seed, rates):
    lines = ["version: 1", "experiment: " + name, "model: equations", "simulation:", "  duration: %g" % DURATION,
             "  dt: 0.31", "  integrator: " + ["dormand_prince", "rk4", "rodas5p"][seed % 3], "  system:",
             "    parameters: {%s}" % ", ".join("%s: %g" % of for of in PARAMETERS.items()),
             "    states: {%s}" % ", ".join("x%d: 0" % k for k in range(RATES)), "    rates:"]
    first = len(lines) + 1
    lines += ['      x%d: "%s"' % (k, rate) for k, rate in enumerate(rates)]
    lines += ["    metrics: {%s}" % ", ".join("e%d: {final: x%d}" % (k, k) for k in range(RATES)),
              "search: {method: grid, over: {z: [0]}}", "objective: {minimize: survived}"]
    with open(name + ".yaml", "w") as out:
        out.write("\n".join(lines) + "\n")
    return first


def main(hopscotch, first_seed, count):
    wrong = found = 0
    for seed in range(first_seed, first_seed + count):
        of, name = Expressions(seed), "switches%d" % seed
        rates = [of.rate() for _ in range(RATES)]
        first = write(name, seed, rates)
        run = subprocess.run([hopscotch, "run", name + ".yaml", "--progress", "none"], capture_output=True, text=True)
        if run.returncode != 0:
            print("seed %d: run: %s" % (seed, run.stderr))
            wrong += 1
            continue
        warned = {int(line.split(":")[1]) - first for line in run.stderr.splitlines() if "no step ends where" in line}
        columns = ",".join("e%d" % k for k in range(RATES))
        table = subprocess.run([hopscotch, "query", name, "--columns", columns, "--format", "csv"],
                               capture_output=True, text=True).stdout
        for k, got in enumerate(table.splitlines()[-1].split(",")):
            if k in warned:
                continue
            found += 1
            expected = integral(rates[k])
            if got == "" or abs(float(got) - expected) > TOLERANCE:
                print("seed %d: %s: expected %.6f to %g, got %s" % (seed, rates[k], expected, TOLERANCE, got))
                wrong += 1
    print("%d random functions of time, %d of them found, %d wrong" % (RATES * count, found, wrong))
    return wrong > 0 or 2 * found < RATES * count


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
