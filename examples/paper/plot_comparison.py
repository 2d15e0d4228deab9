"""
One class, many descriptions
============================

Each column is a classifier, each row a target class of 150 samples. The shaded region is accepted at a
:term:`sensitivity` of 0.9. The regions differ by what a classifier considers typical: distance to the nearest samples
(NeighborTOCC) or depth along the axes (TOCC, density TOCC, PAM-TOCC) in the first figure; an ellipse (Gaussian),
density (mixture, KDE), distance to a set of points (k-means, SOM) or to the center of a ball in the feature space of a
kernel (SVDD) in the second.

A close fit is not a good fit: the SOM follows its training samples so closely that it rejects many new samples of the
class. The threshold of NeighborTOCC holds for new samples; the others use the paper's.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from transvariation import PAMTOCC, TOCC, DensityTOCC, NeighborTOCC
from transvariation.baselines import KDEOCC, SOMOCC, SVDD, GaussianOCC, KMeansOCC, MixtureOCC

OURS = {
    "NeighborTOCC": NeighborTOCC(),
    "TOCC": TOCC(),
    "density TOCC": DensityTOCC(),
    "PAM-TOCC": PAMTOCC(),
}
OTHERS = {
    "Gaussian": GaussianOCC(),
    "mixture": MixtureOCC(),
    "KDE": KDEOCC(),
    "k-means": KMeansOCC(random_state=0),
    "SOM": SOMOCC(random_state=0),
    "SVDD": SVDD(),
}


def shapes(n, rng):
    """Five target classes: an ellipse, two groups of different spread, a skewed one, two moons, a ring."""
    normal = rng.normal(size=(n, 2))
    angle = rng.uniform(0, 2 * np.pi, n)
    return {
        "ellipse": normal @ [[1.0, 0.6], [0.0, 0.8]],
        "two groups": np.where(np.arange(n)[:, None] % 2, 0.4 * normal + [-2, -1], 0.9 * normal + [1.5, 1]),
        "skewed": normal**2,
        "two moons": make_moons(n, noise=0.08, random_state=0)[0],
        "ring": np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + 0.12 * normal[:, :1]),
    }


targets = shapes(150, np.random.default_rng(7))


def draw(classifiers):
    """Draw the accepted region of each classifier for each target class."""
    size = {"figsize": (4.8, 5.2), "layout": "constrained"}
    _, panels = plt.subplots(len(targets), len(classifiers), **size)
    for row, (shape, X) in zip(panels, targets.items(), strict=True):
        middle, reach = (X.max(axis=0) + X.min(axis=0)) / 2, 0.75 * np.ptp(X, axis=0)
        x, y = np.meshgrid(*(np.linspace(m - r, m + r, 80) for m, r in zip(middle, reach, strict=True)))
        row[0].set_ylabel(shape, fontsize=10)
        for axes, (name, classifier) in zip(row, classifiers.items(), strict=True):
            classifier.fit(X)
            accepted = classifier.predict(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape) == 1
            axes.contourf(x, y, accepted, levels=[0.5, 1.5], colors=["C4"], alpha=0.4)
            axes.contour(x, y, accepted, levels=[0.5], colors="C0", linewidths=1)
            axes.scatter(*X.T, s=2, color="C0", linewidths=0)
            axes.set(xticks=[], yticks=[])
            if shape == "ellipse":
                axes.set_title(name, fontsize=9)


draw(OURS)
plt.show()

# %%
# The six methods that the paper compares with.

draw(OTHERS)
plt.show()

# %%
# What it costs
# -------------
# CPU time to fit 500 samples of two features, and to score 1,000 new ones. The mixtures fit 14 models with one to nine
# components each.


def cpu_milliseconds(job, data):
    """Return the shorter of two runs; the first may have to load modules."""
    times = []
    for _ in range(2):
        start = time.process_time()
        job(data)
        times.append(1000 * (time.process_time() - start))
    return min(times)


rng = np.random.default_rng(0)
known, new = rng.normal(size=(500, 2)), rng.normal(size=(1000, 2))
classifiers = OURS | OTHERS
fits = [cpu_milliseconds(classifier.fit, known) for classifier in classifiers.values()]
scores = [cpu_milliseconds(classifier.score_samples, new) for classifier in classifiers.values()]
places = -np.arange(len(classifiers))
figure, axes = plt.subplots(figsize=(4.8, 4), layout="constrained")
axes.hlines(places, fits, scores, color="0.85", linewidth=1.5, zorder=0)
axes.scatter(fits, places, s=50, color="C0", label="fit 500 samples")
axes.scatter(scores, places, s=50, marker="D", color="C4", label="score 1,000 samples")
axes.set_yticks(places, list(classifiers))
axes.tick_params(axis="y", length=0)
axes.set(xscale="log", xlabel="CPU time (milliseconds)")
figure.legend(loc="outside lower center", ncols=2, frameon=False)
plt.show()
