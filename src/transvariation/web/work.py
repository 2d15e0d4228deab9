"""Jobs of the worker processes: read tables, judge, view a case, write files. All return JSON values."""

import base64
from typing import Any

import pandas as pd

from transvariation.casework import METHODS, REDUCTIONS, CaseResult, judge
from transvariation.casework.case_tables import NFI, duplicate_warnings
from transvariation.casework.methods import DEFAULT
from transvariation.casework.model_file import spreadsheet_safe
from transvariation.casework.result import LIMITATIONS
from transvariation.datasets import load_glass
from transvariation.report.case import case_html, case_pdf
from transvariation.report.case_text import (
    conclusion_frame,
    format_number,
    format_p,
    format_ratio,
    match_word,
    ratio_sentence,
    summary_lines,
    tables_of,
    verdict,
)
from transvariation.tables import Limits, TableError, read_pair
from transvariation.web.preview import problem_dict, sheets, show_problems, show_table

# A browser shows all of this at once: less than the command line takes.
LIMITS = Limits(rows=50_000, columns=2_000, cells=500_000, unpacked=100_000_000)
MAX_PROBLEMS = 200
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


def understand(files: Files, reading: dict[str, Any]) -> dict[str, Any]:
    """Read control and recovered tables; return what was understood, or the problems and where they are."""
    contents, names = _named(files)
    seen = {"files": names, "sheets": [sheets(content, LIMITS) for content in contents]}
    options = {name: reading[name] for name in ("missing", "drop_summary_rows", "decimals", "sheets", "roles")}
    try:
        pair = read_pair(*contents, names=names, limits=LIMITS, **options)
    except TableError as error:
        each = zip(contents, names, reading["sheets"], reading["decimals"], strict=True)
        return seen | {
            "problems": [problem_dict(problem) for problem in error.problems[:MAX_PROBLEMS]],
            "tables": [
                show_problems(content, name, error.problems, LIMITS, sheet=sheet, decimal=decimal)
                for content, name, sheet, decimal in each
            ],
        }
    return seen | {
        "features": list(pair.features),
        "tables": [show_table(pair.control), show_table(pair.recovered)],
        "warnings": duplicate_warnings(pair),
        "methods": {name: method.description for name, method in METHODS.items()},
        "reductions": {name: words for name, (_, words) in REDUCTIONS.items()},
        "recommended": DEFAULT,
    }


def decide(files: Files, reading: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Judge the case."""
    (control, recovered), names = _named(files)
    background: Any = NFI if reading["background"] == NFI else None
    if reading["background"] == "file" and files is not None:
        background = files[2][1]
    how = reading | options | {"names": names, "limits": LIMITS, "background": background}
    return judge(control, recovered, command="transvariation serve", **how).to_dict()


def view(content: dict[str, Any], sensitivity: float) -> dict[str, Any]:
    """Describe a case at a sensitivity for the page, which shows this and decides nothing."""
    result = CaseResult.from_dict(content).at(sensitivity)
    model, inputs = result.model, result.inputs
    calibration = model.calibrations[model.basis]
    files = "Tables: " + ", ".join(f"{role} {table['file']}" for role, table in tables_of(result).items()) + "."
    # The axes of the figure stay where they are while the sensitivity moves.
    asked = CaseResult.from_dict(content)
    return {
        "sensitivity": model.sensitivity,
        "headline": result.headline,
        "conclusive": model.conclusive,
        "summary": [files, *(line for line in summary_lines(result)[1:] if not line.startswith("Warning: "))],
        "warnings": list(result.warnings),
        "trust": [calibration.description, calibration.guarantee, *LIMITATIONS],
        "features": list(inputs.features),
        "units": dict(inputs.units),
        "axes": _axes(asked),
        "control": [
            {"name": known.fragment, "values": {name: _mean(v) for name, v in known.measurements.items()}}
            for known in inputs.known
        ],
        "conclusions": [_conclusion(c, result) for c in result.conclusions],
    }


def _mean(values: Any) -> float:
    return float(sum(values) / len(values))


def _axes(result: CaseResult) -> list[str]:
    """Choose the two variables that are evidence against the most fragments."""
    weight = dict.fromkeys(result.inputs.features, 0.0)
    chosen = result.excluded or result.conclusions
    for conclusion in chosen:
        for rank, reason in enumerate(conclusion.reasons):
            weight[reason.variable] += reason.evidence + 1e-3 / (1 + rank)
    order = sorted(weight, key=lambda name: -weight[name])
    return [order[0], order[min(1, len(order) - 1)]]


def _conclusion(conclusion: Any, result: CaseResult) -> dict[str, Any]:
    ratios = [
        {"short": format_ratio(value, conclusion.bound.get(system, "")), "words": conclusion.words[system]}
        | {"sentence": ratio_sentence(value, conclusion.bound.get(system, ""))}
        for system, value in conclusion.log10_lr.items()
    ]
    basis = result.model.basis
    return {
        "fragment": conclusion.fragment,
        "source": conclusion.source,
        "accepted": conclusion.accepted,
        "excluded": result.model.conclusive and not conclusion.accepted,
        "verdict": verdict(conclusion, result),
        "p_value": conclusion.p_value,
        "p": format_p(conclusion.p_value),
        "ratios": ratios,
        "match": match_word(conclusion),
        "evidence": list(conclusion.evidence),
        "statement": conclusion.statement,
        "disagreement": conclusion.disagreement,
        "replicates": max(len(values) for values in conclusion.measurements.values()),
        "values": {name: _mean(values) for name, values in conclusion.measurements.items()},
        "measurements": {name: list(values) for name, values in conclusion.measurements.items()},
        "reasons": [
            {
                "variable": reason.variable,
                "value": format_number(reason.value),
                "control": format_number(reason.control),
                "side": reason.side,
                "p": format_p(reason.p_values[basis]),
                "evidence": reason.evidence,
            }
            for reason in conclusion.reasons
        ],
    }


def render(content: dict[str, Any], kind: str, sensitivity: float) -> str:
    """Write a case at a sensitivity as a file; return its bytes in base64."""
    result = CaseResult.from_dict(content).at(sensitivity)
    writers = {
        "html": lambda: case_html(result).encode(),
        "pdf": lambda: case_pdf(result),
        "json": lambda: result.to_json().encode(),
        "csv": lambda: _csv(result).encode(),
    }
    return base64.b64encode(writers[kind]()).decode()


def _csv(result: CaseResult) -> str:
    """Write the conclusions so that a spreadsheet takes no id or name for a formula."""
    table = conclusion_frame(result)
    words = table.select_dtypes(exclude="number")
    return table.assign(**words.map(spreadsheet_safe)).to_csv(index=False)
