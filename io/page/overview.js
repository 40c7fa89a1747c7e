// The campaigns of an overview: filtered by words or a condition, their columns chosen, two of them compared. The
// page's address holds all of it. page.js sorts the table.
"use strict";
(() => {
  const table = document.querySelector("table.overview");
  if (!table) return;
  const { html } = make, COLUMNS = 6, COMPARED = 16; // keys that are shown; most that `compare` takes
  const heads = [...table.tHead.rows[0].cells], rows = [...table.tBodies[0].rows], n = rows.length;
  const titles = heads.map((head) => head.textContent);
  const text = (row, k) => row.cells[k].dataset.value ?? row.cells[k].textContent;
  const names = rows.map((row) => text(row, 0)), models = rows.map((row) => text(row, titles.indexOf("model")));

  // ---- columns by their names in a condition: numbers, or words ----------------------------------------------------
  const isName = /^[A-Za-z_][A-Za-z0-9_]*$/;
  const short = (key) => key.split(".").pop();
  const keys = heads.map((_, k) => k).filter((k) => heads[k].classList.contains("key"));
  const nameOf = (k) => {
    if (heads[k].dataset.name) return heads[k].dataset.name;
    const name = short(titles[k]), alone = !heads.some((head) => head.dataset.name === name) &&
      keys.every((other) => other === k || short(titles[other]) !== name);
    return alone && isName.test(name) ? name : titles[k].replace(/[^A-Za-z0-9_]/g, "_");
  };
  const scope = new Map();
  const addColumn = (k) => {
    const values = rows.map((row) => text(row, k)), given = values.filter((value) => value !== "");
    if (given.every((value) => Number.isFinite(Number(value)))) {
      scope.set(nameOf(k), { v: Float64Array.from(values, (value) => (value === "" ? NaN : Number(value))) });
      return;
    }
    const words = [...new Set(given)].sort();
    const index = new Map(words.map((word, i) => [word, i]));
    scope.set(nameOf(k), { words, v: Float64Array.from(values, (value) => index.get(value) ?? NaN) });
  };
  for (const k of heads.keys()) if (heads[k].dataset.name || keys.includes(k)) addColumn(k);
  const told = rows.map((row) => row.textContent.toLowerCase());

  // ---- the line above the page -------------------------------------------------------------------------------------
  const bar = html("div", { class: "bar" });
  document.querySelector("main").before(bar);
  const { form, field, output, problem, complain } = conditionField(bar, { role: "search", title: "filter campaigns",
    placeholder: "all campaigns: type words, or a condition such as best < 0.5 and model = 'hopper'" });
  const more = html("details", { class: "choose" }, form), list = html("fieldset", {}, more);
  html("summary", {}, more, "columns");
  html("legend", {}, list, "columns of the table");
  const chosen = new Map(); // column -> whether the reader wants it
  const ticks = heads.map((_, k) => {
    if (k === 0) return null;
    const label = html("label", {}, list), tick = html("input", { type: "checkbox" }, label);
    label.append(` ${titles[k]}`);
    tick.addEventListener("change", () => { chosen.set(k, tick.checked); show(); note(); });
    return tick;
  });
  form.append(problem);

  // ---- what is shown -----------------------------------------------------------------------------------------------
  const style = html("style", {}, document.head);
  let shown = new Uint8Array(n).fill(1), where = "";
  // Keys that differ among the campaigns that are shown, of one model each.
  const differ = (k) => {
    const first = new Map();
    for (let i = 0; i < n; i++) {
      if (!shown[i]) continue;
      const value = text(rows[i], k);
      if (!first.has(models[i])) first.set(models[i], value);
      else if (first.get(models[i]) !== value) return true;
    }
    return false;
  };
  const showColumns = () => {
    const wanted = new Set(keys.filter((k) => !chosen.has(k) && differ(k)).slice(0, COLUMNS));
    const shows = (k) => k === 0 || (chosen.get(k) ?? (!keys.includes(k) || wanted.has(k)));
    const hidden = heads.map((_, k) => k).filter((k) => !shows(k));
    style.textContent = hidden.map((k) => `.overview tr > :nth-child(${k + 1})`).join(",") + (hidden.length > 0
      ? " { display: none }" : "");
    for (const k of heads.keys()) if (ticks[k]) ticks[k].checked = !hidden.includes(k);
  };
  const show = () => {
    let count = 0;
    rows.forEach((row, i) => { row.hidden = !shown[i]; count += shown[i]; });
    output.textContent = count < n ? `${count.toLocaleString("en")} of ${n.toLocaleString("en")}`
      : `${n.toLocaleString("en")} campaign${n === 1 ? "" : "s"}`;
    showColumns();
  };
  // Words that a row has, or, with a comparison, a condition. False, with a complaint: it is none.
  const read = (wanted) => {
    try {
      if (/[<>=!]/.test(wanted)) {
        shown = condition.holds(condition.parse(wanted, scope), (name) => scope.get(name).v, n);
      } else {
        const words = wanted.toLowerCase().split(/\s+/).filter((word) => word !== "");
        shown = Uint8Array.from(told, (all) => (words.every((word) => all.includes(word)) ? 1 : 0));
      }
    } catch (error) {
      if (error.at === undefined) throw error;
      complain(error, wanted, where, "all campaigns");
      return false;
    }
    where = wanted;
    complain(null);
    return true;
  };
  field.addEventListener("input", () => { if (read(field.value)) show(); note(); });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    field.value = "";
    read("");
    show();
    note();
  });

  // ---- comparing ---------------------------------------------------------------------------------------------------
  const comparing = html("p", { class: "comparing", role: "status", hidden: "" }, form);
  const compared = new Set(); // rows, in the order in which they were ticked
  const boxes = rows.map((row, i) => {
    const box = html("input", { type: "checkbox", "aria-label": `compare ${names[i]}` });
    row.cells[0].prepend(box, " ");
    box.addEventListener("change", () => {
      if (box.checked) compared.add(i);
      else compared.delete(i);
      showCompared();
      note();
    });
    return box;
  });
  const showCompared = () => {
    const all = [...compared];
    comparing.hidden = all.length === 0;
    if (all.length === 0) return;
    const other = all.find((i) => models[i] !== models[all[0]]);
    const command = `${table.dataset.compare} ${all.map((i) => rows[i].dataset.word).join(" ")}` +
      table.dataset.results;
    if (all.length === 1) comparing.textContent = "Tick another campaign to compare them.";
    else if (all.length > COMPARED) comparing.textContent = `compare takes at most ${COMPARED} campaigns.`;
    else if (other !== undefined) comparing.textContent = `${names[all[0]]} runs model ${models[all[0]]} and ` +
      `${names[other]} runs ${models[other]}: only campaigns of one model can be compared.`;
    else {
      comparing.replaceChildren(html("code", {}, null, command), " ");
      const copy = html("button", { type: "button", title: "copy the command" }, comparing, "Copy");
      copy.addEventListener("click", () => copyText(command, copy));
    }
    const clear = html("button", { type: "button", title: "untick all campaigns" }, null, "Untick all");
    comparing.append(" ", clear);
    clear.addEventListener("click", () => {
      for (const i of compared) boxes[i].checked = false;
      compared.clear();
      showCompared();
      field.focus();
      note();
    });
  };

  // ---- the page's address ------------------------------------------------------------------------------------------
  const sorted = () => heads.findIndex((head) => head.hasAttribute("aria-sort"));
  const note = () => {
    const parts = new URLSearchParams(), k = sorted();
    if (field.value) parts.set("where", field.value);
    if (k >= 0) parts.set("sort", `${heads[k].getAttribute("aria-sort") === "descending" ? "-" : ""}${titles[k]}`);
    for (const [column, on] of chosen) parts.append(on ? "with" : "without", titles[column]);
    for (const i of compared) parts.append("compare", names[i]);
    const all = parts.toString();
    try { history.replaceState(null, "", all ? `#${all}` : "#"); } catch { /* a frame may not */ }
  };
  const recall = () => {
    const parts = new URLSearchParams(location.hash.slice(1));
    const sort = parts.get("sort") || "", k = titles.indexOf(sort.replace(/^-/, ""));
    const direction = sort.startsWith("-") ? "descending" : "ascending";
    for (let i = 0; i < 2 && k >= 0 && heads[k].getAttribute("aria-sort") !== direction; i++)
      heads[k].querySelector("button").click();
    for (const [key, on] of [["with", true], ["without", false]])
      for (const title of parts.getAll(key)) if (titles.indexOf(title) > 0) chosen.set(titles.indexOf(title), on);
    for (const name of parts.getAll("compare")) {
      const i = names.indexOf(name);
      if (i < 0) continue;
      boxes[i].checked = true;
      compared.add(i);
    }
    field.value = parts.get("where") || "";
    read(field.value);
    showCompared();
    show();
  };
  table.tHead.addEventListener("click", () => note());
  addEventListener("hashchange", recall);
  table.classList.add("alive");
  recall();
})();
