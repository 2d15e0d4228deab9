"""Thresholds that guarantee a sensitivity, from the same calibration scores as those of nonconform and MAPIE."""

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import norm

from benchmarks.table import Table
from transvariation import ConformalCalibration
from transvariation._typing import Floats

SENSITIVITY, CONFIDENCE = 0.9, 0.95
SIZES = (30, 50, 100, 300, 1_000)
N_RUNS = 1_000
SHIFT = 3.0
Threshold = Callable[[Floats], float]


def ours(scores: Floats) -> float:
    """Choose the threshold as ``set_sensitivity(s, confidence=)`` does."""
    calibration = ConformalCalibration(scores)
    return float(calibration.thresholds(calibration.guaranteed_sensitivity(SENSITIVITY, CONFIDENCE))[0])


def by_band(scores: Floats) -> float:
    """Choose the highest threshold at which the simultaneous band reaches the sensitivity."""
    thresholds, _, lower, _ = ConformalCalibration(scores).sensitivity_band(CONFIDENCE)
    return float(np.max(thresholds[lower >= SENSITIVITY], initial=-np.inf))


def peers() -> dict[str, Threshold]:
    """Return the thresholds of nonconform and MAPIE (both BSD-3-Clause), where they are installed."""
    found: dict[str, Threshold] = {}
    try:
        from nonconform.fdr import FPRCertificate

        def nonconform(scores: Floats) -> float:
            # High scores are anomalous there, and a sample at the threshold is declared.
            limit = FPRCertificate.from_scores(-scores, confidence=CONFIDENCE).threshold_for(1 - SENSITIVITY)
            return float(-limit)

        found["nonconform"] = nonconform
    except ImportError:
        pass
    try:
        from mapie.risk_control import BinaryClassificationController

        def mapie(scores: Floats) -> float:
            # Thresholds of a probability, tested from the lowest on; the calibration samples are all targets.
            grid = norm.cdf(np.sort(scores))
            controller = BinaryClassificationController(
                lambda x: np.column_stack([1 - norm.cdf(x[:, 0]), norm.cdf(x[:, 0])]),
                "recall",
                SENSITIVITY,
                confidence_level=CONFIDENCE,
                list_predict_params=grid,
                fwer_method="fixed_sequence",
            )
            controller.calibrate(scores[:, None], np.ones(len(scores), dtype=int))
            return float(norm.ppf(max(controller.valid_predict_params, default=0.0)))

        found["MAPIE"] = mapie
    except ImportError:
        pass
    return found


def rows(n: int, runs: int) -> Iterator[dict[str, float | str | None]]:
    """Draw normal scores; sensitivity and power of a threshold are then known exactly."""
    rng = np.random.default_rng(n)
    drawn = [rng.normal(size=n) for _ in range(runs)]
    for name, threshold in ({"set_sensitivity": ours, "sensitivity_band": by_band} | peers()).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            at = np.array([threshold(scores) for scores in drawn])
        yield {
            "calibration samples": n,
            "threshold by": name,
            "sensitivity reached": float(np.mean(norm.sf(at) >= SENSITIVITY)),
            "mean sensitivity": float(np.mean(norm.sf(at))),
            "foreign found": float(np.mean(norm.cdf(at, -SHIFT))),
        }


def run(short: bool) -> Iterator[Table]:
    note = (
        f"{N_RUNS:,} calibrations by independent normal scores: the share in which at least {SENSITIVITY:.0%} of new "
        f"targets are accepted, which is to be {CONFIDENCE:.0%} or more; the mean share of targets accepted; and of "
        f"foreign samples found, whose scores are {SHIFT:g} standard deviations lower. A method without a threshold "
        "accepts everything. sensitivity_band and nonconform bound all thresholds at once, nonconform from one side."
    )
    table = [row for n in SIZES[: 2 if short else None] for row in rows(n, 20 if short else N_RUNS)]
    yield Table("certificate_peers", "Thresholds that guarantee a sensitivity, from the same scores", table, note)
