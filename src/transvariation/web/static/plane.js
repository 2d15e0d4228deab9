// The figure: all fragments in two variables. Zoom and move with buttons, keys, the wheel or by dragging.

import { FINEST, reach, ticks, title } from "./axes.js";
import { $, make, named, open, shape, short } from "./base.js";

const frame = { left: 66, top: 14, width: 476, height: 366, bottom: 380, right: 542 }; // left and width depend on the labels
const size = { width: 560, height: 440 };
const MOST = 3000; // marks of each kind; of more, a subset is drawn
const FARTHEST = 1000; // times the range of the fragments
const LABELLED = 12; // so few recovered fragments are named in the figure
let view = null; // the ranges shown
let full = null; // the ranges that contain every fragment
let choose = () => {};

export function resetPlane(whenChosen) {
  choose = whenChosen;
  view = null;
  ["x", "y"].forEach((axis, i) => {
    $(axis).replaceChildren(...open.view.features.map((name) => make("option", { value: name }, name)));
    $(axis).value = open.view.axes[i];
  });
}

const thinned = (marks) => marks.filter((mark, i) => i % Math.ceil(marks.length / MOST) === 0 || (mark.id !== undefined && mark.id === open.chosen));

function marks() {
  const [x, y] = [$("x").value, $("y").value];
  const control = open.view.control.map((known) => ({ x: known.values[x], y: known.values[y], kind: "c", name: `${known.name}: control` }));
  const recovered = open.view.conclusions.map((each) => ({ x: each.values[x], y: each.values[y], kind: each.excluded ? "r" : "a", id: each.fragment, name: `${each.fragment}: ${each.verdict}, p-value ${each.p}` }));
  return [...thinned(control), ...thinned(recovered)];
}

export function drawPlane() {
  const all = marks();
  full = { x: reach(all.map((p) => p.x)), y: reach(all.map((p) => p.y)) };
  view ||= structuredClone(full);
  const parts = axes();
  const inside = all.filter((p) => p.x >= view.x[0] && p.x <= view.x[1] && p.y >= view.y[0] && p.y <= view.y[1]);
  inside.sort((a, b) => (a.id === open.chosen) - (b.id === open.chosen)); // the chosen one on top
  parts.push(...inside.map((p) => mark(p, px(p.x), py(p.y))));
  $("plane").replaceChildren(...parts);
}

const px = (v) => frame.left + (frame.width * (v - view.x[0])) / (view.x[1] - view.x[0]);
const py = (v) => frame.bottom - (frame.height * (v - view.y[0])) / (view.y[1] - view.y[0]);

function axes() {
  const em = parseFloat(getComputedStyle($("plane")).fontSize), letter = 0.64 * em; // larger on phones
  const about = em > 15 ? 5 : 6;
  const [across, up] = [ticks(view.x, about), ticks(view.y, about)];
  frame.left = Math.max(66, 26 + 0.3 * em + letter * Math.max(...up.marks.map((each) => each.label.length)));
  frame.width = frame.right - frame.left;
  const parts = [shape("rect", { class: "frame", x: frame.left, y: frame.top, width: frame.width, height: frame.height })];
  for (const { value, label } of across.marks) {
    const at = Math.min(px(value), size.width - (letter * label.length) / 2); // else the last would be clipped
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
  if (p.id === undefined) return node;
  node.addEventListener("click", () => choose(p.id));
  if (open.view.conclusions.length > LABELLED) return node;
  const group = shape("g", {});
  group.append(node, shape("text", { class: "label", x: x + 8, y: y - 6 }, short(p.id, 12)));
  return group;
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

// The wheel scrolls the page until the figure has been clicked.
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
