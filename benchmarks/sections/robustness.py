"""NeighborTOCC with categories, bad samples, missing values and many features: error rate and power."""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmarks.table import Table
from transvariation import CalibratedOCC, NeighborTOCC

Floats = NDArray[np.float64]
Samples = tuple[Floats, Floats, Floats]  # known ones, new ones of the class, foreign ones
Draw = Callable[[np.random.Generator], Samples]

SEED = 20_261_120
N_FITS, N_NEW = 50, 500
N_FEATURES, N_NUMERIC = 8, 3
NOISE = 0.5  # standard deviation of what a feature does not share with others
TRIMMED = "trim=0.1"


def dependent(rng: np.random.Generator, n: int, p: int = N_FEATURES, factors: int = 1) -> Floats:
    """Draw features that share one factor, or depend on two in p different directions."""
    angles = np.pi * np.arange(p) / p * (factors - 1)
    return rng.normal(size=(n, 2)) @ [np.cos(angles), np.sin(angles)] + NOISE * rng.normal(size=(n, p))


def binned(X: Floats, categories: int) -> Floats:
    """Replace all but the first features by equally frequent categories, which have no order."""
    edges = norm.ppf(np.arange(1, categories) / categories, scale=np.hypot(1, NOISE))
    return np.c_[X[:, :N_NUMERIC], np.searchsorted(edges, X[:, N_NUMERIC:])]


def with_categories(rng: np.random.Generator, categories: int) -> Samples:
    known, new, other = (binned(dependent(rng, n, factors=2), categories) for n in (300, N_NEW, N_NEW))
    return known, new, rng.permuted(other, axis=0)


def with_bad_samples(rng: np.random.Generator, kind: str, share: float, heavy_tails: bool = False) -> Samples:
    """Replace a share of 500 known samples by foreign ones: scattered around the class, or in one tight cluster."""

    def typical(n: int) -> Floats:
        return rng.standard_t(2, size=(n, N_FEATURES)) if heavy_tails else dependent(rng, n)

    def bad(n: int) -> Floats:
        if kind == "scattered":
            return 3 * rng.normal(size=(n, N_FEATURES))
        return np.tile([3.0, -3.0], N_FEATURES // 2) + 0.1 * rng.normal(size=(n, N_FEATURES))

    n_bad = round(share * 500)
    return np.vstack([bad(n_bad), typical(500 - n_bad)]), typical(N_NEW), bad(N_NEW)


def with_gaps(rng: np.random.Generator, share: float, by_block: bool = False, only_new: bool = False) -> Samples:
    """Remove a share of the values, or half of the features in a share of the samples."""
    known, new, other = (dependent(rng, n) for n in (300, N_NEW, N_NEW))
    foreign = rng.permuted(other, axis=0)
    for X in (new, foreign) if only_new else (known, new, foreign):
        if by_block:
            X[rng.random(len(X)) < share, N_FEATURES // 2 :] = np.nan
        else:
            X[rng.random(X.shape) < share] = np.nan
    return known, new, foreign


def wide(rng: np.random.Generator, n: int, p: int) -> Samples:
    """Draw features that are correlated by .5 each."""
    known, new, other = ((rng.normal(size=(m, p)) + rng.normal(size=(m, 1))) / np.sqrt(2) for m in (n, N_NEW, N_NEW))
    return known, new, rng.permuted(other, axis=0)


def p_values(model: Any, X: Floats) -> Floats:
    return model[-1].p_values(model[:-1].transform(X)) if isinstance(model, Pipeline) else model.p_values(X)


def compare(draw: Draw, models: dict[str, Any], fits: int, nominal: float) -> dict[str, Any]:
    """Mean share of new samples (error rate) and of foreign ones (power) rejected, and the largest standard error."""
    rng, found, left_out = np.random.default_rng(SEED), [], []
    for _ in range(fits):
        known, new, foreign = draw(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of categories that are unknown in a fold
            fitted = {name: clone(model).fit(known) for name, model in models.items()}
        found.append([[np.mean(p_values(m, X) <= nominal + 1e-9) for X in (new, foreign)] for m in fitted.values()])
        left_out += [len(fitted[TRIMMED].suspicious_)] if TRIMMED in fitted else []
    row: dict[str, Any] = {}
    for name, (error_rate, power) in zip(models, np.mean(found, axis=0), strict=True):
        row |= {f"error rate, {name}": round(float(error_rate), 4), f"power, {name}": round(float(power), 4)}
    row |= {"left out": float(np.mean(left_out))} if left_out else {}
    error = np.std(found, axis=0, ddof=1).max() / np.sqrt(fits)
    return row | {"standard error, at most": round(float(error), 4)}


def categories(fits: int) -> Table:
    columns = list(range(N_NUMERIC, N_FEATURES))
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    one_hot = make_pipeline(make_column_transformer((encoder, columns), remainder="passthrough"), NeighborTOCC())
    models = {
        "as categories": NeighborTOCC(categorical_features=columns),
        "one-hot": one_hot,
        "one-hot in CalibratedOCC": CalibratedOCC(one_hot),
    }
    rows = [
        {"categories": n} | compare(partial(with_categories, categories=n), models, fits, 0.1)
        for n in ((5,) if fits < N_FITS else (5, 30))
    ]
    note = f"300 samples, nominal error rate .10, {fits} fits; foreign samples lack the dependence of the features."
    return Table("robustness_categories", "Categories, and one-hot indicators of them", rows, note)


def bad_samples(fits: int) -> Table:
    models = {"default": NeighborTOCC(), TRIMMED: NeighborTOCC(trim=0.1)}
    cases = {
        f"{share:.0%}, {kind}": {"kind": kind, "share": share}
        for kind in ("scattered", "one cluster")
        for share in (0, 0.01, 0.05, 0.1)
    }
    cases["0%, heavy tails"] = {"kind": "scattered", "share": 0, "heavy_tails": True}
    rows = [
        {"bad samples": name} | compare(partial(with_bad_samples, **case), models, fits, 0.05)
        for name, case in cases.items()
    ]
    note = f"500 samples, nominal error rate .05, {fits} fits; power: new samples like the bad ones."
    return Table("robustness_bad_samples", "Error rate and power with bad samples", rows, note)


def missing(fits: int) -> Table:
    imputed = CalibratedOCC(make_pipeline(SimpleImputer(strategy="median"), NeighborTOCC()))
    cases = {"none": {"share": 0.0}}
    cases |= {f"{share:.0%} of the values": {"share": share} for share in (0.05, 0.2, 0.5)}
    cases |= {f"half of {share:.0%} of the samples": {"share": share, "by_block": True} for share in (0.05, 0.2, 0.5)}
    cases |= {f"{share:.0%} of new samples' values": {"share": share, "only_new": True} for share in (0.2, 0.5)}
    rows = [
        {"missing": name}
        | compare(partial(with_gaps, **case), {"NeighborTOCC": NeighborTOCC(), "imputed": imputed}, fits, 0.1)
        for name, case in cases.items()
    ]
    note = f"300 samples, nominal error rate .10, {fits} fits; imputed: by the median, in CalibratedOCC."
    return Table("robustness_missing", "Error rate and power with missing values", rows, note)


def many_features(fits: int) -> Table:
    rows = [
        {"n": n, "p": p} | compare(partial(wide, n=n, p=p), {"NeighborTOCC": NeighborTOCC()}, fits, 0.1)
        for n, p in (((30, 50),) if fits < N_FITS else ((100, 500), (500, 500)))
    ]
    note = f"Nominal error rate .10, {fits} fits; features correlated by .5, foreign samples uncorrelated."
    return Table("robustness_wide", "Error rate and power with many features", rows, note)


def run(short: bool) -> Iterator[Table]:
    for table in (categories, bad_samples, missing, many_features):
        yield table(2 if short else N_FITS)
