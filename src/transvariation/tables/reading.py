"""Read a file or DataFrame as a table, or list everything that is wrong with it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transvariation.tables.cells import find_decimal, read_cells
from transvariation.tables.columns import (
    LEVELS,
    Layout,
    cell_text,
    cell_texts,
    find_layout,
    is_unit_row,
    order_values,
    same_unit,
    split_unit,
)
from transvariation.tables.grid import Block, Grid, Limits, block_rows
from transvariation.tables.missing import apply_policy, check_policy, gaps, nothing_remains
from transvariation.tables.opening import Source, opened
from transvariation.tables.problems import Problems, TableError, row_list
from transvariation.tables.table import Table

# As a whole cell; the long words also before or after a label with a number ("Mean F1", "F1 RSD").
_STATISTICS = (
    r"mean|average|avg|median|r\.?s\.?d\.?|std\.? ?dev\.?|standard deviation|mittelwert|stabw\.?|standardabweichung"
    r"|moyenne|[ée]cart[- ]type|promedio|desviaci[óo]n est[áa]ndar|deviazione standard|gemiddelde|standaardafwijking"
)
_ALONE = rf"{_STATISTICS}|sd|s\.d\.|std|max(?:imum)?|min(?:imum)?|sum|total|lod|loq|detection limit|media"
_LABEL = r"[^\d]{0,30}\d.{0,10}"
_HINT = re.compile(_ALONE)
_SUMMARY = re.compile(
    rf"%? ?(?:{_ALONE}) ?(?:%|\(%\)|\[%\])? ?(?:\(n ?= ?\d+\))?:?"
    rf"|(?:{_STATISTICS})[ _:]+{_LABEL}|{_LABEL}[ _:]+%?(?:{_STATISTICS}) ?%?"
)


def read_table(
    source: Source,
    *,
    features: Sequence[str] | None = None,
    id_column: str | None = None,
    source_column: str | None = None,
    fragment_column: str | None = None,
    roles: Mapping[str, str] | None = None,
    drop_summary_rows: bool = False,
    missing: str = "error",
    reference: Table | Mapping[str, Mapping[str, float]] | None = None,
    name: str | None = None,
    sheet: str | int | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    expect: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
    limits: Limits = Limits(),  # noqa: B008  # frozen
) -> Table:
    """Read a table of objects in rows and measured variables in columns.

    Parameters
    ----------
    source : path, bytes, binary file or DataFrame
        CSV, TSV, Excel (.xlsx) or Parquet, recognised by content.
    features : sequence of str, default=None
        The columns to measure by, with or without their units; None takes every column of numbers.
    id_column, source_column, fragment_column : str, default=None
        The columns that name the row, the source (pane, bottle, batch) and the fragment (the physical piece); None
        recognises them. Rows of one fragment are its replicates.
    roles : mapping of str to str, default=None
        What columns are, by name, whatever they look like: ``"id"``, ``"source"``, ``"fragment"``, ``"replicate"``,
        ``"order"``, ``"measurement"`` or ``"ignore"``.
    drop_summary_rows : bool, default=False
        Leave out rows that hold a mean, a standard deviation or the like; otherwise they are reported.
    missing : {"error", "drop", "impute", "keep"}, default="error"
        What becomes of missing and below-detection values: reported; the object left out; half the detection limit
        and the control's median put in their place, unless nothing of the object was measured; or NaN.
    reference : Table or mapping, default=None
        The control table (or its :func:`filling`) that values are imputed from; None is the table itself.
    name : str, default=None
        What messages call the file.
    sheet : str or int, default=None
        An Excel sheet by title or number from 1; None is the first visible one.
    delimiter, decimal, encoding : str, default=None
        Given rather than recognised; a decimal mark that was given is noted.
    expect : sequence of str
        Names that are variables if present, even if most of their cells cannot be read.
    units : mapping of str to str, default=None
        The units that `features` are wanted in: they decide where the table has both ``Na (ppm)`` and ``Na (wt%)``.
    limits : Limits
        How large a table may be.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        With every problem found, each with file, row and column.

    Examples
    --------
    >>> table = read_table(b"id;Na (wt%);Mg (wt%)\\nF1;13,64;4,49\\nF2;13,89;3,6\\n")
    >>> table.ids, table.features, dict(table.units)
    (('F1', 'F2'), ('Na', 'Mg'), {'Na': 'wt%', 'Mg': 'wt%'})
    >>> table.X.tolist()
    [[13.64, 4.49], [13.89, 3.6]]
    """
    check_policy(missing)
    how: dict[str, Any] = {"sheet": sheet, "delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    with opened(source, name, limits, **how) as (grid, problems):
        named = {"id": id_column, "source": source_column, "fragment": fragment_column}
        taken = {column: role for role, column in named.items() if column is not None} | dict(roles or {})
        given = {"roles": taken, "features": features, "expect": expect, "units": units, "decimal": decimal}
        parts: list[Table] = []
        try:
            for part, _ in _read_parts(grid, problems, limits, block_rows(len(grid.header)), given, drop_summary_rows):
                parts.append(part)
        except TableError as error:
            if error.stopped or not parts:
                raise
        table = replace(_joined(parts), sha256=grid.sha256, notes=tuple(problems.notes))
        _report_duplicates(table, problems)
    if problems.problems:
        raise TableError(problems.problems + gaps(table, missing), partial=table)
    return apply_policy(table, missing, reference)


def read_chunks(
    source: Source,
    features: Sequence[str],
    *,
    rows: int | None = None,
    id_column: str | None = None,
    roles: Mapping[str, str] | None = None,
    drop_summary_rows: bool = False,
    missing: str = "error",
    reference: Table | Mapping[str, Mapping[str, float]] | None = None,
    units: Mapping[str, str] | None = None,
    progress: Callable[[float], None] | None = None,
    left_out: Callable[[tuple[str, ...]], None] | None = None,
    name: str | None = None,
    sheet: str | int | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Iterator[Table]:
    """Read a table larger than memory, a block of rows at a time.

    Problems are raised with the first block that has any, all of that block's at once. Ids are not compared between
    blocks.

    Parameters
    ----------
    source, id_column, roles, drop_summary_rows, missing, units, name, sheet, delimiter, decimal, encoding
        As for :func:`read_table`.
    features : sequence of str
        The columns wanted, in the order wanted.
    rows : int, default=None
        Rows per block; None suits the number of columns.
    reference : Table or mapping
        Required by ``missing="impute"``: a block cannot know the control's median.
    progress : callable, default=None
        Called after every block with the share of the file that was read.
    left_out : callable, default=None
        Called with the ids of the objects that were left out of a block because values are missing. A block of which
        nothing remains is not yielded; that nothing remains of the whole table is a problem.

    Yields
    ------
    Table

    Examples
    --------
    >>> file = b"id,Mg,Na\\nF1,1,2\\nF2,3,4\\nF3,5,6\\n"
    >>> for block in read_chunks(file, ["Na", "Mg"], rows=2):
    ...     print(block.ids, block.X.tolist())
    ('F1', 'F2') [[2.0, 1.0], [4.0, 3.0]]
    ('F3',) [[6.0, 5.0]]
    """
    check_policy(missing)
    if missing == "impute" and reference is None:
        raise ValueError('missing="impute" in blocks needs reference=: the control table or its filling()')
    limits = Limits(rows=2**62, cells=2**62)
    how: dict[str, Any] = {"sheet": sheet, "delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    with opened(source, name, limits, **how) as (grid, problems):
        taken = ({} if id_column is None else {id_column: "id"}) | dict(roles or {})
        given = {"roles": taken, "features": features, "units": units}
        size = rows or block_rows(len(grid.header))
        remaining = False
        for part, done in _read_parts(grid, problems, limits, size, given, drop_summary_rows):
            problems.check()
            names = part.found(features, units or {})  # all are there, or there is a problem
            own = {name: wanted for name, wanted in zip(names, features, strict=True) if wanted in (units or {})}
            block = apply_policy(_joined([part]).select(names).rename(own), missing, reference, in_block=True)
            remaining = remaining or len(block) > 0
            if block.dropped and left_out is not None:
                left_out(block.dropped)
            if len(block):
                yield block
            if progress is not None:
                progress(done)
        if not remaining:
            nothing_remains(problems, missing, reference is not None)
        problems.check()


def _read_parts(
    grid: Grid, problems: Problems, limits: Limits, size: int, given: dict[str, Any], drop_summary_rows: bool = False
) -> Iterator[tuple[Table, float]]:
    """Turn blocks of cells into tables of numbers, with NaN where a value is missing."""
    layout: Layout | None = None
    n = 0
    for block in grid.blocks(size):
        if layout is None and is_unit_row(block):
            grid.header = _with_units(grid.header, block, problems)
            problems.note("units-row", int(block.rows[0]))
            block = block.keep(np.arange(len(block.rows)) > 0)
        if not grid.decimal:
            words = [column for column in block.columns if not isinstance(column, np.ndarray)]
            grid.decimal = find_decimal([c.strip() for column in words for c in column if isinstance(c, str)], problems)
        block = _without_summaries(block, layout, problems, drop_summary_rows)
        if not len(block.rows):
            continue
        if layout is None:
            layout = find_layout(grid, block, problems, **given)
            _check_measurements(grid, block, layout, problems)
            grid.measured = layout.at("measurement")
        n += len(block.rows)
        if n > limits.rows or n * len(grid.header) > limits.cells:
            most = min(limits.rows, limits.cells // len(grid.header))
            raise problems.stop("too-many-rows", remedy="read-chunks", n=most)
        yield _numbers(grid, block, layout, problems), block.progress
    if layout is None:
        find_layout(grid, None, problems, **given)
        if not problems.problems:
            problems.add("no-rows")
        problems.check()


def _with_units(header: list[str], block: Block, problems: Problems) -> list[str]:
    """Put the units of the first row into names without a unit; "-" is not a unit."""
    names = list(header)
    for i, column in enumerate(block.columns):
        unit, own = cell_text(column[0]), split_unit(header[i])[1]
        if unit in ("", "-"):
            continue
        if not own:
            names[i] = f"{header[i]} ({unit})"
        elif not same_unit(own, unit):
            problems.add("unit-in-header", int(block.rows[0]), header[i], unit=unit, other=own)
    return names


def _without_summaries(block: Block, layout: Layout | None, problems: Problems, drop: bool) -> Block:
    """Leave out rows that hold a mean or a standard deviation instead of a measurement, with a note or a problem."""
    found: dict[int, str] = {}
    measured = set() if layout is None else set(layout.at("measurement"))
    for column in (column for j, column in enumerate(block.columns) if j not in measured):
        words = [] if isinstance(column, np.ndarray) else [cell for cell in column if isinstance(cell, str)]
        if _HINT.search("\n".join(words).lower()):  # a quick look, before one at every cell
            texts = [cell.strip() if isinstance(cell, str) and len(cell) < 60 else "" for cell in column]
            found |= {i: text for i, text in enumerate(texts) if _SUMMARY.fullmatch(text.lower())}
    if not found or (layout is None and len(found) == len(block.rows)):  # each row is the mean of one object
        return block
    at = sorted(found)
    rows = [int(block.rows[i]) for i in at]
    values: dict[str, Any] = {"words": list(dict.fromkeys(found[i] for i in at))[:5], "rows": row_list(rows)}
    if drop:
        problems.note("summary-rows-dropped", **values)
    else:
        problems.add("summary-rows", rows[0], remedy="drop-summary-rows", **values)
    keep = np.ones(len(block.rows), dtype=bool)
    keep[at] = False
    return block.keep(keep)


def _check_measurements(grid: Grid, block: Block, layout: Layout, problems: Problems) -> None:
    """Report that no column holds numbers, and why the first ones hold none."""
    if layout.at("measurement") or problems.problems:
        return
    why = f"the delimiter is {grid.delimiter}" if grid.delimiter else "no cell is a number"
    if grid.delimiter and len(grid.header) == 1:
        why = "no delimiter was found in the first row; columns must be separated by comma, semicolon, tab or bar"
    problems.add("no-measurement", why=why, header=" | ".join(grid.header)[:80])
    for note in [note for note in problems.notes if note.code == "unused-text"][:5]:
        j = layout.header.index(str(note.column))
        for i, fault in list(read_cells(block.columns[j], grid.decimal).faults.items())[:1]:
            fault.report(problems, int(block.rows[i]), layout.header[j])


def _numbers(grid: Grid, block: Block, layout: Layout, problems: Problems) -> Table:
    at = layout.at("measurement")
    X = np.full((len(block.rows), len(at)), np.nan)
    below: np.ndarray | None = None
    for k, j in enumerate(at):
        X[:, k], limits, faults = read_cells(block.columns[j], grid.decimal)
        if limits and below is None:
            below = np.full(X.shape, np.nan)
        for i, limit in limits.items():
            below[i, k] = limit  # type: ignore[index]
        for i, fault in faults.items():
            fault.report(problems, int(block.rows[i]), layout.header[j])
            X[i, k] = np.inf  # reported already, so not to be called missing as well
    levels: dict[str, Any] = {role: _labels(block, layout, role, problems) for role in LEVELS}
    ids = _labels(block, layout, "id", problems)
    labels = [texts for texts in levels.values() if texts is not None]
    if ids is None and labels:
        ids = tuple(map(" / ".join, zip(*labels, strict=True)))
    return Table(
        name=grid.name,
        ids=tuple(f"row {row}" for row in block.rows.tolist()) if ids is None else ids,
        features=tuple(layout.names[j] for j in at),
        X=X,
        rows=block.rows.astype(np.int64),
        **levels,
        order=_order(grid, block, layout, problems),
        units={layout.names[j]: layout.units[j] for j in at if layout.units[j]},
        headers={layout.names[j]: layout.header[j] for j in at},
        roles=dict(zip(layout.header, layout.roles, strict=True)),
        below=below,
    )


def _labels(block: Block, layout: Layout, role: str, problems: Problems) -> tuple[str, ...] | None:
    at = layout.at(role)
    if not at:
        return None
    texts = cell_texts(block.columns[at[0]])
    if not all(texts):
        rows = [row for row, text in zip(block.rows.tolist(), texts, strict=True) if not text]
        problems.add("empty-label", rows[0], layout.header[at[0]], role=role, rows=row_list(rows))
    return texts


def _order(grid: Grid, block: Block, layout: Layout, problems: Problems) -> np.ndarray | None:
    at = layout.at("order")
    if not at:
        return None
    values = order_values(block.columns[at[0]], grid.decimal)
    if not np.isfinite(values).all():
        i = int(np.argmin(np.isfinite(values)))
        cell = cell_text(block.columns[at[0]][i])
        problems.add("order", int(block.rows[i]), layout.header[at[0]], remedy="give-role", value=cell)
    return values


def _joined(tables: list[Table]) -> Table:
    """Concatenate the parts of one table; rows with the same labels are distinguished by their numbers."""
    table = tables[0]
    if len(tables) > 1:
        levels: dict[str, Any] = {
            level: tuple(label for part in tables for label in getattr(part, level))
            for level in LEVELS
            if getattr(table, level) is not None
        }
        for name in ("order", "below"):
            arrays = [getattr(part, name) for part in tables]
            if any(array is not None for array in arrays):
                filled = [np.full(t.X.shape, np.nan) if a is None else a for t, a in zip(tables, arrays, strict=True)]
                levels[name] = np.concatenate(filled)
        table = replace(
            table,
            ids=tuple(name for part in tables for name in part.ids),
            X=np.concatenate([part.X for part in tables]),
            rows=np.concatenate([part.rows for part in tables]),
            **levels,
        )
    if "id" not in table.roles.values() and len(set(table.ids)) < len(table.ids):
        ids = tuple(f"{name} (row {row})" for name, row in zip(table.ids, table.rows.tolist(), strict=True))
        return replace(table, ids=ids)
    return table


def _report_duplicates(table: Table, problems: Problems) -> None:
    """Report every id that was used before."""
    if len(set(table.ids)) == len(table.ids):
        return
    column = next(name for name, role in table.roles.items() if role == "id")
    first: dict[str, int] = {}
    for name, row in zip(table.ids, table.rows.tolist(), strict=True):
        if name in first:
            problems.add("duplicate-id", row, column, remedy="fragment-column", value=name, first=first[name])
        first.setdefault(name, row)
