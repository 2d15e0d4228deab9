"""Compare samples with a target class, feature by feature."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from transvariation._typing import Floats, Indices, Rows
from transvariation.conformal import group_weights, p_values
from transvariation.depth.probability import transvariation_probability
from transvariation.validation import column_names

if TYPE_CHECKING:
    from transvariation.description import Description


class ExplanationMixin:
    """Explain samples feature by feature, for classifiers that keep training samples in `sample_`."""

    sample_: Rows
    description_: Description
    _sample_groups: Indices | None
    _sensitivity: float | ArrayLike
    _validated: Callable[[ArrayLike], Rows]

    def explain(self, X: ArrayLike) -> pd.DataFrame:
        """Compare samples with the target class, feature by feature; texts and sparse matrices have none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to explain.

        Returns
        -------
        DataFrame
            One row per sample and feature: ``sample`` (the index of `X`, or the row number), ``feature``, ``value``,
            ``median`` of the target samples (of those in the sample's own stratum, where there are several), ``side``
            (below, at, above the median), and the results for this feature only: ``tp``, the transvariation
            probability, ``p_value``, the share of target samples that lie as far from the median of the others, and
            ``univariate_rejection``, whether it is at most one minus the sensitivity. They refer to `sample_`, at most
            1,000 training samples.
        """
        rows, strata = self._validated(X), self.description_.strata
        if not hasattr(self, "sample_"):
            raise TypeError("texts and sparse matrices cannot be explained feature by feature; fit a dense table")
        names = getattr(self, "feature_names_in_", None)
        known, new = as_frame(self.sample_, names), as_frame(rows, names)
        if hasattr(X, "iloc"):
            new.index = X.index  # type: ignore[assignment, union-attr]
        weights = None if self._sample_groups is None else group_weights(self._sample_groups)
        level = 1 - float(np.asarray(self._sensitivity, dtype=np.float64).mean())
        return feature_table(known, new, strata(self.sample_), strata(rows), weights, level)


def as_frame(X: Rows, names: list[str] | None = None) -> pd.DataFrame:
    """Convert rows to a DataFrame of their numeric columns; columns without names are called x0, x1, ..."""
    if column_names(X) is None:
        X = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])] if names is None else names)
    return to_pandas(X).select_dtypes("number")


def to_pandas(X: Rows) -> Rows:
    """Convert a polars or Arrow table to pandas; return anything else as it is."""
    names = column_names(X)
    if names is None or hasattr(X, "iloc"):
        return X
    return pd.DataFrame({name: X[name].to_numpy() for name in names})


def feature_table(
    known: pd.DataFrame,
    new: pd.DataFrame,
    known_strata: Indices | None = None,
    strata: Indices | None = None,
    weights: Floats | None = None,
    level: float = 0.1,
) -> pd.DataFrame:
    """Describe every sample by every feature on its own, among the target samples of its stratum.

    Parameters
    ----------
    known : DataFrame
        The target samples.
    new : DataFrame
        The samples to describe, with the same columns.
    known_strata, strata : ndarray of int, optional
        The strata of both.
    weights : ndarray, optional
        The weights of the target samples.
    level : float, default=0.1
        The p-value up to which a feature rejects alone.

    Returns
    -------
    DataFrame
        See :meth:`transvariation.base.OneClassClassifier.explain`.
    """
    X, value = (frame.to_numpy(dtype=np.float64) for frame in (known, new[known.columns]))
    median, tp = np.full(value.shape, np.nan), np.full(value.shape, np.nan)
    p_value = np.ones(value.shape)  # a missing value is no evidence against a sample
    for stratum in [0] if strata is None else np.unique(strata):
        own = np.ones(len(X), dtype=bool) if known_strata is None else known_strata == stratum
        inside = np.ones(len(value), dtype=bool) if strata is None else strata == stratum
        for j in range(X.shape[1]):
            there, asked = own & np.isfinite(X[:, j]), np.flatnonzero(inside & np.isfinite(value[:, j]))
            units, z = X[there, j], value[asked, j]
            if len(units) and len(asked):
                median[asked, j] = np.median(units)
                tp[asked, j] = transvariation_probability(units, z, tau_max="half")
                share = None if weights is None else weights[there]
                p_value[asked, j] = univariate_p_values(units[:, None], z[:, None], share)[:, 0]
    side = np.sign(np.nan_to_num(value - median)).astype(int)
    return pd.DataFrame(
        {
            "sample": np.repeat(new.index.to_numpy(), value.shape[1]),
            "feature": np.tile(np.asarray(known.columns, dtype=object), len(value)),
            "value": value.ravel(),
            "median": median.ravel(),
            "side": np.array(["below", "at", "above"], dtype=object)[side + 1].ravel(),
            "tp": tp.ravel(),
            "p_value": p_value.ravel(),
            "univariate_rejection": p_value.ravel() <= level + 1e-9,
        }
    )


def univariate_p_values(known: Floats, new: Floats, weights: Floats | None = None) -> Floats:
    """Compute p-values by one feature at a time.

    The share of known samples, each compared with the median of the others, that lie at least as far away as the new
    sample from the median of all.

    Parameters
    ----------
    known : ndarray of shape (n, p)
    new : ndarray of shape (m, p)
    weights : ndarray of shape (n,), optional
        Weights of the known samples, which sum to 1 within each group.

    Returns
    -------
    ndarray of shape (m, p)

    Examples
    --------
    >>> univariate_p_values(np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([[2.5], [9.0]]))
    array([[1. ],
           [0.2]])
    """
    own = -np.abs(known - _medians_of_others(known))
    away = -np.abs(new - np.median(known, axis=0))
    return np.column_stack([p_values(x, z, weights) for x, z in zip(own.T, away.T, strict=True)])


def corrected_p_values(known: Floats, new: Floats) -> Floats:
    """Compute p-values by one feature at a time, corrected for the number of features.

    The share of known samples that in any feature lie at least as far from the median of the others as the new sample
    does in this one (Westfall and Young, 1993). Distances are in root mean squares of those of the other known samples.

    Parameters
    ----------
    known : ndarray of shape (n, p)
    new : ndarray of shape (m, p)

    Returns
    -------
    ndarray of shape (m, p)

    Examples
    --------
    >>> corrected_p_values(np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 9.0], [4.0, 3.0]]), np.array([[2.5, 9.0]]))
    array([[1. , 0.4]])
    """
    return largest_p_values(np.abs(known - _medians_of_others(known)), np.abs(new - np.median(known, axis=0)))


def largest_p_values(known: Floats, new: Floats, rank: Callable[..., Floats] = p_values) -> Floats:
    """Rank each feature's distance of new samples among the largest distances of known samples over all features.

    Parameters
    ----------
    known : ndarray of shape (n, p)
        Distances of the known samples.
    new : ndarray of shape (m, p)
        Distances of the new samples.
    rank : callable
        Computes p-values from known and new scores, high = typical.

    Returns
    -------
    ndarray of shape (m, p)
    """
    smallest = np.finfo(float).tiny ** 0.25
    largest = np.maximum(known.max(axis=0), smallest)
    with np.errstate(over="ignore"):
        known, new = known / largest, new / largest
        squares, n = known**2, len(known)
        scale = np.maximum(np.sqrt(squares.mean(axis=0)), smallest)
        others = np.maximum(np.sqrt((squares.sum(axis=0) - squares).clip(0) / max(n - 1, 1)), smallest)
        return rank(-(known / others).max(axis=1), -(new / scale).ravel()).reshape(new.shape)


def _medians_of_others(X: Floats) -> Floats:
    """Compute for each row the medians of the other rows, by column."""
    n = len(X)
    if n == 1:
        return X
    order = np.argsort(X, axis=0, kind="stable")
    ordered, rank = np.take_along_axis(X, order, axis=0), np.argsort(order, axis=0)
    # Without the value of rank r, the k-th of the rest is the (k + 1)-th of all from r on.
    middle = [np.where(rank <= k, ordered[k + 1], ordered[k]) for k in ((n - 2) // 2, (n - 1) // 2)]
    return (middle[0] + middle[1]) / 2
