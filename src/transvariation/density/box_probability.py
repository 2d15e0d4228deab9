"""Probabilities of boxes under Gaussians and their mixtures: the integrals of the density-based tp.

A box has one pair of sides per variable, either of which may be infinite. Everything is computed on the log scale, so
that a box far in the tail still has a probability, and vectorised over boxes.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from transvariation.density.bivariate import compiled_mixture, log_box2
from transvariation.density.interval import log_interval
from transvariation.density.minimax_tilting import MAX_VARIABLES, log_box_tilted
from transvariation.density.trivariate import log_box3
from transvariation.validation import blocks

Floats = NDArray[np.float64]
# Measures standardised boxes under correlations: log probabilities and relative errors.
Measure = Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]

_FARTHEST = 1e6  # standard deviations, for three and more correlated variables
_BLOCK = 1 << 18  # boxes times components held at a time


class TooManyVariables(ValueError):
    """Correlated variables that no box probability can be computed for: what is wrong, and what to do about it.

    Callers whose users have other remedies put these in the second place.

    >>> print(TooManyVariables("30 variables are too many", "use fewer"))
    30 variables are too many; use fewer
    """

    def __init__(self, wrong: str, remedy: str):
        super().__init__(wrong, remedy)

    def __str__(self) -> str:
        return "; ".join(self.args)


def normal_box_probability(
    mean: ArrayLike,
    cov: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    log: bool = False,
    tolerance: float = 1e-3,
    seed: int = 0,
) -> Floats:
    """Compute P(lower < X < upper) for X normal with the given mean and covariance.

    The relative error is below 1e-10 for independent variables and for up to two, and below 1e-8 for three, however
    small the probability. Four and more correlated variables need quasi Monte Carlo, to a relative error of about
    `tolerance`, far in the tails as well.

    Parameters
    ----------
    mean : array-like of shape (p,)
    cov : array-like of shape (p, p)
        Positive definite.
    lower, upper : array-like of shape (q, p) or (p,)
        The sides of the boxes, possibly infinite. A box whose lower side is not below its upper one is empty.
    log : bool
        Return the logarithm, which does not underflow.
    tolerance : float
        The relative error (three standard errors) to aim at with four and more correlated variables. Raises an error
        where ten times as much is missed; :func:`mixture_box_error` tells the error reached.
    seed : int
        Shifts the lattice of the quasi Monte Carlo; the same seed gives the same numbers.

    Returns
    -------
    ndarray of shape (q,)

    Examples
    --------
    >>> normal_box_probability([0, 0], [[1, 0.5], [0.5, 1]], [[0, 0], [9, 9]], [[np.inf, np.inf]])
    array([3.33333333e-01, 1.71270682e-26])
    """
    mean = np.atleast_1d(np.asarray(mean, dtype=float))
    cov = np.atleast_2d(np.asarray(cov, dtype=float))
    return mixture_box_probability([1.0], mean[None], cov, lower, upper, log=log, tolerance=tolerance, seed=seed)


def mixture_box_probability(
    weights: ArrayLike,
    means: ArrayLike,
    covs: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    log: bool = False,
    tolerance: float = 1e-3,
    seed: int = 0,
) -> Floats:
    """Compute P(lower < X < upper) for X from a Gaussian mixture.

    Parameters
    ----------
    weights : array-like of shape (G,)
        Non-negative, with sum one.
    means : array-like of shape (G, p)
    covs : array-like of shape (G, p, p), or (p, p) for components that share one
    lower, upper, log, tolerance, seed
        As for :func:`normal_box_probability`.

    Returns
    -------
    ndarray of shape (q,)

    Examples
    --------
    >>> mixture_box_probability([0.5, 0.5], [[0], [4]], [[[1]], [[1]]], [[4], [40]], [[np.inf], [np.inf]])
    array([2.50015836e-001, 2.09131203e-284])
    """
    log_p, error = _log_mixture_boxes(weights, means, covs, lower, upper, tolerance, seed)
    if (error > 10 * tolerance).any():
        raise TooManyVariables(
            f"{np.shape(means)[-1]} correlated variables are too many for the relative precision {tolerance}: the "
            f"worst box has {error.max():.1g}",
            "reduce the variables first, or raise the tolerance",
        )
    return log_p if log else np.exp(log_p)


def mixture_box_error(
    weights: ArrayLike,
    means: ArrayLike,
    covs: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    tolerance: float = 1e-3,
    seed: int = 0,
) -> Floats:
    """Report the relative error of :func:`mixture_box_probability`: three standard errors of the quasi Monte Carlo.

    Zero stands for boxes that need none and keep eight digits or more. Where variables repeat each other almost exactly
    (correlations beyond 0.9999) the error cannot be trusted: all points of the lattice may miss a narrow edge of the
    box, as they then do under every shift, and errors up to 1e-3 were seen where almost none was reported.

    Examples
    --------
    >>> mixture_box_error([1.0], np.zeros((1, 4)), np.full((4, 4), 0.5) + np.eye(4) / 2, np.zeros(4), np.ones(4)) < 1e-3
    array([ True])
    """
    return _log_mixture_boxes(weights, means, covs, lower, upper, tolerance, seed)[1]


def _log_mixture_boxes(
    weights: ArrayLike,
    means: ArrayLike,
    covs: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    tolerance: float,
    seed: int,
) -> tuple[Floats, Floats]:
    weights = np.asarray(weights, dtype=float)
    means, covs = np.atleast_2d(np.asarray(means, dtype=float)), np.asarray(covs, dtype=float)
    lower, upper = _sides(lower, upper, means.shape[1])
    _check_components(weights, means, covs)
    if means.shape[1] == 2:
        whole = np.broadcast_to(covs, (len(means), 2, 2))
        fused = compiled_mixture(weights, means, whole, lower, upper)
        if fused is not None:
            rest = np.flatnonzero(fused > 0.5)  # no log probability: boxes with two sides, and far ones
            if len(rest):
                fused[rest] = _log_boxes(weights, means, covs, lower[rest], upper[rest], tolerance, seed)[0]
            return fused, np.zeros(len(lower))
    return _log_boxes(weights, means, covs, lower, upper, tolerance, seed)


def _log_boxes(
    weights: Floats, means: Floats, covs: Floats, lower: Floats, upper: Floats, tolerance: float, seed: int
) -> tuple[Floats, Floats]:
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    log_p, error = np.empty(len(lower)), np.empty(len(lower))
    for columns, rows in _by_bounded_columns(lower, upper):
        log_p[rows], error[rows] = _log_mixture(
            log_weights,
            means[:, columns],
            covs[..., columns[:, None], columns],
            lower[np.ix_(rows, columns)],
            upper[np.ix_(rows, columns)],
            partial(_log_standard, tolerance=tolerance, seed=seed),
        )
    return log_p, error


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
    if not abs(weights.sum() - 1.0) <= 1e-6 or (weights < 0).any():
        raise ValueError(f"the weights {weights} must not be negative and must sum to one")
    smallest = least_eigenvalue(covs)
    if not smallest > 0:
        raise ValueError(
            f"the correlations of a covariance have the eigenvalue {smallest:.3g}; boxes need positive definite "
            "covariances: drop variables that are constant or determined by others"
        )


def least_eigenvalue(covs: Floats) -> float:
    """Find the smallest eigenvalue of all correlation matrices; for a variance that is not positive, say that instead.

    The covariances themselves would show the units of measurement: rounding makes their eigenvalues negative where
    one unit is much larger than another.

    Examples
    --------
    >>> round(least_eigenvalue(np.array([[1e12, 0.5], [0.5, 1e-12]])), 3)
    0.5
    """
    variances = np.diagonal(covs, axis1=-2, axis2=-1)
    if not (variances > 0).all():
        return float(variances.min())
    scale = np.sqrt(variances)
    return float(np.linalg.eigvalsh(covs / scale[..., None, :] / scale[..., :, None])[..., 0].min())


def _by_bounded_columns(lower: Floats, upper: Floats) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Sort the boxes by the variables that they bound at all: the others leave a marginal distribution."""
    bounded = (lower > -np.inf) | (upper < np.inf)
    if bounded.all():
        return [(np.arange(lower.shape[1]), np.arange(len(lower)))]
    patterns, group = np.unique(bounded, axis=0, return_inverse=True)
    return [(np.flatnonzero(kept), np.flatnonzero(group.reshape(-1) == i)) for i, kept in enumerate(patterns)]


def _log_mixture(
    log_weights: Floats, means: Floats, covs: Floats, lower: Floats, upper: Floats, measure: Measure
) -> tuple[Floats, Floats]:
    n_components, p = means.shape
    if p == 0:
        return np.zeros(len(lower)), np.zeros(len(lower))
    if covs.ndim == 3:
        parts = [_log_shared(log_weights[[g]], means[[g]], covs[g], lower, upper, measure) for g in range(n_components)]
        return _add(np.column_stack([part for part, _ in parts]), np.column_stack([error for _, error in parts]))
    log_p, error = np.empty(len(lower)), np.empty(len(lower))
    for rows in blocks(len(lower), _BLOCK // n_components):
        log_p[rows], error[rows] = _log_shared(log_weights, means, covs, lower[rows], upper[rows], measure)
    return log_p, error


def _log_shared(
    log_weights: Floats, means: Floats, cov: Floats, lower: Floats, upper: Floats, measure: Measure
) -> tuple[Floats, Floats]:
    """Components with one covariance: standardise all boxes about all means, then measure them in one go."""
    scale = np.sqrt(np.diag(cov))
    corr = cov / np.outer(scale, scale)
    p = len(scale)
    with np.errstate(over="ignore"):  # a side too far for a number is infinitely far
        low, high = (((side[:, None] - means) / scale).reshape(-1, p) for side in (lower, upper))
    log_p, error = measure(low, high, corr)
    shape = (len(lower), len(means))
    return _add(log_weights + log_p.reshape(shape), error.reshape(shape))


def _add(log_p: Floats, error: Floats) -> tuple[Floats, Floats]:
    """Sum the components' probabilities on the log scale; their relative errors count as much as they do."""
    if log_p.shape[1] == 1:
        return log_p[:, 0], error[:, 0]
    largest = log_p.max(axis=1, keepdims=True)
    shares = np.exp(log_p - np.where(largest > -np.inf, largest, 0.0))
    total = shares.sum(axis=1)
    with np.errstate(divide="ignore"):
        log_total = np.log(total) + largest[:, 0]
    if not error.any():
        return log_total, np.zeros(len(total))
    return log_total, np.divide((shares * error).sum(axis=1), total, out=np.zeros(len(total)), where=total > 0)


def _log_standard(lower: Floats, upper: Floats, corr: Floats, *, tolerance: float, seed: int) -> tuple[Floats, Floats]:
    """Measure standardised boxes by the method for their number of variables."""
    p = len(corr)
    exact = np.zeros(len(lower))
    if np.array_equal(corr, np.diag(np.diag(corr))):  # independent variables, and one variable
        return np.sum([log_interval(lower[:, u], upper[:, u]) for u in range(p)], axis=0), exact
    if p == 2:
        return log_box2(lower, upper, corr[0, 1]), exact
    # Where squares of the sides leave no digits for the rest, farther makes no difference.
    lower, upper = (np.where(np.isfinite(side), np.clip(side, -_FARTHEST, _FARTHEST), side) for side in (lower, upper))
    if p == 3:
        return log_box3(lower, upper, corr), exact
    if p > MAX_VARIABLES:
        raise TooManyVariables(
            f"boxes with {p} correlated variables are out of reach, {MAX_VARIABLES} are possible",
            "reduce the variables first, or use a density of independent ones",
        )
    return log_box_tilted(lower, upper, corr, tolerance=tolerance, seed=seed)
