"""The common form of every kind of file: a header and blocks of columns."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from transvariation.tables.cells import Column, read_cells
from transvariation.tables.problems import MARKS, Problems

BLOCK_CELLS = 1_000_000  # a block of text cells this large takes about 100 MB


@dataclass(frozen=True)
class Limits:
    """Largest table that is accepted; the local page sets lower limits."""

    rows: int = 20_000_000
    columns: int = 20_000
    cells: int = 250_000_000  # 2 GB of numbers
    unpacked: int = 500_000_000  # bytes in an Excel file once unpacked


@dataclass(frozen=True)
class Block:
    """Consecutive rows: their numbers in the file, and the cells of each column of the header."""

    rows: NDArray[np.int64]
    columns: list[Column]
    progress: float = 1.0  # the share of the file read by now

    def keep(self, mask: NDArray[np.bool_]) -> "Block":
        """Return the rows where the mask holds."""
        at = np.flatnonzero(mask)
        columns: list[Column] = [
            column[at] if isinstance(column, np.ndarray) else [column[i] for i in at.tolist()]
            for column in self.columns
        ]
        return Block(self.rows[at], columns, self.progress)


class Grid(Protocol):
    """A file that was opened and whose header was read."""

    name: str
    header: list[str]
    first_row: int  # the header's row
    decimal: str  # "" until text cells were seen: a typed file may hold none
    sha256: str
    n_rows: int  # 0 if unknown before the file is read
    delimiter: str  # how a message names what separates the columns, "" where they are typed
    measured: Sequence[int]  # the columns of numbers, once that is decided: a text file is then read faster

    def blocks(self, block_rows: int) -> Iterator[Block]:
        """Read the rows below the header."""


def block_rows(n_columns: int) -> int:
    """Return how many rows to hold as text at once."""
    return max(16, BLOCK_CELLS // max(n_columns, 1))


def are_names(cells: Sequence[object]) -> bool:
    """Return whether these may be the names of columns: two words or more and no number, with either decimal mark.

    >>> are_names(["id", "Na", ""]), are_names(["F1", "1,5"])
    (True, False)
    """
    filled = [cell for cell in cells if cell is not None and str(cell).strip()]
    looks = [read_cells(filled, mark) for mark in MARKS]
    return len(filled) > 1 and not any(np.isfinite(look.values).any() or look.below for look in looks)


def report_lengths(
    misfits: Sequence[tuple[int, Sequence[object]]], n_rows: int, width: int, problems: Problems, delimiter: str = ""
) -> None:
    """Report the rows, of `n_rows` in all, that do not fit a header of so many cells.

    Where most rows agree on another length and begin with names, these are the header and what was taken for it is a
    title; that is reported once.
    """
    count = Counter(len(cells) for _, cells in misfits)
    length, times = max(count.items(), key=lambda item: item[1], default=(0, 0))
    row, first = next(((row, cells) for row, cells in misfits if len(cells) == length), (0, ()))
    if 2 * times > n_rows and are_names(first):
        raise problems.stop("title", row, n=length, width=width)
    for row, cells in misfits:
        if delimiter:
            problems.add("row-length", row, n=len(cells), width=width, delimiter=delimiter)
        else:
            problems.add("row-too-long", row, n=len(cells), width=width)
