"""Read cells as numbers, labels or times, and explain those that are no numbers."""

import math
import re
from collections.abc import Iterable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from transvariation._typing import Fields, Floats
from transvariation.tables.options import MARKS
from transvariation.tables.problems import Problems

Column = NDArray[Any]  # of floats, or of objects: strings, and what spreadsheets and DataFrames hold

MISSING = frozenset({"", "-", "--", "—", "–", ".", "?", "na", "n/a", "n.a.", "nan", "null", "none", "#n/a", "missing"})
BELOW = {"nd", "n.d.", "bdl", "b.d.l.", "bd", "b.d.", "belowdetection"} | {
    f"<{limit}" for limit in ("lod", "dl", "mdl", "loq", "lq", "ld", "rl")
}

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_SIMPLE = re.compile(r"-?\d{1,17}(\.\d{1,17})?", re.ASCII)  # most cells of most files, in one step
_THOUSANDS = re.compile(r"[+-]?\d{1,3}([.,' \u00a0\u2009\u202f\u2019]\d{3})+([.,]\d*)?", re.ASCII)
_AMOUNT = re.compile(r"[+-]?\d[\d.,]*(e[+-]?\d+)?\s*[%°a-zµμ][\w%/°.µμ-]*", re.IGNORECASE)
_COMMA = re.compile(r"[<≤]?\s*[+-]?(\d*),(\d+)([eE][+-]?\d+)?", re.ASCII)
_POINT = re.compile(r"[<≤]?\s*[+-]?\d*\.\d+([eE][+-]?\d+)?", re.ASCII)
_EXPLANATIONS = {
    "detection-limit": re.compile(r"(?s)[<≤].*"),
    "nul": re.compile(r"(?s).*\x00.*"),
    "formula": re.compile(r"(?s)[=@].*"),
    "above-range": re.compile(r"(?s)[>≥].*"),
    "spreadsheet-error": re.compile(r"(?s)#.*"),
    "infinite": re.compile(r"[+-]*(inf|infinity|∞)", re.IGNORECASE),
    "date": re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2})?", re.ASCII),
}


class Limit(float):
    """A value below detection: the detection limit, 0 where it is not stated."""


class Cells(NamedTuple):
    """A column, or part of one, as numbers."""

    values: Floats  # NaN where there is none
    below: dict[int, float]  # position -> detection limit, 0 where it is not stated
    faults: dict[int, object]  # position -> a cell that is not a number

    @property
    def n_numbers(self) -> int:
        """How many cells are numbers or below detection."""
        return int(np.isfinite(self.values).sum()) + len(self.below)

    @property
    def are_numbers(self) -> bool:
        """Whether at least half of the filled cells are."""
        return self.n_numbers >= max(len(self.faults), 1)


def read_cells(cells: Column, decimal: str = ".") -> Cells:
    """Read a column.

    >>> values, below, faults = read_cells(np.array(["1.5", "<0.01", "", "abc"], dtype=object))
    >>> values.tolist(), below, faults
    ([1.5, nan, nan, nan], {1: 0.01}, {3: 'abc'})
    """
    if cells.dtype != object:
        infinite = np.isinf(cells)
        return Cells(np.where(infinite, np.nan, cells), {}, {int(i): math.inf for i in np.flatnonzero(infinite)})
    texts = cells.tolist()
    if decimal == "." and set(map(type, texts)) == {str} and all(map(_SIMPLE.fullmatch, texts)):
        return Cells(np.array(list(map(float, texts)), dtype=float), {}, {})
    result = Cells(np.full(len(cells), np.nan), {}, {})
    for i, cell in enumerate(texts):
        is_simple = decimal == "." and isinstance(cell, str) and _SIMPLE.fullmatch(cell)
        number = float(cell) if is_simple else read_cell(cell, decimal)
        if number is None:
            result.faults[i] = cell
        elif isinstance(number, Limit):
            result.below[i] = float(number)
        else:
            result.values[i] = number
    return result


def read_cell(cell: object, decimal: str = ".") -> float | None:
    """Read one cell: a number (NaN = missing), a :class:`Limit`, or None if it is neither.

    >>> read_cell("0,25", ","), read_cell("1,234.5"), read_cell("n.d."), type(read_cell("<0.01")).__name__
    (0.25, None, 0.0, 'Limit')
    """
    if isinstance(cell, str):
        text = _plain(cell)
        number = _number(text, decimal)
        if number is not None or not text:
            return math.nan if number is None else number
        word = text.lower()
        if word in MISSING:
            return math.nan
        if word.replace(" ", "") in BELOW:
            return Limit(0.0)
        limit = _number(text[1:].lstrip("= ").strip(), decimal) if text[0] in "<≤" else None
        return Limit(limit) if limit is not None and limit > 0 else None
    if cell is None:
        return math.nan
    if isinstance(cell, bool) or not isinstance(cell, int | float | np.integer | np.floating | Decimal):
        return None
    try:
        number = float(cell)
    except OverflowError:  # Python's integers have no largest one
        return None
    return None if math.isinf(number) else number


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


def explain(cell: object, decimal: str = ".") -> tuple[str, Fields]:
    """Explain why a cell is not a number: the code of a problem and its parameters.

    >>> explain("1,234.5"), explain("12 ppm")
    (('thousands', {'value': '1,234.5'}), ('unit-in-cell', {'value': '12 ppm'}))
    """
    if isinstance(cell, str):
        text = _plain(cell)
        code = _explain_text(text, decimal)
        return code, {"value": text} | (other_mark(decimal) if code.endswith("other-mark") else {})
    if isinstance(cell, bool | np.bool_):
        return "true-or-false", {"value": str(cell)}
    if isinstance(cell, date | time | np.datetime64):
        return "date", {"value": str(cell)}
    if isinstance(cell, int | Decimal):
        return "too-large", {"value": f"{cell:.6g}" if isinstance(cell, Decimal) else "infinite"}
    return ("infinite", {"value": "infinite"}) if isinstance(cell, float) else ("not-a-number", {"value": str(cell)})


def other_mark(decimal: str) -> dict[str, str]:
    """Name the decimal mark that a cell would need, the one that its file has, and the remedy."""
    return {"mark": MARKS["," if decimal == "." else "."], "own": MARKS[decimal], "remedy": "give-decimal"}


def _explain_text(text: str, decimal: str) -> str:
    if standard := _standard(text, decimal):
        return "too-large" if math.isinf(float(standard)) else "too-small"
    for code, pattern in _EXPLANATIONS.items():
        if pattern.fullmatch(text):
            return code
    thousands, other = _THOUSANDS.fullmatch(text), "," if decimal == "." else "."
    if text.count(other) == 1 and decimal not in text and _number(text, other) is not None:
        return "thousands-or-other-mark" if thousands else "other-mark"
    return "thousands" if thousands else "unit-in-cell" if _AMOUNT.fullmatch(text) else "not-a-number"


def find_decimal(cells: Iterable[object], problems: Problems) -> str:
    """Choose the decimal mark from the cells that look like numbers; report a problem if it is ambiguous.

    A comma before exactly three digits may separate thousands, so it is not evidence of a decimal comma.
    """
    commas, points, unsure = 0, 0, ""
    for cell in (cell.strip() for cell in cells if isinstance(cell, str)):
        if match := _COMMA.fullmatch(cell):
            sure = len(match[2]) != 3 or match[1] in ("", "0") or len(match[1]) > 3 or match[3]
            commas, unsure = commas + bool(sure), unsure or ("" if sure else cell)
        elif _POINT.fullmatch(cell):
            points += 1
    if unsure and not commas and not points:
        small, large = unsure.replace(",", "."), unsure.replace(",", "")
        problems.add("decimal-mark", remedy="give-decimal", value=unsure, small=small, large=large, mark="comma")
    return "," if commas > points else "."


def cell_text(cell: object) -> str:
    """Return a label as text: a whole number without the decimals that a spreadsheet adds.

    >>> cell_text(12.0), cell_text(" F1 "), cell_text(None)
    ('12', 'F1', '')
    """
    if isinstance(cell, str):
        return cell.strip()
    if cell is None or (isinstance(cell, float) and cell != cell):
        return ""
    return str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell).strip()


def order_values(cells: Column, decimal: str) -> Floats:
    """Return the order of measurement as numbers: as they are, or seconds of dates and times; NaN where neither."""
    values, _, faults = read_cells(cells, decimal)
    return np.array([_seconds(cell) for cell in cells]) if faults else values


def _seconds(cell: object) -> float:
    """Return a date or time in seconds, NaN if it is neither."""
    if isinstance(cell, str):
        text = cell.strip()
        german = re.sub(r"^(\d\d?)\.(\d\d?)\.(\d{4})", lambda m: f"{m[3]}-{m[2]:0>2}-{m[1]:0>2}", text)
        try:
            cell = time.fromisoformat(text) if ":" in text[:3] else datetime.fromisoformat(german)
        except ValueError:
            return np.nan
    if isinstance(cell, time):
        return cell.hour * 3600 + cell.minute * 60 + cell.second + cell.microsecond / 1e6
    if not isinstance(cell, date):
        return np.nan
    moment = cell if isinstance(cell, datetime) else datetime(cell.year, cell.month, cell.day)
    return (moment.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()
