"""The search: every model with every number of components, each from its start."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from transvariation.density.covariance_models import VVE_BY_LIKELIHOOD, Array, n_parameters
from transvariation.density.em import Mixture, fit_mixtures
from transvariation.density.engine import FitMixtures
from transvariation.density.hierarchical import Merge, agglomerate, quantile_classes, scaled_by_svd
from transvariation.parallel import run_in_threads

# Components x objects that are worked on together: enough to spread the cost of a call, few enough for the cache.
_BATCH = 2**17


def starting_partitions(
    X: Array, sizes: Sequence[int], start: str, rows: NDArray[np.intp], merge: Merge | None = None
) -> dict[int, NDArray[np.intp]]:
    """Give every number of components a partition to begin from.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    sizes : sequence of int
        Numbers of components.
    start : {"variables", "svd"}
        Coordinates in which objects are agglomerated. A single variable is cut at its quantiles instead.
    rows : ndarray of int
        The objects to use; the others get no label.
    merge : function, optional
        Compiled merging; see `agglomerate`.

    Returns
    -------
    dict
        A label per object, -1 for none, for those sizes that the data can be cut into.
    """
    Z = X[rows]
    if X.shape[1] == 1:
        labels = {size: quantile_classes(Z[:, 0], size) for size in sizes}
    else:
        labels = agglomerate(scaled_by_svd(Z) if start == "svd" else Z, max(sizes), merge)
    starts = {}
    for size in sizes:
        if size in labels and np.bincount(labels[size], minlength=size).all():
            starts[size] = np.full(len(X), -1)
            starts[size][rows] = labels[size]
    return starts


def _same_alone(model: str) -> str:
    """Name the simplest model that a model equals when there is one component, with nothing to share or vary."""
    if len(model) == 1:
        return "E"
    return "EII" if model.endswith("II") else "EEI" if model.endswith("I") else "EEE"


def search(
    X: Array,
    models: Sequence[str],
    starts: dict[int, NDArray[np.intp]],
    fit_mixtures: FitMixtures = fit_mixtures,
    *,
    tol: float = 1e-5,
    max_iter: int = 1000,
    vve_axes: str = "mclust",
    n_jobs: int | None = None,
) -> dict[tuple[str, int], Mixture]:
    """Fit every model with every number of components that has a start.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    models : sequence of str
    starts : dict
        Labels to start from, by number of components; see `starting_partitions`.
    fit_mixtures : function, default=em.fit_mixtures
        The compiled version of the same, if it is at hand.
    tol, max_iter
        When EM stops; see `fit_mixtures`.
    vve_axes : {"mclust", "likelihood"}
    n_jobs : int, optional
        The number of threads that share the batches of fits; the batches do not depend on it.

    Returns
    -------
    dict
        The fits by (model, number of components), without those in which a component has collapsed.
    """
    wanted = {(m, G): (_same_alone(m) if G == 1 else m, G) for m in models for G in starts}
    todo = list(dict.fromkeys(wanted.values()))
    batches = []
    while todo:
        total = np.cumsum([G for _, G in todo]) * len(X)
        cut = max(1, int(np.searchsorted(total, _BATCH, side="right")))
        batches.append(todo[:cut])
        todo = todo[cut:]

    def fitted(batch: list[tuple[str, int]]) -> "list[Mixture | None]":
        names = [(VVE_BY_LIKELIHOOD if m == "VVE" and vve_axes == "likelihood" else m, G) for m, G in batch]
        return fit_mixtures(X, names, starts, tol=tol, max_iter=max_iter)

    fits: dict[tuple[str, int], Mixture] = {}
    for batch, done in zip(batches, run_in_threads(fitted, [(batch,) for batch in batches], n_jobs), strict=True):
        fits |= {problem: fit for problem, fit in zip(batch, done, strict=True) if fit is not None}
    return {problem: fits[same] for problem, same in wanted.items() if same in fits}


def bic_table(fits: dict[tuple[str, int], Mixture], sizes: list[int], models: list[str], X: Array) -> Array:
    """BIC of every fit, (models, sizes); NaN where there is none."""
    n, p = X.shape
    log_n = float(np.log(n))
    return np.array(
        [
            [2 * fits[m, G].loglik - n_parameters(m, G, p) * log_n if (m, G) in fits else np.nan for G in sizes]
            for m in models
        ]
    )
