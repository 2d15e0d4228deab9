"""Gini's transvariation probability (tp) of samples with respect to a group."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from transvariation._typing import Floats
from transvariation.depth.counting import Transvariations, count_transvariations
from transvariation.depth.median import spatial_median
from transvariation.validation import as_rows

TAU_MAX = ("count", "half", "product")
TIES = ("proper", "literal")


def transvariation_probability(
    X: ArrayLike,
    Z: ArrayLike,
    center: ArrayLike | None = None,
    *,
    tau_max: str = "count",
    ties: str = "proper",
) -> Floats:
    r"""Compute tp of each row of `Z` with respect to the target sample `X`.

    For a sample c and a center m, tau is the share of target units that lie beyond c as seen from m, in every
    feature at once; units exactly at c count one half. tp is tau divided by its maximum,

    .. math:: tp(c) = \frac{s_X + s'_X / 2}{s_Y + s'_Y / 2},

    where :math:`s_X` and :math:`s'_X` count the units beyond c and at c, and :math:`s_Y` and :math:`s'_Y` the units on
    c's side of m and at m. tp is 1 at the center and 0 where no target unit lies farther out.

    Parameters
    ----------
    X : array-like of shape (n, p) or (n,)
        The target sample.
    Z : array-like of shape (q, p) or (q,)
        The samples whose tp is computed.
    center : array-like of shape (p,), optional
        The center m. By default the spatial median of `X`; with one feature or ``tau_max="product"``, the median of
        each feature.
    tau_max : {"count", "half", "product"}
        The maximum of tau. ``"count"`` counts it on the data shifted to the center, as in the multivariate equation.
        ``"half"`` fixes it to 1/2, as in the univariate equation. ``"product"`` multiplies univariate tp's, which suits
        independent features.
    ties : {"proper", "literal"}
        How to treat a feature in which c equals m exactly. ``"proper"`` ignores it, and tp is 1 if all features are
        ignored; tp always lies in [0, 1]. ``"literal"`` follows the printed equation, where such a feature makes every
        product zero; tp may then exceed 1, and is infinite where units are at c but none at m.

    Returns
    -------
    ndarray of shape (q,)
        tp of each row of `Z`; 0 where the denominator is 0, because no target unit lies on that side of the center.

    See Also
    --------
    transvariation.density_transvariation_probability : The same from a density.
    transvariation.tail_transvariation_probability : One-sided, continued by a tail.
    transvariation.TOCC : The classifier that uses it.

    References
    ----------
    Gini, C. and Livada, G. (1943). Transvariazione a più dimensioni.

    Fortunato, F., Anderlucci, L. and Montanari, A. (2020). One-class classification with application to forensic
    analysis. JRSS C 69, 1227-1249.

    Examples
    --------
    >>> from transvariation import transvariation_probability
    >>> transvariation_probability([1, 2, 3, 4, 5], [3, 4, 4.5, 6])
    array([1. , 0.6, 0.4, 0. ])
    """
    check_names(tau_max, ties)
    X, Z = as_rows(X, "X"), as_rows(Z, "Z")
    if X.shape[1] != Z.shape[1]:
        raise ValueError(f"X has {X.shape[1]} variables and Z has {Z.shape[1]}; give both the same, in the same order")
    if center is not None:
        center = np.atleast_1d(np.asarray(center, dtype=np.float64))
        if center.shape != X.shape[1:] or not np.isfinite(center).all():
            raise ValueError(f"center={center} must be {X.shape[1]} finite numbers, one per variable of X")
    if tau_max == "product":
        m = np.median(X, axis=0) if center is None else center
        columns = [tp_of_rows(X[:, [u]], Z[:, [u]], m[[u]], "half", ties) for u in range(X.shape[1])]
        return np.prod(columns, axis=0)
    return tp_of_rows(X, Z, spatial_median(X) if center is None else center, tau_max, ties)


def check_names(tau_max: str, ties: str) -> None:
    """Raise ValueError if `tau_max` or `ties` is unknown."""
    if tau_max not in TAU_MAX:
        raise ValueError(f"tau_max={tau_max!r} is unknown; choose one of {', '.join(TAU_MAX)}")
    if ties not in TIES:
        raise ValueError(f"ties={ties!r} is unknown; choose one of {', '.join(TIES)}")


def tp_of_rows(X: Floats, Z: Floats, m: Floats, tau_max: str, ties: str) -> Floats:
    """Compute tp about m of rows that were checked already; any `tau_max` but ``"product"``."""
    return ratio(count_transvariations(X, m, Z), len(X), X.shape[1], tau_max, ties)


def ratio(counts: Transvariations, n: int, p: int, tau_max: str, ties: str) -> Floats:
    """Divide tau by its maximum, given the counts among n units in p features."""
    beyond, at, side, center, n_open = counts
    if ties == "literal":
        # A coordinate in which c equals m makes every product zero: no unit is strictly beyond or on a side.
        closed = n_open < p
        beyond, side = np.where(closed, 0, beyond), np.where(closed, 0, side)
    tau = beyond + at * 0.5
    # Eq. (tpmultd): away from the univariate median tau_max is no longer 1/2 and has to be counted.
    largest = np.full(len(tau), n / 2) if tau_max == "half" else side + center * 0.5
    # 0/0 is 0: any other divisor gives that. Only the printed equation can divide more than 0 by 0, as R does.
    largest[(largest == 0) & (tau == 0)] = 1.0
    with np.errstate(divide="ignore"):
        tp = tau / largest
    if ties == "proper":
        # With tau_max="half" tau may exceed 1/2 about a center that is not the median.
        np.minimum(tp, 1.0, out=tp)
    return tp
