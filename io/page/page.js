// What scripts add to a printed page: the theme, sorted tables, one trial marked everywhere, values read off a plot.
// The page can be read without them.
"use strict";
const make = (() => { // elements with attributes, at the end of a parent, with a text
  const filled = (element, attributes, parent, text) => {
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    if (parent) parent.append(element);
    return element;
  };
  return { html: (name, ...more) => filled(document.createElement(name), ...more),
    svg: (name, ...more) => filled(document.createElementNS("http://www.w3.org/2000/svg", name), ...more) };
})();
(() => {
  const root = document.documentElement;

  // ---- theme: the system's, light, dark ---------------------------------------------------------------------------
  const themes = ["system", "light", "dark"];
  const button = document.getElementById("theme");
  const keep = (value) => { try { localStorage.setItem("hopscotch-theme", value); } catch { /* a file may not */ } };
  const kept = () => { try { return localStorage.getItem("hopscotch-theme"); } catch { return null; } };
  const show = (theme) => {
    if (theme === "system") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", theme);
    if (button) button.textContent = `Theme: ${theme}`;
  };
  let theme = themes.includes(kept()) ? kept() : "system";
  show(theme);
  if (button) {
    button.hidden = false;
    button.addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      keep(theme);
      show(theme);
    });
  }

  // ---- tables -----------------------------------------------------------------------------------------------------
  // By numbers if all cells have one, else by words; empty cells come last.
  const sort = (table, column, descending) => {
    const body = table.tBodies[0], rows = [...body.rows];
    const texts = new Map(rows.map((row) => [row, row.cells[column].dataset.value ?? row.cells[column].textContent]));
    const numbers = [...texts.values()].every((text) => !Number.isNaN(Number(text)));
    const order = numbers ? (a, b) => Number(a) - Number(b) : (a, b) => a.localeCompare(b, "en", { numeric: true });
    body.append(...rows.sort((one, other) => {
      const [a, b] = [texts.get(one), texts.get(other)];
      return (a === "") - (b === "") || (a === "" ? 0 : descending ? order(b, a) : order(a, b));
    }));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const press = document.createElement("button");
      press.type = "button";
      press.append(...head.childNodes);
      head.append(press);
      press.addEventListener("click", () => {
        const descending = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        sort(table, column, descending);
      });
    });
  }

  // ---- the same trial everywhere ----------------------------------------------------------------------------------
  for (const element of document.querySelectorAll("[data-trial]")) {
    const title = element.querySelector("title");
    if (title) { // our own tip shows it
      element.dataset.label = title.textContent;
      title.remove();
    }
  }
  let marked = null;
  const mark = (trial) => {
    if (trial === marked) return;
    for (const element of document.querySelectorAll("[data-trial].hi")) element.classList.remove("hi");
    if (trial !== null) // a number
      for (const element of document.querySelectorAll(`[data-trial="${trial}"]`)) element.classList.add("hi");
    marked = trial;
    document.dispatchEvent(new CustomEvent("marked", { detail: trial }));
  };
  document.addEventListener("mark", (event) => mark(event.detail));
  const trialAt = (target) => {
    const element = target instanceof Element ? target.closest("[data-trial]") : null;
    return element ? element.dataset.trial : null;
  };
  document.addEventListener("pointerover", (event) => mark(trialAt(event.target)));
  document.addEventListener("focusin", (event) => mark(trialAt(event.target)));

  // ---- values off a plot ------------------------------------------------------------------------------------------
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const read = (text, pixel, words) => {
    const [low, high, from, to, log] = text.split(" ", 5).map(Number);
    const name = text.split(" ").slice(5).join(" ");
    const fraction = (pixel - from) / (to - from);
    if (fraction < 0 || fraction > 1) return null;
    const value = log ? low * (high / low) ** fraction : low + fraction * (high - low);
    if (words) return `${name} ${words.split("|")[Math.round(value)] || ""}`;
    const more = Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / (high - low))); // more digits
    return `${name} \u2248 ${Number(value.toPrecision(Math.min(Math.max(4, 3 + more), 15)))}`;
  };
  const words = (event) => {
    const live = event.target.closest("[data-tip]");
    if (live) return live.dataset.tip;
    const element = event.target.closest("[data-trial]");
    if (element && element.dataset.label) return element.dataset.label;
    if (element && element.closest("svg")) return `trial ${element.dataset.trial}`;
    const panel = event.target.closest("svg[data-x][data-y]");
    if (!panel) return null;
    const box = panel.getBoundingClientRect(), scale = panel.viewBox.baseVal.width / box.width;
    const x = read(panel.dataset.x, (event.clientX - box.left) * scale, panel.dataset.xWords);
    const y = read(panel.dataset.y, (event.clientY - box.top) * scale, panel.dataset.yWords);
    return x && y ? `${x}, ${y}` : null;
  };
  document.addEventListener("pointermove", (event) => {
    const text = event.target instanceof Element ? words(event) : null;
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    tip.style.left = `${Math.min(event.clientX + 14, root.clientWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.max(event.clientY - 34, 4)}px`;
  });
  document.addEventListener("pointerleave", () => { tip.hidden = true; });

  // ---- a page that follows a run reads itself again; its address has the selection --------------------------------
  const follow = document.querySelector("[data-follow]");
  let used = 0; // when the reader last did something
  const busy = () => performance.now() - used < 3000 || document.activeElement?.matches("input[type=text], select") ||
    !getSelection().isCollapsed;
  if (follow) {
    for (const kind of ["pointerdown", "pointermove", "keydown", "wheel"])
      document.addEventListener(kind, () => { used = performance.now(); }, { passive: true });
    const again = () => { if (busy()) setTimeout(again, 500); else location.reload(); };
    setTimeout(again, 1000 * Number(follow.dataset.follow));
  }

  // ---- where the reader is ----------------------------------------------------------------------------------------
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      const link = links.get(entry.target.id);
      link.setAttribute("aria-current", "true");
      const list = link.closest("ul");
      list.scrollLeft = link.offsetLeft - list.clientWidth / 2;
    }
  }, { rootMargin: "-15% 0px -75% 0px" });
  for (const section of document.querySelectorAll("section[id]")) if (links.has(section.id)) seen.observe(section);
})();
