"""Number of principal components of DD-SIMCA from target samples alone, by Procrustes cross-validation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom, chi2

from transvariation._typing import Floats
from transvariation.baselines.principal_distances import principal_components, scaled_chi2
from transvariation.validation import as_rows, check_count

_CHANCE_QUANTILE = 0.95  # of the number of validation samples that may exceed the limit by chance


@dataclass(frozen=True, eq=False)
class ProcrustesValidation:
    """Distances of the target samples and of their Procrustes validation set, for each number of components.

    Row i of the validation set is sample i as the model fitted without its fold sees it, rotated into the model of all
    samples. A model with too many components fits its own samples better than the validation set.

    Attributes
    ----------
    score, orthogonal : ndarray of shape (n_samples, n_numbers)
        Squared score and orthogonal distances of the target samples; column k - 1 belongs to k components.
    held_out_score, held_out_orthogonal : ndarray of shape (n_samples, n_numbers)
        The same of the validation set.
    """

    score: Floats
    orthogonal: Floats
    held_out_score: Floats
    held_out_orthogonal: Floats

    def sensitivities(self, level: float = 0.9, limits: str = "classic") -> Floats:
        """Compute the share of the validation set that the published limits accept, for 1, 2, ... components.

        Parameters
        ----------
        level : float in (0, 1), default=0.9
            The nominal sensitivity of the limits.
        limits : {"classic", "robust"}, default="classic"
            Estimation of the limits: by moments, or by the median and the interquartile range.

        Returns
        -------
        ndarray of shape (n_numbers,)
        """
        shares = []
        for h, v, new_h, new_v in zip(
            self.score.T, self.orthogonal.T, self.held_out_score.T, self.held_out_orthogonal.T, strict=True
        ):
            (h0, n_h), (v0, n_v) = scaled_chi2(h, limits), scaled_chi2(v, limits)
            full = n_h * new_h / h0 + n_v * new_v / v0
            shares.append(np.mean(full <= chi2.ppf(level, n_h + n_v)))
        return np.array(shares)

    def choose(self, level: float = 0.9, limits: str = "classic") -> int:
        """Choose the largest number of components up to which the validation set is accepted as often as with fewer.

        That is: no fewer of the validation samples are accepted than 95% of binomial samples show, with the nominal
        sensitivity or the best that fewer components reach, where the limits fail for every number.

        Parameters
        ----------
        level : float in (0, 1), default=0.9
            The nominal sensitivity of the limits.
        limits : {"classic", "robust"}, default="classic"
            Estimation of the limits.

        Returns
        -------
        int
        """
        n, shares = len(self.score), self.sensitivities(level, limits)
        attained = np.minimum(np.maximum.accumulate(shares), level)
        fails = np.flatnonzero(shares < binom.ppf(1 - _CHANCE_QUANTILE, n, attained) / n)
        return int(fails[0]) if len(fails) else len(shares)


def procrustes_validation(X: ArrayLike, *, max_components: int = 20, n_folds: int = 4) -> ProcrustesValidation:
    """Compute the distances of target samples and of their Procrustes validation set.

    Every fourth sample is a fold (Venetian blinds). The scores of a fold's samples on the components of the other
    samples are taken for scores on the components of all, and their residuals keep their length; distances follow
    without random numbers, and equal those of the packages prcv 1.2 and ddsimca 1.1.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Target samples.
    max_components : int, default=20
        The largest number of components to compute.
    n_folds : int, default=4
        Number of folds.

    Returns
    -------
    ProcrustesValidation

    References
    ----------
    Kucheryavskiy, S., Zhilin, S., Rodionova, O. and Pomerantsev, A. (2020). Procrustes cross-validation: a bridge
    between cross-validation and independent validation sets. Analytical Chemistry 92, 11842-11850.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.baselines import procrustes_validation
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 20))
    >>> X = X + 0.1 * rng.normal(size=(200, 20))
    >>> validation = procrustes_validation(X)
    >>> validation.sensitivities()[:5].round(2)
    array([0.9 , 0.9 , 0.87, 0.86, 0.85])
    >>> validation.choose()
    3
    """
    rows = as_rows(X, "X")
    n, n_folds = len(rows), min(check_count("n_folds", n_folds), len(rows))
    center, variances, loadings = principal_components(rows)
    centered = rows - center
    fold = np.arange(n) % n_folds
    most = min(check_count("max_components", max_components), len(variances) - 1, n - int(np.ceil(n / n_folds)) - 1)
    if most < 1:
        raise ValueError(
            f"Procrustes cross-validation needs at least one component and a residual: {n} samples of rank "
            f"{len(variances)} are too few; give n_components"
        )
    scores, held_out = centered @ loadings[:most].T, np.empty((n, most))
    for k in range(n_folds):
        # Around the center of all samples: so the published rule keeps the distances of cross-validation.
        local = np.linalg.svd(centered[fold != k], full_matrices=False)[2][:most]
        held_out[fold == k] = centered[fold == k] @ local.T
    squares = (centered**2).sum(axis=1, keepdims=True)

    def distances(t: Floats) -> tuple[Floats, Floats]:
        return np.cumsum(t**2 / variances[:most], axis=1), np.maximum(squares - np.cumsum(t**2, axis=1), 0)

    return ProcrustesValidation(*distances(scores), *distances(held_out))
