"""
Nine variables on a plane
=========================

The glass fragments have nine variables. TOCC needs far fewer fragments in two of them, or in two combinations of
them. The figure shows three reductions, all learned from the window fragments only: the last two principal components,
in which these vary least; potassium and magnesium, selected by `VarSel`; and silicon and magnesium, selected by
`VIPSelector`. TOCC accepts the shaded region; the titles count the fragments of other glass in it.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.inspection import DecisionBoundaryDisplay

from transvariation import TOCC, MinorComponents, load_glass

glass = load_glass()
components = MinorComponents().set_output(transform="pandas").fit(glass.control)
planes = {
    "last two components": (components.transform(glass.control), components.transform(glass.recovered)),
    "K and Mg": (glass.control[["K", "Mg"]], glass.recovered[["K", "Mg"]]),
    "Si and Mg": (glass.control[["Si", "Mg"]], glass.recovered[["Si", "Mg"]]),
}

figure, panels = plt.subplots(3, 1, figsize=(4.8, 9), layout="constrained")
for axes, (name, (control, recovered)) in zip(panels, planes.items(), strict=True):
    classifier = TOCC().fit(control)
    show = {"response_method": "predict", "grid_resolution": 400, "eps": 1e-3, "ax": axes}
    everything = pd.concat([control, recovered])
    DecisionBoundaryDisplay.from_estimator(classifier, everything, levels=[0, 2], colors=["C4"], alpha=0.4, **show)
    accepted = classifier.predict(recovered) == 1
    for table, color, marker, label in (
        (control, "C0", "o", "windows"),
        (recovered[accepted], "C1", "s", "other glass, accepted"),
        (recovered[~accepted], "C3", "x", "other glass, rejected"),
    ):
        axes.scatter(*table.to_numpy().T, s=14, color=color, marker=marker, linewidth=0.8, label=label)
    axes.use_sticky_edges = False  # a margin around the samples
    axes.plot(*classifier.center_, "+", color="black", markersize=12, markeredgewidth=2, label="center")
    unit = "" if name.startswith("last") else " (weight %)"
    title = f"{name}: {accepted.sum()} of {len(recovered)} accepted"
    axes.set(title=title, xlabel=f"{control.columns[0]}{unit}", ylabel=f"{control.columns[1]}{unit}")
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
plt.show()
