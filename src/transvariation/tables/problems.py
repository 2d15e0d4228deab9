"""Problems of a table and their places: codes and values for programs, sentences for people."""

import string
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from transvariation.tables.messages import MESSAGES, REMEDIES

if TYPE_CHECKING:
    from transvariation._typing import Fields
    from transvariation.tables.table import Table

MAX_COLLECTED = 1000  # beyond this many problems the file is of another kind altogether: reading stops
PROBLEMS_SHOWN = 20


@dataclass(frozen=True)
class Problem:
    """A problem of a table, or a note on how it was read, with row and column.

    Parameters
    ----------
    code : str
        The kind, a key of `MESSAGES`.
    table : str
        The table as the caller named it.
    row : int or None
        Counted as a spreadsheet shows them: the header is row 1, blank rows count.
    column : str or None
        The column's header as in the file.
    params : mapping
        The values that the message names.
    remedy : str
        What can be done, a key of `REMEDIES`; empty if the message includes it.

    Examples
    --------
    >>> from transvariation.tables import Problem
    >>> problem = Problem("missing", "control.csv", 4, "Na", remedy="drop")
    >>> print(problem)
    control.csv, row 4, column 'Na': the value is missing; fill it in, or choose missing="drop"
    """

    code: str
    table: str = ""
    row: int | None = None
    column: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    remedy: str = ""

    def __str__(self) -> str:
        return located(self)

    @property
    def message(self) -> str:
        """The message for Python users, without the place."""
        return worded(self)

    def to_dict(self) -> "Fields":
        """Return the problem as JSON values, with its message for readers of the file.

        Returns
        -------
        dict
            Numbers, strings, lists and dictionaries only.
        """
        return asdict(self) | {"params": dict(self.params), "message": self.message}

    @classmethod
    def from_dict(cls, values: "Fields") -> "Problem":
        """Restore a problem from `to_dict`.

        Returns
        -------
        Problem
            The problem that was kept.
        """
        return cls(**{name: value for name, value in values.items() if name != "message"})


class TableError(ValueError):
    """A table that cannot be used, with every reason.

    Parameters
    ----------
    problems : list of Problem
        All that was found, up to a thousand.
    stopped : bool
        Whether reading stopped because there were too many.
    partial : Table or None
        What could be read all the same; for finding further problems, not for use.

    Examples
    --------
    >>> from transvariation.tables import Problem, TableError
    >>> word = Problem("not-a-number", "control.csv", 4, "Na", {"value": "abc"})
    >>> gap = Problem("missing", "control.csv", 9, "Mg")
    >>> print(TableError([word, gap]))
    2 problems in the table:
      control.csv, row 4, column 'Na': 'abc' is not a number
      control.csv, row 9, column 'Mg': the value is missing; fill it in
    """

    def __init__(self, problems: Sequence[Problem], stopped: bool = False, partial: "Table | None" = None):
        tables = list(dict.fromkeys(problem.table for problem in problems))
        self.problems = sorted(problems, key=lambda problem: (tables.index(problem.table), problem.row or 0))
        self.stopped, self.partial = stopped, partial
        super().__init__(self.problems, stopped)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.problems, self.stopped)  # a worker process returns the list, not the table

    def __str__(self) -> str:
        return listed(self)


def worded(problem: Problem, remedies: Mapping[str, str] = REMEDIES) -> str:
    """Phrase a problem and its remedy in the terms of a front end."""
    said = phrase(MESSAGES[problem.code], problem.params)
    if not problem.remedy:
        return said
    sign = "," if problem.params.get("mark") == "comma" else "."
    values = {"column": problem.column or "", "row": problem.row, "sign": sign, **problem.params}
    remedy = phrase(remedies[problem.remedy], values)
    return f"{said}, or {remedy}" if ";" in said else f"{said}; {remedy}"


def located(problem: Problem, remedies: Mapping[str, str] = REMEDIES) -> str:
    """Phrase a problem after its file, row and column."""
    place = [printable(problem.table)] if problem.table else []
    place += [f"row {problem.row}"] if problem.row is not None else []
    place += [f"column {quoted(problem.column)}"] if problem.column is not None else []
    return ": ".join(part for part in (", ".join(place), worded(problem, remedies)) if part)


def listed(error: TableError, remedies: Mapping[str, str] = REMEDIES) -> str:
    """List the problems of a table, the first twenty of them, one on each line."""
    lines, n = [located(problem, remedies) for problem in error.problems[:PROBLEMS_SHOWN]], len(error.problems)
    if n == 1 and not error.stopped:
        return lines[0]
    tables = "tables" if len({problem.table for problem in error.problems}) > 1 else "table"
    lines.insert(0, f"{'more than ' if error.stopped else ''}{n} problems in the {tables}:")
    lines += [f"and {n - PROBLEMS_SHOWN} more"] if n > PROBLEMS_SHOWN else []
    return "\n  ".join(lines + (["(reading stopped here)"] if error.stopped else []))


class Problems:
    """Collects problems and notes about one table while it is read."""

    def __init__(self, table: str):
        self.table = table
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []

    def add(
        self, code: str, row: int | None = None, column: str | None = None, *, remedy: str = "", **params: object
    ) -> None:
        """Record what makes the table unusable; give up when there are too many to be of use."""
        if len(self.problems) >= MAX_COLLECTED:
            raise TableError(self.problems, stopped=True)
        self.problems.append(Problem(code, self.table, row, column, params, remedy))

    def note(self, code: str, row: int | None = None, column: str | None = None, **params: object) -> None:
        """Record what was understood or not used."""
        if len(self.notes) < MAX_COLLECTED:
            self.notes.append(Problem(code, self.table, row, column, params))

    def stop(
        self, code: str, row: int | None = None, column: str | None = None, *, remedy: str = "", **params: object
    ) -> TableError:
        """Record a problem that ends the reading, and return the error to raise."""
        self.add(code, row, column, remedy=remedy, **params)
        return TableError(self.problems)

    def check(self) -> None:
        """Raise everything found so far, if anything was."""
        if self.problems:
            raise TableError(self.problems)


def printable(text: str) -> str:
    """Show control characters as escapes, so that a name from a file cannot move the cursor or hide text.

    Parameters
    ----------
    text : str
        A name or a cell: one line.

    Returns
    -------
    str
        One line that a terminal can print.

    Examples
    --------
    >>> from transvariation.tables import printable
    >>> print(printable("a\\x1b[2Jb\\u202ec\\nd\\x9be"))
    a\\x1b[2Jb\\u202ec\\nd\\x9be
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def printable_text(text: str) -> str:
    """Show control characters of sentences as escapes, but keep line ends and spaces of any width."""
    if text.isprintable():  # as most are
        return text
    return "".join(c if c == "\n" or unicodedata.category(c) == "Zs" else printable(c) for c in text)


def quoted(cell: object) -> str:
    """Show a cell as a person would quote it: one line, of bounded length.

    >>> print(quoted("a\\x00b" + 90 * "c"))
    'a\\x00bcccccccccccccccccccccccccccccccccccc…'
    """
    text = str(cell)
    return "'" + printable(text[:39] + "…" if len(text) > 40 else text) + "'"


def some_of(words: Sequence[str], shown: int = 5) -> str:
    """List some words, and say how many more there are."""
    return ", ".join(words[:shown]) + (f" and {len(words) - shown} more" if len(words) > shown else "")


def row_list(rows: Sequence[int]) -> str:
    """List row numbers, the first five of them.

    >>> row_list([4]), row_list([2, 3, 5, 6, 7, 8])
    ('row 4', 'rows 2, 3, 5, 6, 7 and 1 more')
    """
    return f"row{'s' if len(rows) > 1 else ''} {some_of(list(map(str, rows)))}"


class _Formatter(string.Formatter):
    """Quotes and escapes text, lists the members of lists, and leaves numbers as they are."""

    def convert_field(self, value: object, conversion: str | None) -> str | int | float:
        show = quoted if conversion is None else _plain
        if isinstance(value, list | tuple):
            return ", ".join(map(show, value))
        return value if isinstance(value, int | float) and conversion is None else show(value)


def _plain(value: object) -> str:
    return printable(str(value)[:200])


def phrase(template: str, values: Mapping[str, object]) -> str:
    """Fill a sentence with values from a file: text is quoted and escaped, with ``!s`` only escaped."""
    return _Formatter().vformat(template, (), values)
