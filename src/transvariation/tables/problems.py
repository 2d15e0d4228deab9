"""What is wrong with a table, where, and all of it at once."""

from dataclasses import asdict, dataclass
from typing import Any

KEPT = 1000  # beyond this many problems the file is of another kind altogether: reading stops
SHOWN = 20


@dataclass(frozen=True)
class Problem:
    """One thing worth saying about a table, and the place it is about.

    Parameters
    ----------
    message : str
        What was found and what to do about it.
    file : str
        The file as the caller named it.
    row : int or None
        Counted as a spreadsheet shows them: the header is row 1, blank rows count.
    column : str or None
        The column's header as it stands in the file.
    code : str
        A name of the kind of problem for programs.

    Examples
    --------
    >>> print(Problem("'abc' is not a number", "control.csv", 4, "Na"))
    control.csv, row 4, column 'Na': 'abc' is not a number
    """

    message: str
    file: str = ""
    row: int | None = None
    column: str | None = None
    code: str = ""

    def __str__(self) -> str:
        place = [printable(self.file)] if self.file else []
        place += [f"row {self.row}"] if self.row is not None else []
        place += [f"column {quoted(self.column)}"] if self.column is not None else []
        return ": ".join(part for part in (", ".join(place), self.message) if part)

    def to_dict(self) -> dict[str, Any]:
        """Give the problem as a dictionary of JSON values."""
        return asdict(self)


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
    >>> print(TableError([Problem("'abc' is not a number", "control.csv", 4, "Na"),
    ...                   Problem("the cell is empty", "control.csv", 9, "Mg")]))
    2 problems in the table:
      control.csv, row 4, column 'Na': 'abc' is not a number
      control.csv, row 9, column 'Mg': the cell is empty
    """

    def __init__(self, problems: list[Problem], stopped: bool = False, partial: Any = None):
        files = list(dict.fromkeys(problem.file for problem in problems))
        self.problems = sorted(problems, key=lambda problem: (files.index(problem.file), problem.row or 0))
        self.stopped = stopped
        self.partial = partial
        super().__init__(self.problems, stopped)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems, self.stopped)  # a worker process sends home the list, not the table

    def __str__(self) -> str:
        if len(self.problems) == 1 and not self.stopped:
            return str(self.problems[0])
        count = f"{'more than ' if self.stopped else ''}{len(self.problems)}"
        tables = "tables" if len({problem.file for problem in self.problems}) > 1 else "table"
        lines = [f"{count} problems in the {tables}:"] + [f"  {problem}" for problem in self.problems[:SHOWN]]
        if len(self.problems) > SHOWN:
            lines.append(f"  and {len(self.problems) - SHOWN} more")
        if self.stopped:
            lines.append("  (reading stopped here)")
        return "\n".join(lines)


class Findings:
    """Collects problems and notes about one file while it is being read."""

    def __init__(self, file: str):
        self.file = file
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []

    def problem(self, message: str, row: int | None = None, column: str | None = None, code: str = "") -> None:
        """Record what makes the table unusable; give up when there are too many to be of use."""
        if len(self.problems) >= KEPT:
            raise TableError(self.problems, stopped=True)
        self.problems.append(Problem(message, self.file, row, column, code))

    def note(self, message: str, row: int | None = None, column: str | None = None, code: str = "") -> None:
        """Record what was understood or set aside."""
        if len(self.notes) < KEPT:
            self.notes.append(Problem(message, self.file, row, column, code))

    def check(self) -> None:
        """Raise everything found so far, if anything was."""
        if self.problems:
            raise TableError(self.problems)


def printable(text: str) -> str:
    """Show control characters as escapes, so that a name from a file cannot move the cursor or hide text."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def quoted(cell: object, width: int = 40) -> str:
    """Show a cell as a person would quote it: one line, of bounded length.

    >>> print(quoted("a\\x00b" + 90 * "c"))
    'a\\x00bcccccccccccccccccccccccccccccccccccc…'
    """
    text = str(cell)
    return "'" + printable(text[: width - 1] + "…" if len(text) > width else text) + "'"
