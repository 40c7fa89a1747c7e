// A line above the page in which a condition is typed, and text that is copied. What is wrong in a condition is shown
// below it.
"use strict";
const conditionField = (parent, { role, title, placeholder }) => {
  const { html } = make;
  const form = html("form", { class: "select", role, "aria-label": title }, parent);
  const label = html("label", {}, form, "where ");
  const field = html("input", { type: "text", spellcheck: "false", autocomplete: "off", autocapitalize: "off",
    "aria-describedby": "select-error", placeholder }, label);
  const output = html("output", { "aria-live": "polite" }, form);
  const problem = html("p", { class: "problem", id: "select-error", role: "alert", hidden: "" });
  form.addEventListener("submit", (event) => event.preventDefault());
  // An error in a text, and what is shown nevertheless: a condition, or words. error null: there is none.
  const complain = (error, text, still, words) => {
    problem.hidden = !error;
    field.toggleAttribute("aria-invalid", Boolean(error));
    if (!error) return;
    const from = Math.max(0, error.at - 40), end = error.at + error.width;
    const code = html("code", {});
    code.append((from > 0 ? "\u2026" : "") + text.slice(from, error.at));
    html("mark", {}, code, text.slice(error.at, end) || "\u2423");
    code.append(text.slice(end, end + 40) + (text.length > end + 40 ? "\u2026" : ""));
    const shown = html("span", { class: "still-shown" }, null, "Still showing: ");
    if (still.trim()) html("code", {}, shown, still);
    else shown.append(words);
    problem.replaceChildren(code, ` ${error.message}`, shown);
  };
  return { form, field, output, problem, complain };
};
// The button says that it was done.
const copyText = async (text, button) => {
  try { await navigator.clipboard.writeText(text); } catch {
    const area = make.html("textarea", { class: "copied" }, document.body);
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const words = button.textContent;
  if (words === "Copied") return;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = words; }, 1200);
};
