"""Judge recovered fragments by control fragments, with or without a background."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.signal import find_peaks

from transvariation.casework.astm import compare_by_astm
from transvariation.casework.background.basis import compare_with_background
from transvariation.casework.checks import Check, check_case
from transvariation.casework.conclusions import Conclusion, Group, Model, Reason
from transvariation.casework.control_comparison import Evidence, compare_with_control
from transvariation.casework.fragments import Fragments
from transvariation.casework.reading import CaseTables, read_case
from transvariation.casework.result import CaseResult, Inputs, Measured
from transvariation.casework.settings import CaseSettings, with_fields
from transvariation.casework.spectra import Spectra
from transvariation.casework.variables import MANY
from transvariation.provenance import provenance
from transvariation.tables import Table

Progress = Callable[[str, float | None], None]
FARTHEST = 1e6  # standard deviations; JSON has no infinity
TELLING = 10  # of many variables, those that the reasons name


@with_fields
def judge(
    control: Any,
    recovered: Any,
    *,
    background: Any = None,
    foreign: Any = None,
    settings: CaseSettings | None = None,
    progress: Progress | None = None,
    **fields: Any,
) -> CaseResult:
    """Judge which recovered fragments could come from the source of the control fragments.

    With fewer than 30 control fragments, the same-source differences of the background calibrate the conclusions.
    With 30 or more, or without a background, the control fragments do, if there are enough for the sensitivity (9 for
    0.9, 19 for 0.95). Otherwise no conclusion is drawn.

    Parameters
    ----------
    control, recovered : path, bytes or DataFrame
        The two tables; see :func:`transvariation.tables.read_table`. Rows of one fragment are replicates.
    background : path, bytes or DataFrame, or "nfi", optional
        Many sources of the same kind with several fragments each, measured alike. ``"nfi"`` is the float glass of
        :func:`transvariation.load_nfi_glass`.
    foreign : path, bytes or DataFrame, optional
        Samples that are known not to come from the control's source, measured alike. They show how often such samples
        are noticed, at every threshold. The source that each row names is its class or degree of adulteration. Not with
        a background, which shows the same for other sources.
    settings : CaseSettings, optional
        How the case is judged. The fields below replace those of `settings`; any other keyword is refused.
    progress : callable, optional
        Called with each step in words and the share of the work done before it, or None while that is not known.
    **fields

    Returns
    -------
    CaseResult

    Examples
    --------
    >>> from transvariation import load_glass
    >>> from transvariation.casework import judge
    >>> glass = load_glass()
    >>> result = judge(glass.control[["K", "Mg"]], glass.recovered[["K", "Mg"]])
    >>> len(result.conclusions), len(result.excluded) > 40
    (51, True)
    """
    settings = CaseSettings.build(settings, fields)
    progress = progress or _ignore
    progress("reading the tables", 0.0)
    sources = {"control": control, "recovered": recovered, "background": background, "foreign": foreign}
    return judge_tables(read_case(sources, settings), settings, progress=progress)


def _ignore(step: str, share: float | None) -> None:
    """Report no progress."""


def judge_tables(
    tables: CaseTables,
    settings: CaseSettings,
    *,
    progress: Progress = _ignore,
    command: str = "transvariation.casework.judge",
) -> CaseResult:
    """Judge a case whose tables were read with the same settings.

    Parameters
    ----------
    tables : CaseTables
        What `read_case` returned.
    settings : CaseSettings
    progress : callable
        See `judge`.
    command : str
        The command to name in the result.

    Returns
    -------
    CaseResult
    """
    seed = settings.seed
    words = f"comparing {len(tables.recovered.names)} recovered with {len(tables.control.names)} control fragments"
    progress(words, 0.1 if tables.background else None)  # without a background this step is nearly all the work
    evidence = {"control": compare_with_control(tables, settings)}
    if tables.background:
        evidence["background"] = compare_with_background(
            tables, seed, lambda step, share: progress(step, 0.3 + 0.6 * share)
        )
        if tables.is_summarised:
            evidence["background"].univariate = evidence["control"].univariate
    progress("checking the control", 0.9)
    by_background = evidence["background"].checks if tables.background else []
    checks, cautions = check_case(tables, by_background, np.random.default_rng(seed))
    criterion, matches, further = compare_by_astm(tables, settings.multiplier, settings.min_rsd, seed)
    model = Model(
        method=settings.method,
        reduce=settings.reduce,
        preprocess=settings.steps,
        variables=evidence["control"].variables,
        sensitivity=settings.sensitivity,
        calibrations={basis: found.calibration for basis, found in evidence.items()},
        criterion=criterion,
        likelihood=evidence["background"].likelihood if tables.background else {},
        seed=seed,
    )
    spectra = _spectra(tables, model)
    result = CaseResult(
        settings=settings,
        inputs=_inputs(tables, settings, checks),
        model=model,
        conclusions=_conclusions(tables, evidence, model, matches, spectra),
        groups=_groups(tables.recovered, evidence),
        warnings=(),
        cautions=(*cautions, *further, *(words for found in evidence.values() for words in found.cautions)),
        provenance=provenance(command, seed=seed),
        spectra=spectra,
        foreign=evidence["control"].foreign,
    )
    return result.at(settings.sensitivity)


def _inputs(tables: CaseTables, settings: CaseSettings, checks: tuple[Check, ...]) -> Inputs:
    control = tables.control
    measured = [_measurements(tables.control_table, rows) for rows in control.rows]
    return Inputs(
        case=dict(settings.case),
        control=_summary(tables.control_table, len(control.names)),
        recovered=_summary(tables.recovered_table, len(tables.recovered.names)),
        background=None
        if tables.background_table is None
        else _summary(tables.background_table, sum(map(len, tables.background))),
        features=tables.features,
        units=dict(tables.control_table.units),
        log=settings.log,
        known=tuple(map(Measured, control.names, control.sources, measured)),
        checks=checks,
        logged=settings.logged,
        foreign=None
        if tables.foreign is None or tables.foreign_table is None
        else _summary(tables.foreign_table, len(tables.foreign.names)),
    )


def _summary(table: Table, n_fragments: int) -> dict[str, Any]:
    return table.summary() | {"rows": len(table.X), "fragments": n_fragments}


def _measurements(table: Table, rows: Any) -> dict[str, tuple[float, ...]]:
    """Return the replicates of a fragment as given, by variable."""
    return dict(zip(table.features, map(tuple, table.X[rows].T.tolist()), strict=True))


def _spectra(tables: CaseTables, model: Model) -> Spectra | None:
    """Collect the control spectra as they are shown."""
    if tables.axis is None:
        return None
    known = tuple(map(_rounded, tables.shown[0]))
    return Spectra(tuple(tables.axis.tolist()), tables.shown_after, known, whole=not model.variables.unused)


def _rounded(values: Any) -> tuple[float, ...]:
    """Round numbers to nine digits: a file of spectra would be twice as long otherwise."""
    return tuple(float(f"{value:.9g}") for value in values)


def _deviations(tables: CaseTables) -> Any:
    """Compute how far recovered fragments lie from the control mean, in standard deviations of the control."""
    control, recovered = tables.shown
    spread = control.std(axis=0, ddof=1) if len(control) > 1 else np.zeros(control.shape[1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        deviations = (recovered - control.mean(axis=0)) / spread
    return np.clip(np.nan_to_num(deviations, nan=0.0), -FARTHEST, FARTHEST)


def _telling(p_values: Any, deviations: Any, used: list[int], is_spectrum: bool) -> list[int]:
    """Choose the variables that the reasons of a recovered fragment name: all, or of many the most telling ones.

    Neighbouring positions of a spectrum tell the same, so that only the largest deviation among them is named.
    """
    if len(used) <= MANY:
        return used
    if is_spectrum and len(used) == len(deviations):
        peaks, _ = find_peaks(np.r_[0, np.abs(deviations), 0], distance=len(deviations) // (5 * TELLING))
        return sorted((peaks - 1).tolist(), key=lambda j: -abs(deviations[j]))[:TELLING]
    return sorted(used, key=lambda j: (p_values[j], -abs(deviations[j])))[:TELLING]


def _conclusions(
    tables: CaseTables, evidence: dict[str, Evidence], model: Model, matches: Sequence[Any], spectra: Spectra | None
) -> tuple[Conclusion, ...]:
    """Collect the evidence on every recovered fragment; `CaseResult.at` decides."""
    recovered = tables.recovered
    means, control = (
        np.array([table.X[rows].mean(axis=0) for rows in fragments.rows])
        for table, fragments in ((tables.recovered_table, recovered), (tables.control_table, tables.control))
    )
    if spectra is not None:
        control, means = tables.shown
    center = control.mean(axis=0)
    tp, no_evidence = evidence["control"].tp, tables.no_evidence
    ratios = evidence["background"].ratios if "background" in evidence else [{}] * len(recovered.names)
    deviations = np.where(no_evidence, 0.0, _deviations(tables))
    by_variable = evidence["background" if "background" in evidence else "control"].univariate
    names = set(model.variables.used)
    used = [j for j, variable in enumerate(tables.features) if variable in names]
    return tuple(
        Conclusion(
            fragment=name,
            source=recovered.sources[i],
            log10_lr={system: value for system, (value, _) in ratios[i].items()},
            bound={system: bound for system, (_, bound) in ratios[i].items() if bound},
            match=matches[i][0],
            intervals=matches[i][1],
            reasons=tuple(
                Reason(
                    variable=tables.features[j],
                    value=float(means[i, j]),
                    control=float(center[j]),
                    side=("below", "at", "above")[int(np.sign(means[i, j] - center[j])) + 1],
                    p_values={
                        basis: 1.0 if no_evidence[i, j] else float(found.univariate[i, j])
                        for basis, found in evidence.items()
                    },
                    deviation=float(deviations[i, j]),
                )
                for j in _telling(by_variable[i], deviations[i], used, spectra is not None)
            ),
            measurements=_measurements(tables.recovered_table, recovered.rows[i]),
            p_values={basis: float(found.p_values[i]) for basis, found in evidence.items()},
            tp=None if tp is None else float(tp[i]),
            spectrum=() if spectra is None else _rounded(means[i]),
        )
        for i, name in enumerate(recovered.names)
    )


def _groups(recovered: Fragments, evidence: dict[str, Evidence]) -> tuple[Group, ...]:
    """Name the groups of recovered fragments: those by the background if there is one."""
    found = evidence["background" if "background" in evidence else "control"]
    by_background, by_control = "background" in evidence, evidence["control"].joint_p_value
    return tuple(
        Group(
            fragments=tuple(recovered.names[i] for i in group),
            p_values={"control": by_control(group)} | ({"background": p} if by_background else {}),
            log10_lr={system: value for system, (value, _) in ratios.items()},
            bound={system: bound for system, (_, bound) in ratios.items() if bound},
        )
        for group, p, ratios in found.groups
    )
