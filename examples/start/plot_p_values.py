"""
What is the p-value of a sample?
================================

The score of a new sample means little by itself. Its p-value compares it with the scores of *calibration samples*:
samples of the class that the classifier has not been trained on. It is the share of them that score as low or lower,
with the new sample counted among them. Here it is computed by hand; `p_values` of every classifier does the same.
"""

import matplotlib.pyplot as plt
import numpy as np

from transvariation import NeighborTOCC

rng = np.random.default_rng(3)
known, calibration = rng.normal(size=(100, 2)), rng.normal(size=(99, 2))
new = {"A": (0.3, -0.4), "B": (1.9, -1.5), "C": (2.6, 2.3)}

classifier = NeighborTOCC(calibration="resubstitution").fit(known)  # its scores only; its threshold is not used
scores = classifier.score_samples(calibration)
own = dict(zip(new, classifier.score_samples(list(new.values())), strict=True))
p = {name: (1 + np.sum(scores <= score)) / (len(scores) + 1) for name, score in own.items()}
print({name: float(value) for name, value in p.items()})

# %%
# A lies in the middle of the class, and most calibration samples score lower. B lies at the edge: few score as low. No
# calibration sample scores as low as C; its p-value is the smallest that 99 calibration samples allow, 1/100.

figure, (above, below) = plt.subplots(2, 1, figsize=(4.8, 6.4), layout="constrained")
above.scatter(*known.T, s=20, color="white", edgecolor="C0", linewidth=0.8)
above.set(xlabel="first feature", ylabel="second feature", title="known samples and three new ones")
below.hist(scores, bins=25, color="C4")
below.set(xlabel="score (high = typical)", ylabel="calibration samples", title="their scores", xlim=(own["C"] - 3, 4))
for color, (name, place) in zip(("C0", "C1", "C3"), new.items(), strict=True):
    above.scatter(*place, s=70, marker="^", color=color)
    above.annotate(name, place, (6, 4), textcoords="offset points", fontsize=12)
    below.axvline(own[name], color=color, linewidth=2)
    where = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "rotation": 90, "va": "top"}
    below.annotate(f"{name}: p = {p[name]:.2f}", (own[name], 1), (4, -4), **where)
plt.show()

# %%
# What the p-value guarantees
# ---------------------------
# If new samples belong to the class, at most 10% of them have a p-value of at most 0.1 on average over calibrations,
# and so on for every level. A thin line is one calibration and may lie above the diagonal; the thick line is the mean
# of all, and stays below it up to chance. Samples from elsewhere have small p-values.
levels = np.linspace(0, 1, 101)
groups = {"new samples of the class": ("C0", 0), "samples from elsewhere": ("C3", 2.5)}
shares = {name: [] for name in groups}
for _ in range(30):
    classifier = NeighborTOCC(calibration="split", sensitivity=0.9).fit(rng.normal(size=(199, 2)))
    for name, (_, middle) in groups.items():
        p_values = classifier.p_values(rng.normal(middle, 1, (1000, 2)))
        shares[name].append((p_values[:, None] <= levels).mean(axis=0))
figure, axes = plt.subplots(figsize=(4.8, 4.4), layout="constrained")
for name, (color, _) in groups.items():
    axes.plot(levels, np.transpose(shares[name]), color=color, linewidth=0.4, alpha=0.4)
    axes.plot(levels, np.mean(shares[name], axis=0), color=color, linewidth=2.5, label=name)
axes.plot([0, 1], [0, 1], color="0.4", linestyle=":", label="guarantee: the mean is at or below this line")
axes.axvline(0.1, color="C3", linestyle="--", linewidth=1.2, label="rejected at a sensitivity of 0.9")
axes.set(xlabel="p-value", ylabel="share of samples with\na p-value as small", xlim=(0, 1), ylim=(0, 1.02))
figure.legend(loc="outside lower center", frameon=False)
plt.show()
