"""Treat missing and below-detection values by a policy that the caller names."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from transvariation.tables.problems import Problem, Problems, TableError, row_list
from transvariation.tables.table import Table

POLICIES = ("error", "drop", "impute", "keep")

Filling = Mapping[str, Mapping[str, float]]


def check_policy(missing: str) -> None:
    """Raise ValueError for a policy that does not exist."""
    if missing not in POLICIES:
        raise ValueError(f"missing={missing!r} is unknown; choose one of {', '.join(POLICIES)}")


def filling(control: Table) -> dict[str, dict[str, float]]:
    """Compute what replaces values that are not there, from the control table.

    For each feature: ``median``, the median of its measured values, and ``limit``, the detection limit to suppose where
    a file has "not detected" without a number: the smallest limit stated in the column, else the smallest positive
    measured value.

    Examples
    --------
    >>> from transvariation.tables import read_table
    >>> filling(read_table(b"Na,Fe\\n1,<0.02\\n2,0.1\\n4,0.3\\n", missing="keep"))
    {'Na': {'median': 2.0, 'limit': 1.0}, 'Fe': {'median': 0.2, 'limit': 0.02}}
    """
    result: dict[str, dict[str, float]] = {}
    for j, name in enumerate(control.features):
        values = control.X[:, j]
        measured = values[np.isfinite(values)]
        limits = control.below[:, j] if control.below is not None else np.empty(0)
        stated = limits[limits > 0]
        positive = measured[measured > 0]
        entry = {}
        if len(measured):
            entry["median"] = float(np.median(measured))
        if len(stated) or len(positive):
            entry["limit"] = float(stated.min() if len(stated) else positive.min())
        result[name] = entry
    return result


def apply_policy(
    table: Table, missing: str, reference: Table | Filling | None = None, *, in_block: bool = False
) -> Table:
    """Deal with the NaN in a table that was read with ``missing="keep"``.

    Parameters
    ----------
    missing : {"error", "drop", "impute", "keep"}
        ``"error"`` raises a :class:`TableError` that lists every such cell; ``"drop"`` leaves those objects out;
        ``"impute"`` puts half the detection limit below it and the reference's median elsewhere, and leaves out objects
        of which nothing was measured.
    reference : Table or mapping, default=None
        The control table, or what :func:`filling` gave for it; None is the table itself.
    in_block : bool, default=False
        Whether the table is one block of several: nothing may remain of it, and it is nothing to impute from.
    """
    check_policy(missing)
    holes = np.isnan(table.X)
    if missing == "keep" or not holes.any():
        return table
    problems = Problems(table.name)
    can_impute = reference is not None or not in_block  # only then is it worth advising
    censored = np.zeros_like(holes) if table.below is None else ~np.isnan(table.below)
    if missing == "error":
        _report(table, holes, censored, problems, can_impute, in_block)
    # An object without any measured value would be judged by nothing but the control's medians.
    bad = np.asarray(holes.any(axis=1) if missing == "drop" else (holes & ~censored).all(axis=1))
    result = _without(table, bad, holes, censored, problems)
    if missing == "impute":
        source = reference if reference is not None else table
        fill = filling(source) if isinstance(source, Table) else source
        result = _imputed(result, holes[~bad], censored[~bad], fill, problems)
    if not in_block and not len(result):
        nothing_remains(problems, missing, can_impute)
    problems.check()
    return replace(result, notes=table.notes + tuple(problems.notes))


def gaps(table: Table, missing: str) -> list[Problem]:
    """List what the policy would object to in a table that is already known to be faulty."""
    try:
        apply_policy(table, missing)
    except TableError as error:
        return error.problems
    return []


def nothing_remains(problems: Problems, missing: str, can_impute: bool) -> None:
    """Report that objects were left out until there was none."""
    if missing == "impute":
        problems.add("nothing-measured")
    else:
        problems.add("all-dropped", remedy="impute" if can_impute else "")


def _report(
    table: Table, holes: np.ndarray, censored: np.ndarray, problems: Problems, can_impute: bool, in_block: bool
) -> None:
    empty = (holes & ~censored).all(axis=0) & (len(table) > 1 and not in_block)
    for j in np.flatnonzero(empty):
        problems.add("empty-column", None, table.header(table.features[j]))
    for i, j in np.argwhere(holes & ~empty):
        problems.add(
            "below-detection" if censored[i, j] else "missing",
            int(table.rows[i]),
            table.header(table.features[j]),
            remedy="drop-or-impute" if can_impute else "drop",
        )


def _without(table: Table, bad: np.ndarray, holes: np.ndarray, censored: np.ndarray, problems: Problems) -> Table:
    """Leave objects out, and name each with the first value that it lacks."""
    at = np.flatnonzero(bad)
    for i in at:
        j = int(np.argmax(holes[i]))
        what = "below detection" if censored[i, j] else "missing"
        what = "nothing was measured" if (holes[i] & ~censored[i]).all() else what
        problems.note("dropped", int(table.rows[i]), table.header(table.features[j]), value=table.ids[i], reason=what)
    return replace(table.keep(~bad), dropped=table.dropped + tuple(table.ids[i] for i in at)) if len(at) else table


def _imputed(table: Table, holes: np.ndarray, censored: np.ndarray, fill: Filling, problems: Problems) -> Table:
    X = table.X.copy()
    for j in np.flatnonzero(holes.any(axis=0)):
        name = table.features[j]
        entry, header = fill.get(name, {}), table.header(name)
        low, gone = holes[:, j] & censored[:, j], holes[:, j] & ~censored[:, j]
        if low.any() and table.below is not None:
            limits = table.below[:, j][low]
            if (limits == 0).any() and "limit" not in entry:
                problems.add("unknown-limit", None, header)
                continue
            X[low, j] = np.where(limits > 0, limits, entry.get("limit", np.nan)) / 2
            problems.note("imputed-limit", None, header, n=int(low.sum()), rows=row_list(table.rows[low].tolist()))
        if gone.any():
            if "median" not in entry:
                problems.add("no-median", None, header)
                continue
            X[gone, j] = entry["median"]
            rows = row_list(table.rows[gone].tolist())
            problems.note("imputed-median", None, header, n=int(gone.sum()), median=entry["median"], rows=rows)
    return replace(table, X=X, filled=holes & ~censored)
