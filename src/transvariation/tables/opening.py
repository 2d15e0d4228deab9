"""Open a table of any kind: recognized by its first bytes, never by its name."""

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import BinaryIO, Union

import numpy as np
import pandas as pd

from transvariation.tables.cells import read_cells
from transvariation.tables.excel import ExcelGrid
from transvariation.tables.grid import Block, Grid, Limits, open_frame, open_parquet
from transvariation.tables.options import MARKS
from transvariation.tables.problems import Problems, TableError
from transvariation.tables.settings import TableSettings
from transvariation.tables.text import TextGrid

TableSource = Union[str, "os.PathLike[str]", bytes, BinaryIO, pd.DataFrame]

_NO_TABLES = {
    "old-excel": (b"\xd0\xcf\x11\xe0",),
    "compressed": (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"\x28\xb5\x2f\xfd"),
    "no-table": (b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x7fELF"),
}


class HeldGrid(Grid):
    """The cells of a file that was opened before: they are interpreted again, as often as wanted."""

    def __init__(self, grid: Grid, blocks: list[Block]):
        vars(self).update(vars(grid))
        self.name, self._blocks = grid.problems.table, blocks

    def blocks(self) -> Iterator[Block]:
        """Return the rows below the header."""
        return iter(self._blocks)

    def again(self) -> "HeldGrid":
        """Return the same cells, with the problems that were found when the file was opened."""
        problems = Problems(self.name)
        problems.problems, problems.notes = list(self.problems.problems), list(self.problems.notes)
        grid = copy(self)
        grid.header, grid.problems = list(self.header), problems
        return grid


def hold(source: TableSource, limits: Limits, how: TableSettings) -> HeldGrid | None:
    """Open a file and keep its cells; None if there are problems or too many cells, which reading will report."""
    try:
        with opened(source, None, limits, how) as grid:
            return HeldGrid(grid, list(grid.bounded_blocks(limits)))
    except TableError:
        return None


@contextmanager
def opened(
    source: TableSource,
    name: str | None,
    limits: Limits,
    how: TableSettings = TableSettings(),  # noqa: B008  # frozen
) -> Iterator[Grid]:
    """Open a table of any kind, and close it again if it was opened here."""
    if isinstance(source, HeldGrid):
        yield _checked(source.again(), limits)
        return
    kind = type(source)  # an attribute of a DataFrame itself may be a column
    if hasattr(kind, "collect"):
        raise TypeError(f"a {kind.__name__} has not computed its rows yet; call its collect() and pass the result")
    if name is None and isinstance(source, str | os.PathLike):
        # A name that is not UTF-8 has to go into messages and reports that are.
        name = os.fsencode(source).decode("utf-8", "backslashreplace")
    elif name is None:
        name = own if isinstance(own := getattr(source, "name", None), str) else "table"
    problems = Problems(name)
    if how.decimal is not None:
        problems.note("decimal-given", mark=MARKS[how.decimal])
    if hasattr(type(source), "dask"):
        raise TypeError("a table is held in memory, which a Dask collection is not; give table.compute()")
    in_columns = hasattr(source, "iloc") or hasattr(source, "__arrow_c_stream__")
    if in_columns and not hasattr(type(source), "to_frame"):  # which a single column has
        if how.header_row is not None:
            raise problems.stop("header-row-of-frame", number=how.header_row)
        yield _checked(open_frame(source, problems, how), limits)
        return
    stream = _stream(source, problems)
    try:
        yield _checked(_file_grid(stream, problems, limits, how), limits)
    finally:
        if stream is not source:
            stream.close()


def _file_grid(stream: BinaryIO, problems: Problems, limits: Limits, how: TableSettings) -> Grid:
    """Open a file by its first bytes, whatever its name: a workbook, Parquet or text."""
    stream.seek(0)
    head = stream.read(8)
    stream.seek(0)
    sha256 = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
    is_excel, is_parquet = head.startswith(b"PK\x03\x04"), head.startswith(b"PAR1")
    if how.sheet is not None and not is_excel:
        problems.add("sheet-of-no-workbook", sheet=str(how.sheet))
    for code in [code for code, starts in _NO_TABLES.items() if head.startswith(starts)]:
        problems.add(code)
    if not head:
        problems.add("empty-file")
    if how.header_row is not None and is_parquet:
        problems.add("header-row-of-frame", number=how.header_row)
    problems.check()
    grid: Grid
    if is_excel:
        grid = ExcelGrid(stream, problems, limits, how)
    elif is_parquet:
        grid = open_parquet(stream, problems, limits, how)
    else:
        grid = TextGrid(stream, problems, how)
        if grid.header and how.header_row is None and _are_data(grid.header):
            problems.add("header-of-numbers", grid.first_row)
    grid.sha256 = sha256
    return grid


def _are_data(header: list[str]) -> bool:
    """Return whether a header is a row of numbers that are no positions of a spectrum: many, at about equal steps."""
    numbers = read_cells(np.array(header, dtype=object)).values
    steps = np.diff(numbers)
    is_axis = len(numbers) >= 20 and (np.abs(steps - np.mean(steps)) <= 0.2 * abs(np.mean(steps))).all() and steps[0]
    return bool(np.isfinite(numbers).all() and not is_axis)


def _stream(source: TableSource, problems: Problems) -> BinaryIO:
    if isinstance(source, bytes | bytearray | memoryview):
        return io.BytesIO(source)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        try:
            if not path.exists() or path.is_file():
                return path.open("rb")
        except (OSError, ValueError) as error:  # a NUL byte in a path is a ValueError
            raise problems.stop("cannot-open", reason=getattr(error, "strerror", None) or str(error)) from None
        raise problems.stop("no-file")
    if isinstance(source, pd.DataFrame | io.TextIOBase) or not (hasattr(source, "read") and hasattr(source, "seek")):
        raise TypeError(f"a table is a path, bytes, an open binary file or a DataFrame, not {type(source).__name__}")
    return source


def _checked(grid: Grid, limits: Limits) -> Grid:
    if not grid.header:
        raise grid.problems.stop("no-header")
    if len(grid.header) > limits.columns:
        raise grid.problems.stop("too-many-columns", n=len(grid.header), limit=limits.columns)
    return grid
