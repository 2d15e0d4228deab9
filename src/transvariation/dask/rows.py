"""Rows in partitions: what every algorithm of this room asks of its data, wherever they are.

A `Rows` maps a function over its partitions and collects small answers, in order. It can be transformed lazily
(`derive`), regrouped (`exchange`) and kept (`store`). One kind reads blocks on one machine, another lets Dask do it;
the algorithms do not know which.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Rows(ABC):
    """Partitions of rows. Functions given to it take a partition and its number first."""

    lengths: Sequence[int] = ()  # rows per partition, known after `inspect`
    names: NDArray | None = None  # of the columns, where the data have any
    width: int | None = None  # columns, known after `inspect`
    extremes: tuple[float, float] = (0.0, 0.0)  # the smallest and the largest value, known after `inspect`

    @abstractmethod
    def map(self, function: Callable, *arguments: Any) -> list:
        """Compute ``function(rows, number, *arguments)`` of each partition, in order."""

    @abstractmethod
    def total(self, function: Callable, *arguments: Any) -> Any:
        """Add up what `map` would give, without ever holding more than a few of the terms."""

    @abstractmethod
    def derive(self, function: Callable, *arguments: Any) -> "Rows":
        """Transform each partition when it is read."""

    @abstractmethod
    def exchange(self, function: Callable, n_parts: int, *arguments: Any) -> "Rows":
        """Regroup: the function cuts a partition into `n_parts` pieces; piece j of all make up the new partition j."""

    @abstractmethod
    def against(self, asked: list["Rows"], count: Callable, finish: Callable) -> "Rows":
        """Put the rows z of each partition to every partition of each of `asked`, when they are read.

        ``count(rows, k, z)`` is put to the partitions of the k-th of `asked`, the answers are added, and
        ``finish(z, total)`` is the new partition.
        """

    @abstractmethod
    def joined(self, others: Sequence["Rows"]) -> "Rows":
        """Put the partitions of others after one's own."""

    @abstractmethod
    def store(self) -> "Rows":
        """Compute the partitions once and keep them, for several rounds of questions."""

    def inspect(self) -> "Rows":
        """Read everything once: how many rows, how many columns, and whether all are finite numbers."""
        shapes = self.map(_look)
        filled = [shape for shape in shapes if shape[0]]
        if not filled:
            raise ValueError("X has no rows; give at least two target objects")
        self.width = filled[0][1]
        for number, (_, width, *_) in enumerate(shapes):
            check_width(width, number, self.width, "the others have")
        if not self.width:
            raise ValueError("X has no columns; give at least one variable")
        self.lengths = tuple(length for length, *_ in shapes)
        self.extremes = min(shape[2] for shape in filled), max(shape[3] for shape in filled)
        return self


def starts_of(rows: Rows) -> NDArray[np.int64]:
    """Number the first row of each partition, and at the end the row after the last."""
    return np.concatenate([[0], np.cumsum(rows.lengths)]).astype(np.int64)


def within(kind: str, function: Callable, rows: Any, number: int, *arguments: Any) -> Any:
    """Call a function for a partition; should the memory not suffice, say for which."""
    try:
        return function(rows, number, *arguments)
    except MemoryError as error:
        raise MemoryError(
            f"the memory does not suffice for {kind} {number} ({error}); use smaller partitions or blocks, or more "
            "memory"
        ) from error


def _look(rows: Floats, number: int) -> tuple[int, int, float, float]:
    return *rows.shape, float(rows.min(initial=np.inf)), float(rows.max(initial=-np.inf))


def check_width(width: int, number: int, expected: int, those_of: str) -> None:
    """Say which partition has another number of columns than who has those expected."""
    if width != expected:
        raise ValueError(f"partition {number} has {width} columns, {those_of} {expected}; give all the same")


def columns_of(block: Any) -> list | None:
    """List the columns of a table with rows; an array has none, and those of no rows say nothing."""
    columns = getattr(block, "columns", None)
    return list(columns) if columns is not None and len(block) else None


def feature_names(columns: list | None) -> NDArray | None:
    """Give columns as scikit-learn keeps them: those that are all named by text."""
    named = columns is not None and all(isinstance(column, str) for column in columns)
    return np.asarray(columns, dtype=object) if named else None


def checked(
    block: Any, number: int, width: int | None = None, finite: bool = True, columns: list | None = None
) -> Floats:
    """Turn one partition into rows of finite doubles, or say which partition is not that and why.

    If it is a table, its columns must be those expected, in their order.

    Examples
    --------
    >>> import numpy as np
    >>> checked(np.array([[1.0, 2.0], [3.0, np.nan]]), 7)
    Traceback (most recent call last):
    ValueError: partition 7 holds NaN in its row 1, column 1; drop or fill it before fitting or scoring
    """
    found = columns_of(block)
    if columns is not None and found is not None and found != columns:
        raise ValueError(
            f"partition {number} has the columns {found}, not {columns}; give all those of the target objects, in one "
            "order"
        )
    frame = hasattr(block, "dtypes") and hasattr(block, "to_numpy")
    kinds = list(block.dtypes) if frame else [np.asarray(block).dtype]
    for column, dtype in enumerate(kinds):
        if getattr(dtype, "kind", "O") not in "fiub":
            where = f"in column {block.columns[column]!r} " if frame else ""
            raise ValueError(
                f"partition {number} has values of dtype {dtype} {where}where numbers are needed; convert that "
                "partition, for example with astype(float)"
            )
    rows = block.to_numpy(dtype=np.float64, na_value=np.nan) if frame else np.asarray(block)
    if rows.ndim != 2:
        raise ValueError(f"partition {number} has shape {rows.shape}; each must be a table of shape (rows, columns)")
    if width is not None:
        check_width(rows.shape[1], number, width, "the target objects had")
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    # One sum tells that all is well; only if it does not is each value looked at.
    with np.errstate(over="ignore", invalid="ignore"):
        fine = not finite or np.isfinite(rows.sum())
    if not fine and not (known := np.isfinite(rows)).all():
        row, column = np.argwhere(~known)[0]
        what = "NaN" if np.isnan(rows[row, column]) else "an infinite value"
        raise ValueError(
            f"partition {number} holds {what} in its row {row}, column {column}; drop or fill it before fitting or "
            "scoring"
        )
    return rows
