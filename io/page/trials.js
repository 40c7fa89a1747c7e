// The columns of a report's trials: exact doubles, or codes between knots with exact numbers of some rows
// (runner/view/report/explore.c). null: the page has no trials.
"use strict";
const trials = (() => {
  const source = document.getElementById("trials");
  if (!source || !document.querySelector("div.explore")) return null;
  const page = JSON.parse(source.textContent), n = page.rows;

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

  // As %g of C: 1.5e-5 where 0.000015 would be too wide for an axis.
  const digits = (value, d = 4) => {
    const short = Number(value.toPrecision(d)), size = Math.abs(short);
    if (!Number.isFinite(value)) return "";
    return size > 0 && (size < 1e-4 || size >= 1e7) ? short.toExponential() : String(short);
  };
  const shown = ({ words }, value, d = 4) => (value !== value ? "" : words ? words[value] || "" : digits(value, d));
  // With a sign if it is rounded, here or in the page.
  const marked = (column, value, row) => {
    const text = shown(column, value);
    return text !== "" && !column.words && (Number(text) !== value || inexact(column, row)) ? `\u2248 ${text}` : text;
  };
  const inexact = (column, row) => Boolean(column.rounded) && row !== undefined && exactRow[row] === 0;
  const counted = (value) => value.toLocaleString("en");
  const titled = (column) => `${column.name}${column.unit ? ` (${column.unit})` : ""}`;

  return { page, n, ids, rowOf, columns, varied, fitness, exactRow, inexact, digits, shown, marked, counted, titled };
})();
