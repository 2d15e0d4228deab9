"""
Nine variables on a plane
=========================

The glass fragments have nine variables. TOCC needs far fewer fragments in two of them, or in two combinations of
them. The figure shows three reductions, all learned from the window fragments only: the last two principal components,
in which these vary least; potassium and magnesium, selected by `VarSel`; and silicon and magnesium, selected by
`VIPSelector`. The line encloses the region that TOCC accepts; the titles count the fragments of other glass in it.
"""

import matplotlib.pyplot as plt

from transvariation import TOCC, MinorComponents, load_glass
from transvariation.report.scatter_figure import draw_plane

glass = load_glass()
components = MinorComponents().set_output(transform="pandas").fit(glass.control)
planes = {
    "last two components": (components.transform(glass.control), components.transform(glass.recovered)),
    "K and Mg": (glass.control[["K", "Mg"]], glass.recovered[["K", "Mg"]]),
    "Si and Mg": (glass.control[["Si", "Mg"]], glass.recovered[["Si", "Mg"]]),
}

figure, panels = plt.subplots(3, 1, figsize=(4.8, 9.6), layout="constrained")
for axes, (name, (control, recovered)) in zip(panels, planes.items(), strict=True):
    classifier = TOCC().fit(control)
    shades = draw_plane(axes, classifier, control, recovered)
    accepted = (classifier.predict(recovered) == 1).sum()
    axes.set_title(f"{name}: {accepted} of {len(recovered)} accepted")
    unit = "" if name.startswith("last") else " (weight %)"
    axes.set(xlabel=f"{control.columns[0]}{unit}", ylabel=f"{control.columns[1]}{unit}")
figure.colorbar(shades, ax=panels, label="tp", pad=0.01, aspect=60)
handles, _ = panels[0].get_legend_handles_labels()
names = [label.split(":")[0] for label in panels[0].get_legend_handles_labels()[1]]
figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False)
plt.show()
