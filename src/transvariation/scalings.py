"""Scalings of features, learned from known samples: they decide which samples are near each other.

Features are measured in standard deviations first (:class:`Standardization`); the scalings in `SCALINGS` continue from
there, several at once in :class:`ScaledViews`. Missing values are NaN and stay so, except after whitening, which mixes
the features: there each is replaced by its expectation given the sample's other values.
"""

from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np
from scipy.special import ndtri

from transvariation._typing import Bools, Floats

_LARGEST_DEVIATION = 1e12  # standard deviations; squares of larger values could not be added in single precision
_NO_SPREAD = 1e-9  # of the largest value: smaller differences and standard deviations are rounding error
_NO_CHANGE = 1e-6  # of the value of a constant feature: larger differences are a change
_STEP = np.sqrt(12)  # a step of a rounded value in standard deviations of its rounding error
_LEAST_SHRINKAGE = 1e-6
_IMPUTATION_ROUNDS = 3  # of missing values before a covariance is learned
_STEPS, _SOLVED = 50, 1e-12  # of conjugate gradients, and the squared error at which they end


class Standardization:
    """Measure each feature in standard deviations of the known samples.

    A standard deviation is at least ``step / sqrt(12)``, the rounding error of values that are rounded to the smallest
    step between known values: the few known samples that differ in an otherwise constant feature are at most a few
    units from the others. A feature that is constant among the known samples says nothing about its scale: every change
    counts as one such step.
    """

    def fit(self, X: Floats) -> Self:
        """Learn location and scale of each feature."""
        size = np.fmax.reduce(np.abs(X), axis=0)
        size[~(size > 0)] = 1.0
        relative = X / size  # squares of very large and very small values would overflow and vanish
        mean, spread = _mean_and_deviation(relative)
        self.mean_ = mean * size
        varies = spread > _NO_SPREAD
        self.scale_ = size * np.where(varies, np.maximum(spread, smallest_step(relative) / _STEP), _NO_CHANGE)
        self.farthest_ = np.where(varies, _LARGEST_DEVIATION, _STEP)
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
        """Learn from standardized rows."""
        return self

    def transform(self, rows: Floats) -> Floats:
        """Scale standardized rows."""
        return rows

    def fit_transform(self, rows: Floats) -> Floats:
        """Learn from standardized rows and scale them."""
        return self.fit(rows).transform(rows)


class RangeScaling(StandardScaling):
    """Measure each feature as a share of the range of the known samples; a change of a constant feature counts 1."""

    name = "range"

    def fit(self, rows: Floats) -> Self:
        """Learn the range of each feature."""
        width = np.fmax.reduce(rows, axis=0) - np.fmin.reduce(rows, axis=0)
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
        ordered = np.take_along_axis(columns, order, axis=1)  # missing values come last
        irregular = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1) | np.isnan(ordered[:, -1])
        self.knots_ = [
            _tied_scores(values) if ties else (values, scores) for values, ties in zip(ordered, irregular, strict=True)
        ]
        self.lowest_ = np.array([[values[0]] for values, _ in self.knots_])
        self.highest_ = np.array([[values[-1]] for values, _ in self.knots_])
        result = np.empty_like(columns)
        np.put_along_axis(result, order, scores, axis=1)
        for j in np.flatnonzero(irregular):
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
        if np.isnan(rows).any():
            complete = np.nan_to_num(rows)
            for _ in range(_IMPUTATION_ROUNDS):
                complete = self._learn(complete)._imputed(rows)
            rows = complete
        return self._learn(rows)

    def _learn(self, rows: Floats) -> Self:
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
        return self._apply(self._imputed(rows) if np.isnan(rows).any() else rows, self.outside_, self.inside_)

    def _apply(self, rows: Floats, outside: float, inside: Floats) -> Floats:
        return rows * outside + ((rows @ self.vectors_) * inside) @ self.vectors_.T

    def _imputed(self, rows: Floats) -> Floats:
        """Replace missing values by those that make the whitened row shortest, their Gaussian expectations.

        Conjugate gradients in all rows at once; every row is solved by itself.
        """
        missing = np.isnan(rows)
        solution = np.where(missing, 0.0, rows)
        outside = self.outside_**2
        inside = (self.inside_ + self.outside_) ** 2 - outside
        residual = np.where(missing, -self._apply(solution, outside, inside), 0.0)
        direction, norm = residual, np.einsum("ij,ij->i", residual, residual)
        target = _SOLVED * norm
        for _ in range(_STEPS):
            if not (norm > target).any():
                break
            product = np.where(missing, self._apply(direction, outside, inside), 0.0)
            curvature = np.einsum("ij,ij->i", direction, product)
            step = np.divide(norm, curvature, out=np.zeros_like(norm), where=norm > target)[:, None]
            solution, residual = solution + step * direction, residual - step * product
            new = np.einsum("ij,ij->i", residual, residual)
            direction = (
                residual + np.divide(new, norm, out=np.zeros_like(norm), where=norm > target)[:, None] * direction
            )
            norm = new
        return solution


class RawScaling(StandardScaling):
    """Keep the common unit of all features: one number, their mean variance, scales them all.

    For pixels, spectra and embeddings, whose features differ in how much they vary because some matter more.
    """

    name = "raw"

    def fit(self, rows: Floats) -> Self:
        """Learn the mean of each feature and the common scale from rows in their own unit."""
        size = np.fmax.reduce(np.abs(rows), axis=None)
        size = size if size > 0 else 1.0
        mean, spread = _mean_and_deviation(rows / size)
        self.mean_ = mean * size
        common = float(np.sqrt((spread**2).mean()))
        self.scale_ = size * (common if common > _NO_SPREAD else _NO_CHANGE)
        return self

    def transform(self, rows: Floats) -> Floats:
        """Divide by the common scale."""
        return np.clip((rows - self.mean_) / self.scale_, -_LARGEST_DEVIATION, _LARGEST_DEVIATION)


_ALL = (StandardScaling, RangeScaling, NormalScoreScaling, WhiteningScaling, RawScaling)
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
    categorical : ndarray of bool of shape (p,), optional
        The features whose values are codes of categories; these stay as they are.

    Attributes
    ----------
    known : list of ndarray of shape (n, p)
        The known samples in each scaling.
    mismatch : list of ndarray of shape (p,)
        The squared distance between different categories in each scaling; 0 for numbers. One range, or what two known
        samples differ by on average in a numeric feature of variance 1.
    """

    def __init__(
        self,
        names: Sequence[str],
        X: Floats,
        whole: "ScaledViews | None" = None,
        categorical: Bools | None = None,
    ):
        if whole is None:
            self.numeric = np.ones(X.shape[1], dtype=bool) if categorical is None else ~categorical
            self.scalings: list[StandardScaling] = [SCALINGS[name]() for name in names]
            self.mismatch = [_mismatch(X, ~self.numeric, name) for name in names]
        else:
            self.numeric, self.mismatch = whole.numeric, whole.mismatch
            self.scalings = [scaling.of_part() for scaling in whole.scalings]
        numbers = self._numbers(X)
        self.standard = Standardization().fit(numbers)
        rows = self.standard.transform(numbers)
        self.known = [
            self._with_codes(X, scaling.fit_transform(numbers if scaling.name == "raw" else rows))
            for scaling in self.scalings
        ]

    def transform(self, X: Floats) -> Iterator[Floats]:
        """Scale new samples by one scaling after the other."""
        numbers = self._numbers(X)
        rows = self.standard.transform(numbers)
        return (
            self._with_codes(X, scaling.transform(numbers if scaling.name == "raw" else rows))
            for scaling in self.scalings
        )

    def _numbers(self, X: Floats) -> Floats:
        return X if self.numeric.all() else X[:, self.numeric]

    def _with_codes(self, X: Floats, scaled: Floats) -> Floats:
        if self.numeric.all():
            return scaled
        result = X.copy()
        result[:, self.numeric] = scaled
        return result


def _mismatch(X: Floats, categorical: Bools, name: str) -> Floats:
    """Squared distance between different categories of each feature; 0 for numbers."""
    result = np.zeros(X.shape[1])
    for j in np.flatnonzero(categorical):
        codes = X[:, j][~np.isnan(X[:, j])]
        shares = np.unique(codes, return_counts=True)[1] / max(len(codes), 1)
        differing = 1 - (shares**2).sum()
        result[j] = 1.0 if name == "range" else min(2 / max(differing, 1e-9), _STEP**2)
    return result


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
    equal = (X[1:] == X[:-1]) | np.isnan(X[1:]) | np.isnan(X[:-1])
    mostly = np.flatnonzero(equal.mean(axis=0) >= 0.5) if len(X) > 1 else np.empty(0, dtype=np.intp)
    differences = np.diff(np.sort(X[:, mostly], axis=0), axis=0)
    differences[~(differences > _NO_SPREAD)] = np.inf
    smallest = differences.min(axis=0, initial=np.inf)
    step[mostly] = np.where(np.isinf(smallest), 0.0, smallest)
    return step


def _tied_scores(ordered: Floats) -> tuple[Floats, Floats]:
    """Return the distinct values and the normal score of the mean rank of each."""
    ordered = ordered[~np.isnan(ordered)]
    values, counts = np.unique(ordered, return_counts=True) if len(ordered) else (np.zeros(1), np.ones(1))
    ranks = np.cumsum(counts) - (counts - 1) / 2
    return values, ndtri(ranks / (counts.sum() + 1))


def _mean_and_deviation(X: Floats) -> tuple[Floats, Floats]:
    """Compute mean and standard deviation of the values of each column that are not missing."""
    missing = np.isnan(X)
    if not missing.any():
        return X.mean(axis=0), X.std(axis=0)
    count = np.maximum(len(X) - missing.sum(axis=0), 1)
    mean = np.where(missing, 0.0, X).sum(axis=0) / count
    return mean, np.sqrt((np.where(missing, 0.0, X - mean) ** 2).sum(axis=0) / count)


def _eigen(rows: Floats) -> tuple[Floats, Floats]:
    """Compute the positive eigenvalues of the covariance of centered rows, and their eigenvectors as columns."""
    n, p = rows.shape
    if p <= n:
        values, vectors = np.linalg.eigh(rows.T @ rows / n)
        return np.maximum(values, 0.0), vectors
    values, left = np.linalg.eigh(rows @ rows.T / n)
    positive = values > 1e-12 * max(values[-1], np.finfo(float).tiny)
    values, left = values[positive], left[:, positive]
    return values, rows.T @ left / np.sqrt(n * values)


def _ledoit_wolf(rows: Floats, values: Floats) -> tuple[float, float]:
    """Compute the mean eigenvalue and the Ledoit-Wolf shrinkage towards it from centered rows."""
    n, p = rows.shape
    mean = values.sum() / p
    if mean == 0:  # nothing varies
        return 1.0, 1.0
    squares = (values**2).sum()
    distance = squares - p * mean**2
    error = (((rows**2).sum(axis=1) ** 2).mean() - squares) / n
    shrinkage = error / distance if distance > 0 else 1.0
    return float(mean), float(np.clip(shrinkage, _LEAST_SHRINKAGE, 1.0))
