"""
Several known classes, and none of them
=======================================

Two cultivars of wine are known. A bottle may belong to one of them, may fit both, or may come from somewhere else.
:class:`~transvariation.OpenSetClassifier` gives each sample a p-value for each known class and accepts the classes
whose p-value exceeds one minus the :term:`sensitivity`. Half of the bottles of the known cultivars train; the third
cultivar is unknown to the classifier.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from transvariation import OpenSetClassifier

wine = load_wine()
X, y = wine.data, np.array(["first", "second", "third"])[wine.target]
known = y != "third"
train, test, labels, truth = train_test_split(X[known], y[known], test_size=0.5, stratify=y[known], random_state=0)
classifier = OpenSetClassifier(sensitivity=0.9).fit(train, labels)
groups = {"first": test[truth == "first"], "second": test[truth == "second"], "third": X[~known]}
for name, group in groups.items():
    answers, counts = np.unique(classifier.predict(group), return_counts=True)
    print(f"{name}: {dict(zip(answers.tolist(), counts.tolist(), strict=True))}")

# %%
# Right of the vertical line a bottle may belong to the first cultivar, above the horizontal one to the second, and at
# the lower left to neither. The lines are drawn at a sensitivity of 0.9, the share of new bottles of a cultivar to
# accept: on average over calibrations, one bottle in ten of each cultivar lies on the wrong side of its line, whatever
# the other classes are.

figure, axes = plt.subplots(figsize=(4.8, 4.6), layout="constrained")
for (name, group), color, marker in zip(groups.items(), ("C0", "C2", "C3"), ("o", "s", "^"), strict=True):
    p = classifier.p_values(group)
    axes.scatter(*p.T, s=28, marker=marker, facecolor="none", edgecolor=color, label=f"{name} cultivar")
axes.axvline(0.1, color="0.4", linestyle="--", linewidth=1)
axes.axhline(0.1, color="0.4", linestyle="--", linewidth=1)
axes.set(xscale="log", yscale="log", xlabel="p-value for the first cultivar", ylabel="p-value for the second cultivar")
figure.legend(loc="outside lower center", ncols=3, frameon=False)
plt.show()
