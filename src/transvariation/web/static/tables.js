// Steps 1 and 2: the tables go to the server, and what it understood of them is shown.

import { $, ask, choices, field, fill, leave, make, open, remember, said, setValue, showProblems, speak, valueOf, waiting } from "./base.js";
import { offerVariables } from "./variables.js";

const TABLES = ["control", "recovered"];
const MANY = 40; // columns; of more, those with a measurement are searched for by their names
const FOUND = 20; // columns shown at once
const THIRD = ["background", "foreign"];
const maxBytes = Number(document.querySelector("meta[name=max-bytes]").content);
const input = (name) => $("tables").elements[name];
const third = () => input("third").value;
const parts = () => (THIRD.includes(third()) ? [...TABLES, third()] : TABLES); // the tables of the case
const slot = (table) => (TABLES.includes(table) ? table : "third"); // where it is on the page
const fileOf = (table) => input(slot(table) === "third" ? "third-file" : table);
const problemsOf = (table) => $(`${slot(table)}-problems`);
let roles = {}; // of columns, by table, as the user set them
let held = { case: null, files: {} }; // tables that the program has and the form has not: after a reload, or the example

let recognized = "case"; // the vocabulary of the tables

const SLOTS = ["control", "recovered", "third"];
$("reading").tHead.rows[0].append(...choices.reading.map(({ label, title }) => make("th", { scope: "col", class: "text", title }, label)));
for (const name of SLOTS) {
  const cells = choices.reading.map((each) => make("td", { class: "text" }, field(each, { name: `${name}-${each.name}`, "aria-label": `${each.label} of the ${name} table` })));
  $("reading").tBodies[0].append(make("tr", {}, make("th", { scope: "row", class: "text" }, name), ...cells));
  const file = input(name === "third" ? "third-file" : name), drop = file.closest(".drop");
  file.addEventListener("change", () => changed(name));
  for (const kind of ["dragover", "dragenter"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) { file.files = event.dataTransfer.files; changed(name); }
  });
  if (file.files.length) changed(name); // chosen before this script was loaded
}
fill(input("missing"), choices.missing);
showThird();
// A file dropped beside the boxes must not replace the page.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());

// Another file, or none: what was set for the last one does not hold for it.
function changed(name) {
  const table = name === "third" ? third() : name, [file] = fileOf(table).files;
  delete held.files[table];
  showName(table, file ? `Chosen: ${file.name}` : "", false);
  showProblems($(`${name}-problems`), []);
  roles[table] = {};
  offerSheets(name, []);
}

function showName(table, words, isLoaded) {
  const drop = fileOf(table).closest(".drop");
  drop.querySelector(".chosen").textContent = words;
  drop.classList.toggle("loaded", isLoaded);
}

function showThird() {
  const row = input("third-decimal").closest("tr");
  $("third-table").hidden = row.hidden = !THIRD.includes(third());
  $("third-table").querySelector(".role").textContent = choices.tables[third()] || "";
  row.cells[0].textContent = third();
}

input("third").addEventListener("change", () => {
  showThird();
  input("third-file").value = "";
  changed("third");
});

// The sheets of a workbook are known after it was read for the first time.
function offerSheets(name, titles) {
  const select = input(`${name}-sheet`), chosen = select.value;
  fill(select, Object.fromEntries(titles.map((title) => [title, title])));
  if (titles.includes(chosen)) select.value = chosen;
  select.parentElement.hidden = !titles.length;
}

function refused(table) {
  const [file] = fileOf(table).files;
  if (!file) return held.files[table] ? null : `Choose the ${table} table.`;
  if (file.size > maxBytes) return `${file.name} has ${Math.ceil(file.size / 2 ** 20)} MB; the tables together may have ${Math.floor(maxBytes / 2 ** 20)}. Use fewer rows or columns.`;
  return null;
}

$("tables").addEventListener("submit", (event) => {
  event.preventDefault();
  read();
});

// How the tables are read, as the settings of a case; what is left empty is recognized.
function settings() {
  const read = (table) => Object.fromEntries([{ name: "sheet" }, ...choices.reading].map(({ name }) => [name, valueOf(input(`${slot(table)}-${name}`))]));
  const own = (table) => ({ ...read(table), roles: roles[table] || {} });
  const scale = input("scale").value;
  return {
    missing: input("missing").value, log: scale === "log", logged: scale === "logged",
    tables: Object.fromEntries(parts().map((table) => [table, own(table)])),
  };
}

function read() {
  const bad = parts().filter((table) => {
    const message = refused(table);
    showProblems(problemsOf(table), message ? [{ message }] : []);
    return message;
  });
  if (bad.length) return fileOf(bad[0]).focus();
  const body = new FormData();
  for (const table of parts()) if (fileOf(table).files.length) body.set(table, fileOf(table).files[0]);
  body.set("third", third());
  body.set("settings", JSON.stringify(settings()));
  body.set("case", held.case || "");
  load("/api/tables", body, settings());
}

$("example").addEventListener("click", () => {
  clear();
  load("/api/example", undefined, settings());
});

// Open a case that was saved; its tables are not in the file.
$("saved").addEventListener("change", async () => {
  const [file] = $("saved").files, body = new FormData();
  if (!file) return;
  body.set("saved", file);
  $("saved").value = "";
  clear();
  const answer = await send("/api/saved", body, "Opening the case");
  if (answer.problems) return showProblems($("load-problems"), answer.problems);
  remember(answer.case);
  dispatchEvent(new CustomEvent("judged"));
});

function clear() {
  $("tables").reset();
  showThird();
  held = { case: null, files: {} };
  for (const name of SLOTS) changed(name); // no stale file names
}

async function send(path, body, words) {
  leave();
  for (const id of ["control-problems", "recovered-problems", "third-problems", "load-problems"]) showProblems($(id), []);
  for (const id of ["understood", "conclusion", "take"]) $(id).hidden = true;
  $("load-step").open = $("understood-step").open = true;
  $("loaded").textContent = "";
  const done = waiting($("loading"), words), buttons = $("load").querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  const answer = await ask(path, { method: "POST", body });
  for (const button of buttons) button.disabled = false;
  done();
  return answer;
}

async function load(path, body, asked) {
  const answer = await send(path, body, "Reading the tables");
  for (const [table, titles] of Object.entries(answer.sheets || {})) offerSheets(slot(table), titles);
  if (answer.problems) return showFaults(answer);
  remember(answer.case);
  hold(answer, body === undefined);
  showUnderstood(answer, asked);
}

// Remember which tables the program has, so that they can be read again without being sent again.
function hold({ files }, named) {
  held = { case: open.case, files: { ...files } };
  if (!named) return;
  for (const [table, name] of Object.entries(files)) showName(table, `Loaded: ${name}`, true);
}

// Show a case again as it was before the page was reloaded.
export function showAgain({ seen, settings: asked, third: kind }) {
  const scale = asked.log ? "log" : asked.logged ? "logged" : "";
  for (const [name, value] of Object.entries({ third: kind, scale, missing: asked.missing || choices.defaults.missing })) input(name).value = value;
  showThird();
  for (const [table, titles] of Object.entries(seen.sheets || {})) offerSheets(slot(table), titles);
  for (const [table, own] of Object.entries(asked.tables || {})) {
    roles[table] = own.roles || {};
    for (const { name } of choices.reading) setValue(input(`${slot(table)}-${name}`), own[name]);
    if (own.sheet) input(`${slot(table)}-sheet`).value = own.sheet;
  }
  hold(seen, true);
  showUnderstood(seen, asked);
}

// Each problem is shown below its table, with the rows concerned and a choice of roles for its columns.
function showFaults({ problems, files = {}, tables = {} }) {
  for (const table of parts().filter((each) => files[each])) {
    const own = problems.filter((problem) => problem.table === files[table]), shown = tables[table];
    const more = own.length && (shown.rows.length || shown.faulty.length) ? [grid(shown, `${table} table: rows with problems`)] : [];
    if (own.length && shown.columns.length) more.push(roleChoices(table, shown.columns, {}));
    showProblems(problemsOf(table), own, more);
  }
  $("options").open = true;
  showProblems($("load-problems"), problems.filter((problem) => !Object.values(files).includes(problem.table)));
}

function showUnderstood(answer, asked) {
  recognized = answer.words;
  speak(recognized);
  Object.assign(open, { view: null, chosen: null, reading: asked });
  const order = [...TABLES, ...THIRD].filter((table) => answer.tables[table]);
  $("previews").replaceChildren(...order.map((table) => understood(answer.tables[table], table, table in answer.files)));
  $("doubts").replaceChildren(...answer.warnings.map((words) => make("li", {}, words)));
  for (const { name } of choices.comparing) setValue(comparing(name), asked[name]);
  reducing();
  for (const field of $("case-fields").querySelectorAll("input")) if (asked.case) field.value = asked.case[field.name] || "";
  showProblems($("judge-problems"), []);
  $("understood").hidden = false;
  offerVariables(answer, asked);
  $("understood-title").focus();
}

const comparing = (name) => $(name.replaceAll("_", "-"));
$("comparing").append(...choices.comparing.map((each) => {
  const node = field(each, { id: each.name.replaceAll("_", "-") });
  return make("label", {}, ...(each.kind === "flag" ? [node, ` ${each.label}`] : [`${each.label} `, node]));
}));
$("words").addEventListener("change", () => speak($("words").value || recognized));
const reducing = () => { $("reduce-to").parentElement.hidden = !$("reduce").value; };
$("reduce").addEventListener("change", reducing);
const isDate = (name) => ["received", "examined"].includes(name);
$("case-fields").append(...Object.entries(choices.fields).map(([name, label]) => make("label", {}, label, make("input", { name, type: isDate(name) ? "date" : "text" }))));

// What the user chose besides how the tables are read.
export function caseSettings() {
  const filled = [...$("case-fields").querySelectorAll("input")].filter((field) => field.value.trim());
  return {
    ...Object.fromEntries(choices.comparing.map(({ name }) => [name, valueOf(comparing(name))]).filter(([, value]) => value !== null)),
    case: Object.fromEntries(filled.map((field) => [field.name, field.value.trim()])),
  };
}

export function collapseSteps(files) {
  $("loaded").textContent = files;
  $("load-step").open = $("understood-step").open = false;
}

function understood(table, role, isFile) {
  const lines = table.notes.map((note) => make("li", {}, note));
  const notes = lines.length > 6
    ? make("details", {}, make("summary", {}, `${lines.length} notes`), make("ul", {}, ...lines))
    : make("ul", {}, ...lines);
  const title = make("h3", {}, table.title);
  const columns = isFile ? [roleChoices(role, table.columns, table.labels)] : [];
  return make("div", { class: "preview" }, title, grid(table, `${role} table`), ...columns, make("div", { class: "soft" }, notes));
}

// The role of each column can be changed; the tables are then read again.
function roleChoices(table, columns, labels) {
  const set = roles[table] || {};
  const choice = (column) => roleChoice(table, column, set[column] || labels[column] || "");
  const known = columns.length > MANY ? columns.filter((column) => labels[column] || set[column]) : columns;
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
  const names = Object.entries(choices.roles).map(([own, name]) => [own, said(name)]);
  const select = fill(make("select", { "aria-label": `role of ${column || "the column without a name"}` }), { "": "recognized", ...Object.fromEntries(names) });
  select.value = role;
  select.addEventListener("change", () => {
    roles[table] ||= {};
    if (select.value) roles[table][column] = select.value;
    else delete roles[table][column];
    read();
  });
  return make("label", {}, `${column || "(no name)"} `, select);
}

// Rows of a table. Cells with a problem or a note are marked by color and by a sign.
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
