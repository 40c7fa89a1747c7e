"""Tables and inputs of systems (model equations) against scipy, and the files that they come from against noise.

    python3 tests/equations_tables.py values|motion|noise HOPSCOTCH FIRST COUNT

In the current folder, for the seeds FIRST to FIRST + COUNT - 1:
values   random tables within and beyond their ends: interp1d, PchipInterpolator and RegularGridInterpolator to 1e-13
motion   random oscillators with tables and inputs, by dormand_prince and rodas5p: DOP853 from row to row to 1e-7
noise    files with bytes changed, left out and put in: read, or refused with a place in a line
"""
import csv
import os
import random
import re
import shutil
import subprocess
import sys


def run(program, text, *options):
    with open("tables.yaml", "w") as file:
        file.write(text)
    shutil.rmtree("results/tables", ignore_errors=True)
    done = subprocess.run([program, "run", "tables.yaml", "--progress", "none", *options], capture_output=True,
                          text=True)
    if done.returncode != 0:
        raise RuntimeError("run failed: " + done.stderr[-600:])
    table = subprocess.run([program, "query", "tables", "--columns", "all", "--format", "csv"], capture_output=True,
                           text=True).stdout
    return list(csv.DictReader(table.splitlines()))


def rising(r, n, low, high):
    at = sorted(r.uniform(low, high) for _ in range(n))
    at = [round(x, 3) + 0.002 * i for i, x in enumerate(at)]
    return at


def write(name, header, rows):
    with open(name, "w") as file:
        file.write(",".join(header) + "\n")
        for row in rows:
            file.write(", ".join("%r" % x for x in row) + "\n")


HEAD = "version: 1\nexperiment: tables\nmodel: equations\nsimulation:\n"


def values(program, seed):
    from scipy.interpolate import PchipInterpolator, RegularGridInterpolator, interp1d
    import numpy
    r = random.Random(seed)
    tables, references, metrics = [], {}, []
    for kind, beyond in [(k, b) for k in ("linear", "cubic", "held") for b in ("hold", "extend")]:
        name = kind + "_" + beyond
        n = r.choice([2, 3, 4, 7, 50])
        x = rising(r, n, -2, 2)
        level = r.choice([0.0, 1e6, 1e-6])
        y = [level + r.choice([r.uniform(-1, 1), 0.0, 0.5]) for _ in x]
        write(name + ".csv", ["x", "other", "y"], [(a, 7, b) for a, b in zip(x, y)])
        tables.append("%s: {file: %s.csv, columns: [x, y], between: %s, beyond: %s}" % (name, name, kind, beyond))
        if kind == "linear":
            inside = interp1d(x, y, fill_value="extrapolate")
        elif kind == "held":
            inside = interp1d(x, y, kind="previous", fill_value=(y[0], y[-1]), bounds_error=False)
        else:
            inside = PchipInterpolator(x, y)

        def reference(p, q, inside=inside, x=x, kind=kind, beyond=beyond):
            c = min(max(p, x[0]), x[-1])
            if beyond == "extend" and kind == "linear":
                return float(inside(p))
            if beyond == "extend" and kind == "cubic":
                return float(inside(c) + inside.derivative()(c) * (p - c))
            return float(inside(c))
        references[name] = (reference, max(map(abs, y)))
        metrics.append("v_%s: {final: %s(p)}" % (name, name))
    for beyond in ("hold", "extend"):
        name = "grid_" + beyond
        x, z = rising(r, r.randint(2, 6), -2, 2), rising(r, r.randint(2, 9), -1, 1)
        y = [[r.uniform(-1, 1) for _ in z] for _ in x]
        write(name + ".csv", ["x/z"] + ["%r" % a for a in z], [[a] + b for a, b in zip(x, y)])
        tables.append("%s: {file: %s.csv, of: [1, 1], beyond: %s}" % (name, name, beyond))
        grid = RegularGridInterpolator((x, z), numpy.array(y), bounds_error=False, fill_value=None)

        def reference(p, q, grid=grid, x=x, z=z, beyond=beyond):
            if beyond == "hold":
                p, q = min(max(p, x[0]), x[-1]), min(max(q, z[0]), z[-1])
            return float(grid((p, q)))
        references[name] = (reference, 10)
        metrics.append("v_%s: {final: '%s(p, q)'}" % (name, name))
    rows = run(program, HEAD + "  duration: 1\n  system:\n    parameters: {p: 0, q: 0}\n    states: {s: 0}\n"
               "    rates: {s: 0}\n    tables:\n" + "".join("      %s\n" % t for t in tables) +
               "    metrics:\n" + "".join("      %s\n" % m for m in metrics) +
               "search: {method: grid, over: {p: {linspace: [-3, 3, 61]}, q: {linspace: [-1.5, 1.5, 7]}}}\n"
               "objective: {minimize: survived}\n", *r.choice([[], ["--isa", "scalar"], ["--threads", "2"]]))
    for row in rows:
        for name, (reference, size) in references.items():
            expected, got = reference(float(row["p"]), float(row["q"])), float(row["v_" + name])
            if not abs(got - expected) <= 1e-13 * (size + abs(expected)) * (100 if "extend" in name else 1):
                return "%s(%s, %s) is %r, scipy says %r" % (name, row["p"], row["q"], got, expected)
    return None if len(rows) == 427 else "rows are missing"


def motion(program, seed):
    from scipy.integrate import solve_ivp
    from scipy.interpolate import PchipInterpolator
    import numpy
    r = random.Random(seed)
    x = rising(r, r.randint(3, 8), -3, 3)
    y = [round(r.uniform(-1, 1), 3) for _ in x]
    write("force.csv", ["x", "f"], list(zip(x, y)))
    t = rising(r, r.randint(2, 30), r.choice([0.0, 0.5, -1]), 3.0)
    linear, held = [[round(r.uniform(-2, 2), 3) for _ in t] for _ in range(2)]
    write("drive.csv", ["note", "u", "time", "w"], [(9, u, a, w) for a, u, w in zip(t, linear, held)])
    damping = round(r.uniform(0, 1), 3)
    smooth = PchipInterpolator(x, y)
    force = lambda a: float(smooth(min(max(a, x[0]), x[-1])))
    rows = {}
    for integrator in ("dormand_prince", "rodas5p"):
        rows[integrator] = run(program, HEAD + """  duration: 3
  tolerance: 1.0e-10
  integrator: %s
  system:
    parameters: {d: %r}
    tables: {force: {file: force.csv, between: cubic, beyond: hold}}
    inputs: {u: {file: drive.csv, beyond: hold}, jump: {file: drive.csv, column: w, between: held, beyond: hold}}
    states: {s: 0.1, v: 0}
    rates: {s: v, v: force(s) - s - d*v + u + jump}
    metrics: {s_end: {final: s}, v_end: {final: v}, sum: {integral: u*jump}, u_end: {final: u}, jump_end: {final: jump}}
search: {method: grid, over: {d: [0, %r]}}
objective: {minimize: survived}
""" % (integrator, damping, damping))
    for trial, d in enumerate([0, damping]):
        state, ends = numpy.array([0.1, 0.0, 0.0]), [a for a in t if 0 < a < 3] + [3.0]
        begin = 0.0
        for end in ends:
            k = sum(a <= begin for a in t) - 1
            w = held[max(k, 0)]
            drive = lambda s: numpy.interp(s, t, linear)
            state = solve_ivp(lambda s, z: [z[1], force(z[0]) - z[0] - d * z[1] + drive(s) + w, drive(s) * w],
                              [begin, end], state, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
            begin = end
        k = sum(a < 3.0 for a in t) - 1  # no row begins at the duration
        expected = {"s_end": state[0], "v_end": state[1], "sum": state[2],
                    "u_end": numpy.interp(3.0, t, linear), "jump_end": held[max(k, 0)]}
        for integrator, table in rows.items():
            for name, value in expected.items():
                if not abs(float(table[trial][name]) - value) <= 1e-7 * (1 + abs(value)):
                    return "%s, d = %s: %s is %s, DOP853 says %.12g" % (integrator, d, name, table[trial][name], value)
    return None


def noise(program, seed):
    r = random.Random(seed)
    text = bytearray(b"# drive\ntime, u ,\"w\"\r\n0,1.5,-2\n1e-1, 2 , 3\n\n0.5,-1,+4.25e0\n2,0,0\n")
    for _ in range(r.randint(1, 4)):
        at, kind = r.randrange(len(text) + 1), r.random()
        byte = r.choice([r.randrange(256), *b",\n\"0.e-#\r nN"])
        if kind < 0.4:
            text[at:at + 1] = [byte]
        elif kind < 0.7:
            text[at:at] = [byte] * r.choice([1, 1, 1, 300])
        else:
            del text[at:at + r.choice([1, 1, 5, 40])]
    open("drive.csv", "wb").write(bytes(text))
    open("tables.yaml", "w").write(
        HEAD + "  duration: 1\n  system:\n    parameters: {p: 1}\n    inputs: {u: {file: drive.csv}, "
        "hold: {file: drive.csv, column: w, between: held}}\n"
        "    tables: {f: {file: drive.csv, columns: [time, w], between: cubic}, "
        "g: {file: drive.csv, of: [1, s]}}\n    states: {s: 0}\n"
        "    rates: {s: 'u + hold + f(0.5) + g(0.3, 0.1)'}\nsearch: {method: grid, over: {p: [1]}}\n"
        "objective: {minimize: survived}\n")
    done = subprocess.run([program, "check", "tables.yaml"], capture_output=True)
    wrong = done.stderr.decode("utf-8", "replace")
    if done.returncode not in (0, 1):
        return "check ends with %d" % done.returncode
    if done.returncode == 1 and not re.search(r"(drive\.csv|tables\.yaml):\d+:\d+: error: ", wrong):
        return "an error without a place: " + wrong[:300]
    return None


def main():
    what, program, begin, count = sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    failed = 0
    for seed in range(begin, begin + count):
        try:
            message = {"values": values, "motion": motion, "noise": noise}[what](program, seed)
        except RuntimeError as error:
            message = str(error)
        if message:
            failed += 1
        if message and failed <= 5:
            print("seed %d: %s" % (seed, message))
    print("%s: %d seeds, %d failed" % (what, count, failed))
    sys.exit(failed > 0)


main()
