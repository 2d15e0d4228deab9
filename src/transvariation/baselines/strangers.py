"""Strangers of a DD-SIMCA model: aliens, external samples, type II error and selectivity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2, ncx2

from transvariation._typing import Bools, Floats

if TYPE_CHECKING:
    from transvariation.baselines.ddsimca import DDSIMCA


@dataclass(frozen=True, eq=False)
class Strangers:
    """Samples of another class and the distribution of their full distances, made by :func:`describe_strangers`.

    The distances of the aliens, divided by `scale`, follow a noncentral chi-square distribution approximately; samples
    too far away for it are external.

    Attributes
    ----------
    full_distances : ndarray of shape (n_samples,)
        The full distance of each sample to the target class.
    alien : ndarray of bool of shape (n_samples,)
        Whether a sample is an alien; otherwise it is external.
    degrees_of_freedom : int
    noncentrality, scale : float
        Parameters of the distribution.
    critical : float
        The full distance up to which the model accepts.
    """

    full_distances: Floats
    alien: Bools
    degrees_of_freedom: int
    noncentrality: float
    scale: float
    critical: float

    @property
    def specificity(self) -> float:
        """The share of the samples that the model rejects."""
        return float(np.mean(self.full_distances > self.critical))

    @property
    def type_ii_error(self) -> float:
        """The probability that an alien is accepted, by the fitted distribution."""
        return float(self.share_within(self.critical))

    @property
    def selectivity(self) -> float:
        """One minus the type II error: the specificity that the fitted distribution expects."""
        return 1 - self.type_ii_error

    def share_within(self, full_distance: ArrayLike) -> Floats:
        """Compute the expected share of aliens within a full distance.

        Parameters
        ----------
        full_distance : float or array-like

        Returns
        -------
        ndarray
        """
        reduced = np.asarray(full_distance, dtype=float) / self.scale
        return ncx2.cdf(reduced, self.degrees_of_freedom, self.noncentrality)

    def selectivity_at(self, sensitivity: ArrayLike) -> Floats:
        """Compute the selectivity at other sensitivities of the published limits.

        Parameters
        ----------
        sensitivity : float or array-like

        Returns
        -------
        ndarray
        """
        return 1 - self.share_within(chi2.ppf(sensitivity, self.degrees_of_freedom))


def describe_strangers(model: DDSIMCA, X: ArrayLike) -> Strangers:
    """Describe how samples of another class lie to a fitted DD-SIMCA model.

    Parameters
    ----------
    model : DDSIMCA
        The fitted model.
    X : array-like of shape (n_samples, n_features)
        At least two samples of the other class.

    Returns
    -------
    Strangers

    References
    ----------
    Pomerantsev, A. L. and Rodionova, O. Ye. (2014). On the type II error in SIMCA method. Journal of Chemometrics 28,
    518-522.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.baselines import DDSIMCA, describe_strangers
    >>> rng = np.random.default_rng(0)
    >>> model = DDSIMCA(2).fit(rng.normal(size=(200, 5)))
    >>> strangers = describe_strangers(model, rng.normal(1, 1, size=(100, 5)))
    >>> round(strangers.specificity, 2), round(strangers.selectivity, 2)
    (0.64, 0.63)
    """
    dof = int(model.degrees_of_freedom_.sum())
    return fit_strangers(-model.score_samples(X) * dof, dof, model.critical_distances()[0])


def fit_strangers(full: Floats, dof: int, critical: float) -> Strangers:
    """Fit the distribution of the full distances of strangers; `critical` is that up to which they are accepted."""
    order = np.argsort(full, kind="stable")
    for n in range(len(full), 1, -1):  # without the farthest samples until the moments fit
        near = full[order[:n]]
        mean, ratio = near.mean(), near.var(ddof=1) / near.mean() ** 2
        discriminant = 4 - 2 * dof * ratio
        if discriminant >= 0:
            break
    else:
        raise ValueError(f"strangers need at least 2 samples that are not all external; there are {len(full)}")
    total = (2 + math.sqrt(discriminant)) / max(ratio, np.finfo(float).tiny)
    alien = np.zeros(len(full), dtype=bool)
    alien[order[:n]] = True
    return Strangers(full, alien, dof, float(total - dof), float(mean / total), float(critical))
