"""
Detectors as they are and calibrated
====================================

The decision boundaries of scikit-learn's outlier detectors, each set to reject 10% in its own way (dashed), and of the
same detectors inside :class:`transvariation.CalibratedOCC` (solid, shaded), beside
:class:`transvariation.NeighborTOCC`. They learn from 120 samples of a class. Below each panel is the share of 2,000
new samples of the class that are rejected, before → after calibration; before it, mostly more than 10%.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.covariance import EllipticEnvelope
from sklearn.datasets import make_moons
from sklearn.ensemble import IsolationForest
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from transvariation import CalibratedOCC, NeighborTOCC

DETECTORS = {
    "one-class\nSVM": OneClassSVM(nu=0.1, gamma=2),
    "local outlier\nfactor": LocalOutlierFactor(novelty=True, contamination=0.1),
    "elliptic\nenvelope": EllipticEnvelope(contamination=0.1, random_state=0),
    "isolation\nforest": IsolationForest(contamination=0.1, random_state=0),
}


def shapes(n, seed):
    """Draw samples of three classes: an ellipse, two moons, a ring."""
    rng = np.random.default_rng(seed)
    normal, angle = rng.normal(size=(n, 2)), rng.uniform(0, 2 * np.pi, n)
    return {
        "ellipse": normal @ [[1.0, 0.6], [0.0, 0.8]],
        "two moons": 1.6 * make_moons(n, noise=0.1, random_state=seed)[0],
        "ring": 2 * np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + 0.12 * normal[:, :1]),
    }


def rejected(classifier, new):
    """Compute the share of rejected samples."""
    return np.mean(classifier.predict(new) == -1)


known, new = shapes(120, seed=0), shapes(2000, seed=1)
_, panels = plt.subplots(len(known), len(DETECTORS) + 1, figsize=(7, 5.4), layout="constrained")
for row, (shape, X) in zip(panels, known.items(), strict=True):
    row[0].set_ylabel(shape)
    for ax, (name, detector) in zip(row, [*DETECTORS.items(), ("NeighborTOCC", None)], strict=True):
        calibrated = NeighborTOCC() if detector is None else CalibratedOCC(clone(detector))
        calibrated.fit(X)
        show = {"response_method": "predict", "grid_resolution": 120, "eps": 1.5, "ax": ax}
        DecisionBoundaryDisplay.from_estimator(calibrated, X, levels=[0, 2], colors=["C4"], alpha=0.4, **show)
        DecisionBoundaryDisplay.from_estimator(
            calibrated, X, plot_method="contour", levels=[0], colors=["C0"], linewidths=1.2, **show
        )
        text = f"{rejected(calibrated, new[shape]):.0%}"
        if detector is not None:
            detector.fit(X)
            DecisionBoundaryDisplay.from_estimator(
                detector, X, plot_method="contour", levels=[0], colors=["0.35"], linestyles="--", linewidths=1, **show
            )
            text = f"{rejected(detector, new[shape]):.0%} → {text}"
        ax.scatter(*X.T, s=4, color="C0", linewidths=0)
        ax.set(xticks=[], yticks=[], xlabel=text, title=name if shape == "ellipse" else "")
plt.show()
