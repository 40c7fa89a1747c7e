#!/usr/bin/env python3
"""Robot files of a folder, as they are: which are accepted, why others are refused, and how those that are accepted
move beside MuJoCo, with contact.

    tests/bench/robot_field.py build/hopscotch FOLDER [--like PATTERN] [--csv FILE] [--explain] [--no-motion] [--help]

Every MJCF file (<mujoco> with a body in it) and every URDF file below FOLDER is checked. A refused file is checked
again with the words that its errors propose for `ignore`. What is accepted as it is, or without its meshes, is
simulated by both programs: commands hold the pose of the file, shapes of the robot touch the ground of the file and
not each other. A robot that floats begins 0.05 m over its ground at 0.5 m/s along x: compared are the time of its first
contact, its height and the way it slid at the end. A robot that is fixed: its joints after 0.3 s and at the end.
Files that both read to the same robot may differ by the laws of their joint limits, dry friction and contacts. With
--explain MuJoCo takes these from us one after the other (robot_laws.py), until both move alike: that is the cause.
"and step": they do where the step becomes 0, extrapolated from two steps.
"sensitive" is a motion that with half the step differs from itself; "unexplained" is an error of somebody.
Needs the Python package mujoco (pip install mujoco); without it, it says so and succeeds.
"""
import argparse
import collections
import copy
import csv
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from skip import skip  # noqa: E402

try:
    import mujoco
    import numpy as np
except ImportError:
    skip("robot_field", "all of it", "Python's mujoco and numpy", "pip install mujoco")
    sys.exit(0)

from robot_laws import Laws

warnings.simplefilter("ignore")
DT = 5e-4
DROP = 0.05  # m
SPEED = 0.5  # m/s
EARLY = 0.3  # s
LIMIT = 0.02  # relative difference that is worth a look


# ---- files ----------------------------------------------------------------------------------------------------------

def robots_below(folder):
    """Paths of robots, relative to the folder; of files with the same text one."""
    found, texts = [], set()
    for root, _, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.join(root, name)
            if not name.endswith((".urdf", ".xml", ".mjcf")) or not is_robot(path):
                continue
            with open(path, "rb") as f:
                text = hash(f.read())
            if text not in texts:
                found.append(os.path.relpath(path, folder))
            texts.add(text)
    return sorted(found)


def is_robot(path):
    with open(path, errors="replace") as f:
        text = re.sub(r"(?s)<!--.*?-->", "", f.read())
    if path.endswith(".urdf"):
        return "<robot" in text
    return re.match(r"(?s)\s*(<\?xml.*?\?>)?\s*<mujoco\b", text) is not None and "<body" in text + included(path, text)


def included(path, text):
    """The texts of included files, one level down."""
    texts = []
    for name in re.findall(r"<include\s+file=\"([^\"]*)\"", text):
        other = os.path.join(os.path.dirname(path), name)
        if os.path.exists(other):
            with open(other, errors="replace") as f:
                texts.append(f.read())
    return "".join(texts)


def copy_texts(folder, to):
    """Models without meshes and pictures, in the same tree."""
    for root, _, names in os.walk(folder):
        for name in names:
            if not name.endswith((".urdf", ".xml", ".mjcf")):
                continue
            path = os.path.join(to, os.path.relpath(root, folder))
            os.makedirs(path, exist_ok=True)
            shutil.copyfile(os.path.join(root, name), os.path.join(path, name))


# ---- hopscotch ------------------------------------------------------------------------------------------------------

def run(arguments, folder):
    return subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, errors="replace",
                          timeout=300)


def spec_of(path, ignore, duration=None, initial=None, own=None):
    """own: keys of simulation, and parameters."""
    own = dict(own or {})
    parameters = own.pop("parameters", None)
    simulation = {"robot": path, "duration": duration or 1.0, "dt": DT, **own}
    if ignore:
        simulation["ignore"] = ignore
    spec = {"version": 1, "experiment": "field", "model": "articulated", "simulation": simulation,
            "objective": {"minimize": "distance"}}
    if initial:
        spec["initial"] = initial
    if parameters:
        spec["parameters"] = parameters
    return json.dumps(spec)


def check(folder, path, ignore):
    """The errors of `check`, as a list of texts; and its output."""
    with open(os.path.join(folder, "field.yaml"), "w") as f:
        f.write(spec_of(path, ignore))
    out = run(["check", "field.yaml", "--no-color"], folder)
    errors = [line.split(": error: ", 1)[1] for line in out.stderr.splitlines() if ": error: " in line]
    if out.returncode != 0 and not errors:
        errors = [(out.stderr.splitlines() or ["no message"])[-1]]
    return errors if out.returncode != 0 else [], out.stdout + out.stderr


def words_of(errors):
    """The words that errors propose for `ignore`."""
    words = set()
    for error in errors:
        words |= set(re.findall(r"add (\w+) to ignore", error))
        words |= set(re.findall(r"or add (\w+) to\b", error))
    return words


def accept(folder, path):
    """(the words that had to be ignored, the errors without them, the errors that stay, what check says)"""
    words, first = set(), None
    for _ in range(4):
        errors, text = check(folder, path, sorted(words))
        first = errors if first is None else first
        more = words_of(errors) - words
        if not errors or not more:
            return sorted(words), first, errors, text
        words |= more
    return sorted(words), first, errors, text


def reason(error):
    """The kind of an error: its text without names and numbers."""
    text = re.sub(r"'[^']*'", "'...'", error)
    text = re.sub(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", "N", text)
    return text[:110]


def motion(folder, path, ignore, duration, initial, own=None):
    """Columns of the trajectory, by name."""
    shutil.rmtree(os.path.join(folder, "results"), ignore_errors=True)
    with open(os.path.join(folder, "field.yaml"), "w") as f:
        f.write(spec_of(path, ignore, duration, initial, own))
    out = run(["run", "field.yaml", "--progress", "none", "--backend", "cpu"], folder)
    if out.returncode != 0:
        return None
    out = run(["replay", "field/0", "--output", "-", "--sample", str(4 * DT)], folder)
    rows = list(csv.reader(io.StringIO(out.stdout)))
    if len(rows) < 3:
        return None
    table = np.array([[float(x) if x else math.nan for x in row] for row in rows[1:] if len(row) == len(rows[0])])
    return {name: table[:, i] for i, name in enumerate(rows[0])}


# ---- MuJoCo ---------------------------------------------------------------------------------------------------------

def root_of(text):
    """The link of a URDF that is no child."""
    children = set(re.findall(r"<child\s+link=\"([^\"]*)\"", text))
    roots = [name for name in re.findall(r"<link\s+name=\"([^\"]*)\"", text) if name not in children]
    return roots[0] if roots else ""


def spec_of_mujoco(path, meshes, floats):
    if path.endswith(".urdf"):
        with open(path, errors="replace") as f:
            text = re.sub(r"(?s)<!--.*?-->", "", f.read())
        text = re.sub(r"(?s)<visual\b.*?</visual>", "", text)
        text = re.sub(r"(?s)<collision\b(?:(?!</collision>).)*<mesh.*?</collision>", "", text)
        spec = mujoco.MjSpec.from_string(re.sub(r"(?s)<gazebo\b.*?(</gazebo>|/>)", "", text))
        # MuJoCo gives a link without <inertial> the mass of its shapes, and loses the inertia of one without mass that
        # is fixed to another.
        spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
        spec.compiler.fusestatic = False
        if floats and root_of(text) != "world":
            spec.worldbody.first_body().add_freejoint()
            spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1])
    else:
        spec = mujoco.MjSpec.from_file(path)
    if not meshes:
        drop_meshes(spec)
    for pair in list(spec.pairs):
        geoms = [spec.geom(name) for name in (pair.geomname1, pair.geomname2)]
        if all(geom is not None and geom.parent.name != "world" for geom in geoms):
            spec.delete(pair)
    return spec


def drop_meshes(spec):
    kinds = (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_HFIELD, mujoco.mjtGeom.mjGEOM_SDF)
    for geom in [g for g in spec.geoms if g.type in kinds or g.meshname]:
        spec.delete(geom)
    for geom in spec.geoms:
        geom.material = ""
    for thing in list(spec.meshes) + list(spec.materials) + list(spec.textures) + list(spec.sensors) + list(spec.skins):
        spec.delete(thing)


def only_ground(m, planes):
    """Shapes of the robot touch what does not move, and not each other. planes: of that planes alone, as in URDF, where
    links that do not move are the robot's own."""
    still = [g for g in range(m.ngeom) if m.body_weldid[m.geom_bodyid[g]] == 0]
    moving = [g for g in range(m.ngeom) if m.body_weldid[m.geom_bodyid[g]] != 0]
    bits = {}
    was = (m.geom_contype.copy(), m.geom_conaffinity.copy())
    for g in still:
        if planes and m.geom_type[g] != mujoco.mjtGeom.mjGEOM_PLANE:
            m.geom_contype[g] = m.geom_conaffinity[g] = 0
            continue
        key = (was[0][g], was[1][g])
        bits.setdefault(key, len(bits))
        m.geom_contype[g], m.geom_conaffinity[g] = 1 << bits[key], 0
    for g in moving:
        m.geom_contype[g] = 0
        m.geom_conaffinity[g] = sum(1 << bit for (t, a), bit in bits.items() if was[0][g] & a or was[1][g] & t)
    return len(bits) < 31


def hold(m, d):
    """Controls of motors by position that hold the joints where they stand."""
    for a in range(m.nu):
        bias, gain = m.actuator_biasprm[a], m.actuator_gainprm[a][0]
        if m.actuator_trntype[a] > 1 or m.actuator_biastype[a] != 1 or bias[1] == 0 or gain == 0:
            continue
        q = d.qpos[m.jnt_qposadr[m.actuator_trnid[a][0]]]
        control = -bias[1] * m.actuator_gear[a][0] * q / gain
        if m.actuator_ctrllimited[a]:
            control = min(max(control, m.actuator_ctrlrange[a][0]), m.actuator_ctrlrange[a][1])
        d.ctrl[a] = control


def reach(m, d, g, n):
    """How far a geom reaches from its middle along n."""
    x, y, z = np.abs(d.geom_xmat[g].reshape(3, 3).T @ n)
    size, kind = m.geom_size[g], m.geom_type[g]
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return size[0]
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return size[0] + size[1] * z
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return size[1] * z + size[0] * math.hypot(x, y)
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        return math.sqrt((size[0] * x) ** 2 + (size[1] * y) ** 2 + (size[2] * z) ** 2)
    return size @ (x, y, z)


def lowest(m, d):
    """Least distance of a moving geom from a plane that it may touch."""
    least = math.inf
    for p in range(m.ngeom):
        if m.geom_type[p] != mujoco.mjtGeom.mjGEOM_PLANE or m.body_weldid[m.geom_bodyid[p]] != 0:
            continue
        n = d.geom_xmat[p].reshape(3, 3)[:, 2]
        for g in range(m.ngeom):
            if m.body_weldid[m.geom_bodyid[g]] == 0 or not m.geom_conaffinity[g] & m.geom_contype[p]:
                continue
            least = min(least, (d.geom_xpos[g] - d.geom_xpos[p]) @ n - reach(m, d, g, n))
    return least


class Motion:
    """What MuJoCo does, at the times of our samples."""

    def __init__(self, m, duration, raised, h=DT / 2, laws=None):
        """laws: a function of m that gives what makes the step in place of MuJoCo's own."""
        d = mujoco.MjData(m)
        m.opt.timestep = h
        m.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        m.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        m.opt.gravity[:] = (0, 0, -9.81)
        self.free = m.njnt > 0 and m.jnt_type[0] == 0
        if self.free:
            d.qpos[2] += raised
            d.qvel[0] = SPEED
        hold(m, d)
        law = laws(m) if laws else None
        self.acted = law.acted if law else ()
        mujoco.mj_forward(m, d)
        self.base = m.jnt_bodyid[0] if m.njnt else 0
        self.first, self.z, self.x, self.q, self.limits = math.nan, [], [], [], False
        every = round(4 * DT / h)
        for k in range(int(round(duration / h)) + 1):
            if k % every == 0:
                mujoco.mj_kinematics(m, d)
                self.z.append(d.xpos[self.base][2])
                self.x.append(d.xpos[self.base][0])
                self.q.append(d.qpos.copy())
            if law:
                law.step(d, h)
            else:
                mujoco.mj_step(m, d)
                self.limits = self.limits or bool((d.efc_type == mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT).any())
            if not math.isnan(self.first):
                continue
            touches = law.touches if law else d.ncon > 0 and any(d.contact.efc_address >= 0)
            if touches:
                self.first = d.time
        self.z, self.x, self.q = np.array(self.z), np.array(self.x), np.array(self.q)

    def limit_from(self, coarse):
        """This motion without the error of the step, which is of first order, by that of twice the step."""
        limit = copy.copy(self)
        limit.z, limit.x, limit.q = (2 * a - b for a, b in ((self.z, coarse.z), (self.x, coarse.x), (self.q, coarse.q)))
        return limit


# ---- side by side ---------------------------------------------------------------------------------------------------

def relative(ours, theirs, scale):
    return abs(ours - theirs) / max(abs(theirs), scale)


def worst_joint(m, ours, theirs, k):
    """(our coordinate, MuJoCo's, difference) of the hinge or slide that differs most in sample k."""
    worst = (0.0, 0.0, 0.0)
    for name, at in joints_of(m):
        if name + "_q" in ours:
            one, other = ours[name + "_q"][k], theirs.q[k][at]
            worst = max(worst, (relative(one, other, 0.2), one, other))
    return worst[1], worst[2], worst[0]


def why(m, theirs):
    """What the two programs do in ways of their own."""
    flags = []
    d = mujoco.MjData(m)
    beyond = [j for j in range(m.njnt) if m.jnt_limited[j] and m.jnt_type[j] > 1 and not
              m.jnt_range[j][0] <= d.qpos[m.jnt_qposadr[j]] <= m.jnt_range[j][1]]
    if beyond:
        flags.append("starts beyond a range")
    if theirs.limits:
        flags.append("meets a range")
    if theirs.first < 2 * DT:
        flags.append("touches the ground from the start")
    elif not math.isnan(theirs.first):
        flags.append("contact")
    if m.dof_frictionloss.any():
        flags.append("dry friction of joints")
    if m.nv > 7:
        flags.append("limbs")
    return ", ".join(flags)


def joints_of(m):
    """Names as a trajectory has them, and places in qpos, of hinges and slides."""
    for j in range(m.njnt):
        if m.jnt_type[j] in (2, 3):
            name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_JOINT, j)
            if name:
                yield re.sub(r"\W", "_", name if name[0].isalpha() else "b_" + name), m.jnt_qposadr[j]


class Pair:
    """One file in both programs."""

    def __init__(self, copies, folder, path, ignore, duration):
        self.copies, self.path, self.ignore, self.duration = copies, path, ignore, duration
        self.is_urdf = path.endswith(".urdf")
        self.file, self.trouble, self.meshes = os.path.join(folder, path), None, not ignore
        try:
            m = self.model()
        except Exception as error:  # pylint: disable=broad-except
            self.meshes = False
            try:
                m = self.model()
            except Exception:  # pylint: disable=broad-except
                self.trouble = "MuJoCo: " + str(error).splitlines()[0][:80]
                return
        if not only_ground(m, self.is_urdf):
            self.trouble = "too many kinds of ground"
        elif any(m.jnt_type[1:] == 0):
            self.trouble = "several free bodies"
        d = mujoco.MjData(m)
        mujoco.mj_forward(m, d)
        self.free = m.njnt > 0 and m.jnt_type[0] == 0
        self.m, self.raised, least = m, 0.0, lowest(m, d)
        if self.free and math.isfinite(least):
            self.raised = DROP - least

    def model(self):
        return spec_of_mujoco(self.file, self.meshes, self.is_urdf).compile()

    def ours(self, own=None):
        initial = {"base_z": self.raised, "base_vx": SPEED} if self.free else None
        return motion(self.copies, self.path, self.ignore, self.duration, initial, own)

    def theirs(self, **how):
        m = self.model()
        only_ground(m, self.is_urdf)
        return Motion(m, self.duration, self.raised, **how)

    def rows(self, ours, theirs):
        """(quantity, ours, MuJoCo's, relative difference) of two motions."""
        rows, early = [], int(EARLY / (4 * DT))
        n = min(len(theirs.z), len(ours["time"]))
        if not self.free:
            return [(f"joint {when}, rad", *worst_joint(self.m, ours, theirs, k))
                    for when, k in (("early", early), ("end", n - 1))]
        forces = [v for k, v in ours.items() if k.endswith("_force")]
        touching = np.flatnonzero(sum(np.abs(f) for f in forces)) if forces else []
        first = ours["time"][touching[0]] if len(touching) else math.nan
        if not (math.isnan(first) and math.isnan(theirs.first)):
            rows.append(("first contact, s", first, theirs.first, relative(first, theirs.first, 0.1)))
        k = int(np.nanmin([first, theirs.first, EARLY]) / (4 * DT)) - 1 if rows else early
        if self.m.nv > 6 and k > 0:
            rows.append(("joint in flight, rad", *worst_joint(self.m, ours, theirs, k)))
        heights = ours["base_z"][n - 1], theirs.z[n - 1]
        rows.append(("height, m", *heights, relative(*heights, 0.1)))
        slid = ours["base_x"][n - 1] - ours["base_x"][0], theirs.x[n - 1] - theirs.x[0]
        rows.append(("slid, m", *slid, relative(*slid, 0.1)))
        return rows


def beside(pair, explain):
    """Rows of (quantity, ours, MuJoCo's, relative difference), and why; or a text that says why there are none."""
    if pair.trouble:
        return pair.trouble
    ours = pair.ours()
    if ours is None:
        return "our run failed"
    theirs = pair.theirs()
    rows = pair.rows(ours, theirs)
    cause = why(pair.m, theirs)
    if explain and worst_of(rows) > LIMIT:
        cause = explained(pair)
    return rows, cause


def worst_of(rows):
    """The greatest difference; one of the two without a contact is one."""
    return max((1.0 if math.isnan(r[3]) else r[3] for r in rows), default=0.0)


# ---- causes ---------------------------------------------------------------------------------------------------------

# Attachments that do not give, and a quarter of the step: what is left of our own approximations is then small. Beside
# bodies of milligrams such attachments cost the digits of the motion itself; there they stay as they are.
RIGID = {"attach_stiffness": 1e9, "attach_damping": 1e7, "attach_turn_stiffness": 1e9, "attach_turn_damping": 1e5}
ATTACHED = RIGID, {}
FINE = DT / 4
# Laws that both programs share, the rest being MuJoCo's own.
SHARED = (), ("limits",), ("friction",), ("limits", "friction"), ("limits", "friction", "contact")


def explained(pair):
    """The laws that MuJoCo must take from us until both programs move alike, and the greatest difference by each."""
    ours = by_attachments(pair, FINE)
    if not ours:
        return "unexplained: our run with a small step failed"
    tried = []
    for shared in SHARED:
        acts = {"limits": pair.m.jnt_limited.any(), "friction": pair.m.dof_frictionloss.any()}
        if "contact" not in shared and not all(acts[law] for law in shared):
            continue
        theirs = by_laws(pair, FINE, shared)
        far = min(worst_of(pair.rows(motion, theirs)) for motion in ours.values())
        cause = " and ".join(sorted(theirs.acted)) or "step and attachments"
        tried.append(f"{'+'.join(shared) or 'none'} {far:.2g}")
        if far <= LIMIT:
            return f"{cause}: " + "; ".join(tried)
    return explained_by_step(pair, ours, theirs, cause, tried)


def by_attachments(pair, h):
    """Our motions with the step h, by number of the attachments; without those that failed."""
    motions = ((k, pair.ours({"dt": h, "parameters": way})) for k, way in enumerate(ATTACHED))
    return {k: motion for k, motion in motions if motion}


def by_laws(pair, h, shared):
    return pair.theirs(h=h, laws=(lambda m: Laws(m, shared)) if shared else None)


def explained_by_step(pair, ours, theirs, cause, tried):
    """With all laws in common the step remains: the limits of two motions whose difference falls with the step are
    compared. A motion that is not its own at half of it says nothing."""
    own = None
    for parts in (2, 4, 8):
        half, mine = by_laws(pair, FINE / parts, SHARED[-1]), by_attachments(pair, FINE / parts)
        there, here = half.limit_from(theirs), [limit_of(ours[k], mine[k]) for k in mine if k in ours]
        far = min((worst_of(pair.rows(limit, there)) for limit in here), default=math.inf)
        tried.append(f"without step {far:.2g}")
        if far <= LIMIT:
            return f"{cause} and step: " + "; ".join(tried)
        if own is None:
            own, until = apart(theirs, half), max(alike_until(pair, motion, theirs) for motion in ours.values())
        ours, theirs = mine, half
    tried.append(f"with half the step from itself {own:.2g}; alike until {until:.3g} s")
    return f"{'sensitive' if own > LIMIT else 'unexplained'} ({cause}): " + "; ".join(tried)


def limit_of(coarse, fine):
    """Columns without the error of the step, which is of first order, from those by a step and by half of it."""
    n = min(len(coarse["time"]), len(fine["time"]))
    return {name: 2 * fine[name][:n] - coarse[name][:n] for name in fine if name in coarse}


def apart(one, other):
    """The greatest difference of two motions by MuJoCo at the end."""
    places = [(one.x[-1], other.x[-1], 0.1), (one.z[-1], other.z[-1], 0.1)]
    return max(relative(*pair) for pair in [*places, *((a, b, 0.2) for a, b in zip(one.q[-1], other.q[-1]))])


def alike_until(pair, ours, theirs):
    """When the first joint or the base is apart by more than LIMIT."""
    for k in range(min(len(theirs.z), len(ours["time"]))):
        far = worst_joint(pair.m, ours, theirs, k)[2]
        for name, way in (("base_x", theirs.x), ("base_z", theirs.z)) if pair.free else ():
            far = max(far, relative(ours[name][k], way[k], 0.1))
        if far > LIMIT:
            break
    return ours["time"][k]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--every", type=int, default=1, help="only every N-th file")
    parser.add_argument("--like", default="", help="only paths that match")
    parser.add_argument("--most", type=int, default=40, help="at most so many files of one folder")
    parser.add_argument("--duration", type=float, default=1.5)
    parser.add_argument("--explain", action="store_true", help="find the cause of each difference by experiments")
    parser.add_argument("--csv", help="write a line per file and quantity")
    parser.add_argument("--no-motion", action="store_true", help="only check")
    given = parser.parse_args()
    global PROGRAM
    PROGRAM = os.path.abspath(given.program)
    folder = os.path.abspath(given.folder)
    table = []
    counts, refused, ignored, causes = (collections.Counter() for _ in range(4))
    per_folder = collections.Counter()
    paths = []
    for path in [p for p in robots_below(folder) if re.search(given.like, p)][::given.every]:
        per_folder[os.path.dirname(path)] += 1
        if per_folder[os.path.dirname(path)] <= given.most:
            paths.append(path)
    output = os.path.abspath(given.csv) if given.csv else None
    with tempfile.TemporaryDirectory() as copies:
        copy_texts(folder, copies)
        os.chdir(copies)  # MuJoCo writes its log there
        for path in paths:
            line = one_file(copies, folder, path, given, counts, refused, ignored, causes, table)
            print(f"{path}: {line}", flush=True)
        os.chdir(folder)
    report(paths, counts, refused, ignored)
    for cause, n in causes.most_common() if given.explain else ():
        print(f"  {n:5d} {cause}")
    if output:
        with open(output, "w", newline="") as f:
            head = ("file", "accepted", "ignored", "quantity", "here", "MuJoCo", "difference", "why")
            csv.writer(f).writerows([head, *table])
    return 0


def one_file(copies, folder, path, given, counts, refused, ignored, causes, table):
    try:
        words, first, errors, _ = accept(copies, path)
    except subprocess.TimeoutExpired:
        counts["took too long"] += 1
        return "took too long"
    for kind in {reason(e) for e in first}:
        refused[kind] += 1
    if errors:
        counts["refused"] += 1
        table.append((path, "refused", " ".join(words), reason(errors[0]), "", "", ""))
        return "refused: " + errors[0][:150]
    counts["accepted as it is" if not words else "accepted with ignore"] += 1
    ignored.update(words)
    state = "accepted" + (f", ignoring {' '.join(words)}" if words else "")
    if given.no_motion or set(words) - {"mesh", "gravity", "unknown"}:
        table.append((path, "accepted", " ".join(words), "", "", "", ""))
        return state
    try:
        rows = beside(Pair(copies, folder, path, words, given.duration), given.explain)
    except (subprocess.TimeoutExpired, ValueError, IndexError, KeyError) as error:
        rows = f"not compared: {error!r}"[:100]
    if isinstance(rows, str):
        counts["not compared"] += 1
        table.append((path, "accepted", " ".join(words), rows, "", "", "", ""))
        return f"{state}; {rows}"
    rows, flags = rows
    worst = worst_of(rows)
    counts["agrees" if worst <= LIMIT else "differs"] += 1
    table.extend((path, "accepted", " ".join(words), *r, flags) for r in rows)
    for what, _, _, far in rows:
        counts[f"{what}: {'agrees' if far <= LIMIT else 'differs'}"] += 1
    if worst > LIMIT:
        state += f" ({flags})"
        causes[flags.split(":")[0]] += 1
    texts = [f"{what} {one:.4g} / {other:.4g}{'' if far <= LIMIT else ' !'}" for what, one, other, far in rows]
    return f"{state}; " + ", ".join(texts)


def report(paths, counts, refused, ignored):
    print(f"\n{len(paths)} files: " + ", ".join(f"{n} {what}" for what, n in counts.most_common()))
    print("files by the first errors:")
    for kind, n in refused.most_common(60):
        print(f"  {n:5d} {kind}")
    print("words ignored: " + ", ".join(f"{word} {n}" for word, n in ignored.most_common()))


PROGRAM = ""
if __name__ == "__main__":
    sys.exit(main())
