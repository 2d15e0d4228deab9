// The evidence on one fragment: statement, likelihood ratio, and a row per variable or region.

import { $, askView, make, open, shape } from "./base.js";
import { part } from "./sections.js";
import { drawSpectra } from "./spectra.js";

// Ask for the evidence on the chosen fragment and show it; return whether it is still wanted then.
export async function showReasons() {
  const key = open.chosen;
  if (key === null) return $("reasons").replaceChildren();
  const found = await askView("evidence", { key });
  if (!found || open.chosen !== key) return false;
  draw(found, open.view.conclusions[key]);
  return true;
}

function draw(found, each) {
  const box = $("reasons");
  box.replaceChildren(make("h3", { tabindex: "-1" }, `${each.fragment}: ${each.verdict}`), ...found.statements.map((text) => make("p", {}, text)));
  if (each.match) box.append(make("p", {}, `${open.view.columns.matches}: ${each.match}.`));
  box.append(make("p", { class: "row" }, make("button", { type: "button" }, "Back to the list")));
  if (found.spectrum) drawSpectrum(box, found, each);
  box.append(...found.parts.map(part), ...found.notes.map((text) => make("p", { class: "soft" }, text)));
}

// The spectrum over the band of the control; the regions outside the band are shaded.
function drawSpectrum(box, { spectrum, shaded, label, keys }, each) {
  const svg = shape("svg", { class: "spectra", role: "img", "aria-label": label });
  box.append(make("figure", {}, svg));
  drawSpectra(svg, { ...spectrum, kinds: [each.excluded ? "excluded" : "recovered"], shaded });
  box.append(make("p", { class: "soft key" }, ...Object.entries(keys).map(([look, words]) => make("span", {}, make("i", { class: look }), ` ${words}`))));
}
