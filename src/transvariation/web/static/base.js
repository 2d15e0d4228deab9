// What every part of the page uses. Text is always set as text, never as markup.

export const $ = (id) => document.getElementById(id);
const csrf = document.querySelector("meta[name=csrf]").content;
export const ROUNDING = 1e-9; // 1 - 0.9 is a hair less than 0.1

// The open case: its name on the server, what was understood, the result, the object whose reasons are shown.
export const open = { case: null, result: null, chosen: null };

export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return node;
}

export function shape(tag, attributes, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined && ["text", "title"].includes(tag)) node.textContent = text;
  else if (text !== undefined) node.append(shape("title", {}, text));
  return node;
}

export const number = (value, digits = 4) => (value === null ? "–" : Number(value.toPrecision(digits)).toString());

export const short = (name, room = 40) => (name.length > room ? `${name.slice(0, room - 1)}…` : name);

export const named = (variable) => {
  const unit = open.result.units[variable];
  return unit ? `${variable} (${unit})` : variable;
};

// The line between accepted and rejected moves with the slider; the p-values stay, but for what `settle` says.
export const sensitivity = () => Number($("sensitivity").value);
// With too few control objects, the largest sensitivity that they support: as CaseResult.at does.
export const alpha = () => Math.max(1 - sensitivity(), 1 / (Math.min(...open.result.coverage.n_per_stratum) + 1)) + ROUNDING;
export const accepted = (verdict) => verdict.p_value > alpha();

// Where parts of the control have thresholds of their own, it depends on the sensitivity which parts share one, and with
// it the p-values and the promise: as CaseResult.at does.
export function settle() {
  const { verdicts, poolings } = open.result;
  if (!poolings.length) return;
  const need = Math.ceil(1 / (1 - sensitivity()) - ROUNDING) - 1;
  const { p_values: ranks, coverage, cautions } = poolings.find((pooling) => need <= pooling.up_to) || poolings.at(-1);
  Object.assign(open.result, { coverage, cautions });
  verdicts.forEach((verdict, i) => { verdict.p_value = ranks[i]; });
}

export function working(busy) {
  const focused = document.activeElement === $("judge");
  $("working").hidden = !busy;
  $("judge").disabled = busy;
  $("elapsed").textContent = "";
  $("judged").textContent = busy ? "Judging. This takes seconds for a hundred objects, minutes for thousands." : "";
  if (busy && focused) $("cancel").focus();
}

// Other tables take the place of these: what is still being judged belongs to none on display, and its judge gives up.
export function leave() {
  Object.assign(open, { case: null, result: null, chosen: null });
  working(false);
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
    return { problems: [{ message: "The program no longer answers. Start it again and open the new address." }] };
  }
}
