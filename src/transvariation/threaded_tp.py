"""tp by counting on several workers: objects on one side of the centre only ask the units on that side."""

from collections.abc import Iterator

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from transvariation.acceleration import use_compiled
from transvariation.depth.counting import are_one
from transvariation.depth.probability import tp_of_rows
from transvariation.parallel import run_in_threads

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

MANY = 400_000  # rows; fewer are counted before a second worker has begun


def tp_on_workers(X: Floats, Z: Floats, m: Floats, tau_max: str, ties: str, n_jobs: int | None) -> Floats:
    """Compute tp about m of checked rows, any `tau_max` but ``"product"``: `tp_of_rows`, shared out among workers.

    Counts are whole numbers and every object gets all of its own: the result does not depend on the workers.
    """
    same = are_one(X, Z)
    rows = len(X) + (0 if same else len(Z))
    # In up to three variables the compiled count takes hardly longer than cutting the rows into pieces for it.
    soon = rows < MANY or (X.shape[1] <= 3 and use_compiled(rows))
    n_workers = 1 if soon else effective_n_jobs(n_jobs)
    if n_workers == 1 or tau_max != "count":
        return tp_of_rows(X, Z, m, tau_max, ties)
    tp = np.empty(len(Z))

    def fill(units: Rows, objects: Rows, wanted: NDArray[np.bool_] | None) -> None:
        rows = X.take(units, axis=0)
        here = rows if wanted is not None else Z.take(objects, axis=0)
        found = tp_of_rows(rows, here, m, tau_max, ties)
        tp[objects] = found if wanted is None else found[wanted]

    # Two pieces for each worker, where there are so many sides: one may be fuller than another.
    n_splits = min(int(np.ceil(np.log2(2 * n_workers))), X.shape[1])
    run_in_threads(fill, _sides(X, Z, m, n_splits, same), n_jobs)
    return tp


def _sides(
    X: Floats, Z: Floats, m: Floats, n_splits: int, same: bool
) -> Iterator[tuple[Rows, Rows, NDArray[np.bool_] | None]]:
    """Units and objects on the same side of m in each of the first variables; where both are one, which are wanted.

    Units at m in a variable belong to both sides, as every object has to be told how many they are. Objects at m in one
    of the variables ask all units.
    """
    closed = (Z[:, :n_splits] == m[:n_splits]).any(axis=1)
    if closed.any():
        yield np.arange(len(X)), np.flatnonzero(closed), None
    for side in range(2**n_splits):
        units, objects = np.ones(len(X), dtype=bool), ~closed
        for u in range(n_splits):
            above = side >> u & 1
            units &= X[:, u] >= m[u] if above else X[:, u] <= m[u]
            objects &= Z[:, u] > m[u] if above else Z[:, u] < m[u]
        asked = np.flatnonzero(objects)
        if len(asked):
            # A sample among itself is sorted once: the few units at m are asked along and passed over.
            yield np.flatnonzero(units), asked, objects[units] if same else None
