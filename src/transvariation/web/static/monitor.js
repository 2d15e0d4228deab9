// The page of process monitoring: two runs in, charts and alarms out.

import { $, ask, make, showProblems, waiting } from "./base.js";

const image = (svg) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;

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
  show(answer);
});

function show(answer) {
  $("summary").textContent = answer.summary;
  $("drawn").src = image(answer.charts);
  $("first").hidden = !answer.contributions;
  if (answer.contributions) $("contributions").src = image(answer.contributions);
  const cells = (row, tag) => make("tr", {}, ...row.map((text) => make(tag, { class: "text" }, text)));
  $("alarms").replaceChildren(
    ...(answer.alarms.length ? [make("thead", {}, cells(answer.columns, "th"))] : []),
    make("tbody", {}, ...answer.alarms.map((row) => cells(row, "td"))),
  );
  URL.revokeObjectURL($("report").href);
  $("report").href = URL.createObjectURL(new Blob([answer.report], { type: "text/html" }));
  $("charts").hidden = false;
  $("charts-title").focus();
}

$("runs").querySelector("button").disabled = false;  // from here on a click is answered
