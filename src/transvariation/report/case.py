"""The report of a case: a self-contained HTML page, or a PDF set by Typst. It renders a result and computes nothing."""

import json
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from transvariation.casework.result import CaseResult, Verdict
from transvariation.report.page import Section, page, render
from transvariation.report.screen import summary_lines
from transvariation.report.strip import as_source, strip_svg
from transvariation.writing import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWN = 1e300  # the length of an axis must be a number, too
DETAILED = 60  # objects with a table of reasons of their own; the JSON file has them all
TITLE = "Comparison of recovered with control objects"


def verdict_frame(result: CaseResult) -> pd.DataFrame:
    """One row per recovered object, as the report prints it."""
    return pd.DataFrame(
        {
            "object": [v.id for v in result.verdicts],
            "verdict": ["accepted" if v.accepted else "rejected" for v in result.verdicts],
            "p-value": [v.p_value for v in result.verdicts],
            "tp": [float("nan") if v.tp is None else v.tp for v in result.verdicts],
            "variables that speak against it": [
                "" if v.accepted else ", ".join(v.deciding) or "none alone: their combination" for v in result.verdicts
            ],
        }
    )


def most_telling(result: CaseResult) -> tuple[str, ...]:
    """The two variables that speak most often against the rejected objects."""
    count = dict.fromkeys(result.features, 0.0)
    for verdict in result.rejected or result.verdicts:
        for reason in verdict.reasons:
            count[reason.variable] += reason.rejected_alone + (1 - reason.tp) / 1000
    return tuple(sorted(count, key=lambda name: -count[name])[:2])


def plane(result: CaseResult) -> "Figure":
    """Draw control and recovered objects on the two most telling variables, or on the only one."""
    from matplotlib.figure import Figure

    from transvariation.report.plane import MARKS

    names = most_telling(result)
    figure = Figure(figsize=(6.6, 4.4), layout="constrained")
    ax = figure.add_subplot()
    groups: list[tuple[str, list[int] | None]] = [("control, accepted", None)]
    groups += [
        (f"recovered, {word}", [i for i, v in enumerate(result.verdicts) if v.accepted == kept])
        for word, kept in (("accepted", True), ("rejected", False))
    ]
    for label, chosen in groups:
        source = result.values if chosen is None else result.recovered_values
        values = [source[name] if chosen is None else [source[name][i] for i in chosen] for name in names]
        columns = [np.clip(column, -DRAWN, DRAWN) for column in values]
        if not len(columns[0]):
            continue
        height = columns[1] if len(names) > 1 else [0.0 if chosen is None else 1.0] * len(columns[0])
        ax.scatter(columns[0], height, label=label.replace("control, accepted", "control"), **MARKS[label])
    ax.set_xlabel(_named(result, names[0]))
    if len(names) > 1:
        ax.set_ylabel(_named(result, names[1]))
    else:
        ax.set_yticks([0, 1], ["control", "recovered"])
        ax.set_ylim(-1, 2)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure


def _named(result: CaseResult, name: str) -> str:
    return f"{name} ({result.units[name]})" if result.units.get(name) else name


def case_html(result: CaseResult, today: date | None = None) -> str:
    """Render the report as one HTML page."""
    names = " and ".join(most_telling(result))
    sections = [
        _answer(result),
        Section("Verdicts").table(verdict_frame(result), "One row per recovered object"),
        Section("The most telling variables").figure(plane(result), f"Control and recovered objects by {names}."),
        *_reasons(result),
        *_ratios(result),
        Section("Data").table(_data(result), "The tables").table(_notes(result), "What was understood"),
        Section("Method")
        .text(result.method_words)
        .text(
            f"An object is accepted if its p-value exceeds {1 - result.sensitivity_used:.3g}: "
            "the share of control objects, each rated without itself, that look at least as foreign."
        ),
        _trust(result),
        _origin(result, today),
    ]
    return page(TITLE, sections, lead=result.question)


def _answer(result: CaseResult) -> Section:
    section = Section("Answer")
    for line in summary_lines(result):
        section.text(line)
    return section.text("The two propositions: " + " / ".join(result.propositions))


def _reasons(result: CaseResult) -> list[Section]:
    section = Section("Reasons, object by object").text(
        "Grey ticks: control objects; band: their middle half; black line: their median. A cross marks a value that "
        "alone would have rejected the object, a dot one that would not, an arrow one far outside. tp: in this "
        "variable alone, 1 at the control's median, 0 beyond its edge."
    )
    ordered = sorted(result.verdicts, key=lambda v: v.accepted)
    for verdict in ordered[:DETAILED]:
        section.parts.append({"kind": "strips", **_strips(result, verdict)})
    if len(ordered) > DETAILED:
        section.text(f"{len(ordered) - DETAILED} more objects are in the JSON file only.")
    return [section]


def ratio_frame(result: CaseResult) -> pd.DataFrame:
    """One row per recovered source: the likelihood ratios by both systems, on the log10 scale and in words."""
    return pd.DataFrame(
        [
            {
                "recovered": ratio.id,
                "log10 LR, two-level": ratio.two_level,
                "in words": ratio.two_level_words,
                "log10 LR, from tp": ratio.score_based,
                "in words ": ratio.score_based_words,
            }
            for ratio in result.likelihood_ratios
        ]
    )


def _ratios(result: CaseResult) -> list[Section]:
    if not result.likelihood_ratios:
        return []
    ends = {name: f"{low:.2f} to {high:.2f}" for name, (low, high) in result.likelihood_bounds.items()}
    return [
        Section("Likelihood ratios")
        .text(
            "How much more probable the measurements are if both sets share a source than if they do not, by the "
            "two-level model of the forensic literature and by a score from tp. The background supports log10 values "
            f"from {ends['two_level']} and from {ends['score_based']}; beyond that they are cut off."
        )
        .table(ratio_frame(result), "log10 likelihood ratios", digits=2)
    ]


def _strips(result: CaseResult, verdict: Verdict) -> dict[str, Any]:
    word = "accepted" if verdict.accepted else "rejected"
    return {
        "caption": f"{verdict.id}: {word}, p-value {verdict.p_value:.3g}",
        "rows": [
            {
                "variable": _named(result, r.variable),
                "value": f"{r.value:.6g}",
                "median": f"{r.median:.6g}",
                "tp": f"{r.tp:.3f}",
                "words": f"{r.side} the median" + (", rejects alone" if r.rejected_alone else ""),
                "source": as_source(strip_svg(result.values[r.variable], r.value, r.rejected_alone)),
            }
            for r in verdict.reasons
        ],
    }


def _data(result: CaseResult) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "table": name,
                "file": t["file"],
                "objects": t["objects"],
                "left out": len(t["dropped"]),
                "sources": "–" if t["sources"] is None else t["sources"],
                "SHA-256 of the file": t["sha256"],
            }
            for name, t in result.tables.items()
        ]
    )


def _notes(result: CaseResult) -> pd.DataFrame:
    notes = [note for table in result.tables.values() for note in table["notes"]]
    rows = [{"file": n["file"], "column": n["column"] or "", "note": n["message"]} for n in notes]
    used = {"file": "all", "column": ", ".join(result.features), "note": "variables used"}
    return pd.DataFrame([used, *rows])


def _trust(result: CaseResult) -> Section:
    coverage = result.coverage
    section = Section("How far this can be trusted").text(coverage.guarantee)
    section.text(
        f"Threshold counted from {coverage.n} {coverage.unit}; the smallest p-value that this rule can give is "
        f"{coverage.attainable_p_value:.3g}."
    )
    for limitation in result.limitations:
        section.text(limitation)
    return section


def _origin(result: CaseResult, today: date | None) -> Section:
    made = {"date": (today or date.today()).isoformat()} | result.made_by
    return Section("What made this report").code("\n".join(f"{name}: {value}" for name, value in made.items()))


def case_pdf(result: CaseResult, today: date | None = None) -> bytes:
    """Render the report as PDF."""
    import tempfile
    from importlib.resources import files

    made = {"date": (today or date.today()).isoformat()} | result.made_by
    ordered = sorted(result.verdicts, key=lambda v: v.accepted)[:DETAILED]
    content = {
        "title": TITLE,
        "question": result.question,
        "propositions": result.propositions,
        "summary": summary_lines(result),
        "verdicts": verdict_frame(result).astype(str).to_dict("records"),
        "reasons": [_typst_strips(result, verdict) for verdict in ordered],
        "ratios": ratio_frame(result).round(2).astype(str).to_dict("records"),
        "data": _data(result).astype(str).to_dict("records"),
        "notes": _notes(result).to_dict("records"),
        "method": result.method_words,
        "guarantee": result.coverage.guarantee,
        "limitations": result.limitations,
        "made": made,
    }
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "case.json").write_text(json.dumps(content), encoding="utf-8")
        (here / "plane.svg").write_bytes(render(plane(result), "svg"))
        (here / "case.typ").write_bytes((files("transvariation.report") / "templates" / "case.typ").read_bytes())
        return _typst().compile(str(here / "case.typ"), root=folder)


def _typst() -> Any:
    try:
        import typst
    except ImportError as error:
        raise ValueError(
            "a PDF report needs Typst: pip install 'transvariation[pdf]', or ask for a report ending in .html"
        ) from error
    return typst


def _typst_strips(result: CaseResult, verdict: Verdict) -> dict[str, Any]:
    strips = _strips(result, verdict)
    for row, reason in zip(strips["rows"], verdict.reasons, strict=True):
        row["source"] = strip_svg(result.values[reason.variable], reason.value, reason.rejected_alone)
    return strips


def check_report_name(path: Path) -> str:
    """Give the kind of report that a file's ending asks for, or say what is in the way."""
    kind = path.suffix.lower()
    if kind not in (".html", ".pdf"):
        raise ValueError(f"the report {path.name!r} must end in .html or .pdf")
    if kind == ".pdf":
        _typst()
    return kind


def write_report(result: CaseResult, path: Path) -> None:
    """Write the report as the file's ending asks: .html or .pdf."""
    pdf = check_report_name(path) == ".pdf"
    content = case_pdf(result) if pdf else case_html(result).encode()
    with replacing(path) as unfinished:
        unfinished.write_bytes(content)
