"""
Transvariation in one dimension
===============================

A group of units and a sample *transvariate* when some of the units lie on the other side of the sample than the
group's median does: seen from the median, they lie beyond the sample. In the first two rows no unit does, because the
sample lies outside the group on one side or the other. In the third row three units lie beyond the sample. The share
of such units, doubled because at most half of a group lies on one side of its median, is the transvariation
probability tp.
"""

import matplotlib.pyplot as plt
import numpy as np

from transvariation import transvariation_probability

units = np.array([1.0, 1.8, 2.3, 3.1, 3.6, 4.0, 4.7, 5.2, 6.1, 6.6, 7.4])
median = np.median(units)
samples = {"left of the group": 0.2, "right of the group": 8.3, "within the group": 5.7}

figure, rows = plt.subplots(3, 1, figsize=(4.8, 4.2), sharex=True, layout="constrained")
for axes, (where, c) in zip(rows, samples.items(), strict=True):
    beyond = (units - c) * (median - c) < 0
    tp = transvariation_probability(units, [c])[0]
    axes.axhline(0, color="0.85", zorder=0)
    axes.scatter(units[~beyond], 0 * units[~beyond], s=45, color="C4", label="unit of the group")
    far = {"marker": "D", "color": "C1", "edgecolor": "black", "label": "unit beyond the sample"}
    axes.scatter(units[beyond], 0 * units[beyond], s=45, **far)
    axes.scatter(median, 0, marker="s", s=130, facecolor="none", edgecolor="black", label="median")
    axes.scatter(c, 0, marker="^", s=110, color="C3", label="sample c")
    axes.set_title(f"{where}: {beyond.sum()} of {len(units)} units beyond, tp = {tp:.2f}", loc="left")
    axes.set(ylim=(-1, 1), yticks=[])
    axes.spines[["left", "right", "top"]].set_visible(False)
rows[-1].set_xlabel("value of the variable")
handles, labels = rows[-1].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
plt.show()
