"""Read cells as numbers, labels or times, and explain those that are no numbers."""

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from transvariation.tables.problems import MARKS, Problems

Column = Sequence[object] | NDArray[np.float64]

MISSING = frozenset({"", "-", "--", "—", "–", ".", "?", "na", "n/a", "n.a.", "nan", "null", "none", "#n/a", "missing"})
BELOW = frozenset(
    {"nd", "n.d.", "bdl", "b.d.l.", "bd", "b.d.", "<lod", "<dl", "<mdl", "<loq", "<lq", "<ld", "<rl", "belowdetection"}
)

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}([.,' \u00a0\u2009\u202f\u2019]\d{3})+([.,]\d*)?", re.ASCII)
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2})?", re.ASCII)
_AMOUNT = re.compile(r"[+-]?\d[\d.,]*(e[+-]?\d+)?\s*[%°a-zµμ][\w%/°.µμ-]*", re.IGNORECASE)
_COMMA = re.compile(r"[<≤]?\s*[+-]?(\d*),(\d+)([eE][+-]?\d+)?", re.ASCII)
_POINT = re.compile(r"[<≤]?\s*[+-]?\d*\.\d+([eE][+-]?\d+)?", re.ASCII)
_FIRST = {"=": "formula", "@": "formula", ">": "above-range", "≥": "above-range", "#": "spreadsheet-error"}


class Limit(float):
    """A value below detection: the detection limit, 0 where it is not stated."""


class Cells(NamedTuple):
    """A column, or part of one, as numbers."""

    values: NDArray[np.float64]  # NaN where there is none
    below: dict[int, float]  # position -> detection limit, 0 where it is not stated
    faults: dict[int, object]  # position -> a cell that is not a number


def read_cells(cells: Column, decimal: str = ".") -> Cells:
    """Read a column.

    Examples
    --------
    >>> values, below, faults = read_cells(["1.5", "<0.01", "", "abc"])
    >>> values.tolist(), below, faults
    ([1.5, nan, nan, nan], {1: 0.01}, {3: 'abc'})
    """
    if isinstance(cells, np.ndarray):
        infinite = np.isinf(cells)
        return Cells(np.where(infinite, np.nan, cells), {}, {int(i): math.inf for i in np.flatnonzero(infinite)})
    plain = _plain_numbers(cells, decimal)
    if plain is not None:
        return Cells(plain, {}, {})
    result = Cells(np.full(len(cells), np.nan), {}, {})
    for i, cell in enumerate(cells):
        number = read_cell(cell, decimal)
        if number is None:
            result.faults[i] = cell
        elif isinstance(number, Limit):
            result.below[i] = float(number)
        else:
            result.values[i] = number
    return result


def _plain_numbers(cells: Sequence[Any], decimal: str) -> NDArray[np.float64] | None:
    """Read plain numbers at the speed of C; None where a cell needs a closer look."""
    try:
        text = "".join(cells)  # anything but str raises, as intended
        if decimal == "," and "." in text:
            return None
        pointed = cells if decimal == "." else [cell.replace(",", ".") for cell in cells]
        values = np.array(list(map(float, pointed)))
    except (TypeError, ValueError):
        return None
    # float() reads 1_000, digits of other scripts, nan and inf; and 1e-400 as 0: read_cell decides on those
    plain = text.isascii() and "_" not in text and np.isfinite(values).all()
    return values if plain and not ((values == 0).any() and "e" in text.lower()) else None


def read_cell(cell: object, decimal: str = ".") -> float | None:
    """Read one cell: a number (NaN = missing), a :class:`Limit`, or None if it is neither.

    Examples
    --------
    >>> read_cell("0,25", ","), read_cell("1,234.5"), read_cell("n.d."), type(read_cell("<0.01")).__name__
    (0.25, None, 0.0, 'Limit')
    """
    if cell is None:
        return math.nan
    if isinstance(cell, int | float | np.integer | np.floating | Decimal) and not isinstance(cell, bool):
        try:
            number = float(cell)
        except OverflowError:  # Python's integers have no largest one
            return None
        return None if math.isinf(number) else number
    if not isinstance(cell, str):
        return None
    text = _plain(cell)
    word = text.lower()
    if word in MISSING:
        return math.nan
    if word.replace(" ", "") in BELOW:
        return Limit(0.0)
    if text[0] in "<≤":
        limit = _number(text[1:].lstrip("= ").strip(), decimal)
        return Limit(limit) if limit is not None and limit > 0 else None
    return _number(text, decimal)


def _plain(text: str) -> str:
    return text.strip().replace("\u2212", "-")


def _standard(text: str, decimal: str) -> str:
    """Return a number without decoration as Python writes it, "" where it is no number."""
    standard = text if decimal == "." else text.replace(".", "?").replace(",", ".")  # a point then belongs to no number
    return standard if _NUMBER.fullmatch(standard) else ""


def _number(text: str, decimal: str) -> float | None:
    """Read a number without decoration that a float can hold."""
    standard = _standard(text, decimal)
    number = float(standard) if standard else math.inf
    lost = number == 0 and re.search("[1-9]", re.split("[eE]", standard)[0])  # 1e-400 is not 0
    return None if lost or math.isinf(number) else number


def explain(cell: object, decimal: str = ".") -> tuple[str, dict[str, Any]]:
    """Explain why a cell is not a number: the code of a problem and its parameters.

    Examples
    --------
    >>> explain("1,234.5"), explain("12 ppm")
    (('thousands', {'value': '1,234.5'}), ('unit-in-cell', {'value': '12 ppm'}))
    """
    if isinstance(cell, str):
        text = _plain(cell)
        code = _explain_text(text, decimal)
        if code.endswith("other-mark"):
            return code, {"value": text, "remedy": "give-decimal"} | other_mark(decimal)
        return code, {"value": text}
    if isinstance(cell, bool | np.bool_):
        return "true-or-false", {"value": str(cell)}
    if isinstance(cell, date | time | np.datetime64):
        return "date", {"value": str(cell)}
    if isinstance(cell, int | Decimal):
        return "too-large", {"value": f"{cell:.6g}" if isinstance(cell, Decimal) else "infinite"}
    return ("infinite", {"value": "infinite"}) if isinstance(cell, float) else ("not-a-number", {"value": str(cell)})


def other_mark(decimal: str) -> dict[str, str]:
    """Name the decimal mark that a cell would need, and the one that its file has."""
    return {"mark": MARKS["," if decimal == "." else "."], "own": MARKS[decimal]}


def _explain_text(text: str, decimal: str) -> str:
    if text[0] in "<≤":
        return "detection-limit"
    if standard := _standard(text, decimal):
        return "too-large" if math.isinf(float(standard)) else "too-small"
    if "\x00" in text:
        return "nul"
    if text[0] in _FIRST:
        return _FIRST[text[0]]
    if text.lower().lstrip("+-") in ("inf", "infinity", "∞"):
        return "infinite"
    if _DATE.fullmatch(text):
        return "date"
    thousands, other = _THOUSANDS.fullmatch(text), "," if decimal == "." else "."
    if text.count(other) == 1 and decimal not in text and _number(text, other) is not None:
        return "thousands-or-other-mark" if thousands else "other-mark"
    return "thousands" if thousands else "unit-in-cell" if _AMOUNT.fullmatch(text) else "not-a-number"


def find_decimal(cells: Sequence[str], problems: Problems) -> str:
    """Choose the decimal mark from the cells that look like numbers; report a problem if it is ambiguous.

    A comma before exactly three digits may separate thousands, so it is not evidence of a decimal comma.
    """
    commas, unsure = 0, ""
    for match in filter(None, map(_COMMA.fullmatch, cells)):
        if len(match[2]) != 3 or match[1] in ("", "0") or len(match[1]) > 3 or match[3]:
            commas += 1
        else:
            unsure = unsure or match[0]
    points = sum(map(bool, map(_POINT.fullmatch, cells)))
    if unsure and not commas and not points:
        small, large = unsure.replace(",", "."), unsure.replace(",", "")
        problems.add("decimal-mark", remedy="give-decimal", value=unsure, small=small, large=large, mark="comma")
    return "," if commas > points else "."


def cell_text(cell: object) -> str:
    """Return a label as text: a whole number without the decimals that a spreadsheet adds.

    >>> cell_text(12.0), cell_text(" F1 "), cell_text(None)
    ('12', 'F1', '')
    """
    if cell is None or (isinstance(cell, float) and cell != cell):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def cell_texts(cells: Column) -> tuple[str, ...]:
    """Return a column of labels as text."""
    try:
        return tuple(map(str.strip, cells))  # anything but str raises, as intended
    except TypeError:
        return tuple(map(cell_text, cells))


def order_values(cells: Column, decimal: str) -> NDArray[np.float64]:
    """Return the order of measurement as numbers: as they are, or seconds of dates and times; NaN where neither."""
    values, _, faults = read_cells(cells, decimal)
    return np.array([_seconds(cell) for cell in cells]) if faults else values


def _seconds(cell: object) -> float:
    if isinstance(cell, date) and not isinstance(cell, datetime):
        cell = datetime(cell.year, cell.month, cell.day)
    if isinstance(cell, str):
        text = cell.strip()
        german = re.sub(r"^(\d\d?)\.(\d\d?)\.(\d{4})", lambda m: f"{m[3]}-{m[2]:0>2}-{m[1]:0>2}", text)
        try:
            cell = time.fromisoformat(text) if ":" in text[:3] else datetime.fromisoformat(german)
        except ValueError:
            return np.nan
    if isinstance(cell, datetime):
        return (cell.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()
    if isinstance(cell, time):
        return cell.hour * 3600 + cell.minute * 60 + cell.second + cell.microsecond / 1e6
    return np.nan
