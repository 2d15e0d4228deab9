"""Probabilities of boxes under Gaussians and their mixtures: the integrals of the density-based tp.

A box has one pair of sides per variable, either of which may be infinite. Everything is computed on the log scale, so
that a box far in the tail still has a probability, and vectorised over boxes.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from transvariation.typicality.bivariate import log_box2
from transvariation.typicality.interval import log_interval
from transvariation.typicality.trivariate import log_box3

Floats = NDArray[np.float64]

_BLOCK = 1 << 18  # boxes times components held at a time


def normal_box_probability(
    mean: ArrayLike, cov: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, log: bool = False
) -> Floats:
    """Compute P(lower < X < upper) for X normal with the given mean and covariance.

    The relative error is below 1e-10 in one and two variables and below 1e-8 in three, however small the probability.

    Parameters
    ----------
    mean : array-like of shape (p,)
    cov : array-like of shape (p, p)
        Positive definite.
    lower, upper : array-like of shape (q, p) or (p,)
        The sides of the boxes, possibly infinite. A box whose lower side is not below its upper one is empty.
    log : bool
        Return the logarithm, which does not underflow.

    Returns
    -------
    ndarray of shape (q,)

    Examples
    --------
    >>> normal_box_probability([0, 0], [[1, 0.5], [0.5, 1]], [[0, 0], [9, 9]], [[np.inf, np.inf]])
    array([3.33333333e-01, 1.71270682e-26])
    """
    mean = np.atleast_1d(np.asarray(mean, dtype=float))
    return mixture_box_probability(
        [1.0], mean[None], np.atleast_2d(np.asarray(cov, dtype=float)), lower, upper, log=log
    )


def mixture_box_probability(
    weights: ArrayLike, means: ArrayLike, covs: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, log: bool = False
) -> Floats:
    """Compute P(lower < X < upper) for X from a Gaussian mixture.

    Parameters
    ----------
    weights : array-like of shape (G,)
        Non-negative, with sum one.
    means : array-like of shape (G, p)
    covs : array-like of shape (G, p, p), or (p, p) for components that share one
    lower, upper, log
        As for :func:`normal_box_probability`.

    Returns
    -------
    ndarray of shape (q,)

    Examples
    --------
    >>> mixture_box_probability([0.5, 0.5], [[0], [4]], [[[1]], [[1]]], [[4], [40]], [[np.inf], [np.inf]])
    array([2.50015836e-001, 2.09131203e-284])
    """
    weights = np.asarray(weights, dtype=float)
    means, covs = np.atleast_2d(np.asarray(means, dtype=float)), np.asarray(covs, dtype=float)
    lower, upper = _sides(lower, upper, means.shape[1])
    _check_components(weights, means, covs)
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    result = np.empty(len(lower))
    for columns, rows in _by_bounded_columns(lower, upper):
        result[rows] = _log_mixture(
            log_weights,
            means[:, columns],
            covs[..., columns[:, None], columns],
            lower[np.ix_(rows, columns)],
            upper[np.ix_(rows, columns)],
        )
    return result if log else np.exp(result)


def _sides(lower: ArrayLike, upper: ArrayLike, p: int) -> tuple[Floats, Floats]:
    lower, upper = np.broadcast_arrays(
        np.atleast_2d(np.asarray(lower, dtype=float)), np.atleast_2d(np.asarray(upper, dtype=float))
    )
    if lower.ndim != 2 or lower.shape[1] != p:
        raise ValueError(f"the sides of the boxes have shape {lower.shape}; give one row per box and {p} columns")
    if np.isnan(lower).any() or np.isnan(upper).any():
        raise ValueError("a side of a box is NaN; use -inf and inf for sides that are absent")
    return lower, upper


def _check_components(weights: Floats, means: Floats, covs: Floats) -> None:
    n_components, p = means.shape
    if weights.shape != (n_components,) or covs.shape not in ((p, p), (n_components, p, p)):
        raise ValueError(
            f"weights of shape {weights.shape}, means of shape {means.shape} and covariances of shape {covs.shape} do "
            "not belong together; give (G,), (G, p) and (G, p, p)"
        )
    if not np.isclose(weights.sum(), 1.0, rtol=0, atol=1e-6) or (weights < 0).any():
        raise ValueError(f"the weights {weights} must not be negative and must sum to one")
    smallest = np.linalg.eigvalsh(covs)[..., 0]
    if not (smallest > 0).all():
        raise ValueError(
            f"a covariance has the eigenvalue {smallest.min():.3g}; boxes need positive definite covariances: drop "
            "variables that are constant or determined by others"
        )


def _by_bounded_columns(lower: Floats, upper: Floats) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Sort the boxes by the variables that they bound at all: the others leave a marginal distribution."""
    bounded = (lower > -np.inf) | (upper < np.inf)
    if bounded.all():
        return [(np.arange(lower.shape[1]), np.arange(len(lower)))]
    patterns, group = np.unique(bounded, axis=0, return_inverse=True)
    return [(np.flatnonzero(kept), np.flatnonzero(group.reshape(-1) == i)) for i, kept in enumerate(patterns)]


def _log_mixture(log_weights: Floats, means: Floats, covs: Floats, lower: Floats, upper: Floats) -> Floats:
    n_components, p = means.shape
    if p == 0:
        return np.full(len(lower), logsumexp(log_weights))
    result = np.full(len(lower), -np.inf)
    if covs.ndim == 3:
        for g in range(n_components):
            component = _log_shared(log_weights[[g]], means[[g]], covs[g], lower, upper)
            result = np.logaddexp(result, component) if g else component
        return result
    step = max(1, _BLOCK // n_components)
    for start in range(0, len(lower), step):
        part = slice(start, start + step)
        result[part] = _log_shared(log_weights, means, covs, lower[part], upper[part])
    return result


def _log_shared(log_weights: Floats, means: Floats, cov: Floats, lower: Floats, upper: Floats) -> Floats:
    """Components with one covariance: standardise all boxes about all means, then measure them in one go."""
    scale = np.sqrt(np.diag(cov))
    corr = cov / np.outer(scale, scale)
    p = len(scale)
    low, high = (((side[:, None] - means) / scale).reshape(-1, p) for side in (lower, upper))
    logs = log_weights + _log_standard(low, high, corr).reshape(len(lower), len(means))
    return logs[:, 0] if len(means) == 1 else logsumexp(logs, axis=1)


def _log_standard(lower: Floats, upper: Floats, corr: Floats) -> Floats:
    p = len(corr)
    if np.array_equal(corr, np.diag(np.diag(corr))):  # independent variables, and one variable
        return np.sum([log_interval(lower[:, u], upper[:, u]) for u in range(p)], axis=0)
    if p == 2:
        return log_box2(lower, upper, corr[0, 1])
    if p == 3:
        return log_box3(lower, upper, corr)
    raise ValueError(f"boxes with {p} correlated variables are not available; reduce the variables first")
