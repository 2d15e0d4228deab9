"""Probabilities of boxes under Gaussians and their mixtures: the integrals of the density-based tp.

A box has one pair of sides per feature, either of which may be infinite. Everything is computed on the log scale, so
that the probability of a box far in the tail does not underflow, and vectorized over boxes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from transvariation._typing import Floats, Indices
from transvariation.density.minimax_tilting import MAX_VARIABLES, log_box_tilted
from transvariation.density.normal_boxes import log_box2, log_box3, log_interval
from transvariation.validation import blocks

MAX_EXACT_VARIABLES = 3  # correlated variables; more need quasi Monte Carlo
_RELATIVE_TOLERANCE = 1e-3
_NEGLIGIBLE_LOG = -50.0  # log probabilities below which no digits are needed if any precision is accepted
_FARTHEST_SIDE = 1e6  # standard deviations, for three and more correlated variables
_BLOCK_BOXES = 1 << 15  # boxes times components at a time, so that the working arrays stay in the cache


class TooManyVariables(ValueError):
    """Raised where box probabilities of so many correlated features cannot be computed.

    The arguments are what is wrong and the remedy; callers whose users have other remedies replace the second.

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
    tolerance: float | None = 1e-3,
    seed: int = 0,
) -> Floats:
    """Compute P(lower < X < upper) for X normal with the given mean and covariance.

    The relative error is below 1e-10 for independent features and for up to two, and below 1e-8 for three, however
    small the probability. Four and more correlated features need quasi Monte Carlo, to a relative error of about
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
    tolerance : float or None
        The relative error (three standard errors) to aim at with four and more correlated features. Raises
        `TooManyVariables` where the error exceeds ten times this. None aims at 1e-3, except for probabilities below
        1e-21, and accepts any error.
    seed : int
        Shifts the lattice of the quasi Monte Carlo; the same seed gives the same numbers.

    Returns
    -------
    ndarray of shape (q,)

    See Also
    --------
    transvariation.density.mixture_box_probability : Several components.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.density import normal_box_probability
    >>> lower, upper = [[0, 0], [9, 9]], [[np.inf, np.inf]]
    >>> normal_box_probability([0, 0], [[1, 0.5], [0.5, 1]], lower, upper)
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
    tolerance: float | None = 1e-3,
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

    See Also
    --------
    transvariation.density.normal_box_probability : One component.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.density import mixture_box_probability
    >>> weights, means, covs = [0.5, 0.5], [[0], [4]], [[[1]], [[1]]]
    >>> mixture_box_probability(weights, means, covs, [[4], [40]], [[np.inf]])
    array([2.50015836e-001, 2.09131203e-284])
    """
    _check_components(weights, means, covs)
    log_p, error = log_mixture_boxes(weights, means, covs, lower, upper, tolerance=tolerance, seed=seed)
    if tolerance is not None and (error > 10 * tolerance).any():
        raise TooManyVariables(
            f"{np.shape(means)[-1]} correlated variables are too many for the relative precision {tolerance}: the "
            f"worst box has {error.max():.1g}",
            "reduce the variables first, or raise the tolerance",
        )
    return log_p if log else np.exp(log_p)


def log_mixture_boxes(
    weights: ArrayLike,
    means: ArrayLike,
    covs: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    tolerance: float | None = None,
    seed: int = 0,
) -> tuple[Floats, Floats]:
    """Compute log P(lower < X < upper) for X from a valid Gaussian mixture, and the relative errors of P.

    The errors are three standard errors of the quasi Monte Carlo. They are zero for boxes that need none and have eight
    digits or more. Where features repeat each other almost exactly (correlations beyond 0.9999) they are not reliable:
    all points of the lattice may miss a narrow edge of the box under every shift, and errors up to 1e-3 were seen where
    almost none was reported.

    Examples
    --------
    >>> corr = np.full((4, 4), 0.5) + np.eye(4) / 2
    >>> log_mixture_boxes([1.0], np.zeros((1, 4)), corr, np.zeros(4), np.ones(4))[1] < 1e-3
    array([ True])
    """
    weights, means, covs = (np.asarray(values, dtype=float) for values in (weights, means, covs))
    lower, upper = _sides(lower, upper, means.shape[1])
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    log_p, error = np.empty(len(lower)), np.empty(len(lower))
    for columns, rows in _by_bounded_columns(lower, upper):
        mixture = log_weights, means[:, columns], covs[..., columns[:, None], columns]
        for block in blocks(len(rows), _BLOCK_BOXES // len(means)):
            part = rows[block]
            low, high = lower[part][:, columns], upper[part][:, columns]
            log_p[part], error[part] = _log_mixture(*mixture, low, high, tolerance, seed)
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


def _check_components(weights: ArrayLike, means: ArrayLike, covs: ArrayLike) -> None:
    weights, means, covs = (np.asarray(values, dtype=float) for values in (weights, means, covs))
    if means.ndim != 2:
        raise ValueError(f"means has shape {means.shape}; give (G, p), one row per component")
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
    """Compute the smallest eigenvalue of all correlation matrices; the smallest variance if one is not positive.

    Eigenvalues of the covariances would depend on the units: rounding makes them negative where one unit is much larger
    than another.

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


def _by_bounded_columns(lower: Floats, upper: Floats) -> list[tuple[Indices, Indices]]:
    """Group the boxes by the features that they bound: unbounded ones leave a marginal distribution."""
    bounded = (lower > -np.inf) | (upper < np.inf)
    if bounded.all():
        return [(np.arange(lower.shape[1]), np.arange(len(lower)))]
    patterns, group = np.unique(bounded, axis=0, return_inverse=True)
    return [(np.flatnonzero(kept), np.flatnonzero(group.reshape(-1) == i)) for i, kept in enumerate(patterns)]


def _log_mixture(
    log_weights: Floats,
    means: Floats,
    covs: Floats,
    lower: Floats,
    upper: Floats,
    tolerance: float | None,
    seed: int,
) -> tuple[Floats, Floats]:
    """Standardize the boxes about every component, compute their probabilities and add them up."""
    n_components, p = means.shape
    if p == 0:
        return np.zeros(len(lower)), np.zeros(len(lower))
    shape = (len(lower), n_components)
    scale = np.sqrt(np.diagonal(covs, axis1=-2, axis2=-1))
    corr = covs / (scale[..., :, None] * scale[..., None, :])
    center, unit = means.T[:, None], np.broadcast_to(scale, means.shape).T[:, None]
    with np.errstate(over="ignore"):  # a side too far for a number is infinitely far
        low, high = ((side.T[:, :, None] - center) / unit for side in (lower, upper))  # variables come first
    if not (corr * (1 - np.eye(p))).any():  # independent variables
        log_p = np.sum([log_interval(low[u], high[u]) for u in range(p)], axis=0)
        return _add(log_weights + log_p, np.zeros(shape))
    if p == 2:
        rho = np.broadcast_to(corr[..., 0, 1], shape).reshape(-1)
        log_p = log_box2(low.reshape(2, -1).T, high.reshape(2, -1).T, rho)
        return _add(log_weights + log_p.reshape(shape), np.zeros(shape))
    if covs.ndim == 2:
        log_p, error = _log_standard(low.reshape(p, -1).T, high.reshape(p, -1).T, corr, tolerance, seed)
        return _add(log_weights + log_p.reshape(shape), error.reshape(shape))
    components = zip(low.T, high.T, corr, strict=True)
    parts = [_log_standard(*component, tolerance, seed) for component in components]
    log_p, error = (np.column_stack(columns) for columns in zip(*parts, strict=True))
    return _add(log_weights + log_p, error)


def _add(log_p: Floats, error: Floats) -> tuple[Floats, Floats]:
    """Add the components' probabilities on the log scale, and average their relative errors by their shares."""
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


def _log_standard(
    lower: Floats, upper: Floats, corr: Floats, tolerance: float | None, seed: int
) -> tuple[Floats, Floats]:
    """Compute log probabilities and relative errors of standardized boxes in three or more features."""
    p = len(corr)
    # Where squares of the sides leave no digits for the rest, farther makes no difference.
    lower, upper = (
        np.where(np.isfinite(side), np.clip(side, -_FARTHEST_SIDE, _FARTHEST_SIDE), side) for side in (lower, upper)
    )
    if p == 3:
        return log_box3(lower, upper, corr), np.zeros(len(lower))
    if p > MAX_VARIABLES:
        raise TooManyVariables(
            f"boxes with {p} correlated variables are out of reach, {MAX_VARIABLES} are possible",
            "reduce the variables first, or use a density of independent ones",
        )
    if tolerance is None:
        return log_box_tilted(lower, upper, corr, tolerance=_RELATIVE_TOLERANCE, seed=seed, negligible=_NEGLIGIBLE_LOG)
    return log_box_tilted(lower, upper, corr, tolerance=tolerance, seed=seed)
