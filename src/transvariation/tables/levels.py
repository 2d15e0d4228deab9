"""From blocks of cells to tables of numbers, part by part."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from transvariation.tables.cells import read_cells
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
from transvariation.tables.grid import Block, Column, Grid, Limits, Plan
from transvariation.tables.problems import Findings, TableError, quoted
from transvariation.tables.table import Table
from transvariation.tables.text import TextGrid, find_decimal

REASONS = 5  # columns of which is said why they hold no numbers, where none does
LISTED = 5  # rows named in one message

# As a cell of its own; the long words also before or after a label with a number ("Mean F1", "F1 RSD").
_STATISTICS = (
    r"mean|average|avg|median|r\.?s\.?d\.?|std\.? ?dev\.?|standard deviation|mittelwert|stabw\.?|standardabweichung"
    r"|moyenne|[ée]cart[- ]type|promedio|desviaci[óo]n est[áa]ndar|deviazione standard|gemiddelde|standaardafwijking"
)
_ALONE = rf"{_STATISTICS}|sd|s\.d\.|std|max(?:imum)?|min(?:imum)?|sum|total|lod|loq|detection limit|media"
_LABEL = r"[^\n\d]{0,30}\d[^\n]{0,10}"
_SUMMARY = re.compile(
    rf"^(?:%? ?(?:{_ALONE}) ?(?:%|\(%\)|\[%\])? ?(?:\(n ?= ?\d+\))?:?"
    rf"|(?:{_STATISTICS})[ _:]+{_LABEL}|{_LABEL}[ _:]+%?(?:{_STATISTICS}) ?%?)$",
    re.IGNORECASE | re.MULTILINE,
)


def read_parts(
    grid: Grid, findings: Findings, limits: Limits, size: int, given: dict[str, Any], drop_summary_rows: bool = False
) -> Iterator[tuple[Table, float]]:
    """Turn blocks of cells into tables of numbers, with NaN where a value is missing."""
    layout: Layout | None = None
    n = 0
    for block in grid.blocks(size):
        if layout is None and is_unit_row(block):
            grid.header = _with_units(grid.header, block, findings)
            findings.note("taken for the units", int(block.rows[0]))
            block = _rows_of(block, np.arange(len(block.rows)) > 0)
        if not len(block.rows):
            continue
        if not grid.decimal:
            grid.decimal = find_decimal([cell for column in block.columns for cell in _words(column)], findings)
        measured = range(len(grid.header)) if layout is None else layout.at("measurement")
        block = _without_summaries(block, set(measured), grid.decimal, layout is None, findings, drop_summary_rows)
        if not len(block.rows):
            continue
        if layout is None:
            layout = _usable(find_layout(grid, block, findings, **given), grid, findings)
            features = tuple(layout.at("measurement"))
            grid.plan = Plan(features, tuple(j for j in range(len(grid.header)) if j not in set(features)))
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


def _rows_of(block: Block, mask: np.ndarray) -> Block:
    chosen = np.flatnonzero(mask)
    columns: list[Column] = []
    for column in block.columns:  # of no length where it was not read
        columns.append(
            column[chosen] if isinstance(column, np.ndarray) else [column[i] for i in chosen.tolist() if len(column)]
        )
    return Block(block.rows[chosen], columns, block.progress)


def _words(column: Column) -> list[str]:
    return [] if isinstance(column, np.ndarray) else [cell.strip() for cell in column if isinstance(cell, str)]


def _without_summaries(
    block: Block, measured: set[int], decimal: str, first: bool, findings: Findings, drop: bool
) -> Block:
    """Find rows that hold a mean or a standard deviation instead of a measurement; drop them, or report them."""
    found: dict[int, str] = {}
    for j, column in enumerate(block.columns):
        if (j in measured and not first) or isinstance(column, np.ndarray):
            continue
        texts = [cell.strip() if isinstance(cell, str) and len(cell) < 60 else "" for cell in column]
        if _SUMMARY.search("\n".join(texts)):
            found |= {i: text for i, text in enumerate(texts) if _SUMMARY.fullmatch(text)}
    if not found:
        return block
    keep = np.ones(len(block.rows), dtype=bool)
    keep[list(found)] = False
    if not keep.any() and first:
        return block  # a table of nothing but means, and each row is one object
    words = ", ".join(dict.fromkeys(quoted(found[i]) for i in sorted(found)[: 4 * LISTED]))
    rows = _listed_rows([int(block.rows[i]) for i in sorted(found)])
    if drop:
        findings.note(f"left out as summaries ({words}), not measurements: {rows}", code="summary-rows")
    else:
        findings.problem(
            f"summaries ({words}), not measurements: {rows}; remove them, or choose drop_summary_rows=True",
            int(block.rows[min(found)]),
            code="summary-rows",
        )
    return _rows_of(block, keep)


def _listed_rows(rows: list[int]) -> str:
    more = f" and {len(rows) - LISTED} more" if len(rows) > LISTED else ""
    return f"row{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows[:LISTED]))}{more}"


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
    if not layout.at("measurement") and not findings.problems:
        hint = f" ({grid.columns_from()})" if isinstance(grid, TextGrid) else ""
        findings.problem(
            f"no column holds numbers to measure by{hint}; the header is {quoted(' | '.join(grid.header), 80)}"
        )
        for note in [note for note in findings.notes if note.message.startswith("not used as")][:REASONS]:
            findings.problem(note.message, note.row, note.column)
    return layout


def _part(grid: Grid, block: Block, layout: Layout, findings: Findings) -> Table:
    at = layout.at("measurement")
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
    levels: dict[str, Any] = {role: _texts(block, layout, role, findings) for role in LEVELS}
    ids = _texts(block, layout, "id", findings)
    labels = [texts for texts in levels.values() if texts is not None]
    if ids is None and labels:
        ids = tuple(map(" / ".join, zip(*labels, strict=True)))
    return Table(
        name=grid.name,
        ids=tuple(f"row {row}" for row in block.rows.tolist()) if ids is None else ids,
        features=features,
        X=X,
        rows=block.rows.astype(np.int64),
        **levels,
        order=_order(grid, block, layout, findings),
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
        rows = [row for row, text in zip(block.rows.tolist(), texts, strict=True) if not text]
        several = f" in {_listed_rows(rows)}: a label holds for its own row only" if len(rows) > 1 else ""
        findings.problem(f"the {role} is empty{several}; fill it in", rows[0], layout.header[at[0]], code="empty-label")
    return texts


def _order(grid: Grid, block: Block, layout: Layout, findings: Findings) -> np.ndarray | None:
    at = layout.at("order")
    if not at:
        return None
    values = order_values(block.columns[at[0]], grid.decimal)
    if values is None:
        findings.problem(
            "the order holds cells that are neither numbers nor dates such as 2024-05-06 10:30; correct them, or give"
            f" the role, such as roles={{{layout.header[at[0]]!r}: 'ignore'}}",
            int(block.rows[0]),
            layout.header[at[0]],
            code="order-not-sortable",
        )
    return np.full(len(block.rows), np.nan) if values is None else values


def joined(tables: list[Table]) -> Table:
    """Put the parts of one table together; rows with the same labels are told apart by their numbers."""
    table = _concatenated(tables) if len(tables) > 1 else tables[0]
    if "id" not in table.roles.values() and len(set(table.ids)) < len(table.ids):
        return replace(table, ids=tuple(f"{name} (row {row})" for name, row in zip(table.ids, table.rows, strict=True)))
    return table


def _concatenated(tables: list[Table]) -> Table:
    first = tables[0]
    below = order = None
    if any(table.below is not None for table in tables):
        below = np.concatenate([np.full(t.X.shape, np.nan) if t.below is None else t.below for t in tables])
    if first.order is not None:
        order = np.concatenate([table.order for table in tables if table.order is not None])
    levels: dict[str, Any] = {
        level: None if getattr(first, level) is None else tuple(text for t in tables for text in getattr(t, level))
        for level in LEVELS
    }
    return replace(
        first,
        ids=tuple(i for table in tables for i in table.ids),
        X=np.concatenate([table.X for table in tables]),
        rows=np.concatenate([table.rows for table in tables]),
        **levels,
        order=order,
        below=below,
    )


def report_duplicates(table: Table, findings: Findings) -> None:
    """Report every id that was used before."""
    if len(set(table.ids)) == len(table.ids):
        return
    column = next(name for name, role in table.roles.items() if role == "id")
    first: dict[str, int] = {}
    for name, row in zip(table.ids, table.rows, strict=True):
        if name in first:
            findings.problem(
                f"the id {quoted(name)} is already used in row {first[name]}; make ids unique, or, if these are"
                " replicates of one object, name the column as the fragment (fragment_column, --fragment-column)",
                int(row),
                column,
                code="duplicate-id",
            )
        first.setdefault(name, int(row))
