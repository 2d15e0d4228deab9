"""
From one center to every sample: TOCC, PAM-TOCC, NeighborTOCC
=============================================================

TOCC compares a sample with one center, PAM-TOCC with the closest of a few medoids. In the limit every known sample is a
medoid: a sample is compared with its nearest known samples, and its transvariation probability (tp) is the share of
known samples that lie at least as far from theirs. The figure shows the region that each classifier accepts. The
thresholds of TOCC and PAM-TOCC are those of the paper; that of NeighborTOCC holds for new target samples.
"""

import matplotlib.pyplot as plt
import numpy as np

from transvariation import PAMTOCC, TOCC, NeighborTOCC

rng = np.random.default_rng(0)
angle = rng.uniform(0, 1.6 * np.pi, size=150)
known = np.column_stack([np.cos(angle), np.sin(angle)]) * 3 + rng.normal(scale=0.3, size=(150, 2))
classifiers = {
    "TOCC,\none center": TOCC(),
    "PAM-TOCC,\nfive medoids": PAMTOCC(n_clusters=5),
    "NeighborTOCC,\nevery sample": NeighborTOCC(),
}
x, y = np.meshgrid(np.linspace(-5, 5, 160), np.linspace(-5, 5, 160))
plane = np.column_stack([x.ravel(), y.ravel()])

figure, panels = plt.subplots(1, 3, figsize=(4.8, 2.7), sharey=True, layout="constrained")
for axes, (title, classifier) in zip(panels, classifiers.items(), strict=True):
    accepted = classifier.fit(known).predict(plane) == 1
    axes.contourf(x, y, accepted.reshape(x.shape), levels=[0.5, 1.5], colors=["C4"], alpha=0.4)
    axes.contour(x, y, accepted.reshape(x.shape), levels=[0.5], colors="C0", linewidths=1)
    axes.scatter(*known.T, s=6, color="white", edgecolor="C0", linewidth=0.6)
    axes.set_title(title)
    axes.set_xlabel(f"accepts {accepted.mean():.0%}\nof the square")
    axes.set(aspect="equal", xticks=[], yticks=[])
plt.show()

# %%
# The next figure shows how one view becomes a tp. The view is the logarithm of the distance to the nearest known
# sample. Known samples are measured without themselves; beyond their 90% quantile an exponential tail continues the
# share of samples that lie at least as far out.
from scipy.spatial import KDTree

from transvariation import tail_transvariation_probability

view = np.log(KDTree(known).query(known, k=2)[0][:, 1])
place = np.linspace(view.min(), view.max() + 1.5, 200)
figure, axes = plt.subplots(figsize=(4.8, 4), layout="constrained")
axes.step(
    np.sort(view), 1 - np.arange(len(view)) / len(view), color="0.5", label="share of known samples at least as far out"
)
axes.plot(place, tail_transvariation_probability(view, place), color="C0", label="tp with a fitted tail")
axes.axvline(np.quantile(view, 0.9), color="0.4", lw=1, ls=":", label="90% quantile")
axes.set(
    xlabel="log distance to the nearest known sample",
    ylabel="transvariation probability (tp)",
    yscale="log",
    ylim=(1e-5, 1.5),
)
figure.legend(loc="outside lower center", frameon=False)
plt.show()
