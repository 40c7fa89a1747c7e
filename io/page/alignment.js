// Plays alignments: a moving cloud over a fixed one, seen from above, iteration by iteration. The program gives the
// positions; between two iterations they are interpolated linearly.
"use strict";
(() => {
  const host = document.querySelector("div.alignment"), data = document.getElementById("alignments");
  if (!host || !data) return;
  const all = JSON.parse(data.textContent), many = all.length > 1;

  const { html } = make;

  // ---- one alignment ----------------------------------------------------------------------------------------------
  const stage = (one, parent) => {
    const box = html("div", { class: "stage" }, parent), head = html("p", { class: "name" }, box, one.name);
    const say = html("span", {}, head), width = many ? 460 : 900, height = many ? 340 : 460;
    const canvas = html("canvas", { role: "img", "aria-label": `alignment of ${one.name}` }, box);
    const pen = canvas.getContext("2d"), size = 2 * one.n_points, frames = one.points.length / size;
    const [left, bottom, right, top] = one.frame;
    const scale = Math.min((width - 20) / (right - left), (height - 20) / (top - bottom));
    const toX = (x) => width / 2 + (x - (left + right) / 2) * scale;
    const toY = (y) => height / 2 - (y - (bottom + top) / 2) * scale;
    const fine = window.devicePixelRatio || 1;
    canvas.width = width * fine;
    canvas.height = height * fine;
    const dots = (xy, colour, side) => {
      pen.fillStyle = colour;
      for (let k = 0; k + 1 < xy.length; k += 2)
        pen.fillRect(toX(xy[k]) - side / 2, toY(xy[k + 1]) - side / 2, side, side);
    };
    return (t) => {
      const low = Math.min(Math.floor(t), frames - 1), high = Math.min(low + 1, frames - 1), fraction = t - low;
      const style = getComputedStyle(document.documentElement), points = new Array(size);
      for (let k = 0; k < size; k++)
        points[k] = one.points[low * size + k] * (1 - fraction) + one.points[high * size + k] * fraction;
      pen.setTransform(fine, 0, 0, fine, 0, 0);
      pen.clearRect(0, 0, width, height);
      dots(one.fixed, style.getPropertyValue("--accent"), 3);
      dots(points, style.getPropertyValue("--hot"), 1.8);
      const row = Math.min(low, one.curves.length - 1);
      say.textContent = low >= frames - 1 ? `aligned: ${one.failure}` : one.curves[row];
    };
  };

  // ---- the clock: iterations ----------------------------------------------------------------------------------------
  const stages = html("div", { class: "stages" }, host), draw = all.map((one) => stage(one, stages));
  const end = Math.max(...all.map((one) => one.points.length / (2 * one.n_points) - 1));
  const controls = html("div", { class: "controls" }, host);
  const play = html("button", { type: "button" }, controls, "Play");
  const scrubber = html("input", { type: "range", min: 0, max: end, step: "any", value: 0, "aria-label": "iteration" },
    controls);
  const clock = html("output", {}, controls);
  const speed = html("select", { "aria-label": "iterations per second" }, controls);
  for (const rate of [1, 2, 5, 10]) html("option", { value: rate }, speed, `${rate}/s`);
  speed.value = end > 20 ? "5" : "2";

  let time = 0, playing = false, before = 0, rest = 0; // rest: ms to wait at the end
  const show = () => {
    for (const one of draw) one(time);
    scrubber.value = time;
    clock.textContent = `${Math.floor(time)} of ${end}`;
  };
  const frame = (now) => {
    if (!playing) return;
    const passed = Math.min(now - before, 100);
    before = now;
    time = Math.min(end, time + passed / 1000 * Number(speed.value));
    rest = time < end ? 0 : rest + passed;
    if (rest > 1500) time = rest = 0;
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
  show();
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) run(true);
})();
