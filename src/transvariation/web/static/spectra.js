// Spectra as lines, with the control's band and shaded ranges of the axis. The server computes; this draws.

import { drawAxes, reach, scales } from "./axes.js";
import { shape } from "./base.js";

// Each part has an axis and lines over it, and perhaps a band; kinds and titles are those of the lines.
export function drawSpectra(svg, { parts, kinds, titles = [], shaded = [], names, range = null }) {
  const width = Math.max(svg.clientWidth, 300), height = Math.max(svg.clientHeight, 120);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const frame = { left: 66, top: 10, right: width - 10, bottom: height - 48 };
  const xs = parts.flatMap((part) => part.axis), ends = [Math.min(...xs), Math.max(...xs)];
  const ranges = { x: ends[0] < ends[1] ? ends : reach(ends), y: reach(range || parts.flatMap((part) => part.lines.flat())) };
  const axes = drawAxes(svg, frame, ranges, names), { px, py } = scales(frame, ranges);
  const inside = (v) => Math.min(Math.max(px(v), frame.left), frame.right);
  const boxes = shaded.map(([low, high]) => shape("rect", { class: "shaded", x: inside(low) - 0.5, y: frame.top, width: inside(high) - inside(low) + 1, height: frame.bottom - frame.top }));
  const path = (axis, values) => axis.map((v, i) => `${i ? "L" : "M"}${px(v).toFixed(1)} ${py(values[i]).toFixed(1)}`).join("");
  const bands = parts.filter((part) => part.band).map(({ axis, band: [low, high] }) => shape("path", { class: "half", d: `${path(axis, low)}${path([...axis].reverse(), [...high].reverse()).replace("M", "L")}Z` }));
  const lines = kinds.map((kind, i) => shape("path", { class: `line ${kind}`, d: parts.map((part) => path(part.axis, part.lines[i])).join("") }, titles[i]));
  svg.replaceChildren(...bands, ...boxes, ...axes, ...lines.reverse()); // the control over the recovered
}
