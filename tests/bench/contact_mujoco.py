#!/usr/bin/env python3
"""Shapes dropped on planes, boxes and height fields, here and by MuJoCo: when they touch first, and where they are a
second later.

    tests/bench/contact_mujoco.py build/hopscotch [WORLDS [SEED]]

WORLDS (120) random worlds: a sphere, capsule, cylinder (standing or lying), box or ellipsoid of random size falls a few
millimetres, aligned to the ground to 0.3 degrees, on a plane or box at a random place, tilted by up to 8 degrees, with
random frictions and priorities. It then rests, slides or rolls. First contact must agree to two steps; the place after
a second to 1 mm and 2 % of the way. (After higher falls a bounce moves what would rest by millimetres, which depend on
the damping of contacts.) Then WORLDS / 2 on height fields of gentle slopes, given as text or as a file: the same shapes
on a triangle, and balls anywhere that roll from one triangle to the next. MuJoCo has one contact per triangle, on which
a box or cylinder never rests; for these it gets the plane of the triangle. Needs the Python package mujoco (pip install
mujoco); without it, it says so and succeeds.
"""
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from skip import skip  # noqa: E402

try:
    import mujoco
    import numpy as np
except ImportError:
    skip("contact_mujoco", "all of it", "Python's mujoco and numpy", "pip install mujoco")
    sys.exit(0)

STEP, THEIR_STEP, DURATION = 5e-4, 1e-4, 1.0


def turn(axis, angle):
    """Quaternion w, x, y, z."""
    return np.array([math.cos(angle / 2), *(math.sin(angle / 2) * np.asarray(axis, float))])


def times(p, q):
    out = np.zeros(4)
    mujoco.mju_mulQuat(out, p, q)
    return out


def rotated(q, v):
    out = np.zeros(3)
    mujoco.mju_rotVecQuat(out, np.asarray(v, float), q)
    return out


def numbers(values):
    return " ".join(f"{value:.12g}" for value in values)


def shape_of(random_, kind):
    """type, sizes, half height over the ground, and the turn that stands it so."""
    a, b, c = (random_.uniform(0.05, 0.15) for _ in range(3))
    level = turn((1, 0, 0), 0)
    return {"sphere": ("sphere", (a,), a, level),
            "capsule": ("capsule", (a, b), a, turn((1, 0, 0), math.pi / 2)),
            "standing": ("cylinder", (a, b), b, level),
            "lying": ("cylinder", (a, b), a, turn((1, 0, 0), math.pi / 2)),
            "box": ("box", (a, b, c), c, level),
            "egg": ("ellipsoid", (0.15, 0.12, 0.06 + a / 5), 0.06 + a / 5, level)}[kind]


KINDS = ("sphere", "capsule", "standing", "lying", "box", "egg")
FLAT = ("standing", "lying", "box")


def world_of(index, seed):
    random_ = random.Random(1000 * seed + index)
    kind = KINDS[index % len(KINDS)]
    geom, size, half, stands = shape_of(random_, kind)
    way = random_.uniform(0, 2 * math.pi)
    tilted = turn((math.cos(way), math.sin(way), 0), math.radians(random_.uniform(0, 8)))
    turned = times(turn((0, 0, 1), random_.uniform(0, 2 * math.pi)), stands)
    nearly = turn((math.cos(way), math.sin(way), 0), math.radians(random_.uniform(-0.3, 0.3)))
    up, place = rotated(tilted, (0, 0, 1)), np.array([random_.uniform(-2, 2) for _ in range(3)])
    on_box = random_.random() < 0.4
    body = place + (half + 0.01 * max(size) + random_.uniform(0.0005, 0.003)) * up
    ground = {"type": "box" if on_box else "plane", "size": "3 2.5 0.4" if on_box else "1 1 1",
              "pos": numbers(place - 0.4 * up if on_box else place), "quat": numbers(tilted)}
    shape = {"type": geom, "size": numbers(size), "mass": f"{random_.uniform(0.5, 2):.6g}"}
    for of in (ground, shape):
        of["friction"] = f"{random_.uniform(0.4, 1):.6g}"
        of["priority"] = str(random_.choice((0, 0, 1)))
    if random_.random() < 0.15:
        ground["condim"] = shape["condim"] = "1"
    words = {name: " ".join(f'{k}="{v}"' for k, v in of.items()) for name, of in (("ground", ground), ("shape", shape))}
    return kind, (
        '<mujoco><option timestep="0.0001" integrator="implicitfast" cone="elliptic" impratio="100"/>'
        '<default><geom solref="0.004 1" solimp="0.95 0.99 0.001"/></default><worldbody>'
        f'<geom name="ground" {words["ground"]}/><body name="it" pos="{numbers(body)}" '
        f'quat="{numbers(times(nearly, times(tilted, turned)))}"><freejoint/>'
        f'<geom name="shape" {words["shape"]}/></body></worldbody></mujoco>')


def facet(heights, spacing, x, y):
    """Height and normal there, from the middle; heights[row][column], rows along y. And how far the triangle's edges
    are: the least of its barycentric coordinates."""
    rows, columns = heights.shape
    u, v = x / spacing[0] + (columns - 1) / 2, y / spacing[1] + (rows - 1) / 2
    i, j = int(u), int(v)
    u, v = u - i, v - j
    a, b, c, d = heights[j, i], heights[j, i + 1], heights[j + 1, i], heights[j + 1, i + 1]
    rise = (d - c, c - a) if v > u else (b - a, d - b)
    normal = np.array([-rise[0] / spacing[0], -rise[1] / spacing[1], 1.0])
    return a + rise[0] * u + rise[1] * v, normal / np.linalg.norm(normal), min(u, v, 1 - u, 1 - v, abs(u - v))


def field_of(index, seed):
    """A world with a height field, the file that it names, and the geom that is its ground for MuJoCo. Every other ball
    is anywhere and may roll over edges."""
    random_ = random.Random(7000 * seed + index)
    kind = KINDS[index % len(KINDS)]
    geom, size, half, stands = shape_of(random_, kind)
    rows, columns = random_.randint(3, 6), random_.randint(3, 6)
    spacing = (random_.uniform(0.9, 1.2), random_.uniform(0.9, 1.2))
    data = np.array([[random_.uniform(-3, 5) for _ in range(columns)] for _ in range(rows)], np.float32)
    high = random_.uniform(0.02, 0.1)
    heights = high * (data - data.min()).astype(float) / (data.max() - data.min())
    rolls = kind == "sphere" and index % 12 == 0
    while True:
        x, y = ((count - 1.5) * side * random_.uniform(-0.5, 0.5) for count, side in zip((columns, rows), spacing))
        height, normal, inside = facet(heights, spacing, x, y)
        if inside > (0.02 if rolls else 0.25):
            break
    yaw, place = random_.uniform(0, 2 * math.pi), np.array([random_.uniform(-2, 2) for _ in range(3)])
    about = turn((0, 0, 1), yaw)
    tilt = np.cross((0, 0, 1), normal)
    lean = turn(tilt / max(np.linalg.norm(tilt), 1e-12), math.asin(np.linalg.norm(tilt)))
    way = random_.uniform(0, 2 * math.pi)
    nearly = turn((math.cos(way), math.sin(way), 0), math.radians(random_.uniform(-0.3, 0.3)))
    stands = times(turn((0, 0, 1), random_.uniform(0, 2 * math.pi)), stands)
    up = rotated(about, normal)
    body = place + rotated(about, (x, y, height)) + (half + 0.01 * max(size) + random_.uniform(0.0005, 0.003)) * up
    extent = numbers((0.5 * spacing[0] * (columns - 1), 0.5 * spacing[1] * (rows - 1), high, 0.3))
    binary = index % 4 >= 2
    given = ('file="field.bin"' if binary else
             f'nrow="{rows}" ncol="{columns}" elevation="{" ".join(f"{z:.9g}" for z in data[::-1].ravel())}"')
    content = np.array([rows, columns], "<i4").tobytes() + data.astype("<f4").tobytes() if binary else None
    friction = [random_.uniform(0.4, 1) for _ in range(2)]
    common = f'friction="{friction[0]:.6g}"/>'
    ground = f'<geom name="ground" type="hfield" hfield="hills" pos="{numbers(place)}" quat="{numbers(about)}" {common}'
    plane = (f'<geom name="ground" type="plane" size="1 1 1" pos="{numbers(place + rotated(about, (x, y, height)))}" '
             f'quat="{numbers(times(about, lean))}" {common}')
    return ("field " + ("rolling" if rolls else kind)), (
        '<mujoco><option timestep="0.0001" integrator="implicitfast" cone="elliptic" impratio="100"/>'
        '<default><geom solref="0.004 1" solimp="0.95 0.99 0.001"/></default>'
        f'<asset><hfield name="hills" size="{extent}" {given}/></asset><worldbody>'
        f'{ground}<body name="it" pos="{numbers(body)}" '
        f'quat="{numbers(times(nearly, times(about, times(lean, stands))))}"><freejoint/>'
        f'<geom name="shape" type="{geom}" size="{numbers(size)}" mass="{random_.uniform(0.5, 2):.6g}" '
        f'friction="{friction[1]:.6g}"/></body></worldbody></mujoco>'), content, (ground, plane if kind in FLAT else ground)


def theirs(text, content):
    model = mujoco.MjModel.from_xml_string(text, {"field.bin": content} if content else {})
    data = mujoco.MjData(model)
    start, first = data.qpos[:3].copy(), math.inf
    for k in range(round(DURATION / THEIR_STEP)):
        mujoco.mj_step(model, data)
        if data.ncon and first == math.inf:
            first = k * THEIR_STEP
    return first, data.qpos[:3] - start


def ours(program, folder, name, text, content):
    if content:
        with open(os.path.join(folder, "field.bin"), "wb") as file:
            file.write(content)
    with open(os.path.join(folder, "world.xml"), "w") as file:
        file.write(text)
    spec = {"version": 1, "experiment": "world", "model": "articulated",
            "simulation": {"robot": "world.xml", "dt": STEP, "duration": DURATION, "friction": "anchored"},
            "parameters": {"ground_stiffness": 2e5, "ground_damping": 1000, "ground_depth": 5e-4,
                           "grip_stiffness": 2e5, "grip_damping": 500},
            "objective": {"minimize": "distance"}}
    with open(os.path.join(folder, "world.yaml"), "w") as file:
        json.dump(spec, file)
    results, out = os.path.join(folder, "results"), os.path.join(folder, "world.csv")
    for command in (["run", os.path.join(folder, "world.yaml"), "--name", name, "--progress", "none"],
                    ["replay", f"{name}/0", "-o", out]):
        subprocess.run([program, *command, "--results", results], check=True, capture_output=True, cwd=folder)
    with open(out) as file:
        rows = list(csv.DictReader(file))
    place = [np.array([float(row[f"base_{axis}"]) for axis in "xyz"]) for row in (rows[0], rows[-1])]
    first = next((float(row["time"]) - STEP for row in rows if float(row["it_force"]) != 0.0), math.inf)  # of the step
    return first, place[1] - place[0]


def main():
    program = os.path.abspath(sys.argv[1])
    worlds, seed = ([int(word) for word in sys.argv[2:4]] + [120, 1][len(sys.argv) - 2:])[:2]
    wrong, most, count = 0, {}, worlds + worlds // 2
    with tempfile.TemporaryDirectory() as folder:
        for index in range(count):
            if index < worlds:
                kind, text, content, swap = *world_of(index, seed), None, ("", "")
            else:
                kind, text, content, swap = field_of(index - worlds, seed)
            mine = ours(program, folder, f"world{index}", text, content)
            other = theirs(text.replace(*swap), content)
            late, off = abs(mine[0] - other[0]), float(np.linalg.norm(mine[1] - other[1]))
            way = float(np.linalg.norm(other[1]))
            allowed = 1e-3 + 0.02 * way
            good = late <= 2 * STEP and off <= allowed
            wrong += not good
            most[kind] = max(most.get(kind, 0.0), off / allowed)
            if not good:
                print(f"FAIL world {index}, {kind}: first contact {mine[0]:.4f} s and {other[0]:.4f} s, moved "
                      f"{mine[1]} m and {other[1]} m\n{text}")
    for kind, part in most.items():
        print(f"{kind:14} at most {part:.2f} of what is allowed")
    print(f"{'FAIL' if wrong else 'ok  '} {count - wrong} of {count} worlds as in MuJoCo {mujoco.__version__}")
    sys.exit(wrong > 0)


main()
