"""Read cells as numbers, or find the reason why they are none."""

import math
import re
from collections.abc import Sequence
from datetime import date, time
from decimal import Decimal
from typing import NamedTuple

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


class Limit(NamedTuple):
    """A value below detection: the detection limit, 0 where it is not stated."""

    value: float


class Fault(NamedTuple):
    """Why a cell is not a number: a code of :data:`transvariation.tables.problems.MESSAGES`."""

    code: str
    value: str
    mark: str = ""  # the decimal mark with which it would be one

    def report(self, problems: Problems, row: int, column: str, code: str = "") -> None:
        """Add the fault to the problems of a table."""
        params = {"value": self.value}
        if self.mark:
            own = "comma" if self.mark == "point" else "point"
            problems.add(code or self.code, row, column, remedy="give-decimal", **params, mark=self.mark, own=own)
        else:
            problems.add(code or self.code, row, column, **params)


class Cells(NamedTuple):
    """A column, or part of one, as numbers."""

    values: NDArray[np.float64]  # NaN where there is none
    below: dict[int, float]  # position -> detection limit, 0 where it is not stated
    faults: dict[int, Fault]  # position -> why the cell is not a number


def read_cells(cells: Column, decimal: str = ".") -> Cells:
    """Read a column.

    Examples
    --------
    >>> values, below, faults = read_cells(["1.5", "<0.01", "", "abc"])
    >>> values.tolist(), below, faults[3].code
    ([1.5, nan, nan, nan], {1: 0.01}, 'not-a-number')
    """
    if isinstance(cells, np.ndarray):
        infinite = np.isinf(cells)
        faults = {int(i): Fault("infinite", "infinite") for i in np.flatnonzero(infinite)}
        return Cells(np.where(infinite, np.nan, cells), {}, faults)
    plain = _plain_numbers(cells, decimal)
    if plain is not None:
        return Cells(plain, {}, {})
    result = Cells(np.full(len(cells), np.nan), {}, {})
    for i, cell in enumerate(cells):
        outcome = read_cell(cell, decimal)
        if isinstance(outcome, Fault):
            result.faults[i] = outcome
        elif isinstance(outcome, Limit):
            result.below[i] = outcome.value
        else:
            result.values[i] = outcome
    return result


def _plain_numbers(cells: Sequence[object], decimal: str) -> NDArray[np.float64] | None:
    """Read plain numbers at the speed of C; None where a cell needs a closer look."""
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
    # float() reads 1_000, digits of other scripts, nan and inf; and 1e-400 as 0: read_cell decides on those
    plain = text.isascii() and "_" not in text and np.isfinite(values).all()
    return values if plain and not ((values == 0).any() and "e" in text.lower()) else None


def read_cell(cell: object, decimal: str = ".") -> float | Limit | Fault:
    """Read one cell: a number (NaN = missing), a detection limit, or the reason why it is neither.

    Examples
    --------
    >>> read_cell("0,25", ","), read_cell("n.d."), read_cell("<0.01")
    (0.25, Limit(value=0.0), Limit(value=0.01))
    >>> read_cell("1,234.5")
    Fault(code='thousands', value='1,234.5', mark='')
    """
    if cell is None:
        return math.nan
    if isinstance(cell, bool | np.bool_):
        return Fault("true-or-false", str(cell))
    if isinstance(cell, date | time | np.datetime64):
        return Fault("date", str(cell))
    if isinstance(cell, int | float | np.integer | np.floating | Decimal):
        try:
            number = float(cell)
        except OverflowError:  # Python's integers have no largest one
            number = math.inf
        return (
            Fault("too-large", f"{cell:.6g}" if isinstance(cell, Decimal) else "infinite")
            if math.isinf(number)
            else number
        )
    if not isinstance(cell, str):
        return Fault("not-a-number", str(cell))
    text = cell.strip().replace("\u2212", "-")
    word = text.lower()
    if word in MISSING:
        return math.nan
    if word.replace(" ", "") in BELOW:
        return Limit(0.0)
    if text.startswith(("<", "≤")):
        limit = _number(text[1:].lstrip("= ").strip(), decimal)
        return Limit(limit) if isinstance(limit, float) and limit > 0 else Fault("detection-limit", cell)
    number_or_fault = _number(text, decimal)
    return _explained(text, decimal) if number_or_fault is None else number_or_fault


def _number(text: str, decimal: str) -> float | Fault | None:
    """Read a number without decoration; None where it is no number, a fault where it is one that no float holds."""
    standard = text.replace(",", ".") if decimal == "," and "." not in text else text
    if not _NUMBER.fullmatch(standard) or (decimal == "," and "." in text):
        return None
    number = float(standard)
    if math.isinf(number):
        return Fault("too-large", text)
    if number == 0 and re.search("[1-9]", re.split("[eE]", standard)[0]):
        return Fault("too-small", text)
    return number


def _explained(text: str, decimal: str) -> Fault:
    """Find out why a text is not a number."""
    if "\x00" in text:
        return Fault("nul", text)
    if text[0] in "=@":
        return Fault("formula", text)
    if text[0] in ">≥":
        return Fault("above-range", text)
    if text[0] == "#":
        return Fault("spreadsheet-error", text)
    if text.lower().lstrip("+-") in ("inf", "infinity", "∞"):
        return Fault("infinite", text)
    if _DATE.fullmatch(text):
        return Fault("date", text)
    other = "," if decimal == "." else "."
    thousands = _THOUSANDS.fullmatch(text)
    if text.count(other) == 1 and decimal not in text and isinstance(_number(text, other), float):
        return Fault("thousands-or-other-mark" if thousands else "other-mark", text, MARKS[other])
    if thousands:
        return Fault("thousands", text)
    return Fault("unit-in-cell" if _AMOUNT.fullmatch(text) else "not-a-number", text)


def find_decimal(cells: Sequence[str], problems: Problems | None = None) -> str:
    """Choose the decimal mark from the cells that look like numbers; report a problem if it is ambiguous.

    A comma before exactly three digits may separate thousands, so it is not evidence of a decimal comma.

    Examples
    --------
    >>> find_decimal(["1,5180", "13,2"]), find_decimal(["1.5", "2"])
    (',', '.')
    """
    commas, unsure = 0, ""
    for cell in cells:
        match = _COMMA.fullmatch(cell)
        if match and (len(match[2]) != 3 or match[1] in ("", "0") or len(match[1]) > 3 or match[3]):
            commas += 1
        elif match:
            unsure = unsure or cell
    points = sum(bool(_POINT.fullmatch(cell)) for cell in cells)
    if unsure and not commas and not points and problems is not None:
        small, large = unsure.replace(",", "."), unsure.replace(",", "")
        problems.add("decimal-mark", remedy="give-decimal", value=unsure, small=small, large=large, mark="comma")
    return "," if commas > points else "."
