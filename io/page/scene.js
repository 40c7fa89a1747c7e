// One motion in space: solids on bodies with given poses, frame by frame, seen through a camera that the reader
// orbits. Faces are drawn from the farthest solid to the nearest.
"use strict";
const scene = (all, width, height, camera, tools, parent) => { // the first motion, and ghosts
  const { html, svg } = make, { idOf, titleOf, frameAt, groundAt } = tools, [motion] = all;
  const radius = 0.95 * motion.reach, far = 6 * radius; // m: around the base; from the camera to it

  // ---- poses: 16 bits per number, little endian: positions from the base, then quaternions -------------------------
  const moving = (motion) => {
    const n = motion.scale.length, bytes = Uint8Array.from(atob(motion.poses), (letter) => letter.charCodeAt(0));
    const numbers = new Int16Array(bytes.length / 2);
    for (let k = 0; k < numbers.length; k++) numbers[k] = bytes[2 * k] | bytes[2 * k + 1] << 8;

    const baseAt = (t) => {
      const [low, high, fraction] = frameAt(motion, t), between = (k) => motion.base[3 * low + k] * (1 - fraction) +
        motion.base[3 * high + k] * fraction;
      return [between(0), between(1), between(2)];
    };
    // Position and quaternion of a body in the frames around t.
    const poseAt = (body, low, high, fraction, base) => {
      const a = 7 * (low * n + body), b = 7 * (high * n + body), q = [0, 0, 0, 0];
      const p = base.map((x, k) => x + (numbers[a + k] * (1 - fraction) + numbers[b + k] * fraction) / 32767 * motion.reach);
      let same = 0, squares = 0;
      for (let k = 3; k < 7; k++) same += numbers[a + k] * numbers[b + k];
      for (let k = 0; k < 4; k++) {
        q[k] = numbers[a + 3 + k] * (1 - fraction) + (same < 0 ? -1 : 1) * numbers[b + 3 + k] * fraction;
        squares += q[k] * q[k];
      }
      return { p, r: rotation(q.map((x) => x / (Math.sqrt(squares) || 1))), s: motion.scale[body] };
    };
    const solidsAt = (t) => {
      const base = baseAt(t), [low, high, fraction] = frameAt(motion, t);
      const poses = motion.scale.map((_, body) => poseAt(body, low, high, fraction, base));
      return motion.solids.map((solid) => posed(solid, poses[solid.body] || world));
    };
    return { baseAt, solidsAt };
  };

  // ---- vectors; matrices are lists of columns ----------------------------------------------------------------------
  const rotation = ([x, y, z, w]) => [
    [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)],
    [2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)],
    [2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)]];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const less = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  const unit = (a) => { const size = Math.hypot(...a) || 1; return a.map((x) => x / size); };
  const turn = (r, v) => [0, 1, 2].map((k) => r[0][k] * v[0] + r[1][k] * v[1] + r[2][k] * v[2]);
  // Two unit vectors across u and across each other; the first along `near` as far as it can.
  const across = (u, near) => {
    let side = less(near, u.map((x) => x * dot(u, near)));
    if (Math.hypot(...side) < 1e-6) side = Math.abs(u[0]) < 0.9 ? cross(u, [1, 0, 0]) : cross(u, [0, 1, 0]);
    side = unit(side);
    return [side, cross(u, side)];
  };

  // ---- outlines: the faces of a solid that are visible from the direction u, in its own axes -------------------------
  const arc = (from, to, at) => {
    const points = [], steps = 12;
    for (let k = 0; k <= steps; k++) {
      const angle = from + (to - from) * k / steps;
      points.push(at(Math.cos(angle), Math.sin(angle)));
    }
    return points;
  };
  const round = (a, b, size, lift) => (c, s) => [0, 1, 2].map((k) => size[k] * (a[k] * c + b[k] * s) + lift[k]);
  const half = Math.PI / 2;
  const outlines = {
    ball: (size, u) => {
      const [a, b] = across(unit(u.map((x, k) => x / size[k])), [0, 0, 1]), at = round(a, b, size, [0, 0, 0]);
      return [{ points: [...arc(0, 2 * half, at), ...arc(2 * half, 4 * half, at)] }];
    },
    capsule: ([r, h], u) => {
      const [a, b] = across(u, [0, 0, 1]), size = [r, r, r];
      return [{ points: [...arc(-half, half, round(a, b, size, [0, 0, h])),
        ...arc(half, 3 * half, round(a, b, size, [0, 0, -h]))] }];
    },
    cylinder: ([r, h], u) => {
      const [a, b] = across([0, 0, 1], u), top = u[2] < 0 ? -h : h, size = [r, r, 0];
      const cap = round(a, b, size, [0, 0, top]), end = round(a, b, size, [0, 0, -top]);
      return [{ points: [...arc(half, 3 * half, cap), ...arc(3 * half, 5 * half, end)] },
        { points: [...arc(0, 2 * half, cap), ...arc(2 * half, 4 * half, cap)], normal: [0, 0, Math.sign(top)] }];
    },
    box: (size, u) => {
      const faces = [];
      for (let k = 0; k < 3; k++) {
        const normal = [0, 0, 0], side = u[k] < 0 ? -1 : 1, i = (k + 1) % 3, j = (k + 2) % 3;
        normal[k] = side;
        faces.push({ normal, points: [[1, 1], [-1, 1], [-1, -1], [1, -1]].map(([a, b]) => {
          const point = [0, 0, 0];
          point[k] = side * size[k];
          point[i] = a * size[i];
          point[j] = b * size[j];
          return point;
        }) });
      }
      return faces;
    },
  };
  // A body's factor scales half lengths; not the radius of balls and capsules.
  const sized = { ball: () => [1, 1, 1], capsule: (s) => [1, s, 1], cylinder: (s) => [s, s, 1], box: (s) => [s, s, s] };
  const world = { p: [0, 0, 0], r: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], s: 1 }; // of a solid on body -1
  const posed = (solid, pose) => {
    const own = turn(pose.r, solid.p.map((x) => x * pose.s)), turned = rotation(solid.q);
    const factor = sized[solid.kind](pose.s);
    return { solid, p: pose.p.map((x, k) => x + own[k]), r: turned.map((column) => turn(pose.r, column)),
      size: solid.size.map((x, k) => x * factor[k]) };
  };
  // Faces in the world of a solid with a pose, seen from the direction d.
  const faces = (one, d) => outlines[one.solid.kind](one.size, one.r.map((column) => dot(column, d))).map((face) => ({
    points: face.points.map((point) => turn(one.r, point).map((x, k) => x + one.p[k])),
    normal: face.normal ? turn(one.r, face.normal) : null }));

  // ---- the page ------------------------------------------------------------------------------------------------------
  const moves = all.map(moving), title = titleOf(all);
  const box = html("div", { class: "stage", "data-trial": idOf(motion) }, parent);
  const head = html("p", { class: "name" }, box, title), say = html("span", {}, head);
  const view = svg("svg", { class: "p scene", viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0,
    "aria-label": `motion of ${title}; arrow keys orbit, + and - zoom, 0 resets` }, box);
  const grid = svg("path", { class: "gr", fill: "none" }, view), profile = svg("path", { class: "gd" }, view);
  const shadow = svg("path", { class: "sd" }, view), trail = svg("path", { class: "tr" }, view);
  const drawn = svg("g", {}, view), pool = [];
  const words = svg("text", { class: "tk", x: 14, y: height - 12 }, view);
  let level = null; // m, of the ground below the base, smooth

  const flat = motion.ground.height.every((z) => z === motion.ground.height[0]);
  const cell = [1, 2, 5, 10].map((k) => k * 10 ** Math.floor(Math.log10(radius / 2)))
    .filter((size) => size <= radius / 2).pop();
  words.textContent = `grid ${Number(cell.toPrecision(1))} m \u00b7 drag to orbit, wheel to zoom, double-click to reset`;

  const eyeOf = () => {
    const { azimuth: a, elevation: e } = camera;
    return { d: [Math.sin(a) * Math.cos(e), -Math.cos(a) * Math.cos(e), Math.sin(e)], right: [Math.cos(a), Math.sin(a), 0],
      up: [-Math.sin(a) * Math.sin(e), Math.cos(a) * Math.sin(e), Math.cos(e)] };
  };
  const pathOf = (points, project, close) => {
    let path = "";
    for (const point of points) {
      const at = project(point);
      if (at === null) return "";
      path += `${path ? "L" : "M"}${at[0].toFixed(1)} ${at[1].toFixed(1)}`;
    }
    return close ? `${path}Z` : path;
  };
  const drawGround = (target, project) => {
    const reach = 3.2 * radius, lines = [], on = (x, y) => [x, y, groundAt(motion.ground, x)];
    const along = (y) => {
      const points = [], step = flat ? 2 * reach : Math.max(motion.ground.step, reach / 150);
      const left = Math.floor((target[0] - reach) / step) * step; // the same lines in all frames
      for (let x = flat ? target[0] - reach : left; x <= target[0] + reach + 1e-9; x += step) points.push(on(x, y));
      return points;
    };
    for (let k = Math.ceil((target[0] - reach) / cell); k * cell <= target[0] + reach; k++)
      lines.push([on(k * cell, target[1] - reach), on(k * cell, target[1] + reach)]);
    for (let k = Math.ceil((target[1] - reach) / cell); k * cell <= target[1] + reach; k++) lines.push(along(k * cell));
    grid.setAttribute("d", lines.map((line) => pathOf(line, project, false)).join(""));
    profile.setAttribute("d", Math.abs(target[1]) < reach ? pathOf(along(0), project, false) : "");
  };
  const drawTrail = (t, project) => {
    const [first] = frameAt(motion, t - 1.2), [last] = frameAt(motion, t), points = [];
    for (let i = first; i <= last; i++) points.push(motion.base.slice(3 * i, 3 * i + 3));
    trail.setAttribute("d", pathOf(points, project, false));
  };
  const shade = (normal) => {
    const light = normal === null ? 0.3 : dot(normal, [0.25, -0.4, 0.88]);
    return light > 0.6 ? "lit" : light > 0 ? "side" : "dark";
  };
  const drawSolids = (solids, eye, target, project) => {
    const viewpoint = target.map((x, k) => x + far * eye.d[k]);
    const all = solids.map((one) => ({ one, toEye: less(viewpoint, one.p) })).map((item) => ({ ...item,
      distance: Math.hypot(...item.toEye) })).sort((a, b) => b.distance - a.distance);
    let count = 0;
    for (const { one, toEye } of all) {
      for (const face of faces(one, unit(toEye))) {
        if (count === pool.length) pool.push(svg("path", {}, drawn));
        pool[count].setAttribute("class", `${one.solid.name}-${shade(face.normal)}${one.ghost ? " ghost" : ""}`);
        pool[count++].setAttribute("d", pathOf(face.points, project, true));
      }
    }
    for (; count < pool.length; count++) pool[count].setAttribute("d", "");
  };
  // One path of faces that turn alike, so that they add up.
  const drawShadow = (solids, project) => {
    let path = "";
    for (const one of solids) {
      const ground = groundAt(motion.ground, one.p[0]);
      for (const { points } of faces(one, [0, 0, 1])) {
        const area = points.reduce((sum, a, k) => {
          const b = points[(k + 1) % points.length];
          return sum + a[0] * b[1] - a[1] * b[0];
        }, 0);
        const fallen = points.map(([x, y]) => [x, y, ground]);
        path += pathOf(area < 0 ? fallen.reverse() : fallen, project, true);
      }
    }
    shadow.setAttribute("d", path);
  };

  const draw = (t) => {
    const base = moves[0].baseAt(t), eye = eyeOf();
    const focus = motion.fixed ? motion.base : base, ground = groundAt(motion.ground, focus[0]);
    level = level === null ? ground : level + 0.1 * (ground - level);
    const middle = Math.min(Math.max(level + motion.middle, focus[2] - radius / 2), focus[2] + radius / 2);
    const target = [focus[0], focus[1], middle], zoom = camera.zoom * Math.min(width, height) / 2 / radius * far;
    const project = (point) => {
      const from = less(point, target), depth = far - dot(from, eye.d);
      if (!(depth > 0.02 * far)) return null;
      return [width / 2 + zoom * dot(from, eye.right) / depth, height / 2 - zoom * dot(from, eye.up) / depth];
    };
    const solids = moves[0].solidsAt(t), ghosts = moves.slice(1).flatMap((one) => one.solidsAt(t))
      .map((solid) => ({ ...solid, ghost: true }));
    drawGround(target, project);
    if (!motion.fixed) drawTrail(t, project);
    if (motion.touches) drawShadow(solids, project);
    drawSolids([...solids, ...ghosts], eye, target, project);
    const ended = t > motion.time[motion.time.length - 1] + 1e-6;
    say.textContent = ended && motion.failure !== "none" ? motion.failure : ended ? "ended" : "";
  };

  // ---- the camera ------------------------------------------------------------------------------------------------------
  const look = (azimuth, elevation, factor) => {
    const least = motion.touches ? 0.03 : -1.5;
    camera.azimuth += azimuth;
    camera.elevation = Math.min(1.57, Math.max(least, camera.elevation + elevation));
    camera.zoom = Math.min(20, Math.max(0.2, camera.zoom * factor));
    tools.redraw();
  };
  const reset = () => { Object.assign(camera, camera.start); tools.redraw(); };
  const keys = { ArrowLeft: [-0.1, 0, 1], ArrowRight: [0.1, 0, 1], ArrowUp: [0, 0.1, 1], ArrowDown: [0, -0.1, 1],
    "+": [0, 0, 1.15], "=": [0, 0, 1.15], "-": [0, 0, 1 / 1.15] };
  let held = null; // where the pointer was
  view.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    view.setPointerCapture(event.pointerId);
    held = [event.clientX, event.clientY];
  });
  view.addEventListener("pointermove", (event) => {
    if (held === null || !view.hasPointerCapture(event.pointerId)) return;
    const [x, y] = held;
    held = [event.clientX, event.clientY];
    look(-0.008 * (event.clientX - x), 0.008 * (event.clientY - y), 1);
  });
  view.addEventListener("wheel", (event) => {
    event.preventDefault();
    look(0, 0, Math.exp(-0.0015 * event.deltaY * (event.deltaMode === 1 ? 33 : 1)));
  }, { passive: false });
  view.addEventListener("dblclick", reset);
  view.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (keys[event.key]) look(...keys[event.key]);
    else if (event.key === "0" || event.key === "Home") reset();
    else if (event.key === " ") tools.toggle();
    else return;
    event.preventDefault();
  });
  return draw;
};
