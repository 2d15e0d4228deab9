// Steps 3 and 4: the conclusions at a sensitivity, as the server states them, and the files to save.

import { $, askView, make, open, sensitivity, showProblems, speak, waiting } from "./base.js";
import { drawFigures, drawOverview } from "./figures.js";
import { drawPlane, resetPlane } from "./plane.js";
import { showReasons } from "./reasons.js";
import { part, show } from "./sections.js";

const PAGE = 300; // rows drawn at once
const WAIT = 120; // milliseconds after the last movement of the slider
let sorting = { key: null, up: true };
let shown = PAGE;

export function showCase(view) {
  Object.assign(open, { view, chosen: null });
  speak(view.words);
  sort(null, true);
  $("only-excluded").checked = false;
  $("sensitivity").value = view.sensitivity;
  $("conclusion").hidden = $("take").hidden = false;
  $("spectra-result").hidden = !view.spectral;
  $("plane-result").hidden = view.spectral;
  if (!view.spectral) resetPlane(choose);
  refresh();
  $("conclusion-title").focus();
}

const percent = () => `${Math.round(sensitivity() * 100)}%`;

function refresh() {
  const view = open.view;
  label();
  $("headline").textContent = view.headline;
  $("warnings").replaceChildren(...view.warnings.map((text) => make("li", {}, text)));
  $("summary").replaceChildren(...view.summary.map((text) => make("li", {}, text)));
  show($("trust"), view.sections);
  $("key-accepted").textContent = view.key.for;
  $("key-against").textContent = view.key.against;
  $("only-words").textContent = `${view.key.against} only`;
  $("key-excluded").hidden = !view.conclusive;
  for (const link of $("downloads").querySelectorAll("a")) link.href = `/api/cases/${open.case}/file.${link.dataset.kind}?sensitivity=${sensitivity()}`;
  drawMatrix(view.matrix);
  drawOverview();
  drawFigures();
  draw();
}

// Conclusions by each of several control sources, and by any of them.
function drawMatrix(matrix) {
  $("several").hidden = !matrix;
  if (!matrix) return;
  $("matrix").replaceChildren(...matrix.parts.map(part));
  $("source").replaceChildren(...matrix.sources.map((name, i) => make("option", { value: i }, name)));
  $("source").value = matrix.source;
}

const source = () => (open.view?.matrix ? { source: $("source").value } : {});

$("source").addEventListener("change", async () => {
  const view = await askView("view", source());
  if (!view) return;
  Object.assign(open, { view, chosen: null });
  if (!view.spectral) resetPlane(choose);
  refresh();
});

function label() {
  $("sensitivity-value").textContent = percent();
  $("sensitivity").setAttribute("aria-valuetext", percent());
}

// Return when the reasons are shown, and whether they are those of the chosen fragment.
function draw() {
  drawTable();
  if (!open.view.spectral) drawPlane();
  return showReasons();
}

// Only the server decides: it is asked for the conclusions at the new sensitivity.
let timer = null;
$("sensitivity").addEventListener("input", () => {
  label();
  clearTimeout(timer);
  timer = setTimeout(async () => {
    const view = await askView("view", source());
    if (!view) return;
    open.view = view;
    refresh();
  }, WAIT);
});
$("only-excluded").addEventListener("change", () => { shown = PAGE; drawTable(); });
$("more").addEventListener("click", () => { shown += PAGE; drawTable(); });

function sort(key, up) {
  sorting = { key, up };
  shown = PAGE;
  for (const button of document.querySelectorAll("#conclusions th button")) {
    button.parentElement.setAttribute("aria-sort", button.dataset.key !== key ? "none" : up ? "ascending" : "descending");
  }
}

for (const button of document.querySelectorAll("#conclusions th button")) {
  button.addEventListener("click", () => {
    const key = button.dataset.key;
    sort(key, sorting.key === key ? !sorting.up : true);
    drawTable();
  });
}

function drawTable() {
  const all = open.view.conclusions;
  let rows = all.filter((each) => !$("only-excluded").checked || each.excluded);
  if (sorting.key) {
    const order = new Intl.Collator(undefined, { numeric: true }).compare;
    const compare = (a, b) => (sorting.key === "fragment" ? order(a.fragment, b.fragment) : Number(a[sorting.key]) - Number(b[sorting.key]));
    rows = [...rows].sort((a, b) => (sorting.up ? compare(a, b) : compare(b, a)));
  }
  for (const name of ["ratios", "matches"]) document.querySelector(`#conclusions th[data-column=${name}]`).hidden = !open.view.columns[name];
  document.querySelector("#conclusions th[data-column=matches]").textContent = open.view.columns.matches;
  const body = $("conclusions").tBodies[0], focused = body.contains(document.activeElement);
  body.replaceChildren(...rows.slice(0, shown).map(tableRow));
  if (focused) body.querySelector("button[aria-current]")?.focus();
  const part = rows.length < all.length ? `Listed are only those with the conclusion “${open.view.key.against}”: ${rows.length} of ${all.length}. ` : "";
  $("listed").textContent = part + (shown < rows.length ? `The first ${shown} of ${rows.length}. The saved files hold all.` : "");
  $("none").hidden = rows.length > 0;
  $("more").hidden = rows.length <= shown;
  $("more").textContent = `Show more (${rows.length - shown} left)`;
}

function tableRow(each) {
  const columns = open.view.columns, chosen = each.key === open.chosen;
  const button = make("button", { type: "button", class: "id name", "aria-label": `${each.fragment}: show the reasons`, "aria-current": chosen ? "true" : null }, each.fragment);
  const cells = [
    make("th", { scope: "row", class: "text" }, button, each.more ? make("span", { class: "soft" }, each.more) : ""),
    make("td", { class: "word text" }, each.verdict, each.disagreement ? make("span", { class: "warn", title: each.disagreement }, open.view.disagrees) : ""),
    make("td", {}, each.p),
  ];
  if (columns.ratios) cells.push(make("td", { class: "short", title: each.ratios.map((ratio) => ratio.words).join("; ") }, each.ratios.map((ratio) => ratio.short).join(", ")));
  if (columns.matches) cells.push(make("td", { class: "short text" }, each.match || ""));
  cells.push(make("td", { class: "wrap" }, each.alone));
  const row = make("tr", { class: `${each.excluded ? "excluded" : ""}${chosen ? " on" : ""}` }, ...cells);
  row.addEventListener("click", () => choose(each.key));
  return row;
}

async function choose(key) {
  open.chosen = key;
  if (await draw()) $("reasons").querySelector("h3").focus();
}

function back() {
  const row = $("conclusions").querySelector("button[aria-current]");
  (row || $("conclusions").parentElement).focus(); // a fragment chosen in the figure need not be listed
}

$("reasons").addEventListener("click", (event) => { if (event.target.closest("button")) back(); });
$("reasons").addEventListener("keydown", (event) => { if (event.key === "Escape") back(); });

// A download that fails shows why, instead of saving an error message as a report.
for (const link of $("downloads").querySelectorAll("a")) {
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    showProblems($("take-problems"), []);
    const done = waiting($("taking"), "Preparing the file");
    try {
      const response = await fetch(link.href);
      if (!response.ok) return showProblems($("take-problems"), (await response.json()).problems);
      const address = URL.createObjectURL(await response.blob());
      make("a", { href: address, download: `${open.view.name}.${link.dataset.kind}` }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60000);
    } catch {
      showProblems($("take-problems"), [{ message: "The program no longer responds. Start it again and open the new address." }]);
    } finally {
      done();
    }
  });
}
