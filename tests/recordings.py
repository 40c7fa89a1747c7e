"""Random recordings of simulated robots, good and bad ones, and what `check` says of them.

    recordings.py MOTIONS GOOD BAD [SEED]    MOTIONS robots move; of them GOOD recordings, and BAD of each kind

Prints a line per kind, and exits 1 if a good recording has a remark, or too few bad ones have one. It writes into the
folder that it runs in; HOPSCOTCH is the program, robots/ has those of experiments/.
"""

import math
import os
import random
import re
import subprocess
import sys

PROGRAM = os.environ["HOPSCOTCH"]
JOINTS = {
    "arm": ["turn", "shoulder", "elbow"],
    "biped": [side + "_" + joint for side in ("left", "right") for joint in ("hip", "knee", "ankle")],
    "quadruped": [row + "_" + side + "_" + joint for row in ("front", "hind") for side in ("left", "right")
                  for joint in ("hip", "thigh", "knee")],
}
CENTER = {"turn": 0, "shoulder": 0.6, "elbow": 1.2, "hip": 0, "knee": 0.6, "ankle": 0, "thigh": 0.8}


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True)


class Motion:
    """A robot that moved: its spec, and its trajectory as rows by name."""

    def __init__(self, number, draw):
        self.name, self.robot = "motion%d" % number, draw.choice(list(JOINTS))
        self.duration = draw.choice([1.0, 2.0, 3.0])
        self.frequency = draw.uniform(0.6, 2.5)
        self.table = draw.random() < 0.4
        if number == 0:  # some kinds of bad recordings need such a one
            self.robot, self.duration, self.table = "arm", 2.0, True
        self.joints = JOINTS[self.robot]
        parameters = {"all_kp": draw.uniform(50, 300), "all_kd": draw.uniform(2, 10)}
        for joint in self.joints:
            kind = joint.split("_")[-1]
            center = -1.5 if self.robot == "quadruped" and kind == "knee" else CENTER[kind]
            parameters[joint + "_offset"] = center
            parameters[joint + "_start"] = center + draw.uniform(-0.1, 0.1)
            if not self.table:
                parameters[joint + "_amplitude"] = draw.uniform(0.1, 0.35)
                parameters[joint + "_phase"] = draw.uniform(-3, 3)
        control = "control: {mode: gait}"
        if self.table:
            self.write_table(draw)
            control = "control: {mode: actions, file: %s.actions.csv}" % self.name
        else:
            parameters["gait_frequency"] = self.frequency
        terrain = "" if self.robot == "arm" else ", terrain: flat, settle: true"
        self.simulation = "robot: robots/%s.xml, duration: %g, dt: 0.002, %s%s" % (
            self.robot, self.duration, control, terrain)
        starts = {k: v for k, v in parameters.items() if k.endswith("_start")}
        gains = {k: v for k, v in parameters.items() if not k.endswith("_start")}
        self.rest = "parameters: {%s}\ninitial: {%s}\n" % tuple(
            ", ".join("%s: %.6g" % item for item in part.items()) for part in (gains, starts))
        self.simulate()

    def write_table(self, draw):
        waves = {joint: [(draw.uniform(0.05, 0.2), draw.uniform(0.3, 2.5), draw.uniform(0, 6)) for _ in range(3)]
                 for joint in self.joints}
        with open(self.name + ".actions.csv", "w") as out:
            out.write("time," + ",".join(self.joints) + "\n")
            for k in range(int(self.duration / 0.02)):
                values = [sum(a * math.sin(6.2832 * f * 0.02 * k + p) for a, f, p in waves[j]) for j in self.joints]
                out.write("%.2f,%s\n" % (0.02 * k, ",".join("%.5f" % v for v in values)))

    def write(self, file, reference):
        with open(file, "w") as out:
            objective = "reference_error" if reference else "energy"
            out.write("version: 1\nexperiment: %s\nmodel: articulated\n" % self.name)
            out.write("simulation: {%s%s}\n%s" % (self.simulation, reference, self.rest))
            out.write("objective: {minimize: %s}\n" % objective)

    def simulate(self):
        self.write(self.name + ".yaml", "")
        for words in (["run", self.name + ".yaml", "--results", "r", "--backend", "cpu", "--progress", "none"],
                      ["replay", self.name + "/0", "--results", "r", "--output", self.name + ".csv"]):
            done = run(*words)
            if done.returncode != 0:
                sys.exit("recordings.py: %s: %s" % (" ".join(words), done.stderr))
        with open(self.name + ".csv") as file:
            self.names = file.readline().strip().split(",")
            self.rows = [[float(x) for x in line.split(",")] for line in file]
        self.period = self.rows[1][0] - self.rows[0][0]

    def at(self, time):
        where = min(max(time / self.period, 0), len(self.rows) - 1.000001)
        k = int(where)
        return [(1 - where + k) * a + (where - k) * b for a, b in zip(self.rows[k], self.rows[k + 1])]


class Recording:
    """Rows of a motion as sensors see them."""

    def __init__(self, motion, draw, whole=False):
        self.motion, self.map, self.draw = motion, [], draw
        self.names, self.rows = list(motion.names), []
        self.every = draw.choice([0.002, 0.005, 0.01, 0.01, 0.02])
        jitter, first = draw.choice([0, 0, 0.1, 0.3]) * self.every, 0.0
        times = [k * self.every for k in range(int(motion.duration / self.every))]
        times = [min(max(t + draw.uniform(-jitter, jitter) / 2, 0), motion.duration) for t in times]
        if not whole and draw.random() < 0.2:
            begin = draw.choice([0.2, 0.5])
            times = [t for t in times if t > begin]
        if not whole and draw.random() < 0.3:
            times = [t for t in times if draw.random() > 0.03]
        self.rows = [motion.at(t) for t in sorted(set(times))]
        for t, row in zip(sorted(set(times)), self.rows):
            row[0] = t
        self.sense()
        if not whole:
            self.choose()

    def column(self, name):
        return [row[self.names.index(name)] for row in self.rows]

    def set(self, name, values):
        k = self.names.index(name)
        for row, value in zip(self.rows, values):
            row[k] = value

    def sense(self):
        draw = self.draw
        noise_q, noise_v = draw.choice([0, 1e-4, 1e-3, 3e-3]), draw.choice([0, 0.005, 0.05])
        ways = ["direct", "direct", "filtered", "difference"]
        way, filter_time = draw.choice(ways), draw.uniform(0.003, 0.012)
        for joint in self.motion.joints:
            q = [x + draw.gauss(0, noise_q) for x in self.column(joint + "_q")]
            v = [x + draw.gauss(0, noise_v) for x in self.column(joint + "_rate")]
            time = self.column("time")
            if way == "filtered":
                for k in range(1, len(v)):
                    v[k] = v[k - 1] + (v[k] - v[k - 1]) * (1 - math.exp(-(time[k] - time[k - 1]) / filter_time))
            if way == "difference":
                v[1:] = [(b - a) / (t - s) for a, b, s, t in zip(q, q[1:], time, time[1:])]
            self.set(joint + "_q", q)
            self.set(joint + "_rate", v)
            self.set(joint + "_torque", [x + draw.gauss(0, 0.1) for x in self.column(joint + "_torque")])
        for name in self.names:
            if name.startswith("base_"):
                noise = 2e-3 if name[5] in "xyz" else 1e-3 if name[5] == "q" else noise_v
                self.set(name, [x + draw.gauss(0, noise) for x in self.column(name)])

    def choose(self):
        kinds = [k for k in ("_q", "_rate", "_torque", "_command") if self.draw.random() < 0.7]
        base = self.draw.random() < 0.5
        kept = [n for n in self.names if n == "time" or (base and re.match("base_", n)) or
                any(n == j + k for j in self.motion.joints for k in kinds)]
        if len(kept) == 1:
            kept = [n for n in self.names if n.endswith("_q") or n == "time"]
        self.keep(kept)

    def keep(self, names):
        at = [self.names.index(n) for n in names]
        self.rows, self.names = [[row[k] for k in at] for row in self.rows], list(names)

    def check(self, number):
        file, spec = "recording%s.csv" % number, "recording%s.yaml" % number
        with open(file, "w") as out:
            out.write(",".join(self.names) + "\n")
            for row in self.rows:
                out.write(",".join(x if isinstance(x, str) else "%.7g" % x for x in row) + "\n")
        self.motion.write(spec, ", reference: {file: %s}" % ", ".join([file] + self.map))
        return run("check", spec)


# ---- what goes wrong: name, what `check` must say, how ----------------------------------------------------------------


def moving(r, suffix, least=0.1):
    names = [j + suffix for j in r.motion.joints if j + suffix in r.names]
    return [n for n in names if max(r.column(n)) - min(r.column(n)) > least]


def scaled(suffix, factor, all_of=True):
    def change(r):
        names = moving(r, suffix)
        for name in names if all_of else [r.draw.choice(names)]:
            r.set(name, [factor * x for x in r.column(name)])
    return change


def mirrored(r):
    """Both columns of a joint, which the simulation has elsewhere at its start."""
    elsewhere = [n for n in moving(r, "_q", 0.05) if abs(r.motion.rows[0][r.motion.names.index(n)]) > 0.1]
    one = r.draw.choice(elsewhere)
    for name in (one, one[:-2] + "_rate"):
        r.set(name, [-x for x in r.column(name)])


def all_mirrored(r):
    for name in r.names:
        if re.search("_(q|rate)$", name):
            r.set(name, [-x for x in r.column(name)])


def swap(r):
    a, b = r.draw.sample(moving(r, "_rate", 0.5), 2)
    x, y = r.column(a), r.column(b)
    r.set(a, y)
    r.set(b, x)


def dead(r):
    name = r.draw.choice(moving(r, "_q"))
    r.set(name, [r.rows[0][r.names.index(name)]] * len(r.rows))


def late(r):
    end = r.motion.duration
    r.set("time", [t + 0.4 * end for t in r.column("time")])
    r.rows = [row for row in r.rows if row[0] <= end]


def of_table(change):
    """Of a robot whose commands are a table; another one is drawn again."""
    def of(r):
        if not r.motion.table:
            raise ValueError
        change(r)
        r.keep([n for n in r.names if re.search("_q$|^time$", n)])
    return of


def early(r):
    if r.motion.robot == "biped" or r.motion.duration < 2:  # a biped falls, whatever it is commanded
        raise ValueError
    delayed(lambda r: moving(r, "_q"), -0.2)(r)


def frozen(r):
    driven = [n for n in moving(r, "_q", 0.2)]
    name = r.draw.choice(driven)
    r.set(name, [r.column(name)[0]] * len(r.rows))


def from_zero(r):
    for name in moving(r, "_q"):
        first = r.column(name)[0]
        r.set(name, [57.29578 * (x - first) + first for x in r.column(name)])


def delayed(names, seconds):
    """Columns as they were `seconds` before; rows at the ends are left out."""
    def change(r):
        chosen = [r.names.index(n) for n in names(r)]
        time, period = r.column("time"), r.motion.period
        for row in r.rows:
            other = r.motion.at(row[0] - seconds)
            clean = r.motion.at(row[0])
            for k in chosen:
                row[k] += other[k] - clean[k]
        r.rows = [row for row in r.rows if time[0] + abs(seconds) + period < row[0] < time[-1] - abs(seconds) - period]
    return change


def same(r):
    a, b = r.draw.sample(moving(r, "_q"), 2)
    r.set(b, r.column(a))


def times(change):
    def of(r):
        r.set("time", [change(t) for t in r.column("time")])
    return of


def repeat(r):
    k = r.draw.randrange(1, len(r.rows))
    r.rows[k][0] = r.rows[k - 1][0]


def back(r):
    k = r.draw.randrange(2, len(r.rows))
    r.rows[k][0] = r.rows[k - 2][0]


def twice(r):
    name = r.draw.choice(r.names[1:])
    r.rows = [row + [row[1]] for row in r.rows]
    r.names.append(name)


def cell(text):
    def change(r):
        r.draw.choice(r.rows)[r.draw.randrange(1, len(r.names))] = text
    return change


def hole(r):
    n = len(r.rows)
    del r.rows[int(0.4 * n):int(0.6 * n)]


def slower(r):
    n = len(r.rows) // 2
    r.rows = r.rows[:n] + r.rows[n::8]


def w_first(r):
    at = r.names.index("base_qx")
    for row in r.rows:
        row[at:at + 4] = [row[at + 3]] + row[at:at + 3]


def in_body(r):
    at, q_at = r.names.index("base_wx"), r.names.index("base_qx")
    turn = (0.5, 0.5, 0.5, 0.5)  # as if the robot stood elsewhere: its quaternion is not near 1
    for row in r.rows:
        x, y, z, w = row[q_at:q_at + 4]
        x, y, z, w = (w * turn[0] + x * turn[3] + y * turn[2] - z * turn[1],
                      w * turn[1] - x * turn[2] + y * turn[3] + z * turn[0],
                      w * turn[2] + x * turn[1] - y * turn[0] + z * turn[3],
                      w * turn[3] - x * turn[0] - y * turn[1] - z * turn[2])
        row[q_at:q_at + 4] = [x, y, z, w]
        v = row[at:at + 3]
        u = (-x, -y, -z)
        c = [u[1] * v[2] - u[2] * v[1] + w * v[0], u[2] * v[0] - u[0] * v[2] + w * v[1],
             u[0] * v[1] - u[1] * v[0] + w * v[2]]
        row[at:at + 3] = [v[0] + 2 * (u[1] * c[2] - u[2] * c[1]), v[1] + 2 * (u[2] * c[0] - u[0] * c[2]),
                          v[2] + 2 * (u[0] * c[1] - u[1] * c[0])]


def base(suffixes, factor):
    def change(r):
        for s in suffixes:
            r.set("base_" + s, [factor * x for x in r.column("base_" + s)])
    return change


def zero(r):
    name = r.draw.choice(moving(r, "_q"))
    r.set(name, [x + 0.5 for x in r.column(name)])


def without(suffix, change):
    def of(r):
        change(r)
        r.keep([n for n in r.names if not n.endswith(suffix)])
    return of


BAD = [
    ("coordinates in degrees", "degrees", scaled("_q", 57.29578)),
    ("coordinates in degrees, without rates", "degrees|range|elsewhere", without("_rate", scaled("_q", 57.29578))),
    ("coordinates and rates in degrees", "degrees|range|elsewhere",
     lambda r: (scaled("_q", 57.29578)(r), scaled("_rate", 57.29578)(r))),
    ("rates in deg/s", "deg/s", scaled("_rate", 57.29578)),
    ("rates in rpm", "multiple", scaled("_rate", 9.549297)),
    ("a rate of the other sign", "other sign", scaled("_rate", -1.0, False)),
    ("a joint of the other sign", "other way", mirrored),
    ("all joints of the other sign, and commands", "other way", of_table(all_mirrored)),
    ("a rate times 0.1", "multiple", scaled("_rate", 0.1, False)),
    ("two rates swapped", "not that of its coordinate", swap),
    ("a dead sensor", "constant", dead),
    ("a zero that is off by 0.5 rad", "elsewhere|range", zero),
    ("torques in mN m", "efforts of the motor", scaled("_torque", 1000.0)),
    ("a dead sensor, and commands", "constant", of_table(frozen)),
    ("coordinates in degrees from 0 on, and commands", "degrees", of_table(from_zero)),
    ("a sensor twice", "same numbers", same),
    ("rates that are 40 ms late", "at another time than", delayed(lambda r: moving(r, "_rate", 0.5), 0.04)),
    ("coordinates that are 40 ms late", "at another time than", delayed(lambda r: moving(r, "_q"), 0.04)),
    ("coordinates before their commands", "before its command", of_table(early)),
    ("times that are late", "late|another time|follows the commands|duration", late),
    ("times in ms", "unit: ms", times(lambda t: 1000.0 * t)),
    ("times of another clock", "offset: start", times(lambda t: t + 86400.0)),
    ("times before 0", "before 0 s", times(lambda t: t - 0.5)),
    ("a time that repeats", "time must increase", repeat),
    ("a time that goes back", "time must increase", back),
    ("a column twice", "two columns", twice),
    ("an empty cell", "has no value", cell("")),
    ("inf", "expected a number|must be finite", cell("inf")),
    ("a word", "expected a number", cell("off")),
    ("three rows", "few rows", lambda r: r.rows.__delitem__(slice(3, None))),
    ("a hole", "rows are missing", hole),
    ("a rate that jumps", "rows are missing, or their rate jumps", slower),
    ("a quaternion with w first", "w first", w_first),
    ("angular velocity in deg/s", "deg/s", base(["wx", "wy", "wz"], 57.29578)),
    ("a quaternion of length 0.5", "length is not 1", base(["qx", "qy", "qz", "qw"], 0.5)),
]
OF_BASE = ("quaternion", "angular")


def main():
    motions, good, bad = (int(word) for word in sys.argv[1:4])
    draw = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    moved = [Motion(k, draw) for k in range(motions)]
    failed = false = 0
    for k in range(good):
        done = Recording(draw.choice(moved), draw).check("g%d" % k)
        said = [x for x in re.findall(r"^reference .*warning: .*(?:\n  .*)*", done.stdout, re.M)] + (
            [done.stderr] if done.returncode else [])
        false += len(said) > 0
        for text in said[:3]:
            print("  recordingg%d: %s" % (k, text))
    print("good: %d of %d with a remark" % (false, good))
    for kind, (name, wanted, change) in enumerate(BAD):
        found = count = 0
        while count < bad:
            motion = draw.choice(moved)
            if any(word in name for word in OF_BASE) and motion.robot == "arm":
                continue
            recording = Recording(motion, draw, whole=True)
            try:
                change(recording)
            except (IndexError, ValueError):
                continue
            count += 1
            label = "b%d_%d" % (kind, count)
            done = recording.check(label)
            said = " ".join((done.stdout + done.stderr).split())
            if re.search(wanted, said):
                found += 1
            elif os.environ.get("VERBOSE"):
                print("  %s: %s" % (label, re.findall("warning: .{0,200}", said)))
        print("bad: %s: %d of %d found" % (name, found, bad))
        failed += found < 0.6 * bad
    sys.exit(1 if false or failed else 0)


main()
