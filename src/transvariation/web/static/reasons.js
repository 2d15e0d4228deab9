// The evidence on one fragment: statement, likelihood ratio, and a row per variable with the control's values.

import { $, ask, make, open, sensitivity, shape, showProblems } from "./base.js";
import { drawSpectra } from "./spectra.js";

// Ask for the evidence on the chosen fragment and show it; return whether it is still wanted then.
export async function showReasons() {
  const key = open.chosen, mine = open.case, share = sensitivity();
  if (key === null) return $("reasons").replaceChildren();
  const found = await ask(`/api/cases/${mine}/evidence?key=${key}&sensitivity=${share}`);
  if (open.case !== mine || open.chosen !== key || sensitivity() !== share) return false;
  showProblems($("conclusion-problems"), found.problems);
  if (found.problems) return false;
  draw(found, open.view.conclusions[key]);
  return true;
}

function draw(found, each) {
  const box = $("reasons");
  box.replaceChildren(make("h3", { tabindex: "-1" }, `${each.fragment}: ${each.verdict}`), ...found.statements.map((text) => make("p", {}, text)));
  if (each.match) box.append(make("p", {}, `${open.view.columns.matches}: ${each.match}.`));
  box.append(make("p", { class: "row" }, make("button", { type: "button" }, "Back to the list")));
  if (found.spectrum) drawRegions(box, found, each);
  else box.append(table(found));
  box.append(...found.notes.map((text) => make("p", { class: "soft" }, text)));
}

// The spectrum over the band of the control; the regions outside the band are shaded and listed.
function drawRegions(box, { spectrum, shaded, regions, label, keys, columns }, each) {
  const svg = shape("svg", { class: "spectra", role: "img", "aria-label": label });
  box.append(make("figure", {}, svg));
  drawSpectra(svg, { ...spectrum, kinds: [each.excluded ? "excluded" : "recovered"], shaded });
  box.append(make("p", { class: "soft key" }, ...Object.entries(keys).map(([look, words]) => make("span", {}, make("i", { class: look }), ` ${words}`))));
  if (!regions.length) return;
  const head = columns.map((name, i) => make("th", { scope: "col", class: i % 3 ? "" : "text" }, name));
  const rows = regions.map(([where, peak, deviation, side]) => labelled(make("tr", {}, make("th", { scope: "row", class: "text" }, where), make("td", {}, peak), make("td", {}, deviation), make("td", { class: "text" }, side)), columns));
  const node = make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  box.append(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, node));
}

// Name each cell by its column: a phone shows a row as a block.
function labelled(line, names) {
  names.forEach((name, i) => line.cells[i].setAttribute("data-label", name));
  return line;
}

function table(found) {
  const rows = found.reasons.map((reason) => labelled(row(reason, found.replicated), found.columns));
  const titles = found.columns.map((name, i) => make("th", { scope: "col", class: rows[0].cells[i].classList.contains("text") ? "text" : "" }, name));
  const node = make("table", {}, make("thead", {}, make("tr", {}, ...titles)), make("tbody", {}, ...rows));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": found.label }, node);
}

function row(reason, replicated) {
  const replicates = replicated ? [make("td", { class: "text" }, reason.replicates.join(", "))] : [];
  return make("tr", {},
    make("th", { scope: "row", class: "text" }, make("span", { class: "name" }, reason.variable)), make("td", {}, reason.text), ...replicates,
    make("td", { class: "text" }, strip(reason)), make("td", {}, reason.control), make("td", {}, reason.p),
    ...(open.view.columns.matches ? [interval(reason.interval)] : []),
    make("td", { class: "text wrap" }, reason.evidence ? make("strong", {}, reason.reading) : reason.reading));
}

function interval(found) {
  if (!found) return make("td", {});
  return make("td", { class: "text" }, found.text, make("strong", {}, found.outside));
}

// Interpolated between two values, as NumPy does.
function quantile(sorted, share) {
  const place = share * (sorted.length - 1), below = Math.floor(place);
  return sorted[below] + (place - below) * (sorted[Math.ceil(place)] - sorted[below]);
}

function strip({ known, value, evidence, range }) {
  const sorted = [...known].sort((a, b) => a - b);
  const at = (share) => quantile(sorted, share);
  const spread = at(1) - at(0) || Math.max(Math.abs(at(0)), 1) * 1e-3;
  const low = at(0) - spread / 2, high = at(1) + spread / 2;
  const x = (v) => 12 + (236 * (v - low)) / (high - low);
  const svg = shape("svg", { viewBox: "0 0 260 26", class: "strip", role: "img", "aria-label": range });
  svg.append(shape("rect", { class: "half", x: x(at(0.25)), y: 6, width: Math.max(x(at(0.75)) - x(at(0.25)), 1), height: 14 }));
  const step = Math.max(1, Math.floor(sorted.length / 200));
  svg.append(shape("path", { class: "each", d: sorted.filter((_, i) => i % step === 0).map((v) => `M${x(v).toFixed(1)} 8V18`).join("") }));
  svg.append(shape("path", { class: "middle", d: `M${x(at(0.5)).toFixed(1)} 3V23` }));
  const look = { class: evidence ? "out" : "in" };
  if (value < low) svg.append(shape("path", { ...look, d: "M10 8L2 13L10 18Z" }));
  else if (value > high) svg.append(shape("path", { ...look, d: "M250 8L258 13L250 18Z" }));
  else if (evidence) svg.append(shape("path", { ...look, d: `M${x(value)} 6l6 7l-6 7l-6 -7Z` }));
  else svg.append(shape("circle", { ...look, cx: x(value), cy: 13, r: 4.5 }));
  return svg;
}
