"""Read the tables of a case into fragments."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.pipeline import Pipeline

from transvariation.casework.errors import CaseError
from transvariation.casework.fragments import Fragments, gather_fragments
from transvariation.casework.same_source import MIN_SOURCES, Source
from transvariation.casework.variables import (
    MANY,
    Components,
    Ranges,
    axis_cautions,
    check_without,
    preprocessing_for,
    select_ranges,
    spectral_axis,
    with_ignored,
    without_derivatives,
)
from transvariation.datasets.glass import load_nfi_glass
from transvariation.tables import Pair, Table, TableError, align, read_pair, read_table
from transvariation.tables.pairing import unit_problems
from transvariation.tables.problems import printable

Floats = NDArray[np.float64]

NFI = "nfi"
MOSTLY_FILLED = 0.5  # share of a variable's values: with more filled in, it is no evidence
MUCH_FILLED = 0.2  # with more, there is a caution
SHOWN = 5  # pairs of equal rows
LARGEST = 1e100  # measurements; squares of larger ones overflow
LARGEST_LOGARITHM = 100.0
SIGNIFICANT = 0.01  # the largest probability of as many equal rows by rounding


@dataclass(frozen=True)
class CaseTables:
    """The tables of a case, as fragments on the scale on which they are judged.

    Attributes
    ----------
    features : tuple of str
        The variables compared.
    control_table, recovered_table, background_table : Table
        As read; the background may be None.
    control, recovered : Fragments
    background : list of Source
        The fragments of each background source, preprocessed, in the variables `kept`.
    kept : ndarray of bool
        The variables, or components, in which fragments of one background source differ at all.
    exponent : bool
        Whether the measurements are logarithms (base 10): by `log`, by `logged`, or as those of the NFI background.
    cautions : tuple of str
    axis : ndarray or None
        The positions of the variables, if they are a spectrum: from their names, or else their numbers.
    preprocess : str or None
        The steps of preprocessing.
    preprocessing : Pipeline or None
        The same, learned from the background, for comparisons with it.
    """

    features: tuple[str, ...]
    control_table: Table
    recovered_table: Table
    background_table: Table | None
    control: Fragments
    recovered: Fragments
    background: list[Source]
    kept: NDArray[np.bool_]
    exponent: bool
    cautions: tuple[str, ...]
    axis: Floats | None = None
    preprocess: str | None = None
    preprocessing: Pipeline | None = None

    def prepared(self, X: Floats) -> Floats:
        """Preprocess measurements for a comparison with the background; many variables become a few components."""
        return X if self.preprocessing is None else self.preprocessing.transform(X)

    @property
    def is_summarised(self) -> bool:
        """Whether many variables become a few components before they are compared with the background."""
        return self.preprocessing is not None and "components" in self.preprocessing.named_steps

    def means_after(self, steps: str | None) -> tuple[Floats, Floats]:
        """Compute the means of the control and the recovered fragments after preprocessing, learned from the control.

        On the scale on which fragments are judged.
        """
        means = self.control.means, self.recovered.means
        if steps is None:
            return means
        preprocessing = preprocessing_for(steps, len(self.features)).fit(means[0])
        return preprocessing.transform(means[0]), preprocessing.transform(means[1])

    @cached_property
    def checked_control(self) -> Fragments:
        """The control fragments after preprocessing, for checks of the control."""
        if self.preprocess is None:
            return self.control
        preprocessing = preprocessing_for(self.preprocess, len(self.features)).fit(self.control.means)
        X = preprocessing.transform(self.control.X)
        replicates = [X[rows] for rows in self.control.rows]
        return replace(self.control, X=X, replicates=replicates, means=np.array([x.mean(axis=0) for x in replicates]))

    @cached_property
    def shown(self) -> tuple[Floats, Floats]:
        """The means as reasons and figures show them: spectra without derivatives."""
        return self.means_after(without_derivatives(self.preprocess))

    @property
    def no_evidence(self) -> NDArray[np.bool_]:
        """Which variables of which recovered fragments are no evidence, because their values were filled in.

        A value of the fragment itself that was not measured, or a variable that was mostly filled in in the control.
        """
        mostly = _filled_shares(self.control_table) > MOSTLY_FILLED
        own = self.recovered_table.filled
        if own is None:
            return np.tile(mostly, (len(self.recovered), 1))
        return mostly | np.array([own[rows].all(axis=0) for rows in self.recovered.rows])

    @cached_property
    def looks_logged(self) -> bool:
        """Whether contents are negative, as logarithms may be."""
        rows = (x for source in self.background for x in source)
        may_be_negative = self.exponent or self.axis is not None
        return not may_be_negative and any(bool((x < 0).any()) for x in (self.control.X, self.recovered.X, *rows))

    def linear(self, X: Floats) -> Floats:
        """Convert measurements to the linear scale of the ASTM criterion."""
        return np.power(10.0, X) if self.exponent else X

    def linear_means(self, fragments: Fragments) -> Floats:
        """Compute the means of the fragments on the linear scale."""
        return np.array([self.linear(x).mean(axis=0) for x in fragments.replicates])


def read_case(
    control: Any,
    recovered: Any,
    background: Any,
    *,
    log: bool,
    missing: str,
    logged: bool = False,
    preprocess: str | None = None,
    ranges: Ranges | None = None,
    without: Sequence[str] | None = None,
    background_sheet: str | int | None = None,
    **options: Any,
) -> CaseTables:
    """Read and check the tables of a case.

    Parameters
    ----------
    control, recovered, background : path, bytes, DataFrame; the background may be "nfi" or None
    log, missing, logged, preprocess, ranges, without, background_sheet : see :func:`transvariation.casework.judge`
    **options
        Options of :func:`transvariation.tables.read_pair`.
    """
    options.setdefault("names", tuple(_name(*given) for given in ((control, "control"), (recovered, "recovered"))))
    control, recovered = _without_repeated_index(control), _without_repeated_index(recovered)
    options["roles"] = with_ignored(options.get("roles"), without)
    policy = "keep" if ranges else missing  # a gap outside the ranges does not matter
    pair = _read_pair(control, recovered, background is not None, missing=policy, **options)
    check_without(without, pair.control, pair.recovered)
    if ranges:
        chosen = select_ranges(pair.features, ranges)
        pair = align(pair.control, pair.recovered, features=chosen, missing=missing)
    known, new = (
        _fragments(table, log, role) for role, table in (("control", pair.control), ("recovered", pair.recovered))
    )
    is_nfi = isinstance(background, str) and background == NFI
    are_logarithms = logged or (is_nfi and not log)
    _check_size(pair.control, are_logarithms)
    if are_logarithms:  # other measurements of a recovered fragment may be of any size: it is excluded
        _check_size(pair.recovered, are_logarithms)
    cautions = [*duplicate_warnings(pair), *_replicate_cautions(known, "control")]
    cautions += _replicate_cautions(new, "recovered")
    cautions += [caution for table in (pair.control, pair.recovered) for caution in _filling_cautions(table)]
    axis = spectral_axis(pair.features)
    if axis is None and preprocess is not None:
        axis = np.arange(1.0, len(pair.features) + 1)
    cautions += axis_cautions(axis, preprocess)
    case = CaseTables(
        pair.features,
        pair.control,
        pair.recovered,
        None,
        known,
        new,
        [],
        np.ones(len(pair.features), dtype=bool),
        log or logged or is_nfi,
        tuple(cautions),
        axis,
        preprocess,
    )
    if background is None:
        if background_sheet is not None:
            raise CaseError(f"background_sheet={background_sheet!r} needs a background")
        return case
    if is_nfi:
        table = read_table(
            _nfi_frame(pair.features, log), name="NFI float glass", source_column="source", fragment_column="piece"
        )
        table = table.select(pair.features)
    else:
        keep = ("decimal", "source_column", "fragment_column", "limits", "roles", "drop_summary_rows")
        # Roles given as a pair are those of the control and the recovered table.
        given = {name: value for name, value in options.items() if name in keep and not isinstance(value, tuple)}
        table = _read_background(background, pair.control, missing=missing, sheet=background_sheet, **given)
        _check_size(table, logged)
    return _with_background(case, table, log)


def _read_pair(control: Any, recovered: Any, has_background: bool, **options: Any) -> Pair:
    """Read both tables; the column of sources may be in the background only."""
    try:
        return read_pair(control, recovered, **options)
    except TableError as error:
        absent = any(problem.params.get("role") == "source" for problem in error.problems)
        if not (has_background and absent and options.get("source_column")):
            raise
    return read_pair(control, recovered, **options | {"source_column": None})


def _without_repeated_index(source: Any) -> Any:
    """Drop a nameless index that repeats, as concatenated DataFrames have; it names nothing."""
    if isinstance(source, pd.DataFrame) and source.index.name is None and source.index.has_duplicates:
        return source.reset_index(drop=True)
    return source


def _with_background(case: CaseTables, table: Table, log: bool) -> CaseTables:
    fragments = _fragments(table, log, "background")
    cautions = list(case.cautions)
    if fragments.sources is None:
        raise CaseError(f"{table.name} has no column that names the source of each row", "source-column")
    by_source = fragments.by_source()
    steps = [] if case.preprocess is None else preprocessing_for(case.preprocess, len(case.features)).steps
    if len(case.features) > MANY:
        steps = [*steps, ("components", Components())]
    if steps:
        # Learned from all sources: the influence of one on the mean spectrum is small, as on the covariance.
        case = replace(case, preprocessing=Pipeline(steps).fit(fragments.means))
    if case.is_summarised:
        components = steps[-1][1]
        cautions.append(
            f"Comparisons with the background use {len(components.components_)} principal components of its "
            f"{len(case.features)} variables ({components.explained_:.1%} of their variance) and the size of the rest."
        )
    sources: list[Source] = [[case.prepared(x) for x in source] for source in by_source]
    usable = [source for source in sources if len(source) > 1]
    if len(usable) < MIN_SOURCES:
        raise CaseError(
            f"{table.name} has {len(usable)} sources with two or more fragments or replicates; at least {MIN_SOURCES} "
            "are needed",
            "more-sources",
        )
    if len(fragments) == len(sources):
        cautions.append(
            f"The sources of {table.name} have one fragment each, so their replicates are used as fragments. "
            "Fragments of one source may differ more than replicates: then more of them than stated are excluded."
        )
    means = [np.array([x.mean(axis=0) for x in source]) for source in usable]
    kept = np.any([np.ptp(m, axis=0) > 1e-12 * np.abs(m).max(axis=0) for m in means], axis=0)
    if not kept.any():
        raise CaseError(f"in no variable do fragments of one source of {table.name} differ", "more-sources")
    if not kept.all():
        names = [f"component {j + 1}" for j in range(len(kept))] if case.is_summarised else case.features
        left_out = ", ".join(np.asarray(names, dtype=object)[~kept])
        cautions.append(
            f"Comparisons with the background leave out {left_out}: fragments of one source of {table.name} do not "
            "differ there, so that nothing is known of how much they may."
        )
    return replace(
        case,
        background_table=table,
        background=[[x[:, kept] for x in source] for source in sources],
        kept=kept,
        cautions=tuple(cautions),
    )


def _name(source: Any, role: str) -> str | None:
    """Return the name of a file, or the role of a table in memory."""
    return None if isinstance(source, str | PathLike) else role


def _fragments(table: Table, log: bool, role: str) -> Fragments:
    """Collect the fragments of a table.

    Without a fragment column, rows with the same source are replicates of one item, except that in a background, and in
    a control with a single source, every row is a fragment unless there is a replicate column.
    """
    keys = table.fragment_names
    if keys is None and table.source is not None:
        several = role == "recovered" or (role == "control" and len(set(table.source)) > 1)
        keys = table.source if several or table.replicate is not None else None
    return gather_fragments(_logarithms(table) if log else table.X, keys or table.ids, table.source)


def _check_size(table: Table, are_logarithms: bool) -> None:
    """Refuse numbers that no measurement has: codes for missing values, and contents that are taken for logarithms."""
    too_large = np.argwhere(np.abs(table.X) > (LARGEST_LOGARITHM if are_logarithms else LARGEST))
    if not len(too_large):
        return
    i, j = too_large[0]
    what, remedy = ("logarithm (base 10)", "log") if are_logarithms else ("measurement", "")
    raise CaseError(
        f"{table.name}, row {table.rows[i]}: {table.features[j]} is {table.X[i, j]:g}, which is no {what}", remedy
    )


def _logarithms(table: Table) -> Floats:
    if (table.X <= 0).any():
        i, j = np.argwhere(table.X <= 0)[0]
        raise CaseError(
            f"{table.name}, row {table.rows[i]}: {table.features[j]} is {table.X[i, j]:g}, which has no logarithm",
            "no-log",
        )
    return np.log10(table.X)


def _filled_shares(table: Table) -> Floats:
    return np.zeros(len(table.features)) if table.filled is None else table.filled.mean(axis=0)


def _filling_cautions(table: Table) -> list[str]:
    """Warn of variables that were filled in to a large part."""
    shares = _filled_shares(table)
    listed = ", ".join(
        f"{name} ({share:.0%})" for name, share in zip(table.features, shares, strict=True) if share > MUCH_FILLED
    )
    if not listed:
        return []
    return [
        f"Missing values of {table.name} were filled in to a large part: {listed}. A value that was filled in is no "
        "measurement; leave such variables out if the conclusion depends on them."
    ]


def _replicate_cautions(fragments: Fragments, role: str) -> list[str]:
    cautions = []
    counts = sorted({len(rows) for rows in fragments.rows})
    if len(fragments) == 1 and counts[0] > 1 and role == "control":
        cautions.append(
            f"The control is one fragment, {fragments.names[0]}, measured {counts[0]} times: replicates do not show "
            "how much fragments of its source differ."
        )
    if len(counts) > 1:
        cautions.append(
            f"The {role} fragments have {counts[0]} to {counts[-1]} replicates; their means are not equally precise."
        )
    return cautions


def _read_background(source: Any, control: Table, **options: Any) -> Table:
    units = control.units
    source = _without_repeated_index(source)
    table = read_table(source, features=control.features, units=units, name=_name(source, "background"), **options)
    table = table.select(table.lookup(control.features, units))
    if problems := unit_problems(units, control.name, table, control.features):
        raise TableError(problems)
    return table


def _nfi_frame(features: Sequence[str], log: bool) -> Any:
    """Return the NFI background with the control's names of elements, on the linear scale if logarithms follow."""
    frame = load_nfi_glass().frame
    elements = [name for name in frame.columns if name not in ("source", "piece")]
    symbols = {_symbol(name): name for name in elements}
    names = {feature: symbols.get(_symbol(feature)) for feature in features}
    if lacking := [feature for feature, name in names.items() if name is None]:
        raise CaseError(f"the NFI background has no {', '.join(lacking)}; it has {', '.join(elements)}", "features")
    values = frame[[names[feature] for feature in features]].set_axis(list(features), axis=1)
    return frame[["source", "piece"]].join(10**values if log else values)


def _symbol(name: str) -> str:
    """Return the chemical symbol in the name of an isotope: K of K39 and of 39K."""
    return "".join(letter for letter in name.split(" ")[0] if letter.isalpha()).casefold()


def duplicate_warnings(pair: Pair) -> list[str]:
    """Warn of recovered rows that are also control rows, and so are compared with themselves."""
    control, recovered = pair.control, pair.recovered
    if control.ids == recovered.ids and np.array_equal(control.X, recovered.X):
        return [
            "The control and the recovered table are the same: the control is compared with itself. Of a workbook with "
            "several sheets, choose one for each table."
        ]
    equal, q = _equal_rows(pair), len(recovered.X)
    if not equal:
        return []
    listed = ", ".join(f"{printable(new)} = {printable(own)}" for new, own in equal[:SHOWN])
    more = f" and {len(equal) - SHOWN} more" if len(equal) > SHOWN else ""
    return [
        f"{len(equal)} of {q} recovered rows equal a control row in every variable (recovered = control: {listed}"
        f"{more}). If they are the same measurements, remove them from the control: not excluding them has no meaning."
    ]


def _equal_rows(pair: Pair) -> list[tuple[str, str]]:
    """Name the recovered rows that equal a control row, if they are more than rounding explains.

    The control itself shows how many rounding makes: how many of its rows equal another one, and how many pairs are
    equal in each variable.
    """
    n, q = len(pair.control.X), len(pair.recovered.X)
    number = _row_numbers(np.concatenate([pair.control.X, pair.recovered.X]))
    own, new = number[:n], number[n:]
    times = np.bincount(own, minlength=len(number))
    found = int((times[new] > 0).sum())
    place = {name: i for i, name in enumerate(pair.control.ids)}
    same_id = sum(own[place[name]] == new[i] for i, name in enumerate(pair.recovered.ids) if name in place)
    equal = [_n_pairs(np.unique(column, return_counts=True)[1]) for column in pair.control.X.T]
    by_chance = float(np.prod((np.array(equal) + 1) / (_n_pairs(n) + 1)))  # one pair more: a few rows cannot exclude it
    any_row = max(_upper_share(int((times[own] > 1).sum()), n), min(n * by_chance, 1.0))
    given_row = max(_upper_share(_n_pairs(times), _n_pairs(n)), by_chance)
    unlikely = found and binom.sf(found - 1, q, any_row) <= SIGNIFICANT
    if not unlikely and not (same_id and binom.sf(same_id - 1, q, given_row) <= SIGNIFICANT):
        return []
    first = {k: name for k, name in zip(own[::-1].tolist(), pair.control.ids[::-1], strict=True)}
    return [(name, first[k]) for name, k in zip(pair.recovered.ids, new.tolist(), strict=True) if k in first]


def _n_pairs(n: int | NDArray[np.intp]) -> float:
    return float(np.sum(n * (n - 1) / 2))


def _upper_share(count: float, n: float) -> float:
    """Compute a share plus two standard errors; 0 of nothing."""
    share = count / max(n, 1)
    return min(share + 2 * np.sqrt(share * (1 - share) / max(n, 1)), 1.0)


def _row_numbers(X: NDArray[np.float64]) -> NDArray[np.intp]:
    """Number the rows so that equal rows have equal numbers."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in X + 0.0], dtype=np.intp)
