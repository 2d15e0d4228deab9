"""Rows in partitions: of a Dask collection, or of an array, a memory map or blocks on one machine.

Dask does all the work. The partitions of a Dask collection stay with whatever scheduler is active. Partitions on one
machine are handled by a few threads; what lies between two steps goes to files.
"""

import errno
import os
import shutil
import tempfile
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from dask.delayed import Delayed, delayed
from numpy.typing import NDArray

import dask
from transvariation._typing import Floats
from transvariation.explanation import to_pandas

Integers = NDArray[np.int64]

BLOCK_ROWS = 1 << 20  # of arrays and memory maps on one machine
_FAN_IN = 8  # results added in one task
_THREADS = min(4, os.cpu_count() or 1)  # on one machine; each holds a partition in memory


class Scratch:
    """A folder for intermediate files, deleted when nothing refers to it any more."""

    path: Path

    def __init__(self, parent: "str | Path | Scratch | None" = None):
        self._parent = parent  # stays as long as its subfolders
        folder = parent.path if isinstance(parent, Scratch) else parent
        self.path = Path(tempfile.mkdtemp(prefix="transvariation-", dir=folder))
        self.remove = weakref.finalize(self, _remove, self.path, os.getpid())

    def write(self, number: int, pieces: Sequence[Floats]) -> tuple[list[int], int]:
        """Write arrays one after another to a file; return their lengths and their width."""
        try:
            with self._file(number).open("wb") as file:
                for piece in pieces:
                    file.write(np.ascontiguousarray(piece).data)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise OSError(
                error.errno,
                "the disk is full: fitting out of core needs up to 64 bytes of scratch space per row in two variables; "
                "free some, or name another folder with scratch=",
                str(self.path),
            ) from error
        return [len(piece) for piece in pieces], pieces[0].shape[1]

    def read(self, number: int, start: int, stop: int, width: int) -> Floats:
        """Read rows of a file."""
        try:
            flat = np.fromfile(self._file(number), count=(stop - start) * width, offset=8 * start * width)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"the scratch file {error.filename} is gone; fit again, or name another folder with scratch="
            ) from error
        return flat.reshape(stop - start, width)

    def _file(self, number: int) -> Path:
        return self.path / str(number)


def _remove(folder: Path, owner: int) -> None:
    """Delete a folder, but not from a forked child, which inherits the object and ends while its parent reads on."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


class Partitions:
    """Partitions of rows as delayed arrays.

    The functions given to its methods take the rows of a partition and its number first.

    Parameters
    ----------
    parts : sequence of Delayed, or function that returns one
        A function makes new tasks for each graph: a scheduler takes a key that it knows for the task that it knows.
    local : bool
        Whether the rows are on this machine; its threads then handle them, whatever scheduler is active.
    scratch : Scratch, optional
        Where files may be written; None: rows that are stored or exchanged stay in the workers' memory.
    """

    lengths: Sequence[int] = ()  # rows per partition, known after `inspect`
    width: int = 0  # columns, known after `inspect`
    extremes: tuple[float, float] = (0.0, 0.0)  # the smallest and the largest value, known after `inspect`
    columns: list | None = None  # of tables

    def __init__(
        self,
        parts: Sequence[Delayed] | Callable[[], Sequence[Delayed]],
        local: bool,
        scratch: Scratch | None = None,
    ):
        self._parts, self.local, self.scratch = parts, local, scratch

    @property
    def parts(self) -> Sequence[Delayed]:
        """The partitions, with keys of their own for each graph they go into."""
        return self._parts() if callable(self._parts) else self._parts

    def __len__(self) -> int:
        return sum(self.lengths)

    @property
    def starts(self) -> Integers:
        """The number of the first row of each partition, and of the row after the last."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    def inspect(self) -> "Partitions":
        """Read everything once: how many rows and columns there are, and the extremes."""
        looks = self.map(_look)
        filled = [look for look in looks if look[0]]
        if not filled or not filled[0][1]:
            raise ValueError(f"X has no {'columns' if filled else 'rows'}; give rows of target samples")
        self.lengths, self.width = tuple(look[0] for look in looks), filled[0][1]
        for number, look in enumerate(looks):
            if look[1] != self.width:
                raise ValueError(
                    f"partition {number} has {look[1]} columns, not {self.width}; give the same columns in all"
                )
        self.extremes = min(look[2] for look in filled), max(look[3] for look in filled)
        return self

    def map(self, function: Callable, *arguments: Any) -> list:
        """Compute ``function(rows, number, *arguments)`` of each partition, in order."""
        return self._compute(self._tasks(function, arguments))

    def total(self, function: Callable, *arguments: Any) -> Any:
        """Add up what `map` would return, a few terms at a time."""
        return self._compute([_added(self._tasks(function, arguments))])[0]

    def derive(self, function: Callable, *arguments: Any) -> "Partitions":
        """Transform each partition when it is needed."""
        return Partitions(partial(self._tasks, function, arguments), self.local, self.scratch)

    def take(self, indices: Integers) -> Floats:
        """Fetch rows by their numbers, in ascending order."""
        return np.concatenate(self.map(_rows_at, self.starts, indices))

    def sample(self, size: int) -> Floats:
        """Fetch evenly spaced rows, the same for every partitioning."""
        return self.take(np.unique(np.linspace(0, len(self) - 1, min(len(self), size)).astype(np.int64)))

    def joined(self, others: Iterable["Partitions"]) -> "Partitions":
        """Append the partitions of others."""
        each = [self, *others]
        return Partitions(lambda: [part for rows in each for part in rows.parts], self.local, self.scratch)

    def against(self, targets: Sequence["Partitions"], count: Callable, finish: Callable) -> "Partitions":
        """Compare each partition with all partitions of `targets`, when it is needed.

        The new partition is ``finish(rows, total)``, where the total adds ``count(target, k, rows)`` over all
        partitions of the k-th of `targets`.
        """
        if not self.local and any(target.local for target in targets):
            raise ValueError(
                "the classifier was fitted on one machine, not to a Dask collection; give it arrays or blocks"
            )
        counted, finished = delayed(count, pure=False, traverse=False), delayed(finish, pure=False, traverse=False)
        names = _task_names(finish)
        known = [(part, k) for k, target in enumerate(targets) for part in target.parts]
        parts = []
        for i, rows in enumerate(self.parts):
            terms = [counted(part, k, rows) for part, k in known]
            parts.append(finished(rows, _added(terms), dask_key_name=names(i)))
        return Partitions(parts, self.local and all(target.local for target in targets), self.scratch)

    def combine(self, other: "Partitions", function: Callable, *arguments: Any) -> "Partitions":
        """Compute ``function(rows, other_rows, *arguments)`` of each pair of partitions, when it is needed."""
        fixed = [_constant(argument) for argument in arguments]
        call, names = delayed(function, pure=False, traverse=False), _task_names(function)
        pairs = enumerate(zip(self.parts, other.parts, strict=True))
        return Partitions([call(*pair, *fixed, dask_key_name=names(i)) for i, pair in pairs], self.local)

    def exchange(self, function: Callable, n_parts: int, *arguments: Any) -> "Partitions":
        """Regroup rows: the function splits a partition into `n_parts`; part j of all is the new partition j."""
        tasks: list[Any] = self._tasks(function, arguments)
        if self.scratch is None:
            join = delayed(_join, pure=False)
            return Partitions([join([pieces[j] for pieces in tasks]) for j in range(n_parts)], self.local)
        folder = Scratch(self.scratch)
        write = delayed(folder.write, pure=False, traverse=False)
        written = self._compute([write(i, pieces) for i, pieces in enumerate(tasks)])
        ends = np.cumsum([[0, *lengths] for lengths, _ in written], axis=1)
        return self._read(folder, [_segments(ends, j) for j in range(n_parts)], written[0][1])

    def store(self) -> "Partitions":
        """Compute the partitions once and keep them."""
        if self.scratch is None:
            return Partitions(dask.persist(*self.parts), self.local)
        folder = Scratch(self.scratch)
        write = delayed(folder.write, pure=False, traverse=False)
        written = self._compute([write(i, [part]) for i, part in enumerate(self.parts)])
        return self._read(folder, [[(i, 0, n)] for i, ((n,), _) in enumerate(written)], written[0][1])

    def _read(self, folder: Scratch, segments: list[list[tuple[int, int, int]]], width: int) -> "Partitions":
        read = delayed(_read_segments, pure=False, traverse=False)
        return Partitions([read(folder, each, width) for each in segments], True, self.scratch)

    def _tasks(self, function: Callable, arguments: tuple) -> list[Delayed]:
        # A delayed constant is sent once, not once with each task.
        fixed = [delayed(a, pure=False) if isinstance(a, np.ndarray) and a.nbytes > 1 << 16 else a for a in arguments]
        names = _task_names(function)
        call = delayed(_call, pure=False, traverse=False)
        return [call(function, part, i, *fixed, dask_key_name=names(i)) for i, part in enumerate(self.parts)]

    def _compute(self, tasks: list[Delayed]) -> list:
        how = {"scheduler": "threads", "num_workers": _THREADS} if self.local else {}
        return list(dask.compute(*tasks, **how))

    def __getstate__(self) -> dict[str, Any]:
        """Return the rows themselves: pickles and model files cannot refer to the files of a process."""
        if not self.local:
            raise TypeError(
                "the classifier was fitted to a Dask collection, and a model file would have to hold all its rows; fit "
                "one to a memory map, to blocks or, with X.compute(), to an array, and save that"
            )
        state = {name: value for name, value in vars(self).items() if name != "_parts"}
        return {**state, "parts": self._compute(list(self.parts)), "scratch": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        kept = {name: value for name, value in state.items() if name != "parts"}
        vars(self).update(kept, _parts=[_constant(rows) for rows in state["parts"]])


def _constant(rows: Any) -> Delayed:
    return delayed(rows, pure=False, traverse=False)


def _task_names(function: Callable) -> Callable[[int], str]:
    """Name tasks after their partition: Dask's own errors, as when workers are lost, then name it too."""
    token = f"{getattr(function, '__name__', 'task').strip('_')}-{uuid.uuid4().hex[:12]}"
    return lambda i: f"transvariation-{token}-partition-{i}"


def _call(function: Callable, rows: Floats, number: int, *arguments: Any) -> Any:
    try:
        return function(rows, number, *arguments)
    except MemoryError as error:
        raise MemoryError(
            f"not enough memory for partition {number} ({error}); use smaller partitions or blocks"
        ) from error


def _added(terms: list[Delayed]) -> Any:
    """Add in a tree: no worker holds more than a few terms at a time."""
    add = delayed(sum, pure=False)
    while len(terms) > 1:
        terms = [add(terms[i : i + _FAN_IN]) for i in range(0, len(terms), _FAN_IN)]
    return terms[0] if terms else 0


def _segments(ends: Integers, j: int) -> list[tuple[int, int, int]]:
    """List where the j-th pieces are: file, first row, row after the last; at least one, for the width."""
    found = [(i, int(row[j]), int(row[j + 1])) for i, row in enumerate(ends) if row[j] < row[j + 1]]
    return found or [(0, 0, 0)]


def _read_segments(folder: Scratch, segments: list[tuple[int, int, int]], width: int) -> Floats:
    return np.concatenate([folder.read(*segment, width) for segment in segments])


def _join(pieces: list[Floats]) -> Floats:
    return np.concatenate(pieces)


def _look(rows: Floats, number: int) -> tuple[int, int, float, float]:
    return *rows.shape, float(rows.min(initial=np.inf)), float(rows.max(initial=-np.inf))


def _rows_at(rows: Floats, number: int, starts: Integers, indices: Integers) -> Floats:
    low, high = np.searchsorted(indices, starts[number : number + 2])
    return rows[indices[low:high] - starts[number]]


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask array or DataFrame."""
    return type(X).__module__.startswith("dask") and hasattr(X, "to_delayed")


def is_blocks(X: Any) -> bool:
    """Return whether X is a function that returns blocks, or an iterator over them."""
    return callable(X) or hasattr(X, "__next__")


def iterate_blocks(X: Any, width: int | None = None, columns: list | None = None) -> Iterator[tuple[Floats, Any]]:
    """Iterate over checked blocks and their columns; the first block with rows decides which columns all must have."""
    for number, block in enumerate(X() if callable(X) else X):
        block = to_pandas(block)
        columns = columns or _columns_of(block)
        rows = check_rows(block, number, width, columns)
        width = rows.shape[1]
        yield rows, columns


def open_partitions(
    X: Any, scratch: Scratch | None = None, width: int | None = None, columns: list | None = None
) -> Partitions:
    """Represent a Dask collection, an array, a memory map or blocks as partitions of checked rows.

    Parameters
    ----------
    X : Dask array or DataFrame, array, memory map, iterator over blocks, or function that returns one
    scratch : Scratch, optional
        Where blocks are written to.
    width : int, optional
        The number of columns that is expected.
    columns : list, optional
        The columns that tables must have; by default those of X or of its first block.
    """
    if is_blocks(X):
        folder = Scratch(scratch)
        written: list[int] = []
        for rows, found in iterate_blocks(X, width, columns):
            columns = found
            written.append(folder.write(len(written), [rows])[0][0])
            width = rows.shape[1]
        segments = [[(i, 0, n)] for i, n in enumerate(written)]
        opened = Partitions([], True, scratch)._read(folder, segments, width or 0)
    elif is_dask(X):
        if X.ndim != 2:
            raise ValueError(f"X has {X.ndim} dimensions; give rows and columns")
        columns = columns or (list(X.columns) if hasattr(X, "columns") else None)
        # A row must be in one piece; rows stay where they are.
        X = X.rechunk({1: -1}) if hasattr(X, "rechunk") and X.numblocks[1] > 1 else X
        parts = X.to_delayed()
        opened = _checked(parts.ravel().tolist() if hasattr(parts, "ravel") else parts, False, None, width, columns)
    else:
        table = X if hasattr(X, "shape") else np.asarray(X)
        if len(table.shape) != 2:
            raise ValueError(f"X has shape {table.shape}; give a table of shape (rows, columns)")
        at = table.iloc if hasattr(table, "iloc") else table
        columns = columns or _columns_of(table)
        slices = [_constant(at[i : i + BLOCK_ROWS]) for i in range(0, table.shape[0], BLOCK_ROWS)]
        opened = _checked(slices, True, scratch, width, columns)
    opened.columns = columns
    return opened


def _checked(
    parts: list[Delayed], local: bool, scratch: Scratch | None, width: int | None, columns: list | None
) -> Partitions:
    return Partitions(parts, local, scratch).derive(check_rows, width, columns)


def _columns_of(block: Any) -> list | None:
    """List the columns of a table with rows; None for an array."""
    columns = getattr(block, "columns", None)
    return list(columns) if columns is not None and len(block) else None


def check_rows(block: Any, number: int, width: int | None = None, columns: list | None = None) -> Floats:
    """Convert a partition to rows of finite doubles, or raise an error that names the partition.

    Examples
    --------
    >>> import numpy as np
    >>> check_rows(np.array([[1.0, 2.0], [3.0, np.nan]]), 7)
    Traceback (most recent call last):
    ValueError: partition 7 holds NaN in its row 1, column 1; drop or fill it before fitting or scoring
    """
    found = _columns_of(block)
    if columns is not None and found is not None and found != columns:
        raise ValueError(
            f"partition {number} has the columns {found}, not {columns}; give the same columns in the same order"
        )
    frame = hasattr(block, "dtypes") and hasattr(block, "to_numpy")
    for column, dtype in enumerate(block.dtypes if frame else [np.asarray(block).dtype]):
        if getattr(dtype, "kind", "O") not in "fiub":
            where = f"in column {block.columns[column]!r} " if frame else ""
            raise ValueError(
                f"partition {number} has values of dtype {dtype} {where}where numbers are needed; convert them, for "
                "example with astype(float)"
            )
    rows = block.to_numpy(dtype=np.float64, na_value=np.nan) if frame else np.asarray(block)
    if rows.ndim != 2:
        raise ValueError(f"partition {number} has shape {rows.shape}; each must be a table of shape (rows, columns)")
    if width is not None and rows.shape[1] != width:
        raise ValueError(f"partition {number} has {rows.shape[1]} columns, not {width}; give the same columns in all")
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(rows.sum())  # one sum shows that all is well; otherwise each value is looked at
    if not finite and not (known := np.isfinite(rows)).all():
        row, column = np.argwhere(~known)[0]
        what = "NaN" if np.isnan(rows[row, column]) else "an infinite value"
        raise ValueError(
            f"partition {number} holds {what} in its row {row}, column {column}; drop or fill it before fitting or "
            "scoring"
        )
    return rows
