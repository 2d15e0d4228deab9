// From two tables to the verdict: the entry of the page's own script. There is no other, and nothing is built.

import { $, ask, open, sensitivity, showProblems, working } from "./base.js";
import { chosenFeatures } from "./tables.js";
import { showVerdict } from "./verdict.js";

const ONCE_A = 200; // milliseconds between questions how the judging goes

$("judge").addEventListener("click", async () => {
  const features = chosenFeatures();
  if (!features.length) {
    showProblems($("judge-problems"), [{ message: "Tick at least one variable." }]);
    return $("features").querySelector("input").focus();
  }
  showProblems($("judge-problems"), []);
  const asked = { features, method: $("method").value, reduce: $("reduce").value };
  if (open.result) asked.sensitivity = sensitivity(); // the slider was on display, and stays where it was put
  const mine = open.case, path = `/api/cases/${mine}`;
  working(true);
  for (const id of ["verdict", "take"]) $(id).hidden = true; // the server has forgotten the last result
  let answer = await ask(`${path}/judge`, { method: "POST", body: JSON.stringify(asked), headers: { "Content-Type": "application/json" } });
  while (answer.state === "running" && open.case === mine) {
    $("elapsed").textContent = `${answer.waiting ? "waiting for another case" : "comparing the objects"}, ${Math.round(answer.seconds)} s`;
    await new Promise((resolve) => setTimeout(resolve, ONCE_A));
    answer = await ask(path);
  }
  if (open.case !== mine) return ask(`${path}/cancel`, { method: "POST" });
  working(false);
  $("judged").textContent = answer.state === "cancelled" ? "Stopped, as you asked. The tables are still here." : "";
  showProblems($("judge-problems"), answer.problems);
  if (answer.state === "done") showVerdict(answer.result);
  else $("judge").focus();
});

$("cancel").addEventListener("click", () => ask(`/api/cases/${open.case}/cancel`, { method: "POST" }));
