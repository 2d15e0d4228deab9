"""Rows on one machine that need not fit into its memory: blocks from anywhere, and files for what is in between."""

import errno
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np

from transvariation.dask.rows import Floats, Rows, checked, columns_of, feature_names, within

BLOCK_ROWS = 1 << 20


class Scratch:
    """A folder for intermediate files that is gone when nobody needs it any more, or when anything fails."""

    def __init__(self, parent: str | Path | None = None):
        self._folder = Path(tempfile.mkdtemp(prefix="transvariation-", dir=parent))
        self._numbers = count()
        self.remove = weakref.finalize(self, _remove, self._folder, os.getpid())  # or call it before

    def new(self, n_parts: int) -> list[Path]:
        """Name files for the parts of one exchange."""
        number = next(self._numbers)
        return [self._folder / f"{number}-{part}" for part in range(n_parts)]

    def append(self, path: Path, rows: Floats) -> None:
        """Add rows to a file, or say what the disk lacks."""
        try:
            with path.open("ab") as file:
                file.write(np.ascontiguousarray(rows).data)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            self.remove()
            raise OSError(
                error.errno,
                "the disk is full: fitting out of core needs about 48 bytes of scratch space per row, nothing was kept;"
                " make room, or name another folder with scratch=",
                str(path.parent),
            ) from error


def _remove(folder: Path, owner: int) -> None:
    """Delete a folder, but not from a forked child, which inherits the object and ends while its parent reads on."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


class LocalRows(Rows):
    """Blocks that a function gives anew for each round, one in memory at a time."""

    def __init__(self, blocks: Callable[[], Iterable[Floats]], scratch: Scratch | None = None):
        self.blocks = blocks
        self._scratch = scratch

    def inspect(self) -> Rows:
        """Read everything once; blocks that are tables then have said what their columns are."""
        super().inspect()
        if isinstance(self.blocks, Blocks):
            self.names = feature_names(self.blocks.columns)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return the rows themselves: pickles and model files cannot refer to a process's files and functions."""
        return {
            "blocks": [rows for _, rows in self._numbered()],
            "lengths": self.lengths,
            "width": self.width,
            "names": self.names,
            "extremes": self.extremes,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        blocks = state["blocks"]
        vars(self).update(state, blocks=lambda: iter(blocks), _scratch=None)

    @property
    def scratch(self) -> Scratch:
        """A place for files, made when it is first needed."""
        if self._scratch is None:
            self._scratch = Scratch()
        return self._scratch

    def _numbered(self) -> Iterator[tuple[int, Floats]]:
        number = -1
        for number, rows in enumerate(self.blocks()):
            if self.lengths and (number >= len(self.lengths) or len(rows) != self.lengths[number]):
                break
            yield number, rows
        else:
            if not self.lengths or number + 1 == len(self.lengths):
                return
            number += 1
        raise ValueError(
            f"block {number} is not what it was in the first round; a function given as X must give the same blocks, "
            "in the same order, at every call"
        )

    def map(self, function: Callable, *arguments: Any) -> list:
        """Ask each block in turn."""
        return [within("block", function, rows, number, *arguments) for number, rows in self._numbered()]

    def total(self, function: Callable, *arguments: Any) -> Any:
        """Add as answers come."""
        return sum(within("block", function, rows, number, *arguments) for number, rows in self._numbered())

    def derive(self, function: Callable, *arguments: Any) -> "LocalRows":
        """Transform when read."""
        return LocalRows(
            lambda: (within("block", function, rows, i, *arguments) for i, rows in self._numbered()), self._scratch
        )

    def against(self, asked: list[Rows], count: Callable, finish: Callable) -> "LocalRows":
        """Put each block to all blocks."""

        def blocks() -> Iterator[Floats]:
            for _, z in self._numbered():
                yield finish(z, sum(rows.total(_of_part, count, k, z) for k, rows in enumerate(asked)))

        return LocalRows(blocks, self._scratch)

    def exchange(self, function: Callable, n_parts: int, *arguments: Any) -> "LocalRows":
        """Regroup by way of files."""
        paths = self.scratch.new(n_parts)
        width, filled = 1, set()
        for number, rows in self._numbered():
            for path, piece in zip(paths, within("block", function, rows, number, *arguments), strict=True):
                width = piece.shape[1]
                if len(piece):
                    self.scratch.append(path, piece)
                    filled.add(path)
        # Read once, then gone: the disk never holds more than two generations.
        return LocalRows(
            lambda: (_read(path, width, True) if path in filled else np.empty((0, width)) for path in paths),
            self.scratch,
        )

    def joined(self, others: Sequence[Rows]) -> "LocalRows":
        """One after the other."""
        return LocalRows(lambda: chain(self.blocks(), *(rows.blocks() for rows in others)), self._scratch)  # type: ignore[attr-defined]

    def store(self) -> "LocalRows":
        """Keep in files."""
        paths: list[Path] = []
        for _, rows in self._numbered():
            paths += self.scratch.new(1)
            self.scratch.append(paths[-1], rows)
            width = rows.shape[1]
        return LocalRows(lambda: (_read(path, width, False) for path in paths), self.scratch)


def _of_part(rows: Floats, number: int, count: Callable, k: int, z: Floats) -> Any:
    return count(rows, k, z)


def _read(path: Path, width: int, last_time: bool) -> Floats:
    try:
        rows = np.fromfile(path).reshape(-1, width)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"the scratch file {path} is gone; fit again, or name another folder with scratch="
        ) from error
    if last_time:
        path.unlink()
    return rows


class Blocks:
    """Blocks as they are read, each checked; where none were expected, the columns are those of the first table."""

    def __init__(self, read: Callable[[], Iterable[Any]], width: int | None, finite: bool, columns: list | None = None):
        self.read, self.width, self.finite, self.columns = read, width, finite, columns

    def __call__(self) -> Iterator[Floats]:
        """Begin anew."""
        for number, block in enumerate(self.read()):
            if self.columns is None:
                self.columns = columns_of(block)
            yield checked(block, number, self.width, self.finite, self.columns)


def blocks_of(X: Any, width: int | None = None, finite: bool = True, columns: list | None = None) -> Blocks:
    """Give the rows of an array or table as checked blocks, or check those that a function gives."""
    if callable(X):
        return Blocks(X, width, finite, columns)
    table = X if hasattr(X, "shape") else np.asarray(X)
    if len(table.shape) != 2:
        raise ValueError(f"X has shape {table.shape}; give a table of shape (rows, columns)")
    at = table.iloc if hasattr(table, "iloc") else table
    starts = range(0, table.shape[0], BLOCK_ROWS)
    return Blocks(lambda: (at[i : i + BLOCK_ROWS] for i in starts), width, finite, columns)
