"""Rows in parts: a Dask collection, a memory map or blocks; a sample of the rows, and one result for each part."""

import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from dask.delayed import Delayed
from numpy.typing import NDArray

from dask import compute, delayed
from transvariation._typing import Indices, Rows
from transvariation.calibration import count_rows, take_rows
from transvariation.explanation import to_pandas
from transvariation.subsample import splitmix64
from transvariation.validation import column_names

BLOCK_ROWS = 2**18  # rows of a memory map that are read at once
_ALL_HASHES = 2**64 - 1

Keys = NDArray[np.uint64]
Results = Any  # in the form of the rows: an array, an iterator over arrays or a Dask array


def is_dask(X: object) -> bool:
    """Return whether X is a Dask array or DataFrame."""
    return type(X).__module__.startswith("dask") and hasattr(X, "to_delayed")


def is_blocks(X: object) -> bool:
    """Return whether X is a function that returns blocks, or an iterator over them."""
    return callable(X) or hasattr(X, "__next__")


def in_memory(X: object) -> bool:
    """Return whether X is one table in memory."""
    check_one_table(X)
    return not (is_dask(X) or is_blocks(X) or isinstance(X, np.memmap))


def check_one_table(X: object) -> None:
    """Refuse a list of tables."""
    if isinstance(X, list | tuple) and any(getattr(first, "ndim", 0) == 2 for first in X[:1]):
        raise ValueError(
            f"X is a {type(X).__name__} of tables; give one table, or an iterator over them such as iter(blocks)"
        )


def blocks_of(X: Rows) -> Iterator[Rows]:
    """Iterate over the blocks of a memory map, an iterator or a function that returns one."""
    if isinstance(X, np.memmap):
        yield from (np.asarray(X[i : i + BLOCK_ROWS]) for i in range(0, len(X), BLOCK_ROWS))
    else:
        yield from map(to_pandas, X() if callable(X) else X)


class Sample:
    """A random sample of rows that does not depend on how they are divided into parts.

    Every row has a pseudorandom key, a hash of its number. Kept are the rows whose key is at most a limit, and the
    limit is halved until at most `size` are.
    """

    def __init__(self, size: int):
        self.size, self.limit = size, _ALL_HASHES
        self.pieces: list[tuple[Keys, Rows]] = []

    def add(self, keys: Keys, rows: object) -> None:
        """Add rows with their keys."""
        _check_like_the_first(rows, self.pieces[0][1] if self.pieces else rows, len(self.pieces))
        self.pieces.append(_at_most(self.limit, keys, rows))
        while sum(len(keys) for keys, _ in self.pieces) > self.size:
            self.limit >>= 1
            self.pieces = [_at_most(self.limit, *piece) for piece in self.pieces]

    def rows(self) -> Rows:
        """Join the rows that were kept."""
        tables = [rows for _, rows in self.pieces]
        if not tables:
            raise ValueError("X has no rows; give rows of target samples")
        if hasattr(tables[0], "iloc"):
            return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)
        return np.concatenate(tables)


def sample_rows(X: object, size: int) -> Rows:
    """Draw at most `size` rows, and at least about half as many if there are enough.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(1000.0)[:, None]
    >>> whole, halves = sample_rows(iter([X]), 100), sample_rows(iter([X[:300], X[300:]]), 100)
    >>> len(whole), bool((whole == halves).all())
    (66, True)
    """
    sample = Sample(size)
    if is_dask(X):
        parts = _delayed_parts(X)
        known = X.chunks[0] if hasattr(X, "chunks") else (np.nan,)
        lengths = compute(*map(delayed(len), parts)) if np.isnan(known).any() else known
        # Rows beyond this limit are certainly not kept; those below it are two to four times as many as wanted.
        n = int(sum(lengths))
        limit = _ALL_HASHES >> max(0, int(np.log2(max(n, 1) / size)) - 1)
        starts = np.cumsum([0, *lengths])
        for keys, rows in compute(*map(partial(delayed(_thinned), limit=limit), parts, starts[:-1].tolist())):
            sample.add(keys, rows)
        return sample.rows()
    start = 0
    for block in blocks_of(X):
        sample.add(*_thinned(block, start, sample.limit))
        start += len(block)
    return sample.rows()


def sample_numbers(n: int, size: int) -> Indices:
    """Return the numbers of the rows that `sample_rows` draws among `n`."""
    sample = Sample(size)
    sample.add(_keys(0, n), np.arange(n)[:, None])
    return sample.rows()[:, 0]


def map_parts(X: object, function: Callable[[object], object], dtype: type) -> Results:
    """Compute a result for each row: a lazy array for a Dask collection, an iterator for blocks, else an array."""
    if is_dask(X):
        import dask.array as da

        token = f"transvariation-{uuid.uuid4().hex[:12]}-partition"  # errors of Dask itself name the partition
        call, shared = delayed(_result, pure=False, traverse=False), delayed(function, pure=False, traverse=False)
        parts = _delayed_parts(X)
        found = [call(shared, part, i, dtype, dask_key_name=f"{token}-{i}") for i, part in enumerate(parts)]
        lengths = X.chunks[0] if hasattr(X, "chunks") else (np.nan,) * len(parts)
        return da.concatenate([da.from_delayed(f, (n,), dtype) for f, n in zip(found, lengths, strict=True)])
    results = (_result(function, block, i, dtype) for i, block in enumerate(blocks_of(X)))
    return results if is_blocks(X) else np.concatenate([np.empty(0, dtype), *results])


def _delayed_parts(X: Rows) -> list[Delayed]:
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions; give rows and columns")
    # A row must be in one piece; rows stay where they are.
    X = X.rechunk({1: -1}) if hasattr(X, "rechunk") and X.numblocks[1] > 1 else X
    return np.ravel(np.asarray(X.to_delayed(), dtype=object)).tolist()


def _result(function: Callable[[object], object], rows: Rows, number: int, dtype: type) -> object:
    if not len(rows):  # which scikit-learn refuses
        return np.empty(0, dtype)
    try:
        return function(rows)
    except (ValueError, MemoryError) as error:
        remedy = "; use smaller partitions or blocks" if isinstance(error, MemoryError) else ""
        raise type(error)(f"partition {number}: {error}{remedy}") from error


def _thinned(rows: object, start: int, limit: int) -> tuple[Keys, object]:
    return _at_most(limit, _keys(start, count_rows(rows)), rows)


def _keys(start: int, n: int) -> Keys:
    return splitmix64(np.arange(start, start + n, dtype=np.uint64))


def _at_most(limit: int, keys: Keys, rows: object) -> tuple[Keys, object]:
    kept = np.flatnonzero(keys <= np.uint64(limit))
    return (keys, rows) if len(kept) == len(keys) else (keys[kept], take_rows(rows, kept))


def _check_like_the_first(rows: Rows, first: Rows, number: int) -> None:
    if getattr(rows, "ndim", 2) != 2:
        raise ValueError(f"partition {number} has shape {rows.shape}; each must be a table of shape (rows, columns)")
    found, expected = column_names(rows), column_names(first)
    if found != expected:
        raise ValueError(
            f"partition {number} has the columns {found}, not {expected}; give the same columns in the same order"
        )
    if rows.shape[1] != first.shape[1]:
        raise ValueError(
            f"partition {number} has {rows.shape[1]} columns, not {first.shape[1]}; give the same columns in all"
        )
