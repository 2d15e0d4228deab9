"""Open a table of any kind: recognised by its first bytes, never by its name."""

import codecs
import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Union

import numpy as np

from transvariation.tables.cells import read_cells
from transvariation.tables.columnar import PandasGrid, open_arrow, open_parquet
from transvariation.tables.excel import ExcelGrid
from transvariation.tables.grid import Grid, Limits
from transvariation.tables.problems import MARKS, Problems
from transvariation.tables.text import TextGrid

if TYPE_CHECKING:
    import pandas as pd

Source = Union[str, "os.PathLike[str]", bytes, BinaryIO, "pd.DataFrame"]

_NO_TABLES = {
    "old-excel": (b"\xd0\xcf\x11\xe0",),
    "compressed": (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"\x28\xb5\x2f\xfd"),
    "no-table": (b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x7fELF"),
}


@contextmanager
def opened(
    source: Source,
    name: str | None,
    limits: Limits,
    *,
    sheet: str | int | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Iterator[tuple[Grid, Problems]]:
    """Open a table of any kind, and close it again if it was opened here."""
    problems = Problems(name or _name_of(source))
    _check_options(problems, delimiter, decimal, encoding)
    frame: Any = source
    if hasattr(frame, "dask"):
        raise TypeError("a table is held in memory, which a Dask collection is not; give table.compute()")
    if hasattr(frame, "iloc") or hasattr(frame, "__arrow_c_stream__"):
        open_frame = PandasGrid if hasattr(frame, "iloc") else open_arrow
        grid: Grid = open_frame(frame, problems, decimal)
        _check_size(grid, problems, limits)
        yield grid, problems
        return
    stream, ours = _stream(source, problems)
    try:
        stream.seek(0)
        head = stream.read(8)
        stream.seek(0)
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
        if sheet is not None and not head.startswith(b"PK\x03\x04"):
            problems.add("sheet-of-no-workbook", sheet=str(sheet))
        if not head:
            problems.add("empty-file")
        for code, starts in _NO_TABLES.items():
            if head.startswith(starts):
                problems.add(code)
        problems.check()
        if head.startswith(b"PK\x03\x04"):
            grid = ExcelGrid(stream, sha256, problems, limits, sheet=sheet, decimal=decimal)
        elif head.startswith(b"PAR1"):
            grid = open_parquet(stream, sha256, problems, decimal)
        else:
            grid = TextGrid(stream, sha256, problems, delimiter=delimiter, decimal=decimal, encoding=encoding)
            if grid.header and np.isfinite(read_cells(grid.header).values).all():
                problems.add("header-of-numbers", grid.first_row)
        _check_size(grid, problems, limits)
        yield grid, problems
    finally:
        if ours:
            stream.close()


def _name_of(source: Any) -> str:
    if isinstance(source, str | os.PathLike):
        # A name that is not UTF-8 has to go into messages and reports that are.
        return os.fsencode(source).decode("utf-8", "backslashreplace")
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "table"


def _stream(source: Any, problems: Problems) -> tuple[BinaryIO, bool]:
    if isinstance(source, bytes | bytearray | memoryview):
        return io.BytesIO(source), True
    if isinstance(source, str | os.PathLike):
        try:
            if Path(source).exists() and not Path(source).is_file():
                raise problems.stop("no-file")
            return Path(source).open("rb"), True
        except OSError as error:
            raise problems.stop("cannot-open", reason=error.strerror or str(error)) from None
        except ValueError as error:
            problems.check()  # it was raised here
            raise problems.stop("cannot-open", reason=str(error)) from None
    if not (hasattr(source, "read") and hasattr(source, "seek")) or isinstance(source, io.TextIOBase):
        raise TypeError(f"a table is a path, bytes, an open binary file or a DataFrame, not {type(source).__name__}")
    return source, False


def _check_options(problems: Problems, delimiter: str | None, decimal: str | None, encoding: str | None) -> None:
    if decimal in MARKS:
        problems.note("decimal-given", mark=MARKS[decimal])
    elif decimal is not None:
        problems.add("option", option="decimal", value=decimal, expected='must be "." or ","')
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\x00 '):
        problems.add("option", option="delimiter", value=delimiter, expected="must be one character, such as ';'")
    if encoding is not None and not _is_encoding(encoding):
        expected = "is unknown; utf-8, cp1252 and utf-16 are the usual ones"
        problems.add("option", option="encoding", value=encoding, expected=expected)
    problems.check()


def _is_encoding(name: str) -> bool:
    try:
        return codecs.lookup(name)._is_text_encoding  # base64 and the like are no text
    except (LookupError, ValueError):
        return False


def _check_size(grid: Grid, problems: Problems, limits: Limits) -> None:
    width = len(grid.header)
    if not grid.header:
        problems.add("no-header")
    if width > limits.columns:
        problems.add("too-many-columns", n=width, limit=limits.columns)
    if grid.n_rows > limits.rows or grid.n_rows * width > limits.cells:
        problems.add("too-many-rows", remedy="read-chunks", n=min(limits.rows, limits.cells // max(width, 1)))
    if not grid.header or width > limits.columns:
        problems.check()
