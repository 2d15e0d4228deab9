"""Gather the rows of a table into fragments, the units that are judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from transvariation._typing import Fields, Floats, Indices
from transvariation.casework.background.pairs import Source
from transvariation.casework.errors import CaseError
from transvariation.tables import Table

LARGEST_MEASUREMENT = 1e100  # measurements; squares of larger ones overflow
LARGEST_LOGARITHM = 100.0


@dataclass(frozen=True)
class Fragments:
    """Fragments of one table."""

    names: tuple[str, ...]
    sources: tuple[str | None, ...]  # of each fragment; None where the table does not name it
    rows: tuple[Indices, ...]  # of each fragment: its replicates
    X: Floats  # all rows, on the scale on which fragments are judged

    @cached_property
    def replicates(self) -> list[Floats]:
        """The measurements of each fragment."""
        return [self.X[at] for at in self.rows]

    @cached_property
    def means(self) -> Floats:
        """The mean of each fragment, of shape (fragments, p)."""
        return np.array([x.mean(axis=0) for x in self.replicates])

    @property
    def n_replicates(self) -> int:
        """The number of replicates of every fragment that would make the mean of all as precise, rounded."""
        return round(len(self.rows) / sum(1 / len(rows) for rows in self.rows))

    def by_source(self) -> list[Source]:
        """List the fragments of each source; if every source has a single fragment, its replicates."""
        sources: dict[str, list[Floats]] = {}
        for source, name, x in zip(self.sources, self.names, self.replicates, strict=True):
            sources.setdefault(source or name, []).append(x)
        if all(len(fragments) == 1 for fragments in sources.values()):
            return [list(fragments[0][:, None, :]) for fragments in sources.values()]
        return list(sources.values())


def gather_fragments(X: Floats, keys: Sequence[str], sources: Sequence[str] | None = None) -> Fragments:
    """Collect the rows of each fragment, in order of appearance, by the fragment and the source of every row."""
    found: dict[str, list[int]] = {}
    for i, key in enumerate(keys):
        found.setdefault(key, []).append(i)
    owners = tuple(None if sources is None else sources[at[0]] for at in found.values())
    rows = tuple(np.array(at, dtype=np.intp) for at in found.values())
    return Fragments(tuple(found), owners, rows, X)


def fragments_of(table: Table, role: str, *, log: bool, logged: bool) -> Fragments:
    """Collect the fragments of a table, on a log scale if it is asked for, and refuse numbers that no measurement has.

    Without a fragment column, rows with the same source are replicates of one item, except that in a background, a
    foreign table, and a control with a single source, every row is a fragment unless there is a replicate column.
    """
    if logged or role != "recovered":  # measurements of a recovered fragment may be of any size: it is excluded
        _check_size(table, logged)
    keys = table.fragment_names
    if keys is None and table.source is not None:
        several = role == "recovered" or (role == "control" and len(set(table.source)) > 1)
        keys = table.source if several or table.replicate is not None else None
    return gather_fragments(_logarithms(table) if log else table.X, keys or table.ids, table.source)


def _logarithms(table: Table) -> Floats:
    if (table.X <= 0).any():
        i, j = np.argwhere(table.X <= 0)[0]
        raise CaseError("no-logarithm", remedy="no-log", **_cell(table, i, j))
    return np.log10(table.X)


def _check_size(table: Table, are_logarithms: bool) -> None:
    """Refuse codes for missing values, and contents that are taken for logarithms."""
    too_large = np.argwhere(np.abs(table.X) > (LARGEST_LOGARITHM if are_logarithms else LARGEST_MEASUREMENT))
    if not len(too_large):
        return
    i, j = too_large[0]
    code, remedy = ("not-a-logarithm", "log") if are_logarithms else ("not-a-measurement", "")
    raise CaseError(code, remedy=remedy, **_cell(table, i, j))


def _cell(table: Table, i: int, j: int) -> Fields:
    row, value = int(table.rows[i]), float(table.X[i, j])
    return {"table": table.name, "row": row, "variable": table.features[j], "value": value}
