// A plot of two columns that the reader chooses, and a histogram of one.
"use strict";
const twoColumns = trials && (() => {
  const { html, svg } = make, { n, columns, shown, titled, counted } = trials;
  const { axisOver, pixel, pixels, ticks, rangeOf } = scales;
  const { kept, mask } = selection, { views, follow, cross } = plots;

  const frameOf = (box, width, height, x, y, label) => {
    const frame = svg("svg", { class: "p", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": label }, box);
    if (x.column) for (const [key, axis] of [["data-x", x], ["data-y", y]]) {
      if (!axis.column) continue;
      frame.setAttribute(key, [axis.low, axis.high, axis.from, axis.to, Number(axis.log), axis.column.name].join(" "));
      if (axis.column.words) frame.setAttribute(`${key}-words`, axis.column.words.join("|"));
    }
    if (y.column) for (const tick of ticks(y, 34)) {
      const at = pixel(y, tick);
      svg("line", { class: "gr", x1: x.from, x2: x.to, y1: at, y2: at }, frame);
      svg("text", { class: "tk", x: x.from - 6, y: at + 4, "text-anchor": "end" }, frame, shown(y.column, tick, 6));
    }
    svg("line", { class: "ax", x1: x.from, x2: x.to, y1: y.from, y2: y.from }, frame);
    for (const tick of ticks(x, x.column.words ? 60 : 64)) {
      const at = pixel(x, tick);
      svg("line", { class: "ax", x1: at, x2: at, y1: y.from, y2: y.from + 4 }, frame);
      svg("text", { class: "tk", x: at, y: y.from + 16, "text-anchor": "middle" }, frame, shown(x.column, tick, 6));
    }
    svg("text", { class: "la", x: (x.from + x.to) / 2, y: y.from + 33, "text-anchor": "middle" }, frame,
      titled(x.column));
    if (y.column) svg("text", { class: "la", x: 2, y: y.to - 9 }, frame, titled(y.column));
    return frame;
  };
  const axisLeft = ({ words }) => (words ? Math.min(160, 14 + 6.4 * Math.max(...words.map((w) => w.length))) : 56);
  const scatter = (box) => {
    const xc = columns.get(views.x), yc = columns.get(views.y), width = 552, height = 340;
    const x = axisOver(xc, views.xlog ? views.xlog === "1" : xc.log, axisLeft(yc), width - 12);
    const y = axisOver(yc, views.ylog ? views.ylog === "1" : yc.log, height - 42, 24);
    const wrap = html("div", { class: "live over fit" }, box);
    const frame = frameOf(wrap, width, height, x, y, `${yc.name} against ${xc.name}, a dot per trial`);
    return cross(wrap, frame, x, y, true);
  };
  const histogram = (box) => {
    const one = columns.get(views.bars), width = 396, height = 340, bins = one.words ? one.words.length : 48;
    const x = axisOver(one, one.log, 14, width - 12), bottom = height - 42, top = 24;
    const wrap = html("div", { class: "live over fit" }, box);
    const frame = frameOf(wrap, width, height, x, { from: bottom, to: top }, `histogram of ${one.name}`);
    const caption = svg("text", { class: "la", x: 2, y: 15 }, frame);
    const bars = ["k0", "ba"].map((name) => svg("path", { class: name, d: "" }, frame));
    const shadow = svg("rect", { class: "br", y: top, height: bottom - top, visibility: "hidden" }, frame);
    const px = pixels(x), bin = Uint8Array.from(px, (p) => (p !== p ? 255 : Math.min(bins - 1,
      Math.max(0, (p - x.from) / (x.to - x.from) * bins))));
    const count = (which) => {
      const out = new Uint32Array(256);
      for (let i = 0; i < n; i++) if (which[i]) out[bin[i]]++;
      return out;
    };
    const path = (counts, most) => {
      let d = "";
      const step = (x.to - x.from) / bins;
      for (let k = 0; k < bins; k++) {
        if (counts[k] === 0) continue;
        const left = (x.from + k * step + 0.4).toFixed(1), high = bottom - (bottom - top) * counts[k] / most;
        d += `M${left} ${bottom}V${high.toFixed(1)}h${Math.max(0.5, step - 0.8).toFixed(1)}V${bottom}z`;
      }
      return d;
    };
    let all = null, allOf = -1;
    const draw = () => {
      if (allOf !== selection.version) all = count(kept);
      allOf = selection.version;
      const some = count(mask), most = Math.max(1, ...all.subarray(0, bins));
      bars[0].setAttribute("d", path(all, most));
      bars[1].setAttribute("d", path(some, most));
      caption.textContent = `trials, up to ${counted(most)}`;
      const range = selection.ranges.get(one.name);
      shadow.setAttribute("visibility", range ? "visible" : "hidden");
      if (!range) return;
      const [lowest, highest] = range.words ? [Math.min(...range.words) - 0.5, Math.max(...range.words) + 0.5]
        : [range.low === undefined ? x.low : range.low, range.high === undefined ? x.high : range.high];
      const place = (value) => Math.min(x.to, Math.max(x.from, x.log && value <= 0 ? x.from : pixel(x, value)));
      shadow.setAttribute("x", place(lowest));
      shadow.setAttribute("width", Math.max(1, place(highest) - place(lowest)));
    };
    follow(frame, { closest: () => -1,
      brush: ([ax], [bx], last) => selection.brush([[one.name, rangeOf(x, ax, bx)]], last),
      undo: () => selection.brush([[one.name, null]], true) });
    return { element: wrap, draw, mark: () => {} };
  };
  return { scatter, histogram };
})();
