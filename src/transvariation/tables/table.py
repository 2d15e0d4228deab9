"""A checked table: numbers, labels, and the row and column of the file that each came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from transvariation.tables.columns import locate
from transvariation.tables.problems import Problem

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Table:
    """Objects in rows, measured variables in columns, all of it numbers.

    Attributes
    ----------
    name : str
        The file, as the caller named it.
    ids : tuple of str
        What each object is called; unique.
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
        Each object's row in the file, the header being row 1.
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
        The ids of objects left out because a value was missing.
    sha256 : str
        The fingerprint of the file's bytes.
    """

    name: str
    ids: tuple[str, ...]
    features: tuple[str, ...]
    X: NDArray[np.float64]
    rows: NDArray[np.int64]
    source: tuple[str, ...] | None = None
    fragment: tuple[str, ...] | None = None
    replicate: tuple[str, ...] | None = None
    order: NDArray[np.float64] | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    below: NDArray[np.float64] | None = None
    filled: NDArray[np.bool_] | None = None
    notes: tuple[Problem, ...] = ()
    dropped: tuple[str, ...] = ()
    sha256: str = ""

    def __post_init__(self) -> None:
        for name in ("units", "headers", "roles"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        for array in (self.X, self.rows, self.order, self.below, self.filled):
            if array is not None:
                array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        values = (getattr(self, each.name) for each in fields(self))
        return Table, tuple(dict(value) if isinstance(value, MappingProxyType) else value for value in values)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def fragment_keys(self) -> tuple[tuple[str, str], ...] | None:
        """Source and fragment of each row: fragment "1" of pane A is not fragment "1" of pane B.

        None where the table names no fragments; the source is "" where it names no sources.
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

    def header(self, feature: str) -> str:
        """Return what the file calls a feature, unit included."""
        return self.headers.get(feature, feature)

    def lookup(self, wanted: Sequence[str], units: Mapping[str, str] = MappingProxyType({})) -> list[str | None]:
        """Find features by name, with or without their units; None for those that are not there.

        Where the table has a variable in several units, `units` selects one.
        """
        headers = [self.header(name) for name in self.features]
        return [None if i is None else self.features[i] for i in locate(wanted, self.features, headers, units)]

    def found(self, wanted: Sequence[str], units: Mapping[str, str] = MappingProxyType({})) -> list[str]:
        """Find features that are known to be there."""
        return [name for name in self.lookup(wanted, units) if name is not None]

    def rename(self, names: Mapping[str, str]) -> "Table":
        """Give features other names; what the file calls them stays known."""
        return replace(
            self,
            features=tuple(names.get(name, name) for name in self.features),
            units={names.get(name, name): unit for name, unit in self.units.items()},
            headers={names.get(name, name): header for name, header in self.headers.items()},
        )

    def select(self, features: Sequence[str]) -> "Table":
        """Keep these features, in this order."""
        places = {name: j for j, name in enumerate(self.features)}
        at = [places[name] for name in features]
        below = None if self.below is None else self.below[:, at]
        filled = None if self.filled is None else self.filled[:, at]
        return replace(self, features=tuple(features), X=self.X[:, at], below=below, filled=filled)

    def keep(self, rows: NDArray[np.bool_]) -> "Table":
        """Keep the rows where the mask holds."""
        chosen = np.flatnonzero(rows)
        return replace(
            self,
            ids=tuple(self.ids[i] for i in chosen),
            source=_chosen(self.source, chosen),
            fragment=_chosen(self.fragment, chosen),
            replicate=_chosen(self.replicate, chosen),
            X=self.X[chosen],
            rows=self.rows[chosen],
            order=None if self.order is None else self.order[chosen],
            below=None if self.below is None else self.below[chosen],
            filled=None if self.filled is None else self.filled[chosen],
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return the measurements as a DataFrame with the ids as index."""
        import pandas as pd

        return pd.DataFrame(self.X, index=pd.Index(self.ids, name="id"), columns=list(self.features))

    def summary(self) -> dict[str, Any]:
        """Return what was understood, as JSON values."""
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


def _chosen(labels: tuple[str, ...] | None, rows: NDArray[np.intp]) -> tuple[str, ...] | None:
    return None if labels is None else tuple(labels[i] for i in rows)
