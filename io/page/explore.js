// Selects trials everywhere at once: a condition is typed, or brushed in parallel coordinates, in a histogram or across
// any plot of two columns. The condition is the only state of a selection: brushes write it and are read from it, it
// can be copied to --where, and the page's address holds it. Plots are drawn pixel by pixel (raster.js).
"use strict";
(() => {
  const source = document.getElementById("trials"), host = document.querySelector("div.explore");
  if (!source || !host) return;
  const page = JSON.parse(source.textContent), n = page.rows, root = document.documentElement;

  const { html, svg } = make;

  // ---- columns: doubles, or codes between knots with exact numbers of some rows (runner/view/report/explore.c) -----
  const STEPS = 127, MISSING = 65535;
  const bytes = (text) => {
    const letters = atob(text), out = new Uint8Array(letters.length);
    for (let i = 0; i < out.length; i++) out[i] = letters.charCodeAt(i);
    return out.buffer;
  };
  const exactRow = new Uint8Array(n).fill(page.exact ? 0 : 1);
  for (const row of page.exact || []) exactRow[row] = 1;
  const decode = (column) => {
    if (column.constant !== undefined) return new Float64Array(n).fill(column.constant ?? NaN);
    if (column.values) return new Float64Array(bytes(column.values));
    const codes = new Uint16Array(bytes(column.codes)), knots = new Float64Array(bytes(column.knots));
    const exact = new Float64Array(bytes(column.exact)), out = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      const k = Math.floor(codes[i] / STEPS), part = codes[i] % STEPS;
      out[i] = codes[i] === MISSING ? NaN : part === 0 ? knots[k] : knots[k] + part / STEPS * (knots[k + 1] - knots[k]);
    }
    page.exact.forEach((row, k) => { out[row] = exact[k]; });
    return out;
  };
  const ids = new Float64Array(n), rowOf = new Map(), columns = new Map();
  for (let i = 0; i < n; i++) {
    ids[i] = i === 0 ? page.first : ids[i - 1] + (page.steps ? page.steps[i - 1] : 1);
    rowOf.set(String(ids[i]), i);
  }
  const add = (column, v) => {
    const sorted = v.filter((x) => x === x).sort(), count = sorted.length;
    const at = (fraction) => sorted[Math.round(fraction * (count - 1))];
    columns.set(column.name, { ...column, v, sorted, count, least: sorted[0], most: sorted[count - 1], at });
  };
  add({ name: "id", origin: "number of the trial" }, ids);
  for (const column of page.columns) add(column, decode(column));
  const varied = [...columns.values()].filter((column) => column.count > 0 && column.least < column.most);
  const fitness = columns.get(page.value) || { ...columns.get("id"), count: 0 };

  const digits = (value, d = 4) => (Number.isFinite(value) ? String(Number(value.toPrecision(d))) : "");
  const shown = ({ words }, value, d = 4) => (value !== value ? "" : words ? words[value] || "" : digits(value, d));
  // With a sign if it is rounded, here or in the page.
  const marked = (column, value, row) => {
    const text = shown(column, value);
    return text !== "" && !column.words && (Number(text) !== value || inexact(column, row)) ? `\u2248 ${text}` : text;
  };
  const inexact = (column, row) => Boolean(column.rounded) && row !== undefined && exactRow[row] === 0;
  const counted = (value) => value.toLocaleString("en");

  // ---- the selection -----------------------------------------------------------------------------------------------
  // kept: the trials that are there at all; where: those of them that are not faded.
  let state = { kept: "", where: "" }, ranges = new Map(), rest = [], before = [];
  let kept = new Uint8Array(n).fill(1), mask = new Uint8Array(n).fill(1), nKept = n, nSelected = n, keptVersion = 0;
  const heldOf = new Map(); // text -> whether it holds, of each row
  const column = (name) => columns.get(name).v;
  const held = (text) => {
    if (!heldOf.has(text)) {
      if (heldOf.size > 40) heldOf.clear();
      heldOf.set(text, condition.holds(condition.parse(text, columns), column, n));
    }
    return heldOf.get(text);
  };
  const within = (range, v, out) => {
    const { low = -Infinity, high = Infinity, words } = range;
    const open = range.low_op === ">", opened = range.high_op === "<";
    for (let i = 0; i < n; i++) {
      const x = v[i];
      if (words ? !words.includes(x) : !((open ? x > low : x >= low) && (opened ? x < high : x <= high))) out[i] = 0;
    }
  };
  const select = () => {
    mask.set(kept);
    for (const { text } of rest) {
      const holds = held(text);
      for (let i = 0; i < n; i++) mask[i] &= holds[i];
    }
    for (const [name, range] of ranges) within(range, column(name), mask);
    nSelected = 0;
    for (let i = 0; i < n; i++) nSelected += mask[i];
  };
  const both = (a, b) => {
    const group = (text) => (/\bor\b/.test(text) ? `(${text})` : text);
    return a && b ? `${group(a)} and ${group(b)}` : a || b;
  };

  // ---- the bar -----------------------------------------------------------------------------------------------------
  const nav = document.querySelector("nav");
  const { form: bar, field, output, problem, complain } = conditionField(nav, { role: "search", title: "select trials",
    placeholder: "all trials: type a condition, or drag across a plot" });
  const button = (text, title, press) => {
    const element = html("button", { type: "button", title }, bar, text);
    element.addEventListener("click", press);
    return element;
  };
  const keepButton = button("Keep", "show only the selected trials", () =>
    commit({ kept: both(state.kept, state.where), where: "" }));
  const excludeButton = button("Exclude", "remove the selected trials", () =>
    commit({ kept: both(state.kept, `not (${state.where})`), where: "" }));
  const clearButton = button("Clear", "select all trials", () => commit({ kept: "", where: "" }));
  const undoButton = button("Undo", "the selection before", () => {
    if (before.length > 0) take(before.pop());
  });
  const copyButton = button("Copy", "copy the condition, for --where", () =>
    copyText(both(state.kept, state.where), copyButton));
  const keptText = html("p", { class: "kept", hidden: "" }, bar);
  bar.append(problem);

  // Reads the condition; false, with a complaint, if it is none.
  let refused = null; // {kept, where} of the address, if it was none
  const read = (next) => {
    let text = next.where; // that is read
    try {
      const tree = text.trim() ? condition.parse(text, columns) : null;
      if (next.kept !== state.kept) {
        text = next.kept;
        kept = text.trim() ? held(text) : new Uint8Array(n).fill(1);
        nKept = kept.reduce((sum, one) => sum + one, 0);
        keptVersion++;
      }
      ({ ranges, rest } = condition.terms(next.where, tree));
      state = next;
      refused = null;
      complain(null);
      return true;
    } catch (error) {
      if (error.at === undefined) throw error;
      complain(error, text, state.where, state.kept ? "all that are kept" : "all trials");
      return false;
    }
  };
  // Reads what of an address is a condition, and complains about the rest.
  const readAddress = (wanted) => {
    if (read(wanted)) return;
    if (!read({ ...wanted, where: "" }) && !read({ ...wanted, kept: "" })) read({ kept: "", where: "" });
    read(wanted);
    refused = wanted;
  };
  const show = () => {
    select();
    const of = nKept < n ? `${counted(nKept)} kept` : `${counted(n)}`;
    output.textContent = state.where ? `${counted(nSelected)} of ${of}` : nKept < n ? of : `${of} trials`;
    keepButton.disabled = excludeButton.disabled = !state.where;
    clearButton.disabled = copyButton.disabled = !state.where && !state.kept;
    undoButton.disabled = before.length === 0;
    keptText.replaceChildren("kept: ", html("code", {}, null, state.kept));
    root.classList.toggle("selecting", nSelected < n);
    if (keptText.hidden === Boolean(state.kept)) { // the bar's height changes
      keptText.hidden = !state.kept;
      root.style.setProperty("--bar", `${bar.parentElement.offsetHeight}px`);
    }
    if (listOf) {
      listOf.hidden = nSelected === n;
      listOf.replaceChildren("Of the trials where ", html("code", {}, null, both(state.kept, state.where)), ":");
    }
    fade();
    fillTable();
    redraw();
  };
  const take = (next) => {
    if (!read(next)) return;
    field.value = state.where;
    note();
    show();
  };
  const commit = (next, had = state) => {
    if (next.where === had.where && next.kept === had.kept) {
      if (!problem.hidden) take(next); // instead of what is no condition
      return;
    }
    before.push({ ...had });
    take(next);
  };
  let typed = null; // the state before the reader typed
  field.addEventListener("input", () => {
    typed = typed || state;
    refused = null;
    if (!read({ ...state, where: field.value })) return;
    note();
    show();
  });
  const settle = () => {
    if (typed && (typed.where !== state.where || typed.kept !== state.kept)) before.push(typed);
    typed = null;
    undoButton.disabled = before.length === 0;
    note();
  };
  field.addEventListener("change", settle);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    settle();
    commit({ ...state, where: "" });
  });

  // A brush along one or two columns. had: the state before it began; it ends with `last`.
  let had = null;
  const brush = (changes, last) => {
    had = had || { state, ranges: new Map(ranges) };
    const next = new Map(had.ranges);
    for (const [name, range] of changes) {
      next.delete(name);
      if (range) next.set(name, range);
    }
    read({ ...state, where: condition.write({ ranges: next, rest }, columns) });
    field.value = state.where;
    show();
    if (!last) return;
    if (had.state.where !== state.where) before.push(had.state);
    undoButton.disabled = before.length === 0;
    had = null;
    note();
  };
  // Where v[k] >= value, or > value, begins in ascending numbers.
  const place = (sorted, value, beyond) => {
    let low = 0, high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (beyond ? sorted[middle] <= value : sorted[middle] < value) low = middle + 1; else high = middle;
    }
    return low;
  };
  // A bound with few digits that selects the same trials as `value`: between `inner`, the number of the last selected
  // trial, which may be the bound, and `outer`, that of the next one.
  const shortBound = (value, inner, outer) => {
    const good = (x) => (inner < outer ? x >= inner && x < outer : x <= inner && x > outer);
    if (Number(inner.toPrecision(4)) === inner) return inner; // of a grid
    for (let d = 1; d < 17; d++) {
      const short = [inner, value].map((x) => Number(x.toPrecision(d))).find(good);
      if (short !== undefined) return short;
    }
    return inner;
  };
  // Two pixels of an axis as a range of its column. An end of the axis is no bound, because trials may lie beyond it;
  // null: no bound at all.
  const rangeOf = (axis, a, b) => {
    const { column } = axis, { sorted } = column, end = 2 / Math.abs(axis.to - axis.from);
    const [first, last] = [a, b].map((at) => (at - axis.from) / (axis.to - axis.from)).sort((u, v) => u - v);
    const [low, high] = [a, b].map((at) => valueAt(axis, at)).sort((u, v) => u - v);
    if (column.words)
      return { words: column.words.map((_, k) => k).filter((k) => k > low - 0.5 && k < high + 0.5) };
    const from = place(sorted, low, false), to = place(sorted, high, true), none = from >= to; // [from, to) is selected
    const bound = (value, inner, outer) => (none ? Number(value.toPrecision(6)) : shortBound(value, inner, outer));
    const range = { ...(first > end && { low: bound(low, sorted[from], sorted[from - 1] ?? -Infinity) }),
      ...(last < 1 - end && { high: bound(high, sorted[to - 1], sorted[to] ?? Infinity) }) };
    return Object.keys(range).length > 0 ? range : null;
  };

  // ---- the page's address ------------------------------------------------------------------------------------------
  const names = varied.map((one) => one.name), told = names.includes(fitness.name); // told: the fitness differs
  const second = names.find((name) => name === page.axes[1]) || names[0];
  const views = { x: page.axes[0], y: told ? fitness.name : second, colour: told ? fitness.name : second,
    bars: told ? fitness.name : page.axes[0], xlog: "", ylog: "" };
  let axes = page.axes.filter((name) => names.includes(name));
  const plain = { ...views, axes: axes.join(",") };
  const note = () => {
    const parts = new URLSearchParams();
    for (const [key, value] of Object.entries({ ...(refused || state), ...views, axes: axes.join(",") }))
      if (value && value !== plain[key]) parts.set(key, value);
    if (open !== null) parts.set("trial", open);
    const text = parts.toString(), section = location.hash.includes("=") ? "" : location.hash;
    try { history.replaceState({ before }, "", text ? `#${text}` : section || "#"); } catch { /* a frame may not */ }
  };
  const recall = () => {
    if (!location.hash.includes("=")) return;
    const parts = new URLSearchParams(location.hash.slice(1));
    for (const key of Object.keys(views)) {
      const value = parts.get(key);
      if (value !== null && (key.endsWith("log") || names.includes(value))) views[key] = value;
      else views[key] = plain[key];
    }
    const named = (parts.get("axes") || plain.axes).split(",").filter((name) => names.includes(name));
    axes = named.length > 1 ? named : axes;
    field.value = parts.get("where") || "";
    readAddress({ kept: parts.get("kept") || "", where: field.value });
    rebuild();
    show();
    if (parts.get("trial") !== null) openTrial(parts.get("trial"));
  };
  addEventListener("hashchange", recall);
  for (const link of document.querySelectorAll("nav a[href^='#']")) {
    link.addEventListener("click", (event) => {
      if (!location.hash.includes("=")) return; // the address holds a selection
      event.preventDefault();
      document.getElementById(link.hash.slice(1)).scrollIntoView();
    });
  }

  // ---- colours: classes of the static plots, but those with too little contrast to the page, and to what is faded --
  const CLASSES = 8, probe = svg("svg", { class: "p probe", width: 0, height: 0, "aria-hidden": "true" }, host);
  const dot = svg("rect", {}, probe);
  const CONTRAST = 3.6; // to the page, of what is selected: about 3 within a brush (WCAG 2.2, 1.4.11)
  let palettes = null, themeVersion = 0;
  const channels = (text) => text.match(/[\d.]+/g).slice(0, 3).map(Number);
  const classed = (name) => {
    dot.setAttribute("class", name);
    return channels(getComputedStyle(dot).fill);
  };
  const mixed = (a, b, part) => a.map((x, k) => Math.round(x + part * (b[k] - x)));
  const luminance = (colour) => {
    const [r, g, b] = colour.map((x) => (x <= 10 ? x / 3294.6 : ((x / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [dark, light] = [luminance(a), luminance(b)].sort((u, v) => u - v);
    return (light + 0.05) / (dark + 0.05);
  };
  // The first colour of `at`, a function of 0 to 1, that is seen on the page: where it is.
  const seenFrom = (at, paper) => {
    let part = 0;
    while (part < 1 && contrast(at(part), paper) < CONTRAST) part += 0.02;
    return Math.min(1, part);
  };
  const readPalettes = () => {
    const { backgroundColor, color } = getComputedStyle(document.body), paper = channels(backgroundColor),
      ink = channels(color), stops = [...Array(CLASSES).keys()].map((c) => classed(`c${c}`));
    const scale = (part) => {
      const c = Math.min(CLASSES - 2, Math.floor(part * (CLASSES - 1)));
      return mixed(stops[c], stops[c + 1], part * (CLASSES - 1) - c);
    };
    const start = seenFrom(scale, paper);
    const kinds = [...Array(7).keys()].map((k) => classed(`k${k}`)).map((kind) => {
      const darker = (part) => mixed(kind, ink, part);
      return darker(seenFrom(darker, paper));
    });
    return { grey: classed("k0"), kinds, scale: stops.map((_, c) => scale(start + (1 - start) * c / (CLASSES - 1))) };
  };
  const colours = (column) => { // of the classes of a column
    palettes = palettes || readPalettes();
    return column.words ? palettes.kinds : palettes.scale;
  };
  const palette = (column) => { // of what is faded, and of the classes
    const list = colours(column);
    return [palettes.grey, ...list].map(([r, g, b]) => r | g << 8 | b << 16);
  };
  const opaque = (floor) => (nSelected < nKept ? Math.max(floor, 0.7) : floor); // among faded ones
  // The part of the trials below class c: of a fitness each class has half as many trials as the one before it, so that
  // the best stand out.
  const partBelow = (column, c) => (column.name === page.value ? 1 - 0.5 ** c : c / CLASSES);
  // class + 1 of each row by the quantiles of its column; the last is the best of a fitness. 0: no value.
  const shades = new Map();
  const shade = (column) => {
    if (shades.has(column.name)) return shades.get(column.name);
    const out = new Uint8Array(n), edges = [];
    const down = column.name === page.value && !page.maximize;
    for (let c = 1; c < CLASSES && column.count > 0; c++) {
      const part = partBelow(column, c);
      edges.push(column.at(down ? 1 - part : part));
    }
    for (let i = 0; i < n; i++) {
      const x = column.v[i];
      let c = 0;
      if (x !== x) continue;
      if (column.words) { out[i] = 1 + x % 7; continue; }
      while (c < CLASSES - 1 && (down ? x <= edges[c] : x >= edges[c])) c++;
      out[i] = 1 + c;
    }
    shades.set(column.name, out);
    return out;
  };

  // ---- axes --------------------------------------------------------------------------------------------------------
  // {column, low, high, from, to, log}: pixels from..to; as the static plots note them in data-x and data-y
  const axisOver = (column, log, from, to, room = 0.02) => {
    let { least: low, most: high } = column;
    if (column.words) return { column, low: -0.5, high: column.words.length - 0.5, from, to, log: false };
    const inner = [column.at(0.02), column.at(0.98)], span = inner[1] - inner[0];
    if (high - inner[1] > 2 * span && span > 0) high = inner[1] + 0.1 * span; // a few lie far away
    if (inner[0] - low > 2 * span && span > 0) low = inner[0] - 0.1 * span;
    if (column === fitness && page.maximize) low = column.at(0.02); // as in the static plots
    if (column === fitness && !page.maximize) high = column.at(0.98);
    const logs = Boolean(log) && low > 0, margin = logs ? 0 : room * (high - low);
    if (!(low < high)) return { column, low: low - 1, high: low + 1, from, to, log: false };
    return { column, low: low - margin, high: high + margin, from, to, log: logs };
  };
  const pixel = (axis, value) => {
    const part = axis.log ? Math.log(value / axis.low) / Math.log(axis.high / axis.low)
      : (value - axis.low) / (axis.high - axis.low);
    return axis.from + part * (axis.to - axis.from);
  };
  const valueAt = (axis, at) => {
    const part = Math.min(1, Math.max(0, (at - axis.from) / (axis.to - axis.from)));
    return axis.log ? axis.low * (axis.high / axis.low) ** part : axis.low + part * (axis.high - axis.low);
  };
  const ticks = (axis, apart) => {
    const { low, high, column } = axis, room = Math.max(1, Math.floor(Math.abs(axis.to - axis.from) / apart)), out = [];
    if (column.words) {
      for (let k = 0; k < column.words.length; k += Math.ceil(column.words.length / room)) out.push(k);
      return out;
    }
    if (axis.log && high / low > 8) {
      const decades = Math.log10(high / low), factors = decades * 3 < room ? [1, 2, 5] : [1];
      const every = Math.max(1, Math.ceil(decades / room));
      for (let d = Math.floor(Math.log10(low)); d <= Math.log10(high); d += factors.length === 1 ? every : 1)
        for (const f of factors) if (f * 10 ** d >= low && f * 10 ** d <= high) out.push(Number(`${f}e${d}`));
      return out;
    }
    const raw = (high - low) / room, base = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((k) => k * base).find((k) => k >= raw * 0.999);
    for (let k = Math.ceil(low / step); k * step <= high; k++) out.push(Number((k * step).toPrecision(12)));
    return out;
  };
  const titled = (column) => `${column.name}${column.unit ? ` (${column.unit})` : ""}`;
  // Pixels of all rows on an axis; NaN: missing, or beyond the axis, unless `clamp` takes these to its ends.
  const pixels = (axis, clamp) => {
    const out = new Float32Array(n), v = axis.column.v, { from, to, low, high, log } = axis;
    const factor = (to - from) / (log ? Math.log(high / low) : high - low), base = log ? Math.log(low) : low;
    const [top, bottom] = from < to ? [from, to] : [to, from];
    for (let i = 0; i < n; i++) {
      const p = from + ((log ? Math.log(v[i]) : v[i]) - base) * factor;
      out[i] = p >= top - 0.6 && p <= bottom + 0.6 ? p : !clamp || p !== p ? NaN : p < top ? top : bottom;
    }
    return out;
  };

  // ---- views -------------------------------------------------------------------------------------------------------
  const plots = []; // {element, draw(), mark(row)}
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
      for (const view of plots) view.stale = !near(view.element); // before what is drawn changes the layout
      for (const view of plots) if (!view.stale) view.draw();
      times.push(performance.now() - start);
      if (times.length > 600) times.shift();
      host.dataset.milliseconds = times.slice(-60).map((ms) => ms.toFixed(1)).join(" ");
    });
  };
  addEventListener("scroll", () => { if (plots.some((view) => view.stale && near(view.element))) redraw(); },
    { passive: true });
  const paleKey = () => (nSelected < nKept ? `${keptVersion} ${themeVersion}` : null); // of what is faded
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
      const a = show(ranges.get(x.column.name), x), b = show(ranges.get(y.column.name), y);
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
        raster.dots(px, py, kept, null, dotSize(nKept));
        raster.end(palette(by), 0.5, nKept <= 3000);
      });
      if (own || nSelected < n) {
        raster.begin();
        raster.dots(px, py, mask, shade(by), dotSize(nSelected));
        raster.end(palette(by), 1, nSelected <= 3000, opaque(0.35));
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
        brush(changes, last);
      },
      undo: () => brush([[x.column.name, null], [y.column.name, null]], true) });
    return { element: box, draw, mark: (row) => {
      ready();
      const there = row >= 0 && px[row] === px[row] && py[row] === py[row];
      mark.setAttribute("visibility", there ? "visible" : "hidden");
      if (!there) return;
      mark.setAttribute("cx", px[row]);
      mark.setAttribute("cy", py[row]);
    } };
  };

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
        const tip = row < 0 ? "" : `trial ${ids[row]}: ${fitness.name} ${marked(fitness, fitness.v[row], row) || "none"}`;
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
      if (row >= 0 && !event.target.closest("[data-trial]")) openTrial(String(ids[row]));
    });
    element.addEventListener("dblclick", (event) => { event.preventDefault(); undo(); });
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
    plots.push(cross(box, frame, x, y, false));
  }

  // ---- fading, and the table of the best ---------------------------------------------------------------------------
  const fading = [...document.querySelectorAll("main [data-trial]")]
    .filter((element) => !element.closest(".many, .still, table"))
    .map((element) => [element, rowOf.get(element.dataset.trial)]);
  const fade = () => {
    for (const [element, row] of fading) if (row !== undefined) element.classList.toggle("out", !mask[row]);
    for (const element of document.querySelectorAll("tr[data-trial], .stage[data-trial]")) {
      const row = rowOf.get(element.dataset.trial);
      if (row !== undefined) element.classList.toggle("out", !mask[row]);
    }
  };
  const table = document.querySelector("#best table.sortable"), first = table ? [...table.tBodies[0].rows] : [];
  const heads = table ? [...table.tHead.rows[0].cells].map((head) => (head.querySelector("button") || head)
    .firstChild.textContent) : [];
  const order = [...Array(n).keys()].filter((i) => fitness.count > 0 && fitness.v[i] === fitness.v[i])
    .sort((a, b) => (page.maximize ? fitness.v[b] - fitness.v[a] : fitness.v[a] - fitness.v[b]) || ids[a] - ids[b]);
  const listOf = table && !page.several ? html("p", { class: "caption", hidden: "" }) : null;
  if (listOf) table.parentElement.before(listOf);
  let listed = "";
  const fillTable = () => {
    if (!table || page.several) return;
    const rows = [];
    for (let k = 0; k < order.length && rows.length < first.length; k++) if (mask[order[k]]) rows.push(order[k]);
    const key = nSelected === n ? "" : rows.join();
    if (key === listed) return;
    listed = key;
    for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
    table.tBodies[0].replaceChildren(...(nSelected === n ? first : rows.map((row, rank) => {
      const line = html("tr", { "data-trial": ids[row], tabindex: 0 });
      for (const name of heads) {
        const column = columns.get(name === "trial" ? "id" : name);
        const value = column ? column.v[row] : NaN, cell = html("td", {}, line, name === "rank" ? rank + 1 : !column ? ""
          : name === "trial" ? ids[row] : shown(column, value, inexact(column, row) ? 4 : 5));
        if (column && !column.words && value === value)
          cell.title = inexact(column, row) ? "rounded in this page" : String(value);
      }
      return line;
    })));
  };

  // ---- parallel coordinates ----------------------------------------------------------------------------------------
  const choose = (parent, text, names, value, change) => {
    const box = html("label", {}, parent, `${text} `), list = html("select", {}, box);
    for (const name of names) html("option", { value: name }, list, name);
    list.value = value;
    list.addEventListener("change", () => change(list.value));
    return list;
  };
  const lines = (box) => {
    const width = Math.max(92 * axes.length, box.clientWidth || 896), gap = (width - 116) / Math.max(1, axes.length - 1);
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
      const { fine } = raster, few = count <= (had ? 1500 : 3000), coarse = had && which === mask ? 1 : 0;
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
    const draw = () => {
      all.forEach((axis, k) => {
        const range = ranges.get(axis.column.name);
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
        paint(kept, null, nKept);
        raster.end(palette(fitness), 0.5, false, 0.1);
      });
      raster.begin();
      paint(mask, shade(by), nSelected);
      raster.end(palette(by), 1, nSelected <= 60, opaque(nSelected <= 600 ? 0.35 : 0.1));
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
        brush([[axis.column.name, rangeOf(axis, ay, by)]], last);
      },
      undo: () => { if (heldAxis >= 0) brush([[all[heldAxis].column.name, null]], true); } });
    return { element: wrap, draw, mark: (row) => {
      hit.setAttribute("d", row < 0 ? "" : `M${all.map((_, k) => [x[k], rows[k][row]]).filter(([, y]) => y === y)
        .map(([px, py]) => `${px.toFixed(1)} ${py.toFixed(1)}`).join("L")}`);
    } };
  };

  // ---- a plot of two columns, and a histogram ----------------------------------------------------------------------
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
      if (allOf !== keptVersion) all = count(kept);
      allOf = keptVersion;
      const some = count(mask), most = Math.max(1, ...all.subarray(0, bins));
      bars[0].setAttribute("d", path(all, most));
      bars[1].setAttribute("d", path(some, most));
      caption.textContent = `trials, up to ${counted(most)}`;
      const range = ranges.get(one.name);
      shadow.setAttribute("visibility", range ? "visible" : "hidden");
      if (!range) return;
      const [lowest, highest] = range.words ? [Math.min(...range.words) - 0.5, Math.max(...range.words) + 0.5]
        : [range.low === undefined ? x.low : range.low, range.high === undefined ? x.high : range.high];
      const place = (value) => Math.min(x.to, Math.max(x.from, x.log && value <= 0 ? x.from : pixel(x, value)));
      shadow.setAttribute("x", place(lowest));
      shadow.setAttribute("width", Math.max(1, place(highest) - place(lowest)));
    };
    follow(frame, { closest: () => -1,
      brush: ([ax], [bx], last) => brush([[one.name, rangeOf(x, ax, bx)]], last),
      undo: () => brush([[one.name, null]], true) });
    return { element: wrap, draw, mark: () => {} };
  };

  // ---- the section -------------------------------------------------------------------------------------------------
  const sample = page.trials > n
    ? `A sample of ${counted(n)} of ${counted(page.trials)} trials, with the best of all. ` : "";
  const rounded = page.exact ? " Numbers but those of the best are rounded (\u2248)." : "";
  html("p", { class: "caption" }, host, `${sample}Drag along an axis or across any plot of this page to select ` +
    `trials; a double click there ends that range. Click on a trial to see its numbers and its motion.${rounded}`);
  if (page.omitted.length > 0) {
    const more = html("details", {}, host);
    html("summary", {}, more, `${page.omitted.length} columns are not in this page`);
    html("p", { class: "none" }, more, `${page.omitted.join(", ")}. The program knows them: hopscotch query ` +
      `${page.campaign} --where "\u2026"`);
  }
  const built = html("div", {}, host);
  const legend = (parent) => {
    const by = columns.get(views.colour), width = 210, box = svg("svg", { class: "p", width, height: 30, role: "img",
      "aria-label": `colours: ${by.name}`, viewBox: `0 0 ${width} 30` }, parent);
    if (by.words) {
      by.words.slice(0, 7).forEach((word, k) => {
        svg("rect", { fill: `rgb(${colours(by)[k]})`, x: 68 * (k % 3), y: 1 + 11 * Math.floor(k / 3), width: 9,
          height: 9 }, box);
        svg("text", { class: "tk", x: 68 * (k % 3) + 12, y: 9 + 11 * Math.floor(k / 3) }, box, word);
      });
      return;
    }
    const down = by.name === page.value && !page.maximize;
    for (let c = 0; c < CLASSES; c++)
      svg("rect", { fill: `rgb(${colours(by)[c]})`, x: 26 * c, y: 1, width: 26.3, height: 9 }, box);
    if (by.count === 0) return;
    const ends = down ? [by.most, by.least] : [by.least, by.most], middle = partBelow(by, 4);
    svg("text", { class: "tk", x: 0, y: 23 }, box, digits(ends[0]));
    svg("text", { class: "tk", x: 104, y: 23, "text-anchor": "middle" }, box,
      digits(by.at(down ? 1 - middle : middle)));
    svg("text", { class: "tk", x: 208, y: 23, "text-anchor": "end" }, box, digits(ends[1]));
  };
  const rebuild = () => {
    built.replaceChildren();
    const own = plots.filter((view) => view.built);
    for (const view of own) plots.splice(plots.indexOf(view), 1);
    const use = (view) => plots.push(Object.assign(view, { built: true }));
    const change = (key) => (value) => { views[key] = value; note(); rebuild(); redraw(); };
    const tools = html("div", { class: "tools" }, built);
    choose(tools, "colour", names, views.colour, change("colour"));
    legend(tools);
    const more = html("details", { class: "choose" }, tools), list = html("fieldset", {}, more);
    html("summary", {}, more, "axes");
    html("legend", {}, list, "axes of the parallel coordinates");
    for (const name of names) {
      const one = html("label", {}, list), tick = html("input", { type: "checkbox" }, one);
      one.append(` ${name}`);
      tick.checked = axes.includes(name);
      tick.addEventListener("change", () => {
        const next = tick.checked ? [...axes, name] : axes.filter((other) => other !== name);
        if (next.length < 2) { tick.checked = true; return; }
        axes = next;
        note();
        drawLines();
        redraw();
      });
    }
    const scroll = html("div", { class: "scroll" }, built);
    let current = null;
    const drawLines = () => {
      scroll.replaceChildren();
      if (current) plots.splice(plots.indexOf(current), 1);
      current = lines(scroll);
      use(current);
    };
    drawLines();
    const pair = html("div", { class: "panels" }, built), left = html("div", { class: "view" }, pair),
      right = html("div", { class: "view" }, pair);
    const leftTools = html("div", { class: "tools" }, left), rightTools = html("div", { class: "tools" }, right);
    for (const key of ["x", "y"]) {
      const one = columns.get(views[key]), log = `${key}log`;
      choose(leftTools, key, names, views[key], (value) => { views[log] = ""; change(key)(value); });
      const box = html("label", {}, leftTools), tick = html("input", { type: "checkbox" }, box);
      box.append(" log");
      tick.disabled = !(one.least > 0) || Boolean(one.words);
      tick.checked = !tick.disabled && Boolean(views[log] ? views[log] === "1" : one.log);
      tick.setAttribute("aria-label", `logarithmic ${key}`);
      tick.addEventListener("change", () => change(log)(tick.checked ? "1" : "0"));
    }
    choose(rightTools, "histogram of", names, views.bars, change("bars"));
    use(scatter(left));
    use(histogram(right));
  };

  // ---- one trial ---------------------------------------------------------------------------------------------------
  let open = null, player = null, opener = null; // opener: has the focus again at the end
  const aside = html("aside", { class: "trial", "aria-label": "a trial", tabindex: -1, hidden: "" }, document.body);
  const beside = (on) => { // the page makes room, and its plots may have another width
    root.classList.toggle("beside", on);
    dispatchEvent(new Event("resize"));
  };
  const close = () => {
    if (open === null) return;
    if (player) player.stop();
    player = null;
    open = null;
    if (opener) opener.focus();
    opener = null;
    aside.hidden = true;
    beside(false);
    note();
  };
  // A column per replicate, a row per metric; of other trials than the best the command that shows them.
  const each = JSON.parse(document.getElementById("replicates")?.textContent || "null");
  const showReplicates = (id) => {
    if (page.replicates === 1) return;
    const known = each?.trials[id];
    if (!known) {
      const say = html("p", { class: "none" }, aside, `One of ${page.replicates} replicates: `);
      html("code", {}, say, page.stored ? `hopscotch show ${page.campaign}/${id}`
        : `hopscotch replay ${page.campaign}/${id}/1 -o replicate_1.csv`);
      return;
    }
    const count = known.failure.length, more = html("details", {}, aside);
    html("summary", {}, more, known.of > count ? `the first ${count} of ${known.of} replicates` : `${count} replicates`);
    const all = html("table", { class: "replicates" }, html("div", { class: "scroll", tabindex: 0 }, more));
    const first = html("tr", {}, html("thead", {}, all)), body = html("tbody", {}, all);
    html("th", { scope: "col" }, first, "replicate");
    for (let r = 0; r < count; r++) html("th", { scope: "col" }, first, r);
    const line = (name, values) => {
      const row = html("tr", {}, body);
      html("th", { scope: "row" }, row, name);
      for (const value of values) {
        const number = typeof value === "number", cell = html("td", {}, row, number ? digits(value, 5) : value ?? "");
        if (number) cell.title = String(value);
      }
    };
    line("failure", known.failure);
    if (known.value) line(page.value, known.value);
    each.metrics.forEach((name, m) => line(`${name}${each.units[m]}`, known.metric[m]));
  };
  const openTrial = (id) => {
    const row = rowOf.get(id), number = /^[0-9]+$/.test(id); // the address may have another text
    close();
    open = id;
    aside.replaceChildren();
    const head = html("h2", {}, aside, number ? `Trial ${id}` : "No trial");
    const end = html("button", { type: "button", "aria-label": "close" }, aside, "\u00d7");
    end.addEventListener("click", close);
    const about = (one) => inexact(one, row);
    if ([...columns.values()].some(about)) html("small", {}, head, " \u2248: rounded in this page");
    const stageHost = html("div", { class: "motion" }, aside);
    aside.hidden = false; // the player measures its place
    beside(true);
    player = number ? motions.play(stageHost, id) : null;
    if (!number) {
      html("p", { class: "none" }, stageHost, `The address names the trial '${id.slice(0, 80)}'. Trials have numbers.`);
    } else if (row === undefined && !player) {
      const say = html("p", { class: "none" }, stageHost, "There is no such trial in this page.");
      if (page.trials > n) {
        say.append(" It has a sample; the campaign may have it: ");
        html("code", {}, say, `hopscotch show ${page.campaign}/${id}`);
      }
    } else if (!player) {
      const say = html("p", { class: "none" }, stageHost, page.moves ? "To see its motion: " : "More about it: ");
      html("code", {}, say, page.moves ? `hopscotch replay ${page.campaign}/${id} --html trial_${id}.html`
        : `hopscotch show ${page.campaign}/${id}`);
    }
    if (row !== undefined) {
      showReplicates(id);
      const body = html("tbody", {}, html("table", { class: "names" }, aside));
      for (const one of columns.values()) {
        if (one.name === "id" || one.v[row] !== one.v[row]) continue;
        const line = html("tr", {}, body);
        html("th", { scope: "row" }, line, one.name);
        html("td", {}, line, (about(one) ? `\u2248 ${shown(one, one.v[row])}` : shown(one, one.v[row], 17)) +
          (one.unit ? ` ${one.unit}` : ""));
        html("td", { class: "origin" }, line, one.origin);
      }
    }
    aside.scrollTop = 0;
    note();
  };
  const trialOf = (target) => { // not of a motion, which is turned by dragging
    const element = target instanceof Element ? target.closest("main [data-trial]:not(.stage)") : null;
    return element ? element.dataset.trial : null;
  };
  document.addEventListener("click", (event) => {
    const id = trialOf(event.target);
    if (id !== null && getSelection().isCollapsed) openTrial(id);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target !== field) close();
    if (event.key !== "Enter" || !(event.target instanceof Element) || !event.target.matches("tr[data-trial]")) return;
    openTrial(event.target.dataset.trial);
    opener = event.target;
    aside.focus();
  });
  document.addEventListener("marked", (event) => {
    const row = rowOf.has(event.detail) ? rowOf.get(event.detail) : -1;
    for (const view of plots) if (near(view.element)) view.mark(row);
  });

  // ---- all of it ---------------------------------------------------------------------------------------------------
  const anew = () => { palettes = null; themeVersion++; rebuild(); redraw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", anew);
  const theme = document.getElementById("theme");
  if (theme) theme.addEventListener("click", anew);
  addEventListener("resize", () => {
    const wide = built.clientWidth;
    if (wide === built.wide) return;
    built.wide = wide;
    rebuild();
    redraw();
  });
  root.classList.add("alive");
  before = history.state?.before || []; // the page was read again
  rebuild();
  built.wide = built.clientWidth;
  show();
  recall();
})();
