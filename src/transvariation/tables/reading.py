"""Read a file or DataFrame as a table, or list everything that is wrong with it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import chain, count
from typing import Any

import numpy as np

from transvariation._typing import Fields
from transvariation.tables.axis import Resampling, find_resampling, missing_bands
from transvariation.tables.cells import cell_text, explain, find_decimal, order_values, read_cells
from transvariation.tables.columns import LEVELS, TableColumn, find_columns, take_units
from transvariation.tables.grid import Block, Grid, Limits
from transvariation.tables.long_table import wide_blocks
from transvariation.tables.opening import TableSource, opened
from transvariation.tables.problems import Problem, Problems, TableError, row_list
from transvariation.tables.settings import TableSettings, with_fields
from transvariation.tables.table import Table, apply_policy, join
from transvariation.validation import blocks, check_count

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


_NUMBERED = re.compile(  # K1-1, K1 rep 2, K1_003, K1 (4), K1a
    r"(.*?\w)(?:[\s_./:#([-]+(?:rep|repl|r|run|m|meas|spot|shot|wdh|messung|no|nr)?[\s.#]*(0*\d{1,2})[)\]]?"
    r"|(?<=\d)([a-z]))",
    re.IGNORECASE,
)
_FIRST_RUN = re.compile(  # 012_K1, 013_K1
    r"(?:run|scan|spot|shot|line)?[\s_.#-]*(?P<number>\d+)[\s_.:#-]+(?P<rest>\S.*)", re.IGNORECASE
)
_LAST_RUN = re.compile(
    r"(?P<rest>.*\w)[\s_.:#-]+(?:run|scan|spot|shot|line)?[\s_.#-]*(?P<number>\d{3,})", re.IGNORECASE
)
_DATE = re.compile(  # 20260311, 2026-03-11, 11.03.2026
    r"[\s_.-]*(?<!\d)(?:20\d\d([-_.]?)[01]\d\1[0-3]\d|[0-3]?\d[./-][01]?\d[./-]20\d\d)(?!\d)[\s_.-]*"
)
_FILE = re.compile(r"\.(?:d|b|csv|txt|xlsx?|raw|dat|fin2)$", re.IGNORECASE)  # of an instrument: K1-1.d


@with_fields(TableSettings)
def read_table(
    source: TableSource,
    *,
    features: Sequence[str] | None = None,
    missing: str = "error",
    name: str | None = None,
    expect: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
    limits: Limits = Limits(),  # noqa: B008  # frozen
    settings: TableSettings | None = None,
    **fields: Any,
) -> Table:
    """Read a table with measurements in rows and variables in columns.

    Parameters
    ----------
    source : path, bytes, binary file or DataFrame
        CSV, TSV, Excel (.xlsx) or Parquet, recognized by content.
    features : sequence of str, default=None
        The columns to use as variables, with or without their units; None takes every column of numbers.
    missing : {"error", "drop", "impute", "keep"}, default="error"
        How missing and below-detection values are handled: reported; the row left out; half the detection limit
        and the median put in their place, unless nothing in the row was measured; or NaN.
    name : str, default=None
        What messages call the file.
    expect : sequence of str
        Names that are variables if present, even if most of their cells cannot be read.
    units : mapping of str to str, default=None
        The units that `features` are wanted in: they decide where the table has both ``Na (ppm)`` and ``Na (wt%)``.
    limits : Limits
        How large a table may be.
    settings : TableSettings, optional
        How the table is read. The fields below replace those of `settings`; any other keyword is refused.
    **fields

    Returns
    -------
    Table

    Raises
    ------
    TableError
        With every problem found, each with file, row and column.

    See Also
    --------
    transvariation.tables.read_pair : Control and recovered table together.
    transvariation.tables.read_chunks : A long table, block by block.

    Examples
    --------
    >>> from transvariation.tables import read_table
    >>> table = read_table(b"id;Na (wt%);Mg (wt%)\\nF1;13,64;4,49\\nF2;13,89;3,6\\n")
    >>> table.ids, table.features, dict(table.units)
    (('F1', 'F2'), ('Na', 'Mg'), {'Na': 'wt%', 'Mg': 'wt%'})
    >>> table.X.tolist()
    [[13.64, 4.49], [13.89, 3.6]]
    """
    how = TableSettings.build(settings, fields)
    taken = how.column_roles
    given = {"roles": taken, "features": features, "expect": expect, "units": units}
    with opened(source, name, limits, how) as grid:
        problems = grid.problems
        parts = (part for part, _ in _read_parts(grid, limits, None, given, how.drop_summary_rows))
        table = join(_up_to_fault(parts), notes=problems.notes)
    _report_duplicates(table, problems)
    if how.numbered_names == "replicates":
        table = by_numbered_names(table)
    elif how.numbered_names is None and not {"id", "fragment"} & set(taken.values()):
        _ask_about_names(table, problems)
    if problems.problems:
        try:
            apply_policy(table, missing)
        except TableError as error:
            problems.problems += error.problems
        raise TableError(problems.problems, partial=table)
    return apply_policy(table, missing)


@with_fields(TableSettings)
def read_chunks(
    source: TableSource,
    features: Sequence[str],
    *,
    rows: int | None = None,
    missing: str = "error",
    gaps: bool = False,
    units: Mapping[str, str] | None = None,
    progress: Callable[[float], None] | None = None,
    left_out: Callable[[tuple[str, ...]], None] | None = None,
    name: str | None = None,
    settings: TableSettings | None = None,
    **fields: Any,
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
    units, name, settings : optional
        As for :func:`read_table`.
    missing : {"error", "drop", "keep"}, default="error"
        As for :func:`read_table`; a block has no median to impute.
    gaps : bool, default=False
        Whether some of the features, if they are positions of a spectrum, may not be in the table: the blocks have the
        others, and a note names the bands that are missing; or the table's own positions, if these are farther apart.
    progress : callable, default=None
        Called after every block with the share of the file that was read.
    left_out : callable, default=None
        Called with the ids of the rows that were left out of a block because values are missing. A block of which
        nothing remains is not yielded; that nothing remains of the whole table is a problem.
    **fields

    Yields
    ------
    Table

    See Also
    --------
    transvariation.tables.read_table : The whole table at once.

    Examples
    --------
    >>> from transvariation.tables import read_chunks
    >>> file = b"id,Mg,Na\\nF1,1,2\\nF2,3,4\\nF3,5,6\\n"
    >>> for block in read_chunks(file, ["Na", "Mg"], rows=2):
    ...     print(block.ids, block.X.tolist())
    ('F1', 'F2') [[2.0, 1.0], [4.0, 3.0]]
    ('F3',) [[6.0, 5.0]]
    """
    if missing == "impute":
        raise ValueError('missing="impute" needs the whole table: use read_table, or fill in the NaN of missing="keep"')
    if rows is not None:
        check_count("rows", rows)
    limits = Limits(rows=2**62, cells=2**62)
    how = TableSettings.build(settings, fields)
    given = {"roles": how.column_roles, "features": features, "units": units}
    remaining = False
    with opened(source, name, limits, how) as grid:
        for part, done in _read_parts(grid, limits, rows, given, how.drop_summary_rows, gaps):
            grid.problems.check()
            found = part.lookup(features, units or {})  # all but missing bands are there, or there is a problem
            if len(found) < len(part.features):  # at positions that are farther apart
                found = {name: name for name in part.features}
            wanted = {name if name in (units or {}) else own: own for name, own in found.items()}
            block = apply_policy(join([part], notes=grid.problems.notes).select(wanted), missing, in_block=True)
            block = by_numbered_names(block) if how.numbered_names == "replicates" else block
            remaining = remaining or len(block) > 0
            if block.dropped and left_out is not None:
                left_out(block.dropped)
            if len(block):
                yield block
            if progress is not None:
                progress(done)
        if not remaining:
            grid.problems.add("all-dropped")
        grid.problems.check()
    if progress is not None:
        progress(1.0)


def _up_to_fault(parts: Iterator[Table]) -> Iterator[Table]:
    """Take the parts of a table before one that cannot be read, unless there is none or reading was stopped."""
    part = None
    try:
        for part in parts:
            yield part
    except TableError as error:
        if error.stopped or part is None:
            raise


def _read_parts(
    grid: Grid, limits: Limits, rows: int | None, given: Fields, drop_summary_rows: bool, gaps: bool = False
) -> Iterator[tuple[Table, float]]:
    """Turn blocks of cells into tables of numbers, with NaN where a value is missing."""
    columns: list[TableColumn] | None = None
    resampling: Resampling | None = None
    view = grid  # with the header of interpolated spectra, if they are
    for block in wide_blocks(grid, limits, {*given["roles"], *(given["features"] or ())}):
        if columns is None:
            block = take_units(grid, block)
        if not grid.decimal:
            words = chain.from_iterable(column.tolist() for column in block.columns if column.dtype == object)
            grid.decimal = find_decimal(words, grid.problems)
        block = _without_summaries(block, None if resampling else columns, grid.problems, drop_summary_rows)
        if not len(block.rows):
            continue
        if columns is None:
            wanted = given["features"] or given.get("expect", ())
            all_needed = given["features"] is not None and not gaps
            resampling, there = find_resampling(grid, wanted, given["units"] or {}, all_needed=all_needed)
            if given["features"] and len(there) < len(wanted):
                given = given | {"features": there}
                if all(note.code != "coarser" for note in grid.problems.notes):
                    grid.problems.note("missing-bands", **missing_bands(wanted, set(wanted) - set(there)))
            view = grid if resampling is None else copy(grid)
        if resampling is not None:
            block = resampling.apply(grid, block)
            view.header, view.decimal = resampling.header, grid.decimal
        if columns is None:
            columns = find_columns(view, block, **given)
            view.measured = [j for j, column in enumerate(columns) if column.role == "measurement"]
            if not view.measured:
                grid.problems.check()  # nothing to read further rows for
            if resampling is not None:
                grid.measured = sorted(resampling.at)
        for part in [block] if rows is None else map(block.keep, blocks(len(block.rows), rows)):
            yield _numbers(view, part, columns), block.progress
    if columns is None:
        grid.decimal = grid.decimal or "."
        nothing = np.empty(0, dtype=object)
        find_columns(grid, Block(np.empty(0, dtype=np.int64), [nothing] * len(grid.header)), **given)
        if not grid.problems.problems:
            grid.problems.add("no-rows")
        grid.problems.check()


def _without_summaries(block: Block, columns: list[TableColumn] | None, problems: Problems, drop: bool) -> Block:
    """Leave out rows that hold a mean or a standard deviation instead of a measurement, with a note or a problem."""
    found: dict[int, str] = {}
    for j, column in enumerate(block.columns):
        if column.dtype != object or (columns is not None and columns[j].role == "measurement"):
            continue
        texts = [cell.strip() if isinstance(cell, str) and len(cell) < 60 else "" for cell in column.tolist()]
        if _HINT.search("\n".join(texts).lower()):  # a quick look, before one at every cell
            found |= {i: text for i, text in enumerate(texts) if _SUMMARY.fullmatch(text.lower())}
    if not found or (columns is None and len(found) == len(block.rows)):  # each row is the mean of one sample
        return block
    at = sorted(found)
    rows = block.rows[at].tolist()
    values: Fields = {"words": list(dict.fromkeys(found[i] for i in at))[:5], "rows": row_list(rows)}
    if drop:
        problems.note("summary-rows-dropped", **values)
    else:
        problems.add("summary-rows", rows[0], remedy="drop-summary-rows", **values)
    return block.keep(np.delete(np.arange(len(block.rows)), at))


def _numbers(grid: Grid, block: Block, columns: list[TableColumn]) -> Table:
    """Read a block: measurements, labels and order."""
    measured, problems = [columns[j] for j in grid.measured], grid.problems
    X = np.full((len(block.rows), len(measured)), np.nan)
    below: np.ndarray | None = None
    for k, column in enumerate(measured):
        X[:, k], limits, faults = read_cells(block.columns[column.number - 1], grid.decimal)
        if limits:
            below = np.full(X.shape, np.nan) if below is None else below
            below[list(limits), k] = list(limits.values())
        for i, cell in faults.items():
            code, params = explain(cell, grid.decimal)
            problems.add(code, int(block.rows[i]), column.header, **params)
            X[i, k] = np.inf  # reported already, so not to be called missing as well
    labels: Fields = {}
    order = None
    for column in columns:
        cells = block.columns[column.number - 1]
        if column.role in ("id", *LEVELS):
            labels[column.role] = texts = tuple(map(cell_text, cells.tolist()))
            if not all(texts):
                rows = [row for row, text in zip(block.rows.tolist(), texts, strict=True) if not text]
                problems.add("empty-label", rows[0], column.header, role=column.role, rows=row_list(rows))
        elif column.role == "order":
            order = order_values(cells, grid.decimal)
            for i in np.flatnonzero(~np.isfinite(order))[:1]:
                value = cell_text(cells[i])
                problems.add("order", int(block.rows[i]), column.header, remedy="give-role", value=value)
    ids = labels.pop("id", None)
    if ids is None:
        named = [labels[level] for level in LEVELS if level in labels]
        ids = tuple(map(" / ".join, zip(*named, strict=True)) if named else map("row {}".format, block.rows.tolist()))
    return Table(
        name=problems.table,
        ids=ids,
        features=tuple(column.name for column in measured),
        X=X,
        rows=block.rows,
        **labels,
        order=order,
        units={column.name: column.unit for column in measured if column.unit},
        headers={column.name: column.header for column in measured},
        roles={column.header: column.role for column in columns},
        below=below,
        sha256=grid.sha256,
    )


def _divided(names: Sequence[str]) -> list[tuple[str, str] | None]:
    """Divide names into those of fragments and the numbers, or letters, of replicates; None for other names.

    Dates do not count, except in names of a date and a number only, nor does a number of its own that each begins or
    ends with, such as that of an instrument's run: equal rests are one fragment.
    """
    stems = [_FILE.sub("", name) for name in names]
    plain = [_DATE.sub(" ", name).strip() for name in stems]
    if all(re.fullmatch(r"\W*\d+", name) for name in plain):
        plain = stems
    for pattern in (_FIRST_RUN, _LAST_RUN):
        runs = [run for name in plain if (run := pattern.fullmatch(name))]
        if len({run["number"] for run in runs}) == len(names):
            plain = [run["rest"] for run in runs]
    if len(set(plain)) < len(set(names)):
        counts: dict[str, Iterator[int]] = defaultdict(lambda: count(1))
        return [(name, str(next(counts[name]))) for name in plain]
    found = [_NUMBERED.fullmatch(name) for name in plain]
    return [(match[1], match[2] or match[3]) if match else None for match in found]


def by_numbered_names(table: Table) -> Table:
    """Take the numbers in the names of a table for those of replicates; names without a number are single fragments."""
    names = table.ids if table.fragment is None else table.fragment
    found = _divided(names)
    if table.replicate is not None or not any(found):
        return table
    fragments, replicates = zip(*(each or (name, "1") for each, name in zip(found, names, strict=True)), strict=True)
    note = Problem("numbered-replicates", table.name, params={"names": list(names[:3])})
    return replace(table, fragment=fragments, replicate=replicates, notes=(*table.notes, note))


def _ask_about_names(table: Table, problems: Problems) -> None:
    """Report names that end in a number from 1 on, or in a letter from a on, for each of several beginnings.

    A single beginning is only asked about if it has a number itself, as K1 in K1-1; Glass 1, Glass 2 are samples. If it
    is a date, the numbers may begin with any. Where the beginnings are the sources, the numbers count fragments.
    """
    names = table.ids if table.fragment is None else table.fragment
    column = next((header for header, role in table.roles.items() if role in ("id", "fragment")), None)
    if column is None or table.replicate is not None or len(set(names)) < len(names):
        return
    numbers: dict[str, list[int]] = {}
    for each in _divided(names):
        if each is None or not (re.search(r"[^\W\d_]", each[0]) or _DATE.fullmatch(each[0])):
            return
        stem, number = each
        numbers.setdefault(stem, []).append(int(number) if number.isdigit() else ord(number.lower()) - ord("a") + 1)
    if set(numbers) <= set(table.source or ()):
        return
    runs = [stem for stem, own in numbers.items() if sorted(own) == list(range(min(own), min(own) + len(own)))]
    several = [
        stem for stem in runs if 2 <= len(numbers[stem]) <= 20 and (min(numbers[stem]) == 1 or _DATE.fullmatch(stem))
    ]
    if several and 2 * len(several) >= len(numbers) and (len(numbers) > 1 or re.search(r"\d", several[0])):
        problems.add("numbered-names", None, column, remedy="numbered-names", names=list(names[:3]))


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
