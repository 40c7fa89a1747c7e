// What the reader selects of a report's trials. A condition is typed, or written by brushes; it can be copied to
// --where. The condition is the only state of a selection: ranges of columns, which plots show, are read from it.
"use strict";
const selection = trials && (() => {
  const { html } = make, { n, columns, counted } = trials, root = document.documentElement;

  // kept: the trials that are there at all; where: those of them that are not faded.
  let state = { kept: "", where: "" }, rest = [], before = [];
  const kept = new Uint8Array(n).fill(1), mask = new Uint8Array(n).fill(1);
  // version: of what is kept. brushing: null, or the state before a brush that is being drawn
  const selection = { kept, mask, nKept: n, nSelected: n, version: 0, ranges: new Map(), brushing: null };
  let changed = () => {}, noted = () => {}; // by `listen`
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
    for (const [name, range] of selection.ranges) within(range, column(name), mask);
    selection.nSelected = 0;
    for (let i = 0; i < n; i++) selection.nSelected += mask[i];
  };
  const both = (a, b) => {
    const group = (text) => (/\bor\b/.test(text) ? `(${text})` : text);
    return a && b ? `${group(a)} and ${group(b)}` : a || b;
  };

  // ---- the bar ------------------------------------------------------------------------------------------------------
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
        if (text.trim()) kept.set(held(text)); else kept.fill(1);
        selection.nKept = kept.reduce((sum, one) => sum + one, 0);
        selection.version++;
      }
      ({ ranges: selection.ranges, rest } = condition.terms(next.where, tree));
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
    const of = selection.nKept < n ? `${counted(selection.nKept)} kept` : `${counted(n)}`;
    output.textContent = state.where ? `${counted(selection.nSelected)} of ${of}`
      : selection.nKept < n ? of : `${of} trials`;
    keepButton.disabled = excludeButton.disabled = !state.where;
    clearButton.disabled = copyButton.disabled = !state.where && !state.kept;
    undoButton.disabled = before.length === 0;
    keptText.replaceChildren("kept: ", html("code", {}, null, state.kept));
    root.classList.toggle("selecting", selection.nSelected < n);
    if (keptText.hidden === Boolean(state.kept)) { // the bar's height changes
      keptText.hidden = !state.kept;
      root.style.setProperty("--bar", `${bar.parentElement.offsetHeight}px`);
    }
    changed();
  };
  const take = (next) => {
    if (!read(next)) return;
    field.value = state.where;
    noted();
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
    noted();
    show();
  });
  const settle = () => {
    if (typed && (typed.where !== state.where || typed.kept !== state.kept)) before.push(typed);
    typed = null;
    undoButton.disabled = before.length === 0;
    noted();
  };
  field.addEventListener("change", settle);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    settle();
    commit({ ...state, where: "" });
  });

  // A brush along one or two columns; it ends with `last`.
  const brush = (changes, last) => {
    const had = selection.brushing = selection.brushing || { state, ranges: new Map(selection.ranges) };
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
    selection.brushing = null;
    noted();
  };
  return Object.assign(selection, { field, show, brush, readAddress,
    text: () => both(state.kept, state.where), // for --where
    address: () => refused || state,
    before: (states) => { if (states) before = states; return before; }, // what undo takes back
    listen: (listeners) => ({ changed, noted } = listeners) });
})();
