"""A database: many sources of one kind, with a described population, in a checked file.

The file is a CSV table with one row per measurement and a JSON file of the same name beside it, which describes the
population and where the measurements come from. Every program can read both.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeGuard, cast

import numpy as np
import pandas as pd
from scipy.stats import t

from transvariation import __version__
from transvariation._typing import Fields, Floats
from transvariation.atomic_write import replacing, write_text
from transvariation.casework.errors import CaseError
from transvariation.tables import Table, TableSettings, read_table
from transvariation.tables.headers import same_unit
from transvariation.tables.opening import TableSource

SCHEMA = "transvariation-database/1"
LABELS = ("source", "fragment", "replicate", "order", "stratum")
ABOUT = {
    "population": "Population",
    "laboratory": "Laboratory",
    "instrument": "Instrument",
    "dates": "Dates of measurement",
    "quality_control": "Quality-control glass",
}
OUTLYING_DEVIATION = 8.0  # robust standard deviations from the median: an outlying source or replicate
FACTOR_OF_UNITS = 50.0  # between the medians of two tables: different units
DRIFT_LEVEL = 0.01  # of the test of drift, over all variables


@dataclass(frozen=True)
class Finding:
    """What a check of a database found.

    Attributes
    ----------
    check : str
        ``"duplicates"``, ``"replicates"``, ``"outlying replicate"``, ``"outlying source"``, ``"units"``, ``"drift"``
        or ``"missing"``.
    values : dict
        Numbers of rows, limits, and counts or shares by variable.
    sources, variables : tuple of str
        The sources and variables concerned.
    """

    check: str
    values: Fields = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Database:
    """Sources of one kind, with several fragments or replicates each, and a description of their population.

    Parameters
    ----------
    frame : DataFrame
        One row per measurement: ``source``, ``fragment`` and, where known, ``replicate``, ``order`` and ``stratum``, as
        text (the order as numbers), and a column of numbers per variable.
    name : str
        What outputs call the database.
    about : mapping of str to str
        ``population``, ``laboratory``, ``instrument``, ``dates`` and ``quality_control``.
    units : mapping of str to str
        The unit of each variable, where known.
    logged : bool
        Whether the values are logarithms (base 10).
    tables : tuple of mapping
        Name, number of rows and SHA-256 of every table that it was built from.

    See Also
    --------
    transvariation.casework.judge : Judge a case with a database as its background.

    Examples
    --------
    >>> from transvariation import load_nfi_glass
    >>> from transvariation.casework import Database
    >>> glass = load_nfi_glass().frame
    >>> population = "float glass from casework"
    >>> columns = {"fragment_column": "piece", "logged": True}
    >>> database = Database.build(glass, population=population, **columns)
    >>> database.describe()["sources"]
    977
    """

    frame: pd.DataFrame
    name: str = "database"
    about: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    logged: bool = False
    tables: tuple[Fields, ...] = ()

    @classmethod
    def build(
        cls,
        tables: TableSource | Sequence[TableSource],
        *,
        name: str = "database",
        features: Sequence[str] | None = None,
        stratum_column: str | None = None,
        logged: bool = False,
        settings: TableSettings | None = None,
        **given: Any,
    ) -> Self:
        """Read tables of measurements into one database.

        Parameters
        ----------
        tables : path, bytes or DataFrame, or a sequence of them
            Each with a column that names the source of a row. Sources of the same name in two tables are one source.
        name : str, default="database"
            What outputs call the database.
        features : sequence of str, optional
            The variables to use, by default all; needed where the tables have different ones.
        stratum_column : str, optional
            The column that names what several sources share, such as their maker or batch.
        logged : bool, default=False
            Whether the values are logarithms (base 10).
        settings : TableSettings, optional
            How the tables are read.
        **given
            Further keywords are the texts `population`, `laboratory`, `instrument`, `dates` and `quality_control`, or
            fields of :class:`TableSettings`, such as `source_column` or `fragment_column`.

        Returns
        -------
        Database

        Raises
        ------
        CaseError
            If a table names no sources, or the tables do not share their variables and units.
        """
        texts = {key: given.pop(key, "") for key in ABOUT}
        about = {key: str(text) for key, text in texts.items() if text}
        how = TableSettings.build(settings, given)
        single = isinstance(tables, str | bytes | bytearray) or not isinstance(tables, Sequence)
        several = cast(Sequence[TableSource], [tables] if single else tables)
        read = [_read(each, how, stratum_column) for each in several]
        if not read:
            raise CaseError("no-tables")
        first = _with_variables(read[0][0], features)
        alike = [first, *(_alike(first, table, features) for table, _ in read[1:])]
        parts = [pd.DataFrame(dict(zip(table.features, table.X.T, strict=True))) for table in alike]
        labels = pd.concat([labels for _, labels in read], ignore_index=True)
        frame = pd.concat([labels, pd.concat(parts, ignore_index=True)], axis=1)
        provenance = tuple({"name": table.name, "rows": len(table), "sha256": table.sha256} for table in alike)
        return cls(frame, name=name, about=about, units=dict(first.units), logged=logged, tables=provenance)

    @property
    def variables(self) -> tuple[str, ...]:
        """The measured variables."""
        return tuple(str(name) for name in self.frame.columns if name not in LABELS)

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the sources, in the order of the table."""
        return tuple(dict.fromkeys(self.frame["source"]))

    @property
    def strata(self) -> dict[str, str]:
        """The stratum of each source, such as its maker; empty where none is named."""
        if "stratum" not in self.frame:
            return {}
        return dict(zip(self.frame["source"], self.frame["stratum"], strict=True))

    @cached_property
    def sha256(self) -> str:
        """The fingerprint of the measurements."""
        return hashlib.sha256(self._csv()).hexdigest()

    def _csv(self) -> bytes:
        return self.frame.to_csv(index=False, lineterminator="\n").encode()

    def without(self, sources: Sequence[str]) -> Self:
        """Leave sources out.

        Parameters
        ----------
        sources : sequence of str
            Their names.

        Returns
        -------
        Database
        """
        return replace(self, frame=self.frame[~self.frame["source"].isin(sources)].reset_index(drop=True))

    def write(self, path: str | Path) -> tuple[Path, Path]:
        """Write the measurements as CSV and the description as JSON beside it.

        Parameters
        ----------
        path : path
            The CSV file; its name must end in ``.csv``.

        Returns
        -------
        tuple of Path
            The two files.
        """
        table, description = _files(path)
        content = {
            "schema": SCHEMA,
            "name": self.name,
            **{key: self.about.get(key, "") for key in ABOUT},
            "variables": list(self.variables),
            "units": dict(self.units),
            "logged": self.logged,
            "sha256": self.sha256,
            "tables": [dict(each) for each in self.tables],
            "findings": [asdict(finding) for finding in self.check()],
            "version": __version__,
        }
        with replacing(table) as written:
            Path(written).write_bytes(self._csv())
        write_text(description, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
        return table, description

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a database that `write` wrote.

        Parameters
        ----------
        path : path
            The CSV or the JSON file.

        Returns
        -------
        Database

        Raises
        ------
        CaseError
            If a file is missing or was changed since.
        """
        table, description = _files(path)
        for file in (table, description):
            if not file.is_file():
                raise CaseError("database-file", file=file)
        return cls.from_bytes(table.read_bytes(), description.read_bytes(), (table, description))

    @classmethod
    def from_bytes(
        cls, raw: bytes, described: bytes, files: tuple[str | Path, str | Path] = ("the table", "the description")
    ) -> Self:
        """Read a database from the contents of its two files.

        Parameters
        ----------
        raw : bytes
            The CSV table.
        described : bytes
            The JSON file.
        files : tuple of path or str
            What errors call the two.

        Returns
        -------
        Database
        """
        table, description = files
        try:
            content = json.loads(described)
        except (ValueError, RecursionError) as error:
            raise CaseError("database-json", file=description, reason=error) from None
        if not isinstance(content, dict) or content.get("schema") != SCHEMA:
            raise CaseError("database-schema", file=description, schema=SCHEMA, table=getattr(table, "name", table))
        try:
            empty = {variable: [""] for variable in content["variables"]}
            told: Fields = {
                "name": str(content["name"]),
                "about": {key: str(content[key]) for key in ABOUT if content.get(key)},
                "units": dict(content["units"]),
                "logged": content["logged"] is True,
                "tables": tuple({key: each[key] for key in ("name", "rows", "sha256")} for each in content["tables"]),
            }
            is_same = hashlib.sha256(raw).hexdigest() == content["sha256"]
        except (LookupError, TypeError, ValueError) as error:
            raise CaseError("database-damaged", file=description, reason=error, table=table) from None
        if not is_same:
            raise CaseError("database-changed", table=table, file=getattr(description, "name", description))
        texts = {label: str for label in LABELS if label != "order"}
        return cls(pd.read_csv(io.BytesIO(raw), dtype=texts, keep_default_na=False, na_values=empty), **told)

    def describe(self) -> Fields:
        """Summarize the database.

        Returns
        -------
        dict
            Numbers of sources, fragments and measurements, how many fragments and replicates sources have, the strata
            and, for each variable, its unit, range, and standard deviations within and between sources.
        """
        by_fragment = self.frame.groupby(["source", "fragment"], sort=False)
        by_source = self.frame.groupby("source", sort=False)
        replicates, fragments = by_fragment.size(), by_source["fragment"].nunique()
        means = by_source[list(self.variables)].mean()
        within = by_source[list(self.variables)].var().mean() ** 0.5
        rows = {
            name: {
                "unit": self.units.get(name, ""),
                "smallest": float(self.frame[name].min()),
                "median": float(self.frame[name].median()),
                "largest": float(self.frame[name].max()),
                "within sources": float(within[name]),
                "between sources": float(means[name].std()),
                "missing": int(self.frame[name].isna().sum()),
            }
            for name in self.variables
        }
        return {
            "name": self.name,
            **{key: self.about.get(key, "") for key in ABOUT},
            "sources": len(fragments),
            "fragments": len(replicates),
            "measurements": len(self.frame),
            "fragments per source": _counts(fragments),
            "replicates per fragment": _counts(replicates),
            "strata": {} if not self.strata else pd.Series(self.strata).value_counts().to_dict(),
            "logged": self.logged,
            "variables": rows,
            "sha256": self.sha256,
        }

    def check(self) -> tuple[Finding, ...]:
        """Check the measurements on entry.

        Returns
        -------
        tuple of Finding
            Duplicated rows, labels that occur twice, replicates and sources far from the others, tables in different
            units, drift over the order of measurement, and missing values.
        """
        values = self.frame[list(self.variables)].to_numpy(dtype=float)
        scaled = values if self.logged or (values <= 0).any() else np.log10(values)  # gaps do not matter
        return (
            *self._duplicates(),
            *self._twice_labeled(),
            *self._outlying(scaled),
            *self._units(),
            *self._drift(scaled),
            *self._missing(),
        )

    def _duplicates(self) -> list[Finding]:
        again = self.frame.duplicated(list(self.variables), keep=False)
        if not again.any():
            return []
        sources = tuple(dict.fromkeys(self.frame.loc[again, "source"]))
        n = int(self.frame.duplicated(list(self.variables)).sum())
        return [Finding("duplicates", {"n": n}, sources)]

    def _twice_labeled(self) -> list[Finding]:
        if "replicate" not in self.frame:
            return []
        twice = self.frame.duplicated(["source", "fragment", "replicate"], keep=False)
        sources = tuple(dict.fromkeys(self.frame.loc[twice, "source"]))
        return [Finding("replicates", {"n": int(twice.sum())}, sources)] if twice.any() else []

    def _outlying(self, scaled: Floats) -> list[Finding]:
        """Find measurements far from their source, and sources far from the others, by robust standard deviations."""
        frame = pd.DataFrame(scaled, columns=list(self.variables))
        source = self.frame["source"].to_numpy()
        centers = frame.groupby(source, sort=False).median()
        away = np.abs(frame.to_numpy() - centers.loc[source].to_numpy())
        several = frame.groupby(source, sort=False).transform("size").to_numpy() >= 3
        found = []
        for check, distance, names in (
            ("outlying replicate", np.where(several[:, None], away, 0.0), source),
            ("outlying source", (centers - centers.median()).abs().to_numpy(), centers.index.to_numpy()),
        ):
            spread = 1.4826 * np.nanmedian(np.where(distance > 0, distance, np.nan), axis=0)
            with np.errstate(invalid="ignore"):
                row, column = np.nonzero(distance > OUTLYING_DEVIATION * np.where(spread > 0, spread, np.inf))
            if len(row):
                counts = {
                    self.variables[j]: int(n) for j, n in zip(*np.unique(column, return_counts=True), strict=True)
                }
                far = tuple(dict.fromkeys(map(str, names[row])))
                found.append(Finding(check, {"far": OUTLYING_DEVIATION, "by_variable": counts}, far, tuple(counts)))
        return found

    def _units(self) -> list[Finding]:
        if len(self.tables) < 2:
            return []
        table = np.repeat(np.arange(len(self.tables)), [each["rows"] for each in self.tables])
        medians = self.frame[list(self.variables)].abs().groupby(table).median()
        if self.logged:
            medians = 10.0 ** self.frame[list(self.variables)].groupby(table).median()
        apart = tuple(
            name for name in self.variables if medians[name].max() > FACTOR_OF_UNITS * medians[name].min() > 0
        )
        return [Finding("units", {"factor": FACTOR_OF_UNITS}, variables=apart)] if apart else []

    def _drift(self, scaled: Floats) -> list[Finding]:
        """Correlate fragments with the order of measurement, within their sources or, measured at once, between them.

        Measurements of one fragment, and fragments of one source, have their own level in common: a fragment counts
        once, or a source where all its fragments were measured at one time.
        """
        if "order" not in self.frame:
            return []
        frame = pd.DataFrame(scaled, columns=list(self.variables)).assign(order=self.frame["order"].to_numpy(float))
        frame = frame.groupby([self.frame["source"], self.frame["fragment"]], sort=False).mean()
        by_source = frame.groupby(level=0, sort=False)
        centered = frame - by_source.transform("mean")
        n, n_sources = len(frame), by_source.ngroups
        within = np.ptp(centered["order"]) > 0
        frame, freedom = (centered, n - n_sources - 1) if within else (by_source.mean(), n_sources - 2)
        r = frame.corr("spearman")["order"].drop("order")
        p = 2 * t.sf(np.abs(r) * np.sqrt(freedom / np.maximum(1 - r**2, 1e-12)), freedom)
        drifting = tuple(r.index[p <= DRIFT_LEVEL / len(p)])
        return [Finding("drift", variables=drifting)] if drifting else []

    def _missing(self) -> list[Finding]:
        share = self.frame[list(self.variables)].isna().mean()
        found = {name: float(share[name]) for name in self.variables if share[name] > 0}
        return [Finding("missing", {"by_variable": found}, variables=tuple(found))] if found else []


def is_database(path: object) -> TypeGuard[str | Path]:
    """Return whether a path leads to a database: a CSV file with a description beside it."""
    if not isinstance(path, str | Path) or Path(path).suffix.lower() not in (".csv", ".json"):
        return False
    try:
        _, description = _files(path)
        return description.is_file() and SCHEMA in description.read_text(encoding="utf-8", errors="replace")[:200]
    except OSError:
        return False


def _files(path: str | Path) -> tuple[Path, Path]:
    path = Path(path)
    if path.suffix.lower() not in (".csv", ".json"):
        raise CaseError("database-name", file=path.name)
    return path.with_suffix(".csv"), path.with_suffix(".json")


def _read(source: TableSource, how: TableSettings, stratum_column: str | None) -> tuple[Table, pd.DataFrame]:
    roles = dict(how.roles) | ({} if stratum_column is None else {stratum_column: "ignore"})
    table = read_table(source, missing="keep", settings=how, roles=roles)
    if table.source is None:
        raise CaseError("no-source-column", remedy="source-column", table=table.name)
    # Where fragments have no label, every row of a source is one.
    numbers = pd.Series(table.source).groupby(list(table.source)).cumcount() + 1
    columns: Fields = {"source": table.source, "fragment": table.fragment or numbers.astype(str).tolist()}
    if table.replicate is not None:
        columns["replicate"] = table.replicate
    if table.order is not None:
        columns["order"] = table.order
    if stratum_column is not None:
        others = {name: "ignore" for name, role in table.roles.items() if role == "source"}
        roles |= others | {stratum_column: "source"}
        own = read_table(source, missing="keep", settings=how, source_column=stratum_column, roles=roles)
        columns["stratum"] = own.source
    return table, pd.DataFrame(columns)


def _with_variables(table: Table, features: Sequence[str] | None) -> Table:
    if features is None:
        return table
    found = table.lookup(features)
    if lacking := [name for name in features if name not in found]:
        raise CaseError("lacks-variables", table=table.name, lacking=lacking, there=list(table.features))
    return table.select(found)


def _alike(first: Table, table: Table, features: Sequence[str] | None) -> Table:
    """Select the variables of the first table, which must have the same units."""
    if features is None:
        for one, other in ((first, table), (table, first)):
            if lacking := [name for name in one.features if name not in other.lookup(one.features)]:
                raise CaseError("database-menu", remedy="features", table=other.name, lacking=lacking, first=one.name)
    table = _with_variables(table, first.features)
    units = {name: (first.units.get(name, ""), table.units.get(name, "")) for name in first.features}
    if apart := [name for name, (a, b) in units.items() if a and b and not same_unit(a, b)]:
        raise CaseError("database-units", first=first.name, table=table.name, variables=apart)
    return table


def _counts(sizes: pd.Series[int]) -> str:
    low, high = int(sizes.min()), int(sizes.max())
    return str(low) if low == high else f"{low} to {high} (median {sizes.median():g})"
