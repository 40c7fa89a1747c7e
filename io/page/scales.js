// Axes over columns: pixels of values and values of pixels, ticks, and what a brush between two pixels selects. An axis
// is {column, low, high, from, to, log}: pixels from..to; the static plots note theirs in data-x and data-y.
"use strict";
const scales = trials && (() => {
  const { page, n, fitness } = trials;

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

  // ---- what a brush selects -----------------------------------------------------------------------------------------
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
  return { axisOver, pixel, valueAt, ticks, pixels, rangeOf };
})();
