// Axes of the figure: ranges, ticks and titles.

import { short } from "./base.js";

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

// The name of the variable, short enough for its axis, with the offset.
export function title(name, offset, room) {
  const off = offset ? ` ${offset < 0 ? "+" : "−"} ${shortest(Math.abs(offset))}` : "";
  return short(name, Math.max(8, room - off.length)) + off;
}

function shortest(value) {
  const exact = Number(value.toPrecision(14));
  const [one, other] = [exact.toString(), exact.toExponential().replace("e+", "e")];
  return other.length < one.length ? other : one;
}
