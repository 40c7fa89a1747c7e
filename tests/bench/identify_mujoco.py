#!/usr/bin/env python3
"""MuJoCo's toolbox `sysid` (pip install "mujoco[sysid]==3.17.*") and `method: least_squares` on the same recordings: an
arm of two joints under position control follows four seconds of chirps. It is simulated by MuJoCo (RK4, 0.1 ms), read
100 times a second with a noise of 1 mrad, and both fit masses, armature and damping, steps of 2 ms, from the same start.

    tests/bench/identify_mujoco.py build/hopscotch [--repeats 20] [--noise 1e-3] [--integrator RK4]

The joints of the articulated model are stiff here: at the default attach_stiffness they give way by some 1e-5 m, which
is 4 mrad after four seconds and bends the parameters by up to 0.7 %. Prints the errors, how many intervals of 95 % hold the truth (calculate_intervals; fit), and seconds of the processor.
"""
import csv
import math
import os
import resource
import subprocess
import sys
import tempfile
import time

import mujoco
import numpy as np
from mujoco import sysid

ROBOT = """<mujoco><compiler angle="radian"/><option timestep="%g" integrator="%s"/><worldbody>
  <body name="upper" pos="0 0 2"><joint name="shoulder" axis="0 1 0" armature="0.02" damping="0.3"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03" mass="1.5" contype="0" conaffinity="0"/>
    <body name="lower" pos="0 0 -0.4"><joint name="elbow" axis="0 1 0" armature="0.01" damping="0.15"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.02" mass="0.6" contype="0" conaffinity="0"/>
    </body></body></worldbody>
  <actuator>%s</actuator>%s</mujoco>
"""
JOINTS = ("shoulder", "elbow")
DRIVEN = ''.join(f'<position joint="{j}" kp="30" kv="0.5"/>' for j in JOINTS)
SENSORS = "<sensor>" + "".join(f'<jointpos name="{j}_q" joint="{j}"/>' for j in JOINTS) + "</sensor>"
TRUTH = {"upper_mass": 1.5, "lower_mass": 0.6, "shoulder_armature": 0.02, "elbow_armature": 0.01,
         "shoulder_damping": 0.3, "elbow_damping": 0.15}
RANGES = {"mass": (0.3, 3.0), "armature": (0.001, 0.1), "damping": (0.0, 2.0)}
ROWS = 400


def option(name, default):
    return type(default)(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


NOISE = option("--noise", 1e-3)


def command(t):
    """Held for 20 ms."""
    t = math.floor(t / 0.02 + 1e-9) * 0.02
    return [a * math.sin(2 * math.pi * (low * t + slope * t * t))
            for a, low, slope in ((0.5, 0.2, 0.25), (0.6, 0.3, 0.2))]


def motion():
    """Angles after each 10 ms."""
    model = mujoco.MjModel.from_xml_string(ROBOT % (1e-4, "RK4", DRIVEN, ""))
    data, rows = mujoco.MjData(model), []
    for k in range(ROWS * 100):
        data.ctrl[:] = command(k * 1e-4)
        mujoco.mj_step(model, data)
        if k % 100 == 99:
            rows.append(data.qpos.copy())
    return np.array(rows)


def processor():
    return sum(usage.ru_utime + usage.ru_stime
               for usage in (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def set_number(spec, name, value):
    of, what = name.rsplit("_", 1)
    if what == "mass":
        geom = spec.body(of).first_geom()
        geom.mass = value
    else:
        current = np.array(getattr(spec.joint(of), what), dtype=float)
        if current.ndim > 0:
            current[0] = value  # the others are of powers of the rate
        setattr(spec.joint(of), what, current if current.ndim > 0 else value)


def by_mujoco(seen):
    spec = mujoco.MjSpec.from_string(ROBOT % (2e-3, option("--integrator", "RK4"), DRIVEN, SENSORS))
    model = spec.compile()
    data = mujoco.MjData(model)
    times = np.arange(ROWS * 5) * 2e-3
    control = sysid.TimeSeries(times, np.array([command(t) for t in times]))
    # Sensors of a rollout are of the beginning of a step, and its times of the end: without a step more the fit at 1e-6 rad
    # is off by up to 26 %.
    sensed = sysid.TimeSeries.from_names(np.arange(1, ROWS + 1) * 0.01 + 2e-3, seen, model)
    start = sysid.create_initial_state(model, data.qpos, data.qvel, data.act)
    params = sysid.ParameterDict()
    for name in TRUTH:
        low, high = RANGES[name.rsplit("_", 1)[1]]
        middle = math.sqrt(low * high) if low > 0 else (low + high) / 2
        params.add(sysid.Parameter(name, nominal=middle, min_value=low, max_value=high,
                                   modifier=lambda s, p, n=name: set_number(s, n, p.value[0])))
    sequences = sysid.ModelSequences("arm", spec, "chirp", start, control, sensed)
    residual = sysid.build_residual_fn(models_sequences=[sequences])
    found, result = sysid.optimize(initial_params=params, residual_fn=residual, optimizer="mujoco", verbose=False)
    left = np.concatenate([np.ravel(r) for r in residual(result.x, found)[0]])
    interval = sysid.calculate_intervals([left], result.jac)
    return {name: float(found[name].value[0]) for name in TRUTH}, np.ravel(np.asarray(interval[1]))


def by_hopscotch(seen):
    with open(os.path.join(work, "record.csv"), "w") as f:
        f.write("time,shoulder_q,elbow_q\n")
        for k, row in enumerate(seen):
            f.write(f"{0.01 * (k + 1):.2f},{row[0]:.9f},{row[1]:.9f}\n")
    for arguments in (["run", "fitted.yaml", "--progress", "none"], ["fit", "fitted/best", "--format", "csv"]):
        subprocess.run(["rm", "-rf", "results"], cwd=work) if arguments[0] == "run" else None
        out = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=work)
        if out.returncode != 0:
            sys.exit(out.stderr)
    rows = {row["parameter"]: row for row in csv.DictReader(out.stdout.splitlines())}
    return ({name: float(rows[name]["value"]) for name in TRUTH},
            {name: (float(rows[name]["low"]), float(rows[name]["high"])) for name in TRUTH})


def write_spec():
    with open(os.path.join(work, "arm.xml"), "w") as f:
        f.write(ROBOT % (2e-3, "implicitfast", "".join(f'<motor joint="{j}"/>' for j in JOINTS), ""))
    with open(os.path.join(work, "commands.csv"), "w") as f:
        f.write("time,shoulder,elbow\n" + "".join(
            f"{0.02 * k:.2f}," + ",".join(f"{x:.12f}" for x in command(0.02 * k)) + "\n" for k in range(200)))
    with open(os.path.join(work, "fitted.yaml"), "w") as f:
        f.write("version: 1\nexperiment: fitted\nmodel: articulated\nsimulation: {robot: arm.xml, terrain: none, "
                "duration: 4, dt: 0.002, order: two, control: {mode: actions, file: commands.csv}, reference: record.csv, "
                "reference_scale: none}\nparameters: {all_kp: 30, all_kd: 0.5, attach_stiffness: 1.0e9, attach_damping: 1.0e6, "
                "attach_turn_stiffness: 1.0e9, attach_turn_damping: 1.0e4}\n"
                "initial: {shoulder_start: 0, elbow_start: 0}\nsearch:\n  method: least_squares\n"
                "  least_squares: {start: center}\n  over:\n")
        for name in TRUTH:
            low, high = RANGES[name.rsplit("_", 1)[1]]
            f.write(f"    {name}: {{range: [{low}, {high}]{', scale: log' if low > 0 else ''}}}\n")
        f.write("objective: {residuals: reference}\n")


if len(sys.argv) < 2:
    sys.exit(__doc__)
program, repeats = os.path.abspath(sys.argv[1]), option("--repeats", 20)
with tempfile.TemporaryDirectory() as work:
    write_spec()
    clean = motion()
    errors, held, seconds = {"mujoco": [], "hopscotch": []}, {"mujoco": 0, "hopscotch": 0}, {"mujoco": 0, "hopscotch": 0}
    for seed in range(repeats):
        seen = clean + np.random.default_rng(seed).normal(0, NOISE, clean.shape)
        before = processor()
        found, half = by_mujoco(seen)
        seconds["mujoco"] += processor() - before
        errors["mujoco"].append([found[n] / TRUTH[n] - 1 for n in TRUTH])
        held["mujoco"] += sum(abs(found[n] - TRUTH[n]) <= half[i] for i, n in enumerate(TRUTH))
        before = processor()
        found, ends = by_hopscotch(seen)
        seconds["hopscotch"] += processor() - before
        errors["hopscotch"].append([found[n] / TRUTH[n] - 1 for n in TRUTH])
        held["hopscotch"] += sum(ends[n][0] <= TRUTH[n] <= ends[n][1] for n in TRUTH)
    for name in errors:
        each = np.array(errors[name])
        print(f"{name}: {held[name]} of {6 * repeats} intervals hold the truth; rms error "
              + ", ".join(f"{p} {100 * e:.2g} %" for p, e in zip(TRUTH, np.sqrt((each ** 2).mean(0))))
              + f"; {seconds[name] / repeats:.2f} s each")
