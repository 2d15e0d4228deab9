"""
Levels of tp on the glass fragments
===================================

The figure shows the 87 window fragments on their last two principal components, the directions in which they differ
least. Shades show tp, which is 1 at the spatial median (the cross) and falls towards the edge of the sample. TOCC
accepts at least 90% of the fragments; those that it rejects, although they are window glass, are marked by stars.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import PowerNorm

from transvariation import TOCC, load_glass
from transvariation.report.scatter_figure import grid_lines

# Eigenvectors of the covariance matrix, the one with the smallest variance first.
fragments = load_glass().control.to_numpy()
_, directions = np.linalg.eigh(np.cov(fragments, rowvar=False))
plane = (fragments - fragments.mean(axis=0)) @ directions[:, :2]

classifier = TOCC(sensitivity=0.9).fit(plane)
accepted = classifier.predict(plane) == 1

# %%
# tp is defined for every point of the plane. The axes through the median divide the plane into four quadrants. In each,
# tp compares an object with the fragments of that quadrant only, so the levels jump from one quadrant to the next. The
# line encloses the accepted region.

x, y = grid_lines(plane, [*plane, classifier.center_])
grid = np.stack(np.meshgrid(x, y), axis=-1)
level = classifier.transvariation_probability(grid.reshape(-1, 2)).reshape(grid.shape[:2])

figure, axes = plt.subplots(figsize=(4.8, 4.8), layout="constrained")
# Most of the fragments have a low tp: spread those levels.
shades = axes.pcolormesh(x, y, level, shading="nearest", cmap="Blues", norm=PowerNorm(0.4, vmin=0, vmax=1))
axes.contour(x, y, level >= classifier.offset_, levels=[0.5], colors="C0", linewidths=1.3)
axes.axvline(classifier.center_[0], color="0.6", linewidth=0.6)
axes.axhline(classifier.center_[1], color="0.6", linewidth=0.6)
known = {"facecolor": "white", "edgecolor": "C0", "linewidth": 0.9}
axes.scatter(*plane[accepted].T, s=24, label="window, accepted", **known)
axes.scatter(*plane[~accepted].T, marker="*", s=90, label="window, rejected", **known)
axes.scatter(*classifier.center_, marker="+", color="black", s=240, linewidth=2.5, label="spatial median")
axes.set(xlabel="last principal component", ylabel="last principal component but one")
axes.set_title(f"{accepted.sum()} of {len(plane)} windows accepted (tp ≥ {classifier.offset_:.3f})")
figure.legend(loc="outside lower center", ncols=2, frameon=False)
ticks = [0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1]
figure.colorbar(shades, label="transvariation probability (tp)", ticks=ticks)
plt.show()
