// Steps 1 and 2: the tables go to the server, and what it understood of them is shown.

import { $, ask, leave, make, open, showProblems, waiting } from "./base.js";
import { offerVariables } from "./variables.js";

const TABLES = ["control", "recovered"];
const COLUMN_ROLES = { measurement: "measurement", source: "source", fragment: "fragment", replicate: "replicate", order: "order of measurement", id: "name of the row", ignore: "not used" };
const MANY = 40; // columns; of more, those with a measurement are searched for by their names
const FOUND = 20; // columns shown at once
const maxBytes = Number(document.querySelector("meta[name=max-bytes]").content);
const input = (name) => $("tables").elements[name];
const problemsOf = (table) => $(`${table}-problems`);
let roles = { control: {}, recovered: {} }; // set by the user

for (const table of TABLES) {
  const drop = input(table).closest(".drop");
  const changed = () => {
    const [file] = input(table).files;
    drop.querySelector(".chosen").textContent = file ? `Chosen: ${file.name}` : "";
    showProblems(problemsOf(table), []);
    roles[table] = {};
    offerSheets(table, []); // those of another file
  };
  input(table).addEventListener("change", changed);
  for (const kind of ["dragover", "dragenter"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) { input(table).files = event.dataTransfer.files; changed(); }
  });
}
// A file dropped beside the boxes must not replace the page.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());

input("background-kind").addEventListener("change", () => {
  $("background-file").hidden = !["file", "foreign"].includes(input("background-kind").value);
  if ($("background-file").hidden) input("background").value = "";
});

// The sheets of a workbook are known after it was read for the first time.
function offerSheets(table, titles) {
  const select = input(`${table}-sheet`), chosen = select.value;
  select.replaceChildren(...titles.map((title) => make("option", { value: title }, title)));
  if (titles.includes(chosen)) select.value = chosen;
  select.parentElement.hidden = !titles.length;
}

function refused(table) {
  const [file] = input(table).files;
  if (!file) return `Choose the ${table} table.`;
  if (file.size > maxBytes) return `${file.name} has ${Math.ceil(file.size / 2 ** 20)} MB; the tables together may have ${Math.floor(maxBytes / 2 ** 20)}. Use fewer rows or columns.`;
  return null;
}

$("tables").addEventListener("submit", (event) => {
  event.preventDefault();
  read();
});

function read() {
  const bad = TABLES.filter((table) => {
    const message = refused(table);
    showProblems(problemsOf(table), message ? [{ message }] : []);
    return message;
  });
  if (bad.length) return input(bad[0]).focus();
  const body = new FormData($("tables"));
  for (const table of TABLES) body.set(`${table}-roles`, JSON.stringify(roles[table]));
  load("/api/tables", body);
}

$("example").addEventListener("click", () => {
  $("tables").reset();
  for (const table of TABLES) input(table).dispatchEvent(new Event("change")); // no stale file names
  input("background-kind").dispatchEvent(new Event("change"));
  load("/api/example");
});

async function load(path, body) {
  leave();
  for (const id of ["control-problems", "recovered-problems", "load-problems"]) showProblems($(id), []);
  for (const id of ["understood", "conclusion", "take"]) $(id).hidden = true;
  $("load-step").open = $("understood-step").open = true;
  $("loaded").textContent = "";
  const done = waiting($("loading"), "Reading the tables");
  const buttons = $("tables").querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  const answer = await ask(path, { method: "POST", body });
  for (const button of buttons) button.disabled = false;
  done();
  if (body && answer.sheets) TABLES.forEach((table, i) => offerSheets(table, answer.sheets[i]));
  if (answer.problems) showFaults(answer);
  else showUnderstood(answer, Boolean(body));
}

// Each problem is shown below its table, with the rows concerned and a choice of roles for its columns.
function showFaults({ problems, files = [], tables = [] }) {
  TABLES.forEach((table, i) => {
    const own = problems.filter((problem) => problem.table && problem.table === files[i]);
    const more = own.length && (tables[i].rows.length || tables[i].faulty.length) ? [grid(tables[i], `${table} table: rows with problems`)] : [];
    if (own.length && tables[i].columns.length) more.push(roleChoices(table, tables[i].columns, {}));
    showProblems(problemsOf(table), own, more);
  });
  showProblems($("load-problems"), problems.filter((problem) => !files.includes(problem.table)));
}

function showUnderstood(answer, uploaded) {
  Object.assign(open, { case: answer.case, view: null, chosen: null });
  $("previews").replaceChildren(...answer.tables.map((table, i) => understood(table, TABLES[i], uploaded)));
  $("doubts").replaceChildren(...answer.warnings.map((words) => make("li", {}, words)));
  choices($("method"), answer.methods, `recommended (${LABELS[answer.recommended] || answer.recommended})`);
  choices($("reduce"), answer.reductions, "none");
  const describe = () => { $("method-used").textContent = answer.methods[$("method").value || answer.recommended]; };
  $("method").onchange = describe;
  const reducing = () => { $("reduce-to").parentElement.hidden = !$("reduce").value; };
  $("reduce").onchange = reducing;
  reducing();
  describe();
  showProblems($("judge-problems"), []);
  $("understood").hidden = false;
  offerVariables(answer);
  $("understood-title").focus();
}

export function caseFields() {
  const filled = [...$("details").querySelectorAll("input")].filter((field) => field.value.trim());
  return Object.fromEntries(filled.map((field) => [field.name, field.value.trim()]));
}

export function collapseSteps(files) {
  $("loaded").textContent = files;
  $("load-step").open = $("understood-step").open = false;
}

const LABELS = {
  neighbor: "nearest neighbours (NeighborTOCC)", tocc: "counting (TOCC)", pam: "counting in clusters (PAM-TOCC)", mixture: "Gaussian mixture (DensityTOCC)", projections: "random projections",
  minor: "minor components", vip: "importance in projection (VIP)", varsel: "selection by mixtures (VarSel)",
};

function choices(select, offered, first) {
  const options = Object.entries(offered).map(([name, words]) => make("option", { value: name, title: words }, LABELS[name] || name));
  select.replaceChildren(make("option", { value: "" }, first), ...options);
}

function understood(table, role, uploaded) {
  const count = table.fragments && table.fragments < table.objects ? `${table.fragments} fragments, ${table.objects} rows` : `${table.objects} rows, each a fragment`;
  const sources = table.sources ? `, ${table.sources} source${table.sources > 1 ? "s" : ""}` : "";
  const parts = [table.objects > table.rows.length && `${table.rows.length} rows`, table.hidden && `${table.header.length - 1} of ${table.header.length - 1 + table.hidden} variables`].filter(Boolean);
  const part = parts.length ? ` (${parts.join(", ")} shown)` : "";
  const lines = table.notes.map((note) => make("li", {}, [note.row && `row ${note.row}`, note.column && `column ${note.column}`].filter(Boolean).join(", ") + `${note.row || note.column ? ": " : ""}${note.message}`));
  if (table.more_notes) lines.push(make("li", {}, `${table.more_notes} further notes`));
  const notes = lines.length > 6
    ? make("details", {}, make("summary", {}, `${lines.length} notes`), make("ul", {}, ...lines))
    : make("ul", {}, ...lines);
  const title = make("h3", {}, `${role === "control" ? "Control" : "Recovered"}: ${table.file}, ${count}${sources}${part}`);
  const columns = uploaded ? [roleChoices(role, table.columns, table.labels)] : [];
  return make("div", { class: "preview" }, title, grid(table, `${role} table`), ...columns, make("div", { class: "soft" }, notes));
}

// The role of each column can be changed; the tables are then read again.
function roleChoices(table, columns, labels) {
  const choice = (column) => roleChoice(table, column, roles[table][column] || labels[column] || "");
  const known = columns.length > MANY ? columns.filter((column) => labels[column] || roles[table][column]) : columns;
  const rows = make("p", { class: "row" }, ...known.map(choice));
  const box = make("details", {}, make("summary", {}, "Roles of the columns"), rows);
  if (known.length < columns.length) {
    const others = make("p", { class: "row" }), field = make("input", { size: 16, class: "field" });
    field.addEventListener("input", () => {
      const word = field.value.trim().toLowerCase();
      const found = word ? columns.filter((column) => !known.includes(column) && column.toLowerCase().includes(word)).slice(0, FOUND) : [];
      others.replaceChildren(...found.map(choice));
    });
    box.append(make("p", { class: "row" }, make("label", {}, "Find a column by its name ", field), make("span", { class: "soft" }, `${columns.length - known.length} columns are measurements`)), others);
  }
  return box;
}

function roleChoice(table, column, role) {
  const options = Object.entries(COLUMN_ROLES).map(([name, words]) => make("option", { value: name }, words));
  const select = make("select", { "aria-label": `role of ${column || "the column without a name"}` }, make("option", { value: "" }, "recognised"), ...options);
  select.value = role;
  select.addEventListener("change", () => {
    if (select.value) roles[table][column] = select.value;
    else delete roles[table][column];
    read();
  });
  return make("label", {}, `${column || "(no name)"} `, select);
}

// Rows of a table. Cells with a problem or a note are marked by colour and by a sign.
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
