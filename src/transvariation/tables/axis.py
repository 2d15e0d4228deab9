"""Spectra measured at other positions than wanted: interpolated to those within the range, else refused."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from transvariation._typing import Floats
from transvariation.tables.cells import Column, explain, read_cells
from transvariation.tables.columns import MIN_POSITIONS, position_of, split_unit
from transvariation.tables.grid import Block, Grid

COARSEST = 5.0  # times the wanted step: a wider gap between positions is a band that was not measured


class Resampling(NamedTuple):
    """Interpolation of the spectra in a table.

    Attributes
    ----------
    at : list of int
        The columns of positions, in rising order.
    own, wanted : ndarray of float
        Their positions, and those wanted.
    kept : list of int
        The other columns.
    header : list of str
        The names of the columns kept, then those of the positions wanted.
    """

    at: list[int]
    own: Floats
    wanted: Floats
    kept: list[int]
    header: list[str]

    def apply(self, grid: Grid, block: Block) -> Block:
        """Interpolate a block; cells that are no numbers are reported."""
        X = np.empty((len(block.rows), len(self.at)))
        for k, j in enumerate(self.at):
            X[:, k], _, faults = read_cells(block.columns[j], grid.decimal)
            for i, cell in faults.items():
                code, params = explain(cell, grid.decimal)
                grid.problems.add(code, int(block.rows[i]), grid.header[j], **params)
        spectra = np.array([np.interp(self.wanted, self.own, row) for row in X]).reshape(len(X), len(self.wanted))
        columns: list[Column] = [block.columns[j] for j in self.kept]
        return Block(block.rows, [*columns, *spectra.T], block.progress)


def find_resampling(grid: Grid, wanted: Sequence[str], *, all_needed: bool) -> Resampling | None:
    """Decide whether the spectra of a table are to be interpolated to the positions of variables.

    None if the table has these positions, or if it or the wanted variables are no spectra. Unless all are needed, so
    does a table of which most positions are wanted and some are missing: the others are compared.
    """
    names = {x: name for name in wanted if (x := position_of(split_unit(name)[0])) is not None}
    own = {x: j for j, name in enumerate(grid.header) if (x := position_of(split_unit(name)[0])) is not None}
    if len(names) < MIN_POSITIONS or len(own) < 2 or own.keys() >= names.keys():
        return None
    here, there = np.array(sorted(own)), np.array(sorted(names))
    inside = here[0] <= there[0] and there[-1] <= here[-1]
    gaps = np.diff(here[(here >= there[0] - np.diff(there)[0]) & (here <= there[-1] + np.diff(there)[-1])])
    is_fine = len(gaps) > 0 and gaps.max() <= COARSEST * np.median(np.diff(there))
    params = {"low": here[0], "high": here[-1], "first": there[0], "last": there[-1]}
    if inside and is_fine:
        grid.problems.note("resampled", n=len(here), m=len(there), **params)
        kept = [j for j in range(len(grid.header)) if j not in own.values()]
        header = [*(grid.header[j] for j in kept), *(names[x] for x in there)]
        return Resampling([own[x] for x in here], here, there, kept, header)
    if not all_needed and 2 * len(own.keys() & names.keys()) >= min(len(own), len(names)):
        return None
    raise grid.problems.stop("gap-in-axis" if inside else "outside-axis", **params)
