// Parallel coordinates: an axis per column, a line per trial; of many trials a line for all that share two rows of
// pixels.
"use strict";
const parallel = trials && (() => {
  const { html, svg } = make, { n, columns, fitness, digits } = trials;
  const { axisOver, pixel, pixels, ticks, rangeOf } = scales;
  const { palette, shade } = shading, { kept, mask } = selection, { views, follow, paleKey, opaque } = plots;

  // In an element, of the columns with these names.
  const draw = (box, axes) => {
    const width = Math.max(92 * axes.length, box.clientWidth || 896);
    const gap = (width - 116) / Math.max(1, axes.length - 1);
    const long = axes.some((name, k) => k > 0 && 4 * (name.length + axes[k - 1].length) > gap); // names in two rows
    const top = long ? 48 : 34, height = top + 296, bottom = height - 30;
    const wrap = html("div", { class: "live" }, box), canvas = html("canvas", { "aria-hidden": "true" }, wrap);
    const raster = new Raster(canvas, width, height);
    const frame = svg("svg", { class: "p", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `parallel coordinates of ${axes.join(", ")}` }, wrap);
    wrap.style.width = canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const all = axes.map((name) => axisOver(columns.get(name), columns.get(name).log, bottom, top, 0));
    const x = axes.map((_, k) => 58 + gap * k);
    const rows = all.map((axis) => pixels(axis, true)), brushes = [];
    all.forEach((axis, k) => {
      const anchor = { x: x[k], "text-anchor": "middle" };
      svg("text", { class: "tt", ...anchor, y: long && k % 2 ? 26 : 12 }, frame, axis.column.name);
      svg("line", { class: "ax", x1: x[k], x2: x[k], y1: bottom, y2: top }, frame);
      if (axis.column.words) {
        for (const tick of ticks(axis, 16))
          svg("text", { class: "tk on", x: x[k] - 5, y: pixel(axis, tick) + 4, "text-anchor": "end" }, frame,
            axis.column.words[tick]);
      } else {
        svg("text", { class: "tk", ...anchor, y: top - 5 }, frame, digits(axis.high));
        const zero = !axis.log && Math.abs(axis.low) < 1e-3 * Math.abs(axis.high);
        svg("text", { class: "tk", ...anchor, y: bottom + 13 }, frame, zero ? "0" : digits(axis.low));
      }
      if (axis.column.unit) svg("text", { class: "tk", ...anchor, y: bottom + 26 }, frame, `(${axis.column.unit})`);
      brushes.push(svg("rect", { class: "br", x: x[k] - 9, width: 18, visibility: "hidden" }, frame));
      svg("rect", { class: "grip", x: x[k] - 16, width: 32, y: top - 12, height: bottom - top + 24 }, frame);
    });
    const hit = svg("path", { class: "hit", d: "" }, frame);
    const FINE = 96, counts = new Uint32Array(FINE * FINE), bests = new Uint8Array(FINE * FINE);
    const low = rows.map((one) => Uint8Array.from(one, (y) => (y !== y ? 255 : Math.min(FINE - 1,
      (y - top) / (bottom - top) * FINE))));
    // Of many trials a line for all that share two of `ROWS` rows; of fewer rows while the reader brushes.
    const paint = (which, classes, count) => {
      const { fine } = raster, { brushing } = selection, few = count <= (brushing ? 1500 : 3000);
      const coarse = brushing && which === mask ? 1 : 0;
      const ROWS = FINE >> coarse;
      for (let k = 0; k + 1 < all.length; k++) {
        const from = Math.round(x[k] * fine), to = Math.round(x[k + 1] * fine);
        const a = rows[k], b = rows[k + 1], la = low[k], lb = low[k + 1];
        if (few) {
          for (let i = 0; i < n; i++) {
            if (!which[i] || a[i] !== a[i] || b[i] !== b[i]) continue;
            raster.line(from, a[i] * fine, to, b[i] * fine, 1, classes ? classes[i] : 0, true);
          }
          continue;
        }
        counts.fill(0);
        bests.fill(0);
        for (let i = 0; i < n; i++) {
          if (!which[i] || la[i] === 255 || lb[i] === 255) continue;
          const cell = (la[i] >> coarse) * ROWS + (lb[i] >> coarse), c = classes ? classes[i] : 0;
          counts[cell]++;
          if (c > bests[cell]) bests[cell] = c;
        }
        const step = (bottom - top) / ROWS * fine, start = top * fine + step / 2;
        for (let cell = 0; cell < ROWS * ROWS; cell++) {
          if (counts[cell] === 0) continue;
          const shift = (Math.imul(cell, 2654435761) >>> 16) / 65536 - 0.5; // rows without a pattern
          const ya = start + (Math.floor(cell / ROWS) + shift) * step, yb = start + (cell % ROWS - shift) * step;
          raster.line(from, ya, to, yb, counts[cell], bests[cell], false);
        }
      }
    };
    const paintAll = () => {
      all.forEach((axis, k) => {
        const range = selection.ranges.get(axis.column.name);
        brushes[k].setAttribute("visibility", range ? "visible" : "hidden");
        if (!range) return;
        const clamp = (y) => Math.min(bottom, Math.max(top, y));
        const [lowest, highest] = range.words ? [Math.min(...range.words) - 0.5, Math.max(...range.words) + 0.5]
          : [range.low === undefined ? axis.low : range.low, range.high === undefined ? axis.high : range.high];
        const place = (value) => (axis.log && value <= 0 ? bottom : clamp(pixel(axis, value)));
        brushes[k].setAttribute("y", place(highest));
        brushes[k].setAttribute("height", Math.max(2, place(lowest) - place(highest)));
      });
      const by = columns.get(views.colour);
      raster.start(paleKey(), () => {
        raster.begin();
        paint(kept, null, selection.nKept);
        raster.end(palette(fitness), 0.5, false, 0.1);
      });
      raster.begin();
      paint(mask, shade(by), selection.nSelected);
      raster.end(palette(by), 1, selection.nSelected <= 60, opaque(selection.nSelected <= 600 ? 0.35 : 0.1));
      raster.put();
    };
    const axisAt = (ex) => x.findIndex((place) => Math.abs(place - ex) < 17);
    let heldAxis = -1;
    follow(frame, { starts: ([ex]) => { heldAxis = axisAt(ex); return heldAxis >= 0; },
      closest: ([ex, ey]) => {
        let gap = 0, row = -1, least = 6;
        while (gap + 2 < x.length && ex > x[gap + 1]) gap++;
        const part = (ex - x[gap]) / (x[gap + 1] - x[gap]);
        if (part < 0 || part > 1 || axisAt(ex) >= 0) return -1;
        const a = rows[gap], b = rows[gap + 1];
        for (let i = 0; i < n; i++) {
          if (!mask[i]) continue;
          const d = Math.abs(a[i] + part * (b[i] - a[i]) - ey);
          if (d < least) { least = d; row = i; }
        }
        return row;
      },
      brush: ([, ay], [, by], last) => {
        const axis = all[heldAxis];
        selection.brush([[axis.column.name, rangeOf(axis, ay, by)]], last);
      },
      undo: () => { if (heldAxis >= 0) selection.brush([[all[heldAxis].column.name, null]], true); } });
    return { element: wrap, draw: paintAll, mark: (row) => {
      hit.setAttribute("d", row < 0 ? "" : `M${all.map((_, k) => [x[k], rows[k][row]]).filter(([, y]) => y === y)
        .map(([px, py]) => `${px.toFixed(1)} ${py.toFixed(1)}`).join("L")}`);
    } };
  };
  return { draw };
})();
