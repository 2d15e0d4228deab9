// The figure: all fragments in two variables. Zoom and move with buttons, keys, the wheel or by dragging.

import { FINEST, drawAxes, reach, scales } from "./axes.js";
import { $, ask, make, open, shape, short, showProblems } from "./base.js";

const size = { width: 560, height: 440 };
const frame = { left: 66, top: 14, right: 542, bottom: 380 }; // left depends on the labels
const MOST = 3000; // marks of each kind; of more, a subset is drawn
const FARTHEST = 1000; // times the range of the fragments
const LABELED = 12; // so few recovered fragments are named in the figure; of more, the chosen one
let view = null; // the ranges shown
let full = null; // the ranges that contain every fragment
let near = null; // the ranges around the control, shown first
let points = null; // the means of the fragments in the two variables, as the server sent them
let choose = () => {};

export async function resetPlane(whenChosen) {
  choose = whenChosen;
  points = null;
  $("plane").replaceChildren();
  for (const [axis, name] of [["x", open.view.axes[0]], ["y", open.view.axes.at(-1)]]) {
    $(axis).replaceChildren(...open.view.features.map((each) => make("option", { value: each }, each)));
    $(axis).value = name;
  }
  await loadPoints();
}

async function loadPoints() {
  const mine = open.case, asked = [$("x").value, $("y").value];
  const found = await ask(`/api/cases/${mine}/points?${new URLSearchParams({ x: asked[0], y: asked[1] })}`);
  if (open.case !== mine || asked[0] !== $("x").value || asked[1] !== $("y").value) return; // no longer wanted
  showProblems($("conclusion-problems"), found.problems);
  if (found.problems) return;
  [points, view] = [found, null];
  drawPlane();
}

const thinned = (marks) => marks.filter((mark, i) => i % Math.ceil(marks.length / MOST) === 0 || (mark.key !== undefined && mark.key === open.chosen));

function marks() {
  const control = points.control.map(([name, x, y, replicates]) => ({ x, y, replicates, kind: "c", name: `${name}: control` }));
  const recovered = points.recovered.map(([id, x, y, replicates], key) => {
    const each = open.view.conclusions[key];
    return { x, y, replicates, id, key, kind: each.excluded ? "r" : "a", name: `${id}: ${each.verdict}, p-value ${each.p}` };
  });
  return [...thinned(control), ...thinned(recovered)];
}

export function drawPlane() {
  if (!points) return;
  const all = marks();
  const replicates = all.flatMap((p) => p.replicates.map(([x, y]) => ({ x, y, kind: p.kind })));
  const everything = [...all, ...replicates];
  full = { x: reach(everything.map((p) => p.x)), y: reach(everything.map((p) => p.y)) };
  near = around(all.filter((p) => p.kind === "c"));
  view ||= structuredClone(near);
  const parts = drawAxes($("plane"), frame, view, points.names);
  const isInside = (p) => p.x >= view.x[0] && p.x <= view.x[1] && p.y >= view.y[0] && p.y <= view.y[1];
  const inside = all.filter(isInside);
  inside.sort((a, b) => (a.key === open.chosen) - (b.key === open.chosen)); // the chosen one on top
  const { px, py } = scales(frame, view);
  parts.push(...replicates.filter(isInside).map((p) => shape("circle", { class: `replicate ${p.kind}`, cx: px(p.x), cy: py(p.y), r: 2 })));
  $("key-replicates").hidden = !replicates.length;
  const outside = all.filter((p) => p.key !== undefined && !isInside(p)).length;
  $("key-outside").textContent = outside ? `${outside} recovered outside this view` : "";
  parts.push(...inside.map((p) => mark(p, px(p.x), py(p.y))));
  const few = open.view.conclusions.length <= LABELED;
  const named = inside.filter((p) => p.key !== undefined && (few || p.key === open.chosen));
  $("plane").replaceChildren(...parts, ...labels(named.map((p) => ({ name: short(p.id, 12), x: px(p.x), y: py(p.y) }))));
}

// One far fragment must not press all others together: three times the range of the control, or all if that is less.
function around(control) {
  const ranges = {};
  for (const axis of ["x", "y"]) {
    const [low, high] = reach(control.map((p) => p[axis]));
    ranges[axis] = [Math.max(full[axis][0], low - (high - low)), Math.min(full[axis][1], high + (high - low))];
  }
  return ranges;
}

// Each name stands beside its mark, within the frame and apart from the names before it where there is room.
function labels(named) {
  const em = 0.85 * parseFloat(getComputedStyle($("plane")).fontSize), placed = [];
  const apart = (a, b) => a.x + a.width <= b.x || b.x + b.width <= a.x || Math.abs(a.y - b.y) >= em;
  return named.map(({ name, x, y }) => {
    const width = 0.64 * em * name.length;
    const places = [-7, 13, -7 - em, 13 + em].flatMap((dy) => [x + 8, x - 8 - width].map((left) => ({ x: left, y: y + dy, width })));
    const fits = places.filter((at) => at.x >= frame.left && at.x + width <= frame.right && at.y - em >= frame.top && at.y <= frame.bottom);
    const at = fits.find((place) => placed.every((other) => apart(place, other))) || fits[0] || places[0];
    placed.push(at);
    return shape("text", { class: "label", x: at.x, y: at.y }, name);
  });
}

function mark(p, x, y) {
  const look = { class: `dot ${p.kind}${p.key !== undefined && p.key === open.chosen ? " on" : ""}` };
  let node;
  if (p.kind === "c") node = shape("circle", { ...look, cx: x, cy: y, r: 4 }, p.name);
  else if (p.kind === "a") node = shape("rect", { ...look, x: x - 4.5, y: y - 4.5, width: 9, height: 9 }, p.name);
  else node = shape("path", { ...look, d: `M${x} ${y - 6}l6 6l-6 6l-6 -6Z` }, p.name);
  node.addEventListener("pointerenter", () => { $("hover").textContent = p.name; });
  if (p.key !== undefined) node.addEventListener("click", () => choose(p.key));
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
  return [((event.clientX - box.left) * (size.width / box.width) - frame.left) / (frame.right - frame.left), (frame.bottom - (event.clientY - box.top) * (size.height / box.height)) / (frame.bottom - frame.top)];
}

const CLOSER = 0.7;
const whenAsked = { "zoom-in": () => zoom(CLOSER), "zoom-out": () => zoom(1 / CLOSER), "zoom-control": () => { view = null; drawPlane(); }, "zoom-reset": () => { view = structuredClone(full); drawPlane(); } };
for (const [id, act] of Object.entries(whenAsked)) $(id).addEventListener("click", act);
for (const axis of ["x", "y"]) $(axis).addEventListener("change", loadPoints);

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
