// The plane: all objects on two variables. Point for names, zoom and move with buttons, keys, wheel or by dragging.

import { FINEST, reach, ticks, title } from "./axes.js";
import { $, accepted, alpha, make, named, number, open, shape } from "./base.js";

const frame = { left: 66, top: 14, width: 476, height: 366, bottom: 380, right: 542 }; // left and width: as labels need
const size = { width: 560, height: 440 };
const MOST = 3000; // marks of each kind: beyond, every so many-th
const FARTHEST = 1000; // times the objects' range: beyond, they are one spot
let view = null; // the ranges seen
let full = null; // those that show every object
let picked = false; // the axes, by the person
let choose = () => {};

export function resetPlane(whenChosen) {
  choose = whenChosen;
  view = null;
  picked = false;
  for (const axis of ["x", "y"]) $(axis).replaceChildren(...open.result.features.map((name) => make("option", { value: name }, name)));
}

// Show the two variables that the report would show at this sensitivity, unless the person chose others.
export function aimPlane() {
  const telling = mostTelling(open.result);
  const [x, y] = [telling[0], telling[1] || telling[0]];
  if (picked || (view && $("x").value === x && $("y").value === y)) return;
  [$("x").value, $("y").value, view] = [x, y, null];
}

function mostTelling({ features, verdicts }) {
  const weight = Object.fromEntries(features.map((name) => [name, 0]));
  const rejected = verdicts.filter((verdict) => !accepted(verdict));
  for (const { reasons } of rejected.length ? rejected : verdicts) {
    for (const reason of reasons) weight[reason.variable] += (reason.p_value <= alpha() ? 1 : 0) + (1 - reason.tp) / 1000;
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

export function drawPlane() {
  const all = marks();
  full = { x: reach(all.map((p) => p.x)), y: reach(all.map((p) => p.y)) };
  view ||= structuredClone(full);
  const parts = axes();
  const inside = all.filter((p) => p.x >= view.x[0] && p.x <= view.x[1] && p.y >= view.y[0] && p.y <= view.y[1]);
  inside.sort((a, b) => (a.id === open.chosen) - (b.id === open.chosen)); // the chosen one lies on top
  parts.push(...inside.map((p) => mark(p, px(p.x), py(p.y))));
  $("plane").replaceChildren(...parts);
}

const px = (v) => frame.left + (frame.width * (v - view.x[0])) / (view.x[1] - view.x[0]);
const py = (v) => frame.bottom - (frame.height * (v - view.y[0])) / (view.y[1] - view.y[0]);

function axes() {
  const em = parseFloat(getComputedStyle($("plane")).fontSize), letter = 0.64 * em; // larger on a phone
  const about = em > 15 ? 5 : 6;
  const [across, up] = [ticks(view.x, about), ticks(view.y, about)];
  frame.left = Math.max(66, 26 + 0.3 * em + letter * Math.max(...up.marks.map((each) => each.label.length)));
  frame.width = frame.right - frame.left;
  const parts = [shape("rect", { class: "frame", x: frame.left, y: frame.top, width: frame.width, height: frame.height })];
  for (const { value, label } of across.marks) {
    const at = Math.min(px(value), size.width - (letter * label.length) / 2); // the last would be cut
    parts.push(shape("path", { class: "tick", d: `M${px(value)} ${frame.top}V${frame.bottom}` }), shape("text", { x: at, y: frame.bottom + 18, "text-anchor": "middle" }, label));
  }
  for (const { value, label } of up.marks) {
    parts.push(shape("path", { class: "tick", d: `M${frame.left} ${py(value)}H${frame.right}` }), shape("text", { x: frame.left - 6, y: py(value) + 4, "text-anchor": "end" }, label));
  }
  const middle = frame.top + frame.height / 2;
  parts.push(axisTitle("x", across.offset, frame.width / letter, { x: frame.left + frame.width / 2, y: size.height - 8 }));
  parts.push(axisTitle("y", up.offset, frame.height / letter, { x: 20, y: middle, transform: `rotate(-90 20 ${middle})` }));
  return parts;
}

function axisTitle(axis, offset, room, where) {
  const name = named($(axis).value), words = title(name, offset, Math.floor(room));
  const node = shape("text", { ...where, "text-anchor": "middle" }, words);
  if (!words.startsWith(name)) node.append(shape("title", {}, name));
  return node;
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
  if (["x", "y"].some((axis) => tooFar(axis, factor))) return;
  for (const [axis, at] of [["x", cx], ["y", cy]]) {
    const [low, high] = view[axis];
    const fixed = low + (high - low) * at;
    view[axis] = [fixed - (fixed - low) * factor, fixed + (high - fixed) * factor];
  }
  drawPlane();
}

function tooFar(axis, factor) {
  const width = (view[axis][1] - view[axis][0]) * factor;
  const largest = Math.max(...[...view[axis], ...full[axis]].map(Math.abs));
  return factor < 1 ? width < FINEST * largest : width > FARTHEST * (full[axis][1] - full[axis][0]);
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
for (const axis of ["x", "y"]) $(axis).addEventListener("change", () => { picked = true; whenAsked["zoom-reset"](); });

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
