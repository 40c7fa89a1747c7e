// Plays motions: frames of points in metres that the program computed, joined by shapes; or solids in space (scene.js).
// All motions of a player share a clock and a camera, so that trials can be compared at the same time: side by side, or
// in one scene, where all but the first are ghosts. A report has motions of more trials, which the reader chooses.
"use strict";
const motions = (() => {
  const { html, svg } = make;
  const player = (host, motions, together, calm) => {
    const width = (motions.length > 1 && !together) || host.clientWidth < 620 ? 460 : 900;
    const height = motions.some((motion) => motion.solids) ? 440 : 340;

    // ---- one motion -------------------------------------------------------------------------------------------------
    // The frame before time t, and the fraction of the way to the next one.
    const frameAt = (motion, t) => {
      let low = 0, high = motion.time.length - 1;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (motion.time[middle] <= t) low = middle; else high = middle;
      }
      const span = motion.time[high] - motion.time[low];
      return [low, high, span > 0 ? Math.min(1, Math.max(0, (t - motion.time[low]) / span)) : 0];
    };
    const pointsAt = (motion, t) => {
      const [low, high, fraction] = frameAt(motion, t), size = 2 * motion.n_points, points = [];
      for (let k = 0; k < size; k++)
        points.push(motion.points[low * size + k] * (1 - fraction) + motion.points[high * size + k] * fraction);
      return points;
    };
    const groundAt = (ground, x) => {
      const k = Math.min(Math.max((x - ground.from) / ground.step, 0), ground.height.length - 1.001), i = Math.floor(k);
      return ground.height[i] * (i + 1 - k) + ground.height[i + 1] * (k - i);
    };

    const spring = (x1, y1, x2, y2, breadth) => {
      const length = Math.hypot(x2 - x1, y2 - y1) || 1, side = breadth / 2 / length;
      let path = `M${x1.toFixed(1)} ${y1.toFixed(1)}`;
      for (let k = 0; k < 8; k++) {
        const along = 0.12 + 0.76 * (k + 0.5) / 8, across = k % 2 ? -side : side;
        path += `L${(x1 + along * (x2 - x1) - across * (y2 - y1)).toFixed(1)} ` +
                `${(y1 + along * (y2 - y1) + across * (x2 - x1)).toFixed(1)}`;
      }
      return `${path}L${x2.toFixed(1)} ${y2.toFixed(1)}`;
    };

    const stage = (all, parent) => { // the first, and ghosts
      const [motion] = all, scale = (height - 56) / Math.max(...all.map((one) => one.height));
      const flat = motion.ground.height.every((z) => z === 0);
      const box = html("div", { class: "stage", "data-trial": trialOf(idOf(motion)) }, parent), title = titleOf(all);
      const head = html("p", { class: "name" }, box, title);
      const say = html("span", {}, head);
      const view = svg("svg", { class: "p", viewBox: `0 0 ${width} ${height}`, role: "img",
        "aria-label": `motion of ${title}` }, box);
      const world = svg("g", {}, view), ticks = svg("g", {}, world);
      const ground = svg("path", { class: "gd" }, world), trail = svg("path", { class: "tr" }, world);
      const figures = all.map((one, k) => one.shapes.map((shape) => {
        const kinds = { rod: "line", spring: "path", disc: "circle" };
        const element = svg(kinds[shape.kind], { class: k > 0 ? `${shape.name} ghost` : shape.name }, world);
        if (shape.kind === "rod") {
          element.setAttribute("stroke-linecap", "round");
          element.setAttribute("stroke-width", shape.width * scale);
        } else if (shape.kind === "disc") {
          element.setAttribute("r", shape.width / 2 * scale);
        } else {
          element.setAttribute("stroke-width", 2);
          element.setAttribute("stroke-linejoin", "round");
        }
        return element;
      }));
      for (const element of figures[0]) world.append(element); // in front of the ghosts
      let camera = null; // m, of the left edge and of the ground

      const drawWorld = (left, level) => {
        const span = width / scale, toY = (z) => (height - 42 - (z - level) * scale).toFixed(1);
        const step = flat ? span : motion.ground.step;
        let path = "";
        for (let x = left; x < left + span + 1.5 * step; x += step)
          path += `${path ? "L" : "M"}${((x - left) * scale).toFixed(1)} ${toY(groundAt(motion.ground, x))}`;
        ground.setAttribute("d", path);
        ticks.replaceChildren();
        const unit = span < 16 ? 1 : 10 ** Math.ceil(Math.log10(span / 8)); // m between two labels
        for (let k = Math.ceil(2 * left / unit); k < 2 * (left + span) / unit; k++) {
          const mark = k * unit / 2, whole = k % 2 === 0;
          const x = (mark - left) * scale, y = Number(toY(groundAt(motion.ground, mark)));
          svg("line", { class: "ax", x1: x, x2: x, y1: y + 2, y2: y + (whole ? 9 : 5) }, ticks);
          if (!whole) continue;
          svg("text", { class: "tk", x, y: y + 22, "text-anchor": "middle" }, ticks).textContent = `${mark} m`;
        }
      };
      const drawTrail = (t, toX, toY) => {
        const last = frameAt(motion, t)[0], size = 2 * motion.n_points;
        let path = "";
        for (let i = Math.max(0, frameAt(motion, t - 1.2)[0]); i <= last; i += 2)
          path += `${path ? "L" : "M"}${toX(motion.points[i * size + 2 * motion.focus])} ` +
                  `${toY(motion.points[i * size + 2 * motion.focus + 1])}`;
        trail.setAttribute("d", path);
      };

      const drawFigure = (one, figure, points, toX, toY) => {
        one.shapes.forEach((shape, s) => {
          const [x1, y1, x2, y2] = [toX(points[2 * shape.from]), toY(points[2 * shape.from + 1]),
            toX(points[2 * shape.to]), toY(points[2 * shape.to + 1])];
          const set = (attributes) => {
            for (const [key, value] of Object.entries(attributes)) figure[s].setAttribute(key, value);
          };
          if (shape.kind === "rod") set({ x1, y1, x2, y2 });
          else if (shape.kind === "disc") set({ cx: x1, cy: y1 });
          else set({ d: spring(+x1, +y1, +x2, +y2, shape.width * scale) });
        });
      };

      return (t) => {
        const points = pointsAt(motion, t), x = points[2 * motion.focus];
        const level = groundAt(motion.ground, x);
        camera = camera === null ? level : camera + 0.1 * (level - camera);
        const left = x - 0.42 * width / scale;
        const toX = (value) => ((value - left) * scale).toFixed(1);
        const toY = (value) => (height - 42 - (value - camera) * scale).toFixed(1);
        drawWorld(left, camera);
        drawTrail(t, toX, toY);
        all.forEach((one, k) => drawFigure(one, figures[k], k === 0 ? points : pointsAt(one, t), toX, toY));
        const ended = t > motion.time[motion.time.length - 1] + 1e-6;
        const phase = motion.phases[motion.phase[frameAt(motion, t)[0]]] || "";
        say.textContent = ended && motion.failure !== "none" ? motion.failure : ended ? "ended" : phase;
      };
    };
    // ---- the clock --------------------------------------------------------------------------------------------------
    const stages = html("div", { class: "stages" }, host);
    const start3 = { azimuth: 0.5, elevation: 0.25, zoom: 1 }, camera = { ...start3, start: start3 };
    const tools = { idOf: (motion) => trialOf(idOf(motion)), titleOf, frameAt, groundAt, redraw: () => show(),
      toggle: () => run(!playing) };
    const draw = (together ? [motions] : motions.map((motion) => [motion])).map((all) =>
      all[0].solids ? scene(all, width, height, camera, tools, stages) : stage(all, stages));
    const start = Math.min(...motions.map((motion) => motion.time[0]));
    const end = Math.max(...motions.map((motion) => motion.time[motion.time.length - 1]));
    const controls = html("div", { class: "controls" }, host);
    const play = html("button", { type: "button" }, controls, "Play");
    const scrubber = html("input", { type: "range", min: start, max: end, step: "any", value: start,
      "aria-label": "time" }, controls);
    const clock = html("output", {}, controls);
    const speed = html("select", { "aria-label": "speed" }, controls);
    for (const factor of [0.1, 0.25, 0.5, 1, 2]) html("option", { value: factor }, speed, `${factor}\u00d7`);
    speed.value = "0.5";

    let time = start, playing = false, before = 0;
    const show = () => {
      for (const one of draw) one(time);
      scrubber.value = time;
      clock.textContent = `${time.toFixed(2)} s`;
    };
    const frame = (now) => {
      if (!playing) return;
      time += Math.min(now - before, 100) / 1000 * Number(speed.value);
      before = now;
      if (time > end) time = start;
      show();
      requestAnimationFrame(frame);
    };
    const run = (on) => {
      playing = on;
      play.textContent = on ? "Pause" : "Play";
      before = performance.now();
      if (on) requestAnimationFrame(frame);
    };
    play.addEventListener("click", () => run(!playing));
    scrubber.addEventListener("input", () => { run(false); time = Number(scrubber.value); show(); });
    scrubber.addEventListener("keydown", (event) => {
      if (event.key === " ") { event.preventDefault(); run(!playing); }
    });
    show();
    const seen = new IntersectionObserver(([entry], observer) => { // starts when it is first visible
      if (!entry.isIntersecting) return;
      observer.disconnect();
      run(true);
    }, { threshold: 0.6 });
    if (!calm) seen.observe(host);
    return { controls, stop: () => { seen.disconnect(); run(false); } };
  };

  const idOf = (motion) => motion.name.split("/").slice(1).join("/"); // "12", or "12/3", of another replicate than 0
  const trialOf = (id) => id.split("/")[0];
  const titleOf = (all) => all.map((one, k) => (k > 0 ? `ghost ${one.name}` : one.name)).join(", ");

  // ---- the page's motions: those beside the first are read where a reader asks for them ----------------------------
  const host = document.querySelector("main div.motion"), data = document.getElementById("motions");
  const first = data ? JSON.parse(data.textContent) : [];
  const known = new Map(first.map((motion) => [idOf(motion), motion]));
  const more = [...document.querySelectorAll("script[id^=motion_]")].map((script) => script.id.slice(7));
  const ids = [...known.keys(), ...more.filter((id) => !known.has(id))];
  const of = (id) => {
    const script = known.has(id) ? null : document.getElementById(`motion_${id}`);
    if (script) known.set(id, JSON.parse(script.textContent)[0]);
    return known.get(id) || null;
  };
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  // Plays a trial in an element, with a choice of ghosts, and of other trials; null: the page has no motion of it.
  const play = (element, id, ghost = "", others = false) => {
    const all = [of(id), ghost ? of(ghost) : null].filter((one) => one !== null);
    if (all.length === 0) return null;
    element.replaceChildren();
    const made = player(element, all, all.length > 1, calm), { controls } = made, handle = { stop: made.stop };
    const choose = (text, list, value, change, shown = (one) => one || "none") => {
      const select = html("select", {}, html("label", {}, controls, `${text} `));
      for (const one of list) html("option", { value: one }, select, shown(one));
      select.value = value;
      select.addEventListener("change", () => { handle.stop(); Object.assign(handle, change(select.value)); });
    };
    const own = ids.filter((one) => trialOf(one) === trialOf(id)), trials = ids.filter((one) => !one.includes("/"));
    const change = (value) => play(element, value, ghost === value ? "" : ghost, others);
    if (others && trials.length > 1) choose("trial", trials, trialOf(id), change);
    if (own.length > 1) choose("replicate", own, id, change, (one) => one.split("/")[1] || "0");
    if (ids.length > 1)
      choose("ghost", ["", ...ids.filter((one) => one !== id)], ghost, (value) => play(element, id, value, others));
    return handle;
  };
  if (host && first.length === 1) play(host, ids[0], "", more.length > 0);
  if (host && first.length > 1) {
    let made = null, together = false;
    const alike = first.every((one) => Boolean(one.solids) === Boolean(first[0].solids));
    const build = () => {
      if (made) made.stop();
      host.replaceChildren();
      made = player(host, first, together, calm);
      if (!alike) return;
      const press = html("button", { type: "button" }, made.controls, together ? "Side by side" : "One scene");
      press.addEventListener("click", () => { together = !together; build(); });
    };
    build();
  }
  return { ids, play };
})();
