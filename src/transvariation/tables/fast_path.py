"""The quick way through plain text: whole pieces of a file at the speed of a C parser."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from transvariation.tables.grid import Column, Plan


def quick_columns(piece: str, width: int, plan: Plan, delimiter: str, decimal: str) -> list[Column] | None:
    """Read a piece of text made of whole rows; None where anything at all deserves the careful way.

    Parameters
    ----------
    piece : str
        Whole lines.
    width : int
        How many cells every row must have.
    plan : Plan
        Which columns are wanted, and as what; the others come back empty.

    Examples
    --------
    >>> quick_columns("F1,1.5\\nF2,2.5\\n", 2, Plan(numbers=(1,), texts=(0,)), ",", ".")
    [['F1', 'F2'], array([1.5, 2.5])]
    >>> quick_columns("F1,1.5\\nF2,<2\\n", 2, Plan(numbers=(1,), texts=(0,)), ",", ".") is None
    True
    """
    import pandas as pd

    lines = piece.count("\n") + (not piece.endswith("\n"))
    try:
        if not _regular(piece, lines, width, delimiter):
            return None
        frame = pd.read_csv(
            io.StringIO(piece),
            sep=delimiter,
            decimal=decimal,
            header=None,
            names=range(width),
            index_col=False,
            usecols=sorted(plan.numbers + plan.texts),
            dtype={**dict.fromkeys(plan.numbers, np.float64), **dict.fromkeys(plan.texts, object)},
            na_filter=False,  # an empty cell must not pass for a number
            skip_blank_lines=False,
            **_exactly(pd.__version__),
        )
    except (ValueError, OverflowError):  # ParserError and UnicodeEncodeError are ValueErrors
        return None
    X = frame[list(plan.numbers)].to_numpy()
    if len(frame) != lines or not np.isfinite(X).all():  # 1e400 and nan
        return None
    if ((X == 0).any() or (X == 1).all(axis=0).any()) and "e" in piece.lower():
        return None  # 1e-400 and false read as 0; a column of nothing but true as 1
    columns: list[Column] = [()] * width
    for k, j in enumerate(plan.numbers):
        columns[j] = X[:, k]
    for j in plan.texts:
        columns[j] = frame[j].tolist()
    return columns


def _exactly(version: str) -> dict[str, Any]:
    """Ask for the nearest double, as float() gives; from 3.1 on pandas does so unasked and warns when asked."""
    major, minor = (int(part) for part in version.split(".")[:2])
    return {} if (major, minor) >= (3, 1) else {"float_precision": "round_trip"}


def _regular(piece: str, lines: int, width: int, delimiter: str) -> bool:
    """Tell whether every line has the delimiters of one row, and every quotation mark encloses one cell of it.

    Line by line: in sums over the piece a cell too many here and one too few there would cancel out.
    """
    if not delimiter.isascii() or piece.startswith("\ufeff") or piece.count("\r") != piece.count("\r\n"):
        return False
    mark, end = delimiter.encode(), b"" if piece.endswith("\n") else b"\n"
    marks = piece.encode().translate(None, bytes(set(range(256)) - {*mark, *b'\n"'})) + end
    # Two quotation marks side by side here have neither delimiter nor line end between them.
    if marks.replace(b'""', b"") != ((width - 1) * mark + b"\n") * lines:
        return False
    if b'"' not in marks:
        return True
    # Each cell has an even number of them; as many edges as marks leaves one at either end and none within.
    opening = _count(piece, (delimiter + '"', '\n"')) + piece.startswith('"')
    closing = _count(piece, ('"' + delimiter, '"\n', '"\r')) + piece.endswith('"')
    return opening + closing == marks.count(b'"')


def _count(text: str, parts: Sequence[str]) -> int:
    return sum(map(text.count, parts))
