// Sections of a report, as the server describes them.

import { make } from "./base.js";

export const source = (svg) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;

export const show = (box, sections) => box.replaceChildren(...sections.flatMap(({ heading, parts }) => [make("h3", {}, heading), ...parts.map(part)]));

// A part of a section. A phone shows a row of strips as a block, each cell beside the name of its column.
export function part({ kind, text, label, items, images, columns, rows, caption, marks }) {
  if (kind === "items") return make("ul", {}, ...items.map((item) => make("li", {}, item)));
  if (kind === "labeled") return make("p", {}, make("strong", {}, `${label}. `), text);
  if (kind === "strong") return make("p", {}, make("strong", {}, text));
  if (kind === "figure") return make("figure", {}, ...images.map(({ alt, svg }) => make("img", { src: source(svg), alt })), make("figcaption", { class: "soft" }, caption));
  if (!columns) return make("p", {}, text);
  const cell = (content) => (content.svg ? make("img", { src: source(content.svg), alt: content.alt, class: "strip" }) : make("span", { class: "name" }, content));
  const head = columns.map((column) => make("th", { scope: "col", class: column.text ? "text" : "" }, column.name));
  const body = rows.map((row, i) => make("tr", { class: marks[i] }, ...row.map((content, j) => make(j ? "td" : "th", { scope: j ? null : "row", class: columns[j].text ? "text wrap" : "", "data-label": columns[j].name }, cell(content)))));
  const table = make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
}
