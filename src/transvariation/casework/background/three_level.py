"""The three-level model: replicates within fragments, fragments within sources, a kernel density of sources.

It extends the two-level model of Aitken and Lucy (2004). Some sources vary more than others, so the difference of two
sets of fragments of one source has a t-distribution. A fragment unlike the control and unlike every source of the
background must not be evidence for a common source. Therefore one more source than the background has is allowed for:
it may lie far from all of them, or differ from the control in what hardly differs among them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln
from sklearn.utils import gen_batches

from transvariation._typing import Bools, Floats, Indices
from transvariation.casework.background.pairs import Design, Pairs, Source

_N_FOLDS = 20  # of sources: the pairs of a fold are compared by the within-source variation of the others
BANDWIDTHS = np.geomspace(0.1, 1.0, 8)
KERNEL_FREEDOM = (3.0, 5.0, 10.0, 30.0, np.inf)  # degrees of freedom of the kernels to choose from
WITHIN_FREEDOM = 3.0  # of the variation within sources: fitted ones were 3 to 7 and made no better ratios
FARTHEST_RATIO = 0.03  # towards which the raw ratio falls with the distance of a pair, or lower
BLOCK_DENSITIES = 100_000  # densities computed at a time, which fit into a cache


@dataclass(frozen=True)
class Levels:
    """Variation within sources.

    Attributes
    ----------
    fragment, replicate : ndarray of shape (p, p)
        Covariances of fragments of a source and of replicates of a fragment.
    """

    fragment: Floats
    replicate: Floats


class ThreeLevelModel:
    """A model of sources, fragments and replicates, learned from a background."""

    def fit(self, background: Sequence[Source]) -> "ThreeLevelModel":
        """Estimate the levels from a background: one list of two or more fragments per source."""
        means = [np.array([x.mean(axis=0) for x in source]) for source in background]
        deviations = _Deviations.of(background, means)
        fold = self.fold_ = np.arange(len(background)) % _N_FOLDS
        self.levels_ = deviations.levels(np.ones(len(background), dtype=bool))
        self.held_out_levels_ = [deviations.levels(fold != number) for number in range(fold.max() + 1)]
        self.sources_ = np.array([m.mean(axis=0) for m in means])
        self.center_ = self.sources_.mean(axis=0)
        self.between_ = shrunk_covariance(self.sources_ - self.center_, len(self.sources_) - 1)
        self.bandwidth_, self.kernel_freedom_ = _choose_kernel(self.sources_, self.between_)
        self.kernel_ = self.bandwidth_**2 * self.between_
        return self

    def log10_lr(self, pairs: Pairs, design: Design) -> Floats:
        """Compute raw log10 likelihood ratios of pairs."""
        return self._log10_lr(pairs, design, self.levels_)

    def held_out_log10_lr(self, pairs: Pairs, design: Design) -> Floats:
        """Compute raw log10 likelihood ratios of pairs of the background's own sources.

        The sources of a pair are left out of the density of sources, and the fold of its known fragments' source is
        left out of the variation within sources.
        """
        ratios, fold = np.empty(len(pairs.source)), self.fold_[pairs.source]
        for number, levels in enumerate(self.held_out_levels_):
            at = fold == number
            own = pairs.at(at)
            ratios[at] = self._log10_lr(own, design, levels, np.column_stack([own.source, own.other]))
        return ratios

    def _log10_lr(self, pairs: Pairs, design: Design, within: Levels, without: Indices | None = None) -> Floats:
        logs, n = np.empty(len(pairs.source)), len(self.sources_) + 1
        farther = (n / FARTHEST_RATIO) ** (1 / WITHIN_FREEDOM)  # than fragments of a source, in the same directions
        sizes = np.column_stack([pairs.n_known, pairs.n_questioned])
        for n_known, n_questioned in np.unique(sizes, axis=0):
            at = np.flatnonzero((sizes == (n_known, n_questioned)).all(axis=1))
            a, b = pairs.known[at], pairs.questioned[at]
            left_out = None if without is None else without[at]
            one = (within.fragment + within.replicate / design.known_replicates) / n_known
            two = (within.fragment + within.replicate / design.questioned_replicates) / n_questioned
            precisions = np.linalg.inv(one), np.linalg.inv(two)
            joint = np.linalg.inv(precisions[0] + precisions[1])
            middle = (a @ precisions[0] + b @ precisions[1]) @ joint
            common, further = (
                log_density(a - b, np.zeros((1, a.shape[1])), scale**2 * (one + two), WITHIN_FREEDOM)
                for scale in (1.0, farther)
            )
            middles, ones, twos = (
                self._log_density(points, error, left_out) for points, error in ((middle, joint), (a, one), (b, two))
            )
            logs[at] = common - np.logaddexp(ones + twos - middles, further - np.log(n))
        return np.asarray(logs / np.log(10))

    def _log_density(self, points: Floats, error: Floats, without: Indices | None) -> Floats:
        """Compute the log density of sources, one of which may be unlike the others, at points with an error."""
        kernels = log_density(points, self.sources_, self.kernel_ + error, self.kernel_freedom_, without)
        unlike = log_density(points, self.center_[None], self.between_ + error, WITHIN_FREEDOM)
        share = 1 / (len(self.sources_) + 1)
        return np.logaddexp(np.log1p(-share) + kernels, np.log(share) + unlike)


@dataclass(frozen=True)
class _Deviations:
    """Deviations of fragment means from those of their source, and of replicates from their fragment's mean.

    Attributes
    ----------
    fragment, replicate : ndarray of shape (n, p)
    fragment_source, replicate_source : ndarray of shape (n,)
        The number of the source of each deviation.
    n_fragments, replicate_freedom, inverse_replicates : ndarray of shape (sources,)
        The numbers of fragments of each source, of replicates beyond the first of each fragment, and the sum of the
        reciprocal numbers of replicates.
    """

    fragment: Floats
    replicate: Floats
    fragment_source: Indices
    replicate_source: Indices
    n_fragments: Indices
    replicate_freedom: Indices
    inverse_replicates: Floats

    @classmethod
    def of(cls, background: Sequence[Source], means: Sequence[Floats]) -> "_Deviations":
        counts = [[len(x) for x in source] for source in background]
        return cls(
            np.concatenate([m - m.mean(axis=0) for m in means]),
            np.concatenate(
                [x - y for source, m in zip(background, means, strict=True) for x, y in zip(source, m, strict=True)]
            ),
            np.repeat(np.arange(len(means)), [len(m) for m in means]),
            np.repeat(np.arange(len(means)), [sum(n) for n in counts]),
            np.array([len(m) for m in means]),
            np.array([sum(n) - len(n) for n in counts]),
            np.array([sum(1 / k for k in n) for n in counts]),
        )

    def levels(self, sources: Bools) -> Levels:
        """Estimate how much fragments of some sources, and replicates of their fragments, vary."""
        at = sources[self.fragment_source]
        deviations = self.fragment[at]
        whole = shrunk_covariance(deviations, int((self.n_fragments[sources] - 1).sum()))
        degrees = int(self.replicate_freedom[sources].sum())
        if not degrees:
            return Levels(whole, np.zeros_like(whole))
        replicate = shrunk_covariance(self.replicate[sources[self.replicate_source]], degrees)
        share = self.inverse_replicates[sources].sum() / len(deviations)
        return Levels(_without_negative(whole - share * replicate, whole), replicate)


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


def _choose_kernel(sources: Floats, between: Floats) -> tuple[float, float]:
    """Choose the bandwidth and the degrees of freedom that predict each source mean from the others."""
    white = np.linalg.solve(np.linalg.cholesky(between), sources.T).T
    n, p = white.shape
    choices = [(float(h), v) for h in BANDWIDTHS for v in KERNEL_FREEDOM]
    fits = np.zeros(len(choices))
    lengths = (white**2).sum(axis=1)
    for rows in gen_batches(n, max(1, BLOCK_DENSITIES // n)):
        squares = np.maximum(lengths[rows, None] + lengths - 2 * white[rows] @ white.T, 0.0)
        squares[np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)] = np.inf
        for i, (h, v) in enumerate(choices):
            fits[i] += (_log_sum(squares / h**2, p, v) - p * np.log(h)).sum()
    return choices[int(np.argmax(fits))]


def log_density(
    points: Floats,
    centers: Floats,
    covariance: Floats,
    freedom: float = np.inf,
    without: Indices | None = None,
) -> Floats:
    """Compute the log of the mean of densities at the centers, all with one covariance.

    Parameters
    ----------
    points, centers : ndarray of shape (n, p) and (m, p)
    covariance : ndarray of shape (p, p)
    freedom : float
        Degrees of freedom of a t-distribution.
    without : ndarray of shape (n, k), optional
        The centers to leave out at each point; negative numbers leave out none.
    """
    root = np.linalg.cholesky(covariance)
    a, b = (np.linalg.solve(root, (x - centers[0]).T).T for x in (points, centers))
    lengths, p = (b**2).sum(axis=1), len(covariance)
    logs = np.empty(len(points))
    for rows in gen_batches(len(points), max(1, BLOCK_DENSITIES // len(centers))):
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
