"""Jobs of the worker processes: read tables, judge, view a case, write files. All return JSON values."""

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from transvariation.casework import METHODS, REDUCTIONS, CaseResult, Conclusion, judge
from transvariation.casework.case_tables import NFI, duplicate_warnings, read_case
from transvariation.casework.methods import DEFAULT
from transvariation.casework.model_file import spreadsheet_safe
from transvariation.casework.result import LIMITATIONS
from transvariation.casework.variables import (
    check_preprocess,
    check_ranges,
    preprocessing_for,
    select_ranges,
    spectral_axis,
)
from transvariation.datasets import load_glass
from transvariation.report.case import case_html, case_pdf
from transvariation.report.case_figures import strongest_variables, with_unit
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
from transvariation.web.spectra import segments, some

# A browser shows all of this at once: less than the command line takes.
LIMITS = Limits(rows=50_000, columns=2_000, cells=500_000, unpacked=100_000_000)
MAX_PROBLEMS = 200
NAMED = 6  # variables named as evidence in the table of conclusions
REASONS = 40  # variables in the evidence on a fragment
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
    axis = spectral_axis(pair.features)
    return seen | {
        "features": list(pair.features),
        "axis": None if axis is None else [float(axis.min()), float(axis.max())],
        "tables": [show_table(pair.control), show_table(pair.recovered)],
        "warnings": duplicate_warnings(pair),
        "methods": {name: method.description for name, method in METHODS.items()},
        "reductions": {name: words for name, (_, words) in REDUCTIONS.items()},
        "recommended": DEFAULT,
    }


def decide(
    files: Files, reading: dict[str, Any], options: dict[str, Any], progress: Callable[[str], None]
) -> dict[str, Any]:
    """Judge the case."""
    (control, recovered), names = _named(files)
    background: Any = NFI if reading["background"] == NFI else None
    if reading["background"] == "file" and files is not None:
        background = files[2][1]
    how = reading | options | {"names": names, "limits": LIMITS, "background": background, "progress": progress}
    return judge(control, recovered, command="transvariation serve", **how).to_dict()


def preview_spectra(files: Files, reading: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
    """Return the spectra as they were read, and after preprocessing within the chosen ranges, as `judge` does it."""
    contents, names = _named(files)
    options = reading | {"background": None, "names": names, "limits": LIMITS, "features": None}
    tables = read_case(*contents, **options)
    axis = spectral_axis(tables.features)
    if axis is None:
        raise ValueError("The names of the variables are not the positions of a spectrum.")
    ranges, steps = check_ranges(how["ranges"]), check_preprocess(how["preprocess"])
    chosen = set(select_ranges(tables.features, ranges) if ranges else tables.features)
    kept = np.array([name in chosen for name in tables.features])
    drawn = {role: some(len(means)) for role, means in (("control", tables.control), ("recovered", tables.recovered))}
    before = np.vstack([tables.control.means[drawn["control"]], tables.recovered.means[drawn["recovered"]]])
    after = None
    if steps is not None:
        preprocessing = preprocessing_for(steps, int(kept.sum())).fit(tables.control.means[:, kept])
        after = segments(axis[kept], preprocessing.transform(before[:, kept]))
    return {
        "kinds": ["control"] * len(drawn["control"]) + ["recovered"] * len(drawn["recovered"]),
        "of": [len(tables.control), len(tables.recovered)],
        "kept": int(kept.sum()),
        "before": segments(axis, before),
        "after": after,
    }


def view(content: dict[str, Any], sensitivity: float) -> dict[str, Any]:
    """Describe a case at a sensitivity for the page, which shows this and decides nothing."""
    asked = CaseResult.from_dict(content)
    result = asked.at(sensitivity)
    model, inputs = result.model, result.inputs
    calibration = model.calibrations[model.basis]
    files = "Tables: " + ", ".join(f"{role} {table['file']}" for role, table in tables_of(result).items()) + "."
    evidence = conclusion_frame(result, NAMED)["evidence"]
    return {
        "sensitivity": model.sensitivity,
        "headline": result.headline,
        "conclusive": model.conclusive,
        "summary": [files, *(line for line in summary_lines(result)[1:] if not line.startswith("Warning: "))],
        "warnings": list(result.warnings),
        "trust": [calibration.description, calibration.guarantee, *LIMITATIONS],
        "spectral": spectral_axis(inputs.features) is not None,
        "features": list(inputs.features),
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


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def points(content: dict[str, Any], x: str, y: str, sensitivity: float) -> dict[str, Any]:
    """Return the means of all fragments in two variables, with the names of the axes."""
    result = CaseResult.from_dict(content)
    if not {x, y} <= set(result.inputs.features):
        raise ValueError(f"There is no variable {x!r} or no variable {y!r}.")
    return {
        "names": [with_unit(result, name) for name in (x, y)],
        "control": [(k.fragment, *(_mean(k.measurements[name]) for name in (x, y))) for k in result.inputs.known],
        "recovered": [(c.fragment, *(_mean(c.measurements[name]) for name in (x, y))) for c in result.conclusions],
    }


def evidence(content: dict[str, Any], fragment: str, sensitivity: float) -> dict[str, Any]:
    """Return the evidence on one fragment, the strongest first."""
    result = CaseResult.from_dict(content).at(sensitivity)
    found = [c for c in result.conclusions if c.fragment == fragment]
    if not found:
        raise ValueError(f"There is no fragment {fragment!r}.")
    (conclusion,) = found
    reasons = conclusion.reasons[:REASONS]
    return {
        "statement": conclusion.statement,
        "ratios": [ratio_sentence(v, conclusion.bound.get(name, "")) for name, v in conclusion.log10_lr.items()],
        "more": len(conclusion.reasons) - len(reasons),
        "reasons": [
            {
                "variable": with_unit(result, reason.variable),
                "text": format_number(reason.value),
                "value": reason.value,
                "replicates": [format_number(value) for value in conclusion.measurements[reason.variable]],
                "known": [_mean(known.measurements[reason.variable]) for known in result.inputs.known],
                "control": format_number(reason.control),
                "side": reason.side,
                "p": format_p(reason.p_values[result.model.basis]),
                "evidence": reason.evidence,
            }
            for reason in reasons
        ],
    }


def render(content: dict[str, Any], kind: str, sensitivity: float) -> str:
    """Write a case at a sensitivity as a file; return its bytes in base64."""
    result = CaseResult.from_dict(content).at(sensitivity)
    writers = {
        "html": lambda: case_html(result).encode(),
        "pdf": lambda: case_pdf(result),
        "json": lambda: (json.dumps(result.to_dict(), indent=1) + "\n").encode(),
        "csv": lambda: _csv(result).encode(),
    }
    return base64.b64encode(writers[kind]()).decode()


def _csv(result: CaseResult) -> str:
    """Write the conclusions so that a spreadsheet takes no id or name for a formula."""
    table = conclusion_frame(result)
    words = table.select_dtypes(exclude="number")
    return table.assign(**words.map(spreadsheet_safe)).to_csv(index=False)
