"""
Variable by variable
====================

How do the fragments of windows, the control, differ from those of containers, tableware and headlamps in each variable?
Magnesium separates them best, and barium identifies most of the headlamps. A one-class classifier has to find such
variables without having seen the other kinds.
"""

import matplotlib.pyplot as plt

from transvariation import load_glass

glass = load_glass()
kinds = glass.all.loc[glass.recovered.index, "Type"].map(glass.type_names)
groups = {"window": glass.control}
groups |= {kind: glass.recovered[kinds == kind] for kind in kinds.unique()}

figure, panels = plt.subplots(3, 3, figsize=(4.8, 6), sharex=True, layout="constrained")
for axes, variable in zip(panels.ravel(), glass.control.columns, strict=True):
    values = [table[variable] for table in groups.values()]
    look = {"patch_artist": True, "flierprops": {"markersize": 3}, "medianprops": {"color": "black"}, "widths": 0.6}
    boxes = axes.boxplot(values, tick_labels=list(groups), **look)
    for box, color in zip(boxes["boxes"], ["C4", "C1", "C1", "C1"], strict=True):
        box.set_facecolor(color)
    axes.set_title("refractive index" if variable == "RI" else f"{variable} (weight %)", fontsize=10)
    axes.tick_params(axis="x", rotation=90)
plt.show()
