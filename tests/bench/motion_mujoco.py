#!/usr/bin/env python3
"""Robots side by side with MuJoCo, in one run on one core: how exact both are at the same time step, and how many steps
they do per second of processor time, as medians of runs by turns. With --equal-error: how many seconds of motion both
simulate per second of processor time at errors of 1e-3, 1e-4 and 1e-5, by `order: one` and `two`, MuJoCo's implicitfast
and its Runge-Kutta.

    tests/bench/motion_mujoco.py build/hopscotch [--equal-error] [FOLDER OF G1]

A pendulum, a chain of ten rods with 100 kg at its end (joints of 1e6 N/m, the default, and of 1e9 N/m), and the Unitree
G1 in flight, standing and walking by commands (default folder: ../shared/data/g1; skipped without it). Both get the
same masses, gains and commands, no dry friction, and of all contacts those of the feet with the ground. The reference
without contact is MuJoCo's Runge-Kutta at 1/15360 s. With contact each is its own reference at that step, because the
two models of contact differ.
Needs the Python package mujoco (pip install mujoco); without it, it says so and succeeds.
"""
import csv
import io
import json
import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from skip import skip  # noqa: E402

try:
    import mujoco
    import numpy as np
    from mujoco import rollout
except ImportError:
    skip("motion_mujoco", "all of it", "Python's mujoco and numpy", "pip install mujoco")
    sys.exit(0)

REPEATS = 5
LANES = 256
RATES = (240, 480, 960)  # steps per second
FINE = 15360
RATE_OF_SPEED = 500
RATES_OF_ERRORS = (60, 120, 240, 480, 960, 1920, 3840, 7680)
TARGETS = (1e-3, 1e-4, 1e-5)

PENDULUM = """<mujoco><worldbody><body name="rod" pos="0 0 2"><joint name="pin" axis="0 1 0"/>
<inertial pos="0 0 -.5" mass="1" diaginertia=".0834 .0834 .001"/></body></worldbody></mujoco>"""


class Case:
    def __init__(self, name, file, joints, duration, kp=None, kd=None, start=None, gait=None, contact=False, height=0.0,
                 gravity=9.81, attach=1e6):
        self.name, self.file, self.joints, self.duration = name, file, joints, duration
        self.kp, self.kd, self.start, self.gait = kp, kd, start or {}, gait or {}
        self.contact, self.height, self.gravity, self.attach = contact, height, gravity, attach


# ---- hopscotch ------------------------------------------------------------------------------------------------------

def spec_of(case, rate, duration, lanes=1, order="one"):
    initial = {f"{joint}_start": angle for joint, angle in case.start.items()}
    numbers = {"gravity": case.gravity, "attach_stiffness": case.attach}
    simulation = {"robot": case.file, "dt": 1 / rate, "duration": duration, "order": order}
    if case.kp:
        numbers |= {f"{j}_kp": k for j, k in zip(case.joints, case.kp)}
        numbers |= {f"{j}_kd": k for j, k in zip(case.joints, case.kd)}
        numbers |= {f"{j}_friction": 0 for j in case.joints}
        initial |= {"base_z": case.height}
        simulation |= {"ignore": ["mesh"], "terrain": "flat"}
    if case.gait:
        simulation |= {"control": {"mode": "gait"}}
        numbers |= {f"{j}_amplitude": 0 for j in case.joints if j not in case.gait} | {"gait_frequency": 1.5}
        for joint, (offset, amplitude, phase) in case.gait.items():
            numbers |= {f"{joint}_offset": offset, f"{joint}_amplitude": amplitude, f"{joint}_phase": phase}
    spec = {"version": 1, "experiment": "motion", "model": "articulated", "simulation": simulation,
            "parameters": numbers, "initial": initial, "objective": {"minimize": "distance"}}
    if lanes > 1:  # lanes that differ a little
        del numbers["gravity"]
        spec["search"] = {"method": "grid",
                          "over": {"gravity": {"linspace": [case.gravity, case.gravity + 0.01, lanes]}}}
    return spec


class Failure(Exception):
    pass


def hopscotch(*arguments):
    out = subprocess.run([program, *arguments], capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit(out.stderr)
    return out.stdout


def run_ours(case, rate, duration, lanes, folder, order="one"):
    spec = os.path.join(folder, "motion.yaml")
    with open(spec, "w") as f:
        json.dump(spec_of(case, rate, duration, lanes, order), f)
    shutil.rmtree(os.path.join(folder, "results"), ignore_errors=True)
    summary = json.loads(hopscotch("run", spec, "--backend", "cpu", "--threads", "1", "--progress", "none", "--json",
                                   "--results", os.path.join(folder, "results")))
    if summary["failures"] > 0:
        raise Failure(f"{case.name}: {summary['failures']} lanes failed")


class Motion:
    """Where a robot is at the end: joints (rad), base (m), and the mean force of the ground (N)."""

    def __init__(self, joints, base, force):
        self.joints, self.base, self.force = np.array(joints), np.array(base), force


def ours(case, rate, folder, order="one"):
    run_ours(case, rate, case.duration, 1, folder, order)
    results = os.path.join(folder, "results")
    rows = list(csv.DictReader(io.StringIO(hopscotch("replay", "motion/0", "--results", results, "-o", "-"))))
    trial = list(csv.DictReader(io.StringIO(hopscotch(
        "query", "motion", "--results", results, "--columns", "ground_force_mean", "--format", "csv"))))[0]
    last = rows[-1]
    assert abs(float(last["time"]) - case.duration) < 1e-9, last["time"]
    return Motion([float(last[f"{j}_q"]) for j in case.joints], [float(last[f"base_{a}"]) for a in "xyz"],
                  float(trial["ground_force_mean"]))


def processor_time(case, duration, lanes, folder, order):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run_ours(case, RATE_OF_SPEED, duration, lanes, folder, order)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def speed_of_ours(case, lanes, folder, order="one"):
    """Without what a run of one step takes."""
    duration = 2.0 if lanes > 1 else 20.0
    one_step = processor_time(case, 1 / RATE_OF_SPEED, lanes, folder, order)
    seconds = processor_time(case, duration, lanes, folder, order) - one_step
    return lanes * (duration * RATE_OF_SPEED - 1) / seconds


# ---- MuJoCo ---------------------------------------------------------------------------------------------------------

def without_meshes(spec):
    for geom in list(spec.geoms):
        if geom.type == mujoco.mjtGeom.mjGEOM_MESH:
            spec.delete(geom)
        else:
            geom.contype = 0  # the ground's contype meets conaffinity
    for thing in spec.meshes + spec.materials + spec.textures + spec.sensors:
        spec.delete(thing)


def add_motors(spec, case):
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    for joint, kp, kd in zip(case.joints, case.kp, case.kd):
        motor = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.gaintype, motor.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        motor.gainprm[0], motor.biasprm[1], motor.biasprm[2] = kp, -kp, -kd


def model_of(case, rate, integrator, folder):
    spec = mujoco.MjSpec.from_file(os.path.join(folder, case.file))
    without_meshes(spec)
    if case.kp:
        add_motors(spec, case)
    if case.contact:
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 1], contype=1, conaffinity=0)
    model = spec.compile()
    model.opt.timestep = 1 / rate
    model.opt.integrator = integrator
    model.opt.gravity[2] = -case.gravity
    model.dof_frictionloss[:] = 0
    return model


def commands_of(case, rate, steps, at):
    """Of each step, at this part of it."""
    t = (np.arange(steps) + at) / rate
    control = np.zeros((1, steps, len(case.joints) if case.kp else 0))
    for i, joint in enumerate(case.joints):
        offset, amplitude, phase = case.gait.get(joint, (case.start.get(joint, 0.0), 0.0, 0.0))
        if case.kp:
            control[0, :, i] = offset + amplitude * np.sin(2 * np.pi * 1.5 * t + phase)
    return control


def start_of(case, model):
    data = mujoco.MjData(model)
    for joint, angle in case.start.items():
        data.qpos[model.joint(joint).qposadr[0]] = angle
    if case.kp:
        data.qpos[2] += case.height
    mujoco.mj_forward(model, data)
    return data


def speed_upwards(model, data):
    mujoco.mj_forward(model, data)
    mujoco.mj_subtreeVel(model, data)
    return data.subtree_linvel[0, 2]


def theirs(case, rate, integrator, folder, at=0.0):
    model = model_of(case, rate, integrator, folder)
    data, steps = start_of(case, model), round(case.duration * rate)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, state, kind)
    before = speed_upwards(model, data)
    states, _ = rollout.rollout(model, data, state[None], commands_of(case, rate, steps, at))
    mujoco.mj_setState(model, data, states[0, -1], kind)
    mass = mujoco.mj_getTotalmass(model)
    force = mass * (case.gravity + (speed_upwards(model, data) - before) / case.duration)
    return Motion([data.joint(j).qpos[0] for j in case.joints], data.qpos[:3] if case.kp else np.zeros(3), force)


def speed_of_theirs(case, integrator, folder):
    model = model_of(case, RATE_OF_SPEED, integrator, folder)
    data, steps = start_of(case, model), 5000 if len(case.joints) > 1 else 50000
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, state, kind)
    control = commands_of(case, RATE_OF_SPEED, steps, 0.0)
    start = time.process_time()
    rollout.rollout(model, data, state[None], control)
    return steps / (time.process_time() - start)


# ---- tables ---------------------------------------------------------------------------------------------------------

RK4 = mujoco.mjtIntegrator.mjINT_RK4
FAST = mujoco.mjtIntegrator.mjINT_IMPLICITFAST


def off(motion, reference, case):
    if case.contact:
        return np.linalg.norm(motion.base - reference.base)
    return np.abs(motion.joints - reference.joints).max()


def show_errors(case, folder):
    fine = theirs(case, FINE, RK4, folder, 0.5)
    for who, motion in (("hopscotch", lambda rate: ours(case, rate, folder)),
                        ("MuJoCo", lambda rate: theirs(case, rate, FAST, folder))):
        reference = motion(FINE) if case.contact else fine
        motions = [motion(rate) for rate in RATES]
        errors = [off(m, reference, case) for m in motions]
        text = " ".join(f"{e:10.2e}" for e in errors)
        ratio = errors[0] / errors[2]
        order = math.log2(ratio) / 2 if ratio > 0 and errors[2] > 0 else math.nan
        print(f"{case.name:20} {who:9} {text} {'m' if case.contact else 'rad':4} {order:5.2f}"
              + (f" {motions[1].force:8.1f} N" if case.contact else ""), flush=True)


def show_speeds(case, folder):
    numbers = {"many": [], "one": [], "MuJoCo": [], "ratio": []}
    for _ in range(REPEATS):
        many, one = (speed_of_ours(case, lanes, folder) for lanes in (LANES, 1))
        other = speed_of_theirs(case, FAST, folder)
        for name, value in (("many", many), ("one", one), ("MuJoCo", other), ("ratio", many / other)):
            numbers[name].append(value)
    many, one, other, ratio = (statistics.median(values) for values in numbers.values())
    print(f"{case.name:20} {many:12,.0f} {one:12,.0f} {other:12,.0f} {ratio:7.1f}", flush=True)


def rate_at(target, errors):
    """The least rate from which on the error is at most the target, between two rates by a straight line of logarithms;
    None: at no rate."""
    for k in range(len(errors) - 1, -1, -1):
        if not errors[k] <= target:
            break
    else:
        return RATES_OF_ERRORS[0]
    if k + 1 == len(errors):
        return None
    fraction = 1.0 if not math.isfinite(errors[k]) or errors[k + 1] == 0 else (
        math.log(errors[k] / target) / math.log(errors[k] / errors[k + 1]))
    return RATES_OF_ERRORS[k] * (RATES_OF_ERRORS[k + 1] / RATES_OF_ERRORS[k]) ** fraction


def error_at(rate, motion, reference, case):
    try:
        return off(motion(rate), reference, case)
    except Failure:
        return math.inf


def show_equal_error(case, folder):
    """The reference of each program is its own more exact method at a step a fourth of the finest here."""
    ways = (("hopscotch, one", lambda r: ours(case, r, folder), lambda: speed_of_ours(case, LANES, folder)),
            ("hopscotch, two", lambda r: ours(case, r, folder, "two"),
             lambda: speed_of_ours(case, LANES, folder, "two")),
            ("MuJoCo, implicitfast", lambda r: theirs(case, r, FAST, folder),
             lambda: speed_of_theirs(case, FAST, folder)),
            ("MuJoCo, RK4", lambda r: theirs(case, r, RK4, folder, 0.5), lambda: speed_of_theirs(case, RK4, folder)))
    references = [way[1](4 * RATES_OF_ERRORS[-1]) for way in ways[1::2]]
    speeds = [[] for _ in ways]
    for _ in range(REPEATS):
        for way, own in zip(ways, speeds):
            own.append(way[2]())
    for i, way in enumerate(ways):
        errors = [error_at(rate, way[1], references[i // 2], case) for rate in RATES_OF_ERRORS]
        speed = statistics.median(speeds[i])
        rates = [rate_at(target, errors) for target in TARGETS]
        print(f"{case.name:20} {way[0]:21}" + "".join(f"{e:9.1e}" for e in errors) + f" {speed:12,.0f}"
              + "".join(f"{'-':>9}" if rate is None else f"{speed / rate:9,.0f}" for rate in rates), flush=True)


def g1_cases(g1, folder):
    shutil.copy(os.path.join(g1, "unitree_mujoco_g1_29dof.xml"), os.path.join(folder, "g1.xml"))
    with open(os.path.join(g1, "g1_joints.csv")) as f:
        rows = [row for row in csv.DictReader(f) if row["pd_kp_mimickit"]]
    joints = [row["name"] for row in rows]
    kp, kd = ([float(row[f"pd_{k}_mimickit"]) for row in rows] for k in ("kp", "kd"))
    gait = {}
    for side, phase in (("left", 0.0), ("right", math.pi)):
        gait[f"{side}_hip_pitch_joint"] = (0.0, -0.3, phase)
        gait[f"{side}_knee_joint"] = (0.3, 0.2, phase)
    return [Case("G1 in flight", "g1.xml", joints, 0.5, kp, kd, gait=gait, height=3.0, gravity=0.0),
            Case("G1 stands", "g1.xml", joints, 0.5, kp, kd, contact=True),
            Case("G1 walks", "g1.xml", joints, 1.0, kp, kd, gait=gait, contact=True)]


def main():
    named = [word for word in sys.argv[2:] if word != "--equal-error"]
    g1 = os.path.abspath(named[0] if named else "../shared/data/g1")
    rods = [f"pin{i}" for i in range(1, 11)]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "pendulum.xml"), "w") as f:
            f.write(PENDULUM)
        shutil.copy("experiments/robots/chain.xml", folder)
        os.chdir(folder)  # MuJoCo writes its log where it runs
        cases = [Case("pendulum", "pendulum.xml", ["pin"], 1.0, start={"pin": 1.5}),
                 Case("chain of ten", "chain.xml", rods, 1.0, start={"pin1": 0.5}),
                 Case("chain, stiff joints", "chain.xml", rods, 1.0, start={"pin1": 0.5}, attach=1e9)]
        if os.path.isdir(g1):
            cases += g1_cases(g1, folder)
        else:
            skip("motion_mujoco", "the G1", f"its files in {g1}", "name their folder")
        if "--equal-error" in sys.argv:
            rates = ", ".join(f"1/{rate}" for rate in RATES_OF_ERRORS)
            print(f"error (rad, m) at {rates} s; steps per second, {LANES} lanes or MuJoCo {mujoco.__version__}; seconds "
                  "of motion per second at " + ", ".join(map(str, TARGETS)))
            for case in cases:
                show_equal_error(case, folder)
            return
        print(f"error after the case's duration at 1/{RATES[0]}, 1/{RATES[1]} and 1/{RATES[2]} s, order; ground force")
        for case in cases:
            show_errors(case, folder)
        print(f"steps per second at 1/{RATE_OF_SPEED} s: {LANES} lanes, one lane, MuJoCo {mujoco.__version__}, ratio")
        for case in cases:
            show_speeds(case, folder)


if len(sys.argv) < 2:
    sys.exit(__doc__)
program = os.path.abspath(sys.argv[1])
main()
