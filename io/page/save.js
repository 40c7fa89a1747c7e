// Buttons that save the plots of a section as they stand: SVG, and PNG by the browser's canvas. The names are those of
// `hopscotch plot`. Styles are written into the elements, so that a picture needs nothing of the page.
"use strict";
(() => {
  const PROPERTIES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
    "opacity", "fill-opacity", "font-size", "font-weight", "paint-order"];
  const DENSITY = 3; // pixels of a PNG per pixel of the page
  const initial = new Map(); // of a property, as a new element has it

  // A copy of an element with its styles as attributes; null: it is not seen.
  const copied = (from) => {
    const style = getComputedStyle(from);
    if (style.display === "none" || style.visibility === "hidden" || from.localName === "title") return null;
    const to = from.cloneNode(false);
    for (const name of from.getAttributeNames())
      if (/^(class|style|tabindex|role|data-|aria-)/.test(name)) to.removeAttribute(name);
    for (const name of PROPERTIES)
      if (style.getPropertyValue(name) !== initial.get(name)) to.setAttribute(name, style.getPropertyValue(name));
    for (const child of from.childNodes) {
      const copy = child.nodeType === Node.ELEMENT_NODE ? copied(child) : child.cloneNode();
      if (copy) to.append(copy);
    }
    return to;
  };

  const placed = (element, origin) => {
    const box = element.getBoundingClientRect();
    return { x: box.left - origin.left, y: box.top - origin.top, width: box.width, height: box.height };
  };

  // All plots of the section that are seen, where they stand, in one picture.
  const picture = (plots) => {
    const boxes = plots.map((plot) => plot.getBoundingClientRect());
    const left = Math.min(...boxes.map((box) => box.left)) - 8, top = Math.min(...boxes.map((box) => box.top)) - 8;
    const width = Math.max(...boxes.map((box) => box.right)) + 8 - left;
    const height = Math.max(...boxes.map((box) => box.bottom)) + 8 - top;
    const page = getComputedStyle(document.body), style = getComputedStyle(plots[0]);
    const whole = make.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`,
      "font-family": style.fontFamily, "font-size": style.fontSize });
    const probe = make.svg("path", {}, plots[0]);
    for (const name of PROPERTIES) initial.set(name, getComputedStyle(probe).getPropertyValue(name));
    probe.remove();
    make.svg("rect", { width, height, fill: page.backgroundColor }, whole);
    for (const plot of plots) {
      const canvas = [...plot.parentElement.children].find((other) => other.localName === "canvas");
      const image = canvas && canvas.width > 0 && make.svg("image", { ...placed(canvas, { left, top }),
        preserveAspectRatio: "none", href: canvas.toDataURL() });
      const above = canvas && canvas.parentElement.classList.contains("over");
      const copy = copied(plot);
      if (image && !above) whole.append(image);
      for (const [name, value] of Object.entries(placed(plot, { left, top }))) copy.setAttribute(name, value);
      copy.setAttribute("overflow", "visible");
      whole.append(copy);
      if (image && above) whole.append(image);
    }
    return { text: new XMLSerializer().serializeToString(whole), width, height };
  };

  const offer = (name, blob) => {
    const link = make.html("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };
  const drawn = (image) => new Promise((done, failed) => {
    const shown = new Image();
    shown.onload = () => {
      const canvas = make.html("canvas", { width: Math.ceil(DENSITY * image.width),
        height: Math.ceil(DENSITY * image.height) });
      canvas.getContext("2d").drawImage(shown, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("the picture is too large for this browser"))));
    };
    shown.onerror = () => failed(new Error("this browser cannot draw the picture"));
    shown.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(image.text)}`;
  });

  const seen = (section) => [...section.querySelectorAll("svg.p")].filter((plot) => plot.getClientRects().length > 0 &&
    !plot.closest(".stage") && !plot.parentElement.closest("svg"));
  const campaign = document.querySelector("h1")?.textContent.replace(/[^\w.-]+/g, "_") || "plot";
  for (const section of document.querySelectorAll("section[id]")) {
    if (!section.querySelector("svg.p, .explore")) continue;
    const row = make.html("p", { class: "save" });
    const say = (text) => { row.lastChild.textContent = text; };
    const button = (word, save) => make.html("button", { type: "button" }, row, word).addEventListener("click",
      async () => {
        const plots = seen(section);
        say(plots.length > 0 ? "" : "nothing is shown");
        try { if (plots.length > 0) await save(picture(plots)); } catch (error) { say(error.message); }
      });
    button("save SVG", (image) => offer(`${campaign}-${section.id}.svg`,
      new Blob([image.text], { type: "image/svg+xml" })));
    button("save PNG", async (image) => offer(`${campaign}-${section.id}.png`, await drawn(image)));
    make.html("output", {}, row);
    section.append(row);
  }
})();
