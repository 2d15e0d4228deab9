// Why one object was accepted or rejected: a row per variable, with the control's distribution and the object's value.

import { $, accepted, alpha, make, named, number, open, shape } from "./base.js";

const MOST = 40; // variables shown; they come with the most telling first

export function drawReasons() {
  const box = $("reasons");
  const verdict = open.result.verdicts.find((each) => each.id === open.chosen);
  box.replaceChildren();
  if (!verdict) return;
  const rows = verdict.reasons.slice(0, MOST).map(row);
  const head = ["variable", "value", "among the control objects", "control median", "tp by counting", "reading"];
  const titles = head.map((name, i) => make("th", { scope: "col", class: [0, 2, 5].includes(i) ? "text" : "" }, name));
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...titles)), make("tbody", {}, ...rows));
  const anyway = accepted(verdict) && verdict.reasons.some((reason) => reason.p_value <= alpha()) ? " all the same" : "";
  const title = `Reasons for ${verdict.id}${verdict.source === null ? "" : `, source ${verdict.source}`}: ${accepted(verdict) ? "accepted" : "rejected"}${anyway}, p-value ${number(verdict.p_value)}`;
  box.append(make("h3", { tabindex: "-1" }, title), make("p", { class: "row" }, make("button", { type: "button" }, "Back to the list")));
  box.append(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Reasons for ${verdict.id}` }, table));
  box.append(make("p", { class: "soft" }, "tp by counting: in this variable alone, twice the share of control objects beyond the value; 1 at their median, 0 outside of them. It is counted like that whatever the method, whose own tp the verdicts give."));
  const left = verdict.reasons.length - rows.length;
  if (left > 0) box.append(make("p", { class: "soft" }, `${left} further variables say less; the report names them.`));
}

function row(reason) {
  const alone = reason.p_value <= alpha();
  const side = reason.side === "at" ? "at the median" : `${reason.side} the median`;
  return make("tr", {},
    make("th", { scope: "row", class: "text" }, make("span", { class: "name" }, named(reason.variable))), make("td", {}, number(reason.value, 7)),
    make("td", { class: "text" }, strip(open.result.values[reason.variable], reason.value, alone)), make("td", {}, number(reason.median, 7)), make("td", {}, number(reason.tp, 3)),
    make("td", { class: "text" }, alone ? make("strong", {}, `${side}, rejects alone`) : side));
}

// Between two values where none has just that share below it, as NumPy does: half is the median.
function quantile(sorted, share) {
  const place = share * (sorted.length - 1), below = Math.floor(place);
  return sorted[below] + (place - below) * (sorted[Math.ceil(place)] - sorted[below]);
}

function strip(values, value, alone) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => quantile(sorted, share);
  const spread = at(1) - at(0) || Math.max(Math.abs(at(0)), 1) * 1e-3;
  const low = at(0) - spread / 2, high = at(1) + spread / 2;
  const x = (v) => 12 + (236 * (v - low)) / (high - low);
  const place = value < at(0) ? "below them all" : value > at(1) ? "above them all" : "within their range";
  const svg = shape("svg", { viewBox: "0 0 260 26", class: "strip", role: "img", "aria-label": `${place}: ${number(at(0))} to ${number(at(1))}` });
  svg.append(shape("rect", { class: "half", x: x(at(0.25)), y: 6, width: Math.max(x(at(0.75)) - x(at(0.25)), 1), height: 14 }));
  const step = Math.max(1, Math.floor(sorted.length / 200));
  svg.append(shape("path", { class: "each", d: sorted.filter((_, i) => i % step === 0).map((v) => `M${x(v).toFixed(1)} 8V18`).join("") }));
  svg.append(shape("path", { class: "middle", d: `M${x(at(0.5)).toFixed(1)} 3V23` }));
  const look = { class: alone ? "out" : "in" };
  if (value < low) svg.append(shape("path", { ...look, d: "M10 8L2 13L10 18Z" }));
  else if (value > high) svg.append(shape("path", { ...look, d: "M250 8L258 13L250 18Z" }));
  else if (alone) svg.append(shape("path", { ...look, d: `M${x(value)} 6l6 7l-6 7l-6 -7Z` }));
  else svg.append(shape("circle", { ...look, cx: x(value), cy: 13, r: 4.5 }));
  return svg;
}
