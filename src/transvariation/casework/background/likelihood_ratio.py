"""Compute likelihood ratios of same source against different sources, given a background.

The model has three levels: sources differ (kernel density of their means), fragments of a source differ (normal), and
replicates of a fragment differ (normal); it extends the two-level model of Aitken and Lucy (2004). Pairs of background
sources that the model has not seen, compared in the case's own design, calibrate its values (logistic regression) and
bound them (Vergeer et al., 2016).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from transvariation.casework.background.pairs import Design, Pairs, Source, different_source_pairs, same_source_pairs

Floats = NDArray[np.float64]

SYSTEM = "three_level"
MIN_SOURCES = 30  # fewer sources do not show how sources differ
N_FOLDS = 5
N_DIFFERENT = 4_000  # pairs of different sources
LARGEST = 20.0  # larger raw log10 ratios are extrapolation; their size must not steer the calibration
BANDWIDTHS = np.geomspace(0.1, 1.0, 8)
PRIOR_ODDS = np.linspace(-2.5, 2.5, 41)  # log10, of the ECE plot
DRAWN = 300  # quantiles kept of each Tippett curve


@dataclass(frozen=True)
class Performance:
    """Performance of a likelihood-ratio system on unseen background sources.

    Attributes
    ----------
    cllr : float
        Log-likelihood-ratio cost: 0 for a perfect system, 1 for one without information.
    cllr_min : float
        The same after the best monotone recalibration; the rest of `cllr` is lack of calibration.
    n_same, n_different : int
        Numbers of pairs.
    same_below_one, different_above_one : float
        Shares of misleading ratios.
    bounds : tuple of float
        The lowest and the highest log10 ratio that the pairs support.
    tippett_same, tippett_different : tuple of float
        Quantiles of the log10 ratios of either kind of pairs.
    ece : mapping
        ``log10_prior_odds`` and the empirical cross-entropy of the ``system``, of it after the best monotone
        recalibration (``recalibrated``), and of a system without information (``reference``).
    """

    cllr: float
    cllr_min: float
    n_same: int
    n_different: int
    same_below_one: float
    different_above_one: float
    bounds: tuple[float, float]
    tippett_same: tuple[float, ...]
    tippett_different: tuple[float, ...]
    ece: dict[str, tuple[float, ...]]


class ThreeLevelModel:
    """Normal replicates within fragments, normal fragments within sources, a kernel density of sources."""

    def fit(self, background: Sequence[Source]) -> "ThreeLevelModel":
        """Estimate the three covariances and the bandwidth from a background."""
        means = [np.array([x.mean(axis=0) for x in source]) for source in background]
        fragment = _shrunk(_residuals(means), sum(len(m) - 1 for m in means))
        fragments = [x for source in background for x in source]
        freedom = sum(len(x) - 1 for x in fragments)
        share = float(np.mean([1 / len(x) for x in fragments]))
        if freedom:
            self.replicate_ = _shrunk(_residuals(fragments), freedom)
            self.fragment_ = _without_negative(fragment - share * self.replicate_, fragment)
        else:
            self.replicate_, self.fragment_ = np.zeros_like(fragment), fragment
        self.sources_ = np.array([m.mean(axis=0) for m in means])
        between = _shrunk(self.sources_ - self.sources_.mean(axis=0), len(self.sources_) - 1)
        self.kernel_ = _bandwidth(self.sources_, between) ** 2 * between
        return self

    def log10_lr(self, pairs: Pairs, design: Design) -> Floats:
        """Compute raw log10 likelihood ratios of pairs."""
        ratios = np.empty(len(pairs.same))
        sizes = np.column_stack([pairs.n_known, pairs.n_questioned])
        for known, questioned in np.unique(sizes, axis=0):
            at = (sizes == (known, questioned)).all(axis=1)
            one = (self.fragment_ + self.replicate_ / design.known_replicates) / known
            two = (self.fragment_ + self.replicate_ / design.questioned_replicates) / questioned
            ratios[at] = self._log10_lr(pairs.known[at], pairs.questioned[at], one, two)
        return ratios

    def _log10_lr(self, a: Floats, b: Floats, one: Floats, two: Floats) -> Floats:
        precision_one, precision_two = np.linalg.inv(one), np.linalg.inv(two)
        joint = np.linalg.inv(precision_one + precision_two)
        middle = (a @ precision_one + b @ precision_two) @ joint
        same = _log_density(a - b, np.zeros((1, a.shape[1])), one + two)
        same += _log_density(middle, self.sources_, joint + self.kernel_)
        different = _log_density(a, self.sources_, one + self.kernel_)
        different += _log_density(b, self.sources_, two + self.kernel_)
        return (same - different) / np.log(10)


def _residuals(sets: Sequence[Floats]) -> Floats:
    return np.concatenate([x - x.mean(axis=0) for x in sets])


def _shrunk(residuals: Floats, freedom: int) -> Floats:
    """Compute the Ledoit-Wolf covariance in units of each variable, with the given degrees of freedom."""
    scale = np.sqrt((residuals**2).mean(axis=0))
    scale = np.where(scale > 0, scale, 1.0)
    shrinkage = float(ledoit_wolf_shrinkage(residuals / scale, assume_centered=True))
    covariance = residuals.T @ residuals / freedom / np.outer(scale, scale)
    target = np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    mixed = (1 - shrinkage) * covariance + shrinkage * target
    return np.asarray((mixed + 1e-10 * target) * np.outer(scale, scale))


def _without_negative(estimate: Floats, whole: Floats) -> Floats:
    """Set negative variances of a difference of covariances to zero, in the coordinates that whiten the whole."""
    root = np.linalg.cholesky(whole)
    inverse = np.linalg.inv(root)
    values, axes = np.linalg.eigh(inverse @ estimate @ inverse.T)
    return np.asarray(root @ (axes * np.maximum(values, 0.0)) @ axes.T @ root.T)


def _bandwidth(sources: Floats, between: Floats) -> float:
    """Choose the bandwidth of the kernel density that predicts each source mean best from the others."""
    white = np.linalg.solve(np.linalg.cholesky(between), sources.T).T
    squares = ((white[:, None] - white) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    p = sources.shape[1]
    fits = [float((logsumexp(-squares / 2 / h**2, axis=1) - p * np.log(h)).sum()) for h in BANDWIDTHS]
    return float(BANDWIDTHS[int(np.argmax(fits))])


def _log_density(points: Floats, centers: Floats, covariance: Floats) -> Floats:
    """Compute the log of the mean of normal densities at the centres, all with one covariance."""
    root = np.linalg.cholesky(covariance)
    a, b = (np.linalg.solve(root, x.T).T for x in (points, centers))
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T
    constant = np.log(len(centers)) + np.log(np.diag(root)).sum() + len(covariance) / 2 * np.log(2 * np.pi)
    return np.asarray(logsumexp(-np.maximum(squares, 0.0) / 2, axis=1) - constant)


class LikelihoodSystem:
    """The three-level model of a background, calibrated and bounded for any design of comparison.

    Parameters
    ----------
    seed : int
        For the folds and the pairs.
    model : callable
        Makes an object with ``fit(background)`` and ``log10_lr(pairs, design)``.
    """

    def __init__(self, seed: int = 0, model: Any = ThreeLevelModel):
        self.seed = seed
        self.model = model

    def fit(self, background: Sequence[Source]) -> "LikelihoodSystem":
        """Fit the model to all sources, and to all but a fold of them in turn."""
        usable = [source for source in background if len(source) > 1]
        if len(usable) < MIN_SOURCES:
            raise ValueError(
                f"the background has {len(usable)} sources with two or more fragments; a likelihood ratio needs at "
                f"least {MIN_SOURCES}"
            )
        fold = np.random.default_rng(self.seed).permutation(len(usable)) % N_FOLDS
        self.folds_ = [
            (
                self.model().fit([s for s, f in zip(usable, fold, strict=True) if f != left_out]),
                [s for s, f in zip(usable, fold, strict=True) if f == left_out],
            )
            for left_out in range(N_FOLDS)
        ]
        self.model_ = self.model().fit(usable)
        return self

    def calibrate(self, design: Design) -> "CalibratedRatio":
        """Calibrate and bound the model by pairs of unseen sources in a design."""
        rng = np.random.default_rng(self.seed)
        raw, same, number = [], [], []
        for left_out, (model, unseen) in enumerate(self.folds_):
            own = same_source_pairs(unseen, design, rng)
            for pairs in (own, different_source_pairs(own, N_DIFFERENT // N_FOLDS, rng)):
                raw.append(model.log10_lr(pairs, design))
                same.append(pairs.same)
                number.append(np.full(len(pairs.same), left_out))
        values, labels, folds = (np.concatenate(x) for x in (raw, same, number))
        ratios = np.empty(len(values))
        for left_out in range(N_FOLDS):
            at = folds == left_out
            ratios[at] = _calibrated(values[~at], labels[~at])(values[at])
        bounds = _bounds(ratios, labels)
        measured = performance(np.clip(ratios, *bounds), labels, bounds)
        return CalibratedRatio(self.model_, design, _calibrated(values, labels), measured)


@dataclass(frozen=True)
class CalibratedRatio:
    """A likelihood ratio for one design of comparison."""

    model: Any
    design: Design
    calibrate: Any
    performance: Performance

    def log10_lr(self, pairs: Pairs) -> Floats:
        """Compute calibrated log10 likelihood ratios, within the bounds."""
        return np.clip(self.calibrate(self.model.log10_lr(pairs, self.design)), *self.performance.bounds)


def _calibrated(raw: Floats, same: NDArray[np.bool_]) -> Any:
    """Fit a logistic regression of same source on raw ratios, at even prior odds; return it as a function."""

    def column(values: Floats) -> Floats:
        return np.clip(values, -LARGEST, LARGEST)[:, None]

    regression = LogisticRegression(class_weight="balanced", C=1e4).fit(column(raw), same)
    return lambda values: regression.decision_function(column(values)) / np.log(10)


def _bounds(log10_lr: Floats, same: NDArray[np.bool_]) -> tuple[float, float]:
    """Compute the empirical lower and upper bound of log10 likelihood ratios (Vergeer et al., 2016)."""
    try:
        from lir.algorithms.bayeserror import elub
    except ImportError as error:
        raise ImportError("likelihood ratios need lir: pip install 'transvariation[lr]'") from error
    given: tuple[Any, ...] = log10_lr.copy(), same.astype(int)
    if "llrdata" in signature(elub).parameters:  # the releases of lir for Python 3.12 and later
        from lir.data.models import LLRData

        given = (LLRData(features=given[0][:, None], hypothesis=given[1]),)
    low, high = elub(*given)
    return float(low), float(high)


def cllr(log10_lr: Floats, same: NDArray[np.bool_]) -> float:
    """Compute the log-likelihood-ratio cost (Brümmer and du Preez, 2006)."""
    natural = np.asarray(log10_lr) * np.log(10)
    costs = np.logaddexp(0, -natural[same]).mean() + np.logaddexp(0, natural[~same]).mean()
    return float(costs / 2 / np.log(2))


def recalibrated(log10_lr: Floats, same: NDArray[np.bool_]) -> Floats:
    """Recalibrate log10 ratios by the best monotone function of them (pool adjacent violators)."""
    weights = np.where(same, 0.5 / same.sum(), 0.5 / (~same).sum())
    isotonic = IsotonicRegression(y_min=0, y_max=1).fit(log10_lr, same.astype(float), sample_weight=weights)
    share = np.clip(isotonic.predict(log10_lr), 1e-12, 1 - 1e-12)
    return np.log10(share / (1 - share))


def cross_entropy(log10_lr: Floats, same: NDArray[np.bool_]) -> tuple[float, ...]:
    """Compute the empirical cross-entropy at each of `PRIOR_ODDS` (Ramos and Gonzalez-Rodriguez, 2013)."""
    odds = PRIOR_ODDS[:, None] * np.log(10)
    natural = np.asarray(log10_lr) * np.log(10)
    prior = 1 / (1 + np.exp(-odds[:, 0]))
    of_same = np.logaddexp(0, -natural[same] - odds).mean(axis=1)
    of_different = np.logaddexp(0, natural[~same] + odds).mean(axis=1)
    return tuple(map(float, (prior * of_same + (1 - prior) * of_different) / np.log(2)))


def performance(log10_lr: Floats, same: NDArray[np.bool_], bounds: tuple[float, float]) -> Performance:
    """Measure log10 likelihood ratios of pairs of known origin."""
    best = recalibrated(log10_lr, same)
    shares = np.linspace(0, 1, DRAWN)
    curves = [tuple(map(float, np.quantile(log10_lr[at], shares))) for at in (same, ~same)]
    return Performance(
        cllr=cllr(log10_lr, same),
        cllr_min=cllr(best, same),
        n_same=int(same.sum()),
        n_different=int((~same).sum()),
        same_below_one=float((log10_lr[same] < 0).mean()),
        different_above_one=float((log10_lr[~same] > 0).mean()),
        bounds=bounds,
        tippett_same=curves[0],
        tippett_different=curves[1],
        ece={
            "log10_prior_odds": tuple(map(float, PRIOR_ODDS)),
            "system": cross_entropy(log10_lr, same),
            "recalibrated": cross_entropy(best, same),
            "reference": cross_entropy(np.zeros(len(same)), same),
        },
    )
