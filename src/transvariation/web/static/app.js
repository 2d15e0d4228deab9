// Entry point: judge the case and poll its state.

import { $, ask, open, sensitivity, showProblems, working } from "./base.js";
import { showCase } from "./case.js";
import { caseFields, collapseSteps } from "./tables.js";
import { chosenVariables } from "./variables.js";

const POLL = 200; // milliseconds

$("judge").addEventListener("click", async () => {
  const variables = chosenVariables();
  if (!variables) {
    showProblems($("judge-problems"), [{ message: "Choose at least one variable." }]);
    return $("features").querySelector("input, select").focus();
  }
  showProblems($("judge-problems"), []);
  const asked = { ...variables, method: $("method").value, reduce: $("reduce").value, reduce_to: Number($("reduce-to").value) || 2, case: caseFields() };
  if (open.view) asked.sensitivity = sensitivity(); // the slider keeps its place
  const mine = open.case, path = `/api/cases/${mine}`;
  working(true);
  for (const id of ["conclusion", "take"]) $(id).hidden = true;
  let answer = await ask(`${path}/judge`, { method: "POST", body: JSON.stringify(asked), headers: { "Content-Type": "application/json" } });
  while (answer.state === "running" && open.case === mine) {
    const bar = $("working").querySelector("progress");
    if (answer.done === null) bar.removeAttribute("value"); // it moves back and forth
    else bar.value = answer.done;
    $("elapsed").textContent = `${answer.step}, ${Math.round(answer.seconds)} s`;
    await new Promise((resolve) => setTimeout(resolve, POLL));
    answer = await ask(path);
  }
  if (open.case !== mine) return ask(`${path}/cancel`, { method: "POST" });
  working(false);
  $("judged").textContent = answer.state === "cancelled" ? "Cancelled. The tables are still loaded." : "";
  showProblems($("judge-problems"), answer.problems);
  if (answer.state !== "done") return $("judge").focus();
  const view = await ask(`${path}/view`);
  if (open.case !== mine) return;
  if (view.problems) return showProblems($("judge-problems"), view.problems);
  collapseSteps(view.files);
  showCase(view);
});

$("cancel").addEventListener("click", () => ask(`/api/cases/${open.case}/cancel`, { method: "POST" }));
