// The evidence on one fragment: statement, likelihood ratio, and a row per variable with the control's values.

import { $, make, named, number, open, shape } from "./base.js";

const MOST = 40; // variables shown, the strongest evidence first

export function drawReasons() {
  const box = $("reasons");
  const each = open.view.conclusions.find((conclusion) => conclusion.fragment === open.chosen);
  box.replaceChildren();
  if (!each) return;
  const rows = each.reasons.slice(0, MOST).map((reason) => row(reason, each));
  const head = ["variable", ...(each.replicates > 1 ? ["mean", "replicates"] : ["value"]), "among the control fragments", "control mean", "p-value", "reading"];
  const numbers = ["mean", "value", "control mean", "p-value"];
  const titles = head.map((name) => make("th", { scope: "col", class: numbers.includes(name) ? "" : "text" }, name));
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...titles)), make("tbody", {}, ...rows));
  box.append(make("h3", { tabindex: "-1" }, `${each.fragment}: ${each.verdict}`), make("p", {}, each.statement));
  for (const ratio of each.ratios) box.append(make("p", {}, ratio.sentence));
  if (each.match !== "–") box.append(make("p", {}, `ASTM E2927 criterion: ${each.match}.`));
  if (each.disagreement) box.append(make("p", { class: "warn" }, each.disagreement));
  box.append(make("p", { class: "row" }, make("button", { type: "button" }, "Back to the list")));
  box.append(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Variables of ${each.fragment}` }, table));
  box.append(make("p", { class: "soft" }, "The p-value of a variable is that of a comparison by this variable only."));
  const left = each.reasons.length - rows.length;
  if (left > 0) box.append(make("p", { class: "soft" }, `${left} further variables are weaker evidence; the saved JSON file lists them.`));
}

function row(reason, each) {
  const side = reason.side === "at" ? "equal to the control" : `${reason.side} the control`;
  const replicates = each.replicates > 1 ? [make("td", { class: "text" }, each.measurements[reason.variable].map((value) => number(value)).join(", "))] : [];
  const values = open.view.control.map((known) => known.values[reason.variable]);
  return make("tr", {},
    make("th", { scope: "row", class: "text" }, make("span", { class: "name" }, named(reason.variable))), make("td", {}, reason.value), ...replicates,
    make("td", { class: "text" }, strip(values, each.values[reason.variable], reason.evidence)), make("td", {}, reason.control), make("td", {}, reason.p),
    make("td", { class: "text" }, reason.evidence ? make("strong", {}, `${side}; excludes by itself`) : side));
}

// Interpolated between two values, as NumPy does.
function quantile(sorted, share) {
  const place = share * (sorted.length - 1), below = Math.floor(place);
  return sorted[below] + (place - below) * (sorted[Math.ceil(place)] - sorted[below]);
}

function strip(values, value, evidence) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => quantile(sorted, share);
  const spread = at(1) - at(0) || Math.max(Math.abs(at(0)), 1) * 1e-3;
  const low = at(0) - spread / 2, high = at(1) + spread / 2;
  const x = (v) => 12 + (236 * (v - low)) / (high - low);
  const place = value < at(0) ? "below all of them" : value > at(1) ? "above all of them" : "within their range";
  const svg = shape("svg", { viewBox: "0 0 260 26", class: "strip", role: "img", "aria-label": `${place}: ${number(at(0))} to ${number(at(1))}` });
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
