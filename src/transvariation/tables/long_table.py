"""Tables of one value per row, with a column that names the variable: turned into one column per variable."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from transvariation._typing import Fields
from transvariation.tables.cells import Cells, cell_text, read_cells
from transvariation.tables.grid import Block, Grid, Limits
from transvariation.tables.headers import is_chemical, is_label_name, is_unit, key, split_unit

_VARIABLE = {"element", "elements", "analyte", "analyt", "isotope", "oxide", "variable", "parameter", "feature"}
_VALUE = {"value", "wert", "concentration", "conc", "konzentration", "content", "gehalt", "result", "ergebnis"}

MOST_PIVOTED = 20_000_000  # cells of a long table once it has a column per variable


def wide_blocks(grid: Grid, limits: Limits, given: Collection[str]) -> Iterator[Block]:
    """Read the blocks of a table; of a long one, a single block with a column per variable, and the grid's new header.

    None of the given columns, which have a role or are to be measured by, names the variables.
    """
    blocks = grid.bounded_blocks(limits)
    first = next(blocks, None)
    if first is None:
        return
    found = _find(grid, first, given)
    if found is None:
        yield first
        yield from blocks
        return
    parts = [first, *blocks]
    rows = np.concatenate([part.rows for part in parts])
    columns = [np.concatenate([part.columns[j] for part in parts]) for j in range(len(grid.header))]
    yield _pivoted(grid, Block(rows, columns), *found)


def _find(grid: Grid, block: Block, given: Collection[str]) -> tuple[int, int, list[int]] | None:
    """Find the columns of variables and of values, and those that name the sample; None if the table is not long."""
    header = grid.header
    names = next((j for j, name in enumerate(header) if name not in given and _names_variables(name, block, j)), None)
    if names is None:
        return None
    cells = {j: read_cells(block.columns[j], grid.decimal or ".") for j in range(len(header)) if j != names}
    numeric = [j for j, read in cells.items() if _may_be_numbers(read) and not is_label_name(header[j])]
    values = [j for j in numeric if key(split_unit(header[j])[0]) in _VALUE or is_unit(header[j])]
    measured = [j for j in numeric if not _is_whole(cells[j])]
    values = values or measured
    if len(values) > 1:
        columns = [header[j] for j in values]
        raise grid.problems.stop("long-table-unclear", None, header[names], columns=columns)
    if not values:
        return None
    labels = [j for j in cells if j not in values and j not in measured]
    for j in measured:
        if j not in values:
            grid.problems.note("unused-uncertainty", None, header[j], variable=header[values[0]])
    return names, values[0], labels


def _names_variables(name: str, block: Block, j: int) -> bool:
    """Return whether a column names elements or other variables, each of them several times."""
    column = block.columns[j]
    if column.dtype != object or not len(column):
        return False
    labels = [cell_text(cell) for cell in column.tolist()]
    distinct = set(labels)
    if not 1 < len(distinct) < len(labels):
        return False
    if key(name) in _VARIABLE:
        return True
    return sum(is_chemical(split_unit(label)[0]) for label in distinct) >= 0.8 * len(distinct)


def _may_be_numbers(read: Cells) -> bool:
    """Return whether most cells are numbers, with a decimal comma or a decimal point."""
    return read.are_numbers or (
        bool(read.faults)
        and read_cells(np.array(list(read.faults.values()), dtype=object), ",").n_numbers >= 0.5 * len(read.faults)
    )


def _is_whole(read: Cells) -> bool:
    values = read.values[np.isfinite(read.values)]
    return not read.faults and bool((values == np.round(values)).all())


def _pivoted(grid: Grid, block: Block, names: int, value: int, labels: Sequence[int]) -> Block:
    """Put the values of each sample in one row; change the header of the grid accordingly."""
    unit = grid.header[value] if is_unit(grid.header[value]) else split_unit(grid.header[value])[1]
    texts = [[cell_text(cell) for cell in block.columns[j].tolist()] for j in labels]
    samples: dict[tuple[str, ...], int] = {}
    variables: dict[str, int] = {}
    places: dict[tuple[int, int], int] = {}
    first: list[int] = []
    for i, (label, name) in enumerate(
        zip(zip(*texts, strict=True) if texts else [()] * len(block.rows), block.columns[names].tolist(), strict=True)
    ):
        if label not in samples:
            first.append(i)
        at = samples.setdefault(label, len(samples)), variables.setdefault(cell_text(name), len(variables))
        if at in places:
            said: Fields = {
                "name": cell_text(name),
                "label": " / ".join(label),
                "first": int(block.rows[places[at]]),
            }
            grid.problems.add("long-table-twice", int(block.rows[i]), grid.header[value], **said)
        places.setdefault(at, i)
    if "" in variables:
        empty = block.rows[[i for (_, variable), i in places.items() if variable == variables[""]]]
        grid.problems.add("empty-label", int(empty[0]), grid.header[names], role="variable", rows=f"row {empty[0]}")
    if len(variables) * len(samples) > MOST_PIVOTED:
        n: Fields = {"rows": len(block.rows), "samples": len(samples), "variables": len(variables)}
        raise grid.problems.stop("long-table-sparse", None, grid.header[names], **n)
    cells = np.full((len(variables), len(samples)), None, dtype=object)
    for (row, variable), i in places.items():
        cells[variable, row] = block.columns[value][i]
    params = {"name": grid.header[names], "value": grid.header[value], "columns": list(variables)[:6]}
    grid.problems.note("long-table", None, grid.header[names], **params)
    grid.header = [
        *(grid.header[j] for j in labels),
        *(f"{name} ({unit})" if unit and not split_unit(name)[1] else name for name in variables),
    ]
    return Block(block.rows[first], [*(block.columns[j][first] for j in labels), *cells])
