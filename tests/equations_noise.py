"""Systems with noise (model equations) against numbers of their own making, and against closed forms.

    python3 tests/equations_noise.py HOPSCOTCH TRIALS

The Brownian motion of a lane is computed here by Philox, as the program says that it does; then paths, both
integrators and maps agree with it to rounding. Moments are those of TRIALS trials, within 4.5 standard errors. Works in
the current folder.
"""
import csv
import shutil
import subprocess
import sys

import numpy

PROGRAM, TRIALS, SEED = sys.argv[1], int(sys.argv[2]), 11
ERRORS = 4.5  # standard errors: one check of 150,000 fails by chance
failed = 0


def check(good, what):
    global failed
    print(("ok   " if good else "FAIL ") + what)
    failed += not good


def near(value, expected, tolerance, what):
    apart = float(numpy.max(numpy.abs(numpy.asarray(value) - expected)))
    check(apart <= tolerance, "%s: within %.2g of it, tolerance %.2g" % (what, apart, tolerance))


def mean_is(values, expected, what, bias=0.0):
    values = numpy.asarray(values)
    error = values.std(ddof=1) / numpy.sqrt(len(values))
    apart = abs(values.mean() - expected)
    check(apart <= ERRORS * error + bias, "%s: %.6g +- %.2g, expected %.6g%s" % (
        what, values.mean(), error, expected, " +- %.2g" % bias if bias else ""))


# ---- the program ----------------------------------------------------------------------------------------------------


def spec(system, integrator, dt, duration, trials, more):
    """integrator: None (of a map), or "sra3", or "sra3 6", which refines."""
    lines = ["version: 1", "experiment: noise", "model: equations", "seed: %d" % SEED, "simulation:",
             "  duration: %r" % duration]
    lines += ["  dt: %r" % dt] if integrator else []
    words = integrator.split() if integrator else []
    lines += ["  integrator: " + words[0]] if words else []
    lines += ["  refine: " + words[1]] if len(words) > 1 else []
    lines += ["  system:"] + ["    " + line for line in system.strip().split("\n")]
    lines += ["search: {method: grid, over: {trial_number: {linspace: [1, %d, %d]}}}" % (trials, trials),
              "objective: {minimize: survived}", more or "replicates: {common: false}"]
    return "\n".join(lines) + "\n"


def run(system, integrator, dt, duration, trials=None, more=None, *options):
    """Columns of the trials by name."""
    trials = trials or TRIALS
    with open("noise.yaml", "w") as file:
        file.write(spec(system, integrator, dt, duration, trials, more))
    shutil.rmtree("results", ignore_errors=True)
    done = subprocess.run([PROGRAM, "run", "noise.yaml", "--progress", "none", *options], capture_output=True,
                          text=True)
    if done.returncode != 0:
        print("FAIL run: " + done.stderr[-800:])
        sys.exit(1)
    table = subprocess.run([PROGRAM, "query", "noise", "--columns", "all", "--format", "csv", "--limit", str(trials)],
                           capture_output=True, text=True).stdout
    rows = list(csv.DictReader(table.splitlines()))
    if len(rows) != trials or any(row["failure"] != "none" for row in rows):
        print("FAIL run: %d rows; %s" % (len(rows), {row["failure"] for row in rows}))
        sys.exit(1)
    return {name: numpy.array([float(row[name] or "nan") for row in rows]) for name in rows[0]
            if name not in ("failure",)}


# ---- its random numbers ---------------------------------------------------------------------------------------------

WORD = numpy.uint64(0xffffffff)


def philox(counter, key):
    """Salmon et al., SC 2011, section 3.3: four arrays of words, and an array of keys of 64 bits."""
    x = [numpy.asarray(c, dtype=numpy.uint64) for c in numpy.broadcast_arrays(*counter, key)[:4]]
    key = numpy.asarray(key, dtype=numpy.uint64)
    low, high = key & WORD, key >> numpy.uint64(32)
    for _ in range(10):
        a, b = numpy.uint64(0xD2511F53) * x[0], numpy.uint64(0xCD9E8D57) * x[2]
        x = [b >> numpy.uint64(32) ^ x[1] ^ low, b & WORD, a >> numpy.uint64(32) ^ x[3] ^ high, a & WORD]
        low, high = low + numpy.uint64(0x9E3779B9) & WORD, high + numpy.uint64(0xBB67AE85) & WORD
    return x


def unit(high, low):
    return ((high << numpy.uint64(32) | low) >> numpy.uint64(11)).astype(float) * 2.0**-53


def lane_seeds(trials, replicate=0, common=False):
    """The integers below 2^53 that seed lanes: purpose 4 of the campaign's numbers."""
    ordinal = numpy.zeros(trials) if common else numpy.arange(trials)
    drawn = philox([ordinal.astype(numpy.uint64), 0, replicate, 4 << 16], SEED)
    return numpy.floor(2.0**53 * unit(drawn[0], drawn[1])).astype(numpy.uint64)


def normals(seeds, interval, cut, source):
    """Two normal numbers of a source: purpose 6."""
    drawn = philox([interval, 0, cut, 6 << 16 | source], seeds)
    radius = numpy.sqrt(-2.0 * numpy.log(unit(drawn[0], drawn[1]) + 2.0**-53))
    angle = 2.0 * numpy.pi * unit(drawn[2], drawn[3])
    return radius * numpy.cos(angle), radius * numpy.sin(angle)


def increments(seeds, steps, dt, source):
    """[steps][lanes] increments and areas of the intervals of dt."""
    both = [normals(seeds, k, 0, source) for k in range(steps)]
    return numpy.array([numpy.sqrt(dt) * d for d, _ in both]), numpy.array([numpy.sqrt(dt / 12) * h for _, h in both])


# ---- the methods ----------------------------------------------------------------------------------------------------


def euler_maruyama(f, g, y, dt, D, H):
    for k in range(len(D[0])):
        t = k * dt
        y = y + dt * f(t, y) + g(t, y) * numpy.array([d[k] for d in D])
    return y


def sra3(f, g, y, dt, D, H):
    """As Roessler's table has it: A0, B0, alpha, beta1, beta2, c0, c1 of SRA3."""
    A0, B0 = [[], [1.0], [0.25, 0.25]], [[], [0.0], [1.0, 0.5]]
    alpha, beta1, beta2, c0, c1 = [1 / 6, 1 / 6, 2 / 3], [1, 0, 0], [-1, 1, 0], [0, 1, 0.5], [1, 0, 0]
    for n in range(len(D[0])):
        t, d = n * dt, numpy.array([x[n] for x in D])
        i10 = dt * (numpy.array([x[n] for x in H]) + d / 2)  # I(1,0)
        stages = []
        for i in range(3):
            inner = y + sum((A0[i][j] * dt * stages[j] for j in range(i)), 0.0)
            inner = inner + sum((B0[i][j] * g(t + c1[j] * dt, y) * i10 / dt for j in range(i)), 0.0)
            stages.append(f(t + c0[i] * dt, inner))
        y = y + dt * sum(a * s for a, s in zip(alpha, stages))
        y = y + sum((b1 * d + b2 * i10 / dt) * g(t + c * dt, y) for b1, b2, c in zip(beta1, beta2, c1))
    return y


# ---- paths to rounding ----------------------------------------------------------------------------------------------

PENDULUM = """
parameters: {c: 0.3, trial_number: 0}
states: {th: 0.4, w: 0.1, z: 0}
rates: {th: w, w: "-sin(th) - c*w + cos(time)", z: th*w}
noise: {th: {size: "0.2 + 0.1*sin(3*time)", by: wind}, w: 0.5, z: {size: "-0.7*time", by: wind}}
metrics: {th_end: {final: th}, w_end: {final: w}, z_end: {final: z}}
"""


def pendulum(t, y):
    return numpy.array([y[1], -numpy.sin(y[0]) - 0.3 * y[1] + numpy.cos(t), y[0] * y[1]])


def pendulum_noise(t, y):
    return numpy.array([0.2 + 0.1 * numpy.sin(3 * t) + 0 * y[0], 0.5 + 0 * y[0], -0.7 * t + 0 * y[0]])


def check_paths():
    lanes, dt, steps = 40, 0.05, 60
    seeds = lane_seeds(lanes)
    wind, own = increments(seeds, steps, dt, 0), increments(seeds, steps, dt, 1)
    start = numpy.array([numpy.full(lanes, v) for v in (0.4, 0.1, 0.0)])
    for name, method in (("euler_maruyama", euler_maruyama), ("sra3", sra3)):
        rows = run(PENDULUM, name, dt, dt * steps, lanes)
        y = method(pendulum, pendulum_noise, start, dt, [wind[0], own[0], wind[0]], [wind[1], own[1], wind[1]])
        near([rows["th_end"], rows["w_end"], rows["z_end"]], y, 1e-12,
             "%s: a pendulum with noise that two states share, step for step" % name)
    # a map, whose noise has the size 1 an iteration; multiplicative
    rows = run("""
parameters: {trial_number: 0}
states: {x: 1, y: 0}
next: {x: "0.9*x - 0.1*y", y: "0.5*y + x"}
noise: {x: "0.1*x", y: 0.3}
metrics: {x_end: {final: x}, y_end: {final: y}, sum: {integral: x}}
""", None, 1.0, 30.0, lanes)
    x, y, total = numpy.ones(lanes), numpy.zeros(lanes), numpy.zeros(lanes)
    first, second = increments(seeds, 30, 1.0, 0)[0], increments(seeds, 30, 1.0, 1)[0]
    for k in range(30):
        total = total + x
        x, y = 0.9 * x - 0.1 * y + 0.1 * x * first[k], 0.5 * y + x + 0.3 * second[k]
    near([rows["x_end"], rows["y_end"], rows["sum"]], [x, y, total], 1e-12, "a map with noise, iteration for iteration")
    # an instant within an interval leaves the path's ends as they are, and so does what is watched
    plain = "parameters: {trial_number: 0}\nstates: {x: 0, s: 0}\nrates: {x: 0, s: x}\nnoise: {x: 1}\n"
    ends = "metrics: {x_end: {final: x}, s_end: {final: s}%s}\n"
    for name in ("euler_maruyama", "sra3"):
        rows = run(plain + ends % "", name, dt, dt * steps, lanes)
        path, area = increments(seeds, steps, dt, 0)
        near(rows["x_end"], path.sum(axis=0), 1e-12, "%s: W itself" % name)
        subprocess.run([PROGRAM, "replay", "noise/7", "-o", "path.csv"], capture_output=True, check=True)
        with open("path.csv") as file:
            samples = [float(row["x"]) for row in csv.DictReader(file)]
        near(samples, numpy.concatenate([[0.0], numpy.cumsum(path[:, 7])]), 1e-12, "%s: W as a trajectory" % name)
        before = numpy.cumsum(path, axis=0) - path
        if name == "sra3":
            near(rows["s_end"], (dt * (before + path / 2 + area)).sum(axis=0), 1e-12, "sra3: the integral of W")
        other = run(plain + "events: [{name: look, every: 0.0173}, {name: up, crosses: x - 0.2}, {at: 1.11}]\n" +
                    ends % ", part: {part: x > 0.3}, looks: {count: look}, ups: {count: up}", name, dt, dt * steps,
                    lanes)
        near(other["x_end"], rows["x_end"], 1e-11, "%s: W is the same with instants and events" % name)
        if name == "sra3":
            near(other["s_end"], rows["s_end"], 1e-11, "sra3: and so is its integral")
        check((other["looks"] == 174).all() and other["ups"].sum() > lanes, "%s: %d instants, %d events" % (
            name, other["looks"].sum(), other["ups"].sum()))
        # modes whose instants are others: pieces of pieces
        other = run("""
parameters: {trial_number: 0}
states: {x: 0, s: 0}
rates: {x: 0, s: x}
noise: {x: 1}
modes:
  slow: {events: [{name: a, every: 0.031}, {crosses: x - 0.1, to: fast}]}
  fast: {events: [{name: b, every: 0.0013}, {crosses: x + 0.1, to: slow}, {crosses: s, to: slow}]}
""" + ends % ", slow: {count: a}, fast: {count: b}", name, dt, dt * steps, lanes)
        near(other["x_end"], rows["x_end"], 1e-11, "%s: W is the same where modes have instants of their own" % name)
        if name == "sra3":
            near(other["s_end"], rows["s_end"], 1e-11, "sra3: and so is its integral")
        check(other["slow"].min() > 0 and other["fast"].max() > 1000, "%s: %d and %d instants" % (
            name, other["slow"].sum(), other["fast"].sum()))
        other = run(plain + "events: [{name: up, crosses: x - 0.2}]\n" + ends % ", ups: {count: up}", name + " 5", dt,
                    dt * steps, lanes)
        near(other["x_end"], rows["x_end"], 1e-11, "%s: W is the same where steps near guards are halved" % name)
        if name == "sra3":
            near(other["s_end"], rows["s_end"], 1e-11, "sra3: and so is its integral")
    watched = "parameters: {trial_number: 0}\nstates: {x: 1}\nheld: {n: 0}\nrates: {x: 0}\nnoise: {x: 0.8*x}\n"
    rows = run(watched + "metrics: {x_end: {final: x}}", "euler_maruyama", dt, dt * steps, lanes)
    other = run(watched + "events: [{name: up, crosses: x - 0.9, set: {n: n + 1}}]\n"
                "metrics: {x_end: {final: x}, part: {part: x > 0.7}, ups: {count: up}, n_end: {final: n}}",
                "euler_maruyama", dt, dt * steps, lanes)
    near(other["x_end"], rows["x_end"], 1e-11, "euler_maruyama: what is watched does not change what noise does")
    check((other["ups"] == other["n_end"]).all() and other["ups"].sum() > lanes, "each crossing is one event")
    # replicates: with common numbers trials meet the same noise
    rows = run(plain + ends % "", "sra3", dt, dt * steps, lanes, "replicates: {count: 3}")
    ends_of = [increments(lane_seeds(lanes, r, True), steps, dt, 0)[0].sum(axis=0) for r in range(3)]
    near(rows["x_end"], numpy.mean(ends_of, axis=0), 1e-12, "replicates: common numbers are those of the replicate")


# ---- orders ---------------------------------------------------------------------------------------------------------


def order(errors, steps):
    return -numpy.polyfit(numpy.log(steps), numpy.log(errors), 1)[0]


def check_orders():
    """Strong orders by exact solutions of the system's own path: W is a state that shares its source."""
    lanes, counts = 2000, [16, 32, 64, 128]
    geometric = """
parameters: {trial_number: 0}
states: {x: 1, W: 0}
rates: {x: 0.5*x, W: 0}
noise: {x: {size: "0.8*x", by: w}, W: {size: 1, by: w}}
metrics: {x_end: {final: x}, W_end: {final: W}}
"""
    # P. E. Kloeden & E. Platen 1992, 4.4: additive noise, X = (1 + t + a W)/sqrt(1 + t)
    additive = """
parameters: {trial_number: 0}
states: {x: 1, W: 0}
rates: {x: "1/sqrt(1 + time) - x/(2*(1 + time))", W: 0}
noise: {x: {size: "0.5/sqrt(1 + time)", by: w}, W: {size: 1, by: w}}
metrics: {x_end: {final: x}, W_end: {final: W}}
"""
    cases = [("geometric Brownian motion", geometric, "euler_maruyama", 0.5, lambda W: numpy.exp(0.5 - 0.32 + 0.8 * W)),
             ("additive noise", additive, "euler_maruyama", 1.0, lambda W: (2 + 0.5 * W) / numpy.sqrt(2)),
             ("additive noise", additive, "sra3", 1.5, lambda W: (2 + 0.5 * W) / numpy.sqrt(2))]
    for what, system, integrator, expected, exact in cases:
        errors = []
        for steps in counts:
            rows = run(system, integrator, 1.0 / steps, 1.0, lanes)
            errors.append(numpy.abs(rows["x_end"] - exact(rows["W_end"])).mean())
        found = order(errors, counts)
        check(found > expected - 0.12 and (expected == 1.5 or found < expected + 0.12),
              "%s, %s: strong order %.2f, expected %g; errors %s" % (
                  what, integrator, found, expected, " ".join("%.2g" % e for e in errors)))
    # sra3, for rates that are not linear: coarse increments of the path that the finest steps have
    fine, lanes = 1024, 400
    seeds = lane_seeds(lanes)
    D, H = increments(seeds, fine, 1.0 / fine, 0)
    f, g = lambda t, y: y - y**3, lambda t, y: 0.7 + 0 * y
    reference = sra3(f, g, numpy.zeros((1, lanes)), 1.0 / fine, [D], [H])
    errors = []
    for steps in counts:
        ratio = fine // steps
        d = D.reshape(steps, ratio, lanes)
        before = numpy.cumsum(d, axis=1) - d
        mean = (before + d / 2 + H.reshape(steps, ratio, lanes)).mean(axis=1)
        total = d.sum(axis=1)
        y = sra3(f, g, numpy.zeros((1, lanes)), 1.0 / steps, [total], [mean - total / 2])
        errors.append(numpy.abs(y - reference).mean())
    found = order(errors, counts)
    check(found > 1.4, "the table of sra3 for a double well on one path: strong order %.2f" % found)
    rows = run("parameters: {trial_number: 0}\nstates: {x: 0}\nrates: {x: x - x^3}\nnoise: {x: 0.7}\n"
               "metrics: {x_end: {final: x}}", "sra3", 1.0 / fine, 1.0, lanes)
    near(rows["x_end"], reference[0], 1e-12, "which is that of the program")


# ---- moments --------------------------------------------------------------------------------------------------------


def covariance_is(a, b, expected, what):
    a, b = numpy.asarray(a), numpy.asarray(b)
    mean_is((a - a.mean()) * (b - b.mean()), expected, what)


def check_moments():
    """Ornstein & Uhlenbeck, Phys. Rev. 36, 1930: at 2 s and at an instant between steps; its integral."""
    k, s, T, half = 1.5, 0.8, 2.0, 1.3037
    system = """
parameters: {k: {value: 1.5, unit: 1/s}, s: {value: 0.8, unit: m/s^0.5}, trial_number: 0}
states: {x: {start: 1, unit: m}}
held: {h: {start: 0, unit: m}}
rates: {x: -k*x}
noise: {x: s}
events: [{name: half, at: 1.3037, set: {h: x}}]
metrics: {x_end: {final: x}, x_half: {final: h}, area: {integral: x}}
"""
    rows = run(system, "sra3", 0.02, T)
    variance = lambda t: s * s / 2 / k * (1 - numpy.exp(-2 * k * t))
    mean_is(rows["x_end"], numpy.exp(-k * T), "Ornstein-Uhlenbeck: mean")
    mean_is(rows["x_half"], numpy.exp(-k * half), "at an instant between steps")
    covariance_is(rows["x_end"], rows["x_end"], variance(T), "variance")
    covariance_is(rows["x_half"], rows["x_half"], variance(half), "at an instant between steps")
    covariance_is(rows["x_end"], rows["x_half"], variance(half) * numpy.exp(-k * (T - half)), "autocovariance")
    area = s * s / k / k * (T - 2 * (1 - numpy.exp(-k * T)) / k + (1 - numpy.exp(-2 * k * T)) / 2 / k)
    mean_is(rows["area"], (1 - numpy.exp(-k * T)) / k, "its integral: mean")
    covariance_is(rows["area"], rows["area"], area, "variance")
    # the stationary variance of the methods: euler_maruyama has sigma^2/(2 k)/(1 - k dt/2)
    rows = run(system, "euler_maruyama", 0.2, 8.0)
    covariance_is(rows["x_end"], rows["x_end"], s * s / 2 / k / (1 - k * 0.1), "euler_maruyama: variance, large steps")
    # pieces of one interval: what instants cut has the covariances of Brownian motion
    rows = run("""
parameters: {trial_number: 0}
states: {w: 0, s: 0}
held: {w1: 0, s1: 0, w2: 0, s2: 0}
rates: {w: 0, s: w}
noise: {w: 1}
events: [{at: 0.13, set: {w1: w, s1: s}}, {at: 0.37, set: {w2: w, s2: s}}]
metrics: {w_1: {final: w1}, s_1: {final: s1}, w_2: {final: w2}, s_2: {final: s2}, w_3: {final: w}, s_3: {final: s}}
""", "sra3", 1.0, 0.8)
    times = [0.13, 0.37, 0.8]
    for i, u in enumerate(times):
        for j, v in enumerate(times[i:], i):
            w, s_u = rows["w_%d" % (i + 1)], rows["s_%d" % (i + 1)]
            w_v, s_v = rows["w_%d" % (j + 1)], rows["s_%d" % (j + 1)]
            covariance_is(w, w_v, u, "W at %g and at %g s" % (u, v))
            covariance_is(w, s_v, u * v - u * u / 2, "W at %g, its integral to %g s" % (u, v))
            covariance_is(s_u, w_v, u * u / 2, "its integral to %g, W at %g s" % (u, v))
            covariance_is(s_u, s_v, u * u * v / 2 - u**3 / 6, "its integrals to %g and %g s" % (u, v))
    # a stationary map: x = 0.8 x + N(0, 0.6^2)
    rows = run("parameters: {trial_number: 0}\nstates: {x: 0}\nnext: {x: 0.8*x}\nnoise: {x: 0.6}\n"
               "metrics: {x_end: {final: x}}", None, 1.0, 60.0)
    covariance_is(rows["x_end"], rows["x_end"], 1.0, "a map: stationary variance")
    # one source, of opposite signs
    rows = run("parameters: {trial_number: 0}\nstates: {a: 0, b: 0, c: 0}\nrates: {a: 0, b: 0, c: 0}\n"
               "noise: {a: {size: 1, by: u}, b: {size: -2, by: u}, c: 1}\n"
               "metrics: {a_end: {final: a}, b_end: {final: b}, c_end: {final: c}}", "sra3", 0.1, 1.0)
    near(rows["b_end"], -2 * rows["a_end"], 1e-12, "one source drives two states")
    covariance_is(rows["a_end"], rows["c_end"], 0.0, "another is independent")


# ---- events ---------------------------------------------------------------------------------------------------------

SHIFT = 0.5825971579390106  # -zeta(1/2)/sqrt(2 pi): S. Asmussen, P. Glynn & J. Pitman, Ann. Appl. Probab. 5, 1995


def siegert(begin, end, tau):
    """sqrt(pi) tau integral of exp(u^2) (1 + erf u): A. J. F. Siegert, Phys. Rev. 81, 1951."""
    u = numpy.linspace(-8.0, end, 200001)
    h = u[1] - u[0]
    gauss = numpy.exp(-u * u)
    below = numpy.concatenate([[0.0], numpy.cumsum((gauss[1:] + gauss[:-1]) / 2) * h]) * 2 / numpy.sqrt(numpy.pi)
    rate = numpy.exp(u * u) * below  # 1 + erf u from below -8 on
    inside = u >= begin
    return tau * numpy.sqrt(numpy.pi) * ((rate[1:] + rate[:-1]) / 2 * inside[1:]).sum() * h


def check_events():
    trials = max(TRIALS // 20, 500)
    fires = """
parameters: {trial_number: 0}
states: {x: 0, W: 0}
rates: {x: 1, W: 0}
noise: {x: {size: 0.9, by: w}, W: {size: 1, by: w}}
events: [{name: fires, rises: x - 1, set: {x: x - 1}}]
metrics: {n: {count: fires}, x_end: {final: x}, W_end: {final: W}}
"""
    reset = fires.replace("set: {x: x - 1}", "set: {x: 0}")
    for integrator in ("euler_maruyama", "sra3"):
        for what, system in (("moved back", fires), ("reset", reset)):
            rows = run(system, integrator, 0.01, 50.0, trials)
            near(rows["n"] + rows["x_end"], 50.0 + 0.9 * rows["W_end"], 1e-9,
                 "%s: a neuron that is %s loses no noise" % (integrator, what))
            mean_is(rows["n"], 50.0 - rows["x_end"].mean(), "%s: a neuron that is %s: its rate" % (integrator, what))
    # first passage, seen at the ends of steps: of a level that is 0.58 sigma sqrt(dt) farther
    passage = "parameters: {trial_number: 0}\nstates: {x: 0}\nrates: {x: 1}\nnoise: {x: 0.9}\n" \
              "events: [{name: there, rises: x - 1, stop: true}]\nmetrics: {n: {count: there}}"
    for dt in (0.04, 0.01):
        rows = run(passage, "sra3", dt, 100.0)
        mean_is(rows["survived"], 1 + SHIFT * 0.9 * numpy.sqrt(dt), "first passage of Brownian motion, dt %g" % dt,
                0.3 * dt)
        check((rows["n"] == 1).all(), "each trial has one")
    rows = run(passage, "sra3 8", 0.04, 100.0)
    mean_is(rows["survived"], 1 + SHIFT * 0.9 * numpy.sqrt(0.04 / 256), "the same, dt 0.04 halved 8 times near it",
            0.006)
    # what decides where steps are halved is no noise that is still to come: x stays a martingale
    rows = run("parameters: {trial_number: 0}\nstates: {x: 1}\nrates: {x: 0}\nnoise: {x: 0.8*x}\n"
               "events: [{name: up, rises: x - 1.3}, {name: down, crosses: x - 0.9}]\n"
               "metrics: {x_end: {final: x}, ups: {count: up}}", "euler_maruyama 6", 0.1, 1.0)
    mean_is(rows["x_end"], 1.0, "a martingale with halved steps")
    # of Ornstein-Uhlenbeck from 0 to a
    dt, k, s, a = 0.01, 1.0, 1.0, 0.7
    rows = run("parameters: {trial_number: 0}\nstates: {x: 0}\nrates: {x: -x}\nnoise: {x: 1}\n"
               "events: [{name: there, rises: x - 0.7, stop: true}]\nmetrics: {n: {count: there}}", "sra3", dt, 200.0,
               max(TRIALS // 5, 500))
    mean_is(rows["survived"], siegert(0.0, (a + SHIFT * s * numpy.sqrt(dt)) * numpy.sqrt(k) / s, 1 / k),
            "first passage of Ornstein-Uhlenbeck", 0.02)
    # a leaky neuron: Siegert's formula from the reset to the threshold, in units of the deviation times sqrt(2)
    rows = run("""
parameters: {trial_number: 0}
states: {u: 0}
rates: {u: "(0.6 - u)/0.1"}
noise: {u: "0.3*sqrt(2/0.1)"}
events: [{name: spike, rises: u - 1, set: {u: 0}}]
metrics: {spikes: {count: spike}}
""", "sra3 8", 0.005, 200.0, max(TRIALS // 1000, 20))
    shift = SHIFT * 0.3 * numpy.sqrt(20 * 0.005 / 256)
    unit_of_u = 0.3 * numpy.sqrt(2)
    rate = lambda shift: 200.0 / siegert(-0.6 / unit_of_u, (1 + shift - 0.6) / unit_of_u, 0.1)
    mean_is(rows["spikes"], rate(shift), "a leaky neuron: its rate", rate(0) - rate(shift))
    # a controller that pushes to the side on which the state is not: the stationary mean of |x| is s^2/(2 u)
    rows = run("""
parameters: {trial_number: 0}
states: {x: 0.1}
modes:
  above: {rates: {x: -1}, events: [{name: down, falls: x, to: below}]}
  below: {rates: {x: 1}, events: [{name: up, rises: x, to: above}]}
noise: {x: 1}
metrics: {size: {final: abs(x)}, ups: {count: up}, downs: {count: down}}
""", "euler_maruyama", 0.002, 8.0, max(TRIALS // 5, 500))
    mean_is(rows["size"], 0.5, "two modes that push to each other: mean of |x|", 0.02)
    check((numpy.abs(rows["ups"] - rows["downs"]) <= 1).all(), "one follows the other")


check_paths()
check_orders()
check_moments()
check_events()
sys.exit(failed > 0)
