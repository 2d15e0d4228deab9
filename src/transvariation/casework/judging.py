"""Judge recovered fragments by control fragments, with or without a background."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.signal import find_peaks

from transvariation._typing import Fields, Floats, Indices
from transvariation.casework.astm import MatchInterval, compare_by_astm
from transvariation.casework.background.basis import compare_with_background
from transvariation.casework.background.survey import SURVEY, SurveyComparison, compare_with_survey, summarize
from transvariation.casework.checks import Check, check_case
from transvariation.casework.control import compare_with_control
from transvariation.casework.controls import split_control
from transvariation.casework.decision import Model, conclude, conclude_group
from transvariation.casework.errors import CaseError
from transvariation.casework.evidence import (
    BackgroundEvidence,
    ControlEvidence,
    Evidence,
    FragmentEvidence,
    GroupEvidence,
    RatiosBySystem,
    VariableEvidence,
)
from transvariation.casework.fragments import Fragments
from transvariation.casework.procedure import Procedure
from transvariation.casework.progress import Progress, ProgressStep, ignore_progress, progress_of_part
from transvariation.casework.reading import CaseTables, read_case
from transvariation.casework.result import CaseResult, Inputs, Measured, joined
from transvariation.casework.settings import CaseSettings, groups_for, words_for
from transvariation.casework.spectra import Spectra
from transvariation.casework.variables import MANY_VARIABLES
from transvariation.provenance import provenance
from transvariation.tables import Table
from transvariation.tables.settings import with_fields

MAX_DEVIATION = 1e6  # standard deviations; JSON has no infinity
MAX_REASONS = 10  # of many variables, those that the reasons name


@with_fields(CaseSettings)
def judge(
    control: object,
    recovered: object,
    *,
    background: object = None,
    foreign: object = None,
    settings: CaseSettings | None = None,
    procedure: str | Path | None = None,
    progress: Progress | None = None,
    **fields: object,
) -> CaseResult:
    """Judge which recovered fragments could come from the source of the control fragments.

    With fewer than 30 control fragments, the same-source differences of the background calibrate the conclusions.
    With 30 or more, or without a background, the control fragments do, if there are enough for the sensitivity (9 for
    0.9, 19 for 0.95). Otherwise no conclusion is drawn.

    Parameters
    ----------
    control, recovered : path, bytes or DataFrame
        The two tables; see :func:`transvariation.tables.read_table`. Rows of one fragment are replicates.
    background : path, bytes, DataFrame or Database, or "nfi", optional
        Many sources of the same kind with several fragments each, measured alike. ``"nfi"`` is the float glass of
        :func:`transvariation.load_nfi_glass`.
    foreign : path, bytes or DataFrame, optional
        Samples that are known not to come from the control's source, measured alike. They show how often such samples
        are noticed, at every threshold. The source that each row names is its class or degree of adulteration. Not with
        a background, which shows the same for other sources.
    settings : CaseSettings, optional
        How the case is judged. The fields below replace those of `settings`; any other keyword is refused.
    procedure : path, optional
        A TOML file that fixes settings and background.
    progress : callable, optional
        Called with each step, which has a ``code`` and numbers, and the share of the work done before it, or None while
        that is not known.
    **fields

    Returns
    -------
    CaseResult

    See Also
    --------
    transvariation.casework.validate : Measure how often the method is wrong.
    transvariation.casework.verify : Recompute a saved case.
    transvariation.report.case.write_report : Write the report.

    Examples
    --------
    >>> from transvariation import load_glass
    >>> from transvariation.casework import judge
    >>> glass = load_glass()
    >>> result = judge(glass.control[["K", "Mg"]], glass.recovered[["K", "Mg"]])
    >>> len(result.conclusions), len(result.excluded) > 40
    (51, True)
    """
    fixed = None if procedure is None else Procedure.read(procedure)
    if fixed is None:
        settings = CaseSettings.build(settings, fields)
    else:
        settings = fixed.settings(fields, settings)
        background = fixed.background_of(background)
    progress = progress or ignore_progress
    progress(ProgressStep("reading"), 0.0)
    sources = {"control": control, "recovered": recovered, "background": background, "foreign": foreign}
    result = judge_tables(read_case(sources, settings), settings, progress=progress)
    return result if fixed is None else fixed.recorded(result)


def judge_tables(
    tables: CaseTables,
    settings: CaseSettings,
    *,
    progress: Progress = ignore_progress,
    command: str = "transvariation.casework.judge",
) -> CaseResult:
    """Judge a case whose tables were read with the same settings.

    The result names the command; for `progress` see `judge`.
    """
    if divided := split_control(tables, settings):
        return _judge_each(tables, divided, settings, progress, command)
    seed, background = settings.seed, None
    if tables.background:
        grouped = groups_for(settings, tables.axis is not None)
        background = compare_with_background(
            tables, seed, grouped, lambda step, share: progress(step, 0.1 + 0.6 * share)
        )
    compared = ProgressStep("control", {"recovered": len(tables.recovered.names), "control": len(tables.control.names)})
    progress(compared, 0.7 if background else None)  # without a background this step is nearly all the work
    control = compare_with_control(tables, settings, None if background is None else background.groups)
    progress(ProgressStep("checks"), 0.9)
    one = words_for(settings, tables.axis is not None) == "case"
    checks, cautions = check_case(tables, background, np.random.default_rng(seed), of_one_source=one)
    criterion, matches, further = compare_by_astm(tables, settings.multiplier, settings.min_rsd, seed, settings.astm)
    bases: dict[str, Evidence] = {"control": control} | ({} if background is None else {"background": background})
    surveyed = _compare_with_survey(tables, settings)
    model = Model(
        variables=control.variables,
        bases={name: found.basis for name, found in bases.items()},
        criterion=criterion,
        likelihood={} if background is None else background.likelihood,
        sensitivity=settings.sensitivity,
        lead=settings.lead,
        together=len(tables.recovered.names) if settings.family_wise else 1,
        survey=summarize(tables.background_names, surveyed) if surveyed else None,
    )
    spectra = _spectra(tables, model)
    fragments = _fragments(tables, control, background, matches, spectra)
    if surveyed:
        fragments = list(map(_with_survey, fragments, surveyed))
    return CaseResult(
        settings=settings,
        inputs=_inputs(tables, checks),
        model=model,
        conclusions=tuple(conclude(found, model, spectra) for found in fragments),
        groups=tuple(conclude_group(found, model) for found in _groups(tables.recovered, control, background)),
        cautions=(*cautions, *further, *(each for found in bases.values() for each in found.cautions)),
        provenance=provenance(command, seed=seed),
        spectra=spectra,
        foreign=control.foreign,
        distances=control.distances,
        grouping=None if background is None else background.grouping,
    )


def _compare_with_survey(tables: CaseTables, settings: CaseSettings) -> list[SurveyComparison]:
    """Compare every fragment by a survey with one value per source; empty without one."""
    if tables.survey is None:
        return []
    how = tables.survey, settings.within or None
    try:
        return [compare_with_survey(tables.control.replicates, x.ravel(), *how) for x in tables.recovered.replicates]
    except ValueError as error:
        raise CaseError("no-within", remedy="within", table=tables.control_table.name) from error


def _with_survey(found: FragmentEvidence, by: SurveyComparison) -> FragmentEvidence:
    """Add the evidence of a survey."""
    bound = {SURVEY: by.bound} if by.bound else {}
    return replace(found, log10_lr={SURVEY: by.log10_lr}, bound=bound, t_test=by.p_value)


def _judge_each(
    tables: CaseTables, divided: dict[str, CaseTables], settings: CaseSettings, progress: Progress, command: str
) -> CaseResult:
    """Judge by each control source, and whether fragments could come from any of them."""
    together, cases = replace(settings, controls="together"), []
    for i, (name, each) in enumerate(divided.items()):
        own = progress_of_part(progress, name, i, len(divided))
        case = judge_tables(each, together, progress=own, command=command)
        named = tuple(replace(conclusion, control=name) for conclusion in case.conclusions)
        cases.append(replace(case, settings=settings, conclusions=named))
    return joined(_inputs(tables, ()), cases)


def _inputs(tables: CaseTables, checks: tuple[Check, ...]) -> Inputs:
    control = tables.control
    measured = [_measurements(tables.control_table, rows) for rows in control.rows]
    return Inputs(
        control=_summary(tables.control_table, len(control.names)),
        recovered=_summary(tables.recovered_table, len(tables.recovered.names)),
        background=None
        if tables.background_table is None
        else _summary(tables.background_table, sum(map(len, tables.background)) or len(tables.background_names))
        | {"population": tables.population},
        features=tables.features,
        units=dict(tables.control_table.units),
        known=tuple(map(Measured, control.names, control.sources, measured)),
        checks=checks,
        foreign=None
        if tables.foreign is None or tables.foreign_table is None
        else _summary(tables.foreign_table, len(tables.foreign.names)),
    )


def _summary(table: Table, n_fragments: int) -> dict[str, object]:
    return table.summary() | {"rows": len(table.X), "fragments": n_fragments}


def _measurements(table: Table, rows: Indices) -> dict[str, tuple[float, ...]]:
    """Return the replicates of a fragment as given, by variable."""
    return dict(zip(table.features, map(tuple, table.X[rows].T.tolist()), strict=True))


def _spectra(tables: CaseTables, model: Model) -> Spectra | None:
    """Collect the control spectra as they are shown."""
    if tables.axis is None:
        return None
    known = tuple(map(_rounded, tables.shown[0]))
    return Spectra(tuple(tables.axis.tolist()), tables.shown_after, known, whole=not model.variables.unused)


def _rounded(values: Floats) -> tuple[float, ...]:
    """Round numbers to nine digits: a file of spectra would be twice as long otherwise."""
    return tuple(float(f"{value:.9g}") for value in values)


def _deviations(tables: CaseTables) -> Floats:
    """Compute how far recovered fragments lie from the control mean, in standard deviations of the control."""
    control, recovered = tables.shown
    spread = control.std(axis=0, ddof=1) if len(control) > 1 else np.zeros(control.shape[1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        deviations = (recovered - control.mean(axis=0)) / spread
    return np.clip(np.nan_to_num(deviations, nan=0.0), -MAX_DEVIATION, MAX_DEVIATION)


def _telling(p_values: Floats, deviations: Floats, used: list[int], is_spectrum: bool) -> list[int]:
    """Choose the variables that the reasons of a recovered fragment name: all, or of many the most telling ones.

    Neighboring positions of a spectrum tell the same, so that only the largest deviation among them is named.
    """
    if len(used) <= MANY_VARIABLES:
        return used
    if is_spectrum and len(used) == len(deviations):
        peaks, _ = find_peaks(np.r_[0, np.abs(deviations), 0], distance=len(deviations) // (5 * MAX_REASONS))
        return sorted((peaks - 1).tolist(), key=lambda j: -abs(deviations[j]))[:MAX_REASONS]
    return sorted(used, key=lambda j: (np.nan_to_num(p_values[j], nan=1.0), -abs(deviations[j])))[:MAX_REASONS]


def _fragments(
    tables: CaseTables,
    by_control: ControlEvidence,
    by_background: BackgroundEvidence | None,
    matches: Sequence[tuple[bool | None, tuple[MatchInterval, ...]]],
    spectra: Spectra | None,
) -> list[FragmentEvidence]:
    """Collect the evidence on every recovered fragment."""
    recovered = tables.recovered
    means, control = (
        np.array([table.X[rows].mean(axis=0) for rows in fragments.rows])
        for table, fragments in ((tables.recovered_table, recovered), (tables.control_table, tables.control))
    )
    if spectra is not None:
        control, means = tables.shown
    center = control.mean(axis=0)
    bases = {"control": by_control} | ({} if by_background is None else {"background": by_background})
    univariate = {
        basis: np.where(tables.no_evidence, np.nan, found.univariate)
        for basis, found in bases.items()
        if found.univariate is not None
    }
    names = set(by_control.variables.used)
    used = [j for j, variable in enumerate(tables.features) if variable in names]
    if len(used) == 1:  # then the comparison by this variable is the comparison
        for basis, found in univariate.items():
            found[:, used] = np.where(np.isnan(found[:, used]), np.nan, bases[basis].p_values[:, None])
    telling = univariate.get("background", univariate.get("control", np.full(means.shape, np.nan)))
    deviations = np.where(tables.no_evidence, 0.0, _deviations(tables))

    def reason(i: int, j: int) -> VariableEvidence:
        return VariableEvidence(
            variable=tables.features[j],
            value=float(means[i, j]),
            control=float(center[j]),
            side=("below", "at", "above")[int(np.sign(means[i, j] - center[j])) + 1],
            deviation=float(deviations[i, j]),
            p_values=_known({basis: found[i, j] for basis, found in univariate.items()}),
        )

    return [
        FragmentEvidence(
            fragment=name,
            source=recovered.sources[i],
            p_values=_known({basis: found.p_values[i] for basis, found in bases.items()}),
            **_ratios({} if by_background is None else by_background.ratios[i]),
            match=matches[i][0],
            intervals=matches[i][1],
            reasons=tuple(reason(i, j) for j in _telling(telling[i], deviations[i], used, spectra is not None)),
            measurements=_measurements(tables.recovered_table, recovered.rows[i]),
            tp=None if by_control.tp is None else float(by_control.tp[i]),
            spectrum=() if spectra is None else _rounded(means[i]),
        )
        for i, name in enumerate(recovered.names)
    ]


def _known(p_values: Fields) -> dict[str, float]:
    """Leave out what is no evidence."""
    return {basis: float(p) for basis, p in p_values.items() if not np.isnan(p)}


def _ratios(ratios: RatiosBySystem) -> Fields:
    return {
        "log10_lr": {system: value for system, (value, _) in ratios.items()},
        "bound": {system: bound for system, (_, bound) in ratios.items() if bound},
    }


def _groups(
    recovered: Fragments, control: ControlEvidence, background: BackgroundEvidence | None
) -> list[GroupEvidence]:
    """Name the groups of recovered fragments: those by the background if there is one."""
    found = control if background is None else background
    bases = {"control": control} | ({} if background is None else {"background": background})
    return [
        GroupEvidence(
            fragments=tuple(recovered.names[i] for i in group),
            p_values={basis: each.group_p_values[k] for basis, each in bases.items() if each.group_p_values},
            **_ratios({} if background is None else background.group_ratios[k]),
        )
        for k, group in enumerate(found.groups)
    ]
