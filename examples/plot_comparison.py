"""
One class, many descriptions
============================

Each column is a classifier, each row a target class of 150 samples. The shaded region is accepted at a sensitivity of
0.9. The regions differ by what a classifier considers typical: distance to the nearest samples (NeighborTOCC), depth
along the axes (TOCC, density TOCC, PAM-TOCC), an ellipse (Gaussian), density (mixture, KDE), or distance to a set of
points (k-means, SOM) or to the center of a ball in the feature space of a kernel (SVDD). Below each panel is the CPU
time of `fit`.

A close fit does not mean a good fit: the SOM follows its training samples so closely that it rejects many new samples
of the class. The threshold of NeighborTOCC holds for new samples; the others use the paper's.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from transvariation import PAMTOCC, TOCC, DensityTOCC, NeighborTOCC
from transvariation.baselines import KDEOCC, SOMOCC, SVDD, GaussianOCC, KMeansOCC, MixtureOCC

CLASSIFIERS = {
    "NeighborTOCC": NeighborTOCC(n_neighbors=(3, 10)),
    "TOCC": TOCC(),
    "density TOCC": DensityTOCC(),
    "PAM-TOCC": PAMTOCC(),
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
figure, panels = plt.subplots(
    len(targets), len(CLASSIFIERS), figsize=(16, 9), layout="constrained", gridspec_kw={"wspace": 0.03, "hspace": 0.03}
)
for row, (shape, X) in zip(panels, targets.items(), strict=True):
    middle, reach = (X.max(axis=0) + X.min(axis=0)) / 2, 0.75 * np.ptp(X, axis=0)
    x, y = np.meshgrid(*(np.linspace(m - r, m + r, 80) for m, r in zip(middle, reach, strict=True)))
    row[0].set_ylabel(shape)
    for axes, (name, classifier) in zip(row, CLASSIFIERS.items(), strict=True):
        start = time.process_time()
        classifier.fit(X)
        milliseconds = 1000 * (time.process_time() - start)
        accepted = classifier.predict(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape) == 1
        axes.contourf(x, y, accepted, levels=[0.5, 1.5], colors=["tab:blue"], alpha=0.3)
        axes.contour(x, y, accepted, levels=[0.5], colors="tab:blue", linewidths=1)
        axes.scatter(*X.T, s=4, color="black", linewidths=0)
        axes.set(xticks=[], yticks=[])
        axes.set_xlabel(f"{milliseconds:.0f} ms", fontsize=8, labelpad=2)
        if shape == "ellipse":
            axes.set_title(name, fontsize=11)
plt.show()

# %%
# How the cost grows
# ------------------
# CPU time to fit n samples of two features, and to score 1,000 new ones.


def cpu_seconds(job, data):
    """Return the shorter of two runs; the first may have to load modules."""
    times = []
    for _ in range(2):
        start = time.process_time()
        job(data)
        times.append(time.process_time() - start)
    return min(times)


rng = np.random.default_rng(0)
samples = [rng.normal(size=(n, 2)) for n in (50, 150, 500)]
sizes = [len(X) for X in samples]
new = rng.normal(size=(1000, 2))
figure, (fitting, scoring) = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, layout="constrained")
for (name, classifier), mark in zip(CLASSIFIERS.items(), "*os^vDPXph", strict=True):
    fits, scores = [], []
    for X in samples:
        fits.append(cpu_seconds(classifier.fit, X))
        scores.append(cpu_seconds(classifier.score_samples, new))
    fitting.plot(sizes, fits, marker=mark, label=name)
    scoring.plot(sizes, scores, marker=mark)
for axes, title in ((fitting, "to fit n samples"), (scoring, "to score 1,000 samples")):
    axes.set(xscale="log", yscale="log", xlabel="target samples n", title=title)
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.xaxis.minorticks_off()
    axes.grid(alpha=0.3)
fitting.set_ylabel("CPU seconds")
figure.legend(loc="outside right center", frameon=False)
plt.show()
