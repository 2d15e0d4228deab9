"""What the page shows of a case, as JSON values: it shows this and decides nothing. And the files that it saves."""

import base64
import io
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd

from transvariation._typing import Fields
from transvariation.casework import CaseResult, Conclusion
from transvariation.casework.model_file import spreadsheet_safe
from transvariation.casework.result import Measured
from transvariation.casework.variables import MANY_VARIABLES
from transvariation.report.case import case_document, error_rates, limitations, method
from transvariation.report.case_appendices import reason_frame
from transvariation.report.case_figures import (
    FIGURES,
    figure_words,
    figures_of,
    has_band,
    spectra_of,
    strongest_variables,
    with_unit,
)
from transvariation.report.case_text import (
    conclusion_frame,
    disagreement_lines,
    fact_lines,
    format_ratio,
    sentences,
    tables_of,
)
from transvariation.report.controls import joint_of, matrix_frame, matrix_section
from transvariation.report.digits import Digits
from transvariation.report.page import Section, render
from transvariation.report.vocabulary import words_of
from transvariation.report.wording.cautions import warning_texts
from transvariation.report.wording.numbers import format_p, in_words
from transvariation.report.wording.remedies import refusal
from transvariation.report.wording.statements import (
    ALONE,
    disagreement,
    headline,
    match_word,
    outcome_words,
    reason_notes,
    side_text,
    verdict,
)
from transvariation.web.preview import AXIS_NAME, segments, some

VARIABLES_NAMED = 4  # variables in which a fragment differs by itself, in the table of conclusions
REASONS_LISTED = 40  # variables or regions in the evidence on a fragment
OVERVIEWS = ("spectra", "importance", "fragments")  # of which the page draws figures of its own


def view(result: CaseResult) -> Fields:
    """Describe the case for the page, which shows this and decides nothing."""
    model, inputs = result.model, result.inputs
    files = ", ".join(f"{role} {table['file']}" for role, table in tables_of(result).items())
    number = result.settings.case.get("case_number")
    spectral, many = has_band(result), len(inputs.features) > MANY_VARIABLES
    return {
        "name": _file_name(result),
        "sensitivity": model.sensitivity,
        "words": words_of(result),
        "headline": headline(result),
        "conclusive": result.concludes,
        "key": _key(result),
        "disagrees": " (evidence disagrees)",
        "files": f"case {number}: {files}" if number else files,
        "summary": [f"Tables: {files}.", *disagreement_lines(result), *fact_lines(result)],
        "warnings": warning_texts(result),
        "sections": [
            asdict(each) for each in (error_rates(result, figures=False), method(result), limitations(result))
        ],
        "spectral": spectral,
        "figures": [kind for kind in figures_of(result) if kind not in OVERVIEWS],
        "features": [] if spectral else list(model.variables.used if many else inputs.features),
        "axes": list(strongest_variables(result)),
        "columns": _columns(result),
        "conclusions": _conclusions(result),
        "matrix": None,
    }


def matrix(result: CaseResult, source: int) -> Fields:
    """Describe what differs on the page if the control has several sources, of which one is shown."""
    return {
        "headline": headline(result),
        "warnings": warning_texts(result),
        "matrix": {
            "source": source,
            "sources": list(joint_of(result).sources),
            "parts": matrix_section(result, Section("")).parts,
        },
    }


def _key(result: CaseResult) -> dict[str, str]:
    """Name the kinds of conclusions in figures and above the table."""
    words = outcome_words(result) if result.concludes else ("no conclusion", "excluded")
    return {"for": words[0], "against": words[1]}


def points(result: CaseResult, x: str, y: str) -> Fields:
    """Return the means and the replicates of all fragments in two variables, with the names of the axes."""
    if not {x, y} <= set(result.inputs.features):
        raise ValueError(refusal("no-variable", x=x, y=y))

    def place(fragment: Measured | Conclusion) -> tuple[object, ...]:
        values = fragment.measurements[x], fragment.measurements[y]
        means = (sum(each) / len(each) for each in values)
        return fragment.fragment, *means, list(zip(*values, strict=True)) if len(values[0]) > 1 else []

    return {
        "names": [with_unit(result, name) for name in (x, y)],
        "control": [place(known) for known in result.inputs.known],
        "recovered": [place(conclusion) for conclusion in result.conclusions],
    }


def evidence(result: CaseResult, key: str) -> Fields:
    """Return the evidence behind one conclusion, by its number; the strongest first."""
    if key not in map(str, range(len(result.conclusions))):
        raise ValueError(refusal("no-conclusion", key=key, last=len(result.conclusions) - 1))
    conclusion = result.conclusions[int(key)]
    found = _regions(conclusion, result) if has_band(result) else _reasons(conclusion, result)
    return {"statements": sentences(conclusion, result)} | found


def spectra(result: CaseResult) -> Fields:
    """Return some recovered spectra over the band of the control, and the importance of every position."""
    axis, band = np.array(spectra_of(result).axis), spectra_of(result).band(result.model.sensitivity_used)
    drawn = [result.conclusions[i] for i in some(len(result.conclusions))]
    excluded = result.excluded
    outside = [np.abs(band.deviation(c.spectrum)) > band.width for c in excluded]
    share = np.mean(outside, axis=0) if outside else np.zeros(len(band.center))
    return _over_band(result, [c.spectrum for c in drawn]) | {
        "kinds": [("excluded" if c.accepted is False else "recovered") for c in drawn],
        "titles": [f"{c.fragment}: {verdict(c)}, p-value {format_p(c.p_value)}" for c in drawn],
        "drawn": f"{len(drawn)} of {len(result.conclusions)} recovered spectra are drawn.",
        "importance": {
            "parts": segments(axis, 100 * share),
            "kinds": ["excluded"],
            "range": [0, 100],
            "names": [AXIS_NAME, "% outside"],
        }
        if excluded
        else None,
    }


def figure(result: CaseResult, kind: str) -> dict[str, str]:
    """Draw a figure of the case as SVG, with a text that describes it."""
    if kind not in figures_of(result):
        raise ValueError(refusal("no-figure", kind=kind, there=", ".join(figures_of(result))))
    return {"svg": render(FIGURES[kind].draw(result), "svg").decode(), "words": figure_words(result, kind)}


def save(result: CaseResult, kind: str) -> dict[str, str]:
    """Write the case as a file; return its name and its bytes in base64."""
    write = WRITERS[kind]
    return {"name": f"{_file_name(result)}.{kind}", "content": base64.b64encode(write(result)).decode()}


def _file_name(result: CaseResult) -> str:
    """Name files after the case number, as far as every system allows its characters."""
    number = re.sub(r"[^\w.-]+", "-", result.settings.case.get("case_number", ""), flags=re.ASCII).strip("-.")
    return number[:80] or "transvariation-case"


def _columns(result: CaseResult) -> dict[str, bool | str]:
    """Tell which columns the table of conclusions needs, and what the criterion of standard deviations is called."""
    return {
        "sources": len({c.source for c in result.conclusions}) > 1,
        "ratios": any(c.log10_lr for c in result.conclusions),
        "matches": result.model.criterion.name if any(c.match is not None for c in result.conclusions) else "",
    }


def _conclusions(result: CaseResult) -> list[Fields]:
    alone = conclusion_frame(result, VARIABLES_NAMED).get(ALONE, [""] * len(result.conclusions))
    return [
        {
            "key": key,
            "fragment": c.fragment,
            "source": c.source,
            "accepted": not c.differs if c.leads == "exclusion" else c.outcome is not False,
            "excluded": c.outcome is False,
            "verdict": verdict(c),
            "p_value": c.p_value,
            "p": format_p(c.p_value),
            "ratios": [
                {"short": format_ratio(value, c.bound.get(system, "")), "words": in_words(value)}
                for system, value in c.log10_lr.items()
            ],
            "match": None if c.match is None else match_word(c),
            "disagreement": " ".join(disagreement(c)),
            "more": _about(c, result),
            "alone": words,
        }
        for key, (c, words) in enumerate(zip(result.conclusions, alone, strict=True))
    ]


def _reasons(conclusion: Conclusion, result: CaseResult) -> Fields:
    reasons, digits = conclusion.reasons[:REASONS_LISTED], Digits(result)
    frame = reason_frame(result, conclusion, REASONS_LISTED, digits)
    if max(map(len, conclusion.measurements.values())) > 1:
        measured = [(reason.variable, conclusion.measurements[reason.variable]) for reason in reasons]
        frame.insert(2, "replicates", [", ".join(digits.write(name, v) for v in values) for name, values in measured])
    frame["reading"] = list(map(side_text, reasons))
    outcomes = [False if reason.evidence else None for reason in reasons]
    section = Section("").table(frame, f"Variables of {conclusion.fragment}", kind="strips", outcomes=outcomes)
    return {"parts": section.parts, "notes": reason_notes(conclusion, len(reasons), len(result.model.variables.used))}


def _about(conclusion: Conclusion, result: CaseResult) -> str:
    """Name the source of a fragment, where there are several, and the number of its replicates."""
    n = max(map(len, conclusion.measurements.values()))
    several = len({each.source for each in result.conclusions}) > 1
    return ", ".join([*([f"source {conclusion.source}"] if several else []), *([f"{n} replicates"] if n > 1 else [])])


def _regions(conclusion: Conclusion, result: CaseResult) -> Fields:
    """Return the spectrum of a fragment over the band of the control, and where it leaves the band."""
    regions = conclusion.regions or ()
    label = f"Spectrum of {conclusion.fragment} over the band of the control; {len(regions)} regions are outside"
    rows = [
        {
            "region": str(region),
            "largest deviation at": f"{region.peak:g}",
            "control standard deviations": f"{abs(region.deviation):.3g}",
            "side": f"{'above' if region.deviation > 0 else 'below'} the control",
        }
        for region in regions[:REASONS_LISTED]
    ]
    return {
        "spectrum": _over_band(result, [conclusion.spectrum]),
        "shaded": [(region.low, region.high) for region in regions],
        "label": label,
        "keys": {"band": "band of the control", "region": "outside the band"},
        "parts": Section("").table(pd.DataFrame(rows), label).parts if rows else [],
        "notes": reason_notes(conclusion, min(len(regions), REASONS_LISTED), len(regions)),
    }


def _over_band(result: CaseResult, lines: Sequence[Sequence[float]]) -> Fields:
    """Return spectra and the band of the control, on a scale that does not depend on the sensitivity."""
    spectra = spectra_of(result)
    axis, band, widest = np.array(spectra.axis), spectra.band(result.model.sensitivity_used), spectra.band(1)
    parts = segments(axis, np.vstack([band.lower, band.upper, *lines]))
    values = np.vstack([widest.lower, widest.upper, *lines])
    return {
        "parts": [{"axis": p["axis"], "band": p["lines"][:2], "lines": p["lines"][2:]} for p in parts],
        "range": [float(values.min()), float(values.max())],
        "names": [AXIS_NAME, spectra.preprocess or "as read"],
    }


def _archive(result: CaseResult) -> bytes:
    """Write the figures of a case as SVG files in an archive; of several control sources those of the first."""
    result = result.cases[0] if result.cases else result
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for kind in figures_of(result):
            archive.writestr(f"{kind}.svg", render(FIGURES[kind].draw(result), "svg"))
    return content.getvalue()


def _csv(result: CaseResult) -> str:
    """Write the conclusions so that a spreadsheet takes no id or name for a formula."""
    table = matrix_frame(result) if result.cases else conclusion_frame(result)
    words = table.select_dtypes(exclude="number")
    return table.assign(**words.map(spreadsheet_safe)).to_csv(index=False)


WRITERS: dict[str, Callable[[CaseResult], bytes]] = {
    "html": lambda result: case_document(result).html().encode(),
    "pdf": lambda result: case_document(result).pdf(),
    "json": lambda result: result.to_json().encode(),
    "csv": lambda result: _csv(result).encode(),
    "zip": _archive,
}

VIEWS: dict[str, Callable[..., Fields]] = {
    "view": view,
    "points": points,
    "evidence": evidence,
    "spectra": spectra,
    "figure": figure,
    "save": save,
}
