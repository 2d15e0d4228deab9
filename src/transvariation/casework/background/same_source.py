"""Compare a questioned fragment with few known ones by the same-source differences of a background.

A background holds many sources, each with several fragments. Differences between fragments of one source form a class:
from every source some fragments are taken as known and others as questioned, as many as in the case. The
difference of the case is a member of that class if both sets of fragments share a source. Its p-value is counted over
sources, so that it can be as small as 1 / (sources + 1) although the case has only a few fragments.

Variables are first transformed so that fragments of one source vary equally at every level.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import gen_batches

from transvariation._typing import Bools, Floats, Indices
from transvariation.casework.background.pairs import (
    N_PAIR_PARTS,
    N_PAIRS_DRAWN,
    Design,
    Source,
    background_rows,
    draw_pairs,
    mean_weights,
    row_numbers,
    scaled_differences,
    subsample_rows,
)
from transvariation.conformal import count_at_or_below, group_weights
from transvariation.depth.tail import fit_tail, log_tp
from transvariation.scalings import WhiteningScaling

MIN_SOURCES_TO_CALIBRATE = 10  # with fewer, no sensitivity of 0.9 can be supported
N_NEIGHBORS = (1, 3)
_N_FOLDS = 20  # of sources: the differences of a fold are scored by a model of the other folds
TAIL_SHARE = 0.2  # the share of the least typical differences, which shows how alike those of one source are
WINDOW_SOURCES = 20  # neighboring sources over which the within-source variance is averaged
WITHIN_SHRINKAGE = 0.1  # of that variance towards the variance over all sources
N_REFERENCES = 6_000  # differences among which neighbors are sought, about
N_SETS = 5  # drawn from each source to see how much its fragments, or its replicates, differ
BLOCK_DISTANCES = 1_000_000  # distances computed at a time: 4 MB


class SameSourceDifferences:
    """The class of same-source differences of a background, for one design of comparison.

    A difference is scored as `NeighborTOCC` scores a sample: the transvariation probability of its log mean distance
    to the 1 and to the 3 nearest same-source differences, multiplied; every source is divided in several rounds, so
    that the draws hardly matter. Distances are taken after a transformation
    that stabilizes the within-source variance, and after whitening by the within-source covariance of fragment means
    (shrunk after Ledoit and Wolf). The differences of a fold of background sources are scored with these sources left
    out of the transformation, of the covariance and of the neighbors.

    Parameters
    ----------
    design : Design
    seed : int
        For the division of each source's fragments.
    stabilize : bool, default=True
        Whether to stabilize the within-source variance of the variables.
    n_pairs : int
        How many comparisons to draw; fewer have a larger Monte Carlo error.
    """

    def __init__(self, design: Design, seed: int = 0, stabilize: bool = True, n_pairs: int = N_PAIRS_DRAWN):
        self.design = design
        self.seed = seed
        self.stabilize = stabilize
        self.n_pairs = n_pairs
        self._replicate_dispersion: dict[tuple[int, ...], Floats] = {}  # of every source, by numbers of replicates

    def fit(self, background: Sequence[Source]) -> "SameSourceDifferences":
        """Learn from a background: one list of fragments per source."""
        usable = [source for source in background if len(source) > 1]
        n = len(usable)
        if n < MIN_SOURCES_TO_CALIBRATE:
            raise ValueError(
                f"the background has {n} sources with two or more fragments; at least {MIN_SOURCES_TO_CALIBRATE} are "
                "needed"
            )
        rng = np.random.default_rng(self.seed)
        rows, moments = background_rows(usable), source_moments(usable)
        draw = self.draw_ = draw_pairs(usable, self.design, rng, self.n_pairs)
        self.n_sources_ = len(np.unique(draw.source))  # that calibrate
        weights, owner, times = _reference_weights(usable, self.design.questioned_replicates)
        sets = [_drawn_sets(source, self.design, rng) for source in row_numbers(usable)]
        self.n_neighbors_ = [k * times for k in N_NEIGHBORS]

        def learn(sources: Bools) -> tuple["VarianceStabilizer", Floats, Floats, Floats]:
            """Learn transformation, whitening and references from some sources; transform the rows of all."""
            stabilizer = VarianceStabilizer(self.stabilize).fit_moments(*(x[sources] for x in moments))
            values = stabilizer.transform(rows)
            references = weights[sources[owner]] @ values
            whitening = _whitening(references)
            return stabilizer, whitening, values, references @ whitening

        self.stabilizer_, self.whitening_, values, self.references_ = learn(np.ones(n, dtype=bool))
        self.pairs_ = draw.pairs(values)
        self.sources_ = usable
        self.held_out_ = np.empty_like(self.pairs_.known)
        self.views_ = np.empty((len(self.held_out_), len(N_NEIGHBORS)))
        self.dispersion_ = np.empty((n, len(sets[0])))
        fold = np.arange(n) % _N_FOLDS
        for number in range(fold.max() + 1):
            left_out = fold == number
            _, whitening, values, references = learn(~left_out)
            held = left_out[draw.source]
            if held.any():  # where few sources have enough fragments for the design, a fold may have none of them
                self.held_out_[held] = scaled_differences(draw.at(held).pairs(values)) @ whitening
                self.views_[held] = self._log_distances(references, self.held_out_[held])
            for i in np.flatnonzero(left_out):
                for j, known in enumerate(sets[i]):
                    self.dispersion_[i, j] = _dispersion(
                        [np.array([values[at].mean(axis=0) for at in known]) @ whitening]
                    )
        self.calibration_ = self._tp(self.views_, held_out=False)
        return self

    def score(self, differences: Floats) -> Floats:
        """Compute the log transvariation probability of scaled differences; high = typical of one source."""
        return self._tp(self._log_distances(self.references_, differences @ self.whitening_))

    def p_values(self, differences: Floats) -> Floats:
        """Compute p-values of scaled differences of stabilized values; every background source counts once."""
        return source_p_values(self.calibration_, self.score(differences), self.pairs_.source)

    def p_value_errors(self, differences: Floats) -> Floats:
        """Estimate the Monte Carlo error of p-values: what other draws of the same background would change."""
        if self.draw_.n_parts == 1:
            return np.zeros(len(differences))
        scores, part = self.score(differences), self.draw_.part % N_PAIR_PARTS
        parts = [
            source_p_values(self.calibration_[part == i], scores, self.pairs_.source[part == i])
            for i in range(min(N_PAIR_PARTS, self.draw_.n_parts))
        ]
        return np.asarray(np.std(parts, axis=0, ddof=1) / np.sqrt(len(parts)))

    def dispersion_p_value(self, means: Floats) -> float:
        """Compute the share of sources whose fragments differ from each other at least as much as these do."""
        return _share_at_least(self.dispersion_, _dispersion([means @ self.whitening_]))

    def replicate_p_value(self, fragments: Sequence[Floats]) -> float | None:
        """Compute the share of sources whose replicates differ at least as much as those of these fragments do.

        From every source as many fragments are taken, with as many replicates. None without replicates.
        """
        rng = np.random.default_rng(self.seed)
        own = [x for x in fragments if len(x) > 1]
        replicated = [found for source in self.sources_ if (found := [x for x in source if len(x) > 1])]
        if not own or len(replicated) < MIN_SOURCES_TO_CALIBRATE:
            return None

        def dispersion(sets: Sequence[Floats]) -> float:
            return _dispersion([self.stabilizer_.transform(x) @ self.whitening_ for x in sets])

        sizes = tuple(map(len, own))
        if sizes not in self._replicate_dispersion:
            theirs = np.empty((len(replicated), N_SETS))
            for i, source in enumerate(replicated):
                for j in range(N_SETS):
                    drawn = [source[at] for at in rng.permutation(len(source))[: len(own)]]
                    theirs[i, j] = dispersion([subsample_rows(x, n, rng) for x, n in zip(drawn, sizes, strict=False)])
            self._replicate_dispersion[sizes] = theirs
        return _share_at_least(self._replicate_dispersion[sizes], dispersion(own))

    def held_out_p_values(self) -> Floats:
        """Compute the p-value of each same-source difference of the background among the other sources."""
        source, scores = self.pairs_.source, self.calibration_
        others = count_at_or_below(scores, scores, group_weights(source)) - _own_shares(scores, source)
        return _ranks(others, _similarity(scores, source), self.n_sources_ - 1)

    def _log_distances(self, reference: Floats, points: Floats) -> Floats:
        """Compute the log mean distance to the nearest references for each number of neighbors.

        A difference and its negative are equally typical of one source, so the nearer one counts.
        """
        most = min(max(self.n_neighbors_), len(reference))
        reference, points = reference.astype(np.float32), points.astype(np.float32)  # precise enough, and twice as fast
        halves = (reference**2).sum(axis=1) / 2
        nearest = np.empty((len(points), most), dtype=np.float32)
        memory = np.empty((max(1, BLOCK_DISTANCES // len(reference)), len(reference)), dtype=np.float32)
        for rows in gen_batches(len(points), len(memory)):
            block = points[rows]
            closeness, each = memory[: len(block)], np.arange(len(block))
            np.abs(np.matmul(block, reference.T, out=closeness), out=closeness)
            closeness -= halves
            for k in range(most):  # a few searches for the nearest are faster than a partition
                at = closeness.argmax(axis=1)
                nearest[rows, k] = closeness[each, at]
                closeness[each, at] = -np.inf
        nearest = np.sqrt(np.maximum((points**2).sum(axis=1)[:, None] - 2 * nearest, 0.0))
        found = np.column_stack([nearest[:, :k].mean(axis=1) for k in self.n_neighbors_]).astype(float)
        return np.log(np.maximum(found, 1e-12))

    def _tp(self, distances: Floats, held_out: bool = True) -> Floats:
        return log_tp([fit_tail(view) for view in self.views_.T], distances, held_out=held_out).sum(axis=1)


def source_p_values(calibration: Floats, scores: Floats, source: Indices) -> Floats:
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


def _similarity(calibration: Floats, source: Indices) -> float:
    """Estimate how alike the scores of one source are in the tail: 0 if independent, about 0.5 if equal."""
    weights = group_weights(source)
    among_all = count_at_or_below(calibration, calibration, weights) / weights.sum()
    tail = among_all <= max(TAIL_SHARE, among_all.min())
    excess = (_own_shares(calibration, source) - among_all)[tail] / np.maximum(1 - among_all[tail], 1e-12)
    return float(np.clip(np.average(excess, weights=weights[tail]), 0.0, 1.0))


def _own_shares(calibration: Floats, source: Indices) -> Floats:
    """Compute the share of the scores of its own source that are at or below each score."""
    order = np.lexsort((calibration, source))
    _, first, sizes = np.unique(source[order], return_index=True, return_counts=True)
    shares = np.empty(len(source))
    shares[order] = (np.arange(len(source)) - np.repeat(first, sizes) + 1) / np.repeat(sizes, sizes)
    return shares


def _reference_weights(background: Sequence[Source], n_replicates: int) -> tuple[csr_array, Indices, int]:
    """Compute the weights of rows in the difference of each fragment mean from the others of its source.

    Nothing is drawn: of more replicates than asked for, every run of so many is taken, as if they stood in a circle. Of
    very many fragments only some are taken, evenly.

    Returns
    -------
    weights : sparse array of shape (n, rows)
        Scaled so that the differences have the variance of a fragment mean.
    source : ndarray of shape (n,)
    times : int
        How many differences come from one fragment, at most.
    """
    numbers = row_numbers(background)
    most = max(1, N_REFERENCES // sum(map(len, numbers)))
    per_source = max(2, N_REFERENCES // len(numbers))
    fragments, others, source, times = [], [], [], 1
    for i, rows in enumerate(numbers):
        for j in np.linspace(0, len(rows), min(len(rows), per_source), endpoint=False, dtype=int):
            n = len(rows[j])
            starts = range(min(n, most) if n > n_replicates else 1)
            times = max(times, len(starts))
            rest = [*rows[:j], *rows[j + 1 :]]
            for start in starts:
                fragments.append([rows[j][(start + np.arange(min(n, n_replicates))) % n]])
                others.append(rest)
                source.append((i, len(rest)))
    at = np.array(source, dtype=np.intp)
    n_rows = sum(len(x) for rows in numbers for x in rows)
    differences = mean_weights(fragments, n_rows) - mean_weights(others, n_rows)
    return csr_array(differences.multiply(1 / np.sqrt(1 + 1 / at[:, 1])[:, None])), at[:, 0], times


def _drawn_sets(source: Sequence[Indices], design: Design, rng: np.random.Generator) -> list[list[Indices]]:
    """Draw as many fragments of a source as are known, but at least two, a few times."""
    n, r = max(design.known, 2), design.known_replicates
    return [[subsample_rows(source[i], r, rng) for i in rng.permutation(len(source))[:n]] for _ in range(N_SETS)]


def _share_at_least(theirs: Floats, own: float) -> float:
    """Compute the share of sources with values at least as large; a source with several counts once."""
    return float((1 + (theirs >= own).mean(axis=1).sum()) / (len(theirs) + 1))


def _whitening(residuals: Floats) -> Floats:
    """Compute the root of the inverse of a covariance, shrunk towards a multiple of the identity in standard units."""
    spread = np.sqrt((residuals**2).mean(axis=0))
    scale = np.where(spread > 0, spread, 1.0)
    return WhiteningScaling().fit(residuals / scale).transform(np.eye(len(scale))) / scale[:, None]


def _dispersion(sets: Sequence[Floats]) -> float:
    """Compute the mean squared deviation of the rows of each set from their mean, pooled over the sets."""
    squares = sum(float(((x - x.mean(axis=0)) ** 2).sum()) for x in sets)
    return squares / sum(len(x) - 1 for x in sets)


def source_moments(background: Sequence[Source]) -> tuple[Floats, Floats]:
    """Compute the mean of each source and the variance of its fragment means, for each variable."""
    means = [np.array([x.mean(axis=0) for x in source]) for source in background]
    return np.array([m.mean(axis=0) for m in means]), np.array([m.var(axis=0, ddof=1) for m in means])


class VarianceStabilizer:
    """A monotone transformation of each variable after which its within-source variance does not depend on its level.

    Contents near the detection limit vary far more than others, and large ones more than small ones. The standard
    deviation of fragment means within sources is estimated as a function of the level, by averages over neighboring
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
        window = np.full(min(WINDOW_SOURCES, len(levels)), 1 / min(WINDOW_SOURCES, len(levels)))
        self.knots_, self.values_, self.slopes_ = [], [], []
        for level, variance in zip(levels.T, variances.T, strict=True):
            order = np.argsort(level, kind="stable")
            knots, first = np.unique(np.convolve(level[order], window, "valid"), return_index=True)
            local = np.convolve(variance[order], window, "valid")[first]
            spread = np.sqrt((1 - WITHIN_SHRINKAGE) * local + WITHIN_SHRINKAGE * variance.mean())
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
