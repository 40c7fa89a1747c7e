// One trial beside the page: its numbers with units and origin, its motion, each of its replicates.
"use strict";
const panel = trials && (() => {
  const { html } = make, { page, n, rowOf, columns, inexact, digits, shown } = trials, root = document.documentElement;
  let noted = () => {}; // what shows it has changed

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
    noted();
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
    html("summary", {}, more, known.of > count ? `the first ${count} of ${known.of} replicates`
      : `${count} replicates`);
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
    noted();
  };
  const focus = (from) => { opener = from; aside.focus(); };
  return { show: openTrial, close, focus, open: () => open, listen: (listener) => { noted = listener; } };
})();
