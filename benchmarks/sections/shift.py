"""Another population or instrument: false rejections and power with weights and with recalibration."""

import warnings
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import DATA
from benchmarks.table import Table
from transvariation import ConformalCalibration, NeighborTOCC, density_ratio
from transvariation.casework.background.pairs import Design
from transvariation.casework.background.same_source import SameSourceDifferences
from transvariation.exceptions import OrderedScores, SmallOverlap

Floats = NDArray[np.float64]
NFI = DATA / "nfi_glass"
LEVEL = 0.10
N_RUNS = 15
PANES_DRAWN = 4  # times per run


def _rates(p_new: Floats, p_foreign: Floats) -> tuple[float, float]:
    return float(np.mean(p_new <= LEVEL + 1e-9)), float(np.mean(p_foreign <= LEVEL + 1e-9))


def _rows(data: str, found: dict[str, list[tuple[float, float]]]) -> Iterator[dict[str, Any]]:
    for words, rates in found.items():
        (false, power), error = np.mean(rates, axis=0), np.std(rates, axis=0)[0] / np.sqrt(len(rates))
        yield {"data": data, "remedy": words, "false alarms": false, "standard error": error, "found": power}


def population(shift: float, runs: int) -> Iterator[dict[str, Any]]:
    """Targets occur elsewhere more often: the mean of the first of three features moves."""
    found: dict[str, list[tuple[float, float]]] = {}
    sizes = []
    for seed in range(runs):
        rng = np.random.default_rng([seed, 1])
        known, new = rng.normal(size=(500, 3)), rng.normal([shift, 0, 0], 1, size=(300, 3))
        foreign = new + [0, 3, 0]
        classifier = NeighborTOCC().fit(known)
        both = np.concatenate([new, foreign])
        exact = [norm.pdf(x[:, 0], shift) / norm.pdf(x[:, 0]) for x in (known, both)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SmallOverlap)
            ratio = density_ratio(known, new)
        sizes.append(ratio.effective_sample_size)
        # The foreign samples lie where the new ones do in the feature that moves.
        estimated = (ratio.known, np.tile(ratio.new, 2))
        for words, weights in (("none", None), ("known ratio", exact), ("estimated ratio", estimated)):
            p = classifier.p_values(both, weights=weights)
            found.setdefault(words, []).append(_rates(p[:300], p[300:]))
    for row in _rows(f"population, mean + {shift:g}", found):
        yield row | {"effective sample size": float(np.mean(sizes)) if row["remedy"] != "none" else None}


def instrument(n_new: int, runs: int) -> Iterator[dict[str, Any]]:
    """Another instrument adds an offset to every feature."""
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(runs):
        rng = np.random.default_rng([seed, 2])
        mix = np.linalg.qr(rng.normal(size=(5, 5)))[0] * [3, 1, 1, 0.5, 0.3]
        known = rng.normal(size=(200, 5)) @ mix.T
        new = rng.normal(size=(n_new + 300, 5)) @ mix.T + rng.normal(0, 1.5, size=5)
        foreign = new[n_new:] + 3 * mix[:, 3]
        for words, options in (("none", None), ("recalibrate", {}), ("recalibrate, align mean", {"align": "mean"})):
            classifier = NeighborTOCC().fit(known)
            if options is not None:
                classifier.recalibrate(new[:n_new], **options)
            rates = _rates(classifier.p_values(new[n_new:]), classifier.p_values(foreign))
            found.setdefault(words, []).append(rates)
    yield from _rows(f"instrument, {n_new} samples", found)


def nfi(n_new: int, runs: int) -> Iterator[dict[str, Any]]:
    """Three pieces of a pane against one measured in a later series; the NFI's training panes calibrate.

    Targets are differences between pieces of one pane, scaled by the numbers of pieces. The remedies use `n_new` of the
    320 validation panes; the others are judged, and compared with pieces of other panes. The last two rows are for the
    comparison that casework uses, which calibrates the same differences by another score.
    """
    panes = {
        name: [rows.iloc[:, 3:].to_numpy() for _, rows in pd.read_csv(NFI / f"{name}.csv").groupby("Item", sort=False)]
        for name in ("training", "triplo", "duplo")
    }
    casework = SameSourceDifferences(Design(3)).fit([list(pane[:, None]) for pane in panes["training"]])
    stable = casework.stabilizer_.transform

    def difference(one: Floats, other: Floats) -> Floats:
        return (stable(one).mean(axis=0) - stable(other).mean(axis=0)) / np.sqrt(1 / len(one) + 1 / len(other))

    known = np.array([difference(pane[1:], pane[:1]) for pane in panes["training"]])
    new = np.array([difference(one, other[:1]) for one, other in zip(panes["triplo"], panes["duplo"], strict=True)])
    other = np.roll(np.arange(len(new)), 1)
    foreign = np.array([difference(one, panes["duplo"][i][:1]) for one, i in zip(panes["triplo"], other, strict=True)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrderedScores)  # the panes were measured one after another
        fitted = NeighborTOCC().fit(known)
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(PANES_DRAWN * runs):
        order = np.random.default_rng([seed, 3]).permutation(len(new))
        drawn, rest = new[order[:n_new]], new[order[n_new:]]
        odds = make_pipeline(StandardScaler(), LogisticRegression())
        odds.fit(np.concatenate([known, drawn]), np.repeat([0, 1], [len(known), n_new]))

        def weighted(x: Floats, odds: Any = odds) -> Floats:
            weights = [np.exp(odds.decision_function(each).clip(-30, 30)) for each in (known, x)]
            return fitted.p_values(x, weights=weights)

        own = ConformalCalibration(casework.score(drawn))
        remedies = {
            "none": fitted.p_values,
            "recalibrate": deepcopy(fitted).recalibrate(drawn).p_values,
            "recalibrate, align mean": deepcopy(fitted).recalibrate(drawn, align="mean").p_values,
            "estimated ratio": weighted,
            "casework, none": casework.p_values,
            "casework, recalibrate": lambda x, own=own: own.p_values(casework.score(x)),
        }
        for words, p_values in remedies.items():
            found.setdefault(words, []).append(_rates(p_values(rest), p_values(foreign)))
    yield from _rows(f"NFI, later series, {n_new} panes", found)


def run(short: bool) -> Iterator[Table]:
    runs = 2 if short else N_RUNS
    rows = [*population(0.5, runs), *population(1.0, runs), *population(2.0, runs)]
    rows += [*instrument(10, runs), *instrument(20, runs)]
    if NFI.is_dir():
        rows += [*nfi(20, runs), *nfi(40, runs)]
    note = (
        f"Shares of new targets and of foreign samples with a p-value of at most {LEVEL:.2f}, and the standard error "
        "of the former over runs. Foreign: moved by three standard deviations in a feature (population) or along the "
        "fourth component (instrument); other panes (NFI)."
    )
    yield Table("shift", "Another population or instrument, NeighborTOCC", rows, note)
