// Colours of trials by a column: the classes of the static plots, but those with too little contrast to the page, and
// to what is faded.
"use strict";
const shading = trials && (() => {
  const { svg } = make, { page, n } = trials;

  const CLASSES = 8, host = document.querySelector("div.explore");
  const probe = svg("svg", { class: "p probe", width: 0, height: 0, "aria-hidden": "true" }, host);
  const dot = svg("rect", {}, probe);
  const CONTRAST = 3.6; // to the page, of what is selected: about 3 within a brush (WCAG 2.2, 1.4.11)
  let palettes = null, version = 0; // version: of the theme
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
  const renew = () => { palettes = null; version++; }; // the theme has changed
  return { CLASSES, colours, palette, shade, partBelow, renew, version: () => version };
})();
