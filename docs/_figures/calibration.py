"""Draw the calibration figure of the README and the landing page: `make picture`."""

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.svm import OneClassSVM

from transvariation import PAMTOCC, TOCC, CalibratedOCC, NeighborTOCC, make_scenario
from transvariation.report.figure_style import DARK, GREY, PHONE_WIDTH, RED, SETTINGS, THRESHOLD

STATIC = Path(__file__).parents[1] / "_static"
REPEATS = 20
DETECTORS = {
    "PAM-TOCC,\nas published": PAMTOCC(),
    "TOCC,\nas published": TOCC(),
    "one-class SVM,\nnu = 0.1": OneClassSVM(nu=0.1),
    "isolation forest,\ncontamination = 0.1": IsolationForest(contamination=0.1, random_state=0),
    "isolation forest\nin CalibratedOCC": CalibratedOCC(IsolationForest(random_state=0), sensitivity=0.9),
    "NeighborTOCC": NeighborTOCC(sensitivity=0.9),
}


def false_alarms() -> dict[str, list[float]]:
    """Measure the share of new target samples that each detector rejects, for 100 training samples."""
    shares: dict[str, list[float]] = {name: [] for name in DETECTORS}
    for repeat in range(REPEATS):
        train, _ = make_scenario("e", 100, random_state=repeat)
        new, _ = make_scenario("e", 1000, random_state=1000 + repeat)
        for name, detector in DETECTORS.items():
            shares[name].append(float(np.mean(detector.fit(train).predict(new) == -1)))
    return shares


def draw() -> plt.Figure:
    """Draw one dot per training sample and a bar at the mean."""
    fig, ax = plt.subplots(figsize=(PHONE_WIDTH, 4))
    for place, (name, values) in enumerate(reversed(false_alarms().items())):
        colour = DARK if name.endswith("TOCC") or "Calibrated" in name else GREY
        ax.plot(values, np.full(len(values), place), "o", ms=6, color=colour, alpha=0.35, mew=0)
        ax.plot([np.mean(values)], [place], "|", color=colour, ms=22, mew=3)
    ax.axvline(0.1, **THRESHOLD)
    ax.annotate("nominal 10%", (0.1, len(DETECTORS) - 0.45), ha="center", color=RED, annotation_clip=False)
    ax.set_yticks(range(len(DETECTORS)), list(reversed(DETECTORS)))
    ax.set(xlabel="share of new target samples rejected", xlim=(0, None), ylim=(-0.6, len(DETECTORS) - 0.5))
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_formatter("{x:.0%}")
    return fig


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with plt.rc_context(SETTINGS):
        draw().savefig(STATIC / "calibration.png")
