// The pages of monitoring and validation: tables and options in, sections of a report out, with a bar and a way to cancel.

import { $, ask, polled, showProblems } from "./base.js";
import { show } from "./sections.js";

let running = null;

const OPTIONS = {
  checkbox: (field) => field.checked,
  number: (field) => Number(field.value),
  text: (field) => field.value.split(",").map((each) => Number(each) || each.trim()), // the server says what is wrong
};

$("chosen").addEventListener("submit", async (event) => {
  event.preventDefault();
  const options = {}, body = new FormData();
  for (const field of $("chosen").elements) {
    if (field.type in OPTIONS) options[field.name] = OPTIONS[field.type](field);
    else if (field.type === "file" && field.files.length) body.set(field.name, field.files[0]);
  }
  body.set("options", JSON.stringify(options));
  $("result").hidden = true;
  showProblems($("problems"), []);
  busy(true);
  const begun = await ask(`/api${location.pathname}`, { method: "POST", body });
  const answer = begun.problems ? begun : await finished(begun);
  busy(false);
  $("state").textContent = answer.state === "cancelled" ? "Canceled." : "";
  if (answer.problems) return showProblems($("problems"), answer.problems);
  if (answer.state !== "done") return;
  const found = await ask(`/api/cases/${running}/analysis`);
  if (found.problems) return showProblems($("problems"), found.problems);
  draw(found);
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

function draw(found) {
  $("summary").textContent = found.summary;
  show($("shown"), found.sections);
  for (const [name, type] of [["report", "text/html"], ["json", "application/json"]]) {
    URL.revokeObjectURL($(name).href);
    $(name).href = URL.createObjectURL(new Blob([found[name]], { type }));
  }
  $("result").hidden = false;
  $("result-title").focus();
}

$("start").disabled = false;  // from here on a click is answered
