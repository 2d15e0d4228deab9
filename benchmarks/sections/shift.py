"""Another population or instrument: false rejections and power with weights and with recalibration."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from benchmarks.data import DATA
from benchmarks.table import Table
from transvariation import NeighborTOCC, density_ratio
from transvariation.exceptions import OrderedScores, SmallOverlap

Floats = NDArray[np.float64]
LEVEL = 0.10
N_RUNS = 15


def _rates(p_new: Floats, p_foreign: Floats) -> tuple[float, float]:
    return float(np.mean(p_new <= LEVEL + 1e-9)), float(np.mean(p_foreign <= LEVEL + 1e-9))


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
    for words, rates in found.items():
        false, power = np.mean(rates, axis=0)
        row = {"data": f"population, mean + {shift:g}", "remedy": words, "false alarms": false, "found": power}
        yield row | {"effective sample size": float(np.mean(sizes)) if words != "none" else None}


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
    for words, rates in found.items():
        false, power = np.mean(rates, axis=0)
        yield {"data": f"instrument, {n_new} samples", "remedy": words, "false alarms": false, "found": power}


def nfi(n_new: int, runs: int) -> Iterator[dict[str, Any]]:
    """Differences between pieces of one pane: the NFI's training panes calibrate, its validation panes are judged."""

    def differences(table: pd.DataFrame, rng: np.random.Generator) -> tuple[Floats, Floats]:
        pieces = [rows.iloc[:, 3:].to_numpy() for _, rows in table.groupby("Item") if len(rows) > 1]
        same = np.array([x[0] - x[1] for x in pieces])
        others = rng.permutation(len(pieces))
        return same, np.array([pieces[i][0] - pieces[j][1] for i, j in zip(others, np.roll(others, 1), strict=True)])

    folder, found = DATA / "nfi_glass", {}  # type: ignore[var-annotated]
    training, validation = (pd.read_csv(folder / name) for name in ("training.csv", "triplo.csv"))
    for seed in range(runs):
        rng = np.random.default_rng([seed, 3])
        known, _ = differences(training, rng)
        new, foreign = differences(validation, rng)
        order = rng.permutation(len(new))
        drawn, rest = new[order[:n_new]], new[order[n_new:]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OrderedScores)  # the panes were measured one after another
            classifier = NeighborTOCC().fit(known)
        for words in ("none", "recalibrate"):
            if words != "none":
                classifier.recalibrate(drawn)
            found.setdefault(words, []).append(_rates(classifier.p_values(rest), classifier.p_values(foreign)))
    for words, rates in found.items():
        false, power = np.mean(rates, axis=0)
        yield {"data": f"NFI validation panes, {n_new} of them", "remedy": words, "false alarms": false, "found": power}


def run(short: bool) -> Iterator[Table]:
    runs = 2 if short else N_RUNS
    rows = [*population(0.5, runs), *population(1.0, runs), *population(2.0, runs)]
    rows += [*instrument(10, runs), *instrument(20, runs)]
    if (DATA / "nfi_glass").is_dir():
        rows += [*nfi(20, runs), *nfi(40, runs)]
    note = (
        f"Shares of new targets and of foreign samples with a p-value of at most {LEVEL:.2f}. Foreign: moved by three "
        "standard deviations in a feature (population) or along the fourth component (instrument); other panes (NFI)."
    )
    yield Table("shift", "Another population or instrument, NeighborTOCC", rows, note)
