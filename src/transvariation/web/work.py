"""Jobs of the worker processes: read tables, judge, view a case, write files. All return JSON values."""

import base64
import io
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

from transvariation.casework import CaseResult, CaseSettings, Conclusion, TableSettings
from transvariation.casework.checks import duplicate_warnings, format_p
from transvariation.casework.control_comparison import CLASSIFIERS, REDUCERS
from transvariation.casework.judging import Progress, judge_tables
from transvariation.casework.model_file import spreadsheet_safe
from transvariation.casework.reading import NFI, read_case
from transvariation.casework.result import LIMITATIONS, MANY, Measured
from transvariation.casework.variables import preprocessing_for, select_ranges, spectral_axis
from transvariation.datasets import load_glass
from transvariation.report.case import case_html, case_pdf
from transvariation.report.case_figures import (
    draw_acceptance,
    draw_extremes,
    draw_foreign,
    draw_fragments,
    draw_importance,
    draw_spectra,
    draw_type_ii,
    has_band,
    known_values,
    spectra_of,
    strongest_variables,
    with_unit,
)
from transvariation.report.case_text import (
    FOREIGN_WORDS,
    TYPE_II_WORDS,
    conclusion_frame,
    format_number,
    format_ratio,
    match_word,
    ratio_sentence,
    summary_lines,
    tables_of,
    verdict,
)
from transvariation.tables import Limits, TableError, read_pair
from transvariation.web.preview import problem_dict, segments, sheets, show_problems, show_table, some

# A browser shows all of this at once: less than the command line takes.
LIMITS = Limits(rows=50_000, columns=10_000, cells=500_000, unpacked=100_000_000)
MAX_PROBLEMS = 200
FEW = 40  # positions of a spectrum that can be chosen one by one
NAMED = 4  # variables named as evidence in the table of conclusions
REASONS = 40  # variables or regions in the evidence on a fragment
HELD_OUT = 6  # every so many-th window is among the recovered fragments of the example

Files = list[tuple[str, bytes]] | None  # named tables: control, recovered and perhaps background; None: the example


def example_files() -> list[tuple[str, bytes]]:
    """Return the packaged glass as two files; some windows are held out among the recovered fragments."""
    glass = load_glass()
    windows, held_out = glass.control.drop(glass.control.index[::HELD_OUT]), glass.control[::HELD_OUT]
    recovered = pd.concat([glass.recovered[::3], held_out])
    return [("windows.csv", windows.to_csv().encode()), ("recovered.csv", recovered.to_csv().encode())]


def _named(files: Files) -> tuple[tuple[bytes, bytes], tuple[str, str]]:
    (one, control), (other, recovered) = (files or example_files())[:2]
    names = (one, other) if one != other else (f"{one} (control)", f"{other} (recovered)")
    return (control, recovered), names


def _sources(files: Files) -> dict[str, Any]:
    """Return control and recovered as files in memory that know their names."""
    sources: dict[str, Any] = {}
    for role, content, name in zip(("control", "recovered"), *_named(files), strict=True):
        sources[role] = io.BytesIO(content)
        sources[role].name = name
    return sources


def _settings(reading: dict[str, Any], options: dict[str, Any]) -> CaseSettings:
    """Build the settings of a case from what the page sent."""
    each = zip(reading["sheets"], reading["decimals"], reading["roles"], strict=True)
    own = [TableSettings(sheet=sheet, decimal=decimal, roles=roles or {}) for sheet, decimal, roles in each]
    common = {name: reading[name] for name in ("missing", "drop_summary_rows", "log", "logged")}
    return CaseSettings.build(
        None, common | options | {"tables": dict(zip(("control", "recovered"), own, strict=True))}
    )


def understand(files: Files, reading: dict[str, Any]) -> dict[str, Any]:
    """Read control and recovered tables; return what was understood, or the problems and where they are."""
    contents, names = _named(files)
    seen = {"files": names, "sheets": [sheets(content, LIMITS) for content in contents]}
    settings = _settings(reading, {})
    both = settings.of_table("control"), settings.of_table("recovered")
    try:
        pair = read_pair(*contents, both, names=names, missing=settings.missing, limits=LIMITS)
    except TableError as error:
        each = zip(contents, names, reading["sheets"], reading["decimals"], strict=True)
        return seen | {
            "problems": [problem_dict(problem) for problem in error.problems[:MAX_PROBLEMS]],
            "tables": [
                show_problems(content, name, error.problems, LIMITS, sheet=sheet, decimal=decimal)
                for content, name, sheet, decimal in each
            ],
        }
    axis = spectral_axis(pair.features)
    return seen | {
        "features": list(pair.features) if axis is None or len(axis) <= FEW else [],
        "axis": None if axis is None else [float(axis.min()), float(axis.max())],
        "tables": [show_table(table, spectral=axis is not None) for table in (pair.control, pair.recovered)],
        "warnings": duplicate_warnings(pair.control, pair.recovered),
        "methods": {name: method.description for name, method in CLASSIFIERS.items()},
        "reductions": {name: words for name, (_, words) in REDUCERS.items()},
        "recommended": settings.method,
    }


def decide(files: Files, reading: dict[str, Any], options: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Judge the case; return all of it, and what the page needs of it if that is less."""
    kind, third = reading["background"], files[2][1] if files is not None and len(files) > 2 else None
    sources = _sources(files) | {
        "background": {NFI: NFI, "file": third}.get(kind),
        "foreign": third if kind == "foreign" else None,
    }
    settings = _settings(reading, options)
    progress("reading the tables", 0.0)
    tables = read_case(sources, settings, LIMITS)
    result = judge_tables(tables, settings, progress=progress, command="transvariation serve")
    return {"case": result.to_dict(), "shown": _without_measurements(result).to_dict() if has_band(result) else None}


def _without_measurements(result: CaseResult) -> CaseResult:
    """Keep one variable of each fragment: spectra are shown as the model saw them, and every view sends the case."""
    first = result.inputs.features[0]
    known = tuple(replace(k, measurements={first: k.measurements[first]}) for k in result.inputs.known)
    conclusions = tuple(replace(c, measurements={first: c.measurements[first]}) for c in result.conclusions)
    return replace(result, inputs=replace(result.inputs, known=known), conclusions=conclusions)


def preview_spectra(files: Files, reading: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
    """Return the spectra as they were read, and after preprocessing within the chosen ranges, as `judge` does it."""
    chosen = _settings(reading, {name: how[name] for name in ("ranges", "preprocess")})
    settings = _settings(reading, {"features": how["features"]})
    tables = read_case(_sources(files), settings, LIMITS)
    axis = spectral_axis(tables.features)
    if axis is None:
        raise ValueError("The names of the variables are not the positions of a spectrum.")
    steps = chosen.steps
    inside = set(select_ranges(tables.features, chosen.ranges) if chosen.ranges else tables.features)
    kept = np.array([name in inside for name in tables.features])
    known, new = tables.control.means, tables.recovered.means
    before = np.vstack([known[some(len(known))], new[some(len(new))]])
    after = None
    if steps is not None:
        preprocessing = preprocessing_for(steps, int(kept.sum())).fit(known[:, kept])
        after = segments(axis[kept], preprocessing.transform(before[:, kept]))
    return {
        "kinds": ["control"] * len(some(len(known))) + ["recovered"] * len(some(len(new))),
        "of": [len(known), len(new)],
        "kept": [int(kept.sum()), len(kept)],
        "before": segments(axis, before),
        "after": after,
    }


def view(content: dict[str, Any], sensitivity: float) -> dict[str, Any]:
    """Describe a case at a sensitivity for the page, which shows this and decides nothing."""
    asked = CaseResult.from_dict(content)
    result = asked.at(sensitivity)
    model, inputs = result.model, result.inputs
    calibration = model.calibrations[model.basis]
    files = ", ".join(f"{role} {table['file']}" for role, table in tables_of(result).items())
    number = inputs.case.get("case_number")
    evidence = conclusion_frame(result, NAMED)["evidence"]
    spectral, many = has_band(result), len(inputs.features) > MANY
    return {
        "sensitivity": model.sensitivity,
        "headline": result.headline,
        "conclusive": model.conclusive,
        "files": f"case {number}: {files}" if number else files,
        "summary": [
            f"Tables: {files}.",
            *(line for line in summary_lines(result)[1:] if not line.startswith("Warning: ")),
        ],
        "warnings": list(result.warnings),
        "trust": [calibration.description, calibration.guarantee, *LIMITATIONS],
        "spectral": spectral,
        "foreign": result.foreign is not None,
        "features": [] if spectral else list(model.variables.used if many else inputs.features),
        "axes": list(strongest_variables(asked)),  # they stay while the sensitivity moves
        "conclusions": [
            _conclusion(c, result) | {"evidence": words} for c, words in zip(result.conclusions, evidence, strict=True)
        ],
    }


def _conclusion(conclusion: Conclusion, result: CaseResult) -> dict[str, Any]:
    return {
        "fragment": conclusion.fragment,
        "source": conclusion.source,
        "accepted": conclusion.accepted,
        "excluded": result.model.conclusive and not conclusion.accepted,
        "verdict": verdict(conclusion, result),
        "p_value": conclusion.p_value,
        "p": format_p(conclusion.p_value),
        "ratios": [
            {"short": format_ratio(value, conclusion.bound.get(system, "")), "words": conclusion.words[system]}
            for system, value in conclusion.log10_lr.items()
        ],
        "match": match_word(conclusion),
        "disagreement": conclusion.disagreement,
        "replicates": max(len(values) for values in conclusion.measurements.values()),
    }


def points(content: dict[str, Any], x: str, y: str, sensitivity: float) -> dict[str, Any]:
    """Return the means and the replicates of all fragments in two variables, with the names of the axes."""
    result = CaseResult.from_dict(content)
    if not {x, y} <= set(result.inputs.features):
        raise ValueError(f"There is no variable {x!r} or no variable {y!r}.")

    def place(fragment: Measured | Conclusion) -> tuple[Any, ...]:
        values = fragment.measurements[x], fragment.measurements[y]
        means = (sum(each) / len(each) for each in values)
        return fragment.fragment, *means, list(zip(*values, strict=True)) if len(values[0]) > 1 else []

    return {
        "names": [with_unit(result, name) for name in (x, y)],
        "control": [place(known) for known in result.inputs.known],
        "recovered": [place(conclusion) for conclusion in result.conclusions],
    }


def evidence(content: dict[str, Any], fragment: str, sensitivity: float) -> dict[str, Any]:
    """Return the evidence on one fragment, the strongest first."""
    result = CaseResult.from_dict(content).at(sensitivity)
    found = [c for c in result.conclusions if c.fragment == fragment]
    if not found:
        raise ValueError(f"There is no fragment {fragment!r}.")
    (conclusion,) = found
    return {
        "statement": conclusion.statement,
        "ratios": [ratio_sentence(v, conclusion.bound.get(name, "")) for name, v in conclusion.log10_lr.items()],
    } | (_regions(conclusion, result) if has_band(result) else _reasons(conclusion, result))


def _reasons(conclusion: Conclusion, result: CaseResult) -> dict[str, Any]:
    reasons = conclusion.reasons[:REASONS]
    return {
        "more": len(result.model.variables.used) - len(reasons),
        "reasons": [
            {
                "variable": with_unit(result, reason.variable),
                "text": format_number(reason.value),
                "value": reason.value,
                "replicates": [format_number(value) for value in conclusion.measurements[reason.variable]],
                "known": known_values(result, reason.variable),
                "control": format_number(reason.control),
                "side": reason.side,
                "p": format_p(reason.p_values[result.model.basis]),
                "evidence": reason.evidence,
            }
            for reason in reasons
        ],
    }


def _regions(conclusion: Conclusion, result: CaseResult) -> dict[str, Any]:
    """Return the spectrum of a fragment over the band of the control, and where it leaves the band."""
    regions = conclusion.regions or ()
    return {
        "spectrum": _over_band(result, [conclusion.spectrum]),
        "shaded": [(region.low, region.high) for region in regions],
        "more": max(len(regions) - REASONS, 0),
        "regions": [
            [
                str(region),
                f"{region.peak:g}",
                f"{abs(region.deviation):.3g}",
                "above" if region.deviation > 0 else "below",
            ]
            for region in regions[:REASONS]
        ],
    }


def _over_band(result: CaseResult, lines: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return spectra and the band of the control, on a scale that does not depend on the sensitivity."""
    spectra = spectra_of(result)
    axis, band, widest = np.array(spectra.axis), spectra.band(result.model.sensitivity_used), spectra.band(1)
    parts = segments(axis, np.vstack([band.lower, band.upper, *lines]))
    values = np.vstack([widest.lower, widest.upper, *lines])
    return {
        "parts": [{"axis": p["axis"], "band": p["lines"][:2], "lines": p["lines"][2:]} for p in parts],
        "range": [float(values.min()), float(values.max())],
        "names": ["wavelength, wavenumber or shift", spectra.preprocess or "as read"],
    }


def spectra(content: dict[str, Any], sensitivity: float) -> dict[str, Any]:
    """Return some recovered spectra over the band of the control, and the importance of every position."""
    result = CaseResult.from_dict(content).at(sensitivity)
    axis, band = np.array(spectra_of(result).axis), spectra_of(result).band(result.model.sensitivity_used)
    drawn = [result.conclusions[i] for i in some(len(result.conclusions))]
    excluded = result.excluded if result.model.conclusive else ()
    outside = [np.abs(band.deviation(c.spectrum)) > band.width for c in excluded]
    share = np.mean(outside, axis=0) if outside else np.zeros(len(band.center))
    return _over_band(result, [c.spectrum for c in drawn]) | {
        "kinds": [("recovered" if c.accepted or not excluded else "excluded") for c in drawn],
        "titles": [f"{c.fragment}: {verdict(c, result)}, p-value {format_p(c.p_value)}" for c in drawn],
        "of": len(result.conclusions),
        "excluded": len(excluded),
        "importance": segments(axis, 100 * share),
    }


def figure(content: dict[str, Any], kind: str, sensitivity: float) -> dict[str, str]:
    """Draw a figure of the case as SVG, with a text that describes it."""
    result = CaseResult.from_dict(content).at(sensitivity)
    if kind not in FIGURES:
        raise ValueError(f"There is no figure {kind!r}; there are {', '.join(FIGURES)}.")
    if kind in OF_FOREIGN and result.foreign is None:
        raise ValueError("There are no known foreign samples.")
    draw, words = FIGURES[kind]
    return {"svg": _svg(draw(result)), "words": words}


FIGURES: dict[str, tuple[Callable[[CaseResult], Figure], str]] = {
    "acceptance": (
        draw_acceptance,
        "Acceptance plot: p-values of the recovered fragments. Those above the line are not excluded. Extreme ones are "
        "excluded, but some calibrating units score as low; outliers score lower than all of them.",
    ),
    "extremes": (
        draw_extremes,
        "Extremes plot: the number of recovered fragments with a p-value up to each level, against the number expected "
        "if all came from the source of the control. Points above the band: more differ than chance explains.",
    ),
    "foreign": (draw_foreign, FOREIGN_WORDS),
    "type_ii": (draw_type_ii, TYPE_II_WORDS),
}
OF_FOREIGN = ("foreign", "type_ii")


def _svg(figure: Figure) -> str:
    text = io.StringIO()
    with rc_context({"svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def render(content: dict[str, Any], kind: str, sensitivity: float) -> str:
    """Write a case at a sensitivity as a file; return its bytes in base64."""
    result = CaseResult.from_dict(content).at(sensitivity)
    writers = {
        "html": lambda: case_html(result).encode(),
        "pdf": lambda: case_pdf(result),
        "json": lambda: result.to_json().encode(),
        "csv": lambda: _csv(result).encode(),
        "zip": lambda: _figures(result),
    }
    return base64.b64encode(writers[kind]()).decode()


def _figures(result: CaseResult) -> bytes:
    """Write the figures of a case as SVG files in an archive."""
    drawn = {name: draw(result) for name, (draw, _) in FIGURES.items() if name not in OF_FOREIGN or result.foreign}
    if has_band(result):
        drawn |= {"spectra": draw_spectra(result)} | (
            {"importance": draw_importance(result)} if result.excluded else {}
        )
    else:
        drawn["fragments"] = draw_fragments(result)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, each in drawn.items():
            archive.writestr(f"{name}.svg", _svg(each))
    return content.getvalue()


def _csv(result: CaseResult) -> str:
    """Write the conclusions so that a spreadsheet takes no id or name for a formula."""
    table = conclusion_frame(result)
    words = table.select_dtypes(exclude="number")
    return table.assign(**words.map(spreadsheet_safe)).to_csv(index=False)
