// Functions that every part of the page uses. Text is always set as text, never as markup.

export const $ = (id) => document.getElementById(id);
const csrf = document.querySelector("meta[name=csrf]").content;

// The open case: its id on the server, how its tables were read, what the server shows of it, the conclusion (by its
// number) whose evidence is shown.
export const open = { case: null, reading: {}, view: null, chosen: null };
const STORED = "transvariation-case";
const POLL = 200; // milliseconds

// A reloaded page shows the same case again; another tab has its own.
export function remember(name) {
  open.case = name;
  if (name) sessionStorage.setItem(STORED, name);
  else sessionStorage.removeItem(STORED);
}

export const remembered = () => sessionStorage.getItem(STORED);

export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return node;
}

// Offer values to choose from, with what they mean.
export function fill(select, offered) {
  select.replaceChildren(...Object.entries(offered).map(([value, words]) => make("option", { value }, words)));
  return select;
}

// A field for a setting, as the server describes it; what is left empty has its default.
export function field(setting, attributes) {
  const { kind, choices: offered, default: usual, absent, least, title } = setting, shared = { title, ...attributes };
  if (offered) return fill(make("select", { ...shared, "data-usual": usual ?? "" }), usual === null ? { "": absent, ...offered } : offered);
  if (kind === "flag") return make("input", { ...shared, type: "checkbox" });
  const numbers = kind === "whole" ? { type: "number", step: 1, min: least } : kind === "number" ? { type: "number", step: "any", min: least } : { size: 10 };
  return make("input", { ...shared, ...numbers, class: "field end", placeholder: usual ?? (absent || "recognized") });
}

export const valueOf = (node) => (node.type === "checkbox" ? node.checked : node.value === "" ? null : node.type === "number" ? Number(node.value) : node.value);

export function setValue(node, value) {
  if (node.type === "checkbox") node.checked = Boolean(value);
  else node.value = value ?? node.dataset.usual ?? "";
}

export function shape(tag, attributes, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined && ["text", "title"].includes(tag)) node.textContent = text;
  else if (text !== undefined) node.append(shape("title", {}, text));
  return node;
}

export const number = (value, digits = 4) => Number(value.toPrecision(digits)).toString();

export const short = (name, room = 40) => (name.length > room ? `${name.slice(0, room - 1)}…` : name);

export const sensitivity = () => Number($("sensitivity").value);

export function working(busy) {
  const focused = document.activeElement === $("judge");
  $("working").hidden = !busy;
  $("judge").disabled = busy;
  $("elapsed").textContent = "";
  $("judged").textContent = busy ? $("judged").dataset.busy : "";
  if (busy && focused) $("cancel").focus();
}

// Forget the open case; a job that is still running cancels itself when it notices.
export function leave() {
  Object.assign(open, { view: null, chosen: null });
  remember(null);
  working(false);
}

// Show what is being done in a box, after a second with a bar and the time; return how to end it.
export function waiting(box, words) {
  const started = Date.now(), bar = make("progress", { "aria-label": words, hidden: true }), time = make("span", { "aria-hidden": "true" });
  box.replaceChildren(bar, ` ${words}`, time);
  const timer = setInterval(() => {
    bar.hidden = false;
    time.textContent = `, ${Math.round((Date.now() - started) / 1000)} s`;
  }, 1000);
  return () => { clearInterval(timer); box.replaceChildren(); };
}

export function showProblems(box, problems, more = []) {
  box.replaceChildren();
  if (!problems || !problems.length) return;
  const lines = problems.map((problem) => {
    const place = [problem.row && `row ${problem.row}`, problem.column && `column ${problem.column}`].filter(Boolean).join(", ");
    return make("li", {}, place ? `${place}: ${problem.message}` : problem.message);
  });
  box.append(make("strong", {}, problems.length > 1 ? `${problems.length} problems` : "A problem"), make("ul", {}, ...lines), ...more);
}

export async function ask(path, options = {}) {
  try {
    const response = await fetch(path, { ...options, headers: { "X-CSRF-Token": csrf, ...(options.headers || {}) } });
    const isJson = (response.headers.get("content-type") || "").startsWith("application/json");
    const body = isJson ? await response.json() : { problems: [{ message: await response.text() }] };
    return response.ok || body.problems ? body : { problems: [{ message: "Something went wrong; try again." }] };
  } catch {
    return { problems: [{ message: "The program no longer responds. Start it again and open the new address." }] };
  }
}

const duration = (seconds) => (seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`);

// Ask for the state of a job until it is done, and show how far it is; end when it is no longer wanted.
export async function polled(name, first, show, wanted = () => true) {
  let answer = first, last = { done: 0, end: 0 }; // the end is estimated at each step, and the time to it counts down
  while (answer.state === "running" && wanted()) {
    if (answer.done !== last.done) last = { done: answer.done, end: answer.seconds / answer.done };
    const left = last.done > 0.02 ? `, about ${duration(Math.max(last.end - answer.seconds, 1))} left` : "";
    show(answer.done, `${answer.step}, ${duration(answer.seconds)}${left}`);
    await new Promise((resolve) => setTimeout(resolve, POLL));
    answer = await ask(`/api/cases/${name}`);
  }
  return answer;
}

// Ask for a view of the result at the present sensitivity; null if it is no longer wanted when it comes, or has problems.
export async function askView(name, parameters = {}) {
  const mine = open.case, share = sensitivity();
  const found = await ask(`/api/cases/${mine}/${name}?${new URLSearchParams({ ...parameters, sensitivity: share })}`);
  if (open.case !== mine || sensitivity() !== share) return null;
  showProblems($("conclusion-problems"), found.problems);
  return found.problems ? null : found;
}

// The texts of the page that differ between vocabularies, as they are for a case and for samples.
const ATTRIBUTES = ["aria-label", "data-busy", "title"];
function vocabulary(pairs) {
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT), found = [];
  const note = (text, set) => { if (text.trim() in pairs) found.push({ case: text, sample: text.replace(text.trim(), pairs[text.trim()]), set }); };
  while (walker.nextNode()) {
    const node = walker.currentNode;
    node.nodeValue = node.nodeValue.replace(/\s+/g, " ");
    note(node.nodeValue, (words) => { node.nodeValue = words; });
  }
  for (const name of ATTRIBUTES) for (const node of document.querySelectorAll(`[${name}]`)) note(node.getAttribute(name), (words) => node.setAttribute(name, words));
  return found;
}

// Speak of a case or of samples. The texts are collected before anything of a case is shown.
let texts = null, spoken = "case";
export function speak(words) {
  texts ||= vocabulary(choices.vocabulary);
  for (const text of texts) text.set(text[words]);
  spoken = words;
}
export const said = (text) => spoken === "sample" && choices.vocabulary[text] || text;

// Roles of columns, methods, reductions and details of a case, as the server lists them.
export const choices = await ask("/api/choices");
