// The plane: all objects on two variables. Point for names, zoom and move with buttons, keys, wheel or by dragging.

import { $, accepted, make, named, number, open, shape } from "./base.js";

const frame = { left: 66, top: 14, width: 476, height: 366, bottom: 380, right: 542 };
const size = { width: 560, height: 440 };
const MOST = 3000; // marks of each kind: beyond, every so many-th
let view = null; // the ranges seen
let choose = () => {};

export function resetPlane(whenChosen) {
  const { features } = open.result;
  choose = whenChosen;
  view = null;
  for (const axis of ["x", "y"]) $(axis).replaceChildren(...features.map((name) => make("option", { value: name }, name)));
  const telling = mostTelling(open.result);
  $("x").value = telling[0];
  $("y").value = telling[1] || telling[0];
}

function mostTelling({ features, verdicts }) {
  const weight = Object.fromEntries(features.map((name) => [name, 0]));
  const rejected = verdicts.filter((verdict) => !verdict.accepted);
  for (const { reasons } of rejected.length ? rejected : verdicts) {
    for (const reason of reasons) weight[reason.variable] += (reason.rejected_alone ? 1 : 0) + (1 - reason.tp) / 1000;
  }
  return [...features].sort((a, b) => weight[b] - weight[a]);
}

const thinned = (marks) => marks.filter((mark, i) => i % Math.ceil(marks.length / MOST) === 0 || (mark.id !== undefined && mark.id === open.chosen));

function marks() {
  const { values, recovered_values: theirs, verdicts } = open.result;
  const [x, y] = [$("x").value, $("y").value];
  const control = values[x].map((v, i) => ({ x: v, y: values[y][i], kind: "c", name: "a control object" }));
  const recovered = verdicts.map((verdict, i) => ({ x: theirs[x][i], y: theirs[y][i], kind: accepted(verdict) ? "a" : "r", id: verdict.id, name: `${verdict.id}: ${accepted(verdict) ? "accepted" : "rejected"}, p-value ${number(verdict.p_value)}` }));
  return [...thinned(control), ...thinned(recovered)];
}

function whole(all) {
  const range = (key) => {
    const low = all.reduce((a, p) => Math.min(a, p[key]), Infinity), high = all.reduce((a, p) => Math.max(a, p[key]), -Infinity);
    const pad = (high - low) * 0.06 || Math.abs(low) * 0.1 || 1;
    return [low - pad, high + pad];
  };
  return { x: range("x"), y: range("y") };
}

// Ticks at 1, 2 or 5 times a power of ten, about six of them.
function ticks([low, high]) {
  const rough = (high - low) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((times) => times * power >= rough) * power;
  const digits = Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) found.push(i * step);
  const longest = Math.max(Math.abs(low), Math.abs(high));
  return found.map((value) => ({ value, label: longest >= 1e6 ? value.toExponential(1) : value.toFixed(digits) }));
}

export function drawPlane() {
  const all = marks();
  view ||= whole(all);
  const px = (v) => frame.left + (frame.width * (v - view.x[0])) / (view.x[1] - view.x[0]);
  const py = (v) => frame.bottom - (frame.height * (v - view.y[0])) / (view.y[1] - view.y[0]);
  const parts = [shape("rect", { class: "frame", x: frame.left, y: frame.top, width: frame.width, height: frame.height })];
  for (const { value, label } of ticks(view.x)) {
    parts.push(shape("path", { class: "tick", d: `M${px(value)} ${frame.top}V${frame.bottom}` }), shape("text", { x: px(value), y: frame.bottom + 18, "text-anchor": "middle" }, label));
  }
  for (const { value, label } of ticks(view.y)) {
    parts.push(shape("path", { class: "tick", d: `M${frame.left} ${py(value)}H${frame.right}` }), shape("text", { x: frame.left - 6, y: py(value) + 4, "text-anchor": "end" }, label));
  }
  const middle = frame.top + frame.height / 2;
  parts.push(shape("text", { x: frame.left + frame.width / 2, y: size.height - 8, "text-anchor": "middle" }, named($("x").value)));
  parts.push(shape("text", { x: 20, y: middle, transform: `rotate(-90 20 ${middle})`, "text-anchor": "middle" }, named($("y").value)));
  const inside = all.filter((p) => p.x >= view.x[0] && p.x <= view.x[1] && p.y >= view.y[0] && p.y <= view.y[1]);
  inside.sort((a, b) => (a.id === open.chosen) - (b.id === open.chosen)); // the chosen one lies on top
  parts.push(...inside.map((p) => mark(p, px(p.x), py(p.y))));
  $("plane").replaceChildren(...parts);
}

function mark(p, x, y) {
  const look = { class: `dot ${p.kind}${p.id !== undefined && p.id === open.chosen ? " on" : ""}` };
  let node;
  if (p.kind === "c") node = shape("circle", { ...look, cx: x, cy: y, r: 4 }, p.name);
  else if (p.kind === "a") node = shape("rect", { ...look, x: x - 4.5, y: y - 4.5, width: 9, height: 9 }, p.name);
  else node = shape("path", { ...look, d: `M${x} ${y - 6}l6 6l-6 6l-6 -6Z` }, p.name);
  node.addEventListener("pointerenter", () => { $("hover").textContent = p.name; });
  if (p.id !== undefined) node.addEventListener("click", () => choose(p.id));
  return node;
}

function zoom(factor, cx = 0.5, cy = 0.5) {
  for (const [axis, at] of [["x", cx], ["y", cy]]) {
    const [low, high] = view[axis];
    const fixed = low + (high - low) * at;
    view[axis] = [fixed - (fixed - low) * factor, fixed + (high - fixed) * factor];
  }
  drawPlane();
}

function move(from, dx, dy) {
  for (const [axis, share] of [["x", dx], ["y", dy]]) {
    const [low, high] = from[axis];
    view[axis] = [low - (high - low) * share, high - (high - low) * share];
  }
  drawPlane();
}

function place(event) {
  const box = $("plane").getBoundingClientRect();
  return [((event.clientX - box.left) * (size.width / box.width) - frame.left) / frame.width, (frame.bottom - (event.clientY - box.top) * (size.height / box.height)) / frame.height];
}

const CLOSER = 0.7;
const whenAsked = { "zoom-in": () => zoom(CLOSER), "zoom-out": () => zoom(1 / CLOSER), "zoom-reset": () => { view = null; drawPlane(); } };
for (const [id, act] of Object.entries(whenAsked)) $(id).addEventListener("click", act);
for (const axis of ["x", "y"]) $(axis).addEventListener("change", whenAsked["zoom-reset"]);

const KEYS = {
  "+": () => zoom(CLOSER), "-": () => zoom(1 / CLOSER), 0: whenAsked["zoom-reset"],
  ArrowLeft: () => move(view, 0.1, 0), ArrowRight: () => move(view, -0.1, 0), ArrowUp: () => move(view, 0, -0.1), ArrowDown: () => move(view, 0, 0.1),
};
$("plane").addEventListener("keydown", (event) => {
  if (!KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});

// The wheel scrolls the page until the figure was clicked: a reader on the way down is not caught in it.
$("plane").addEventListener("wheel", (event) => {
  if (document.activeElement !== $("plane") && !event.ctrlKey) return;
  event.preventDefault();
  zoom(event.deltaY < 0 ? 0.85 : 1 / 0.85, ...place(event));
}, { passive: false });

let drag = null;
$("plane").addEventListener("pointerdown", (event) => { drag = { from: place(event), view: structuredClone(view) }; });
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { drag = null; });
$("plane").addEventListener("pointermove", (event) => {
  if (!drag) return;
  const [x, y] = place(event);
  if (Math.hypot(x - drag.from[0], y - drag.from[1]) > 0.01) move(drag.view, x - drag.from[0], y - drag.from[1]); // less is a click
});
