"""The density-based transvariation probability: probabilities of boxes in place of counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from inspect import signature
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from transvariation._typing import Bools, Floats, Indices
from transvariation.validation import as_rows


class Density(Protocol):
    """A density that measures boxes; frozen univariate distributions of SciPy are taken, too."""

    def box_probability(self, lower: Floats, upper: Floats) -> Floats:
        """Compute the probability of each box between rows of `lower` and `upper`."""


TAU_MAX = ("integral", "half", "product")


def density_transvariation_probability(
    density: Density, Z: ArrayLike, center: ArrayLike, *, tau_max: str = "integral", log: bool = False
) -> Floats:
    r"""Compute tp of each row of `Z` with respect to a target class that is given by its density.

    The axes through the center m divide space into orthants. For a sample c, tau is the probability of the box that
    begins at c and opens away from m; its maximum is the probability of the whole orthant,

    .. math:: tp_f(c) = \frac{P(X \text{ beyond } c \text{ in every feature})}
                             {P(X \text{ beyond } m \text{ on the side of } c \text{ in every feature})}.

    Parameters
    ----------
    density : object
        A fitted mixture or kernel density of this package, a frozen univariate SciPy distribution (in a discrete one
        "beyond c" includes c), or anything with
        ``box_probability(lower, upper)`` for arrays of shape (q, p); if that takes ``log=True`` as well, far samples
        keep their rank.
    Z : array-like of shape (q, p) or (q,)
        The samples to measure.
    center : array-like of shape (p,)
        The center m: the median of the target class, in several features its spatial median.
    tau_max : {"integral", "half", "product"}
        ``"integral"`` divides by the probability of the orthant. ``"half"`` divides by 1/2, the univariate equation,
        exact if m is the density's own median. ``"product"`` multiplies the univariate tp's: for independent features.
    log : bool
        Return log tp, which does not underflow.

    Returns
    -------
    ndarray of shape (q,)
        A sample on a side of the center that the density does not reach (0/0) gets tp = 0.

    See Also
    --------
    transvariation.transvariation_probability : The same by counting.

    References
    ----------
    Dagum, C. (1959). Transvariazione fra più di due distribuzioni.

    Fortunato, F., Anderlucci, L. and Montanari, A. (2020). One-class classification with application to forensic
    analysis. JRSS C 69, 1227-1249.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from transvariation import density_transvariation_probability as tp
    >>> tp(norm(), [0.0, 1.0, -1.0, 3.0], center=[0.0]).round(4)
    array([1.    , 0.3173, 0.3173, 0.0027])
    >>> tp(norm(), [50.0, 60.0], center=[0.0], log=True).round(1)
    array([-1254.1, -1804.3])
    """
    if tau_max not in TAU_MAX:
        raise ValueError(f"tau_max={tau_max!r} is unknown; choose one of {', '.join(TAU_MAX)}")
    Z = as_rows(Z, "Z")
    m = np.atleast_1d(np.asarray(center, dtype=np.float64))
    if m.shape != Z.shape[1:] or not np.isfinite(m).all():
        raise ValueError(f"center={m} must be {Z.shape[1]} finite numbers, one per variable of Z")
    if tau_max == "product":
        log_tp = univariate_log_tp(density, Z, m).sum(axis=1)
    elif tau_max == "half":
        log_tp = np.minimum(_log_tau(density, Z, m <= Z) + np.log(2), 0.0)
    else:
        log_tp = _log_ratio(density, Z, m)
    return log_tp if log else np.exp(log_tp)


def univariate_log_tp(density: Density, Z: Floats, m: Floats) -> Floats:
    """Compute the univariate log tp of each sample in each feature, from the density's marginals: shape (q, p)."""
    q, p = Z.shape
    result = np.empty((q, p))
    for u in range(p):
        lower, upper = np.full((q, p), -np.inf), np.full((q, p), np.inf)
        above = Z[:, u] >= m[u]
        lower[above, u], upper[~above, u] = Z[above, u], Z[~above, u]
        # About a center that is not the marginal median, tau may exceed 1/2.
        result[:, u] = np.minimum(log_box_probability(density, lower, upper) + np.log(2), 0.0)
    return result


def _log_tau(density: Density, corner: Floats, above: Bools) -> Floats:
    return log_box_probability(density, np.where(above, corner, -np.inf), np.where(above, np.inf, corner))


def _log_ratio(density: Density, Z: Floats, m: Floats) -> Floats:
    above = m <= Z
    # The denominator depends on the orthant only: one probability for each that is met, never 2^p of them.
    met, orthant = _orthants(above)
    corners = np.concatenate([np.broadcast_to(m, met.shape), Z])
    # In one call, whose cost counts with few samples.
    log_tau = _log_tau(density, corners, np.concatenate([met, above]))
    largest, tau = log_tau[: len(met)][orthant], log_tau[len(met) :]
    return np.minimum(np.subtract(tau, largest, out=np.full(len(Z), -np.inf), where=tau > -np.inf), 0.0)


def _orthants(above: Bools) -> tuple[Bools, Indices]:
    """Return the orthants that contain samples, and the number of each sample's orthant."""
    codes = np.packbits(above, axis=1)
    rows = codes.view(f"V{codes.shape[1]}").ravel()  # each as one item: faster than np.unique with an axis
    _, first, orthant = np.unique(rows, return_index=True, return_inverse=True)
    return above[first], orthant


def log_box_probability(density: BaseEstimator, lower: Floats, upper: Floats) -> Floats:
    """Compute log probabilities of boxes under any supported density."""
    if hasattr(density, "box_probability"):
        if _takes_log(getattr(density.box_probability, "__func__", density.box_probability)):
            return np.asarray(density.box_probability(lower, upper, log=True), dtype=np.float64)
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(density.box_probability(lower, upper), dtype=np.float64))
    if not (hasattr(density, "logcdf") and (hasattr(density, "logsf") or hasattr(density, "logccdf"))):
        raise TypeError(
            f"density={density!r} has no box_probability(lower, upper) and is no frozen univariate SciPy distribution"
        )
    if lower.shape[1] != 1:
        raise ValueError(f"a univariate distribution cannot measure samples with {lower.shape[1]} variables")
    log_tail = density.logsf if hasattr(density, "logsf") else density.logccdf
    a, b = lower[:, 0], upper[:, 0]
    above = log_tail(a)
    if hasattr(density, "logpmf"):  # a discrete distribution: beyond a value includes it, as it does below
        above = np.logaddexp(above, density.logpmf(a))
    # These boxes have at least one infinite side.
    return np.where(b == np.inf, above, density.logcdf(b))


@lru_cache(maxsize=64)
def _takes_log(box_probability: Callable) -> bool:
    return "log" in signature(box_probability).parameters
