"""Problems of a table and their places: codes and values for programs, sentences for people."""

import string
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

COLLECTED = 1000  # beyond this many problems the file is of another kind altogether: reading stops
SHOWN = 20

# The message of each kind of problem or note. Values are shown quoted and with control characters escaped, but for
# {value!s}, which is only escaped.
MESSAGES = {
    # the file
    "no-file": "this is a folder, pipe or device, not a file",
    "cannot-open": "the file cannot be opened: {reason!s}",
    "damaged": "the {kind!s} file is damaged, truncated or encrypted, and cannot be opened: {reason!s}",
    "empty-file": "the file is empty",
    "old-excel": "this is an old or encrypted Excel file; save it as .xlsx without a password, or as CSV",
    "compressed": "the file is compressed; unpack it first",
    "no-table": "this is a document, picture or program, not a table; export the values as CSV",
    "model-file": "this is no table but a model saved by `fit`; apply it with `score`, the model first, then the table",
    "no-workbook": "the file is a ZIP archive but not an Excel workbook; unpack it, or save it as .xlsx",
    "xml-entities": "the Excel file defines XML entities in {member}, which is not allowed",
    "unpacked-size": "the Excel file unpacks to {size:,} MB, more than the {limit:,} MB allowed; save the table as CSV"
    " or Parquet",
    "large-part": "the Excel file has a part or a row that is too large for a table ({member}); save the table as CSV"
    " or Parquet",
    "empty-cells": "more than {limit:,} cells up to this row that are empty or beyond the header; delete the columns"
    " at the right and the rows below that hold nothing, or save the table as CSV",
    "library": "reading {kind!s} files needs {library!s}",
    "too-many-columns": "{n:,} columns are more than the {limit:,} allowed",
    "too-many-rows": "more than {n:,} rows: too large to read at once",
    "blank-rows": "more than {limit:,} blank rows up to this row; delete them, or save the table again",
    "wrong-byte": "byte 0x{byte!s} does not belong to a text in {encoding}",
    "wrong-end": "the end of the file does not belong to a text in {encoding}",
    "endless-line": "a row has more than 4,000,000 characters: an unclosed quotation mark, or not a table",
    "nul": "the cell contains a NUL byte: the file is damaged; export it again",
    "open-quote": "a quotation mark is opened and never closed; the rest of the file could not be read",
    "large-footer": "the Parquet file describes its columns and parts in {size:,} MB; write it with fewer, larger parts"
    " (row groups), or as CSV",
    "large-text": "the file holds {size:,} MB of text or more, most of it in this column; leave the column out",
    "long-cell": "a cell has more than 131,072 characters: an unclosed quotation mark, or not a table",
    "unreadable-row": "the row cannot be split into cells ({reason!s}); the rest of the file could not be read",
    # sheets
    "sheet-of-no-workbook": "sheet {sheet} was asked for, but this is no Excel workbook",
    "no-such-sheet": "there is no sheet {sheet}; there are {sheets}",
    "no-visible-sheet": "the workbook has no visible sheet with cells",
    "empty-sheet": "the sheet {sheet} is empty",
    "empty-first-sheet": "the sheet {sheet} is empty; others: {sheets}",
    "unreadable-sheet": "the sheet {sheet} cannot be read: {reason!s}",
    "row-number": "a sheet has at most {rows:,} rows and {columns:,} columns: the file is damaged",
    "formula-without-value": "{value} is a formula without a stored value; open the file in a spreadsheet program and"
    " save it, or save the values",
    "merged-cells": "cells are merged ({ranges!s}): which rows their label holds for is not certain; unmerge them and"
    " fill in every cell",
    # header and rows
    "no-header": "there is no header: the table is empty, or holds blank lines only",
    "no-rows": "there is a header but no row below it",
    "nul-in-header": "the header contains a NUL byte: the file is damaged; export it again",
    "header-of-numbers": "the first row holds numbers, not names; add a row of names above it",
    "header-levels": "the DataFrame has several levels of names; flatten them with reset_index or set_axis",
    "same-name": "columns {columns!s} have the same name; rename or remove all but one",
    "no-name": "column {number} has values but no name in the header",
    "row-length": "the row has {n} cells but the header has {width}; is a delimiter inside a cell not quoted, or a cell"
    " missing? (the delimiter is {delimiter!s})",
    "row-too-long": "the row has {n} cells but the header has {width}",
    "title": "the row has {n} cells but the header has {width}, as have most other rows; are there lines above the"
    " row of names? Remove them",
    "header-row-of-frame": "header row {number} was asked for, but this table has its names apart",
    "summary-rows": "summaries ({words}), not measurements: {rows!s}; remove them",
    "unit-in-header": "the unit is {unit} here but {other} in the header; correct one of them",
    # columns
    "no-such-column": "there is no column {name}; there are {columns}",
    "no-such-columns": "there are no columns {names}; there are {columns}",
    "similar-column": "there is no column {name}; did you mean {similar}?",
    "column-twice": "the column {name} is named twice among the features",
    "feature-and-label": "the column {name} is named among the features and as the {role!s}",
    "role-twice": "the columns {columns} are all given as the {role!s}; only one can be",
    "several-labels": "the columns {columns} may all be the {role!s}; give one of them, or join their labels in one"
    " column",
    "label-or-measurement": "the whole numbers in this column may be labels or measurements",
    "no-measurement": "no column holds numbers to measure by (the delimiter is {delimiter!s}); the header is"
    " {header!s}",
    "no-numbers": "no column holds numbers to measure by (no cell is a number); the header is {header!s}",
    "no-delimiter": "no column holds numbers to measure by (no delimiter was found in the first row; columns must be"
    " separated by comma, semicolon, tab or bar); the header is {header!s}",
    "empty-label": "the {role!s} is empty in {rows!s}; fill it in",
    "empty-column": "the column is empty: no object has a value; fill it in, or leave the column out of the features",
    "duplicate-id": "the id {value} is already used in row {first}; make ids unique",
    "numbered-names": "names such as {names} may number replicates of one fragment, or fragments: with replicates taken"
    " for fragments, more fragments than stated are excluded",
    "nested-labels": "{value} in column {inner} has several labels here ({labels}), so it names several objects",
    "order": "{value} is neither a number nor a date such as 2024-05-06 10:30; correct it",
    # cells
    "not-a-number": "{value} is not a number",
    "true-or-false": "{value} is true or false, not a number",
    "date": "{value} is a date or time, not a number",
    "infinite": "{value} is not a value; correct the cell, or leave it empty if nothing was measured",
    "too-large": "{value} is too large for a computer's number; change the unit",
    "too-small": "{value} is too small for a computer's number; write 0 or change the unit",
    "formula": "{value} is a formula, which is never evaluated; save the values instead",
    "above-range": "{value} lies above the instrument's range; leave the object out or give its value",
    "spreadsheet-error": "{value} is a spreadsheet's error value; correct the formula behind it",
    "detection-limit": "{value} gives no detection limit that can be read; it must be a positive number",
    "unit-in-cell": "{value} carries a unit; put the unit in the header, such as 'Na (wt%)', and leave the bare number",
    "thousands": "{value} has a thousands separator; write the number without it",
    "other-mark": "{value} has a decimal {mark!s}, but this file's decimal mark is the {own!s}; write it as elsewhere",
    "thousands-or-other-mark": "{value} has a thousands separator or a decimal {mark!s}, but this file's decimal mark"
    " is the {own!s}; write it as elsewhere",
    "column-in-other-mark": "{value} has a decimal {mark!s}, but this file's decimal mark is the {own!s}; write it as"
    " elsewhere, or, if the column is no measurement, name the features to use",
    "decimal-mark": "{value} may mean {small!s} or {large!s}, and no other cell tells which; for {large!s} write it"
    " without the comma",
    "missing": "the value is missing; fill it in",
    "below-detection": "the value is below the detection limit; fill it in",
    "all-dropped": "every object has a missing value, so that dropping them leaves none",
    "nothing-measured": "no object has a measured value, so that there is none to fill in",
    "unknown-limit": "values are below an unstated detection limit, and nothing tells it",
    "no-median": "values are missing and the control has none to take a median of",
    # two tables
    "nothing-in-common": "no variable in common: {here} here, {there} in {other!s}",
    "no-such-variable": "there is no variable {name}",
    "other-unit": "the unit is {unit} here but {other} in {there!s}; convert one of them",
    "other-type": "the column holds numbers in {other!s}, but here {others} of {n} values are none, the first: {value};"
    " correct them, or leave the variable out in both tables",
    "other-type-empty": "the column holds numbers in {other!s}, but is empty here; fill it in, or leave the variable"
    " out in both tables",
    "outside-axis": "the positions go from {low:g} to {high:g}, those needed from {first:g} to {last:g}; measure"
    " the whole range, or fit to a range that both have",
    "gap-in-axis": "the positions between {low:g} and {high:g} are missing, in a gap too wide to interpolate across;"
    " measure them, or fit without them",
    "transposed": "the rows are variables ({names}) and the columns are objects ({objects}); transpose the table, so"
    " that each object has one row",
    "long-table-sparse": "{rows:,} rows name {objects:,} objects and {variables:,} variables, so that most values would"
    " be missing; is this the column of variables? Otherwise give the table a column per variable",
    "long-table-twice": "{name} of {label} has a value already, in row {first}; remove one, or number the replicates in"
    " a column",
    "long-table-unclear": "the column names elements, as in a table of one value per row, but several columns hold"
    " numbers ({columns}); name the one to use among the features, or give a table with one column per element",
    # notes
    "resampled": "spectra at {n} positions from {low:g} to {high:g}, interpolated to the {m} positions from {first:g}"
    " to {last:g} that they are compared at",
    "missing-bands": "{n} of {m} positions are missing ({bands!s}); the others are compared",
    "long-table": "a table of one value per row: the values of {value} became one column for each {name}: {columns}",
    "unused-uncertainty": "not used: taken for the uncertainty or detection limit of {variable}; name it among the"
    " features to measure by it",
    "role": "taken for the {role!s}",
    "unit": "unit {unit}",
    "units-row": "taken for the units",
    "encoding": "the file is not UTF-8; it was read as {encoding!s}",
    "sheet": "the sheet {sheet} was read, as was asked",
    "sheets-not-read": "the sheet {sheet} was read; not read: {sheets}",
    "decimal-given": "read with the {mark!s} as decimal mark, as was asked",
    "unused-index": "the index of the DataFrame repeats labels and is not used; give it a name such as 'fragment' to"
    " use it",
    "unused-class": "not used: {n} values in {rows} spectra are classes, not names of samples",
    "numbered-replicates": "the numbers in the names count replicates, as was said: {names}",
    "unused-empty": "not used: the column is empty",
    "unused-label": "not used: taken for a label; name it among the features to measure by it",
    "unused-text": "not used as a variable: {others} of its {n} values are not numbers, the first: {value}",
    "unused-absent": "not used: {other!s} has no such column",
    "unused-similar": "not used: {other!s} has no such column; is it {similar} there? Then give both the same name",
    "summary-rows-dropped": "left out as summaries ({words}), not measurements: {rows!s}",
    "dropped": "object {value} left out: {reason!s}",
    "imputed-limit": "{n} below detection, replaced by half the limit ({rows!s})",
    "imputed-median": "{n} missing, replaced by the control's median {median:.6g} ({rows!s})",
}  # fmt: skip

# What a Python user can do about it. `transvariation.report.wording` has the same for the command line and the page.
_DECIMAL = 'if the {mark!s} is the decimal mark, give decimal="{sign!s}"'
REMEDIES = {
    "drop-or-impute": 'choose missing="drop" or missing="impute"',
    "drop": 'choose missing="drop"',
    "impute": 'try missing="impute"',
    "drop-summary-rows": "choose drop_summary_rows=True",
    "fragment-column": "for replicates of one object give fragment_column={column}",
    "give-role": "give its role, such as roles={{{column}: 'fragment'}}, 'replicate', 'ignore' or 'measurement'",
    "give-decimal": _DECIMAL,
    "give-decimal-control": f"{_DECIMAL} in the TableSettings of the control table",
    "give-decimal-recovered": f"{_DECIMAL} in the TableSettings of the recovered table",
    "name-sheet": "name the sheet to read (sheet=), or move it to the front",
    "name-encoding": "save the file as UTF-8, or name its encoding (encoding=)",
    "read-chunks": "read it in blocks (read_chunks), or raise limits=Limits(...)",
    "header-row": "give header_row={row!s}",
    "numbered-names": 'give numbered_names="replicates" or numbered_names="fragments"',
    "install": "pip install {extra}",
}


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
        What can be done, a key of `REMEDIES`; "" if the message includes it.

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
        return self.located()

    @property
    def message(self) -> str:
        """The message for Python users, without the place."""
        return self.text()

    def text(self, remedies: Mapping[str, str] | None = None) -> str:
        """Phrase the problem and its remedy.

        Parameters
        ----------
        remedies : mapping of str to str, optional
            The remedies in the terms of a front end; by default those of Python.

        Returns
        -------
        str
            The sentence, and the remedy if there is one.
        """
        said = phrase(MESSAGES[self.code], self.params)
        if not self.remedy:
            return said
        values = {
            "column": self.column or "",
            "row": self.row,
            "sign": "," if self.params.get("mark") == "comma" else ".",
            **self.params,
        }
        remedy = phrase((remedies or REMEDIES)[self.remedy], values)
        return f"{said}, or {remedy}" if ";" in said else f"{said}; {remedy}"

    def located(self, remedies: Mapping[str, str] | None = None) -> str:
        """Return the message, preceded by file, row and column.

        Parameters
        ----------
        remedies : mapping of str to str, optional
            The remedies in the terms of a front end; by default those of Python.

        Returns
        -------
        str
            File, row, column and the sentence.
        """
        place = [printable(self.table)] if self.table else []
        place += [f"row {self.row}"] if self.row is not None else []
        place += [f"column {quoted(self.column)}"] if self.column is not None else []
        return ": ".join(part for part in (", ".join(place), self.text(remedies)) if part)

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as JSON values, with its message for readers of the file.

        Returns
        -------
        dict
            Numbers, strings, lists and dictionaries only.
        """
        return asdict(self) | {"params": dict(self.params), "message": self.message}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Problem":
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

    def __init__(self, problems: Sequence[Problem], stopped: bool = False, partial: Any = None):
        tables = list(dict.fromkeys(problem.table for problem in problems))
        self.problems = sorted(problems, key=lambda problem: (tables.index(problem.table), problem.row or 0))
        self.stopped, self.partial = stopped, partial
        super().__init__(self.problems, stopped)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems, self.stopped)  # a worker process returns the list, not the table

    def __str__(self) -> str:
        return self.text()

    def text(self, remedies: Mapping[str, str] | None = None) -> str:
        """List the problems, the first twenty of them.

        Parameters
        ----------
        remedies : mapping of str to str, optional
            The remedies in the terms of a front end; by default those of Python.

        Returns
        -------
        str
            One line per problem.
        """
        lines, n = [problem.located(remedies) for problem in self.problems[:SHOWN]], len(self.problems)
        if n == 1 and not self.stopped:
            return lines[0]
        tables = "tables" if len({problem.table for problem in self.problems}) > 1 else "table"
        lines.insert(0, f"{'more than ' if self.stopped else ''}{n} problems in the {tables}:")
        lines += [f"and {n - SHOWN} more"] if n > SHOWN else []
        return "\n  ".join(lines + (["(reading stopped here)"] if self.stopped else []))


class Problems:
    """Collects problems and notes about one table while it is read."""

    def __init__(self, table: str):
        self.table = table
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []

    def add(
        self, code: str, row: int | None = None, column: str | None = None, *, remedy: str = "", **params: Any
    ) -> None:
        """Record what makes the table unusable; give up when there are too many to be of use."""
        if len(self.problems) >= COLLECTED:
            raise TableError(self.problems, stopped=True)
        self.problems.append(Problem(code, self.table, row, column, params, remedy))

    def note(self, code: str, row: int | None = None, column: str | None = None, **params: Any) -> None:
        """Record what was understood or not used."""
        if len(self.notes) < COLLECTED:
            self.notes.append(Problem(code, self.table, row, column, params))

    def stop(self, code: str, *place: Any, **params: Any) -> TableError:
        """Record a problem that ends the reading, and return the error to raise."""
        self.add(code, *place, **params)
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
    """Do the same to sentences, which may have several lines and spaces of any width."""
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


def row_list(rows: Sequence[int]) -> str:
    """List row numbers, the first five of them.

    >>> row_list([4]), row_list([2, 3, 5, 6, 7, 8])
    ('row 4', 'rows 2, 3, 5, 6, 7 and 1 more')
    """
    more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
    return f"row{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows[:5]))}{more}"


class _Formatter(string.Formatter):
    """Quotes and escapes text, lists the members of lists, and leaves numbers as they are."""

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        show = quoted if conversion is None else _plain
        if isinstance(value, list | tuple):
            return ", ".join(map(show, value))
        return value if isinstance(value, int | float) and conversion is None else show(value)


def _plain(value: object) -> str:
    return printable(str(value)[:200])


def phrase(template: str, values: Mapping[str, Any]) -> str:
    """Fill a sentence with values from a file: text is quoted and escaped, with ``!s`` only escaped."""
    return _Formatter().vformat(template, (), values)
