// Axes of a figure: ranges, scales, ticks and titles.

import { shape, short } from "./base.js";

export const FINEST = 1e-12; // relative: smaller differences are rounding

export function reach(values) {
  const low = values.reduce((a, v) => Math.min(a, v), Infinity), high = values.reduce((a, v) => Math.max(a, v), -Infinity);
  const size = Math.max(Math.abs(low), Math.abs(high));
  const pad = high - low > FINEST * size ? (high - low) * 0.06 : size * 0.1 || 1;
  return [low - pad, high + pad];
}

const order = (value) => Math.floor(Math.log10(Math.abs(value)) + 1e-9); // 1000 has 3, 0.02 has -2

// Ticks at 1, 2 or 5 times a power of ten. Labels that would need too many digits count from an offset, which the title
// of the axis states.
export function ticks([low, high], about) {
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((times) => times * power >= rough) * power;
  const first = Math.ceil(low / step), last = Math.floor(high / step);
  const values = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  const size = Math.max(Math.abs(low), Math.abs(high));
  const offset = order(size) - order(step) < (plain(size, step) ? 6 : 4) ? 0 : round((low + high) / 2, 10 ** (order(high - low) + 1));
  const left = Math.max(Math.abs(low - offset), Math.abs(high - offset));
  return { offset, marks: values.map((value) => ({ value, label: label(value - offset, step, left) })) };
}

const plain = (size, step) => size < 1e6 && step > 0.9e-5;

const round = (value, unit) => Math.round(value / unit) * unit;

function label(value, step, size) {
  const seen = Math.abs(value) < step / 2 ? 0 : value; // never -0
  if (plain(size, step)) return seen.toFixed(Math.max(0, -order(step)));
  return seen ? seen.toExponential(Math.max(0, order(seen) - order(step))).replace("e+", "e") : "0";
}

// Functions from values to places in a frame that shows these ranges.
export function scales(frame, { x, y }) {
  return {
    px: (v) => frame.left + ((frame.right - frame.left) * (v - x[0])) / (x[1] - x[0]),
    py: (v) => frame.bottom - ((frame.bottom - frame.top) * (v - y[0])) / (y[1] - y[0]),
  };
}

// Draw frame, ticks and titles; the left edge of the frame moves as the labels need.
export function drawAxes(svg, frame, ranges, names) {
  const em = parseFloat(getComputedStyle(svg).fontSize), letter = 0.64 * em; // larger on phones
  const { width, height } = svg.viewBox.baseVal;
  const about = em > 15 ? 5 : 6;
  const [across, up] = [ticks(ranges.x, about), ticks(ranges.y, Math.min(about, Math.ceil(height / 70)))];
  frame.left = Math.max(66, 26 + 0.3 * em + letter * Math.max(...up.marks.map((each) => each.label.length)));
  const { left, top, right, bottom } = frame, { px, py } = scales(frame, ranges);
  const parts = [shape("rect", { class: "frame", x: left, y: top, width: right - left, height: bottom - top })];
  for (const { value, label } of across.marks) {
    const at = Math.min(px(value), width - (letter * label.length) / 2); // else the last would be clipped
    parts.push(shape("path", { class: "tick", d: `M${px(value)} ${top}V${bottom}` }), shape("text", { x: at, y: bottom + 18, "text-anchor": "middle" }, label));
  }
  for (const { value, label } of up.marks) {
    parts.push(shape("path", { class: "tick", d: `M${left} ${py(value)}H${right}` }), shape("text", { x: left - 6, y: py(value) + 4, "text-anchor": "end" }, label));
  }
  const middle = (top + bottom) / 2;
  parts.push(axisTitle(names[0], across.offset, (right - left) / letter, { x: (left + right) / 2, y: height - 8 }));
  parts.push(axisTitle(names[1], up.offset, (bottom - top) / letter, { x: 20, y: middle, transform: `rotate(-90 20 ${middle})` }));
  return parts;
}

function axisTitle(name, offset, room, where) {
  const words = title(name, offset, Math.floor(room));
  const node = shape("text", { ...where, "text-anchor": "middle" }, words);
  if (!words.startsWith(name)) node.append(shape("title", {}, name));
  return node;
}

// The name of the variable, short enough for its axis, with the offset.
function title(name, offset, room) {
  const off = offset ? ` ${offset < 0 ? "+" : "−"} ${shortest(Math.abs(offset))}` : "";
  return short(name, Math.max(8, room - off.length)) + off;
}

function shortest(value) {
  const exact = Number(value.toPrecision(14));
  const [one, other] = [exact.toString(), exact.toExponential().replace("e+", "e")];
  return other.length < one.length ? other : one;
}
