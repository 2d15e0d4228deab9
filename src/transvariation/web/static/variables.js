// The variables to use: boxes for a few, ranges and preprocessing for spectra, words in their names for many others.

import { $, ask, make, open, showProblems, waiting } from "./base.js";
import { drawSpectra } from "./spectra.js";

const CHOSEN = ["baseline", "scatter", "normalization"]; // steps before the filter, in this order
const MANY = 40; // variables; more are chosen by words in their names
const WAIT = 300; // milliseconds after the last change
let features = []; // names of all variables
let axis = null; // the ends of the axis if they are a spectrum
let earlier = null; // the variables of earlier settings, until words are typed

// Offer the variables; those of earlier settings are chosen.
export function offerVariables(answer, asked) {
  ({ features, axis } = answer);
  ended();
  const legend = $("features").querySelector("legend");
  $("features").replaceChildren(legend, ...(isFew() ? boxes(asked.features) : axis ? rangeChoice(asked.ranges || []) : wordFields()));
  $("features").classList.toggle("ranges", !isFew() && Boolean(axis));
  earlier = asked.features || null;
  if (!isFew() && !axis) countChosen();
  $("spectra").hidden = !axis;
  const steps = asked.preprocess ? asked.preprocess.split(",") : [], [filter, points] = (steps.find((step) => step.startsWith("sg")) || "").split(":");
  for (const id of CHOSEN) $(id).value = steps.find((step) => [...$(id).options].some((each) => each.value === step)) || "";
  $("filter").value = filter;
  $("window").value = points || 11;
  $("regions").value = steps.includes("regions") ? "regions" : "";
  if (axis) preview();
}

const isFew = () => features.length > 0 && features.length <= MANY; // the names of a spectrum are not sent

const boxes = (chosen) => features.map((name) => make("label", {}, make("input", { type: "checkbox", checked: !chosen || chosen.includes(name), value: name }), ` ${name}`));

function rangeChoice(chosen) {
  const add = make("button", { type: "button", id: "add-range" }, "Add a range");
  add.addEventListener("click", () => { add.before(rangeFields([])); });
  return [...(chosen.length ? chosen : [[]]).map(rangeFields), add];
}

function wordFields() {
  const field = (id, label) => make("label", {}, `${label} `, make("input", { id, size: 24, class: "field" }));
  return [field("with-words", "with one of these words in the name"), field("without-words", "without these words"), make("p", { class: "soft", role: "status", id: "chosen-count" })];
}

const split = (id) => $(id).value.toLowerCase().split(",").map((word) => word.trim()).filter(Boolean);

function filtered() {
  if (earlier) return earlier;
  const [wanted, unwanted] = [split("with-words"), split("without-words")];
  const has = (name, words) => words.some((word) => name.toLowerCase().includes(word));
  return features.filter((name) => (!wanted.length || has(name, wanted)) && !has(name, unwanted));
}

function countChosen() {
  const chosen = filtered(), some = chosen.slice(0, 8).join(", ");
  $("chosen-count").textContent = `${chosen.length} of ${features.length} variables${chosen.length ? `: ${some}${chosen.length > 8 ? ", …" : ""}` : ""}. Separate words by commas.`;
}

function rangeFields(ends) {
  const field = (label, end) => make("label", {}, `${label} `, make("input", { type: "number", step: "any", placeholder: axis[end], value: ends[end], class: "field end" }));
  const remove = make("button", { type: "button", "aria-label": "remove this range" }, "×");
  const row = make("p", { class: "row range", role: "group", "aria-label": "range of the axis" }, field("from", 0), make("span", { class: "together" }, field("to", 1), remove));
  remove.addEventListener("click", () => { row.remove(); previewSoon(); });
  return row;
}

// An empty field stands for the end of the axis; a range without any number is none.
function ranges() {
  const pairs = [...$("features").querySelectorAll(".range")].map((row) => [...row.querySelectorAll("input")].map((field) => field.value));
  return pairs.filter((pair) => pair.some(Boolean)).map((pair) => pair.map((value, end) => (value === "" ? axis[end] : Number(value))));
}

function preprocess() {
  const filter = $("filter").value;
  return [...CHOSEN.map((id) => $(id).value), filter && `${filter}:${$("window").value || 11}`, $("regions").value].filter(Boolean).join(",");
}

// The settings of the variables; null if none is chosen. All are chosen by default.
export function chosenVariables() {
  const steps = axis ? { preprocess: preprocess() || null } : {};
  if (axis && !isFew()) return { ranges: ranges(), ...steps };
  const chosen = isFew() ? [...$("features").querySelectorAll("input:checked")].map((box) => box.value) : filtered();
  return chosen.length ? { features: chosen.length < features.length ? chosen : null, ...steps } : null;
}

let timer = null;
let latest = 0;
let ended = () => {};
function previewSoon() {
  clearTimeout(timer);
  timer = setTimeout(preview, WAIT);
}

async function preview() {
  const mine = open.case, turn = ++latest, chosen = chosenVariables();
  if (!chosen) return;
  $("window").parentElement.hidden = !$("filter").value;
  ended();
  ended = waiting($("kept"), "Drawing the spectra");
  const found = await ask(`/api/cases/${mine}/preview`, { method: "POST", body: JSON.stringify({ ...open.reading, ...chosen }), headers: { "Content-Type": "application/json" } });
  if (open.case !== mine || turn !== latest) return; // no longer wanted
  ended();
  showProblems($("spectra-problems"), found.problems);
  $("kept").textContent = found.words || "";
  if (!found.problems) show(found);
}

function show({ before, after, kinds, names }) {
  $("after-figure").hidden = !after;
  drawSpectra($("before"), { parts: before, kinds, shaded: ranges(), names: names.before });
  if (after) drawSpectra($("after"), { parts: after, kinds, names: names.after });
}

$("features").addEventListener("input", () => {
  if (axis) previewSoon();
  else if (!isFew()) { earlier = null; countChosen(); }
});
for (const id of [...CHOSEN, "filter", "window", "regions"]) $(id).addEventListener("input", previewSoon);
