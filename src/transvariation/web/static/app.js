// The page's own script: it asks the server, shows what came back, and draws. Text is always set as text, never as markup.
"use strict";

const $ = (id) => document.getElementById(id);
const csrf = document.querySelector("meta[name=csrf]").content;
const ROUNDING = 1e-9; // 1 - 0.9 is a hair less than 0.1
let current = null; // the open case: {case, features, result}
let sorting = { key: null, up: true };
let chosen = null; // the id of the object whose reasons are shown
let view = null; // what part of the plane is seen

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") node.className = value;
    else if (value !== false && value !== null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return node;
}

function shape(tag, attributes, title) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (title !== undefined) {
    const words = document.createElementNS("http://www.w3.org/2000/svg", "title");
    words.textContent = title;
    node.append(words);
  }
  return node;
}

const number = (value) => (value === null ? "–" : Number(value.toPrecision(4)).toString());

function showProblems(where, problems) {
  const box = $(where);
  box.replaceChildren();
  if (!problems || !problems.length) return;
  const lines = problems.map((problem) => {
    const place = [problem.file, problem.row && `row ${problem.row}`, problem.column && `column ${problem.column}`];
    const at = place.filter(Boolean).join(", ");
    return make("li", {}, at ? `${at}: ${problem.message}` : problem.message);
  });
  box.append(make("strong", {}, problems.length > 1 ? `${problems.length} problems` : "A problem"), make("ul", {}, ...lines));
}

async function ask(path, options = {}) {
  try {
    const response = await fetch(path, {
      ...options,
      headers: { "X-CSRF-Token": csrf, ...(options.headers || {}) },
    });
    const isJson = (response.headers.get("content-type") || "").startsWith("application/json");
    const body = isJson ? await response.json() : { problems: [{ message: await response.text() }] };
    return response.ok ? body : { problems: body.problems || [{ message: "Something went wrong; try again." }] };
  } catch {
    return { problems: [{ message: "The program no longer answers. Start it again and open the new address." }] };
  }
}

// 1. The two tables

for (const drop of document.querySelectorAll(".drop")) {
  const input = drop.querySelector("input");
  const say = () => { drop.querySelector(".chosen").textContent = input.files.length ? `Chosen: ${input.files[0].name}` : ""; };
  input.addEventListener("change", say);
  for (const kind of ["dragover", "dragenter"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) { input.files = event.dataTransfer.files; say(); }
  });
}

$("tables").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const missing = ["control", "recovered"].filter((name) => !form.elements[name].files.length);
  if (missing.length) return showProblems("load-problems", missing.map((name) => ({ message: `Choose the ${name} table.` })));
  await load("/api/tables", new FormData(form));
});

$("example").addEventListener("click", () => load("/api/example"));

async function load(path, body) {
  $("load").setAttribute("aria-busy", "true");
  for (const id of ["understood", "verdict", "take"]) $(id).hidden = true;
  const answer = await ask(path, { method: "POST", body });
  $("load").removeAttribute("aria-busy");
  showProblems("load-problems", answer.problems);
  if (answer.problems) return;
  current = { case: answer.case, features: answer.features, result: null };
  showUnderstood(answer);
}

// 2. What was understood

function showUnderstood(answer) {
  const boxes = answer.features.map((name) => make("label", {}, make("input", { type: "checkbox", checked: true, value: name }), ` ${name}`));
  $("features").replaceChildren($("features").querySelector("legend"), ...boxes);
  $("previews").replaceChildren(...answer.tables.map((table, i) => preview(table, ["Control", "Recovered"][i])));
  showProblems("judge-problems", []);
  $("understood").hidden = false;
  $("understood-title").focus();
}

function preview(table, role) {
  const head = make("tr", {}, make("th", { scope: "col", class: "text" }, "object"), ...table.features.map((name) => make("th", { scope: "col" }, table.units[name] ? `${name} (${table.units[name]})` : name)));
  const rows = table.values.map((row, i) => make("tr", {}, make("td", { class: "text" }, table.ids[i]), ...row.map((value) => make("td", {}, number(value)))));
  const caption = make("caption", {}, `${role}: ${table.file}, ${table.objects} objects${table.objects > rows.length ? `, the first ${rows.length} shown` : ""}`);
  const notes = table.notes.slice(0, 12).map((note) => make("li", {}, [note.column && `column ${note.column}`, note.message].filter(Boolean).join(": ")));
  return make("div", {}, make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${role} table` }, make("table", {}, caption, make("thead", {}, head), make("tbody", {}, ...rows))), make("ul", { class: "soft" }, ...notes));
}

$("judge").addEventListener("click", async () => {
  const features = [...$("features").querySelectorAll("input:checked")].map((box) => box.value);
  if (!features.length) return showProblems("judge-problems", [{ message: "Tick at least one variable." }]);
  const asked = { features, method: $("method").value, reduce: $("reduce").value, missing: $("tables").elements.missing.value };
  const path = `/api/cases/${current.case}`;
  $("working").hidden = false;
  $("judge").disabled = true;
  let answer = await ask(`${path}/judge`, { method: "POST", body: JSON.stringify(asked), headers: { "Content-Type": "application/json" } });
  while (answer.state === "running") {
    $("elapsed").textContent = `${Math.round(answer.seconds)} s`;
    await new Promise((resolve) => setTimeout(resolve, 200));
    answer = await ask(path);
  }
  $("working").hidden = true;
  $("judge").disabled = false;
  if (answer.state === "cancelled") return showProblems("judge-problems", [{ message: "Stopped, as you asked." }]);
  showProblems("judge-problems", answer.problems);
  if (answer.state === "done") showVerdict(answer.result);
});

$("cancel").addEventListener("click", () => ask(`/api/cases/${current.case}/cancel`, { method: "POST" }));

// 3. The verdict

function showVerdict(result) {
  current.result = result;
  chosen = null;
  sorting = { key: null, up: true };
  for (const axis of ["x", "y"]) $(axis).replaceChildren(...result.features.map((name) => make("option", { value: name }, name)));
  const telling = mostTelling(result);
  $("x").value = telling[0];
  $("y").value = telling[1] || telling[0];
  $("sensitivity").value = result.sensitivity;
  $("verdict").hidden = $("take").hidden = false;
  const words = [result.method_words, result.coverage.guarantee, `The smallest p-value that ${result.coverage.n} ${result.coverage.unit} allow is ${number(result.coverage.smallest_p_value)}.`, ...result.limitations];
  $("trust").replaceChildren(...words.map((text) => make("p", {}, text)));
  view = null;
  refresh();
  $("verdict-title").focus();
}

function mostTelling(result) {
  const count = Object.fromEntries(result.features.map((name) => [name, 0]));
  const against = result.verdicts.filter((v) => !v.accepted);
  for (const verdict of against.length ? against : result.verdicts) for (const reason of verdict.reasons) count[reason.variable] += (reason.rejected_alone ? 1 : 0) + (1 - reason.tp) / 1000;
  return [...result.features].sort((a, b) => count[b] - count[a]);
}

const alpha = () => 1 - Number($("sensitivity").value) + ROUNDING;
const accepted = (verdict) => verdict.p_value > alpha();

function refresh() {
  const { result } = current;
  const share = Number($("sensitivity").value);
  const rejected = result.verdicts.filter((verdict) => !accepted(verdict)).length;
  $("sensitivity-value").textContent = `${Math.round(share * 100)} %`;
  $("summary").textContent = `${rejected} of ${result.verdicts.length} recovered objects rejected, ${result.verdicts.length - rejected} accepted.`;
  const cautions = [...result.warnings];
  if (1 - share < result.coverage.smallest_p_value - ROUNDING) cautions.push(`${result.coverage.n} control objects cannot support a sensitivity above ${(1 - result.coverage.smallest_p_value).toFixed(2)}: nothing can be rejected there.`);
  $("cautions").replaceChildren(...cautions.map((text) => make("li", {}, text)));
  for (const link of $("downloads").querySelectorAll("a")) link.href = `/api/cases/${current.case}/file.${link.dataset.kind}?sensitivity=${share}`;
  drawTable();
  drawPlane();
  drawReasons();
}

$("sensitivity").addEventListener("input", refresh);
$("only-rejected").addEventListener("change", drawTable);

for (const button of document.querySelectorAll("#verdicts th button")) {
  button.addEventListener("click", () => {
    const key = button.dataset.key;
    sorting = { key, up: sorting.key === key ? !sorting.up : true };
    for (const th of document.querySelectorAll("#verdicts th[aria-sort]")) th.setAttribute("aria-sort", "none");
    button.parentElement.setAttribute("aria-sort", sorting.up ? "ascending" : "descending");
    drawTable();
  });
}

function drawTable() {
  const value = (verdict) => (sorting.key === "accepted" ? Number(accepted(verdict)) : verdict[sorting.key]);
  let verdicts = current.result.verdicts.filter((verdict) => !$("only-rejected").checked || !accepted(verdict));
  if (sorting.key) {
    const order = new Intl.Collator(undefined, { numeric: true }).compare;
    const compare = (a, b) => (sorting.key === "id" ? order(value(a), value(b)) : value(a) - value(b));
    verdicts = [...verdicts].sort((a, b) => (sorting.up ? compare(a, b) : compare(b, a)));
  }
  $("verdicts").tBodies[0].replaceChildren(...verdicts.map(tableRow));
}

function tableRow(verdict) {
  const fine = accepted(verdict);
  const against = fine ? "" : verdict.reasons.filter((reason) => reason.p_value <= alpha()).map((reason) => reason.variable).join(", ") || "none alone: their combination";
  const open = make("button", { type: "button", class: "id", "aria-label": `reasons for ${verdict.id}` }, verdict.id);
  open.addEventListener("click", () => choose(verdict.id));
  return make("tr", { class: fine ? "accepted" : "rejected", "aria-selected": String(verdict.id === chosen) }, make("td", { class: "text" }, open), make("td", { class: "word text" }, fine ? "accepted" : "rejected"), make("td", {}, number(verdict.p_value)), make("td", {}, verdict.tp === null ? "–" : verdict.tp.toFixed(3)), make("td", { class: "wrap" }, against));
}

function choose(id) {
  chosen = id;
  drawTable();
  drawPlane();
  drawReasons();
  const title = $("reasons").querySelector("h3");
  if (title) title.focus();
}

// Reasons: one row per variable with the control distribution and the object's value

function drawReasons() {
  const box = $("reasons");
  const verdict = current.result.verdicts.find((v) => v.id === chosen);
  box.replaceChildren();
  if (!verdict) return;
  const rows = verdict.reasons.map((reason) => {
    const alone = reason.p_value <= alpha();
    const unit = current.result.units[reason.variable];
    return make("tr", {}, make("td", { class: "text" }, unit ? `${reason.variable} (${unit})` : reason.variable), make("td", {}, number(reason.value)), make("td", {}, number(reason.median)), make("td", { class: "text" }, strip(current.result.values[reason.variable], reason.value, alone)), make("td", {}, reason.tp.toFixed(3)), make("td", { class: "text" }, `${reason.side} the median${alone ? ", rejects alone" : ""}`));
  });
  const head = ["variable", "value", "control median", "among the control objects", "tp", ""].map((name, i) => make("th", { scope: "col", class: [0, 3, 5].includes(i) ? "text" : "" }, name));
  box.append(make("h3", { tabindex: "-1" }, `Reasons for ${verdict.id}: ${accepted(verdict) ? "accepted" : "rejected"}, p-value ${number(verdict.p_value)}`), make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Reasons for ${verdict.id}` }, make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows))));
}

function strip(values, value, alone) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  const spread = at(1) - at(0) || Math.max(Math.abs(at(0)), 1) * 1e-3;
  const low = at(0) - spread / 2, high = at(1) + spread / 2;
  const x = (v) => 12 + (236 * (v - low)) / (high - low);
  const svg = shape("svg", { viewBox: "0 0 260 26", class: "strip", role: "img" }, alone ? "outside" : "inside");
  svg.append(shape("rect", { x: x(at(0.25)), y: 6, width: Math.max(x(at(0.75)) - x(at(0.25)), 1), height: 14, fill: "#cfe3f0" }));
  const step = Math.max(1, Math.floor(sorted.length / 200));
  svg.append(shape("path", { d: sorted.filter((_, i) => i % step === 0).map((v) => `M${x(v).toFixed(1)} 8V18`).join(""), stroke: "#5b6b7b", "stroke-opacity": ".5" }));
  svg.append(shape("path", { d: `M${x(at(0.5)).toFixed(1)} 3V23`, stroke: "#1d2733", "stroke-width": "1.5" }));
  const ink = alone ? "#c1121f" : "#1b4965";
  if (value < low) svg.append(shape("path", { d: "M10 8L2 13L10 18Z", fill: ink }));
  else if (value > high) svg.append(shape("path", { d: "M250 8L258 13L250 18Z", fill: ink }));
  else if (alone) svg.append(shape("path", { d: `M${x(value) - 4} 9l8 8m0-8l-8 8`, stroke: ink, "stroke-width": "2.2" }));
  else svg.append(shape("circle", { cx: x(value), cy: 13, r: 4, fill: ink, stroke: "#fff" }));
  return svg;
}

// The plane: hover for names, wheel or buttons to zoom, drag to move

const frame = { left: 62, top: 14, width: 484, height: 372 };

function points() {
  const { result } = current;
  const [x, y] = [$("x").value, $("y").value];
  const control = result.values[x].map((v, i) => ({ x: v, y: result.values[y][i], kind: "c", name: "control object" }));
  const recovered = result.verdicts.map((verdict, i) => ({ x: result.recovered_values[x][i], y: result.recovered_values[y][i], kind: accepted(verdict) ? "a" : "r", name: `${verdict.id}: ${accepted(verdict) ? "accepted" : "rejected"}, p-value ${number(verdict.p_value)}`, id: verdict.id }));
  return [...control, ...recovered];
}

function whole(all) {
  const range = (key) => {
    const values = all.map((p) => p[key]);
    const low = values.reduce((a, b) => Math.min(a, b)), high = values.reduce((a, b) => Math.max(a, b));
    const pad = (high - low) * 0.06 || 1;
    return [low - pad, high + pad];
  };
  return { x: range("x"), y: range("y") };
}

function drawPlane() {
  const all = points();
  if (!view) view = whole(all);
  const svg = $("plane");
  const px = (v) => frame.left + (frame.width * (v - view.x[0])) / (view.x[1] - view.x[0]);
  const py = (v) => frame.top + frame.height * (1 - (v - view.y[0]) / (view.y[1] - view.y[0]));
  const parts = [shape("rect", { x: frame.left, y: frame.top, width: frame.width, height: frame.height, fill: "none", stroke: "#8a97a3" })];
  for (let i = 0; i <= 4; i++) {
    const vx = view.x[0] + ((view.x[1] - view.x[0]) * i) / 4, vy = view.y[0] + ((view.y[1] - view.y[0]) * i) / 4;
    const tx = shape("text", { x: px(vx), y: frame.top + frame.height + 18, "text-anchor": "middle" });
    tx.textContent = number(vx);
    const ty = shape("text", { x: frame.left - 6, y: py(vy) + 4, "text-anchor": "end" });
    ty.textContent = number(vy);
    parts.push(tx, ty);
  }
  const name = (axis) => { const v = $(axis).value, unit = current.result.units[v]; return unit ? `${v} (${unit})` : v; };
  const xLabel = shape("text", { x: frame.left + frame.width / 2, y: 434, "text-anchor": "middle" });
  xLabel.textContent = name("x");
  const yLabel = shape("text", { x: 14, y: frame.top + frame.height / 2, transform: `rotate(-90 14 ${frame.top + frame.height / 2})`, "text-anchor": "middle" });
  yLabel.textContent = name("y");
  parts.push(xLabel, yLabel);
  for (const p of all) {
    if (p.x < view.x[0] || p.x > view.x[1] || p.y < view.y[0] || p.y > view.y[1]) continue;
    const [cx, cy] = [px(p.x), py(p.y)];
    const look = { class: `dot ${p.kind}${p.id !== undefined && p.id === chosen ? " on" : ""}` };
    const mark = p.kind === "c" ? shape("circle", { ...look, cx, cy, r: 4 }, p.name) : p.kind === "a" ? shape("rect", { ...look, x: cx - 4.5, y: cy - 4.5, width: 9, height: 9 }, p.name) : shape("path", { ...look, d: `M${cx} ${cy - 6}l6 6l-6 6l-6 -6Z` }, p.name);
    mark.addEventListener("pointerenter", () => { $("hover").textContent = p.name; });
    if (p.id !== undefined) mark.addEventListener("click", () => choose(p.id));
    parts.push(mark);
  }
  svg.replaceChildren(...parts);
}

function zoom(factor, cx = 0.5, cy = 0.5) {
  for (const [axis, at] of [["x", cx], ["y", cy]]) {
    const [low, high] = view[axis];
    const fixed = low + (high - low) * at;
    view[axis] = [fixed - (fixed - low) * factor, fixed + (high - fixed) * factor];
  }
  drawPlane();
}

function place(event) {
  const box = $("plane").getBoundingClientRect();
  return [((event.clientX - box.left) * (560 / box.width) - frame.left) / frame.width, 1 - ((event.clientY - box.top) * (440 / box.height) - frame.top) / frame.height];
}

for (const axis of ["x", "y"]) $(axis).addEventListener("change", () => { view = null; drawPlane(); });
$("zoom-in").addEventListener("click", () => zoom(0.7));
$("zoom-out").addEventListener("click", () => zoom(1 / 0.7));
$("zoom-reset").addEventListener("click", () => { view = null; drawPlane(); });
$("plane").addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY < 0 ? 0.85 : 1 / 0.85, ...place(event)); }, { passive: false });
let drag = null;
$("plane").addEventListener("pointerdown", (event) => { drag = { from: place(event), view: structuredClone(view) }; });
addEventListener("pointerup", () => { drag = null; });
$("plane").addEventListener("pointermove", (event) => {
  if (!drag) return;
  const [x, y] = place(event);
  for (const [axis, moved] of [["x", x - drag.from[0]], ["y", y - drag.from[1]]]) {
    const [low, high] = drag.view[axis];
    view[axis] = [low - (high - low) * moved, high - (high - low) * moved];
  }
  drawPlane();
});

// 4. Take it along: a failed download says why instead of saving an error

for (const link of $("downloads").querySelectorAll("a")) {
  link.addEventListener("click", async (event) => {
    if (link.dataset.kind !== "pdf") return;
    event.preventDefault();
    const response = await fetch(link.href);
    if (!response.ok) return showProblems("take-problems", (await response.json()).problems);
    const address = URL.createObjectURL(await response.blob());
    make("a", { href: address, download: "transvariation-case.pdf" }).click();
    URL.revokeObjectURL(address);
  });
}
