"""Read the tables of a case into fragments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from transvariation._typing import Bools, Fields, Floats, Indices
from transvariation.casework.background.likelihood_ratio import MIN_SOURCES_FOR_RATIOS
from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import Source
from transvariation.casework.background.same_source import MIN_SOURCES_TO_CALIBRATE
from transvariation.casework.database import Database, is_database
from transvariation.casework.errors import CaseError, Caution
from transvariation.casework.fragments import Fragments, fragments_of
from transvariation.casework.settings import CaseSettings
from transvariation.casework.variables import (
    MANY_VARIABLES,
    Components,
    check_without,
    preprocessing_for,
    select_ranges,
    spectral_axis,
    without_derivatives,
)
from transvariation.datasets.glass import load_nfi_glass
from transvariation.tables import (
    Limits,
    Pair,
    Table,
    TableError,
    TableSettings,
    align,
    apply_policy,
    read_pair,
    read_table,
)
from transvariation.tables.opening import TableSource
from transvariation.tables.pairing import is_label, unit_problems

NFI = "nfi"
NFI_POPULATION = "windows in Dutch casework"
MOSTLY_FILLED = 0.5  # share of a variable's values: with more filled in, it is no evidence


@dataclass(frozen=True)
class CaseTables:
    """The tables of a case, as fragments on the scale on which they are judged."""

    features: tuple[str, ...]  # the variables compared
    control_table: Table
    recovered_table: Table
    control: Fragments
    recovered: Fragments
    exponent: bool  # whether the measurements are logarithms (base 10): by `log` or `logged`, or as those of the NFI
    axis: Floats | None  # positions in a spectrum: from the names of the variables, or else their numbers
    preprocess: str | None  # its steps
    background_table: Table | None = None
    background: Sequence[Source] = ()  # the fragments of each source, preprocessed, in the variables `kept`
    background_names: tuple[str, ...] = ()  # of these sources
    kept: Bools | Indices | tuple[()] = ()  # variables, or components, in which fragments of one source differ at all
    one_fragment: bool = False  # whether each background source is one fragment, whose replicates stand for fragments
    cautions: tuple[Caution, ...] = ()  # what was found on reading the background
    preprocessing: Pipeline | None = None  # for comparisons with the background, and learned from it
    foreign_table: Table | None = None
    foreign: Fragments | None = None  # known foreign fragments
    population: str = ""  # what the background sources are a sample of, as its database says
    survey: Floats | None = None  # one value per background source, of the only variable, instead of `background`
    # What was learned from the background, by seed; several control sources share it.
    learned: dict[int, Background] = field(default_factory=dict, repr=False)

    def prepared(self, X: Floats) -> Floats:
        """Preprocess measurements for a comparison with the background; many variables become a few components."""
        return X if self.preprocessing is None else self.preprocessing.transform(X)

    @property
    def is_summarized(self) -> bool:
        """Whether many variables become a few components before they are compared with the background."""
        return self.preprocessing is not None and "components" in self.preprocessing.named_steps

    @cached_property
    def _fitted(self) -> dict[str, Pipeline]:
        """The preprocessings that were learned from the control, by their steps."""
        return {}

    def after(self, steps: str | None, X: Floats) -> Floats:
        """Preprocess measurements by steps learned, once, from the means of the control fragments."""
        if steps is None:
            return X
        if steps not in self._fitted:
            self._fitted[steps] = preprocessing_for(steps, self.features).fit(self.control.means)
        return self._fitted[steps].transform(X)

    def means_after(self, steps: str | None) -> tuple[Floats, Floats]:
        """Compute the means of the control and the recovered fragments after preprocessing learned from the control."""
        return self.after(steps, self.control.means), self.after(steps, self.recovered.means)

    @cached_property
    def checked_control(self) -> Fragments:
        """The control fragments after preprocessing, for checks of the control."""
        return replace(self.control, X=self.after(self.preprocess, self.control.X))

    @cached_property
    def shown(self) -> tuple[Floats, Floats]:
        """The means as reasons and figures show them: spectra without derivatives."""
        return self.means_after(self.shown_after)

    @property
    def shown_after(self) -> str | None:
        """The steps of preprocessing in what is shown."""
        return None if self.preprocess is None else without_derivatives(self.preprocess)

    @property
    def no_evidence(self) -> Bools:
        """Which variables of which recovered fragments are no evidence, because their values were filled in.

        A value of the fragment itself that was not measured, or a variable that was mostly filled in in the control.
        """
        known, own = self.control_table.filled, self.recovered_table.filled
        found = np.zeros(self.recovered.means.shape, dtype=bool)
        if known is not None:
            found |= known.mean(axis=0) > MOSTLY_FILLED
        if own is not None:
            found |= np.array([own[rows].all(axis=0) for rows in self.recovered.rows])
        return found

    @cached_property
    def contents(self) -> Floats | None:
        """The means of the recovered fragments as contents; None if the measurements are spectra or negative."""
        rows = (x for source in self.background for x in source)
        negative = not self.exponent and any((x < 0).any() for x in (self.control.X, self.recovered.X, *rows))
        if self.axis is not None or negative:
            return None
        return np.array([self.linear([x]).mean(axis=0) for x in self.recovered.replicates])

    def linear(self, fragments: Source) -> Floats:
        """Join the replicates of fragments on the linear scale."""
        rows = np.concatenate(list(fragments))
        return np.power(10.0, rows) if self.exponent else rows


def read_case(
    sources: Mapping[str, Any],
    settings: CaseSettings,
    limits: Limits = Limits(),  # noqa: B008  # frozen
) -> CaseTables:
    """Read and check the tables of a case.

    Parameters
    ----------
    sources : mapping
        ``"control"`` and ``"recovered"``, and perhaps ``"background"`` or ``"foreign"``: each a path, bytes or
        DataFrame; the background may be a Database or ``"nfi"``. None where there is none.
    settings : CaseSettings
    limits : Limits
        How large a table may be.
    """
    background, foreign = sources.get("background"), sources.get("foreign")
    _check_sources(background, foreign, settings)
    pair = _read_pair(sources, settings, limits)
    features = pair.control.features
    is_nfi = isinstance(background, str) and background == NFI
    log, logged = settings.log, settings.logged
    scale = {"log": log, "logged": logged or (is_nfi and not log)}
    axis = spectral_axis(features)
    if axis is None and settings.preprocess is not None:
        axis = np.arange(1.0, len(features) + 1)
    case = CaseTables(
        features=features,
        control_table=pair.control,
        recovered_table=pair.recovered,
        control=fragments_of(pair.control, "control", **scale),
        recovered=fragments_of(pair.recovered, "recovered", **scale),
        exponent=log or logged or is_nfi,
        axis=axis,
        preprocess=settings.steps,
    )
    if foreign is not None:
        kept = _read_third(foreign, "foreign", pair, settings, "keep", limits)
        table = apply_policy(kept, settings.missing, pair.control)
        return replace(case, foreign_table=table, foreign=fragments_of(table, "foreign", **scale))
    if background is None:
        return case
    if is_nfi:  # logarithms already
        table = _nfi_table(features)
        case = _with_background(case, table, fragments_of(table, "background", log=False, logged=True))
        caution = Caution.of("another-laboratory", population=NFI_POPULATION)
        return replace(case, population=NFI_POPULATION, one_fragment=True, cautions=(caution, *case.cautions))
    if isinstance(background, Database) or is_database(background):
        return _with_database(case, background, pair, settings, limits)
    table = _read_third(background, "background", pair, settings, settings.missing, limits)
    return _with_background(case, table, fragments_of(table, "background", **scale))


def _with_database(
    case: CaseTables, given: str | Path | Database, pair: Pair, settings: CaseSettings, limits: Limits
) -> CaseTables:
    """Use a database as the background, on the scale on which the case is judged."""
    database = given if isinstance(given, Database) else Database.read(given)
    if database.logged and not case.exponent:
        raise CaseError("database-logged", remedy="log", database=database.name)
    frame = database.frame.drop(columns=["replicate", "order", "stratum"], errors="ignore")
    table = _read_third(frame, "background", pair, settings, settings.missing, limits)
    file = database.name if isinstance(given, Database) else str(Path(given).with_suffix(".csv"))
    table = replace(table, name=file, sha256=database.sha256)
    scale = {"log": case.exponent and not database.logged, "logged": database.logged}
    case = _with_background(case, table, fragments_of(table, "background", **scale))
    return replace(case, population=database.about.get("population", ""))


def _check_sources(background: object, foreign: object, settings: CaseSettings) -> None:
    """Refuse a background beside a foreign table, and settings of a table that was not given."""
    if background is not None and foreign is not None:
        raise CaseError("background-and-foreign")
    for which, source in (("background", background), ("foreign", foreign)):
        if which in settings.tables and source is None:
            given = [name for name, value in vars(settings.tables[which]).items() if value]
            raise CaseError("settings-of-no-table", table=which, given=given)


def _read_pair(sources: Mapping[str, Any], settings: CaseSettings, limits: Limits) -> Pair:
    """Read control and recovered; a column of labels may be in the third table only, the background or the foreign one.

    A gap outside the ranges of variables does not matter.
    """
    tables, names = (sources["control"], sources["recovered"]), ("control", "recovered")
    known, new = map(settings.of_table, names)
    how: Fields = {
        "names": tuple(map(_name, tables, names)),
        "features": settings.features,
        "missing": "keep" if settings.ranges else settings.missing,
        "limits": limits,
    }
    try:
        pair = read_pair(*tables, (known, new), **how)
    except TableError as error:
        lacking = {problem.params["name"] for problem in error.problems if is_label(problem)}
        if not lacking or all(sources.get(which) is None for which in ("background", "foreign")):
            raise
        pair = read_pair(*tables, (_without_columns(known, lacking), _without_columns(new, lacking)), **how)
    if settings.without:
        check_without(settings.without, pair.control, pair.recovered)
    if settings.ranges:
        chosen = select_ranges(pair.control.features, settings.ranges)
        pair = align(pair.control, pair.recovered, features=chosen, missing=settings.missing)
    return pair


def _without_columns(settings: TableSettings, names: set[str]) -> TableSettings:
    """Forget the columns of labels that a table lacks."""
    columns = ("id_column", "source_column", "fragment_column")
    lost: Fields = {field: None for field in columns if getattr(settings, field) in names}
    return replace(settings, **lost, roles={name: role for name, role in settings.roles.items() if name not in names})


def _read_third(
    source: TableSource, which: str, pair: Pair, settings: CaseSettings, missing: str, limits: Limits
) -> Table:
    """Read the background or the foreign table by the variables of the control.

    Columns that are named for every table may be in control or recovered only.
    """
    own, control, units = settings.of_table(which), pair.control, pair.control.units
    how: Fields = {"features": control.features, "units": units, "missing": missing, "limits": limits}
    how["name"] = _name(source, which)
    try:
        table = read_table(source, settings=own, **how)
    except TableError as error:
        lacking = {problem.params["name"] for problem in error.problems if is_label(problem)}
        elsewhere = lacking & {*pair.control.roles, *pair.recovered.roles}
        if not elsewhere:
            raise
        table = read_table(source, settings=_without_columns(own, elsewhere), **how)
    table = table.select(table.lookup(control.features, units))
    if problems := unit_problems(units, control.name, table, control.features):
        raise TableError(problems)
    return table


def _name(source: object, which: str) -> str | None:
    """Call a table in memory by its part in the case, unless it has a name of its own."""
    named = isinstance(source, str | PathLike) or isinstance(getattr(source, "name", None), str)
    return None if named else which


def _with_background(case: CaseTables, table: Table, fragments: Fragments) -> CaseTables:
    cautions: list[Caution] = []
    if None in fragments.sources:
        raise CaseError("no-source-column", remedy="source-column", table=table.name)
    if len(case.features) == 1 and len(set(fragments.sources)) == len(fragments.X):
        return _with_survey(case, table, fragments)
    by_source = fragments.by_source()
    steps = [] if case.preprocess is None else preprocessing_for(case.preprocess, case.features).steps
    if len(case.features) > MANY_VARIABLES:
        steps = [*steps, ("components", Components())]
    if steps:
        # Learned from all sources: the influence of one on the mean spectrum is small, as on the covariance.
        case = replace(case, preprocessing=Pipeline(steps).fit(fragments.means))
    if case.is_summarized:
        components = steps[-1][1]
        n, explained = len(components.components_), float(components.explained_)
        cautions.append(Caution.of("components", n=n, variables=len(case.features), explained=explained))
    sources: list[Source] = [[case.prepared(x) for x in source] for source in by_source]
    usable = [source for source in sources if len(source) > 1]
    if len(usable) < MIN_SOURCES_TO_CALIBRATE:
        raise CaseError(
            "few-sources", remedy="more-sources", table=table.name, n=len(usable), need=MIN_SOURCES_TO_CALIBRATE
        )
    one_fragment = len(fragments.names) == len(sources)
    if one_fragment:
        cautions.append(Caution.of("replicates-as-fragments", table=table.name))
    kept = varying(usable)
    if not kept.any():
        raise CaseError("constant-sources", remedy="more-sources", table=table.name)
    if not kept.all():
        names = [f"component {j + 1}" for j in range(len(kept))] if case.is_summarized else case.features
        left_out = np.asarray(names, dtype=object)[~kept].tolist()
        cautions.append(Caution.of("constant-in-background", variables=left_out, table=table.name))
    return replace(
        case,
        background_table=table,
        background=[[x[:, kept] for x in source] for source in sources],
        background_names=tuple(map(str, dict.fromkeys(fragments.sources))),
        kept=kept,
        one_fragment=one_fragment,
        cautions=tuple(cautions),
    )


def _with_survey(case: CaseTables, table: Table, fragments: Fragments) -> CaseTables:
    """Use one value per source, as surveys of refractive indices have, for likelihood ratios."""
    n = len(fragments.X)
    if n < MIN_SOURCES_FOR_RATIOS:
        raise CaseError("few-sources", remedy="more-sources", table=table.name, n=n, need=MIN_SOURCES_FOR_RATIOS)
    names = tuple(map(str, fragments.sources))
    caution = Caution.of("survey", table=table.name, n=n)
    return replace(case, background_table=table, background_names=names, survey=fragments.X[:, 0], cautions=(caution,))


def varying(sources: Sequence[Source]) -> Bools:
    """Return in which variables fragments of one source differ at all."""
    means = [np.array([x.mean(axis=0) for x in source]) for source in sources if len(source) > 1]
    return np.any([np.ptp(m, axis=0) > 1e-12 * np.abs(m).max(axis=0) for m in means], axis=0)


def _nfi_table(features: Sequence[str]) -> Table:
    """Return the NFI background with the control's names of elements."""
    glass = load_nfi_glass()
    symbols = {_symbol(name): name for name in glass.elements}
    names = {feature: symbols.get(_symbol(feature)) for feature in features}
    if lacking := [feature for feature, name in names.items() if name is None]:
        there = list(glass.elements)
        raise CaseError("lacks-variables", remedy="features", table="the NFI background", lacking=lacking, there=there)
    sources, pieces = (tuple(map(str, glass.frame[column])) for column in ("source", "piece"))
    return Table(
        name="NFI float glass",
        ids=tuple(map(" / ".join, zip(sources, pieces, strict=True))),
        features=tuple(features),
        X=glass.frame[list(names.values())].to_numpy(dtype=float),
        rows=np.arange(2, len(sources) + 2),
        source=sources,
        fragment=pieces,
        roles={"source": "source", "piece": "fragment"} | dict.fromkeys(features, "measurement"),
    )


def _symbol(name: str) -> str:
    """Return the chemical symbol in the name of an isotope: K of K39 and of 39K."""
    return "".join(letter for letter in name.split(" ")[0] if letter.isalpha()).casefold()
