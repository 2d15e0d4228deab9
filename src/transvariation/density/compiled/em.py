"""EM, one fit after the other; see `em` of the package above."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from transvariation.density.compiled import plane, space
from transvariation.density.compiled.m_steps import CODES
from transvariation.density.covariance_models import Array
from transvariation.density.em import Mixture, variance_floor

_PADDED = 8  # objects are made up to a multiple of this, so that no loop ends with single ones


def fit_mixtures(
    X: Array,
    problems: Sequence[tuple[str, int]],
    starts: dict[int, NDArray[np.intp]],
    *,
    tol: float = 1e-5,
    max_iter: int = 1000,
) -> list[Mixture | None]:
    """Fit several mixtures to the same data by EM: the compiled twin of `em.fit_mixtures`."""
    n, p = X.shape
    centre = X.mean(axis=0)
    deviations = X - centre
    XT = np.zeros((p, -(-n // _PADDED) * _PADDED))
    XT[:, :n] = deviations.T
    labels = {size: start.astype(np.int64) for size, start in starts.items()}
    floor = variance_floor(deviations)
    fit = plane.fit if p == 2 else space.fit
    results: list[Mixture | None] = []
    for model, G in problems:
        weights, means, covariances = np.zeros(G), np.zeros((G, p)), np.zeros((G, p, p))
        loglik, n_iter = fit(XT, labels[G], G, CODES[model], tol, max_iter, floor, weights, means, covariances)
        collapsed = loglik != loglik  # NaN
        mixture = Mixture(weights, means + centre, covariances, loglik, n_iter, n_iter < max_iter)
        results.append(None if collapsed else mixture)
    return results
