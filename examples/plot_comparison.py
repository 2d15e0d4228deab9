"""
One class, many descriptions
============================

Each column is a classifier, each row a target class of 150 objects. Shaded is what the classifier accepts when it is
to accept nine target objects in ten. All of them cut their own score in the same way, so the pictures differ only by
what a classifier takes for typical: depth along the axes (the three TOCC), an ellipse (Gaussian), density (mixture,
KDE), or nearness to a set of points (k-means, SOM) or to the centre of a ball in a kernel's feature space (SVDD). Below
each panel stands the CPU time of `fit`.

A close fit says nothing about new objects: a rule that hugs its training objects, as the SOM does, keeps its promise on
them alone.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from transvariation import PAMTOCC, TOCC, DensityTOCC
from transvariation.baselines import KDEOCC, SOMOCC, SVDD, GaussianOCC, KMeansOCC, MixtureOCC

CLASSIFIERS = {
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
    """Five target classes: an ellipse, two groups of unlike spread, a skewed one, two moons, a ring."""
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
    len(targets), len(CLASSIFIERS), figsize=(15, 9), layout="constrained", gridspec_kw={"wspace": 0.03, "hspace": 0.03}
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
# CPU time to fit n objects in two variables, and to score 1000 new ones with what was learnt from n. A curve that falls
# where it should rise is a loop that got compiled on the way, as happens when a second or so has been spent in it.


def cpu_seconds(job, data):
    """The shorter of two runs: the first may have to load something."""
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
for (name, classifier), mark in zip(CLASSIFIERS.items(), "os^vDPXp*", strict=True):
    fits, scores = [], []
    for X in samples:
        fits.append(cpu_seconds(classifier.fit, X))
        scores.append(cpu_seconds(classifier.score_samples, new))
    fitting.plot(sizes, fits, marker=mark, label=name)
    scoring.plot(sizes, scores, marker=mark)
for axes, title in ((fitting, "to fit n objects"), (scoring, "to score 1000 objects")):
    axes.set(xscale="log", yscale="log", xlabel="target objects n", title=title)
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.xaxis.minorticks_off()
    axes.grid(alpha=0.3)
fitting.set_ylabel("CPU seconds")
figure.legend(loc="outside right center", frameon=False)
plt.show()
