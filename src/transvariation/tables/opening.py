"""Opening a file of whatever kind: recognised by its first bytes, never by its name."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Union

import numpy as np

from transvariation.tables.cells import MARKS, read_cells
from transvariation.tables.columnar import FrameGrid, ParquetGrid
from transvariation.tables.encoding import fingerprint, survey
from transvariation.tables.grid import Grid, Limits
from transvariation.tables.problems import Findings, TableError, quoted
from transvariation.tables.text import TextGrid, known_encoding
from transvariation.tables.workbook import WorkbookGrid

if TYPE_CHECKING:
    import pandas as pd

Source = Union[str, "os.PathLike[str]", bytes, BinaryIO, "pd.DataFrame"]


@contextmanager
def opened(source: Source, name: str | None, limits: Limits, **options: Any) -> Iterator[tuple[Grid, Findings]]:
    """Open a file of whatever kind, by its content, and close it again if it was opened here."""
    findings = Findings(name or _name_of(source))
    if options.get("decimal") in MARKS:
        findings.note(f"read with the {MARKS[options['decimal']]} as decimal mark, as was asked")
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        grid: Grid = FrameGrid(source, findings, options.get("decimal"))  # type: ignore[arg-type]
        yield _checked(grid, findings, limits), findings
        return
    stream, ours = _stream(source, findings)
    try:
        yield _checked(_recognised(stream, findings, limits, **options), findings, limits), findings
    finally:
        if ours:
            stream.close()


def _name_of(source: Any) -> str:
    if isinstance(source, str | os.PathLike):
        # A name that is not UTF-8 has to go into messages and reports that are.
        return os.fsencode(source).decode("utf-8", "backslashreplace")
    return str(getattr(source, "name", "")) if isinstance(getattr(source, "name", None), str) else "table"


def _stream(source: Any, findings: Findings) -> tuple[BinaryIO, bool]:
    if isinstance(source, bytes | bytearray | memoryview):
        return io.BytesIO(source), True
    if isinstance(source, str | os.PathLike):
        try:
            if Path(source).exists() and not Path(source).is_file():
                findings.problem("this is no file but a folder, a pipe or a device")
                findings.check()
            return Path(source).open("rb"), True
        except TableError:
            raise
        except (OSError, ValueError) as error:
            findings.problem(f"the file cannot be opened: {getattr(error, 'strerror', None) or error}")
            findings.check()
    if not (hasattr(source, "read") and hasattr(source, "seek")) or isinstance(source, io.TextIOBase):
        raise TypeError(f"a table is a path, bytes, an open binary file or a DataFrame, not {type(source).__name__}")
    return source, False


def _recognised(
    stream: BinaryIO,
    findings: Findings,
    limits: Limits,
    *,
    sheet: str | int | None,
    delimiter: str | None,
    decimal: str | None,
    encoding: str | None,
) -> Grid:
    if decimal is not None and decimal not in MARKS:
        findings.problem(f'decimal={decimal!r} must be "." or ","')
    stream.seek(0)
    head = stream.read(8)
    if sheet is not None and not head.startswith(b"PK\x03\x04"):
        findings.problem(f"sheet {quoted(sheet)} was asked for, but this is no Excel workbook")
    if not head:
        findings.problem("the file is empty")
    elif head.startswith(b"PK\x03\x04"):
        return WorkbookGrid(stream, fingerprint(stream), findings, limits, sheet=sheet, decimal=decimal)
    elif head.startswith(b"PAR1"):
        return ParquetGrid(stream, fingerprint(stream), findings, decimal)
    elif head.startswith(b"\xd0\xcf\x11\xe0"):
        findings.problem("this is an old or encrypted Excel file; save it as .xlsx without a password, or as CSV")
    elif head.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"\x28\xb5\x2f\xfd")):
        findings.problem("the file is compressed; unpack it first")
    elif head.startswith((b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x7fELF")):
        findings.problem("this is a document, picture or program, not a table; export the values as CSV")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\x00 '):
        findings.problem(f"delimiter={delimiter!r} must be one character, such as ';'")
    if encoding is not None and not known_encoding(encoding):
        findings.problem(f"encoding={encoding!r} is unknown; utf-8, cp1252 and utf-16 are the usual ones")
    findings.check()
    surveyed = survey(stream, findings, encoding)
    findings.check()
    assert surveyed is not None
    return TextGrid(stream, surveyed, findings, limits, delimiter=delimiter, decimal=decimal)


def _checked(grid: Grid, findings: Findings, limits: Limits) -> Grid:
    if not grid.header:
        findings.problem("there is no header: the file holds blank lines only")
    elif not isinstance(grid, FrameGrid) and np.isfinite(read_cells(grid.header).values).all():
        findings.problem("the first row holds numbers, not names; add a row of names above it", grid.first_row)
    if len(grid.header) > limits.columns:
        findings.problem(f"{len(grid.header):,} columns are more than the {limits.columns:,} allowed")
    if getattr(grid, "n_rows", 0) > limits.rows or getattr(grid, "n_rows", 0) * len(grid.header) > limits.cells:
        findings.problem(f"{getattr(grid, 'n_rows', 0):,} rows are more than allowed; read it in blocks (`score` does)")
    if len(grid.header) > limits.columns or not grid.header:
        findings.check()
    return grid
