"""A humanoid that stands while it is pushed, in MuJoCo: joints are held by springs and dampers, and the ankles lean
against the fall of the trunk. Run by stand.yaml; needs the package `mujoco`."""

import math
import os

import mujoco
import numpy
from hopscotch.worker import Failure

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = mujoco.MjModel.from_xml_path(os.path.join(HERE, "humanoid.xml"))
DATA = mujoco.MjData(MODEL)
DURATION, SETTLED, PUSHES = 2.5, 0.4, 3  # s; the first push comes after `SETTLED` s, and each takes 0.15 s
JOINTS = [MODEL.joint(MODEL.actuator_trnid[i, 0]).name for i in range(MODEL.nu)]
Q = numpy.array([MODEL.jnt_qposadr[MODEL.actuator_trnid[i, 0]] for i in range(MODEL.nu)])
V = numpy.array([MODEL.jnt_dofadr[MODEL.actuator_trnid[i, 0]] for i in range(MODEL.nu)])


def column(hip, knee, ankle, sideways):
    """One number per actuator."""
    of = {"hip_y": hip, "hip_x": sideways, "knee": knee, "ankle_y": ankle, "ankle_x": sideways}
    return numpy.array([of[name.split("_", 1)[1]] for name in JOINTS])


FORWARD = column(0.0, 0.0, 1.0, 0.0)
SIDE = numpy.array([(1.0 if name.startswith("left") else -1.0) if name.endswith("ankle_x") else 0.0 for name in JOINTS])
HIPS = column(1.0, 0.0, 0.0, 0.0)


def simulate(hip, knee, ankle, sideways, damping, crouch, lean, lean_rate, balance, seed, trajectory):
    draw = numpy.random.default_rng(seed)
    begins = SETTLED + (DURATION - SETTLED) * (numpy.arange(PUSHES) + 0.5 * draw.random(PUSHES)) / PUSHES
    angle, force = 2 * math.pi * draw.random(PUSHES), 20 + 60 * draw.random(PUSHES)
    pushes = numpy.stack([force * numpy.cos(angle), force * numpy.sin(angle)], axis=1)

    stiffness = column(hip, knee, ankle, sideways)
    damped = damping * numpy.sqrt(stiffness)
    rest = column(-crouch, 2 * crouch, -crouch, 0.0)
    data, steps, dt = DATA, round(DURATION / MODEL.opt.timestep), MODEL.opt.timestep
    mujoco.mj_resetData(MODEL, data)
    data.qpos[Q] = rest
    data.qpos[2] -= 0.84 * (1 - math.cos(crouch))
    sway, effort, low, samples = 0.0, 0.0, 1.0, []
    for step in range(steps):
        time = step * dt
        push = numpy.nonzero((time >= begins) & (time < begins + 0.15))[0]
        data.xfrc_applied[1, :2] = pushes[push[0]] if len(push) else 0.0
        w, x, y, z = data.qpos[3:7]
        pitch = math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x))))
        roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
        forward = lean * pitch + lean_rate * data.qvel[4]
        side = lean * roll + lean_rate * data.qvel[3]
        held = stiffness * (rest - data.qpos[Q] - balance * pitch * HIPS) - damped * data.qvel[V]
        data.ctrl[:] = held + forward * FORWARD + side * SIDE
        mujoco.mj_step(MODEL, data)
        sway += dt * float(data.qpos[0] ** 2 + data.qpos[1] ** 2)
        effort += dt * float(numpy.dot(data.actuator_force, data.actuator_force))
        low = min(low, float(data.qpos[2]))
        if trajectory and step % 5 == 0:
            samples.append((time, data.qpos[2], pitch, roll))
        if data.qpos[2] < 0.6 or not math.isfinite(data.qpos[2]):
            break
    survived = (step + 1) * dt
    metrics = {"survived": survived, "low": low}
    metrics |= {"sway": math.sqrt(sway / survived), "effort": math.sqrt(effort / survived)}
    if survived < DURATION - dt / 2:
        raise Failure("fell", metrics)
    if not trajectory:
        return metrics
    return metrics, dict(zip(("time", "height", "pitch", "roll"), zip(*samples)))
