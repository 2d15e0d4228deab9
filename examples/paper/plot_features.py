"""
Variable by variable
====================

How do the fragments of windows, the control, differ from those of containers, tableware and headlamps in each variable?
Magnesium separates them best, and barium identifies most of the headlamps. A one-class classifier has to find such
variables without having seen the other kinds.
"""

import matplotlib.pyplot as plt

from transvariation import load_glass
from transvariation.report.selection_figure import draw_features

glass = load_glass()
kinds = glass.all.loc[glass.recovered.index, "Type"].map(glass.type_names)
groups = {"window": glass.control}
groups |= {kind: glass.recovered[kinds == kind] for kind in kinds.unique()}

figure, panels = plt.subplots(5, 2, figsize=(4.8, 10), layout="constrained")
draw_features(panels, groups)
for axes in panels.ravel():
    axes.tick_params(axis="x", labelsize=9)
    if axes.get_title() != "RI":
        axes.set_ylabel("weight %", fontsize=9)
plt.show()
