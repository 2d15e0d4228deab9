"""Scalings of features, learned from known samples: they decide which samples are near each other.

Features are measured in standard deviations first (:class:`Standardization`); the scalings in `SCALINGS` continue from
there.
"""

from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]

_FARTHEST = 1e12  # standard deviations; squares of larger values could not be added in single precision
_MOST_DECIMALS = 6  # values with more decimals are treated as continuous
_NO_SPREAD = 1e-9  # of the largest value: a smaller standard deviation is rounding error
_LEAST_SHRINKAGE = 1e-6


class Standardization:
    """Measure each feature in standard deviations of the known samples.

    A standard deviation is at least that of the rounding error, ``step / sqrt(12)``, where the values of the feature
    are rounded to a decimal step: one known sample that differs in an otherwise constant feature is not infinitely far
    from the others. A feature that is constant among the known samples is measured in steps: the median step of
    the features that vary, or a millionth of its value where nothing is rounded.
    """

    def fit(self, X: Floats) -> Self:
        """Learn location and scale of each feature."""
        size = np.abs(X).max(axis=0)
        size[size == 0] = 1.0
        relative = X / size  # squares of very large and very small values would overflow and vanish
        self.mean_ = relative.mean(axis=0) * size
        spread = relative.std(axis=0)
        step = rounding_step(X)
        scale = np.maximum(spread * size, step / np.sqrt(12))
        varies = spread > _NO_SPREAD
        others = step[varies & (step > 0)]
        self.scale_ = np.where(varies, scale, np.median(others) if len(others) else 1e-6 * size)
        return self

    def transform(self, X: Floats) -> Floats:
        """Scale the features."""
        with np.errstate(over="ignore"):
            return np.clip((X - self.mean_) / self.scale_, -_FARTHEST, _FARTHEST)


class StandardScaling:
    """Keep standard deviations as the unit of every feature."""

    name = "standard"

    def fit(self, rows: Floats) -> Self:
        """Learn from standardised rows."""
        return self

    def transform(self, rows: Floats) -> Floats:
        """Scale standardised rows."""
        return rows


class RangeScaling(StandardScaling):
    """Measure each feature as a share of the range of the known samples."""

    name = "range"

    def fit(self, rows: Floats) -> Self:
        """Learn the range of each feature."""
        width = np.ptp(rows, axis=0)
        self.width_ = np.where(width > 0, width, 1.0)
        return self

    def transform(self, rows: Floats) -> Floats:
        """Divide by the ranges."""
        return rows / self.width_


class NormalScoreScaling(StandardScaling):
    """Replace each value by the normal score of its rank among the known samples.

    Equal values share their mean rank; values between two known ones are interpolated. Beyond the known values the
    scores grow by one per standard deviation.
    """

    name = "normal"

    def fit(self, rows: Floats) -> Self:
        """Learn the sorted values of each feature and their normal scores."""
        n = len(rows)
        scores = ndtri(np.arange(1, n + 1) / (n + 1))
        ordered = np.sort(rows.T, axis=1)
        self.lowest_, self.highest_ = ordered[:, 0].copy(), ordered[:, -1].copy()
        tied = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        self.knots_ = [
            _tied_scores(values) if ties else (values, scores) for values, ties in zip(ordered, tied, strict=True)
        ]
        return self

    def transform(self, rows: Floats) -> Floats:
        """Replace values by normal scores."""
        result = np.minimum(rows - self.lowest_, 0) + np.maximum(rows - self.highest_, 0)
        columns = np.ascontiguousarray(rows.T)
        scores = [np.interp(column, *knots) for column, knots in zip(columns, self.knots_, strict=True)]
        result += np.transpose(scores)
        return result


class WhiteningScaling(StandardScaling):
    """Decorrelate the features with a shrunk covariance (Ledoit and Wolf, 2004).

    The whitening matrix is the symmetric inverse square root, so that each whitened feature still belongs to one
    original feature. It is applied through at most ``min(n, p)`` eigenvectors; no p x p matrix is formed for p > n.
    """

    name = "whitened"

    def fit(self, rows: Floats) -> Self:
        """Learn the eigenvectors and shrunk eigenvalues of the covariance."""
        values, self.vectors_ = _eigen(rows)
        mean, shrinkage = _ledoit_wolf(rows, values)
        self.shrinkage_ = shrinkage
        # In directions outside the span of the eigenvectors only the shrinkage target remains.
        self.outside_ = 1 / np.sqrt(shrinkage * mean)
        self.inside_ = 1 / np.sqrt((1 - shrinkage) * values + shrinkage * mean) - self.outside_
        return self

    def transform(self, rows: Floats) -> Floats:
        """Whiten the features."""
        return rows * self.outside_ + ((rows @ self.vectors_) * self.inside_) @ self.vectors_.T


_ALL = (StandardScaling, RangeScaling, NormalScoreScaling, WhiteningScaling)
SCALINGS: dict[str, type[StandardScaling]] = {scaling.name: scaling for scaling in _ALL}


def rounding_step(X: Floats) -> Floats:
    """Compute the decimal step to which each column is rounded, from 1 to 1e-6; 0 for columns that are not rounded.

    Examples
    --------
    >>> rounding_step(np.array([[3.0, 0.25, 1 / 3], [17.0, 1.5, 2 / 3]]))
    array([1.  , 0.01, 0.  ])
    """
    step = np.zeros(X.shape[1])
    # The first rows exclude most columns that are not rounded.
    rounded = np.flatnonzero((np.round(X[:100], _MOST_DECIMALS) == X[:100]).all(axis=0))
    for decimals in range(_MOST_DECIMALS, -1, -1):
        rounded = rounded[(np.round(X[:, rounded], decimals) == X[:, rounded]).all(axis=0)]
        step[rounded] = 10.0**-decimals
    return step


def _tied_scores(ordered: Floats) -> tuple[Floats, Floats]:
    """Return the distinct values and the normal score of the mean rank of each."""
    values, counts = np.unique(ordered, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    return values, ndtri(ranks / (len(ordered) + 1))


def _eigen(rows: Floats) -> tuple[Floats, Floats]:
    """Compute the positive eigenvalues of the covariance of centred rows, and their eigenvectors as columns."""
    n, p = rows.shape
    if p <= n:
        values, vectors = np.linalg.eigh(rows.T @ rows / n)
        return np.maximum(values, 0.0), vectors
    values, left = np.linalg.eigh(rows @ rows.T / n)
    positive = values > 1e-12 * max(values[-1], np.finfo(float).tiny)
    values, left = values[positive], left[:, positive]
    return values, rows.T @ left / np.sqrt(n * values)


def _ledoit_wolf(rows: Floats, values: Floats) -> tuple[float, float]:
    """Compute the mean eigenvalue and the Ledoit-Wolf shrinkage towards it from centred rows."""
    n, p = rows.shape
    mean = values.sum() / p
    if mean == 0:  # nothing varies
        return 1.0, 1.0
    squares = (values**2).sum()
    distance = squares - p * mean**2
    error = (((rows**2).sum(axis=1) ** 2).mean() - squares) / n
    shrinkage = error / distance if distance > 0 else 1.0
    return float(mean), float(np.clip(shrinkage, _LEAST_SHRINKAGE, 1.0))
