"""Rows that do not have the header's length: told one by one, or asked about once if the header seems to be a title."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from transvariation.tables.cells import MARKS, read_cells
from transvariation.tables.problems import Findings


def are_names(cells: Sequence[object]) -> bool:
    """Tell whether these may be the names of columns: two words or more and no number, with either decimal mark.

    >>> are_names(["id", "Na", ""]), are_names(["F1", "1,5"])
    (True, False)
    """
    filled = [cell for cell in cells if cell is not None and str(cell).strip()]
    looks = [read_cells(filled, mark) for mark in MARKS]
    return len(filled) > 1 and not any(np.isfinite(look.values).any() or look.below for look in looks)


def report_lengths(
    misfits: list[tuple[int, Sequence[object]]], n_rows: int, width: int, hint: str, findings: Findings
) -> None:
    """Report the rows, of `n_rows` in all, that do not fit a header of so many cells.

    Where most rows agree on another length and begin with names, these are the header, and what was taken for it is a
    title: the same complaint about every row would say nothing of it.
    """
    count = Counter(len(cells) for _, cells in misfits)
    length, times = max(count.items(), key=lambda item: item[1], default=(0, 0))
    row, first = next(((row, cells) for row, cells in misfits if len(cells) == length), (0, ()))
    if 2 * times > n_rows and are_names(first):
        findings.problem(
            f"the row has {length} cells but the header has {width}, and so it is with most rows; are there lines"
            " above the row of names? Remove them",
            row,
        )
        findings.check()
    for row, cells in misfits:
        findings.problem(f"the row has {len(cells)} cells but the header has {width}{hint}", row)
