"""What is sent to the page of tables and spectra: few rows, few lines, few points."""

import base64
from collections.abc import Mapping, Sequence
from io import BytesIO

import numpy as np

from transvariation._typing import Fields, Floats
from transvariation.report.vocabulary import said
from transvariation.report.wording.remedies import located_text, problem_text
from transvariation.report.wording.statements import table_title
from transvariation.tables import Limits, Problem, Table, TableError
from transvariation.tables.excel import sheet_titles
from transvariation.tables.opening import opened
from transvariation.tables.settings import TableSettings

FIRST_ROWS = 8
PROBLEM_ROWS = 12  # further rows shown because they have problems
MAX_COLUMNS = 40  # of a wider table only some columns and those with problems are shown
FIRST_COLUMNS = 8  # of a wider table
MAX_NOTES = 40
CELL_CHARACTERS = 60  # characters of a cell
SPECTRA_DRAWN = 12  # spectra drawn of each kind
POINTS_DRAWN = 400  # of a line
GAP_STEPS = 3.0  # times the usual step of the axis: there a line is interrupted


AXIS_NAME = "wavelength, wavenumber or shift"


def in_memory(file: Mapping[str, str]) -> BytesIO:
    """Return an uploaded file that knows its name."""
    opened = BytesIO(base64.b64decode(file["content"]))
    opened.name = file["name"]
    return opened


def problem_dict(problem: Problem) -> Fields:
    """Return a problem as JSON values, with the remedy in the page's terms."""
    return problem.to_dict() | {"message": problem_text(problem, "page")}


def sheets(content: bytes, limits: Limits) -> list[str]:
    """List the sheets of a workbook that has several."""
    titles = sheet_titles(BytesIO(content), limits) if content.startswith(b"PK\x03\x04") else []
    return titles if len(titles) > 1 else []


def show_table(table: Table, which: str, *, spectral: bool) -> Fields:
    """Return the summary and the first rows of a table, with the cells marked that have a note.

    The roles of the positions of a spectrum are not listed.
    """
    noted = {note.row for note in table.notes if note.row is not None}
    chosen = [i for i, row in enumerate(table.rows.tolist()) if i < FIRST_ROWS or row in noted][
        : FIRST_ROWS + PROBLEM_ROWS
    ]
    headers = [table.headers[name] for name in table.features]
    wide = len(headers) > MAX_COLUMNS
    marked = {note.column for note in table.notes if note.row is not None}
    seen = [j for j, title in enumerate(headers) if not wide or j < FIRST_COLUMNS or title in marked][:MAX_COLUMNS]
    titles = [headers[j] for j in seen]
    notes = [note for note in table.notes if note.code not in ("role", "units-row")]  # shown as roles
    more = [f"{len(notes) - MAX_NOTES} further notes"] if len(notes) > MAX_NOTES else []
    summary = table.summary()
    labels = {column: role for column, role in table.roles.items() if role != "measurement"}
    return {name: summary[name] for name in ("file", "objects", "sources", "fragments")} | {
        "title": said(table_title(which, summary, len(chosen), (len(seen), len(headers)))),
        "notes": [said(located_text(note, "page")) for note in notes[:MAX_NOTES]] + more,
        "columns": list(labels if spectral else table.roles),
        "labels": labels,
        "header": ["row name", *titles],
        "rows": [
            _row(int(table.rows[i]), [table.ids[i], *map(_number, table.X[i, seen])], ["", *titles], table.notes)
            for i in chosen
        ],
    }


def show_problems(
    content: bytes, name: str, problems: Sequence[Problem], limits: Limits, settings: TableSettings
) -> Fields:
    """Return the rows of a file that have problems, as they are in the file; none if it cannot be opened."""
    ours = [problem for problem in problems if problem.table == name]
    wanted = sorted({problem.row for problem in ours if problem.row is not None})[:PROBLEM_ROWS]
    columns: list[str] = []
    header: list[str] = []
    rows: list[Fields] = []
    try:
        with opened(content, name, limits, settings) as grid:
            columns = header = [str(cell) for cell in grid.header]
            seen = [j for j in range(len(header)) if _shown(j, header, ours)][:MAX_COLUMNS]
            for block in grid.blocks() if wanted else ():
                for i in np.flatnonzero(np.isin(block.rows, wanted)):
                    cells = [_text(block.columns[j][int(i)]) for j in seen]
                    rows.append(_row(int(block.rows[i]), cells, [header[j] for j in seen], ours))
                if block.rows[-1] >= wanted[-1]:
                    break
            header = [header[j] for j in seen]
    except TableError:
        pass  # the problems are known; only their place is not shown
    faulty = [j for j, title in enumerate(header) if any(p.column == title and p.row in (None, 1) for p in ours)]
    return {
        "file": name,
        "columns": columns,
        "header": [title[:CELL_CHARACTERS] for title in header],
        "faulty": faulty,
        "rows": rows,
    }


def _shown(j: int, header: list[str], problems: Sequence[Problem]) -> bool:
    return len(header) <= MAX_COLUMNS or j == 0 or any(problem.column == header[j] for problem in problems)


def _row(number: int, cells: list[str], header: Sequence[str], found: Sequence[Problem]) -> Fields:
    """Mark the cells of a row that have problems; a problem without a column is about the whole row."""
    here = [problem for problem in found if problem.row == number]
    marked = {j: problem_text(p, "page") for p in here for j, title in enumerate(header) if p.column == title}
    whole = [problem_text(problem, "page") for problem in here if problem.column is None]
    return {"row": number, "cells": cells, "marked": marked, "whole": whole}


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.7g}"


def _text(cell: object) -> str:
    text = "" if cell is None else str(cell)
    return text if len(text) <= CELL_CHARACTERS else text[: CELL_CHARACTERS - 1] + "…"


def some(n: int) -> list[int]:
    """Choose up to `SPECTRA_DRAWN` of n spectra, evenly."""
    return np.unique(np.linspace(0, n - 1, min(n, SPECTRA_DRAWN)).round().astype(int)).tolist()


def segments(axis: Floats, lines: Floats) -> list[Fields]:
    """Return lines over an axis, in one part for each range of it, with at most `POINTS_DRAWN` points together.

    Of a longer line the smallest and the largest value of every interval are kept, so that no peak is lost.
    """
    order = np.argsort(axis)
    axis, lines = axis[order], np.atleast_2d(lines)[:, order]
    steps = np.diff(axis)
    breaks = np.flatnonzero(steps > GAP_STEPS * np.median(steps if len(steps) else 0)) + 1
    parts = zip(np.split(axis, breaks), np.split(lines, breaks, axis=1), strict=True)
    share = POINTS_DRAWN / len(axis)
    thin = (_thinned(part, values, max(round(share * len(part)), 2)) for part, values in parts)
    return [{"axis": rounded(x, 7), "lines": [rounded(line) for line in y]} for x, y in thin]


def _thinned(axis: Floats, lines: Floats, points: int) -> tuple[Floats, Floats]:
    if len(axis) <= points:
        return axis, lines
    edges = np.linspace(0, len(axis), points // 2 + 1).astype(int)
    first, last = edges[:-1], edges[1:] - 1
    ends = np.stack([np.minimum.reduceat(lines, first, axis=1), np.maximum.reduceat(lines, first, axis=1)], axis=2)
    falling = lines[:, first] > lines[:, last]
    ends[falling] = ends[falling][:, ::-1]
    return np.column_stack([axis[first], axis[last]]).ravel(), ends.reshape(len(lines), -1)


def rounded(values: Sequence[float] | Floats, digits: int = 4) -> list[float]:
    """Round to significant digits."""
    return [float(f"{value:.{digits}g}") for value in values]
