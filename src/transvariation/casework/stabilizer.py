"""Transform variables so that fragments of one source vary equally at every level."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from transvariation.casework.same_source import Source

Floats = NDArray[np.float64]

WINDOW = 20  # neighbouring sources over which the within-source variance is averaged
SHRINKAGE = 0.1  # towards the variance over all sources


class VarianceStabilizer:
    """A monotone transformation of each variable after which its within-source variance does not depend on its level.

    Contents near the detection limit vary far more than others, and large ones more than small ones. The standard
    deviation of fragment means within sources is estimated as a function of the level, by averages over neighbouring
    background sources, and its reciprocal is integrated. Likelihood ratios do not change under such a transformation,
    as far as their model is right on either scale; it makes the assumption of one within-source covariance plausible.

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

    def fit(self, background: Sequence[Source]) -> "VarianceStabilizer":
        """Learn from a background: one list of fragments per source."""
        means = [np.array([x.mean(axis=0) for x in source]) for source in background if len(source) > 1]
        levels = np.array([m.mean(axis=0) for m in means])
        variances = np.array([m.var(axis=0, ddof=1) for m in means])
        window = np.full(min(WINDOW, len(means)), 1 / min(WINDOW, len(means)))
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
        columns = []
        for x, knots, values, (low, high) in zip(X.T, self.knots_, self.values_, self.slopes_, strict=True):
            inside = np.interp(x, knots, values)
            columns.append(inside + low * np.minimum(x - knots[0], 0) + high * np.maximum(x - knots[-1], 0))
        return np.column_stack(columns)
