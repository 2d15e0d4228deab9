"""Scalings of features, learned from known samples: they decide which samples are near each other.

Features are measured in standard deviations first (:class:`Standardization`); the scalings in `SCALINGS` continue from
there, several at once in :class:`ScaledViews`.
"""

from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]

_FARTHEST = 1e12  # standard deviations; squares of larger values could not be added in single precision
_NO_SPREAD = 1e-9  # of the largest value: smaller differences and standard deviations are rounding error
_NO_CHANGE = 1e-6  # of the value of a constant feature: larger differences are a change
_STEP = np.sqrt(12)  # a step of a rounded value in standard deviations of its rounding error
_LEAST_SHRINKAGE = 1e-6


class Standardization:
    """Measure each feature in standard deviations of the known samples.

    A standard deviation is at least ``step / sqrt(12)``, the rounding error of values that are rounded to the smallest
    step between known values: the few known samples that differ in an otherwise constant feature are at most a few
    units from the others. A feature that is constant among the known samples says nothing about its scale: every change
    counts as one such step.
    """

    def fit(self, X: Floats) -> Self:
        """Learn location and scale of each feature."""
        size = np.abs(X).max(axis=0)
        size[size == 0] = 1.0
        relative = X / size  # squares of very large and very small values would overflow and vanish
        self.mean_ = relative.mean(axis=0) * size
        spread = relative.std(axis=0)
        varies = spread > _NO_SPREAD
        self.scale_ = size * np.where(varies, np.maximum(spread, smallest_step(relative) / _STEP), _NO_CHANGE)
        self.farthest_ = np.where(varies, _FARTHEST, _STEP)
        return self

    def transform(self, X: Floats) -> Floats:
        """Scale the features."""
        with np.errstate(over="ignore"):
            return np.clip((X - self.mean_) / self.scale_, -self.farthest_, self.farthest_)


class StandardScaling:
    """Keep standard deviations as the unit of every feature."""

    name = "standard"

    def of_part(self) -> "StandardScaling":
        """Return a scaling to be learned from a part of the samples, which scales alike."""
        return type(self)()

    def fit(self, rows: Floats) -> Self:
        """Learn from standardised rows."""
        return self

    def transform(self, rows: Floats) -> Floats:
        """Scale standardised rows."""
        return rows

    def fit_transform(self, rows: Floats) -> Floats:
        """Learn from standardised rows and scale them."""
        return self.fit(rows).transform(rows)


class RangeScaling(StandardScaling):
    """Measure each feature as a share of the range of the known samples; a change of a constant feature counts 1."""

    name = "range"

    def fit(self, rows: Floats) -> Self:
        """Learn the range of each feature."""
        width = np.ptp(rows, axis=0)
        self.width_ = np.where(width > 0, width, _STEP)
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
        self.fit_transform(rows)
        return self

    def fit_transform(self, rows: Floats) -> Floats:
        """Learn the normal scores of rows and return them; their ranks are known from sorting."""
        n = len(rows)
        scores = ndtri(np.arange(1, n + 1) / (n + 1))
        columns = np.ascontiguousarray(rows.T)
        order = np.argsort(columns, axis=1)
        ordered = np.take_along_axis(columns, order, axis=1)
        self.lowest_, self.highest_ = ordered[:, :1].copy(), ordered[:, -1:].copy()
        tied = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        self.knots_ = [
            _tied_scores(values) if ties else (values, scores) for values, ties in zip(ordered, tied, strict=True)
        ]
        result = np.empty_like(columns)
        np.put_along_axis(result, order, scores, axis=1)
        for j in np.flatnonzero(tied):
            result[j] = np.interp(columns[j], *self.knots_[j])
        return np.ascontiguousarray(result.T)

    def transform(self, rows: Floats) -> Floats:
        """Replace values by normal scores."""
        columns = np.ascontiguousarray(rows.T)
        order = np.argsort(columns, axis=1)  # sorted values are found faster among the knots
        result = np.minimum(columns - self.lowest_, 0) + np.maximum(columns - self.highest_, 0)
        for scores, values, rank, knots in zip(result, columns, order, self.knots_, strict=True):
            scores[rank] += np.interp(values[rank], *knots)
        return np.ascontiguousarray(result.T)


class WhiteningScaling(StandardScaling):
    """Decorrelate the features with a shrunk covariance (Ledoit and Wolf, 2004).

    The whitening matrix is the symmetric inverse square root, so that each whitened feature still belongs to one
    original feature. It is applied through at most ``min(n, p)`` eigenvectors; no p x p matrix is formed for p > n.
    """

    name = "whitened"
    shrinkage: float | None = None  # None: that of Ledoit and Wolf

    def of_part(self) -> "WhiteningScaling":
        """Return a scaling with the shrinkage of this one.

        Fewer samples are shrunk more, which shortens all distances. With more features than samples these differ so
        little among target samples that each of them would seem nearer than new ones.
        """
        part = WhiteningScaling()
        part.shrinkage = self.shrinkage_
        return part

    def fit(self, rows: Floats) -> Self:
        """Learn the eigenvectors and shrunk eigenvalues of the covariance."""
        values, self.vectors_ = _eigen(rows)
        mean, shrinkage = _ledoit_wolf(rows, values)
        if self.shrinkage is not None:
            shrinkage = self.shrinkage
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


class ScaledViews:
    """Known samples in several scalings, named in `SCALINGS`, and the same scalings for new samples.

    Parameters
    ----------
    names : sequence of str
    X : ndarray of shape (n, p)
        The known samples, from which the scalings are learned.
    whole : ScaledViews, optional
        The views of all known samples, if `X` is a part of them.

    Attributes
    ----------
    known : list of ndarray of shape (n, p)
        The known samples in each scaling.
    """

    def __init__(self, names: Sequence[str], X: Floats, whole: "ScaledViews | None" = None):
        self.standard = Standardization().fit(X)
        self.scalings: list[StandardScaling] = (
            [SCALINGS[name]() for name in names] if whole is None else [scaling.of_part() for scaling in whole.scalings]
        )
        rows = self.standard.transform(X)
        self.known = [scaling.fit_transform(rows) for scaling in self.scalings]

    def transform(self, X: Floats) -> Iterator[Floats]:
        """Scale new samples by one scaling after the other."""
        rows = self.standard.transform(X)
        return (scaling.transform(rows) for scaling in self.scalings)


def smallest_step(X: Floats) -> Floats:
    """Compute the smallest difference between values of each column in which most values are equal; 0 for others.

    In other columns the difference is too small beside the standard deviation to matter.

    Examples
    --------
    >>> smallest_step(np.array([[0.0, 0.1], [0.0, 0.2], [0.0, 0.5], [0.25, 0.7], [0.0, 0.8]]))
    array([0.25, 0.  ])
    """
    step = np.zeros(X.shape[1])
    # A step matters if more than 90% of the values are equal; then, in any order, most values equal the next one.
    mostly = np.flatnonzero((X[1:] == X[:-1]).mean(axis=0) >= 0.5) if len(X) > 1 else np.empty(0, dtype=np.intp)
    differences = np.diff(np.sort(X[:, mostly], axis=0), axis=0)
    differences[differences <= _NO_SPREAD] = np.inf
    smallest = differences.min(axis=0, initial=np.inf)
    step[mostly] = np.where(np.isinf(smallest), 0.0, smallest)
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
