"""Hopscotch's laws of joint limits, dry friction and contact on MuJoCo's equations of motion.

Two programs that read the same robot still move apart where their laws differ: MuJoCo's limits, dry friction and
contacts are soft constraints of its own. Here the mass matrix, the bias forces, the geometry and the motors are
MuJoCo's, in joint coordinates, and the laws are those of sim/articulated/joint.h and contact.h, in a linearly implicit
Euler step of M v' = M v + h F + h dF. Nothing is shared with the program: if it moves otherwise, one of the two read
the file otherwise, or its physics is wrong.
"""
import itertools
import math

import mujoco
import numpy as np

LAWS = {"limit_stiffness": 1e4, "limit_damping": 1e2, "friction_speed": 0.05, "ground_stiffness": 2e4,
        "ground_damping": 500.0, "ground_depth": 2e-3, "slip_speed": 0.1}
HINGE_OR_SLIDE = (int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE))
PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX = (
    int(getattr(mujoco.mjtGeom, "mjGEOM_" + kind)) for kind in "PLANE SPHERE CAPSULE ELLIPSOID CYLINDER BOX".split())
SOLIDS = SPHERE, CAPSULE, CYLINDER, BOX  # of the world; points touch them as in surface.h
RIM = (0.0, 2 * math.pi / 3, -2 * math.pi / 3)


class Laws:
    """Steps a robot under some of our laws (limits, friction, contact), or all; what is left is MuJoCo's own.
    With contact among them nothing of MuJoCo's solver is left: a law that is not shared then does not act at all."""

    def __init__(self, m, shared):
        self.m, self.whole = m, "contact" in shared or not shared
        self.contact = "contact" in shared
        self.joints = [j for j in range(m.njnt) if m.jnt_type[j] in HINGE_OR_SLIDE]
        self.limited = [j for j in self.joints if m.jnt_limited[j]] if "limits" in shared else []
        self.ranges = {j: m.jnt_range[j] + np.array((1, -1)) * m.jnt_margin[j] for j in self.limited}
        self.loss = m.dof_frictionloss.copy() if "friction" in shared else np.zeros(m.nv)
        self.armature, self.mass, self.touches = m.dof_armature.copy(), np.zeros((m.nv, m.nv)), False
        self.J = np.zeros((3, m.nv))
        self.acted = {"dry friction"} if self.loss.any() else set()
        for j in self.joints if self.whole else self.limited:
            m.jnt_limited[j] = 0
        if self.whole or "friction" in shared:
            m.dof_frictionloss[:] = 0
        if self.whole and not self.contact:
            m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT

    def step(self, d, h):
        """Moves d on by h."""
        v = d.qvel.copy()
        K = h * self.loss / np.sqrt(v * v + LAWS["friction_speed"] ** 2)
        f = np.zeros(self.m.nv)
        self.ranges_add(d, h, K, f)
        if self.whole:
            self.step_whole(d, h, v, K, f)
            return
        # (M + K) (v' - v) = h F + f - K v: as an armature and a force of MuJoCo's own step
        self.m.dof_armature[:] = self.armature + K
        d.qfrc_applied[:] = (f - K * v) / h
        mujoco.mj_step(self.m, d)
        self.touches = d.ncon > 0

    def step_whole(self, d, h, v, K, f):
        m = self.m
        mujoco.mj_fwdPosition(m, d)
        mujoco.mj_fwdVelocity(m, d)
        mujoco.mj_fwdActuation(m, d)
        mujoco.mj_fullM(m, d, self.mass)
        K += h * m.dof_damping
        f += h * (d.qfrc_passive - d.qfrc_bias + d.qfrc_actuator) + h * m.dof_damping * v
        self.springs(h, K)
        self.motors(d, h, v, K, f)
        A = self.mass + np.diag(K)
        b = self.mass @ v + f
        if self.contact:
            self.contacts_add(d, h, v, A, b)
        d.qvel[:] = np.linalg.solve(A, b)
        mujoco.mj_integratePos(m, d.qpos, d.qvel, h)
        d.time += h

    def springs(self, h, K):
        """Passive springs: their force is in qfrc_passive, here is how it changes in the step."""
        for j in self.joints:
            K[self.m.jnt_dofadr[j]] += h * h * self.m.jnt_stiffness[j]

    def motors(self, d, h, v, K, f):
        """The same for motors that are not at their greatest force."""
        m = self.m
        for a in range(m.nu):
            if m.actuator_trntype[a] != 0 or m.actuator_biastype[a] != 1:
                continue
            dof = m.jnt_dofadr[m.actuator_trnid[a][0]]
            force, bounds = d.actuator_force[a], m.actuator_forcerange[a]
            if m.actuator_forcelimited[a] and not bounds[0] < force < bounds[1]:
                continue
            joint = m.actuator_trnid[a][0]
            bounds = m.jnt_actfrcrange[joint]
            if m.jnt_actfrclimited[joint] and not bounds[0] < d.qfrc_actuator[dof] < bounds[1]:
                continue
            square = m.actuator_gear[a][0] ** 2
            kp, kd = -m.actuator_biasprm[a][1] * square, -m.actuator_biasprm[a][2] * square
            K[dof] += h * (h * kp + kd)
            f[dof] += h * kd * v[dof]

    def ranges_add(self, d, h, K, f):
        for j in self.limited:
            dof, q = self.m.jnt_dofadr[j], d.qpos[self.m.jnt_qposadr[j]]
            low, high = self.ranges[j]
            out = q - high if q > high else min(q - low, 0.0)
            if out == 0.0:
                continue
            self.acted.add("joint limits")
            K[dof] += h * (h * LAWS["limit_stiffness"] + LAWS["limit_damping"] * min(abs(out) * 1e3, 1.0))
            f[dof] -= h * LAWS["limit_stiffness"] * out

    def contacts_add(self, d, h, v, A, b):
        self.touches = False
        for depth, n, place, body, mu in self.points(d):
            self.touches = True
            self.acted.add("contact")
            J = self.J
            mujoco.mj_jac(self.m, d, J, None, place, body)
            slow = J @ v
            closing = slow @ n
            damping = LAWS["ground_damping"] * min(depth / LAWS["ground_depth"], 1.0)
            force = max(LAWS["ground_stiffness"] * depth - damping * closing, 0.0)
            beta = mu * force / math.sqrt(slow @ slow - closing * closing + LAWS["slip_speed"] ** 2)
            normal = J.T @ n
            K = h * (h * LAWS["ground_stiffness"] + damping)
            A += J.T @ ((K - h * beta) * np.outer(n, n) @ J + h * beta * J)
            b += h * LAWS["ground_stiffness"] * depth * normal

    def points(self, d):
        """(depth, normal out of the ground, place on the ground, body, friction) of each point that touches."""
        m, pairs = self.m, set()
        for c in d.contact:
            mine, ground, n = c.geom[1], c.geom[0], c.frame[:3]
            if m.body_weldid[m.geom_bodyid[mine]] == 0:
                mine, ground, n = ground, mine, -n
            body, mu = m.geom_bodyid[mine], c.friction[0] if c.dim > 1 else 0.0
            on_plane = m.geom_type[ground] == PLANE
            if m.geom_type[ground] not in SOLIDS and not (on_plane and m.geom_type[mine] == CYLINDER):
                depth = c.includemargin - c.dist
                if depth > 0.0:
                    yield depth, n, c.pos - 0.5 * c.dist * n, body, mu
            elif (mine, ground) not in pairs:
                pairs.add((mine, ground))
                for place, radius in self.places(d, mine, ground):
                    above, n = self.near(d, ground, place)
                    depth = c.includemargin + radius - above
                    if depth > 0.0:
                        yield depth, n, place - above * n, body, mu

    def places(self, d, g, ground):
        """What of a geom touches: places with a radius."""
        m, middle, turn = self.m, d.geom_xpos[g], d.geom_xmat[g].reshape(3, 3)
        size, kind = m.geom_size[g], m.geom_type[g]
        if kind == SPHERE:
            yield middle, size[0]
        elif kind == CAPSULE:
            for end in (-size[1], size[1]):
                yield middle + end * turn[:, 2], size[0]
        elif kind == BOX:
            for corner in itertools.product((-1, 1), repeat=3):
                yield middle + turn @ (size * corner), 0.0
        elif kind == ELLIPSOID:
            s = size * (turn.T @ self.near(d, ground, middle)[1])
            yield middle - turn @ (size * s) / np.linalg.norm(s), 0.0
        elif kind == CYLINDER:
            for end in (-size[1], size[1]):
                rim = middle + end * turn[:, 2]
                for place in rim_places(turn, size[0], self.near(d, ground, rim)[1]):
                    yield rim + place, 0.0

    def near(self, d, g, place):
        """The distance of a place from a geom of the world, and the normal there."""
        turn, size, kind = d.geom_xmat[g].reshape(3, 3), self.m.geom_size[g], self.m.geom_type[g]
        y = turn.T @ (place - d.geom_xpos[g])
        if kind == PLANE:
            return y[2], turn[:, 2]
        if kind == BOX:
            above, n = near_sides(np.abs(y) - size[:3], np.where(y < 0, -1.0, 1.0))
        elif kind == CYLINDER:
            radial = math.hypot(y[0], y[1])
            out = y[:2] / radial if radial > 0.0 else np.array((1.0, 0.0))
            above, (side, cap) = near_sides(np.array((radial - size[0], abs(y[2]) - size[1])), np.ones(2))
            n = np.array((side * out[0], side * out[1], math.copysign(cap, y[2])))
        else:
            half = size[1] if kind == CAPSULE else 0.0
            way = y - (0.0, 0.0, min(max(y[2], -half), half))
            length = np.linalg.norm(way)
            above, n = length - size[0], way / length if length > 0.0 else np.array((0.0, 0.0, 1.0))
        return above, turn @ n


def near_sides(beyond, signs):
    """Of a solid with faces across the axes: how far outside, and the normal; inside by the nearest face."""
    if np.any(beyond > 0.0):
        way = np.maximum(beyond, 0.0)
        above = np.linalg.norm(way)
        return above, signs * way / above
    face = int(np.argmax(beyond))
    return beyond[face], signs * (np.arange(len(beyond)) == face)


def rim_places(turn, radius, n):
    """The lowest place of a rim, and those 120 degrees away on it, from its middle."""
    axis, side = turn[:, 2], turn[:, 0]
    t = n - (n @ axis) * axis
    t = t + 1e-9 / (1e-6 + t @ t) * side
    u = -t / np.linalg.norm(t)
    for angle in RIM:
        yield radius * (math.cos(angle) * u + math.sin(angle) * np.cross(axis, u))
