// The page of validation: a database and designs in, error rates and criteria out, with a bar and a way to cancel.

import { $, ask, polled, showProblems } from "./base.js";
import { show } from "./sections.js";

let running = null;

$("chosen").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = new FormData($("chosen")), options = {}, list = (name) => form.get(name).split(",").map((each) => each.trim());
  options.designs = list("designs");
  options.sensitivities = list("sensitivities").map((each) => Number(each) || each); // the server says what is wrong
  options.n_comparisons = Number(form.get("n_comparisons"));
  for (const name of ["logged", "linear", "rates_only"]) options[name] = form.get(name) !== null;
  const files = new FormData();
  for (const name of ["table", "description"]) if (form.get(name).size) files.set(name, form.get(name));
  files.set("options", JSON.stringify(options));
  $("result").hidden = true;
  showProblems($("problems"), []);
  busy(true);
  const begun = await ask("/api/validate", { method: "POST", body: files });
  const answer = begun.problems ? begun : await finished(begun);
  busy(false);
  $("state").textContent = answer.state === "cancelled" ? "Cancelled." : "";
  if (answer.problems) return showProblems($("problems"), answer.problems);
  if (answer.state !== "done") return;
  const shown = await ask(`/api/cases/${running}/validation`);
  if (shown.problems) return showProblems($("problems"), shown.problems);
  draw(shown);
});

$("cancel").addEventListener("click", () => running && ask(`/api/cases/${running}/cancel`, { method: "POST" }));

function finished(begun) {
  running = begun.case;
  $("described").textContent = begun.described;
  return polled(running, begun, (done, words) => {
    if (done) $("bar").value = done;
    $("step").textContent = words;
  });
}

function busy(is) {
  $("working").hidden = !is;
  $("start").disabled = is;
  $("bar").removeAttribute("value");
  $("step").textContent = "";
}

function draw(answer) {
  show($("shown"), answer.sections);
  for (const [name, type] of [["report", "text/html"], ["json", "application/json"]]) {
    URL.revokeObjectURL($(name).href);
    $(name).href = URL.createObjectURL(new Blob([answer[name]], { type }));
  }
  $("result").hidden = false;
  $("result-title").focus();
}

$("start").disabled = false;  // from here on a click is answered
