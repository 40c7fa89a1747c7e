#!/usr/bin/env python3
"""Whether `hopscotch fit` names what is wrong with a recording that `check` lets pass: an arm of two or three driven
joints, without ranges, begins at 0 and follows two seconds of chirps; encoders record it. Each robot, its motion, noise and
rate are drawn. Good recordings must have no remark; bad ones have one joint or all in degrees, or in 1/57.3 of their unit,
or the other sign of coordinates and rates, or are shifted by 30 ms: all columns, which is a shift against the commands, or those of one joint.

    tests/bench/identify_recordings.py build/hopscotch [--good N] [--bad N] [--wrong N] [--first SEED] [--check] [--loss WORD]

--check: only what `check` says, which is quick: hundreds of recordings take a minute.
--loss huber, or cauchy: 3 % of the numbers are outliers, and residuals have this loss.
--wrong: good recordings of machines with a law of friction that the fit lacks: a remark on units or times is false there.
"""
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

HEAD = """version: 1
experiment: {name}
model: articulated
simulation: {{robot: arm.xml, terrain: none, duration: 2, dt: 0.005,
  control: {{mode: actions, file: commands.csv}}{more}}}
parameters: {{all_kp: {kp:.5g}, all_kd: {kd:.5g}, {parameters}}}
initial: {{{starts}}}
"""
RANGES = {"armature": "[0.001, 0.2], scale: log", "damping": "[0, 3]", "friction": "[0, 2]", "encoder": "[-0.1, 0.1]"}
DEGREES = 180 / math.pi


def option(name, default):
    return type(default)(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


def hopscotch(*arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, cwd=work)


def path(name):
    return os.path.join(work, name)


class Machine:
    """A robot that moved: rows of its trajectory, every 5 ms."""

    def __init__(self, draw, law):
        self.draw, self.joints = draw, ["shoulder", "elbow", "wrist"][:draw.choice([2, 3])]
        self.kp, self.kd = draw.uniform(20, 80), draw.uniform(0.3, 2)
        self.starts = ", ".join(j + "_start: 0" for j in self.joints)
        body, ends, motors = "", "", ""
        for k, joint in enumerate(self.joints):
            body += (f'<body pos="0 0 {"2" if k == 0 else "-0.35"}"><joint name="{joint}" axis="{draw.choice(["0 1 0", "1 0 0"])}"/>'
                     f'<geom type="capsule" fromto="0 0 0 0 0 -0.35" size="0.03" mass="{draw.uniform(0.4, 2):.3f}" '
                     'contype="0" conaffinity="0"/>')
            ends += "</body>"
            motors += f'<motor joint="{joint}"/>'
        with open(path("arm.xml"), "w") as f:
            f.write(f'<mujoco><compiler angle="radian"/><worldbody>{body}{ends}</worldbody><actuator>{motors}</actuator></mujoco>')
        with open(path("commands.csv"), "w") as f:
            sweeps = [(draw.uniform(0.15, 0.6), draw.uniform(0.3, 1), draw.uniform(0.3, 1.2)) for _ in self.joints]
            f.write("time," + ",".join(self.joints) + "\n")
            for k in range(100):
                f.write(f"{k / 50:g}," + ",".join(
                    f"{a * math.sin(2 * math.pi * (low * k / 50 + slope * (k / 50) ** 2)):.4f}" for a, low, slope in sweeps) + "\n")
        truth = [f"{j}_{k}: {v:.5g}" for j in self.joints for k, v in (
            ("armature", draw.uniform(0.005, 0.06)), ("damping", draw.uniform(0.05, 0.8)),
            ("friction", draw.uniform(0.0, 0.5)), ("encoder", draw.uniform(-0.02, 0.02)))]
        truth += ["all_stribeck: 0.2"] + [f"all_{k}: {v}" for k, v in law]
        self.write("truth", "", truth, "objective: {minimize: energy}\n")
        done = hopscotch("run", "truth.yaml", "--progress", "none")
        done = hopscotch("replay", "truth/0", "-o", "motion.csv") if done.returncode == 0 else done
        if done.returncode != 0:
            sys.exit(done.stderr)
        with open(path("motion.csv")) as f:
            names = f.readline().strip().split(",")
            self.rows = [dict(zip(names, map(float, line.split(",")))) for line in f]
        encoder = {t.split("_encoder: ")[0]: float(t.split(": ")[1]) for t in truth if "_encoder" in t}
        for row in self.rows:
            for joint in self.joints:
                row[joint + "_q"] += encoder[joint]

    def write(self, name, more, parameters, rest):
        with open(path(name + ".yaml"), "w") as f:
            f.write(HEAD.format(name=name, more=more, kp=self.kp, kd=self.kd, starts=self.starts,
                                parameters=", ".join(parameters)) + rest)

    def at(self, time, name):
        """By a parabola through the three rows around it."""
        k = min(max(round(time / 0.005), 1), len(self.rows) - 2)
        u, (a, b, c) = time / 0.005 - k, (self.rows[k + i][name] for i in (-1, 0, 1))
        return b + u * ((c - a) / 2 + u * ((a + c) / 2 - b))

    def record(self, kind):
        draw, every = self.draw, self.draw.choice([0.005, 0.01, 0.02])
        noise = draw.choice([2e-4, 1e-3, 3e-3])
        columns = [(j, "_q") for j in self.joints]
        if draw.random() < 0.3 or "signs" in kind:
            columns += [(j, "_rate") for j in self.joints]
        one = draw.choice(self.joints)
        by, late = 1.0, 0.0
        for word, value in (("degrees", DEGREES), ("radians", 1 / DEGREES), ("signs", -1.0)):
            by = value if word in kind else by
        for word, value in (("late", 0.03), ("early", -0.03)):
            late = value if word in kind else late
        start = 0.06 if late else 0.0
        rows = []
        for k in range(int(start / every + 0.5), int((2 - start) / every + 0.5)):
            row = [k * every]
            for joint, what in columns:
                hit = "all" in kind or joint == one
                size = noise if what == "_q" else 20 * noise
                value = self.at(k * every - (late if hit else 0.0), joint + what) + draw.gauss(0, size)
                if loss and draw.random() < 0.03:
                    value += 300 * size * draw.uniform(-1, 1)
                row.append(value * (by if hit and (what == "_q" or by < 0) else 1.0))
            rows.append(row)
        self.noises = ", ".join(f"{j}{w}: {{noise: {noise if w == '_q' else 20 * noise}}}" for j, w in columns)
        with open(path("record.csv"), "w") as f:
            f.write("time," + ",".join(j + w for j, w in columns) + "\n")
            for row in rows:
                f.write(",".join(f"{x:.9g}" for x in row) + "\n")
        return [j + w for j, w in columns if "all" in kind or j == one]

    def fit(self):
        reference = "record.csv"
        if loss:
            reference = f"{{file: record.csv, columns: {{{self.noises}}}}}, reference_loss: {loss}, reference_width: 2"
        self.write("fitted", f", reference: {reference}, reference_scale: noise",
                   ["all_stiction: 0", "all_stribeck: 0.2", "all_drag: 0", "all_load: 0"],
                   "search:\n  method: least_squares\n  least_squares: {start: center}\n  over:\n" + "".join(
                       f"    {j}_{k}: {{range: {v}}}\n" for j in self.joints for k, v in RANGES.items()) +
                   "objective: {residuals: reference}\n")
        shutil.rmtree(path("results"), ignore_errors=True)
        checked = hopscotch("check", "fitted.yaml")
        if "--check" in sys.argv:
            return " ".join((checked.stdout + checked.stderr).split()), ""
        ran = hopscotch("run", "fitted.yaml", "--progress", "none")
        if ran.returncode != 0:
            return " ".join((checked.stdout + checked.stderr).split()), "RUN " + ran.stderr
        out = hopscotch("fit", "fitted/best")
        return " ".join((checked.stdout + checked.stderr).split()), out.stderr


def remarks(checked, fitted):
    said = [("check", t) for t in re.findall(r"warning: (.*?)(?= warning: |$)", checked)]
    return said + [tuple(line.split(None, 1)) for line in fitted.splitlines() if line.startswith(("unit", "time", "RUN"))]


def kind_of_clock(what):
    return what.endswith(("late", "early", "signs"))


KINDS = {"all degrees": "deg", "one degrees": "deg", "all radians": "twice", "one radians": "twice", "all signs": "other (sign|way)", "one signs": "other (sign|way)", "all late": "recording.* late", "one late": "columns.* late",
         "all early": "recording.* early", "one early": "columns.* early"}
if len(sys.argv) < 2:
    sys.exit(__doc__)
program, first, loss = os.path.abspath(sys.argv[1]), option("--first", 1), option("--loss", "")
laws = [[("stiction", 0.15)], [("stiction", 0.4)], [("drag", 0.3)], [("load", 0.1)]]
work = tempfile.mkdtemp()
try:
    for what, count in [("good", option("--good", 20)), ("wrong", option("--wrong", 0))] + [
            (kind, option("--bad", 4)) for kind in KINDS]:
        tally, named, checked_too = Counter(), 0, 0
        for seed in range(first, first + count):
            draw = random.Random(f"{what} {seed}")
            machine = Machine(draw, draw.choice(laws) if what == "wrong" else [])
            columns = machine.record(what)
            checked, fitted = machine.fit()
            said = remarks(checked, fitted)
            wanted = [a for a, t in said if what in KINDS and re.search(KINDS[what], t) and (kind_of_clock(what) or any(c in t for c in columns))]
            named += bool(wanted)
            checked_too += "check" in wanted
            tally.update({a for a, t in said})
            if os.environ.get("VERBOSE") and (not wanted if what in KINDS else said):
                print(f"  {what} {seed} {columns}: {said} {fitted if what in KINDS else ''}")
        print(f"{what}: {count}, named {named} (by check {checked_too}); remarks: {dict(tally)}", flush=True)
finally:
    shutil.rmtree(work)
