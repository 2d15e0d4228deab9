"""Run pieces of work in threads or processes.

Work is divided into pieces that do not depend on the number of workers, so that neither do the results.
"""

from collections.abc import Callable, Iterable, Sequence
from contextvars import copy_context
from itertools import pairwise
from typing import TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from transvariation._typing import Floats

R = TypeVar("R")
_CHUNK_COST = 1 << 18  # rows times the cost of each per chunk: some milliseconds of work


def run_in_threads(function: Callable[..., R], pieces: Iterable[Sequence[object]], n_jobs: int | None) -> list[R]:
    """Call ``function(*piece)`` for each piece in threads: for NumPy and compiled code, which release the GIL.

    Examples
    --------
    >>> run_in_threads(pow, [(2, 3), (3, 2)], n_jobs=2)
    [8, 9]
    """
    pieces = list(pieces)
    if len(pieces) < 2 or effective_n_jobs(n_jobs) == 1:
        return [function(*piece) for piece in pieces]
    # NumPy's error state is a context variable, and a new thread does not inherit it.
    return Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(copy_context().run)(function, *p) for p in pieces)


def map_row_chunks(function: Callable[[Floats], Floats], X: Floats, per_row: int, n_jobs: int | None) -> Floats:
    """Apply a function to chunks of the rows of X, in threads, and concatenate the results.

    Chunks are of about equal size, which depends on the cost `per_row` but not on the number of threads.

    Examples
    --------
    >>> map_row_chunks(lambda rows: rows.sum(axis=1), np.ones((5, 2)), per_row=1 << 17, n_jobs=2)
    array([2., 2., 2., 2., 2.])
    """
    n_chunks = -(-len(X) // max(1, _CHUNK_COST // max(1, per_row)))
    if n_chunks < 2:
        return function(X)
    edges = np.linspace(0, len(X), n_chunks + 1).astype(int)
    return np.concatenate(run_in_threads(function, [(X[a:b],) for a, b in pairwise(edges)], n_jobs))


def run_in_processes(function: Callable[..., R], pieces: Iterable[Sequence[object]], n_jobs: int | None) -> list[R]:
    """Call ``function(*piece)`` for each piece in processes: for whole fits, which are mostly Python.

    Under ``joblib.parallel_config`` its back end and number of workers are used.
    """
    pieces = list(pieces)
    if len(pieces) < 2 or effective_n_jobs(n_jobs) == 1:
        return [function(*piece) for piece in pieces]
    return Parallel(n_jobs=n_jobs)(delayed(function)(*piece) for piece in pieces)
