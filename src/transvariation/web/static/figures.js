// Figures of a judged case that the server computes: spectra over the control's band, acceptance, extremes and error plots.

import { $, askView, make, open } from "./base.js";
import { source } from "./sections.js";
import { drawSpectra } from "./spectra.js";

export async function drawOverview() {
  if (!open.view.spectral) return;
  const found = await askView("spectra");
  if (!found) return;
  drawSpectra($("overview"), found);
  $("drawn").textContent = found.drawn;
  $("importance-figure").hidden = !found.importance;
  if (found.importance) drawSpectra($("importance"), found.importance);
}

export async function drawFigures() {
  const kinds = open.view.figures;
  $("figures").hidden = !kinds.length;
  if (!$("figures").open) return;
  for (const old of $("drawings").children) if (!kinds.includes(old.id)) old.remove();
  for (const kind of kinds) {
    const found = await askView("figure", { kind });
    if (!found) return;
    const link = make("a", { href: source(found.svg), download: `${open.view.name}-${kind}.svg` }, "Save this figure (SVG)");
    const box = make("figure", { id: kind }, make("img", { src: source(found.svg), alt: found.words }), make("figcaption", { class: "soft" }, found.words), make("p", { class: "row" }, link));
    if ($(kind)) $(kind).replaceWith(box);
    else $("drawings").append(box);
  }
}

$("figures").addEventListener("toggle", drawFigures);
