"""Read a file or DataFrame as a table, or list everything that is wrong with it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from transvariation.tables.cells import cell_text, cell_texts, explain, find_decimal, order_values, read_cells
from transvariation.tables.columns import LEVELS, Layout, find_layout, take_units
from transvariation.tables.grid import Block, Grid, Limits
from transvariation.tables.opening import Source, opened
from transvariation.tables.problems import Problems, TableError, row_list
from transvariation.tables.table import Table, apply_policy, join, nothing_remains

BLOCK_CELLS = 1_000_000  # a block of text cells this large takes about 100 MB

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
        How missing and below-detection values are handled: reported; the object left out; half the detection limit
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
    named = {"id": id_column, "source": source_column, "fragment": fragment_column}
    taken = {column: role for role, column in named.items() if column is not None} | dict(roles or {})
    given = {"roles": taken, "features": features, "expect": expect, "units": units}
    how: dict[str, Any] = {"sheet": sheet, "delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    with opened(source, name, limits, **how) as grid:
        problems, parts = grid.problems, []
        try:
            for part, _ in _read_parts(grid, limits, None, given, drop_summary_rows):
                parts.append(part)
        except TableError as error:
            if error.stopped or not parts:
                raise
        table = join(parts, notes=problems.notes)
        _report_duplicates(table, problems)
    if problems.problems:
        try:
            apply_policy(table, missing)
        except TableError as error:
            problems.problems += error.problems
        raise TableError(problems.problems, partial=table)
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
    **how: Any,
) -> Iterator[Table]:
    """Read a table larger than memory, a block of rows at a time.

    Problems are raised with the first block that has any, all of that block's at once. Ids are not compared between
    blocks.

    Parameters
    ----------
    source : path, bytes, binary file or DataFrame
        As for :func:`read_table`.
    features : sequence of str
        The columns wanted, in the order wanted.
    rows : int, default=None
        Rows per block; None suits the number of columns.
    id_column, roles, drop_summary_rows, missing, units, name : optional
        As for :func:`read_table`.
    reference : Table or mapping
        Required by ``missing="impute"``: a block cannot know the control's median.
    progress : callable, default=None
        Called after every block with the share of the file that was read.
    left_out : callable, default=None
        Called with the ids of the objects that were left out of a block because values are missing. A block of which
        nothing remains is not yielded; that nothing remains of the whole table is a problem.
    **how
        ``sheet``, ``delimiter``, ``decimal`` and ``encoding``, as for :func:`read_table`.

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
    if missing == "impute" and reference is None:
        raise ValueError('missing="impute" in blocks needs reference=: the control table or its filling()')
    limits = Limits(rows=2**62, cells=2**62)
    taken = ({} if id_column is None else {id_column: "id"}) | dict(roles or {})
    given = {"roles": taken, "features": features, "units": units}
    units, remaining = units or {}, False
    with opened(source, name, limits, **how) as grid:
        for part, done in _read_parts(grid, limits, rows, given, drop_summary_rows):
            grid.problems.check()
            names = part.found(features, units)  # all are there, or there is a problem
            own = {name: wanted for name, wanted in zip(names, features, strict=True) if wanted in units}
            block = apply_policy(join([part]).select(names).rename(own), missing, reference, in_block=True)
            remaining = remaining or len(block) > 0
            if block.dropped and left_out is not None:
                left_out(block.dropped)
            if len(block):
                yield block
            if progress is not None:
                progress(done)
        if not remaining:
            nothing_remains(grid.problems, missing, reference is not None)
        grid.problems.check()


def _read_parts(
    grid: Grid, limits: Limits, rows: int | None, given: dict[str, Any], drop_summary_rows: bool
) -> Iterator[tuple[Table, float]]:
    """Turn blocks of cells into tables of numbers, with NaN where a value is missing."""
    layout: Layout | None = None
    n, most = 0, min(limits.rows, limits.cells // len(grid.header))
    for block in grid.blocks(rows or max(16, BLOCK_CELLS // len(grid.header))):
        n += len(block.rows)
        if max(n, grid.n_rows) > most:
            raise grid.problems.stop("too-many-rows", remedy="read-chunks", n=most)
        if layout is None:
            block = take_units(grid, block)
        if not grid.decimal:
            words = chain.from_iterable(column for column in block.columns if not isinstance(column, np.ndarray))
            grid.decimal = find_decimal([cell.strip() for cell in words if isinstance(cell, str)], grid.problems)
        block = _without_summaries(block, layout, grid.problems, drop_summary_rows)
        if not len(block.rows):
            continue
        if layout is None:
            layout = find_layout(grid, block, **given)
            grid.measured = layout.at["measurement"]
        yield _numbers(grid, block, layout), block.progress
    if layout is None:
        grid.decimal = grid.decimal or "."
        find_layout(grid, Block(np.empty(0, dtype=np.int64), [()] * len(grid.header)), **given)
        if not grid.problems.problems:
            grid.problems.add("no-rows")
        grid.problems.check()


def _without_summaries(block: Block, layout: Layout | None, problems: Problems, drop: bool) -> Block:
    """Leave out rows that hold a mean or a standard deviation instead of a measurement, with a note or a problem."""
    found: dict[int, str] = {}
    measured = set() if layout is None else set(layout.at["measurement"])
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
    return block.keep([i for i in range(len(block.rows)) if i not in found])


def _numbers(grid: Grid, block: Block, layout: Layout) -> Table:
    at, problems = layout.at["measurement"], grid.problems
    X = np.full((len(block.rows), len(at)), np.nan)
    below: np.ndarray | None = None
    for k, j in enumerate(at):
        X[:, k], limits, faults = read_cells(block.columns[j], grid.decimal)
        if limits:
            below = np.full(X.shape, np.nan) if below is None else below
            below[list(limits), k] = list(limits.values())
        for i, cell in faults.items():
            code, params = explain(cell, grid.decimal)
            problems.add(code, int(block.rows[i]), layout.header[j], **params)
            X[i, k] = np.inf  # reported already, so not to be called missing as well
    levels: dict[str, Any] = {role: _labels(block, layout, role, problems) for role in LEVELS}
    ids = _labels(block, layout, "id", problems)
    labels = [texts for texts in levels.values() if texts is not None]
    if ids is None:
        ids = tuple(map(" / ".join, zip(*labels, strict=True)) if labels else map("row {}".format, block.rows.tolist()))
    return Table(
        name=problems.table,
        ids=ids,
        features=tuple(layout.names[j] for j in at),
        X=X,
        rows=block.rows.astype(np.int64),
        **levels,
        order=_order(grid, block, layout),
        units={layout.names[j]: layout.units[j] for j in at if layout.units[j]},
        headers={layout.names[j]: layout.header[j] for j in at},
        roles=dict(zip(layout.header, layout.roles, strict=True)),
        below=below,
        sha256=grid.sha256,
    )


def _labels(block: Block, layout: Layout, role: str, problems: Problems) -> tuple[str, ...] | None:
    for j in layout.at[role]:
        texts = cell_texts(block.columns[j])
        if not all(texts):
            rows = [row for row, text in zip(block.rows.tolist(), texts, strict=True) if not text]
            problems.add("empty-label", rows[0], layout.header[j], role=role, rows=row_list(rows))
        return texts
    return None


def _order(grid: Grid, block: Block, layout: Layout) -> np.ndarray | None:
    for j in layout.at["order"]:
        values = order_values(block.columns[j], grid.decimal)
        for i in np.flatnonzero(~np.isfinite(values))[:1]:
            cell = cell_text(block.columns[j][i])
            grid.problems.add("order", int(block.rows[i]), layout.header[j], remedy="give-role", value=cell)
        return values
    return None


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
