"""Compute likelihood ratios of same source against different sources, given a background.

The model has three levels: sources differ (kernel density of their means), fragments of a source differ, and replicates
of a fragment differ; it extends the two-level model of Aitken and Lucy (2004). Some sources vary more than others, so
the scale of the variation within a source has a distribution, which gives heavy tails. Pairs of background sources that
the model has not seen, compared in the case's own design, calibrate its values (logistic regression) and bound them
(Vergeer et al., 2016).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammaln
from scipy.stats import invgamma
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.utils import gen_batches

from transvariation._typing import Bools, Floats, Indices
from transvariation.casework.background.pairs import (
    N_PAIR_PARTS,
    Design,
    Draw,
    Pairs,
    Source,
    background_rows,
    different_source_pairs,
    draw_pairs,
)
from transvariation.casework.background.rates import Rate, measure_rate

SYSTEM = "three_level"
MIN_SOURCES_FOR_RATIOS = 30  # fewer sources do not show how sources differ
N_FOLDS = 20  # of sources: the pairs of a fold are compared by the within-source variation of the others
LARGEST = 20.0  # larger raw log10 ratios are extrapolation; their size must not steer the calibration
BANDWIDTHS = np.geomspace(0.1, 1.0, 8)
KERNEL_FREEDOM = (5.0, 10.0, 30.0)  # degrees of freedom of the kernels to choose from
WITHIN_FREEDOM = (3.0, 4.0, 5.0, 7.0, 10.0, 20.0)  # the same of the variation within sources
SCALES = 2.0 ** np.arange(-2, 7)  # of the variance within a source, on which its distribution is summed
BLOCK = 100_000  # densities computed at a time, which fit into a cache
STEP = 0.01  # of the bounds
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
    same_below_one, different_above_one : Rate
        Shares of misleading ratios.
    bounds : tuple of float
        The lowest and the highest log10 ratio that the pairs support.
    bound_errors : tuple of float
        Their Monte Carlo errors.
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
    same_below_one: Rate
    different_above_one: Rate
    bounds: tuple[float, float]
    tippett_same: tuple[float, ...]
    tippett_different: tuple[float, ...]
    ece: dict[str, tuple[float, ...]]
    bound_errors: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Levels:
    """Variation within sources.

    Attributes
    ----------
    fragment, replicate : ndarray of shape (p, p)
        Covariances of fragments of a source and of replicates of a fragment.
    freedom : float
        Degrees of freedom of the t-distribution of fragment means; infinity for a normal one.
    """

    fragment: Floats
    replicate: Floats
    freedom: float = np.inf

    def scales(self) -> list[tuple[float, float]]:
        """List scales of the variance of a source, with the logarithm of their probability."""
        if np.isinf(self.freedom):
            return [(1.0, 0.0)]
        weights = SCALES * invgamma.pdf(SCALES, self.freedom / 2, scale=self.freedom / 2 - 1)
        return [(float(u), float(np.log(w))) for u, w in zip(SCALES, weights / weights.sum(), strict=True) if w > 1e-9]


class ThreeLevelModel:
    """Replicates within fragments, fragments within sources, a kernel density of sources.

    The covariances within sources are multiplied by a scale that differs from source to source, with an inverse gamma
    distribution, so that fragment means have t-distributions. The kernels are t-distributions, too.
    """

    def fit(self, background: Sequence[Source]) -> "ThreeLevelModel":
        """Estimate the levels from a background: one list of fragments per source."""
        self.levels_ = within_levels(background)
        self.sources_ = np.array([np.mean([x.mean(axis=0) for x in source], axis=0) for source in background])
        between = shrunk_covariance(self.sources_ - self.sources_.mean(axis=0), len(self.sources_) - 1)
        bandwidth, self.kernel_freedom_ = _choose_kernel(self.sources_, between)
        self.kernel_ = bandwidth**2 * between
        return self

    def log10_lr(self, pairs: Pairs, design: Design, levels: Levels | None = None) -> Floats:
        """Compute raw log10 likelihood ratios of pairs.

        Parameters
        ----------
        pairs : Pairs
        design : Design
        levels : Levels, optional
            For pairs of sources that the model itself was fitted to: the variation within the other sources. The
            sources of each pair are then left out of the density of sources.
        """
        ratios = np.empty(len(pairs.source))
        sizes = np.column_stack([pairs.n_known, pairs.n_questioned])
        without = np.column_stack([pairs.source, pairs.other]) if levels is not None else np.full(sizes.shape, -1)
        within = self.levels_ if levels is None else levels
        for known, questioned in np.unique(sizes, axis=0):
            at = np.flatnonzero((sizes == (known, questioned)).all(axis=1))
            one = (within.fragment + within.replicate / design.known_replicates) / known
            two = (within.fragment + within.replicate / design.questioned_replicates) / questioned
            ratios[at] = self._log10_lr(pairs.known[at], pairs.questioned[at], one, two, within, without[at])
        return ratios

    def _log10_lr(self, a: Floats, b: Floats, one: Floats, two: Floats, within: Levels, without: Indices) -> Floats:
        precision_one, precision_two = np.linalg.inv(one), np.linalg.inv(two)
        joint = np.linalg.inv(precision_one + precision_two)
        middle = (a @ precision_one + b @ precision_two) @ joint
        same, of_a, of_b = ([], [], [])
        for scale, log_weight in within.scales():
            apart = _log_density(a - b, np.zeros((1, a.shape[1])), scale * (one + two))
            same.append(log_weight + apart + self._log_density(middle, scale * joint, without))
            of_a.append(log_weight + self._log_density(a, scale * one, without))
            of_b.append(log_weight + self._log_density(b, scale * two, without))
        logs = [np.logaddexp.reduce(x, axis=0) for x in (same, of_a, of_b)]
        return np.asarray((logs[0] - logs[1] - logs[2]) / np.log(10))

    def _log_density(self, points: Floats, covariance: Floats, without: Indices) -> Floats:
        """Compute the log density of sources that are measured with an error of the given covariance."""
        return _log_density(points, self.sources_, self.kernel_ + covariance, self.kernel_freedom_, without)


def within_levels(background: Sequence[Source]) -> Levels:
    """Estimate how much fragments of a source, and replicates of a fragment, vary."""
    means = [np.array([x.mean(axis=0) for x in source]) for source in background if len(source) > 1]
    residuals = np.concatenate([(m - m.mean(axis=0)) * np.sqrt(len(m) / (len(m) - 1)) for m in means])
    whole = shrunk_covariance(_residuals(means), sum(len(m) - 1 for m in means))
    freedom = _choose_freedom(residuals, whole)
    fragments = [x for source in background for x in source]
    degrees = sum(len(x) - 1 for x in fragments)
    if not degrees:
        return Levels(whole, np.zeros_like(whole), freedom)
    replicate = shrunk_covariance(_residuals(fragments), degrees)
    share = float(np.mean([1 / len(x) for x in fragments]))
    return Levels(_without_negative(whole - share * replicate, whole), replicate, freedom)


def _residuals(sets: Sequence[Floats]) -> Floats:
    return np.concatenate([x - x.mean(axis=0) for x in sets])


def shrunk_covariance(residuals: Floats, freedom: int) -> Floats:
    """Compute a covariance with the given degrees of freedom, shrunk in units of each variable.

    The shrinkage is that of Chen, Wiesel, Eldar and Hero (2010) for normal data. Ledoit and Wolf's takes heavy tails
    for noise and shrinks more, which makes ratios of many elements worse.
    """
    scale = np.sqrt((residuals**2).mean(axis=0))
    scale = np.where(scale > 0, scale, 1.0)
    covariance = residuals.T @ residuals / freedom / np.outer(scale, scale)
    p = len(covariance)
    mean, square = np.trace(covariance) / p, float((covariance**2).mean())
    spread = (freedom + 1) * (square - mean**2 / p)
    shrinkage = min(1.0, (square + mean**2) / spread) if spread > 0 else 1.0
    mixed = (1 - shrinkage) * covariance + (shrinkage + 1e-10) * mean * np.eye(p)
    return np.asarray(mixed * np.outer(scale, scale))


def _without_negative(estimate: Floats, whole: Floats) -> Floats:
    """Set negative variances of a difference of covariances to zero, in the coordinates that whiten the whole."""
    root = np.linalg.cholesky(whole)
    inverse = np.linalg.inv(root)
    values, axes = np.linalg.eigh(inverse @ estimate @ inverse.T)
    return np.asarray(root @ (axes * np.maximum(values, 0.0)) @ axes.T @ root.T)


def _log_t(squares: Floats, p: int, freedom: float) -> Floats:
    """Compute the log density of a standardized multivariate t-distribution with covariance 1, up to 2 pi."""
    if np.isinf(freedom):
        return np.asarray(-squares / 2)
    constant = float(gammaln((freedom + p) / 2) - gammaln(freedom / 2) - p / 2 * np.log((freedom - 2) / 2))
    return np.asarray(constant - (freedom + p) / 2 * np.log1p(squares / (freedom - 2)))


def _choose_freedom(residuals: Floats, covariance: Floats) -> float:
    """Choose the degrees of freedom under which residuals with a covariance are most likely."""
    squares = (np.linalg.solve(np.linalg.cholesky(covariance), residuals.T) ** 2).sum(axis=0)
    choices = (*WITHIN_FREEDOM, np.inf)
    return float(choices[int(np.argmax([_log_t(squares, len(covariance), v).sum() for v in choices]))])


def _choose_kernel(sources: Floats, between: Floats) -> tuple[float, float]:
    """Choose the bandwidth and the degrees of freedom that predict each source mean best from the others."""
    white = np.linalg.solve(np.linalg.cholesky(between), sources.T).T
    n, p = white.shape
    choices = [(float(h), v) for h in BANDWIDTHS for v in KERNEL_FREEDOM]
    fits = np.zeros(len(choices))
    lengths = (white**2).sum(axis=1)
    for rows in gen_batches(n, max(1, BLOCK // n)):
        squares = np.maximum(lengths[rows, None] + lengths - 2 * white[rows] @ white.T, 0.0)
        squares[np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)] = np.inf
        for i, (h, v) in enumerate(choices):
            fits[i] += (_log_sum(squares / h**2, p, v) - p * np.log(h)).sum()
    return choices[int(np.argmax(fits))]


def _log_density(
    points: Floats,
    centers: Floats,
    covariance: Floats,
    freedom: float = np.inf,
    without: Indices | None = None,
) -> Floats:
    """Compute the log of the mean of densities at the centres, all with one covariance.

    Parameters
    ----------
    points, centers : ndarray of shape (n, p) and (m, p)
    covariance : ndarray of shape (p, p)
    freedom : float
        Degrees of freedom of a t-distribution.
    without : ndarray of shape (n, k), optional
        The centres to leave out at each point; negative numbers leave out none.
    """
    root = np.linalg.cholesky(covariance)
    a, b = (np.linalg.solve(root, (x - centers[0]).T).T for x in (points, centers))
    lengths, p = (b**2).sum(axis=1), len(covariance)
    logs = np.empty(len(points))
    for rows in gen_batches(len(points), max(1, BLOCK // len(centers))):
        squares = -2 * (a[rows] @ b.T)
        squares += lengths
        squares += (a[rows] ** 2).sum(axis=1)[:, None]
        np.maximum(squares, 0.0, out=squares)
        counts = np.full(len(squares), float(len(centers)))
        for at in () if without is None else without[rows].T:
            own = np.flatnonzero(at >= 0)
            own = own[np.isfinite(squares[own, at[own]])]
            squares[own, at[own]] = np.inf
            counts[own] -= 1
        logs[rows] = _log_sum(squares, p, freedom) - np.log(counts)
    return logs - np.log(np.diag(root)).sum() - p / 2 * np.log(2 * np.pi)


def _log_sum(squares: Floats, p: int, freedom: float) -> Floats:
    """Compute the log of the sum of densities at the squared distances of each row.

    Relative to the largest, single precision suffices and is faster.
    """
    least = squares.min(axis=1)
    if np.isinf(freedom):
        relative = (least[:, None] - squares).astype(np.float32) / 2
    else:
        relative = (squares / (freedom - 2)).astype(np.float32)
        np.log1p(relative, out=relative)
        relative -= relative.min(axis=1)[:, None]
        relative *= -(freedom + p) / 2
    sums = np.exp(relative, out=relative).sum(axis=1, dtype=np.float64)
    return np.asarray(np.log(sums) + _log_t(least, p, freedom))


class LikelihoodSystem:
    """The three-level model of a background, calibrated and bounded for any design of comparison.

    Parameters
    ----------
    seed : int
        For the pairs.
    """

    def __init__(self, seed: int = 0):
        self.seed = seed

    def fit(self, background: Sequence[Source]) -> "LikelihoodSystem":
        """Fit the model to all sources, and its levels within sources to all but a fold of them in turn."""
        usable = self.usable_ = [source for source in background if len(source) > 1]
        n = len(usable)
        if n < MIN_SOURCES_FOR_RATIOS:
            raise ValueError(
                f"the background has {n} sources with two or more fragments; a likelihood ratio needs at "
                f"least {MIN_SOURCES_FOR_RATIOS}"
            )
        self.model_ = ThreeLevelModel().fit(usable)
        self.rows_ = background_rows(usable)
        self.fold_ = np.arange(n) % N_FOLDS
        self.folds_ = [
            within_levels([s for s, f in zip(usable, self.fold_, strict=True) if f != left_out])
            for left_out in range(N_FOLDS)
        ]
        return self

    def calibrate(self, design: Design, draw: Draw | None = None) -> "CalibratedRatio":
        """Calibrate and bound the model by pairs of unseen sources in a design.

        Parameters
        ----------
        design : Design
        draw : Draw, optional
            The same-source pairs, if they have been drawn from the sources that `fit` has used.
        """
        rng = np.random.default_rng(self.seed)
        own = (draw_pairs(self.usable_, design, rng) if draw is None else draw).pairs(self.rows_)
        within = self.model_.levels_
        root = np.linalg.inv(np.linalg.cholesky(within.fragment + within.replicate / design.questioned_replicates))
        kinds = own, different_source_pairs(own, rng, whitening=root.T)
        raw = np.concatenate([self._raw(pairs, design) for pairs in kinds])
        pairs = Unseen.join(kinds)
        ratios = np.empty(len(raw))
        fold = self.fold_[pairs.source]
        for left_out in range(N_FOLDS):
            at = fold == left_out
            ratios[at] = calibrated_ratio(raw[~at], pairs.same[~at], pairs.weight[~at])(raw[at])
        numbers = sum(map(len, self.usable_)), len(self.usable_) * (len(self.usable_) - 1) // 2
        parts = [pairs.part % N_PAIR_PARTS == i for i in np.unique(pairs.part[pairs.same] % N_PAIR_PARTS)]
        if len(parts) > 1 and all(at.any() for at in parts):
            ends = np.array([elub(ratios[at], pairs.same[at], pairs.weight[at], numbers) for at in parts])
            errors = tuple(map(float, ends.std(axis=0, ddof=1) / np.sqrt(len(parts))))
            calibrations = [calibrated_ratio(raw[at], pairs.same[at], pairs.weight[at]) for at in parts]
        else:
            errors, calibrations = (0.0, 0.0), []
        bounds = elub(ratios, pairs.same, pairs.weight, numbers)
        measured = performance(np.clip(ratios, *bounds), pairs, bounds, (errors[0], errors[1]))
        calibrate = calibrated_ratio(raw, pairs.same, pairs.weight)
        return CalibratedRatio(self.model_, design, calibrate, measured, calibrations)

    def _raw(self, pairs: Pairs, design: Design) -> Floats:
        raw, fold = np.empty(len(pairs.source)), self.fold_[pairs.source]
        for left_out, levels in enumerate(self.folds_):
            at = fold == left_out
            raw[at] = self.model_.log10_lr(pairs.at(at), design, levels)
        return raw


@dataclass(frozen=True)
class Unseen:
    """Pairs of known origin: whether each has one source, which sources, its weight and the round of drawing.

    The weights of the pairs of one source sum to 1/2, and so do those of different sources.
    """

    same: Bools
    source: Indices
    other: Indices
    weight: Floats
    part: Indices

    @classmethod
    def join(cls, kinds: Sequence[Pairs]) -> "Unseen":
        """Join pairs of the same and of different sources."""
        weights = np.concatenate([pairs.weight / pairs.weight.sum() / 2 for pairs in kinds])
        same, source, other, part = (
            np.concatenate([getattr(pairs, name) for pairs in kinds]) for name in ("same", "source", "other", "part")
        )
        return cls(same, source, other, weights, part)


@dataclass(frozen=True)
class CalibratedRatio:
    """A likelihood ratio for one design of comparison."""

    model: ThreeLevelModel
    design: Design
    calibrate: Callable[[Floats], Floats]
    performance: Performance
    parts: list[Callable[[Floats], Floats]] = field(default_factory=list)

    def log10_lr(self, pairs: Pairs) -> Floats:
        """Compute calibrated log10 likelihood ratios, within the bounds."""
        return np.clip(self.calibrate(self.model.log10_lr(pairs, self.design)), *self.performance.bounds)

    def errors(self, pairs: Pairs) -> Floats:
        """Estimate the Monte Carlo errors of the calibrated log10 likelihood ratios."""
        raw = self.model.log10_lr(pairs, self.design)
        if not self.parts:
            return np.zeros(len(raw))
        found = np.array([np.clip(calibrate(raw), *self.performance.bounds) for calibrate in self.parts])
        at_bound = np.isin(self.log10_lr(pairs), self.performance.bounds)
        errors = found.std(axis=0, ddof=1) / np.sqrt(len(found))
        return np.where(at_bound, np.maximum(errors, max(self.performance.bound_errors)), errors)


def calibrated_ratio(raw: Floats, same: Bools, weight: Floats) -> Callable[[Floats], Floats]:
    """Fit a logistic regression of same source on raw ratios, at even prior odds; return it as a function."""

    def column(values: Floats) -> Floats:
        return np.clip(values, -LARGEST, LARGEST)[:, None]

    balanced = weight / np.where(same, weight[same].sum(), weight[~same].sum()) * len(weight) / 2
    regression = LogisticRegression(C=1e4).fit(column(raw), same, sample_weight=balanced)
    slope, intercept = float(regression.coef_[0, 0]) / np.log(10), float(regression.intercept_[0]) / np.log(10)
    return lambda values: column(values)[:, 0] * slope + intercept


def elub(
    log10_lr: Floats,
    same: Bools,
    weight: Floats | None = None,
    numbers: tuple[float, float] | None = None,
) -> tuple[float, float]:
    """Compute the empirical lower and upper bound of log10 likelihood ratios (Vergeer et al., 2016).

    Beyond the bounds, a decision at that threshold would cost more than one without any evidence, if one more
    misleading ratio of either kind were added to the pairs.

    Parameters
    ----------
    log10_lr : ndarray of shape (n,)
    same : ndarray of bool
    weight : ndarray of shape (n,), optional
        By default all pairs of a kind count equally.
    numbers : tuple of float, optional
        How many independent pairs of the same and of different sources there are; by default all.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> ratios = np.append(np.linspace(-1, 3, 101), np.linspace(-3, 1, 101))
    >>> elub(ratios, np.arange(202) < 101)
    (-1.56, 1.55)
    """
    values = np.clip(log10_lr, -9, 9)
    n_same, n_different = numbers or (same.sum(), (~same).sum())
    first = min(0, int(np.floor(max(values.min(), -np.log10(n_same + 1)) / STEP)))
    last = max(0, int(np.floor(min(values.max(), np.log10(n_different + 1)) / STEP)) + 1)
    thresholds = np.linspace(first * STEP, last * STEP, last - first + 1)

    def share_at_or_below(kind: Bools) -> Floats:
        order = np.argsort(values[kind])
        weights = np.ones(len(order)) if weight is None else weight[kind][order]
        ranks = np.searchsorted(values[kind][order], thresholds, side="right")
        return np.asarray(np.append(0.0, np.cumsum(weights))[ranks] / weights.sum())

    missed = (share_at_or_below(same) * n_same + 1) / (n_same + 1)
    misled = ((1 - share_at_or_below(~same)) * n_different + 1) / (n_different + 1)
    worse = missed + 10**thresholds * misled > np.minimum(1.0, 10**thresholds)
    low = max(thresholds[worse & (thresholds <= 0)] + STEP, default=thresholds[0])
    high = min(thresholds[worse & (thresholds >= 0)] - STEP, default=thresholds[-1])
    return round(min(float(low), 0.0), 10), round(max(float(high), 0.0), 10)


def cllr(log10_lr: Floats, same: Bools, weight: Floats | None = None) -> float:
    """Compute the log-likelihood-ratio cost (Brümmer and du Preez, 2006)."""
    natural = np.asarray(log10_lr) * np.log(10)
    costs = [
        float(np.average(np.logaddexp(0, sign * natural[kind]), weights=None if weight is None else weight[kind]))
        for sign, kind in ((-1, same), (1, ~same))
    ]
    return sum(costs) / 2 / float(np.log(2))


def recalibrated(log10_lr: Floats, same: Bools, weight: Floats | None = None) -> Floats:
    """Recalibrate log10 ratios by the best monotone function of them (pool adjacent violators)."""
    weights = np.where(same, 0.5 / same.sum(), 0.5 / (~same).sum()) if weight is None else weight
    isotonic = IsotonicRegression(y_min=0, y_max=1).fit(log10_lr, same.astype(float), sample_weight=weights)
    share = np.clip(isotonic.predict(log10_lr), 1e-12, 1 - 1e-12)
    return np.log10(share / (1 - share))


def cross_entropy(log10_lr: Floats, same: Bools, weight: Floats | None = None) -> tuple[float, ...]:
    """Compute the empirical cross-entropy at each of `PRIOR_ODDS` (Ramos and Gonzalez-Rodriguez, 2013)."""
    natural, prior = np.asarray(log10_lr) * np.log(10), 1 / (1 + 10**-PRIOR_ODDS)
    odds, weights = PRIOR_ODDS * np.log(10), np.ones(len(same)) if weight is None else weight
    # One prior at a time: the matrix of all would be large.
    of_same = np.array([np.average(np.logaddexp(0, -natural[same] - x), weights=weights[same]) for x in odds])
    of_different = np.array([np.average(np.logaddexp(0, natural[~same] + x), weights=weights[~same]) for x in odds])
    return tuple(map(float, (prior * of_same + (1 - prior) * of_different) / np.log(2)))


def performance(
    log10_lr: Floats, pairs: Unseen, bounds: tuple[float, float], bound_errors: tuple[float, float] = (0.0, 0.0)
) -> Performance:
    """Measure log10 likelihood ratios of pairs of known origin."""
    same, weight = pairs.same, pairs.weight
    best = recalibrated(log10_lr, same, weight)
    shares = np.linspace(0, 1, DRAWN)
    curves = [
        tuple(map(float, np.quantile(log10_lr[at], shares, weights=weight[at], method="inverted_cdf")))
        for at in (same, ~same)
    ]

    def rate(events: Bools, kind: Bools) -> Rate:
        other = None if kind is same else pairs.other[kind]
        return measure_rate(events[kind], pairs.source[kind], other, weight[kind])

    return Performance(
        cllr=cllr(log10_lr, same, weight),
        cllr_min=cllr(best, same, weight),
        n_same=int(same.sum()),
        n_different=int((~same).sum()),
        same_below_one=rate(log10_lr < 0, same),
        different_above_one=rate(log10_lr > 0, ~same),
        bounds=bounds,
        tippett_same=curves[0],
        tippett_different=curves[1],
        ece={
            "log10_prior_odds": tuple(map(float, PRIOR_ODDS)),
            "system": cross_entropy(log10_lr, same, weight),
            "recalibrated": cross_entropy(best, same, weight),
            "reference": cross_entropy(np.zeros(len(same)), same, weight),
        },
        bound_errors=bound_errors,
    )
