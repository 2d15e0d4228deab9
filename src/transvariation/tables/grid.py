"""The common form of every table: a header and blocks of columns, which DataFrames and Parquet files have already."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from transvariation.tables.cells import Column, Limit, read_cell
from transvariation.tables.problems import MARKS, Problems

if TYPE_CHECKING:
    import pandas as pd

BLOCK_CELLS = 1_000_000  # a block of text cells this large takes about 100 MB

Frames = Callable[[int], Iterable["pd.DataFrame"]]


@dataclass(frozen=True)
class Limits:
    """Largest table that is accepted; the local page sets lower limits.

    Attributes
    ----------
    rows, columns, cells : int
        The largest numbers of each; 250 million cells are 2 GB of numbers.
    unpacked : int
        The largest number of bytes in an Excel file once unpacked.
    """

    rows: int = 20_000_000
    columns: int = 20_000
    cells: int = 250_000_000
    unpacked: int = 500_000_000


class Block(NamedTuple):
    """Consecutive rows: their numbers in the file, and the cells of each column of the header."""

    rows: NDArray[np.int64]
    columns: list[Column]
    progress: float = 1.0  # the share of the file read by now

    def keep(self, at: Any) -> "Block":
        """Return the rows of a slice, a mask or a list of positions."""
        return Block(self.rows[at], [column[at] for column in self.columns], self.progress)


class Grid:
    """A table that was opened and whose header was read; each kind of file has its own `blocks`."""

    header: list[str]
    first_row = 1  # the header's row
    n_rows = 0  # 0 if unknown before the file is read
    delimiter = ""  # how a message names what separates the columns, "" where they are typed
    measured: Sequence[int] = ()  # the columns of numbers, once that is decided: a text file is then read faster
    sha256 = ""  # of the file's bytes, or of the cells of a table in memory

    def __init__(self, problems: Problems, decimal: str | None):
        self.problems = problems
        self.decimal, self.decimal_given = decimal or "", decimal is not None  # "" until the first cells were seen

    def blocks(self) -> Iterator[Block]:
        """Read the rows below the header; no block is empty."""
        raise NotImplementedError

    @property
    def block_rows(self) -> int:
        """How many rows make a block."""
        return max(16, BLOCK_CELLS // len(self.header))

    def read_header(self, rows: Iterable[tuple[int, Sequence[object]]]) -> None:
        """Take the first row that is not blank for the header, without blank columns at the right-hand edge."""
        self.first_row, cells = next(((row, cells) for row, cells in rows if is_filled(cells)), (1, ()))
        self.header = ["" if cell is None else str(cell).strip() for cell in cells]
        while self.header and not self.header[-1]:
            self.header.pop()

    def block(self, records: Iterable[tuple[int, Sequence[Any]]], progress: float = 1.0) -> Iterator[Block]:
        """Turn numbered rows of cells into columns, without blank rows; report those that do not fit the header."""
        width = len(self.header)
        filled = [(row, record) for row, record in records if row > self.first_row and is_filled(record)]
        fitting = [(row, record) for row, record in filled if fits(record, width)]
        if len(fitting) < len(filled):
            self._report_lengths([(row, record) for row, record in filled if not fits(record, width)], len(filled))
        if fitting:
            columns = zip(*(record[:width] for _, record in fitting), strict=True)
            rows = np.array([row for row, _ in fitting], dtype=np.int64)
            yield Block(rows, [np.fromiter(column, object, len(rows)) for column in columns], progress)

    def _report_lengths(self, misfits: list[tuple[int, Sequence[object]]], n_rows: int) -> None:
        """Report rows that do not fit the header.

        Where most rows agree on another length and begin with names, these are the header and what was taken for it is
        a title; that is reported once.
        """
        width = len(self.header)
        length, times = Counter(len(record) for _, record in misfits).most_common(1)[0]
        row, first = next((row, record) for row, record in misfits if len(record) == length)
        if 2 * times > n_rows and are_names(first):
            raise self.problems.stop("title", row, n=length, width=width)
        for row, record in misfits:
            code = "row-length" if self.delimiter else "row-too-long"
            self.problems.add(code, row, n=len(record), width=width, delimiter=self.delimiter)


def is_filled(cells: Iterable[object]) -> bool:
    """Return whether any of these cells holds something."""
    return any(cell.strip() if isinstance(cell, str) else cell is not None for cell in cells)


def fits(record: Sequence[object], width: int) -> bool:
    """Return whether a row has the cells of a header, with nothing to their right."""
    return len(record) == width or (len(record) > width and not is_filled(record[width:]))


def are_names(cells: Sequence[object]) -> bool:
    """Return whether these may be the names of columns: two words or more and no number, with either decimal mark.

    >>> are_names(["id", "Na", ""]), are_names(["F1", "1,5"])
    (True, False)
    """
    filled = [cell for cell in cells if is_filled([cell])]
    numbers = [number for cell in filled for mark in MARKS if (number := read_cell(cell, mark)) is not None]
    return len(filled) > 1 and not any(isinstance(number, Limit) or number == number for number in numbers)


class TypedGrid(Grid):
    """A table that is in columns already: `frames` yields DataFrames of so many rows."""

    def __init__(self, header: list[str], n_rows: int, frames: Frames, problems: Problems, decimal: str | None):
        super().__init__(problems, decimal)
        self.header, self.n_rows, self._frames = [name.strip() for name in header], n_rows, frames

    def blocks(self) -> Iterator[Block]:
        """Read the rows in batches."""
        start = 2
        for frame in self._frames(self.block_rows):
            rows = np.arange(start, start + len(frame))
            start += len(frame)
            if len(frame):
                yield Block(rows, [_cells(column) for _, column in frame.items()], (start - 2) / self.n_rows)


def _cells(column: Any) -> Column:
    """Return floats, or objects where floats would lose something: an id may have more digits than they."""
    kind = column.dtype.kind
    if kind in "iu" and column.notna().any():
        kind = "f" if int(column.min()) >= -(2**53) and int(column.max()) <= 2**53 else "O"
    floats = kind in "iuf"
    return np.asarray(column.to_numpy(np.float64 if floats else object, na_value=np.nan if floats else None))


def open_frame(frame: Any, problems: Problems, decimal: str | None) -> TypedGrid:
    """Open a pandas DataFrame, or a table that offers Arrow's interface, such as a polars DataFrame.

    An index other than 0, 1, 2, ... becomes the first column. The fingerprint is that of header and cells.
    """
    if not hasattr(frame, "iloc"):
        frame = _pandas(_pyarrow(problems, type(frame).__module__.split(".")[0]).table(frame))
    index, names = frame.index, list(map(str, frame.columns))
    if frame.columns.nlevels > 1 or index.nlevels > 1:
        raise problems.stop("header-levels")
    nameless, unique = index.name is None, index.is_unique
    if nameless and not unique:
        problems.note("unused-index")
    if not nameless or (unique and type(index).__name__ != "RangeIndex"):
        names.insert(0, "" if nameless else str(index.name))
        frame = frame.reset_index(allow_duplicates=True)

    def frames(n: int) -> Iterator["pd.DataFrame"]:
        return (frame.iloc[start : start + n] for start in range(0, len(frame), n))

    grid = TypedGrid(names, len(frame), frames, problems, decimal)
    digest = hashlib.sha256(repr(grid.header).encode("utf-8", "backslashreplace"))
    for column in map(_cells, (column for _, column in frame.items())):
        numbers = None if column.dtype == object else column.astype("<f8").tobytes()
        digest.update(numbers or repr(column.tolist()).encode("utf-8", "backslashreplace"))
    grid.sha256 = digest.hexdigest()
    return grid


def open_parquet(stream: BinaryIO, problems: Problems, decimal: str | None) -> TypedGrid:
    """Open a Parquet file, to be read a batch of rows at a time; an index that pandas kept comes first."""
    parquet = _pyarrow(problems, "Parquet", "pyarrow.parquet")
    stream.seek(0)
    try:
        file = parquet.ParquetFile(stream)
        index = (file.schema_arrow.pandas_metadata or {}).get("index_columns") or []
    except Exception as error:  # pyarrow raises OSError, ArrowInvalid, ...
        raise problems.stop("damaged", kind="Parquet", reason=str(error)) from None
    names = file.schema_arrow.names
    order = sorted(range(len(names)), key=lambda i: names[i] not in index)

    def frames(n: int) -> Iterator["pd.DataFrame"]:
        row = 2
        try:
            for batch in file.iter_batches(n):
                yield _pandas(batch.select(order), ignore_metadata=True)
                row += batch.num_rows
        except Exception as error:  # pyarrow raises OSError, ArrowInvalid, ...
            problems.add("damaged", row, kind="Parquet", reason=str(error))

    header = [re.sub(r"^__index_level_\d+__$", "", names[i].strip()) for i in order]  # an index without a name
    return TypedGrid(header, file.metadata.num_rows, frames, problems, decimal)


def _pyarrow(problems: Problems, kind: str, module: str = "pyarrow") -> Any:
    try:
        return import_module(module)
    except ImportError:
        extra = "transvariation[parquet]"
        raise problems.stop("library", remedy="install", kind=kind, library="pyarrow", extra=extra) from None


def _pandas(arrow: Any, **options: Any) -> "pd.DataFrame":
    """Convert a table of Arrow's; whole numbers with gaps are not converted to floats, which have fewer digits."""
    import pandas as pd

    return arrow.to_pandas(types_mapper=lambda kind: pd.ArrowDtype(kind) if "int" in str(kind) else None, **options)
