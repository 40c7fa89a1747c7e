// Live plots: drawn pixel by pixel (raster.js) in the next frame if they are in sight. The pointer marks, opens and
// brushes trials. A plot of two columns is drawn over an SVG with axes: of two_columns.js, and the page's static ones.
"use strict";
const plots = trials && (() => {
  const { html, svg } = make, { page, n, ids, columns, varied, fitness, shown, marked } = trials;
  const { pixel, pixels, rangeOf } = scales, { palette, shade } = shading, { kept, mask } = selection;
  const host = document.querySelector("div.explore");

  // ---- what the reader chooses: columns of axes and colours ---------------------------------------------------------
  const names = varied.map((one) => one.name), told = names.includes(fitness.name); // told: the fitness differs
  const second = names.find((name) => name === page.axes[1]) || names[0];
  const views = { x: page.axes[0], y: told ? fitness.name : second, colour: told ? fitness.name : second,
    bars: told ? fitness.name : page.axes[0], xlog: "", ylog: "" };

  // ---- drawing ------------------------------------------------------------------------------------------------------
  const list = []; // {element, draw(), mark(row)}
  let asked = false;
  const times = []; // ms of the last drawings, which tests read
  const near = (element) => {
    const box = element.getBoundingClientRect();
    return box.bottom > -50 && box.top < innerHeight + 50 && box.width > 0;
  };
  const redraw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      const start = performance.now();
      asked = false;
      for (const view of list) view.stale = !near(view.element); // before what is drawn changes the layout
      for (const view of list) if (!view.stale) view.draw();
      times.push(performance.now() - start);
      if (times.length > 600) times.shift();
      host.dataset.milliseconds = times.slice(-60).map((ms) => ms.toFixed(1)).join(" ");
    });
  };
  addEventListener("scroll", () => { if (list.some((view) => view.stale && near(view.element))) redraw(); },
    { passive: true });
  const opaque = (floor) => (selection.nSelected < selection.nKept ? Math.max(floor, 0.7) : floor); // among faded ones
  // The pointer over a view marks the closest trial; a click opens it, dragging brushes, a double click ends a brush.
  const follow = (element, { closest, brush: drag, undo, starts = () => true }) => {
    let from = null, moved = false, row = -1;
    let held = null; // where the element was when a brush began: what is selected may change the heights above it
    const at = (event) => {
      const box = held || element.getBoundingClientRect(), scale = element.viewBox.baseVal.width / box.width;
      return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    };
    element.addEventListener("pointermove", (event) => {
      const place = at(event);
      if (from === null) {
        row = closest(place);
        const value = row < 0 ? "" : marked(fitness, fitness.v[row], row) || "none";
        const tip = row < 0 ? "" : `trial ${ids[row]}: ${fitness.name} ${value}`;
        if (tip) element.dataset.tip = tip; else delete element.dataset.tip;
        if (!event.target.closest("[data-trial]"))
          document.dispatchEvent(new CustomEvent("mark", { detail: row < 0 ? null : String(ids[row]) }));
        return;
      }
      moved = moved || Math.hypot(place[0] - from[0], place[1] - from[1]) > 4;
      if (moved) drag(from, place, false);
    });
    element.addEventListener("pointerdown", (event) => {
      const place = at(event);
      if (event.button !== 0 || event.pointerType === "touch" || !starts(place)) return;
      event.preventDefault();
      element.setPointerCapture(event.pointerId);
      held = element.getBoundingClientRect();
      from = place;
      moved = false;
      delete element.dataset.tip;
    });
    const end = (event) => {
      if (from === null) return;
      const start = from;
      from = null;
      if (moved) drag(start, at(event), true);
      held = null;
    };
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
    element.addEventListener("pointerleave", () => {
      document.dispatchEvent(new CustomEvent("mark", { detail: null }));
    });
    element.addEventListener("click", (event) => {
      if (moved) { moved = false; event.stopPropagation(); return; }
      row = closest(at(event)); // a finger has not moved before
      if (row >= 0 && !event.target.closest("[data-trial]")) panel.show(String(ids[row]));
    });
    element.addEventListener("dblclick", (event) => { event.preventDefault(); undo(); });
  };

  const paleKey = () => ( // of what is faded
    selection.nSelected < selection.nKept ? `${selection.version} ${shading.version()}` : null);
  const dotSize = (count) => (count > 20000 ? 2 : count > 600 ? 4 : 6); // pixels, even

  // A plot of two columns: dots of the selected trials over an SVG with axes, in which the pointer brushes. own: the
  // others are drawn too, because the SVG does not show them.
  const cross = (box, frame, x, y, own) => {
    const canvas = html("canvas", { "aria-hidden": "true" }, box);
    const raster = new Raster(canvas, frame.viewBox.baseVal.width, frame.viewBox.baseVal.height);
    const mark = svg("circle", { class: "hit", r: 6, visibility: "hidden" }, frame);
    const shadow = svg("rect", { class: "br", visibility: "hidden" }, frame);
    let px = null, py = null;
    const ready = () => {
      if (px) return;
      px = pixels(x);
      py = pixels(y);
    };
    const show = (range, axis) => range && [range.low, range.high].map((value, k) => Math.min(Math.max(
      value === undefined ? (k === 0 ? axis.from : axis.to) : pixel(axis, axis.log ? Math.max(value, 1e-300) : value),
      Math.min(axis.from, axis.to)), Math.max(axis.from, axis.to)));
    const drawBrush = () => {
      const a = show(selection.ranges.get(x.column.name), x), b = show(selection.ranges.get(y.column.name), y);
      shadow.setAttribute("visibility", a || b ? "visible" : "hidden");
      if (!a && !b) return;
      const [left, right] = (a || [x.from, x.to]).sort((u, v) => u - v);
      const [top, bottom] = (b || [y.from, y.to]).sort((u, v) => u - v);
      for (const [key, value] of Object.entries({ x: left, y: top, width: right - left, height: bottom - top }))
        shadow.setAttribute(key, value.toFixed(1));
    };
    const draw = () => {
      drawBrush();
      ready();
      const by = columns.get(views.colour);
      raster.start(own ? paleKey() : null, () => {
        raster.begin();
        raster.dots(px, py, kept, null, dotSize(selection.nKept));
        raster.end(palette(by), 0.5, selection.nKept <= 3000);
      });
      if (own || selection.nSelected < n) {
        raster.begin();
        raster.dots(px, py, mask, shade(by), dotSize(selection.nSelected));
        raster.end(palette(by), 1, selection.nSelected <= 3000, opaque(0.35));
      }
      raster.put();
    };
    const closest = ([ex, ey], reach) => {
      let row = -1, least = reach * reach;
      ready();
      for (let i = 0; i < n; i++) {
        if (!mask[i]) continue;
        const d = (px[i] - ex) ** 2 + (py[i] - ey) ** 2;
        if (d < least) { least = d; row = i; }
      }
      return row;
    };
    follow(frame, { closest: (place) => closest(place, 10),
      brush: ([ax, ay], [bx, by], last) => {
        const wide = Math.abs(bx - ax) > 6, high = Math.abs(by - ay) > 6, changes = [];
        if (wide || !high) changes.push([x.column.name, rangeOf(x, ax, bx)]);
        if (high) changes.push([y.column.name, rangeOf(y, ay, by)]);
        selection.brush(changes, last);
      },
      undo: () => selection.brush([[x.column.name, null], [y.column.name, null]], true) });
    return { element: box, draw, mark: (row) => {
      ready();
      const there = row >= 0 && px[row] === px[row] && py[row] === py[row];
      mark.setAttribute("visibility", there ? "visible" : "hidden");
      if (!there) return;
      mark.setAttribute("cx", px[row]);
      mark.setAttribute("cy", py[row]);
    } };
  };

  // The static plots of two columns.
  const known = (name) => {
    const plainName = name.replace(/ \(maximised\)$/, "");
    return columns.get(plainName) || [...columns.values()].find((column) => column.origin === plainName);
  };
  const noted = (text) => {
    const [low, high, from, to, log] = text.split(" ", 5).map(Number);
    return { low, high, from, to, log: log === 1, column: known(text.split(" ").slice(5).join(" ")) };
  };
  for (const frame of document.querySelectorAll("main svg.p[data-x][data-y]")) {
    if (frame.closest(".still")) continue;
    const x = noted(frame.dataset.x), y = noted(frame.dataset.y);
    if (!x.column || !y.column) continue;
    const many = frame.querySelectorAll("[data-trial]").length > 600;
    const fit = frame.hasAttribute("data-fit"), box = html("div", { class: "live over" });
    box.classList.toggle("many", many);
    box.classList.toggle("fit", fit);
    frame.replaceWith(box);
    box.append(frame);
    list.push(cross(box, frame, x, y, false));
  }
  return { views, names, list, redraw, near, follow, cross, paleKey, opaque };
})();
