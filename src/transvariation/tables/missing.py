"""Missing and below-detection values, by a policy that the caller names."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from transvariation.tables.problems import Findings, Problem, TableError
from transvariation.tables.table import Table

POLICIES = ("error", "drop", "impute", "keep")

Filling = Mapping[str, Mapping[str, float]]


def check_policy(missing: str) -> None:
    """Refuse a policy that does not exist."""
    if missing not in POLICIES:
        raise ValueError(f"missing={missing!r} is unknown; choose one of {', '.join(POLICIES)}")


def filling(control: Table) -> dict[str, dict[str, float]]:
    """Work out what to put in the place of values that are not there, from the control table.

    For each feature: ``median``, the median of its measured values, and ``limit``, the detection limit to suppose where
    a file says "not detected" without a number: the smallest limit stated in the column, else the smallest positive
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
    impute = reference is not None or not in_block  # only then is it worth advising
    holes = np.isnan(table.X)
    if missing == "keep" or not holes.any():
        return table
    findings = Findings(table.name)
    censored = np.zeros_like(holes) if table.below is None else ~np.isnan(table.below)
    if missing == "error":
        _report(table, holes, censored, findings, impute)
    # An object of which nothing was measured would be judged by the control's medians alone.
    bad = np.asarray(holes.any(axis=1) if missing == "drop" else (holes & ~censored).all(axis=1))
    result = _without(table, bad, holes, censored, findings)
    if missing == "impute":
        source = reference if reference is not None else table
        fill = filling(source) if isinstance(source, Table) else source
        result = _imputed(result, holes[~bad], censored[~bad], fill, findings)
    if not in_block and not len(result):
        nothing_remains(findings, missing, impute)
    findings.check()
    return replace(result, notes=table.notes + tuple(findings.notes))


def gaps(table: Table, missing: str) -> list[Problem]:
    """List what the policy would object to in a table that is already known to be faulty."""
    try:
        apply_policy(table, missing)
    except TableError as error:
        return error.problems
    return []


def nothing_remains(findings: Findings, missing: str, impute: bool) -> None:
    """Report that objects were left out until there was none."""
    if missing == "impute":
        findings.problem("no object has a measured value, so that there is none to fill in")
        return
    advice = '; try missing="impute"' if impute else ""
    findings.problem(f"every object has a missing value, so that dropping them leaves none{advice}")


def _report(table: Table, holes: np.ndarray, censored: np.ndarray, findings: Findings, impute: bool) -> None:
    advice = 'choose missing="drop"' + (' or missing="impute"' if impute else "")
    empty = (holes & ~censored).all(axis=0) & (len(holes) > 1)
    for j in np.flatnonzero(empty):
        findings.problem(
            "the column is empty: no object has a value; fill it in, or leave the column out of the features",
            None,
            table.header(table.features[j]),
            code="empty-column",
        )
    for i, j in np.argwhere(holes & ~empty):
        what = "the value is below the detection limit" if censored[i, j] else "the value is missing"
        findings.problem(
            f"{what}; fill it in, or {advice}",
            int(table.rows[i]),
            table.header(table.features[j]),
        )


def _without(table: Table, bad: np.ndarray, holes: np.ndarray, censored: np.ndarray, findings: Findings) -> Table:
    """Leave objects out, and name each with the first value that it lacks."""
    at = np.flatnonzero(bad)
    for i in at:
        j = int(np.argmax(holes[i]))
        what = "below detection" if censored[i, j] else "missing"
        what = "nothing was measured" if (holes[i] & ~censored[i]).all() else what
        findings.note(f"object {table.ids[i]!r} left out: {what}", int(table.rows[i]), table.header(table.features[j]))
    return replace(table.keep(~bad), dropped=table.dropped + tuple(table.ids[i] for i in at)) if len(at) else table


def _imputed(table: Table, holes: np.ndarray, censored: np.ndarray, fill: Filling, findings: Findings) -> Table:
    X = table.X.copy()
    for j in np.flatnonzero(holes.any(axis=0)):
        name = table.features[j]
        entry, header = fill.get(name, {}), table.header(name)
        low, gone = holes[:, j] & censored[:, j], holes[:, j] & ~censored[:, j]
        if low.any() and table.below is not None:
            limits = table.below[:, j][low]
            if (limits == 0).any() and "limit" not in entry:
                findings.problem("values are below an unstated detection limit, and nothing tells it", None, header)
                continue
            X[low, j] = np.where(limits > 0, limits, entry.get("limit", np.nan)) / 2
            findings.note(
                f"{int(low.sum())} below detection, replaced by half the limit ({_rows(table, low)})", None, header
            )
        if gone.any():
            if "median" not in entry:
                findings.problem("values are missing and the control has none to take a median of", None, header)
                continue
            X[gone, j] = entry["median"]
            value = f"the control's median {entry['median']:.6g}"
            findings.note(f"{int(gone.sum())} missing, replaced by {value} ({_rows(table, gone)})", None, header)
    return replace(table, X=X)


def _rows(table: Table, mask: np.ndarray) -> str:
    rows = [str(row) for row in table.rows[mask]]
    more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
    return f"row{'s' if len(rows) > 1 else ''} {', '.join(rows[:5])}{more}"
