"""From blocks of cells to tables of numbers, part by part."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from transvariation.tables.cells import read_cells
from transvariation.tables.grid import Block, Column, Grid, Limits, Plan
from transvariation.tables.headers import same_unit, split_unit
from transvariation.tables.problems import Findings, TableError, quoted
from transvariation.tables.roles import Layout, cell_text, cell_texts, find_layout, is_unit_row
from transvariation.tables.table import Table
from transvariation.tables.text import TextGrid, find_decimal

REASONS = 5  # columns of which is said why they hold no numbers, where none does


def read_parts(
    grid: Grid, findings: Findings, limits: Limits, size: int, given: dict[str, Any]
) -> Iterator[tuple[Table, float]]:
    """Turn blocks of cells into tables of numbers, with NaN where a value is missing."""
    layout: Layout | None = None
    n = 0
    for block in grid.blocks(size):
        if layout is None and is_unit_row(block):
            grid.header = _with_units(grid.header, block, findings)
            findings.note("taken for the units", int(block.rows[0]))
            block = Block(block.rows[1:], [column[1:] for column in block.columns], block.progress)
        if not len(block.rows):
            continue
        if not grid.decimal:
            grid.decimal = find_decimal([cell for column in block.columns for cell in _words(column)], findings)
        if layout is None:
            layout = _usable(find_layout(grid, block, findings, **given), grid, findings)
            texts = layout.at("id") + layout.at("source") + layout.at("replicate")
            grid.plan = Plan(tuple(layout.at("feature")), tuple(texts))
        n += len(block.rows)
        if n > limits.rows or n * len(grid.header) > limits.cells:
            findings.problem(f"more than {n:,} rows: too large to read at once; read it in blocks (`score` does)")
            raise TableError(findings.problems)
        yield _part(grid, block, layout, findings), block.progress
    if layout is None:
        find_layout(grid, None, findings, **given)
        if not findings.problems:
            findings.problem("there is a header but no row below it")
        findings.check()


def _words(column: Column) -> list[str]:
    return [] if isinstance(column, np.ndarray) else [cell.strip() for cell in column if isinstance(cell, str)]


def _with_units(header: list[str], block: Block, findings: Findings) -> list[str]:
    """Put the units of the first row into names that have none of their own; "-" is no unit."""
    names = list(header)
    for i, column in enumerate(block.columns):
        unit, own = cell_text(column[0]), split_unit(header[i])[1]
        if unit in ("", "-"):
            continue
        if not own:
            names[i] = f"{header[i]} ({unit})"
        elif not same_unit(own, unit):
            message = f"the unit is {quoted(unit)} here but {quoted(own)} in the header; correct one of them"
            findings.problem(message, int(block.rows[0]), header[i])
    return names


def _usable(layout: Layout, grid: Grid, findings: Findings) -> Layout:
    if not layout.at("feature") and not findings.problems:
        hint = f" ({grid.columns_from()})" if isinstance(grid, TextGrid) else ""
        findings.problem(
            f"no column holds numbers to measure by{hint}; the header is {quoted(' | '.join(grid.header), 80)}"
        )
        for note in [note for note in findings.notes if note.message.startswith("not used as")][:REASONS]:
            findings.problem(note.message, note.row, note.column)
    return layout


def _part(grid: Grid, block: Block, layout: Layout, findings: Findings) -> Table:
    at = layout.at("feature")
    features = tuple(layout.names[j] for j in at)
    X = np.full((len(block.rows), len(at)), np.nan)
    below: np.ndarray | None = None
    for k, j in enumerate(at):
        values, limits, reasons = read_cells(block.columns[j], grid.decimal)
        X[:, k] = values
        for i, limit in limits.items():
            if below is None:
                below = np.full(X.shape, np.nan)
            below[i, k] = limit
        X[list(reasons), k] = np.inf  # marks a cell that was reported, so that it is not called missing as well
        for i, reason in reasons.items():
            findings.problem(reason, int(block.rows[i]), layout.header[j])
    return Table(
        name=grid.name,
        ids=_ids(block, layout, findings),
        sources=_texts(block, layout, "source", findings),
        features=features,
        X=X,
        rows=block.rows.astype(np.int64),
        units={layout.names[j]: layout.units[j] for j in at if layout.units[j]},
        headers={layout.names[j]: layout.header[j] for j in at},
        roles=dict(zip(layout.header, layout.roles, strict=True)),
        below=below,
    )


def _texts(block: Block, layout: Layout, role: str, findings: Findings) -> tuple[str, ...] | None:
    at = layout.at(role)
    if not at:
        return None
    texts = cell_texts(block.columns[at[0]])
    if not all(texts):
        for i in (i for i, text in enumerate(texts) if not text):
            findings.problem(f"the {role} is empty", int(block.rows[i]), layout.header[at[0]])
    return texts


def _ids(block: Block, layout: Layout, findings: Findings) -> tuple[str, ...]:
    """Name the objects: the id column; else source and replicate together; else the row in the file."""
    ids = _texts(block, layout, "id", findings)
    if ids is not None:
        return ids
    source, replicate = layout.at("source"), layout.at("replicate")
    if source and replicate:
        parts = zip(cell_texts(block.columns[source[0]]), cell_texts(block.columns[replicate[0]]), strict=True)
        return tuple(f"{one} / {other}" for one, other in parts)
    return tuple(f"row {row}" for row in block.rows.tolist())


def joined(tables: list[Table]) -> Table:
    """Put the parts of one table together."""
    first = tables[0]
    if len(tables) == 1:
        return first
    below = None
    if any(table.below is not None for table in tables):
        below = np.concatenate([np.full(t.X.shape, np.nan) if t.below is None else t.below for t in tables])
    sources = None if first.sources is None else tuple(s for t in tables for s in t.sources or ())
    return replace(
        first,
        ids=tuple(i for table in tables for i in table.ids),
        sources=sources,
        X=np.concatenate([table.X for table in tables]),
        rows=np.concatenate([table.rows for table in tables]),
        below=below,
    )


def report_duplicates(table: Table, findings: Findings) -> None:
    """Report every id that was used before."""
    if len(set(table.ids)) == len(table.ids):
        return
    column = next((name for name, role in table.roles.items() if role == "id"), None)
    first: dict[str, int] = {}
    for name, row in zip(table.ids, table.rows, strict=True):
        if name in first:
            findings.problem(
                f"the id {quoted(name)} is already used in row {first[name]}; make ids unique, or, if these are"
                " replicates of one object, name the column as the source (source_column, --source-column)",
                int(row),
                column,
            )
        first.setdefault(name, int(row))
