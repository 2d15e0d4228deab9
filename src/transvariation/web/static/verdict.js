// Steps 3 and 4: the verdicts, which move with the slider, and the files to take along.

import { $, ROUNDING, accepted, alpha, make, number, open, sensitivity, settle, short, showProblems } from "./base.js";
import { aimPlane, drawPlane, resetPlane } from "./plane.js";
import { drawReasons } from "./reasons.js";

const PAGE = 300; // rows drawn at once: a browser chokes on fifty thousand
let sorting = { key: null, up: true };
let shown = PAGE;

export function showVerdict(result) {
  Object.assign(open, { result, chosen: null });
  sort(null, true);
  $("only-rejected").checked = false;
  $("sensitivity").value = result.sensitivity;
  $("verdict").hidden = $("take").hidden = false;
  $("method-used").textContent = `The method used was “${result.method}”. ${result.method_words}`;
  $("case").textContent = named(result);
  resetPlane(choose);
  refresh();
  $("verdict-title").focus();
}

// A sheet of paper has neither the tables above nor what was chosen there.
function named({ control, recovered, method, features, no_say, combinations }) {
  const files = [control, recovered].map((table) => `${table.file} (${table.objects} objects)`);
  const without = no_say.length ? `; without a say: ${no_say.join(", ")}` : "";
  return `Control: ${files[0]}. Recovered: ${files[1]}. Method: ${method}. Variables${combinations ? ` in ${combinations} combinations` : ""}: ${features.join(", ")}${without}.`;
}

function refresh() {
  settle();
  const { verdicts, warnings, cautions, poolings, recovered, coverage } = open.result;
  const percent = `${Math.round(sensitivity() * 100)} %`;
  const rejected = verdicts.filter((verdict) => !accepted(verdict)).length;
  $("sensitivity-value").textContent = percent;
  $("sensitivity").setAttribute("aria-valuetext", percent);
  const used = 1 - alpha() + ROUNDING;
  const lost = recovered.dropped.length ? ` Not judged because a value is missing or below detection: ${recovered.dropped.slice(0, 20).join(", ")}${recovered.dropped.length > 20 ? ` and ${recovered.dropped.length - 20} more` : ""}.` : "";
  $("summary").textContent = `At a sensitivity of ${used < sensitivity() - ROUNDING ? `${(100 * used).toFixed(1)} % (${percent} was asked for)` : percent}, ${rejected} of ${verdicts.length} recovered objects ${rejected === 1 ? "is" : "are"} rejected and ${verdicts.length - rejected} accepted.${lost}`;
  // Some warnings come and go with the slider.
  const passing = new Set([open.result, ...poolings].flatMap((each) => each.cautions).map((caution) => caution.words));
  const holding = cautions.filter((caution) => sensitivity() > caution.above + ROUNDING).map((caution) => caution.words);
  $("cautions").replaceChildren(...warnings.filter((text) => !passing.has(text)).concat(holding).map((text) => make("li", {}, text)));
  const words = [open.result.method_words, coverage.guarantee, `The smallest p-value that this rule can give from ${coverage.n} ${coverage.unit} is ${number(Math.min(...coverage.smallest_per_stratum))}.`, ...open.result.limitations];
  $("trust").replaceChildren(...words.map((text) => make("p", {}, text)));
  for (const link of $("downloads").querySelectorAll("a")) link.href = `/api/cases/${open.case}/file.${link.dataset.kind}?sensitivity=${sensitivity()}`;
  aimPlane();
  draw();
}

function draw() {
  drawTable();
  drawPlane();
  drawReasons();
}

$("sensitivity").addEventListener("input", refresh);
$("only-rejected").addEventListener("change", () => { shown = PAGE; drawTable(); });
$("more").addEventListener("click", () => { shown += PAGE; drawTable(); });

function sort(key, up) {
  sorting = { key, up };
  shown = PAGE;
  for (const button of document.querySelectorAll("#verdicts th button")) {
    button.parentElement.setAttribute("aria-sort", button.dataset.key !== key ? "none" : up ? "ascending" : "descending");
  }
}

for (const button of document.querySelectorAll("#verdicts th button")) {
  button.addEventListener("click", () => {
    const key = button.dataset.key;
    sort(key, sorting.key === key ? !sorting.up : true);
    drawTable();
  });
}

function drawTable() {
  const value = (verdict) => (sorting.key === "accepted" ? Number(accepted(verdict)) : verdict[sorting.key]);
  let verdicts = open.result.verdicts.filter((verdict) => !$("only-rejected").checked || !accepted(verdict));
  if (sorting.key) {
    const order = new Intl.Collator(undefined, { numeric: true }).compare;
    const compare = (a, b) => (sorting.key === "id" ? order(value(a), value(b)) : value(a) - value(b));
    verdicts = [...verdicts].sort((a, b) => (sorting.up ? compare(a, b) : compare(b, a)));
  }
  $("verdicts").tBodies[0].replaceChildren(...verdicts.slice(0, shown).map(tableRow));
  $("listed").textContent = listed(verdicts.length); // a printed table has no button and no tick
  $("none").hidden = verdicts.length > 0;
  $("more").hidden = verdicts.length <= shown;
  $("more").textContent = `Show more (${verdicts.length - shown} left)`;
}

function listed(there) {
  const only = $("only-rejected").checked;
  if (shown < there) return `Listed here: the first ${shown} of ${there} ${only ? "rejected" : "recovered"} objects. The files to take along hold all.`;
  return only ? `Listed here: rejected objects only, ${there} of ${open.result.verdicts.length}.` : "";
}

function tableRow(verdict) {
  const fine = accepted(verdict);
  const alone = verdict.reasons.filter((reason) => reason.p_value <= alpha()).map((reason) => short(reason.variable));
  const against = alone.slice(0, 6).join(", ") + (alone.length > 6 ? ` and ${alone.length - 6} more` : "") || (fine ? "" : "none alone: their combination");
  const button = make("button", { type: "button", class: "id name", "aria-label": `${verdict.id}: show the reasons`, "aria-current": verdict.id === open.chosen ? "true" : null }, verdict.id);
  button.addEventListener("click", () => choose(verdict.id));
  const source = verdict.source === null ? "" : make("span", { class: "soft" }, ` source ${verdict.source}`);
  const cells = [make("th", { scope: "row", class: "text" }, button, source), make("td", { class: "word text" }, fine ? "accepted" : "rejected"), make("td", {}, number(verdict.p_value)), make("td", {}, number(verdict.tp, 3)), make("td", { class: "wrap" }, against)];
  return make("tr", { class: `${fine ? "accepted" : "rejected"}${verdict.id === open.chosen ? " on" : ""}` }, ...cells);
}

function choose(id) {
  open.chosen = id;
  draw();
  $("reasons").querySelector("h3").focus();
}

// From the reasons to the row they belong to, so that the next object is one step away.
function back() {
  const row = $("verdicts").querySelector("button[aria-current]");
  (row || $("verdicts").parentElement).focus(); // an object chosen in the figure need not be listed
}

$("reasons").addEventListener("click", (event) => { if (event.target.closest("button")) back(); });
$("reasons").addEventListener("keydown", (event) => { if (event.key === "Escape") back(); });

// A download that fails says why, instead of saving an error message as a report.

for (const link of $("downloads").querySelectorAll("a")) {
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    showProblems($("take-problems"), []);
    $("taking").textContent = "Preparing the file…";
    try {
      const response = await fetch(link.href);
      if (!response.ok) return showProblems($("take-problems"), (await response.json()).problems);
      const address = URL.createObjectURL(await response.blob());
      make("a", { href: address, download: `transvariation-case.${link.dataset.kind}` }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60000);
    } catch {
      showProblems($("take-problems"), [{ message: "The program no longer answers. Start it again and open the new address." }]);
    } finally {
      $("taking").textContent = "";
    }
  });
}
