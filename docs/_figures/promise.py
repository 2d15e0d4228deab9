"""Draw the figures of the how-to guides on calibration: `python docs/_figures/promise.py`."""

import warnings
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")
import numpy as np
from scipy.signal import lfilter

from transvariation import NeighborTOCC, density_ratio, load_glass
from transvariation.displays import CalibrationDisplay, DriftDisplay, ExchangeabilityDisplay, PValueDisplay
from transvariation.displays.axes import Display, legend
from transvariation.exceptions import OrderedScores
from transvariation.report.figure_style import DARK, GRAY, THRESHOLD

STATIC = Path(__file__).parents[1] / "_static"


def series(rng: np.random.Generator, n: int) -> Any:
    """Draw the autocorrelated series of the page on time."""
    return lfilter([1], [1, -0.9], rng.normal(size=(n, 3)), axis=0)


class ShiftDisplay(Display):
    """The share of new targets rejected as their mean moves, with and without weights."""

    def _draw(self, ax: Any) -> None:
        rng, shifts = np.random.default_rng(0), np.linspace(0, 2, 9)
        known = rng.normal(size=(600, 2))
        classifier, rates = NeighborTOCC().fit(known), []
        for each in shifts:
            new = rng.normal([each, 0], 1, size=(1_000, 2))
            ratio = density_ratio(known, new)
            rates.append([np.mean(classifier.p_values(new, weights=w) <= 0.1) for w in (None, ratio)])
        for values, color, marker, label in zip(
            np.transpose(rates), (GRAY, DARK), "so", ("as calibrated", "estimated weights"), strict=True
        ):
            ax.plot(shifts, values, color=color, marker=marker, label=label)
        ax.axhline(0.1, label="nominal", **THRESHOLD)
        ax.set(xlabel="shift of the mean (standard deviations)", ylabel="new targets rejected", ylim=(0, None))
        legend(ax)


def main() -> None:
    rng = np.random.default_rng(0)
    known = NeighborTOCC(sensitivity=0.9).fit(load_glass().control)
    figures = {"certificate": CalibrationDisplay.from_estimator(known).figure_}
    classifier = NeighborTOCC().fit(rng.normal(size=(400, 3)))
    batch = np.concatenate([rng.normal(size=(200, 3)), rng.normal(4, 1, size=(50, 3))])
    figures["discoveries"] = PValueDisplay.from_estimator(classifier, batch).figure_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrderedScores)
        rows = series(np.random.default_rng(0), 4_000)
        rows[3_000:, 0] += 4
        blocks = NeighborTOCC(calibration="blocks").fit(rows[:2_000])
        options = {"times": np.arange(2_000, 4_000), "false_alarm": 1e-5}
        figures["drift_blocks"] = DriftDisplay.from_estimator(blocks, rows[2_000:], **options).figure_
    drifting = load_glass().control.sample(frac=1, random_state=0)
    drifting["Mg"] += np.linspace(0, 0.3, len(drifting))
    figures["exchangeability"] = ExchangeabilityDisplay.from_predictions(drifting).figure_
    figures["shift"] = ShiftDisplay().plot().figure_
    for name, figure in figures.items():
        figure.savefig(STATIC / f"{name}.png", dpi=150)


if __name__ == "__main__":
    main()
