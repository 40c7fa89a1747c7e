"""Frames of bodies and sites (`frames` of articulated) against MuJoCo's kinematics, at the joint coordinates of samples.

    python3 tests/frames.py HOPSCOTCH

In the current folder. Positions agree to 2e-4 m, orientations to 1e-5, velocities to 5e-3 m/s: joints are springs, which
stretch as much, and rates are those of the step before.
"""
import csv
import subprocess
import sys

import mujoco
import numpy

ROBOT = """<mujoco model="arm">
  <compiler angle="radian"/>
  <worldbody>
    <body name="upper" pos="0.1 0.2 0.5" euler="0.1 0.2 0.3">
      <joint name="shoulder" type="hinge" axis="0.2 1 0.1" pos="0.02 0 0.03" damping="0.05"/>
      <inertial pos="0.05 0.02 -0.2" mass="1.2" fullinertia="0.025 0.03 0.015 0.001 0.002 0.001"/>
      <site name="elbow_mark" pos="0.01 0.02 -0.3" axisangle="0 1 0 0.4"/>
      <body name="fore" pos="0 0 -0.4" quat="0.9 0.1 0.2 0.3">
        <joint name="elbow" type="hinge" axis="0 1 0" damping="0.02"/>
        <inertial pos="0 0 -0.15" mass="0.7" diaginertia="0.01 0.01 0.002"/>
        <body name="palm" pos="0.05 0 -0.3" euler="0 0.3 0">
          <geom type="sphere" size="0.03" mass="0.2" contype="0" conaffinity="0"/>
          <frame pos="0.01 0 0" euler="0 0 0.5"><site name="hand" pos="0 0.02 -0.05" xyaxes="0 1 0 -1 0 0"/></frame>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
SPEC = """version: 1
experiment: arm
model: articulated
simulation: {robot: arm.xml, duration: 0.5, dt: 0.0005, frames: [upper, fore, palm, hand, elbow_mark]}
metrics: {tip: {final: "hypot(hand_x - 0.4, hand_z - 0.6)"}}
initial: {shoulder_start: 0.6, elbow_start: -0.4}
search: {method: grid, over: {gravity: [9.81]}}
objective: {minimize: tip}
"""
BODIES, SITES = ["upper", "fore", "palm"], ["hand", "elbow_mark"]
BOUNDS = (2e-4, 1e-5, 5e-3, 5e-3)


def row_of(sample, name):
    return [numpy.array([float(sample["%s_%s%s" % (name, kind, k)]) for k in axes])
            for kind, axes in (("", "xyz"), ("q", "wxyz"), ("v", "xyz"), ("w", "xyz"))]


def errors(model, data, sample, name):
    site = name in SITES
    view, kind = (data.site(name), mujoco.mjtObj.mjOBJ_SITE) if site else (data.body(name), mujoco.mjtObj.mjOBJ_XBODY)
    position, quaternion, velocity, turning = row_of(sample, name)
    rotation, moving = numpy.zeros(9), numpy.zeros(6)
    mujoco.mju_quat2Mat(rotation, quaternion)
    mujoco.mj_objectVelocity(model, data, kind, (model.site(name) if site else model.body(name)).id, moving, 0)
    return (abs(position - view.xpos).max(), abs(rotation - view.xmat).max(), abs(velocity - moving[3:]).max(),
            abs(turning - moving[:3]).max())


def main(hopscotch):
    for name, text in (("arm.xml", ROBOT), ("arm.yaml", SPEC)):
        with open(name, "w") as file:
            file.write(text)
    subprocess.run([hopscotch, "run", "arm.yaml", "--progress", "none"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([hopscotch, "replay", "arm/0", "--sample", "0.0005", "--output", "arm.csv"], check=True,
                   stdout=subprocess.DEVNULL)
    model = mujoco.MjModel.from_xml_path("arm.xml")
    data = mujoco.MjData(model)
    worst = numpy.zeros(4)
    with open("arm.csv") as file:
        for sample in list(csv.DictReader(file))[::50]:
            for joint in ("shoulder", "elbow"):
                data.joint(joint).qpos[0] = float(sample[joint + "_q"])
                data.joint(joint).qvel[0] = float(sample[joint + "_rate"])
            mujoco.mj_forward(model, data)
            for name in BODIES + SITES:
                worst = numpy.maximum(worst, errors(model, data, sample, name))
    print("frames against MuJoCo: position %.1e m, orientation %.1e, velocity %.1e m/s, %.1e rad/s" % tuple(worst))
    return any(worst > BOUNDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
