#!/usr/bin/env python3
"""Masses, centres, inertias, frames, limits, motors and keyframes of robots, as read here and by MuJoCo, to 1e-9.

    tests/bench/robot_mujoco.py build/bench_robot [ROBOT.xml [IGNORED...]]

Without a robot: those below, which use all that is read. Needs the Python package mujoco (pip install mujoco); without
it, it says so and succeeds.
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from skip import skip  # noqa: E402

try:
    import mujoco
    import numpy as np
except ImportError:
    skip("robot_mujoco", "all of it", "Python's mujoco and numpy", "pip install mujoco")
    sys.exit(0)

VERSION = [int(part) for part in mujoco.__version__.split(".")[:2]]
NEW = VERSION >= [4, 0]
TOLERANCE = 1e-9 if NEW else 1e-7  # MuJoCo 3 finds principal axes less exactly
failures = 0


def check(what, ours, theirs, scale=1.0):
    global failures
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    if ours.shape != theirs.shape or not np.all(np.abs(ours - theirs) <= TOLERANCE * max(1.0, scale)):
        failures += 1
        print(f"FAIL {what}: here {ours.tolist()}, MuJoCo {theirs.tolist()}")


def xyzw(q):
    return np.array([q[1], q[2], q[3], q[0]])


def same_turn(what, ours, theirs):
    ours, theirs = np.asarray(ours), xyzw(theirs)
    check(what, ours if ours @ theirs > 0 else -ours, theirs)


def matrix(q):
    m = np.zeros(9)
    mujoco.mju_quat2Mat(m, q)
    return m.reshape(3, 3)


def tensor(v):
    return np.array([[v[0], v[3], v[4]], [v[3], v[1], v[5]], [v[4], v[5], v[2]]])


class Fused:
    """MuJoCo's bodies with those that have no joint added to their parents."""

    def __init__(self, m):
        self.m = m
        self.kept = {0: 0}
        self.frame = {0: (np.zeros(3), np.eye(3))}
        self.order = []
        self.mass, self.moment, self.second = {}, {}, {}
        for b in range(1, m.nbody):
            parent = m.body_parentid[b]
            p, r = self.frame[parent]
            own = (p + r @ m.body_pos[b], r @ matrix(m.body_quat[b]))
            if m.body_jntnum[b]:
                self.order += [(b, j) for j in range(m.body_jntnum[b])]
                self.kept[b], self.frame[b] = b, (np.zeros(3), np.eye(3))
                self.mass[b], self.moment[b], self.second[b] = 0.0, np.zeros(3), np.zeros((3, 3))
            else:
                self.kept[b], self.frame[b] = self.kept[parent], own
            self.add(b)
    
    def add(self, b):
        k = self.kept[b]
        if k == 0:
            return
        p, r = self.frame[b]
        c = p + r @ self.m.body_ipos[b]
        turn = r @ matrix(self.m.body_iquat[b])
        inertia = turn @ np.diag(self.m.body_inertia[b]) @ turn.T
        mass = self.m.body_mass[b]
        self.mass[k] += mass
        self.moment[k] += mass * c
        self.second[k] += inertia + mass * (c @ c * np.eye(3) - np.outer(c, c))

    def inertia(self, k):
        c = self.moment[k] / self.mass[k]
        return c, self.second[k] - self.mass[k] * (c @ c * np.eye(3) - np.outer(c, c))

    def last(self, b):
        """The entry of a body's last joint."""
        return self.order.index((b, self.m.body_jntnum[b] - 1))

    def in_parent(self, b):
        parent = self.m.body_parentid[b]
        p, r = self.frame[parent]
        return p + r @ self.m.body_pos[b], r @ matrix(self.m.body_quat[b])


def compare_joint(name, m, j, ours, text):
    kind = ["free", "ball", "slide", "hinge"][m.jnt_type[j]]
    if kind != ours["kind"]:
        check(f"{name}: {kind} is {ours['kind']}", [0], [1])
        return
    if kind in ("hinge", "slide"):
        check(f"{name} axis", ours["axis"], m.jnt_axis[j])
    if kind != "free":
        check(f"{name} anchor", ours["anchor"], m.jnt_pos[j])
    reference, low, high, stiffness, rest, damping, friction, armature = ours["numbers"]
    limited = bool(m.jnt_limited[j])
    margin = np.ravel(m.jnt_margin[j])[0] * np.array([0.0 if kind == "ball" else 1.0, -1.0])
    check(f"{name} range", [low, high], m.jnt_range[j] + margin if limited else [-1e9, 1e9])
    d, q = m.jnt_dofadr[j], m.jnt_qposadr[j]
    check(f"{name} stiffness", stiffness, np.ravel(m.jnt_stiffness[j])[0])
    check(f"{name} damping", damping, np.ravel(m.dof_damping[d])[0])
    check(f"{name} friction", friction, m.dof_frictionloss[d])
    check(f"{name} armature", armature, m.dof_armature[d])
    if kind in ("hinge", "slide"):
        check(f"{name} reference", reference, m.qpos0[q])
        check(f"{name} rest", rest, m.qpos_spring[q])
    if "<robot" not in text:  # URDF has no motors for MuJoCo
        compare_motor(name, m, j, ours, "dampratio" in text)


def clamp(ends, bounds):
    """The ends of what is clamped to bounds next."""
    return [min(max(end, min(bounds)), max(bounds)) for end in ends]


def compare_motor(name, m, j, ours, damped):
    """Efforts at two states and commands, from the numbers of the compiled model."""
    ids = [a for a in range(m.nu) if m.actuator_trntype[a] in (0, 1) and m.actuator_trnid[a][0] == j]
    driven, kp, kd, constant = ours["motor"]
    check(f"{name} driven", driven, 1.0 if ids else 0.0)
    low, high, efforts = -math.inf, math.inf, [-math.inf, math.inf]
    k = d = b = 0.0
    for a in ids:
        gear = np.ravel(m.actuator_gear[a])[0]
        bias = m.actuator_biasprm[a] if m.actuator_biastype[a] == 1 else np.zeros(10)
        k -= gear * gear * bias[1]
        d -= gear * gear * bias[2]
        b += gear * bias[0]
        gain = m.actuator_gainprm[a][0]
        if bias[1] != 0.0 and m.actuator_ctrllimited[a]:
            ends = [gain * c / -bias[1] / gear for c in m.actuator_ctrlrange[a]]
            low, high = min(ends), max(ends)
        if m.actuator_biastype[a] == 0 and m.actuator_ctrllimited[a]:
            efforts = clamp(efforts, gear * gain * m.actuator_ctrlrange[a])
        if m.actuator_forcelimited[a]:
            efforts = clamp(efforts, gear * m.actuator_forcerange[a])
    if m.jnt_actfrclimited[j]:
        efforts = clamp(efforts, m.jnt_actfrcrange[j])
    check(f"{name} kp", kp, k, abs(k))
    check(f"{name} bias", constant, b, abs(b))
    if VERSION >= [3, 15] or not damped:  # before, dampratio took the inertia of the joint while all others are held
        check(f"{name} kd", kd, d, abs(d))
    for what, one, other in (("low", ours["low"], low), ("high", ours["high"], high),
                             ("least effort", ours["least"], efforts[0]), ("most effort", ours["most"], efforts[1])):
        one = math.copysign(math.inf, other) if one is None else one
        if one != other:
            check(f"{name} {what}", one, other)


def compare_frame(name, ours, position, turn, parent):
    q = np.zeros(4)
    mujoco.mju_mat2Quat(q, turn.ravel())
    check(f"{name} parent", ours["parent"], parent)
    check(f"{name} p", ours["p"], position)
    same_turn(f"{name} q", ours["q"], q)


def compare_mass(name, ours, fused, b, last):
    """Before the last joint of a body stand parts without mass."""
    if not last:
        check(f"{name} mass", [ours["mass"], *ours["inertia"]], np.zeros(7))
        return
    centre, inertia = fused.inertia(b)
    check(f"{name} mass", ours["mass"], fused.mass[b], fused.mass[b])
    check(f"{name} centre", ours["centre"], centre)
    check(f"{name} inertia", tensor(ours["inertia"]), inertia, np.abs(inertia).max())


def without_meshes(path):
    with open(path) as f:
        text = f.read()
    if "<robot" in text:
        return mujoco.MjModel.from_xml_string(re.sub(r"(?s)<(visual|collision)\b.*?</\1>", "", text))
    spec = mujoco.MjSpec.from_file(path)
    for geom in [g for g in spec.geoms if g.type == mujoco.mjtGeom.mjGEOM_MESH or g.meshname]:
        spec.delete(geom)
    for geom in spec.geoms:
        geom.material = ""
    for thing in spec.meshes + spec.materials + spec.textures + spec.sensors + spec.hfields:
        spec.delete(thing)
    return spec.compile()


def compare(path, ignored=()):
    out = subprocess.run([program, path, *ignored], capture_output=True, text=True)
    if out.returncode != 0:
        check(f"{path}: {out.stderr.splitlines()[0]}", [0], [1])
        return
    robot = json.loads(out.stdout)
    with open(path) as f:
        text = f.read()
    try:
        m = mujoco.MjModel.from_xml_path(path)
    except (ValueError, mujoco.FatalError):  # without the files of the meshes
        m = without_meshes(path)
    fused = Fused(m)
    check(f"{path}: number of bodies", len(robot["bodies"]), len(fused.order))
    if len(robot["bodies"]) != len(fused.order):
        return
    for i, (b, j) in enumerate(fused.order):
        ours = robot["bodies"][i]
        name = f"{os.path.basename(path)} {ours['name']}"
        position, turn = fused.in_parent(b) if j == 0 else (np.zeros(3), np.eye(3))
        parent = fused.kept[m.body_parentid[b]]
        compare_frame(name, ours, position, turn, i - 1 if j > 0 else fused.last(parent) if parent else -1)
        compare_mass(name, ours, fused, b, j + 1 == m.body_jntnum[b])
        compare_joint(name, m, m.body_jntadr[b] + j, ours["joint"], text)
    compare_keys(path, m, robot)
    print(f"ok {os.path.basename(path)}: {len(fused.order)} of {m.nbody - 1} bodies, {m.nkey} keyframes")


def compare_keys(path, m, robot):
    check(f"{path}: keyframes", len(robot["keyframes"]), m.nkey)
    for i, (name, ours) in enumerate(robot["keyframes"].items()):
        theirs = m.key_qpos[i].copy()
        for j in range(m.njnt):
            at = m.jnt_qposadr[j] + (3 if m.jnt_type[j] == 0 else 0)
            if m.jnt_type[j] in (0, 1):
                theirs[at:at + 4] = xyzw(theirs[at:at + 4] / np.linalg.norm(theirs[at:at + 4]))
        check(f"{path} {name}", ours, theirs)


ROBOTS = {
    "orientations": """<mujoco><compiler eulerseq="zYx"/><worldbody>
      <body name="a" pos="1 2 3" euler="10 20 30"><freejoint/>
        <inertial pos=".1 .2 .3" mass="2" diaginertia=".03 .04 .05" euler="5 6 7"/>
        <body name="b" axisangle="1 2 3 40" pos=".1 0 0"><joint axis="1 1 0" pos="0 .1 .2" range="-10 20" ref="5" margin=".02"
            springref="3" stiffness="2" damping=".1" frictionloss=".2" armature=".3"/>
          <inertial pos="0 0 .1" mass="1" fullinertia=".02 .03 .04 .001 -.002 .003"/>
          <body name="c" xyaxes="1 2 0 -1 1 1"><joint type="slide" axis="0 0 -2" range="-.1 .2" ref=".05"/>
            <geom type="box" size=".1 .2 .3" zaxis="1 1 1" pos=".1 .1 .1"/>
            <geom type="capsule" size=".05" fromto="0 0 0 .1 .2 .3"/>
            <body name="d" zaxis="-1 2 -3"><joint type="ball" pos=".1 .2 .3" range="0 60"/>
              <geom type="cylinder" size=".05 .2" axisangle="0 1 0 30"/><geom type="ellipsoid" size=".1 .2 .3" mass="2"/>
              <body name="e" quat="1 2 3 4"><joint/><geom size=".1" zaxis="0 0 -1" pos=".3 0 0"/>
                <geom type="box" fromto="0 0 0 .1 .1 .1" size=".03"/>
                <geom type="ellipsoid" fromto="0 .1 0 .1 .1 -.1" size=".03" density="500"/></body>
            </body></body></body></body></worldbody>
      <keyframe><key name="k" qpos="0 0 1 1 1 0 0  .1  .2  .5 .5 .5 -.5  .3"/><key name="l"/></keyframe></mujoco>""",
    "defaults": """<mujoco><compiler angle="radian" autolimits="true"/>
      <default><joint damping=".1" armature=".01" axis="0 1 0"/><geom density="700" euler=".1 .2 .3"/>
        <position kp="20" kv="1" forcerange="-30 30"/><general gear="2"/>
        <default class="leg"><joint range="-1 1" frictionloss=".3"/><geom type="capsule" size=".03 .1"/>
          <motor ctrlrange="-1 1" gear="40"/>
          <default class="foot"><joint range="-.5 .5" armature=".02"/><geom type="sphere" size=".04"/></default>
        </default></default>
      <worldbody><geom type="plane" size="1 1 1"/>
        <body name="trunk" childclass="leg"><freejoint/><geom type="box" size=".2 .1 .05"/>
          <body name="thigh" pos=".1 0 0"><joint name="hip"/><geom/>
            <body name="shank" childclass="foot" pos="0 0 -.2"><joint name="knee"/><geom/>
              <body name="toe" pos="0 0 -.1"><joint name="ankle" class="leg" type="slide"/><geom class="main" size=".02"/>
                <geom class="leg" axisangle="1 0 0 .4"/></body>
            </body></body></body></worldbody>
      <actuator><position joint="hip" ctrlrange="-.5 .7"/><motor class="leg" joint="knee"/>
        <general class="foot" joint="ankle" gainprm="50" biastype="affine" biasprm="1 -50 -2" gear="-3"
          ctrlrange="-1 2" forcerange="-5 2"/></actuator></mujoco>""",
    "fused": """<mujoco><worldbody><body name="base" pos="0 0 1" euler="0 0 90"><geom type="box" size=".1 .1 .1"/>
        <body name="stand" pos="0 0 .5"><geom size=".1"/>
          <body name="arm" pos=".1 0 0" euler="90 0 0"><joint axis="0 0 1"/><geom type="capsule" size=".02 .2"/>
            <body name="plate" pos=".1 .2 .3" euler="10 20 30"><geom type="cylinder" size=".1 .02"/>
              <body name="knob" pos="0 0 .1" quat="1 1 1 0"><geom size=".03"/>
                <body name="tip" pos=".1 0 0"><joint type="slide"/><geom size=".02"/></body></body></body>
            <frame pos="1 0 0" euler="0 45 0"><body name="late" pos="0 1 0"><joint axis="1 0 0" pos=".1 0 0"/>
              <geom size=".1"/><frame pos="0 0 1" quat="1 2 0 0"><geom type="box" size=".1 .2 .1" euler="0 0 20"/></frame>
              </body></frame>
          </body></body></body></worldbody></mujoco>""",
    "balanced": """<mujoco><compiler balanceinertia="true" boundmass=".5" boundinertia=".01" settotalmass="7"
        inertiagrouprange="1 2"/><worldbody>
        <body name="a"><freejoint/><inertial pos="0 0 0" mass=".1" diaginertia=".1 .2 .5" euler="10 0 0"/>
          <body name="b"><joint/><inertial pos="0 0 .1" mass="1" fullinertia=".02 .03 .005 .001 0 0"/>
            <body name="c" pos="1 0 0"><joint/><geom group="1" size=".1"/><geom group="3" size=".2"/>
              <geom group="2" type="box" size=".1 .2 .3" pos=".2 0 0"/></body></body></body></worldbody></mujoco>""",
    "weightless": """<mujoco><compiler boundmass=".5" boundinertia="1e-3"/><worldbody>
        <body name="a" pos="1 2 3"><freejoint/><geom size=".1"/>
          <frame pos="1 0 0" euler="0 0 90"><body name="b" pos=".1 .2 .3"><joint/></body></frame>
          <body name="c" pos=".4 0 0" euler="0 30 0"><joint/><geom size=".1" mass="0" pos="0 1 0"/></body>
          <body name="d" pos=".1 .2 .3"><joint/><body pos=".4 .1 0" euler="0 0 30"/></body></body></worldbody></mujoco>""",
    "shortcuts": """<mujoco><default><position kp="10" kv="3"/><default class="c"><motor gear="2"/>
          <default class="d"><velocity kv="5"/></default></default><default class="e"><general gainprm="6"/></default></default>
        <worldbody><body name="a"><joint name="a"/><geom size=".1"/></body><body name="b"><joint name="b"/><geom size=".1"/></body>
          <body name="c"><joint name="c"/><geom size=".1"/></body><body name="d"><joint name="d"/><geom size=".1"/></body></worldbody>
        <actuator><position class="c" joint="a"/><position class="d" joint="b"/><velocity class="c" joint="c"/>
          <velocity class="e" joint="d"/></actuator></mujoco>""",
    "from_geoms": """<mujoco><compiler inertiafromgeom="true"/><worldbody>
        <body name="a"><freejoint/><inertial pos="0 0 0" mass=".1" diaginertia=".1 .2 .3"/><geom type="box" size=".1 .2 .3"/>
          <body name="b"><joint/><inertial pos="0 0 0" mass=".1" diaginertia=".1 .2 .2"/></body></body></worldbody></mujoco>""",
    "damped": """<mujoco><option gravity="0 0 -9.81"/><worldbody>
        <body name="a" pos="0 0 1"><freejoint/><geom type="box" size=".2 .1 .1"/>
          <body name="b" pos=".2 0 0" euler="0 30 0"><joint name="b" axis="0 1 0" armature=".1" pos="0 0 .02"/>
            <geom type="capsule" size=".03 .2" pos=".1 .1 0"/>
            <body name="w" pos="0 0 .1"><geom size=".05"/></body>
            <body name="c" pos="0 .1 -.3" euler="20 0 0"><joint name="c" type="slide" axis="1 1 0" range="-.1 .1"/>
              <geom size=".1"/></body></body>
          <body name="d"><joint name="d" range="-30 30"/><geom type="box" size=".1 .02 .02" pos=".1 0 0"/></body>
        </body></worldbody>
      <actuator><position joint="b" kp="30" dampratio="1" gear="2"/><position joint="c" kp="100" dampratio=".7"/>
        <position joint="d" kp="10" inheritrange=".8"/><velocity joint="d" kv="3"/></actuator></mujoco>""",
    "several": """<mujoco><worldbody>
        <body name="a" pos="1 2 3" euler="10 20 30"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide"
          axis="0 0 1" ref=".2" range="-1 2"/><joint name="y" axis="0 1 0" pos="0 0 .1"/><geom size=".1"/>
          <body name="b" pos=".1 0 0" euler="0 30 0"><frame pos="0 .1 0" euler="20 0 0"><joint axis="1 0 0"/></frame>
            <geom type="capsule" size=".03 .2" pos=".1 .1 0"/><joint name="h" axis="0 0 1" range="-20 30" armature=".1"/>
            <body name="w" pos="0 0 .1"><geom size=".05"/>
              <body name="c" pos="0 .1 -.3"><joint name="s" type="slide" axis="1 1 0"/><joint name="o" type="ball"/>
                <geom size=".1"/></body></body></body>
          <body name="d" pos="0 0 1"><joint name="d" range="-30 30"/><geom type="box" size=".1 .02 .02" pos=".1 0 0"/></body>
        </body></worldbody>
      <actuator><position joint="h" kp="30" dampratio="1"/><position joint="y" kp="100" kv="2" ctrlrange="-1 1"/></actuator>
      <keyframe><key name="k" qpos=".1 .2 .3  .4 .5  .6 .5 .5 .5 -.5  .7"/></keyframe></mujoco>""",
    "URDF": """<robot name="u"><link name="base"/><link name="trunk"><inertial><origin xyz=".1 0 .2" rpy=".1 .2 .3"/>
        <mass value="5"/><inertia ixx=".1" iyy=".2" izz=".25" ixy=".01" ixz="-.02" iyz=".03"/></inertial></link>
      <joint name="weld" type="fixed"><parent link="base"/><child link="trunk"/><origin xyz="0 0 .1" rpy="0 0 1"/></joint>
      <link name="leg"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
        </link>
      <joint name="hip" type="revolute"><parent link="trunk"/><child link="leg"/><origin xyz="0 .2 0" rpy=".4 .5 .6"/>
        <axis xyz="0 1 1"/><limit lower="-1" upper="2" effort="30" velocity="5"/><dynamics damping=".3" friction=".1"/>
      </joint></robot>""",
}


def mesh_robots():
    """Meshes that give mass: a prism with a dent, clouds of points and a torus, by each inertia, scaled and mirrored."""
    random = np.random.default_rng(1)
    dent = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 3), (0, 3)])
    points = np.array([(x, y, z) for z in (0, 0.5) for x, y in dent])
    tops = [(0, 1, 2), (0, 2, 3), (0, 3, 5), (3, 4, 5)]
    faces = [(a, c, b) for a, b, c in tops] + [(a + 6, b + 6, c + 6) for a, b, c in tops]
    for i in range(6):
        j = (i + 1) % 6
        faces += [(i, j, j + 6), (i, j + 6, i + 6)]
    n, m = 24, 16
    ring = [(math.cos(2 * math.pi * i / n), math.sin(2 * math.pi * i / n)) for i in range(n)]
    torus = np.array([((1 + 0.3 * math.cos(t)) * c, (1 + 0.3 * math.cos(t)) * s, 0.3 * math.sin(t))
                      for c, s in ring for t in (2 * math.pi * k / m for k in range(m))])
    ring_faces = []
    for i in range(n):
        for k in range(m):
            a, b, c, d = i * m + k, (i + 1) % n * m + k, (i + 1) % n * m + (k + 1) % m, i * m + (k + 1) % m
            ring_faces += [(a, b, c), (a, c, d)]
    grid = np.array([(x, y, z) for x in range(5) for y in range(4) for z in range(3)]) / 4
    meshes = {"dent": (points, faces), "torus": (torus, ring_faces), "grid": (grid, []),
              "cloud": (random.normal(size=(3000, 3)), []), "ball": (unit(random.normal(size=(2000, 3))), []),
              "few": (random.normal(size=(5, 3)), [])}
    for name, (vertices, triangles) in meshes.items():
        words = ("legacy", "exact", "convex", "shell") if triangles else ("convex",)
        for word in words:
            for scale in ("1 1 1", ".1 .2 .3", "-.5 .4 .3"):
                if name == "torus" and word == "legacy" and scale[0] == "-":
                    continue
                face = f'face="{" ".join(str(i) for f in triangles for i in f)}"' if triangles else ""
                vertex = " ".join(f"{x:.17g}" for x in vertices.astype(np.float32).ravel())
                yield f"{name}_{word}_{scale[0]}{scale[1]}", f"""<mujoco><asset>
                  <mesh name="m" inertia="{word}" scale="{scale}" vertex="{vertex}" {face}/></asset><worldbody>
                  <body name="b"><freejoint/><geom type="mesh" mesh="m" pos="1 2 3" euler="30 20 10" density="700"/>
                  <geom type="mesh" mesh="m" mass="2" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1)[:, None]


def main():
    if len(sys.argv) > 2:
        compare(sys.argv[2], sys.argv[3:])
    else:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in ROBOTS.items():
                path = os.path.join(folder, name + (".urdf" if "<robot" in text else ".xml"))
                with open(path, "w") as f:
                    f.write(text)
                compare(path, ["base=fixed"] if "<robot" in text else [])
            for name, text in mesh_robots():
                path = os.path.join(folder, name + ".xml")
                with open(path, "w") as f:
                    f.write(text)
                compare(path, ["meshes=hull"])
    print(f"{failures} differences")
    return 1 if failures else 0


if len(sys.argv) < 2:
    sys.exit(__doc__)
program = sys.argv[1]
sys.exit(main())
