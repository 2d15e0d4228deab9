"""What every kind of file is turned into first: a header and blocks of columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Column = Sequence[object] | NDArray[np.float64]

BLOCK_CELLS = 1_000_000  # a block of text cells this large takes about 100 MB


@dataclass(frozen=True)
class Limits:
    """How large a table may be before it is refused; a page that takes files from strangers sets these lower."""

    rows: int = 20_000_000
    columns: int = 20_000
    cells: int = 250_000_000  # 2 GB of numbers
    unpacked: int = 500_000_000  # bytes in an Excel file once unpacked


@dataclass(frozen=True)
class Block:
    """Some consecutive rows: their numbers in the file, and one sequence of cells per column of the header."""

    rows: NDArray[np.int64]
    columns: list[Column]
    progress: float = 1.0  # the share of the file read by now


@dataclass(frozen=True)
class Plan:
    """Which columns are wanted as numbers and which as text, once that is decided."""

    numbers: tuple[int, ...]
    texts: tuple[int, ...]


class Grid(Protocol):
    """A file that was opened and whose header was read."""

    name: str
    header: list[str]
    first_row: int  # the header's row
    decimal: str  # "" until text cells were seen: a typed file may hold none
    sha256: str
    plan: Plan | None  # a reader that can use it reads faster

    def blocks(self, block_rows: int) -> Iterator[Block]:
        """Read the rows below the header."""


def split(block: Block, block_rows: int, progress: float) -> Iterator[Block]:
    """Cut a block into blocks of at most so many rows."""
    for start in range(0, len(block.rows), block_rows):
        part = slice(start, start + block_rows)
        yield Block(block.rows[part], [column[part] for column in block.columns], progress)


def block_rows(n_columns: int) -> int:
    """Choose how many rows to hold as text at once."""
    return max(16, BLOCK_CELLS // max(n_columns, 1))
