"""
Does the error rate hold at every level?
========================================

A sample is accepted if its p-value exceeds one minus the sensitivity. If p-values are valid, every nominal sensitivity
is also the share of new samples of the class that are accepted, and the curve follows the diagonal.

Three classifiers learn scikit-learn's images of one handwritten digit at a time, from half of the images, and judge the
other half. The shares are means over the ten digits.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest

from transvariation import CalibratedOCC, NeighborTOCC
from transvariation.exceptions import NoGuarantee

X, y = load_digits(return_X_y=True)
forest = IsolationForest(n_estimators=50, random_state=0)
classifiers = {
    "NeighborTOCC": NeighborTOCC(),
    "IsolationForest in CalibratedOCC": CalibratedOCC(forest, calibration="cv"),
    "NeighborTOCC, resubstitution": NeighborTOCC(calibration="resubstitution"),
}
levels = np.linspace(0.5, 0.98, 25)

# %%
# The third classifier ranks new samples among the scores of its own training samples, as the paper does. `p_values`
# warns that these have no guarantee, and the curve shows why: new samples look less typical than training samples do.
figure, axes = plt.subplots(figsize=(4.8, 4.6), layout="constrained")
axes.plot(levels, levels, color="C3", linestyle="--", linewidth=1.2, label="nominal = actual")
for (name, classifier), style in zip(classifiers.items(), ("-", "-.", ":"), strict=True):
    p_values = []
    for digit in range(10):
        train, test = np.array_split(np.random.default_rng(0).permutation(X[y == digit]), 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoGuarantee)
            p_values.append(clone(classifier).fit(train).p_values(test))
    p = np.concatenate(p_values)
    accepted = [(p > 1 - level).mean() for level in levels]
    axes.plot(levels, accepted, style, color="0.4" if "resubstitution" in name else "C0", label=name)
    print(f"{name}: {accepted[20]:.2f} accepted at a nominal {levels[20]:.2f}")
axes.set(xlabel="nominal sensitivity", ylabel="share of new samples accepted", ylim=(0.3, 1))
axes.legend(loc="lower right")
plt.show()
