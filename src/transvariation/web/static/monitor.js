// The page of process monitoring: two runs in, charts and alarms out.

import { $, ask, showProblems, waiting } from "./base.js";
import { show } from "./sections.js";

$("runs").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = new FormData($("runs")), options = {};
  for (const name of ["false_alarm", "run", "lags"]) {
    options[name] = Number(form.get(name));
    form.delete(name);
  }
  form.set("options", JSON.stringify(options));
  $("charts").hidden = true;
  showProblems($("problems"), []);
  const button = $("runs").querySelector("button"), done = waiting($("loading"), "Drawing the charts");
  button.disabled = true;
  const answer = await ask("/api/monitor", { method: "POST", body: form });
  button.disabled = false;
  done();
  if (answer.problems) return showProblems($("problems"), answer.problems);
  draw(answer);
});

function draw(answer) {
  $("summary").textContent = answer.summary;
  show($("drawn"), answer.sections);
  URL.revokeObjectURL($("report").href);
  $("report").href = URL.createObjectURL(new Blob([answer.report], { type: "text/html" }));
  $("charts").hidden = false;
  $("charts-title").focus();
}

$("runs").querySelector("button").disabled = false;  // from here on a click is answered
