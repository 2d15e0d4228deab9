"""The common form of every table: a header and blocks of columns, which DataFrames and Parquet files have already."""

import csv
import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from transvariation._typing import Bools, Fields, Indices
from transvariation.tables.cells import Column, Limit, read_cell
from transvariation.tables.options import MARKS
from transvariation.tables.problems import Problems, TableError
from transvariation.tables.settings import TableSettings

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import FileMetaData

BLOCK_CELLS = 1_000_000  # a block of text cells this large takes about 100 MB
LARGEST_TEXT = 100_000_000  # bytes in a row group of a Parquet file, characters in a block of any table
LARGEST_FOOTER = 16_000_000  # bytes: those of 20,000 columns in one row group are 6 MB
_NOT_READ = ("list", "large_list", "fixed_size_list", "struct", "map", "binary", "large_binary", "fixed_size_binary")

Frames = Callable[[int], Iterable[pd.DataFrame]]


@dataclass(frozen=True)
class Limits:
    """Largest table that is accepted; the local page sets lower limits.

    Attributes
    ----------
    rows, columns, cells : int
        The largest numbers of each; 250 million cells are 2 GB of numbers. The text of a Parquet file may take as many
        bytes as there may be cells.
    unpacked : int
        The largest number of bytes in an Excel file once unpacked.
    """

    rows: int = 1_000_000
    columns: int = 20_000
    cells: int = 250_000_000
    unpacked: int = 500_000_000


class Block(NamedTuple):
    """Consecutive rows: their numbers in the file, and the cells of each column of the header."""

    rows: NDArray[np.int64]
    columns: list[Column]
    progress: float = 1.0  # the share of the file read by now

    def keep(self, at: Indices | Bools | slice) -> "Block":
        """Return the rows of a slice, a mask or a list of positions."""
        return Block(self.rows[at], [column[at] for column in self.columns], self.progress)


class Grid:
    """A table that was opened and whose header was read; each kind of file has its own `blocks`."""

    header: list[str]
    first_row = 1  # the header's row
    n_rows = 0  # at least so many, as far as that is known before the file is read
    delimiter = ""  # how a message names what separates the columns, "" where they are typed
    measured: Sequence[int] = ()  # the columns of numbers, once that is decided: a text file is then read faster
    sha256 = ""  # of the file's bytes, or of the cells of a table in memory

    def __init__(self, problems: Problems, how: TableSettings):
        self.problems, self.header = problems, list[str]()
        self.decimal_given = how.decimal is not None
        self.decimal = how.decimal or ""  # until the first cells were seen

    def blocks(self) -> Iterator[Block]:
        """Read the rows below the header; no block is empty."""
        raise NotImplementedError

    def bounded_blocks(self, limits: Limits) -> Iterator[Block]:
        """Read the blocks; refuse too many rows, and text that a small file repeats until reading it takes minutes."""
        n, most = 0, min(limits.rows, limits.cells // len(self.header))
        for block in self.blocks():
            n += len(block.rows)
            if max(n, self.n_rows) > most:
                raise self.problems.stop("too-many-rows", remedy="read-chunks", n=most)
            sizes = [
                sum(len(cell) for cell in column.tolist() if isinstance(cell, str)) if column.dtype == object else 0
                for column in block.columns
            ]
            if sum(sizes) > LARGEST_TEXT:
                raise self.problems.stop("large-text", None, self.header[np.argmax(sizes)], size=sum(sizes) // 10**6)
            yield block

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

    def block(self, records: Iterable[tuple[int, Sequence[object]]], progress: float = 1.0) -> Iterator[Block]:
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
            raise self.problems.stop("title", row, remedy="header-row", cells=_count(length), width=width)
        for row, record in misfits:
            code = "row-length" if self.delimiter else "row-too-long"
            self.problems.add(code, row, cells=_count(len(record)), width=width, delimiter=self.delimiter)


def _count(cells: int) -> str:
    return f"{cells} cell{'' if cells == 1 else 's'}"


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
    n_filled = 0
    for cell in filter(lambda cell: is_filled([cell]), cells):
        n_filled += 1
        numbers = (read_cell(cell, mark) for mark in MARKS)
        if any(number is not None and (isinstance(number, Limit) or number == number) for number in numbers):
            return False
    return n_filled > 1


class TypedGrid(Grid):
    """A table that is in columns already: `frames` yields DataFrames of so many rows."""

    def __init__(self, header: list[str], n_rows: int, frames: Frames, problems: Problems, how: TableSettings):
        super().__init__(problems, how)
        self.header, self.n_rows, self._frames = [name.strip() for name in header], n_rows, frames

    def blocks(self) -> Iterator[Block]:
        """Read the rows in batches."""
        start = 2
        for frame in self._frames(self.block_rows):
            rows = np.arange(start, start + len(frame))
            start += len(frame)
            if len(frame):
                yield Block(rows, [_cells(column) for _, column in frame.items()], (start - 2) / max(self.n_rows, 1))


def _cells(column: pd.Series) -> Column:
    """Return floats, or objects where floats would lose something: an id may have more digits than they."""
    kind = column.dtype.kind
    if kind in "iu" and column.notna().any():
        kind = "f" if int(column.min()) >= -(2**53) and int(column.max()) <= 2**53 else "O"
    if kind in "iuf":
        return column.to_numpy(np.float64, na_value=np.nan)
    return np.asarray(column.to_numpy(object, na_value=None))  # type: ignore[call-overload]  # it takes None


def open_frame(frame: pd.DataFrame | object, problems: Problems, how: TableSettings) -> TypedGrid:
    """Open a pandas DataFrame, or a table that offers Arrow's interface, such as a polars DataFrame.

    An index other than 0, 1, 2, ... becomes the first column. The fingerprint is that of header and cells.
    """
    if not isinstance(frame, pd.DataFrame):
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

    def frames(n: int) -> Iterator[pd.DataFrame]:
        return (frame.iloc[start : start + n] for start in range(0, len(frame), n))

    grid = TypedGrid(names, len(frame), frames, problems, how)
    digest = hashlib.sha256(repr(grid.header).encode("utf-8", "backslashreplace"))
    for column in map(_cells, (column for _, column in frame.items())):
        numbers = None if column.dtype == object else column.astype("<f8").tobytes()
        digest.update(numbers or repr(column.tolist()).encode("utf-8", "backslashreplace"))
    grid.sha256 = digest.hexdigest()
    return grid


def open_parquet(stream: BinaryIO, problems: Problems, limits: Limits, how: TableSettings) -> TypedGrid:
    """Open a Parquet file, to be read a batch of rows at a time; an index that pandas kept comes first.

    Columns of lists and the like are not read; each of their cells is the name of its type. Text that repeats is
    unpacked once.
    """
    parquet = _pyarrow(problems, "Parquet", "pyarrow.parquet")
    stream.seek(0)
    try:
        if (size := _footer_size(stream)) > LARGEST_FOOTER:
            raise problems.stop("large-footer", size=round(size / 1e6))
        schema = (file := parquet.ParquetFile(stream)).schema_arrow
        if len(schema.names) > limits.columns:
            raise problems.stop("too-many-columns", n=len(schema.names), limit=limits.columns)
        names, types, n_rows = list(schema.names), list(map(str, schema.types)), max(int(file.metadata.num_rows), 0)
        index = (schema.pandas_metadata or {}).get("index_columns") or []
        flat = [i for i, kind in enumerate(types) if not kind.startswith(_NOT_READ)]
        text = [names[i] for i in flat if "string" in types[i]]
        most = math.inf  # rows in a batch, so that it holds about a fifth of that much text
        total = 0
        for n, sizes in _text_sizes(file.metadata, text):
            total += (size := sum(sizes.values()))
            if size > LARGEST_TEXT or total > limits.cells:
                largest, size = max(sizes, key=lambda name: sizes[name]), max(size, total)
                problems.add("large-text", None, largest, size=round(size / 1e6))
                break
            most = min(most, max(n * LARGEST_TEXT // (5 * size), 1) if size else math.inf)
        file = parquet.ParquetFile(stream, read_dictionary=text)
    except TableError:
        raise
    except Exception as error:  # pyarrow raises OSError, ArrowInvalid, UnicodeDecodeError, ...
        raise problems.stop("damaged", kind="Parquet", reason=str(error)) from None
    problems.check()
    order = sorted(range(len(names)), key=lambda i: names[i] not in index)

    def frames(n: int) -> Iterator[pd.DataFrame]:
        row = 2
        try:
            for batch in file.iter_batches(
                min(n, most), columns=[names[i] for i in flat] if len(flat) < len(names) else None
            ):
                for name, column in zip(batch.schema.names, batch.columns, strict=True):
                    if _longest(column) > csv.field_size_limit():
                        problems.add("long-cell", row, name)
                problems.check()
                columns = dict(zip(flat, map(_readable, batch.columns), strict=True))
                yield _pandas_of([columns.get(i, types[i]) for i in order], batch.num_rows)
                row += batch.num_rows
        except TableError:
            raise
        except Exception as error:  # pyarrow raises OSError, ArrowInvalid, ...
            problems.add("damaged", row, kind="Parquet", reason=str(error))

    header = [re.sub(r"^__index_level_\d+__$", "", names[i].strip()) for i in order]  # an index without a name
    return TypedGrid(header, n_rows, frames, problems, how)


def _footer_size(stream: BinaryIO) -> int:
    """Return the bytes that describe columns and row groups, which pyarrow reads into many times that memory."""
    end = stream.seek(0, 2)
    stream.seek(max(end - 8, 0))
    size = int.from_bytes(stream.read(4), "little")
    stream.seek(0)
    return size if size < end else 0  # a damaged file, of which pyarrow says so


def _text_sizes(metadata: "FileMetaData", text: Sequence[str]) -> Iterator[tuple[int, dict[str, int]]]:
    """Return for each part of the rows their number, and the bytes that its columns of text take once unpacked."""
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        columns = map(group.column, range(group.num_columns))
        sizes = {each.path_in_schema: each.total_uncompressed_size for each in columns if each.path_in_schema in text}
        yield max(group.num_rows, 1), sizes


def _longest(column: "pa.Array") -> int:
    """Return the length in bytes of the longest text in a column, 0 if it holds none."""
    import pyarrow.compute as compute

    words = getattr(column, "dictionary", None)
    return 0 if words is None else compute.max(compute.binary_length(words)).as_py() or 0


def _readable(column: "pa.Array") -> "pa.Array":
    """Check that a column is whole, and round times to microseconds, as Python has them."""
    column.validate(full=True)
    return column.cast("time64[us]", safe=False) if str(column.type) == "time64[ns]" else column


def _pandas_of(columns: "list[pa.Array | str]", n: int) -> pd.DataFrame:
    """Convert columns of Arrow's; of a column that is not read there is only the name of its type."""
    import pyarrow as pa

    arrays = [pa.DictionaryArray.from_arrays([0] * n, [each]) if isinstance(each, str) else each for each in columns]
    return _pandas(pa.RecordBatch.from_arrays(arrays, names=list(map(str, range(len(arrays))))))


def _pyarrow(problems: Problems, kind: str, module: str = "pyarrow") -> ModuleType:
    try:
        return import_module(module)
    except ImportError:
        needs: Fields = {"library": "pyarrow", "packages": "pyarrow"}
        raise problems.stop("library", remedy="install", kind=kind, **needs) from None


def _pandas(arrow: "pa.Table | pa.RecordBatch") -> pd.DataFrame:
    """Convert a table of Arrow's; whole numbers with gaps are not converted to floats, which have fewer digits."""
    return arrow.to_pandas(types_mapper=lambda kind: pd.ArrowDtype(kind) if "int" in str(kind) else None)
