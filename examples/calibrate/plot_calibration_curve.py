"""
Does the error rate hold at every level?
========================================

The sensitivity is the share of new samples of the class to accept. A sample is accepted if its p-value exceeds one
minus the sensitivity. If p-values are valid, the actual share equals the nominal one at every level, and the curve
follows the diagonal.

Each of three classifiers learns one handwritten digit of scikit-learn's images at a time, from half of the images,
and is applied to the other half. :class:`~transvariation.displays.CalibrationDisplay` draws the shares, over all ten
digits.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest

from transvariation import CalibratedOCC, NeighborTOCC
from transvariation.displays import CalibrationDisplay
from transvariation.exceptions import NoGuarantee

X, y = load_digits(return_X_y=True)
forest = IsolationForest(n_estimators=50, random_state=0)
classifiers = {
    "NeighborTOCC": NeighborTOCC(),
    "IsolationForest in CalibratedOCC": CalibratedOCC(forest, calibration="cv"),
    "NeighborTOCC, resubstitution": NeighborTOCC(calibration="resubstitution"),
}

# %%
# The third classifier ranks new samples among the scores of its own training samples, as the paper does. `p_values`
# warns that these have no guarantee, and the curve shows why: new samples look less typical than training samples do.
_, axes = plt.subplots(figsize=(4.8, 4.6), layout="constrained")
for name, classifier in classifiers.items():
    p_values = []
    for digit in range(10):
        train, test = np.array_split(np.random.default_rng(0).permutation(X[y == digit]), 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoGuarantee)
            p_values.append(clone(classifier).fit(train).p_values(test))
    p = np.concatenate(p_values)
    CalibrationDisplay.from_p_values(p, name=name, ax=axes)
    print(f"{name}: {(p > 0.1).mean():.2f} accepted at a nominal 0.90")
plt.show()
