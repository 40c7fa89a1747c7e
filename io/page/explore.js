// Selects trials everywhere at once: a condition is typed, or brushed in parallel coordinates, in a histogram or across
// any plot of two columns (selection.js); all else fades. The page's address holds the selection and what the reader
// chose.
"use strict";
(() => {
  if (!trials) return;
  const { html, svg } = make, { page, n, ids, rowOf, columns, fitness, inexact, digits, shown, counted } = trials;
  const { CLASSES, colours, partBelow } = shading, { mask } = selection, { views, names } = plots;
  const root = document.documentElement, host = document.querySelector("div.explore");

  // ---- the page's address -------------------------------------------------------------------------------------------
  let axes = page.axes.filter((name) => names.includes(name));
  const plain = { ...views, axes: axes.join(",") };
  const note = () => {
    const parts = new URLSearchParams();
    for (const [key, value] of Object.entries({ ...selection.address(), ...views, axes: axes.join(",") }))
      if (value && value !== plain[key]) parts.set(key, value);
    if (panel.open() !== null) parts.set("trial", panel.open());
    const text = parts.toString(), section = location.hash.includes("=") ? "" : location.hash;
    const address = text ? `#${text}` : section || "#";
    try { history.replaceState({ before: selection.before() }, "", address); } catch { /* a frame may not */ }
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
    const where = selection.field.value = parts.get("where") || "";
    selection.readAddress({ kept: parts.get("kept") || "", where });
    rebuild();
    selection.show();
    if (parts.get("trial") !== null) panel.show(parts.get("trial"));
  };
  addEventListener("hashchange", recall);
  for (const link of document.querySelectorAll("nav a[href^='#']")) {
    link.addEventListener("click", (event) => {
      if (!location.hash.includes("=")) return; // the address holds a selection
      event.preventDefault();
      document.getElementById(link.hash.slice(1)).scrollIntoView();
    });
  }

  // ---- fading, and the table of the best ----------------------------------------------------------------------------
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
    const key = selection.nSelected === n ? "" : rows.join();
    if (key === listed) return;
    listed = key;
    for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
    table.tBodies[0].replaceChildren(...(selection.nSelected === n ? first : rows.map((row, rank) => {
      const line = html("tr", { "data-trial": ids[row], tabindex: 0 });
      for (const name of heads) {
        const column = columns.get(name === "trial" ? "id" : name);
        const value = column ? column.v[row] : NaN;
        const cell = html("td", {}, line, name === "rank" ? rank + 1 : !column ? "" : name === "trial" ? ids[row]
          : shown(column, value, inexact(column, row) ? 4 : 5));
        if (column && !column.words && value === value)
          cell.title = inexact(column, row) ? "rounded in this page" : String(value);
      }
      return line;
    })));
  };
  const update = () => {
    if (listOf) {
      listOf.hidden = selection.nSelected === n;
      listOf.replaceChildren("Of the trials where ", html("code", {}, null, selection.text()), ":");
    }
    fade();
    fillTable();
    plots.redraw();
  };

  // ---- the section --------------------------------------------------------------------------------------------------
  const choose = (parent, text, names, value, change) => {
    const box = html("label", {}, parent, `${text} `), list = html("select", {}, box);
    for (const name of names) html("option", { value: name }, list, name);
    list.value = value;
    list.addEventListener("change", () => change(list.value));
    return list;
  };
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
    const own = plots.list.filter((view) => view.built);
    for (const view of own) plots.list.splice(plots.list.indexOf(view), 1);
    const use = (view) => plots.list.push(Object.assign(view, { built: true }));
    const change = (key) => (value) => { views[key] = value; note(); rebuild(); plots.redraw(); };
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
        plots.redraw();
      });
    }
    const scroll = html("div", { class: "scroll" }, built);
    let current = null;
    const drawLines = () => {
      scroll.replaceChildren();
      if (current) plots.list.splice(plots.list.indexOf(current), 1);
      current = parallel.draw(scroll, axes);
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
    use(twoColumns.scatter(left));
    use(twoColumns.histogram(right));
  };

  // ---- one trial ----------------------------------------------------------------------------------------------------
  const trialOf = (target) => { // not of a motion, which is turned by dragging
    const element = target instanceof Element ? target.closest("main [data-trial]:not(.stage)") : null;
    return element ? element.dataset.trial : null;
  };
  document.addEventListener("click", (event) => {
    const id = trialOf(event.target);
    if (id !== null && getSelection().isCollapsed) panel.show(id);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target !== selection.field) panel.close();
    if (event.key !== "Enter" || !(event.target instanceof Element) || !event.target.matches("tr[data-trial]")) return;
    panel.show(event.target.dataset.trial);
    panel.focus(event.target);
  });
  document.addEventListener("marked", (event) => {
    const row = rowOf.has(event.detail) ? rowOf.get(event.detail) : -1;
    for (const view of plots.list) if (plots.near(view.element)) view.mark(row);
  });

  // ---- all of it ----------------------------------------------------------------------------------------------------
  const anew = () => { shading.renew(); rebuild(); plots.redraw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", anew);
  const theme = document.getElementById("theme");
  if (theme) theme.addEventListener("click", anew);
  addEventListener("resize", () => {
    const wide = built.clientWidth;
    if (wide === built.wide) return;
    built.wide = wide;
    rebuild();
    plots.redraw();
  });
  root.classList.add("alive");
  selection.before(history.state?.before); // the page was read again
  selection.listen({ changed: update, noted: note });
  panel.listen(note);
  rebuild();
  built.wide = built.clientWidth;
  selection.show();
  recall();
})();
