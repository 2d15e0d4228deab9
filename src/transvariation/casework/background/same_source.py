"""Compare a questioned fragment with few known ones by the same-source differences of a background.

A background holds many sources, each with several fragments. Differences between fragments of one source form a class:
from every source some fragments are taken as known and others as questioned, as many as in the case. The
difference of the case is a member of that class if both sets of fragments share a source. Its p-value is counted over
sources, so that it can be as small as 1 / (sources + 1) although the case has only a few fragments.

Variables are first transformed so that fragments of one source vary equally at every level.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import ledoit_wolf_shrinkage

from transvariation.casework.background.pairs import (
    Design,
    Floats,
    Pairs,
    Source,
    background_rows,
    draw_pairs,
    mean_weights,
    row_numbers,
    scaled_differences,
    subsample_rows,
)
from transvariation.conformal import count_at_or_below, group_weights, p_values
from transvariation.depth.tail import tail_transvariation_probability

MIN_SOURCES = 10  # with fewer, no sensitivity of 0.9 can be supported
N_NEIGHBORS = (1, 3)
N_FOLDS = 20  # of sources: the differences of a fold are scored by a model of the other folds
TAIL = 0.2  # the share of the least typical differences, which shows how alike those of one source are
WINDOW = 20  # neighbouring sources over which the within-source variance is averaged
SHRINKAGE = 0.1  # of that variance towards the variance over all sources


class SameSourceDifferences:
    """The class of same-source differences of a background, for one design of comparison.

    A difference is scored as `NeighborTOCC` scores an object: the transvariation probability of its log mean distance
    to the 1 and to the 3 nearest same-source differences, multiplied. Distances are taken after a transformation
    that stabilizes the within-source variance, and after whitening by the within-source covariance of fragment means
    (shrunk after Ledoit and Wolf). The differences of a fold of background sources are scored with these sources left
    out of the transformation, of the covariance and of the neighbours.

    Parameters
    ----------
    design : Design
    seed : int
        For the division of each source's fragments.
    stabilize : bool, default=True
        Whether to stabilize the within-source variance of the variables.
    """

    def __init__(self, design: Design, seed: int = 0, stabilize: bool = True):
        self.design = design
        self.seed = seed
        self.stabilize = stabilize

    def fit(self, background: Sequence[Source]) -> "SameSourceDifferences":
        """Learn from a background: one list of fragments per source."""
        usable = [source for source in background if len(source) > 1]
        n = self.n_sources_ = len(usable)
        if n < MIN_SOURCES:
            raise ValueError(
                f"the background has {n} sources with two or more fragments; at least {MIN_SOURCES} are needed"
            )
        rng = np.random.default_rng(self.seed)
        rows, numbers, n_known = background_rows(usable), row_numbers(usable), max(self.design.known, 2)
        moments = source_moments(usable)
        draw = draw_pairs(usable, self.design, rng)
        r = self.design.questioned_replicates
        fragments = mean_weights([[subsample_rows(x, r, rng)] for source in numbers for x in source], len(rows))
        owner = np.repeat(np.arange(n), [len(source) for source in usable])
        known = [
            [
                subsample_rows(source[i], self.design.known_replicates, rng)
                for i in rng.permutation(len(source))[:n_known]
            ]
            for source in numbers
        ]

        def learn(sources: NDArray[np.bool_]) -> tuple["VarianceStabilizer", Floats, Floats, Pairs]:
            """Learn the transformation and the whitening from some sources; transform the rows of all."""
            stabilizer = VarianceStabilizer(self.stabilize).fit_moments(*(x[sources] for x in moments))
            values = stabilizer.transform(rows)
            own = sources[owner]
            whitening = _whitening(_within_residuals(fragments @ values, owner)[own])
            return stabilizer, whitening, values, draw.pairs(values)

        self.stabilizer_, self.whitening_, _, self.pairs_ = learn(np.ones(n, dtype=bool))
        self.sources_ = usable
        self.whitened_ = scaled_differences(self.pairs_) @ self.whitening_
        self.held_out_ = np.empty_like(self.whitened_)
        self.views_ = np.empty((len(self.whitened_), len(N_NEIGHBORS)))
        self.dispersion_ = np.empty(n)
        fold = rng.permutation(n) % min(N_FOLDS, n)
        for number in range(fold.max() + 1):
            left_out = fold == number
            _, whitening, values, pairs = learn(~left_out)
            held, whitened = left_out[pairs.source], scaled_differences(pairs) @ whitening
            self.held_out_[held] = whitened[held]
            self.views_[held] = _log_distances(whitened[~held], whitened[held])
            for i in np.flatnonzero(left_out):
                self.dispersion_[i] = _dispersion([np.array([values[at].mean(axis=0) for at in known[i]]) @ whitening])
        self.calibration_ = self._tp(self.views_, held_out=False)
        return self

    def score(self, differences: Floats) -> Floats:
        """Compute the log transvariation probability of scaled differences; high = typical of one source."""
        return self._tp(_log_distances(self.whitened_, differences @ self.whitening_))

    def p_values(self, differences: Floats) -> Floats:
        """Compute p-values of scaled differences of stabilized values; every background source counts once."""
        return source_p_values(self.calibration_, self.score(differences), self.pairs_.source)

    def dispersion_p_value(self, means: Floats) -> float:
        """Compute the share of sources whose fragments differ from each other at least as much as these do."""
        return float(p_values(-self.dispersion_, [-_dispersion([means @ self.whitening_])])[0])

    def replicate_p_value(self, fragments: Sequence[Floats]) -> float | None:
        """Compute the share of sources whose replicates differ at least as much as those of these fragments do.

        From every source as many fragments are taken, with as many replicates. None without replicates.
        """
        rng = np.random.default_rng(self.seed)
        own = [x for x in fragments if len(x) > 1]
        replicated = [found for source in self.sources_ if (found := [x for x in source if len(x) > 1])]
        if not own or len(replicated) < MIN_SOURCES:
            return None

        def dispersion(sets: Sequence[Floats]) -> float:
            return _dispersion([self.stabilizer_.transform(x) @ self.whitening_ for x in sets])

        theirs = []
        for source in replicated:
            drawn = [source[i] for i in rng.permutation(len(source))[: len(own)]]
            theirs.append(dispersion([subsample_rows(x, len(y), rng) for x, y in zip(drawn, own, strict=False)]))
        return float(p_values(-np.array(theirs), [-dispersion(own)])[0])

    def held_out_p_values(self) -> Floats:
        """Compute the p-value of each same-source difference of the background among the other sources."""
        source, scores = self.pairs_.source, self.calibration_
        others = count_at_or_below(scores, scores, group_weights(source)) - _own_shares(scores, source)
        return _ranks(others, _similarity(scores, source), self.n_sources_ - 1)

    def _tp(self, distances: Floats, held_out: bool = True) -> Floats:
        views = zip(self.views_.T, distances.T, strict=True)
        parts = [tail_transvariation_probability(x, z, held_out=held_out, log=True) for x, z in views]
        return np.asarray(np.sum(parts, axis=0))


def source_p_values(calibration: Floats, scores: Floats, source: NDArray[np.intp]) -> Floats:
    """Compute p-values of scores among the calibration scores of n sources, each of which counts once.

    The case's own source is one more source, of which one comparison is known. The share of its other comparisons
    with as low a score is that of the other sources if comparisons of one source are independent, and larger if they
    are alike; how alike they are is estimated from the background. No p-value is below 1 / (n + 1).

    Parameters
    ----------
    calibration : ndarray of shape (m,)
        High = typical.
    scores : ndarray of shape (q,)
    source : ndarray of shape (m,)
        The number of the source of each calibration score.
    """
    weights = group_weights(source)
    counts = count_at_or_below(calibration, scores, weights)
    return _ranks(counts, _similarity(calibration, source), round(weights.sum()))


def _ranks(counts: Floats, similarity: float, n: int) -> Floats:
    """Convert counts of n sources to p-values; the case's own source is counted as well."""
    own = similarity + (1 - similarity) * counts / n
    return np.asarray(np.maximum(counts + own, 1.0) / (n + 1))


def _similarity(calibration: Floats, source: NDArray[np.intp]) -> float:
    """Estimate how alike the scores of one source are in the tail: 0 if independent, about 0.5 if equal."""
    weights = group_weights(source)
    among_all = count_at_or_below(calibration, calibration, weights) / weights.sum()
    tail = among_all <= max(TAIL, among_all.min())
    excess = (_own_shares(calibration, source) - among_all)[tail] / np.maximum(1 - among_all[tail], 1e-12)
    return float(np.clip(np.average(excess, weights=weights[tail]), 0.0, 1.0))


def _own_shares(calibration: Floats, source: NDArray[np.intp]) -> Floats:
    """Compute the share of the scores of its own source that are at or below each score."""
    order = np.lexsort((calibration, source))
    _, first, sizes = np.unique(source[order], return_index=True, return_counts=True)
    shares = np.empty(len(source))
    shares[order] = (np.arange(len(source)) - np.repeat(first, sizes) + 1) / np.repeat(sizes, sizes)
    return shares


def _within_residuals(means: Floats, owner: NDArray[np.intp]) -> Floats:
    """Compute deviations of fragment means from their source mean, scaled to the variance of a fragment mean."""
    _, first, sizes = np.unique(owner, return_index=True, return_counts=True)
    centers = np.add.reduceat(means, first) / sizes[:, None]
    return np.asarray((means - centers[owner]) * np.sqrt(sizes / (sizes - 1))[owner, None])


def _whitening(residuals: Floats) -> Floats:
    """Compute the root of a covariance, shrunk towards a multiple of the identity in units of each variable."""
    spread = np.sqrt((residuals**2).mean(axis=0))
    scale = np.where(spread > 0, spread, 1.0)
    scaled = residuals / scale
    shrinkage = float(ledoit_wolf_shrinkage(scaled, assume_centered=True))
    covariance = scaled.T @ scaled / len(scaled)
    target = np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    values, axes = np.linalg.eigh((1 - shrinkage) * covariance + shrinkage * target)
    return np.asarray((axes / np.sqrt(np.maximum(values, 1e-10 * values[-1]))) / scale[:, None])


def _dispersion(sets: Sequence[Floats]) -> float:
    """Compute the mean squared deviation of the rows of each set from their mean, pooled over the sets."""
    squares = sum(float(((x - x.mean(axis=0)) ** 2).sum()) for x in sets)
    return squares / sum(len(x) - 1 for x in sets)


def _log_distances(reference: Floats, points: Floats) -> Floats:
    """Compute the log mean distance to the nearest references for each number of neighbours.

    A difference and its negative are equally typical of one source, so both are references.
    """
    gram = points @ reference.T
    sizes = (points**2).sum(axis=1)[:, None] + (reference**2).sum(axis=1)
    squares = np.concatenate([sizes - 2 * gram, sizes + 2 * gram], axis=1)
    most = min(max(N_NEIGHBORS), squares.shape[1] - 1)
    nearest = np.sqrt(np.maximum(np.sort(np.partition(squares, most, axis=1)[:, : most + 1], axis=1), 0.0))
    means = [nearest[:, :k].mean(axis=1) for k in N_NEIGHBORS]
    return np.log(np.maximum(np.column_stack(means), 1e-12))


def source_moments(background: Sequence[Source]) -> tuple[Floats, Floats]:
    """Compute the mean of each source and the variance of its fragment means, for each variable."""
    means = [np.array([x.mean(axis=0) for x in source]) for source in background]
    return np.array([m.mean(axis=0) for m in means]), np.array([m.var(axis=0, ddof=1) for m in means])


class VarianceStabilizer:
    """A monotone transformation of each variable after which its within-source variance does not depend on its level.

    Contents near the detection limit vary far more than others, and large ones more than small ones. The standard
    deviation of fragment means within sources is estimated as a function of the level, by averages over neighbouring
    background sources, and its reciprocal is integrated. Likelihood ratios do not change under such a transformation,
    as far as their model is right on either scale; it makes the assumption of one within-source covariance plausible.

    Parameters
    ----------
    active : bool, default=True
        With False, variables are left as they are.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> levels = np.linspace(1, 100, 200)
    >>> sources = [[np.array([[level * (1 + 0.01 * rng.normal())]]) for _ in range(5)] for level in levels]
    >>> stabilizer = VarianceStabilizer().fit(sources)
    >>> spread = [np.std(stabilizer.transform(np.concatenate(source))) for source in sources]
    >>> bool(0.7 < np.mean(spread[:100]) / np.mean(spread[100:]) < 1.4)
    True
    """

    def __init__(self, active: bool = True):
        self.active = active

    def fit(self, background: Sequence[Source]) -> "VarianceStabilizer":
        """Learn from a background: one list of fragments per source."""
        return self.fit_moments(*source_moments([source for source in background if len(source) > 1]))

    def fit_moments(self, levels: Floats, variances: Floats) -> "VarianceStabilizer":
        """Learn from the mean of each source and the variance of its fragment means."""
        window = np.full(min(WINDOW, len(levels)), 1 / min(WINDOW, len(levels)))
        self.knots_, self.values_, self.slopes_ = [], [], []
        for level, variance in zip(levels.T, variances.T, strict=True):
            order = np.argsort(level, kind="stable")
            knots, first = np.unique(np.convolve(level[order], window, "valid"), return_index=True)
            local = np.convolve(variance[order], window, "valid")[first]
            spread = np.sqrt((1 - SHRINKAGE) * local + SHRINKAGE * variance.mean())
            spread = np.where(spread > 0, spread, 1.0)
            steps = np.diff(knots) * 2 / (spread[1:] + spread[:-1])
            self.knots_.append(knots)
            self.values_.append(np.append(0.0, np.cumsum(steps)))
            self.slopes_.append((1 / spread[0], 1 / spread[-1]))
        return self

    def transform(self, X: Floats) -> Floats:
        """Transform measurements; beyond the levels of the background, linearly."""
        if not self.active:
            return X
        columns = []
        for x, knots, values, (low, high) in zip(X.T, self.knots_, self.values_, self.slopes_, strict=True):
            inside = np.interp(x, knots, values)
            columns.append(inside + low * np.minimum(x - knots[0], 0) + high * np.maximum(x - knots[-1], 0))
        return np.column_stack(columns)
