"""A checked table: numbers, labels, where each came from in the file, and what becomes of missing values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from transvariation._typing import Bools, Fields, Floats
from transvariation.tables.columns import LEVELS
from transvariation.tables.headers import locate
from transvariation.tables.problems import Problem, Problems, row_list

POLICIES = ("error", "drop", "impute", "keep")


@dataclass(frozen=True, eq=False)
class Table:
    """Measurements in rows, variables in columns, all of it numbers.

    Attributes
    ----------
    name : str
        The file, as the caller named it.
    ids : tuple of str
        What each row is called; unique.
    source, fragment, replicate : tuple of str or None
        The labels of the three levels, per row: the pane, bottle or batch; the physical piece; the measurement of it.
        None where the table does not name the level. A fragment label counts within its source: see
        :attr:`fragment_keys`.
    order : ndarray of shape (n,) or None
        The order or time of measurement (dates and times in seconds), where a column gives it.
    features : tuple of str
        The measured variables, without their units.
    X : ndarray of shape (n, p), read-only
        The measurements. NaN only where the table was read with ``missing="keep"``.
    rows : ndarray of shape (n,)
        Each row's number in the file, the header being row 1.
    units : mapping of str to str
        The units found in the header, by feature.
    headers : mapping of str to str
        How each feature is called in the file.
    roles : mapping of str to str
        What every column of the file was taken for: id, source, fragment, replicate, order, measurement or ignore.
    below : ndarray of shape (n, p) or None
        The detection limit where a value was below it (0 = not stated in the file), NaN elsewhere.
    filled : ndarray of bool of shape (n, p) or None
        Which values were missing and filled in by their median; a value below detection counts as measured.
    notes : tuple of Problem
        What was understood, set aside, dropped or filled in.
    dropped : tuple of str
        The ids of rows left out because a value was missing.
    sha256 : str
        The fingerprint of the file's bytes.
    """

    name: str
    ids: tuple[str, ...]
    features: tuple[str, ...]
    X: Floats
    rows: NDArray[np.int64]
    source: tuple[str, ...] | None = None
    fragment: tuple[str, ...] | None = None
    replicate: tuple[str, ...] | None = None
    order: Floats | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    below: Floats | None = None
    filled: Bools | None = None
    notes: tuple[Problem, ...] = ()
    dropped: tuple[str, ...] = ()
    sha256: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "headers", {name: name for name in self.features} | dict(self.headers))
        for array in (self.X, self.rows, self.order, self.below, self.filled):
            if array is not None:
                array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def fragment_keys(self) -> tuple[tuple[str, str], ...] | None:
        """Source and fragment of each row: fragment "1" of pane A is not fragment "1" of pane B.

        None where the table names no fragments; the source is empty where it names no sources.
        """
        if self.fragment is None:
            return None
        return tuple(zip(self.source or ("",) * len(self), self.fragment, strict=True))

    @property
    def fragment_names(self) -> tuple[str, ...] | None:
        """Name of each row's fragment: its label, with the source before it where two sources use the same label."""
        keys = self.fragment_keys
        if keys is None:
            return None
        if len(set(keys)) == len({fragment for _, fragment in keys}):
            return self.fragment
        return tuple(f"{source} / {fragment}" for source, fragment in keys)

    @property
    def groups(self) -> tuple[str, ...] | None:
        """What each row is a replicate of: its fragment, or its source where every fragment has one row."""
        names = self.fragment_names
        return self.source if names is None or (self.source and len(set(names)) == len(names)) else names

    def lookup(self, wanted: Sequence[str], units: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
        """Find features by name, with or without their units.

        Parameters
        ----------
        wanted : sequence of str
            The names of the features.
        units : mapping of str to str, optional
            The units wanted, by name, where the table has a variable in several.

        Returns
        -------
        dict of str to str
            What this table calls each of them; those that are not there are left out.
        """
        places = locate(wanted, [self.headers[name] for name in self.features], units)
        return {name: self.features[i] for name, i in zip(wanted, places, strict=True) if i is not None}

    def select(self, features: Sequence[str] | Mapping[str, str], notes: Sequence[Problem] = ()) -> "Table":
        """Keep these features, in this order, and add notes.

        Parameters
        ----------
        features : sequence of str, or mapping of str to str
            The features to keep; of a mapping, the keys are their new names.
        notes : sequence of Problem, optional
            The notes to add.

        Returns
        -------
        Table
            A table of the same rows.
        """
        names = features if isinstance(features, Mapping) else {name: name for name in features}
        places = {name: j for j, name in enumerate(self.features)}
        at = [places[name] for name in names.values()]
        parts = {name: array[:, at] for name in ("X", "below", "filled") if (array := getattr(self, name)) is not None}
        units = {new: self.units[name] for new, name in names.items() if name in self.units}
        headers = {new: self.headers[name] for new, name in names.items()}
        notes = (*self.notes, *notes)
        return replace(self, features=tuple(names), units=units, headers=headers, notes=notes, **parts)

    def keep(self, rows: Bools) -> "Table":
        """Keep the rows where the mask holds.

        Parameters
        ----------
        rows : ndarray of bool of shape (n,)
            The mask.

        Returns
        -------
        Table
            A table of the same columns.
        """
        parts: Fields = {}
        for name in ("ids", *LEVELS, "X", "rows", "order", "below", "filled"):
            if (part := getattr(self, name)) is not None:
                parts[name] = tuple(compress(part, rows)) if isinstance(part, tuple) else part[rows]
        return replace(self, **parts)

    def to_frame(self) -> pd.DataFrame:
        """Return the measurements as a DataFrame with the ids as index.

        Returns
        -------
        DataFrame
            One row per row of the table.
        """
        return pd.DataFrame(self.X, index=pd.Index(self.ids, name="id"), columns=list(self.features))

    def summary(self) -> Fields:
        """Return what was understood, as JSON values.

        Returns
        -------
        dict
            The file, its digest, and the numbers of rows, variables, sources and fragments; all values can be written
            as JSON.
        """
        return {
            "file": self.name,
            "sha256": self.sha256,
            "objects": len(self),
            "features": list(self.features),
            "units": dict(self.units),
            "roles": dict(self.roles),
            "sources": None if self.source is None else len(set(self.source)),
            "fragments": None if self.fragment_keys is None else len(set(self.fragment_keys)),
            "dropped": list(self.dropped),
            "notes": [note.to_dict() for note in self.notes],
        }


def join(tables: Iterable[Table], notes: Sequence[Problem] = ()) -> Table:
    """Concatenate the parts of one table; rows with the same labels are distinguished by their numbers.

    The measurements grow in place, so that they are in memory once.
    """
    found: dict[str, list[Any]] = {name: [] for name in ("ids", *LEVELS, "rows", "order", "below")}
    X, n = np.empty((0, 0)), 0
    for table in tables:
        for name, values in found.items():
            values.append(getattr(table, name))
        if n + len(table) > len(X):
            X.resize((max(n + len(table), len(X) * 9 // 8), len(table.features)), refcheck=False)
        X[n : n + len(table)] = table.X
        n += len(table)
    X.resize((n, len(table.features)), refcheck=False)
    parts: Fields = {"X": X, "notes": tuple(notes)}
    for name, values in found.items():
        if isinstance(values[0], tuple):
            parts[name] = tuple(chain.from_iterable(values))
        elif any(value is not None for value in values):  # not every part has values below detection
            full = (
                np.full((len(ids), X.shape[1]), np.nan) if value is None else value
                for ids, value in zip(found["ids"], values, strict=True)
            )
            parts[name] = np.concatenate(list(full))
    ids = parts["ids"]
    if "id" not in table.roles.values() and len(set(ids)) < len(ids):
        parts["ids"] = tuple(f"{name} (row {row})" for name, row in zip(ids, parts["rows"].tolist(), strict=True))
    return replace(table, **parts)


def apply_policy(table: Table, missing: str, reference: Table | None = None, *, in_block: bool = False) -> Table:
    """Deal with the NaN in a table that was read with ``missing="keep"``.

    Parameters
    ----------
    table : Table
        The table to complete.
    missing : {"error", "drop", "impute", "keep"}
        ``"error"`` raises a :class:`TableError` that lists every such cell; ``"drop"`` leaves those rows out;
        ``"impute"`` puts half the detection limit below it and the reference's median elsewhere, and leaves out rows
        in which nothing was measured. Where "not detected" comes without a number, the limit is the smallest one stated
        in the reference's column, else its smallest positive value.
    reference : Table, default=None
        The control table, with the same features and read with ``missing="keep"``; None is the table itself.
    in_block : bool, default=False
        Whether the table is one block of several: nothing may remain of it, and it is nothing to impute from.

    Returns
    -------
    Table
        A table without missing values, unless they are kept.

    Examples
    --------
    >>> from transvariation.tables import apply_policy
    >>> from transvariation.tables import read_table
    >>> table = read_table(b"Na,Fe\\n1,<0.02\\n2,nd\\n,0.3\\n", missing="keep")
    >>> apply_policy(table, "impute").X.tolist()
    [[1.0, 0.01], [2.0, 0.01], [1.5, 0.3]]
    """
    if missing not in POLICIES:
        raise ValueError(f"missing={missing!r} is unknown; choose one of {', '.join(POLICIES)}")
    holes = np.isnan(table.X)
    if missing == "keep" or not holes.any():
        return table
    problems, headers = Problems(table.name), [table.headers[name] for name in table.features]
    lost = holes if table.below is None else holes & np.isnan(table.below)  # the others are below detection
    if missing == "error":
        empty = lost.all(axis=0) & (len(table) > 1 and not in_block)
        for j in np.flatnonzero(empty):
            problems.add("empty-column", None, headers[j])
        for i, j in np.argwhere(holes & ~empty):
            remedy = "drop" if in_block else "drop-or-impute"
            problems.add("missing" if lost[i, j] else "below-detection", int(table.rows[i]), headers[j], remedy=remedy)
        problems.check()
    # A row without any measured value would be judged by nothing but the control's medians.
    bad = np.asarray(holes.any(axis=1) if missing == "drop" else lost.all(axis=1))
    for i in np.flatnonzero(bad):  # named with the first value that it lacks
        j = np.argmax(holes[i])
        reason = "nothing was measured" if lost[i].all() else "missing" if lost[i, j] else "below detection"
        problems.note("dropped", int(table.rows[i]), headers[j], value=table.ids[i], reason=reason)
    kept = replace(table.keep(~bad), dropped=(*table.dropped, *compress(table.ids, bad))) if bad.any() else table
    if missing == "impute":
        control = table if reference is None else reference.select(table.features)
        kept = _imputed(kept, holes[~bad], lost[~bad], control, problems)
    if not len(kept) and not in_block:
        drop = missing == "drop"
        problems.add("all-dropped" if drop else "nothing-measured", remedy="impute" if drop else "")
    problems.check()
    return replace(kept, notes=table.notes + tuple(problems.notes))


def _imputed(table: Table, holes: np.ndarray, lost: np.ndarray, reference: Table, problems: Problems) -> Table:
    """Put half the detection limit in place of values below it, and the median in place of missing ones."""
    X = table.X.copy()
    for j in np.flatnonzero(holes.any(axis=0)):
        header, gone, low = table.headers[table.features[j]], lost[:, j], holes[:, j] & ~lost[:, j]
        values = reference.X[:, j][np.isfinite(reference.X[:, j])]
        if low.any() and table.below is not None:
            stated = np.empty(0) if reference.below is None else reference.below[:, j][reference.below[:, j] > 0]
            known = stated if len(stated) else values[values > 0]
            limits = table.below[low, j]
            if (limits == 0).any() and not len(known):
                problems.add("unknown-limit", None, header)
                continue
            X[low, j] = np.where(limits > 0, limits, known.min(initial=np.inf)) / 2
            problems.note("imputed-limit", None, header, n=int(low.sum()), rows=row_list(table.rows[low].tolist()))
        if gone.any() and not len(values):
            problems.add("no-median", None, header)
        elif gone.any():
            X[gone, j] = median = float(np.median(values))
            rows = row_list(table.rows[gone].tolist())
            problems.note("imputed-median", None, header, n=int(gone.sum()), median=median, rows=rows)
    return replace(table, X=X, filled=lost)
