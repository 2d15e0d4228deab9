"""Principal components, and scaled chi-square distributions of the distances within and from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from transvariation._typing import Floats

_MAX_DOF = 250


def scaled_chi2(distances: ArrayLike, limits: str = "classic") -> tuple[float, int]:
    """Fit a scaled chi-square distribution to squared distances: N d / d0 has N degrees of freedom.

    Parameters
    ----------
    distances : array-like of shape (n,)
    limits : {"classic", "robust"}, default="classic"
        Match the mean and the variance, or the median and the interquartile range.

    Returns
    -------
    d0 : float
        The scale, which is the expected distance.
    N : int
        The degrees of freedom.

    Examples
    --------
    >>> from transvariation.baselines.principal_distances import scaled_chi2
    >>> scaled_chi2([1.0, 2.0, 3.0])
    (2.0, 8)
    """
    distances = np.asarray(distances, dtype=float)
    if not distances.any():  # no components, no score distance: it adds nothing to the full distance
        return 1.0, 0
    if limits == "classic":
        scale, spread = distances.mean(), distances.std(ddof=1)
        dof = 2 * (scale / spread) ** 2 if spread > 0 else _MAX_DOF
        return float(scale), int(np.clip(np.round(dof), 1, _MAX_DOF))
    lower, median, upper = np.quantile(distances, [0.25, 0.5, 0.75])
    dof = _robust_dof((upper - lower) / median) if median > 0 else 1
    quartiles = chi2.ppf([0.25, 0.5, 0.75], dof)
    scale = 0.5 * dof * (median / quartiles[1] + (upper - lower) / (quartiles[2] - quartiles[0]))
    return float(scale) or float(distances.mean()), dof


def _robust_dof(ratio: float) -> int:
    """Invert IQR / median of the chi-square distribution by the formula of Pomerantsev and Rodionova (2014)."""
    if ratio > 2.685592117:
        return 1
    if ratio < 0.194565995:
        return 100
    return int(np.round(np.exp((1.380948 * np.log(2.68631 / ratio)) ** 1.185785)))


def principal_components(X: Floats) -> tuple[Floats, Floats, Floats]:
    """Compute the mean, the variances of the components and the loadings, as many as the rank.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)

    Returns
    -------
    center : ndarray of shape (n_features,)
    variances : ndarray of shape (rank,)
        With divisor n - 1, the largest first.
    loadings : ndarray of shape (rank, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.baselines.principal_distances import principal_components
    >>> principal_components(np.array([[0.0, 1.0], [2.0, 1.0]]))[1]
    array([2.])
    """
    center = X.mean(axis=0)
    _, singular, loadings = np.linalg.svd(X - center, full_matrices=False)
    rank = int((singular > singular[0] * max(X.shape) * np.finfo(float).eps).sum())
    return center, singular[:rank] ** 2 / (len(X) - 1), loadings[:rank]
