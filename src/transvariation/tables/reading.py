"""READ: a file or DataFrame becomes a table, or a list of everything that is wrong with it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from transvariation.tables.grid import Limits, block_rows
from transvariation.tables.levels import joined, read_parts, report_duplicates
from transvariation.tables.missing import apply_policy, check_policy, gaps, nothing_remains
from transvariation.tables.opening import Source, opened
from transvariation.tables.problems import TableError
from transvariation.tables.table import Table


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
    with opened(source, name, limits, sheet=sheet, delimiter=delimiter, decimal=decimal, encoding=encoding) as (
        grid,
        find,
    ):
        named = {"id": id_column, "source": source_column, "fragment": fragment_column}
        taken = {column: role for role, column in named.items() if column is not None} | dict(roles or {})
        given = {"roles": taken, "features": features, "expect": expect, "units": units, "decimal": decimal}
        parts: list[Table] = []
        try:
            for part, _ in read_parts(grid, find, limits, block_rows(len(grid.header)), given, drop_summary_rows):
                parts.append(part)
        except TableError as error:
            if error.stopped or not parts:
                raise
        table = replace(joined(parts), sha256=grid.sha256, notes=tuple(find.notes))
        report_duplicates(table, find)
    if find.problems:
        raise TableError(find.problems + gaps(table, missing), partial=table)
    return apply_policy(table, missing, reference)


def read_chunks(
    source: Source,
    features: Sequence[str],
    *,
    rows: int | None = None,
    id_column: str | None = None,
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
    source, id_column, missing, units, name, sheet, delimiter, decimal, encoding
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
    with opened(source, name, limits, sheet=sheet, delimiter=delimiter, decimal=decimal, encoding=encoding) as (
        grid,
        find,
    ):
        given = {"roles": {} if id_column is None else {id_column: "id"}, "features": features, "units": units}
        remaining = False
        for part, done in read_parts(grid, find, limits, rows or block_rows(len(grid.header)), given):
            find.check()
            names = part.found(features, units or {})  # all are there, or find knows of it
            own = {name: wanted for name, wanted in zip(names, features, strict=True) if wanted in (units or {})}
            block = apply_policy(part.select(names).rename(own), missing, reference, in_block=True)
            remaining = remaining or len(block) > 0
            if block.dropped and left_out is not None:
                left_out(block.dropped)
            if len(block):
                yield block
            if progress is not None:
                progress(done)
        if not remaining:
            nothing_remains(find, missing, impute=reference is not None)
        find.check()
