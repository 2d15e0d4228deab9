"""From what is written in a cell to a number, or to the reason why it is none."""

import math
import re
from collections.abc import Sequence
from datetime import date, time
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from transvariation.tables.problems import quoted

MISSING = frozenset({"", "-", "--", "—", "–", ".", "?", "na", "n/a", "n.a.", "nan", "null", "none", "#n/a", "missing"})
BELOW = frozenset(
    {"nd", "n.d.", "bdl", "b.d.l.", "bd", "b.d.", "<lod", "<dl", "<mdl", "<loq", "<lq", "<ld", "<rl", "below detection"}
)
MARKS = {".": "point", ",": "comma"}

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}([.,' \u00a0\u2009\u202f\u2019]\d{3})+([.,]\d*)?", re.ASCII)
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2})?", re.ASCII)
_AMOUNT = re.compile(r"[+-]?\d[\d.,]*(e[+-]?\d+)?\s*[%°a-zµμ][\w%/°.µμ-]*", re.IGNORECASE)


class Cells(NamedTuple):
    """A column, or part of one, as numbers."""

    values: NDArray[np.float64]  # NaN where there is none
    below: dict[int, float]  # position -> detection limit, 0 where it is not stated
    reasons: dict[int, str]  # position -> why the cell is not a number


def read_cells(cells: Sequence[object] | NDArray[np.float64], decimal: str = ".") -> Cells:
    """Read a column.

    Examples
    --------
    >>> values, below, reasons = read_cells(["1.5", "<0.01", "", "abc"])
    >>> values.tolist(), below, reasons
    ([1.5, nan, nan, nan], {1: 0.01}, {3: "'abc' is not a number"})
    """
    if isinstance(cells, np.ndarray):
        infinite = np.flatnonzero(np.isinf(cells))
        return Cells(
            np.where(np.isinf(cells), np.nan, cells), {}, {int(i): "infinite is not a value" for i in infinite}
        )
    quick = _quickly(cells, decimal)
    if quick is not None:
        return Cells(quick, {}, {})
    values, below, reasons = np.full(len(cells), np.nan), {}, {}
    for i, cell in enumerate(cells):
        outcome = read_cell(cell, decimal)
        if isinstance(outcome, str):
            reasons[i] = outcome
        elif isinstance(outcome, tuple):
            below[i] = outcome[0]
        else:
            values[i] = outcome
    return Cells(values, below, reasons)


def _quickly(cells: Sequence[object], decimal: str) -> NDArray[np.float64] | None:
    """Read plain numbers at the speed of C; None where anything at all deserves a closer look."""
    try:
        text = "".join(cells)  # type: ignore[arg-type]  # anything but str raises, as intended
        if decimal == ",":
            if "." in text:
                return None
            values = np.array([float(cell.replace(",", ".")) for cell in cells])  # type: ignore[attr-defined]
        else:
            values = np.array(list(map(float, cells)))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    # float() reads 1_000, digits of other scripts, nan and inf; and 1e-400 as 0: the careful way decides on those
    plain = text.isascii() and "_" not in text and np.isfinite(values).all()
    return values if plain and not ((values == 0).any() and "e" in text.lower()) else None


def read_cell(cell: object, decimal: str = ".") -> float | tuple[float] | str:
    """Read one cell: a number (NaN = missing), a 1-tuple with the detection limit, or the reason why it is neither.

    Examples
    --------
    >>> read_cell("0,25", ","), read_cell("n.d."), read_cell("<0.01")
    (0.25, (0.0,), (0.01,))
    >>> read_cell("1,234.5")
    "'1,234.5' has a thousands separator; write the number without it"
    """
    if cell is None:
        return math.nan
    if isinstance(cell, bool | np.bool_ | date | time | np.datetime64):
        return (
            f"{quoted(cell)} is {'a date' if not isinstance(cell, bool | np.bool_) else 'true or false'}, not a number"
        )
    if isinstance(cell, int | float | np.integer | np.floating | Decimal):
        try:
            return _finite(float(cell))
        except OverflowError:  # Python's whole numbers have no largest one
            return _huge(cell)
    if not isinstance(cell, str):
        return f"{quoted(cell)} is not a number"
    text = cell.strip().replace("\u2212", "-")
    word = text.lower()
    if word in MISSING:
        return math.nan
    if word in BELOW or word.replace(" ", "") in BELOW:
        return (0.0,)
    if text.startswith(("<", "≤")):
        limit = _plain(text[1:].lstrip("= ").strip(), decimal)
        if isinstance(limit, str):
            return f"{quoted(cell)} gives no detection limit that can be read"
        return (limit,) if limit > 0 else f"{quoted(cell)}: a detection limit must be positive"
    number = _plain(text, decimal)
    return number if not isinstance(number, str) else _why_not(text, decimal) if number == "" else number


def _plain(text: str, decimal: str) -> float | str:
    """Read a number without decoration; "" where it is no number, a reason where it is one that does not fit."""
    standard = text.replace(",", ".") if decimal == "," and "." not in text else text
    if not _NUMBER.fullmatch(standard) or (decimal == "," and "." in text):
        return ""
    number = float(standard)
    if number == 0 and re.search("[1-9]", re.split("[eE]", standard)[0]):
        return f"{quoted(text)} is too small for a computer's number; write 0 or change the unit"
    return _finite(number, text)


def _finite(number: float, text: str = "") -> float | str:
    return _huge(text or number) if math.isinf(number) else number


def _huge(text: object) -> str:
    return f"{quoted(text)} is too large for a computer's number; change the unit"


def to_say(decimal: str) -> str:
    """Tell how a person gives the decimal mark, in Python and on the command line; the page puts it in its own words.

    >>> to_say(",")
    'say decimal="," (--decimal comma)'
    """
    return f'say decimal="{decimal}" (--decimal {MARKS[decimal]})'


def _why_not(text: str, decimal: str) -> str:
    """Explain to a person why this text is not a number."""
    shown = quoted(text)
    if "\x00" in text:
        return f"{shown} contains a NUL byte: the file is damaged; export it again"
    if text[0] in "=@":
        return f"{shown} is a formula, which is never evaluated; save the values instead"
    if text[0] in ">≥":
        return f"{shown} lies above the instrument's range; leave the object out or give its value"
    if text[0] == "#":
        return f"{shown} is a spreadsheet's error value; correct the formula behind it"
    if text.lower().lstrip("+-") in ("inf", "infinity", "∞"):
        return f"{shown} is not a value"
    if _DATE.fullmatch(text):
        return f"{shown} is a date or time, not a number"
    other = "," if decimal == "." else "."
    if text.count(other) == 1 and decimal not in text and not isinstance(_plain(text, other), str):
        kind = f"decimal {MARKS[other]}"
        if _THOUSANDS.fullmatch(text):
            kind = f"thousands separator or a {kind}"
        return (
            f"{shown} has a {kind}, but this file's decimal mark is the {MARKS[decimal]};"
            f" write it as elsewhere, or {to_say(other)}"
        )
    if _THOUSANDS.fullmatch(text):
        return f"{shown} has a thousands separator; write the number without it"
    if _AMOUNT.fullmatch(text):
        return f"{shown} carries a unit; put the unit in the header, such as 'Na (wt%)', and leave the bare number"
    return f"{shown} is not a number"
