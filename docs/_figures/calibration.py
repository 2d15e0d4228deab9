"""Draw the calibration figure of the README and the landing page: `make picture`."""

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from transvariation import CalibratedOCC, NeighborTOCC, make_scenario
from transvariation.report.figure_style import DARK, GRAY, PHONE_WIDTH, RED, SETTINGS, THRESHOLD

STATIC = Path(__file__).parents[1] / "_static"
REPEATS = 20
LEVEL = 0.1
# scikit-learn's detectors, each set to reject 10% in its own way.
DETECTORS: dict[str, BaseEstimator] = {
    "one-class SVM": OneClassSVM(nu=LEVEL),
    "local outlier factor": LocalOutlierFactor(novelty=True, contamination=LEVEL),
    "elliptic envelope": EllipticEnvelope(contamination=LEVEL, random_state=0),
    "isolation forest": IsolationForest(contamination=LEVEL, random_state=0),
}


def rows() -> list[tuple[str, BaseEstimator, str]]:
    """List label, detector and color: each detector as it is and calibrated, and NeighborTOCC."""
    listed: list[tuple[str, BaseEstimator, str]] = []
    for name, detector in DETECTORS.items():
        listed.append((name, detector, GRAY))
        listed.append(("in CalibratedOCC", CalibratedOCC(clone(detector), sensitivity=1 - LEVEL), DARK))
    return [*listed, ("NeighborTOCC", NeighborTOCC(sensitivity=1 - LEVEL), DARK)]


def false_alarms(detector: BaseEstimator) -> list[float]:
    """Measure the share of new target samples that a detector rejects, for training sets of 100 samples."""
    shares = []
    for repeat in range(REPEATS):
        train, _ = make_scenario("e", 100, random_state=repeat)
        new, _ = make_scenario("e", 1000, random_state=1000 + repeat)
        shares.append(float(np.mean(detector.fit(train).predict(new) == -1)))
    return shares


def draw() -> plt.Figure:
    """Draw one dot per training set and a bar at the mean."""
    figure, ax = plt.subplots(figsize=(PHONE_WIDTH, 4.6))
    listed = rows()
    places = [len(listed) - 1 - i - 0.5 * (i // 2) for i in range(len(listed))]
    for place, (_, detector, color) in zip(places, listed, strict=True):
        values = false_alarms(detector)
        ax.plot(values, np.full(len(values), place), "o", ms=6, color=color, alpha=0.35, mew=0)
        ax.plot([np.mean(values)], [place], "|", color=color, ms=16, mew=3)
    ax.axvline(LEVEL, **THRESHOLD)
    ax.annotate("set to 10%", (LEVEL, max(places) + 0.7), ha="center", color=RED, annotation_clip=False)
    ax.set_yticks(places, [name for name, *_ in listed])
    ax.set(
        xlabel="share of new samples of the class rejected", xlim=(0, None), ylim=(min(places) - 0.6, max(places) + 0.6)
    )
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_formatter("{x:.0%}")
    return figure


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with plt.rc_context(SETTINGS):
        draw().savefig(STATIC / "calibration.png")
