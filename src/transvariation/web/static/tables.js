// Steps 1 and 2: two tables go to the server, what was understood of them comes back.

import { $, ask, leave, make, open, showProblems } from "./base.js";

const ROLES = ["control", "recovered"];
const maxBytes = Number(document.querySelector("meta[name=max-bytes]").content);
const input = (role) => $("tables").elements[role];
const problemsOf = (role) => $(`${role}-problems`);

for (const role of ROLES) {
  const drop = input(role).closest(".drop");
  const say = () => {
    const [file] = input(role).files;
    drop.querySelector(".chosen").textContent = file ? `Chosen: ${file.name}` : "";
    showProblems(problemsOf(role), []);
    offerSheets(role, []); // those of another file
  };
  input(role).addEventListener("change", say);
  for (const kind of ["dragover", "dragenter"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) { input(role).files = event.dataTransfer.files; say(); }
  });
}
// A file dropped beside the two boxes must not replace the page.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());

// Only the server looks into a workbook: its sheets can be chosen from the first reading on.
function offerSheets(role, titles) {
  const select = input(`${role}-sheet`), chosen = select.value;
  select.replaceChildren(...titles.map((title) => make("option", { value: title }, title)));
  if (titles.includes(chosen)) select.value = chosen;
  select.parentElement.hidden = !titles.length;
}

function refused(role) {
  const [file] = input(role).files;
  if (!file) return `Choose the ${role} table.`;
  if (file.size > maxBytes) return `${file.name} has ${Math.ceil(file.size / 2 ** 20)} MB; the two tables together may have ${Math.floor(maxBytes / 2 ** 20)}. Send fewer rows or columns.`;
  return null;
}

$("tables").addEventListener("submit", (event) => {
  event.preventDefault();
  const bad = ROLES.filter((role) => {
    const message = refused(role);
    showProblems(problemsOf(role), message ? [{ message }] : []);
    return message;
  });
  if (bad.length) return input(bad[0]).focus();
  load("/api/tables", new FormData($("tables")));
});

$("example").addEventListener("click", () => load("/api/example"));

async function load(path, body) {
  leave();
  for (const id of ["control-problems", "recovered-problems", "load-problems"]) showProblems($(id), []);
  for (const id of ["understood", "verdict", "take"]) $(id).hidden = true;
  $("loading").textContent = "Reading the tables…";
  const buttons = $("tables").querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  const answer = await ask(path, { method: "POST", body });
  for (const button of buttons) button.disabled = false;
  $("loading").textContent = "";
  if (body && answer.sheets) ROLES.forEach((role, i) => offerSheets(role, answer.sheets[i]));
  if (answer.problems) showFaults(answer);
  else showUnderstood(answer);
}

// Every problem stands below the table it is about, with the place in that table.
function showFaults({ problems, files = [], tables = [] }) {
  ROLES.forEach((role, i) => {
    const own = problems.filter((problem) => problem.table && problem.table === files[i]);
    const places = own.length && (tables[i].rows.length || tables[i].faulty.length) ? [grid(tables[i], `${role} table: the places`)] : [];
    showProblems(problemsOf(role), own, places);
  });
  showProblems($("load-problems"), problems.filter((problem) => !files.includes(problem.table)));
}

function showUnderstood(answer) {
  Object.assign(open, { case: answer.case, result: null, chosen: null });
  const boxes = answer.features.map((name) => make("label", {}, make("input", { type: "checkbox", checked: true, value: name }), ` ${name}`));
  $("features").replaceChildren($("features").querySelector("legend"), ...boxes);
  $("previews").replaceChildren(...answer.tables.map((table, i) => understood(table, ["Control", "Recovered"][i])));
  $("doubts").replaceChildren(...answer.warnings.map((words) => make("li", {}, words)));
  choices($("method"), answer.methods, `recommended (${LABELS[answer.recommended] || answer.recommended})`);
  choices($("reduce"), answer.reductions, "no");
  $("method-used").textContent = "";
  showProblems($("judge-problems"), []);
  $("understood").hidden = false;
  $("understood-title").focus();
}

const LABELS = {
  neighbor: "nearest known objects (NeighborTOCC)", tocc: "counting (TOCC)", pam: "counting in clusters (PAM-TOCC)", mixture: "normal mixture", projections: "random projections",
  minor: "last principal components", vip: "important in projection (VIP)", varsel: "by mixtures (varSel)",
};

function choices(select, offered, first) {
  const options = Object.entries(offered).map(([name, words]) => make("option", { value: name, title: words }, LABELS[name] || name));
  select.replaceChildren(make("option", { value: "" }, first), ...options);
}

const TAKEN_FOR = { id: "names the objects", source: "names the source", fragment: "names the fragment", replicate: "counts replicates", order: "is the order of measurement", measurement: "measured", ignore: "not used" };

function understood(table, role) {
  const kinds = Object.entries(TAKEN_FOR).map(([kind, words]) => {
    const names = Object.keys(table.roles).filter((name) => table.roles[name] === kind).map((name) => name || "the column without a name");
    return names.length ? `${names.length > 12 ? `${names.length} columns` : names.join(", ")}: ${words}` : "";
  });
  const caption = `${role}: ${table.file}, ${table.objects} objects${table.fragments ? ` from ${table.fragments} fragments` : ""}${table.sources ? ` from ${table.sources} sources` : ""}${table.objects > table.rows.length ? `, ${table.rows.length} shown` : ""}`;
  const lines = table.notes.map((note) => make("li", {}, [note.row && `row ${note.row}`, note.column && `column ${note.column}`].filter(Boolean).join(", ") + `${note.row || note.column ? ": " : ""}${note.message}`));
  const notes = lines.length > 6
    ? make("details", {}, make("summary", {}, `${lines.length} remarks`), make("ul", {}, ...lines))
    : make("ul", {}, ...lines);
  return make("div", { class: "preview" }, make("h3", {}, caption), make("p", { class: "soft" }, kinds.filter(Boolean).join("; "), "."), grid(table, `${role} table`), make("div", { class: "soft" }, notes));
}

// A table as it was read. Cells that something was found about are marked, by colour and by a sign.
function grid(table, label) {
  const faulty = table.faulty || [];
  const head = table.header.map((name, j) => make("th", { scope: "col", class: [j ? "" : "text", faulty.includes(j) ? "marked" : ""].join(" ") }, make("span", { class: "name" }, name)));
  const rows = table.rows.map((row) => {
    const cells = row.cells.map((cell, j) => {
      const found = row.marked[j];
      const sign = found ? [make("span", { "aria-hidden": "true" }, "⚠ "), make("span", { class: "hear" }, `${found}: `)] : [];
      return make("td", { class: [j ? "" : "text", found ? "marked" : ""].join(" "), title: found }, ...sign, make("span", { class: "name" }, found && !cell ? "empty" : cell));
    });
    return make("tr", { class: row.whole.length ? "marked" : "", title: row.whole.join("; ") || null }, make("th", { scope: "row", class: "number" }, row.row), ...cells);
  });
  const table_ = make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "number" }, "row"), ...head)), make("tbody", {}, ...rows));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table_);
}

export function chosenFeatures() {
  return [...$("features").querySelectorAll("input:checked")].map((box) => box.value);
}
