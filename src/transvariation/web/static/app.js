// Entry point: judge the case and poll its state; show it again after a reload.

import { $, ask, open, polled, remember, remembered, sensitivity, showProblems, working } from "./base.js";
import { showCase } from "./case.js";
import { caseSettings, collapseSteps, showAgain } from "./tables.js";
import { chosenVariables } from "./variables.js";

const pathOf = (name) => `/api/cases/${name}`;

$("judge").addEventListener("click", async () => {
  const variables = chosenVariables();
  if (!variables) {
    showProblems($("judge-problems"), [{ message: "Choose at least one variable." }]);
    return $("features").querySelector("input, select").focus();
  }
  showProblems($("judge-problems"), []);
  const asked = { ...open.reading, ...variables, ...caseSettings() };
  if (open.view) asked.sensitivity = sensitivity(); // the slider keeps its place
  working(true);
  for (const id of ["conclusion", "take"]) $(id).hidden = true;
  follow(open.case, await ask(`${pathOf(open.case)}/judge`, { method: "POST", body: JSON.stringify(asked), headers: { "Content-Type": "application/json" } }));
});

// Poll the state of a case until it is judged, and show it; other tables cancel it.
async function follow(mine, first) {
  const answer = await polled(mine, first, (done, words) => {
    const bar = $("working").querySelector("progress");
    if (done === null) bar.removeAttribute("value"); // it moves back and forth
    else bar.value = done;
    $("elapsed").textContent = words;
  }, () => open.case === mine);
  if (open.case !== mine) return ask(`${pathOf(mine)}/cancel`, { method: "POST" });
  working(false);
  $("judged").textContent = answer.state === "cancelled" ? "Canceled. The tables are still loaded." : "";
  showProblems($("judge-problems"), answer.problems);
  if (answer.state !== "done") return $("judge").focus();
  showJudged();
}

async function showJudged(share = null) {
  const mine = open.case, view = await ask(`${pathOf(mine)}/view${share === null ? "" : `?sensitivity=${share}`}`);
  if (open.case !== mine) return;
  if (view.problems) return showProblems($("judge-problems"), view.problems);
  collapseSteps(view.files);
  showCase(view);
}

addEventListener("judged", () => showJudged());
$("cancel").addEventListener("click", () => ask(`${pathOf(open.case)}/cancel`, { method: "POST" }));

async function restore(name) {
  const found = await ask(`${pathOf(name)}/opened`);
  if (!found.seen) return remember(null); // the program was started again
  remember(name);
  if (found.seen.tables) showAgain(found);
  if (found.state === "running") {
    working(true);
    follow(name, found);
  } else if (found.state === "done") showJudged(found.sensitivity);
}

if (remembered()) restore(remembered());
document.querySelector("main").inert = false; // from here on a click is answered
