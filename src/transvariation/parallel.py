"""Several workers: who does the work never changes what comes out.

Work is cut into pieces that do not depend on the number of workers; each piece gives the same bits wherever it is done.
"""

from collections.abc import Callable, Iterable, Sequence
from contextvars import copy_context
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

if TYPE_CHECKING:
    from transvariation.density.engine import Lot

Floats = NDArray[np.float64]

PAYS = 2.0  # seconds of work from which on starting processes is no loss
_CHUNK = 1 << 18  # rows times the cost of each that one worker takes at a time: some milliseconds
_FEW = 4  # chunks; fewer are done before threads have started


def run_in_threads(function: Callable, pieces: Iterable[Sequence[Any]], n_jobs: int | None) -> list[Any]:
    """Call ``function(*piece)`` for each piece: for NumPy and compiled code on large arrays, which run side by side.

    Examples
    --------
    >>> run_in_threads(pow, [(2, 3), (3, 2)], n_jobs=2)
    [8, 9]
    """
    pieces = list(pieces)
    if len(pieces) < 2 or effective_n_jobs(n_jobs) == 1:
        return [function(*piece) for piece in pieces]
    # A thread begins with no context of its own: it gets a copy of this one.
    return Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(copy_context().run)(function, *p) for p in pieces)


def map_row_chunks(function: Callable[[Floats], Floats], X: Floats, per_row: int, n_jobs: int | None) -> Floats:
    """Rate the rows of X in chunks, which depend on what a row costs and not on the number of workers.

    Chunks are of about the same size: the last one is not so small that it would be rated in another way.

    Examples
    --------
    >>> map_row_chunks(lambda rows: rows.sum(axis=1), np.ones((5, 2)), per_row=1 << 17, n_jobs=2)
    array([2., 2., 2., 2., 2.])
    """
    n_chunks = -(-len(X) // max(1, _CHUNK // max(1, per_row)))
    if n_chunks < 2:
        return function(X)
    edges = np.linspace(0, len(X), n_chunks + 1).astype(int)
    pieces = [(X[a:b],) for a, b in pairwise(edges)]
    return np.concatenate(run_in_threads(function, pieces, n_jobs if n_chunks >= _FEW else 1))


def run_in_processes(
    function: Callable, pieces: Iterable[Sequence[Any]], n_jobs: int | None, seconds: float | None = None
) -> list[Any]:
    """Call ``function(*piece)`` for each piece: for whole fits, which are mostly Python.

    Parameters
    ----------
    function : callable
    pieces : iterable of tuples
    n_jobs : int or None
        The number of processes, by joblib; under ``joblib.parallel_config`` its back end.
    seconds : float, optional
        What one piece is likely to take. With too little to do nothing is started.
    """
    from transvariation.density.engine import lot_of

    pieces = list(pieces)
    lot = lot_of(len(pieces))
    work = [(lot, function, *piece) for piece in pieces]
    little = seconds is not None and seconds * len(pieces) < PAYS
    if len(pieces) < 2 or little or effective_n_jobs(n_jobs) == 1:
        return [_in_lot(*piece) for piece in work]
    return Parallel(n_jobs=n_jobs)(delayed(_in_lot)(*piece) for piece in work)


def _in_lot(lot: "Lot", function: Callable, *piece: Any) -> Any:
    from transvariation.density.engine import part_of

    with part_of(lot):
        return function(*piece)
