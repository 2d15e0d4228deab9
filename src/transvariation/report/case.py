"""The report of a case: a self-contained HTML page, or a PDF set by Typst. It renders a result and computes nothing."""

import json
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from transvariation.atomic_write import replacing
from transvariation.casework.result import CaseResult, Verdict
from transvariation.report.console import summary_lines
from transvariation.report.names import label_axes
from transvariation.report.page import Section, page
from transvariation.report.strip_figure import strip_svg
from transvariation.report.tables import FORMS, data_frame, note_frame, ratio_frame, verdict_frame, word

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWN = 1e300  # the length of an axis must be a number, too
DETAILED = 60  # objects with a table of reasons of their own; the JSON file has them all
STRIP_FORMS = {"value": ".6g", "control median": ".6g"}
TITLE = "Comparison of recovered with control objects"


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

    from transvariation.report.scatter_figure import MARKS

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
    label_axes(ax, *[_named(result, name) for name in names])
    if len(names) == 1:
        ax.set_yticks([0, 1], ["control", "recovered"])
        ax.set_ylim(-1, 2)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure


def _named(result: CaseResult, name: str) -> str:
    return f"{name} ({result.units[name]})" if result.units.get(name) else name


def case_sections(result: CaseResult, today: date | None = None) -> list[Section]:
    """Say all that the report says, in HTML and in PDF alike."""
    names = " and ".join(most_telling(result))
    files = "\n".join(f"{table['sha256']}  {table['file']}" for table in result.tables.values())
    return [
        _answer(result),
        Section("Verdicts").table(verdict_frame(result), "One row per recovered object", forms=FORMS),
        Section("The most telling variables").figure(plane(result), f"Control and recovered objects by {names}."),
        _reasons(result),
        *_ratios(result),
        Section("Data")
        .table(data_frame(result), "The tables")
        .table(note_frame(result), "What was understood")
        .text("SHA-256 of the files:")
        .code(files),
        Section("Method")
        .text(result.method_words)
        .text(
            f"An object is accepted if its p-value exceeds {1 - result.sensitivity_used:.3g}: "
            "the share of control objects, each rated without itself, that look at least as foreign."
        ),
        _trust(result),
        _origin(result, today),
    ]


def case_html(result: CaseResult, today: date | None = None) -> str:
    """Render the report as one HTML page."""
    return page(TITLE, case_sections(result, today), lead=result.question)


def _answer(result: CaseResult) -> Section:
    section = Section("Answer")
    for line in summary_lines(result):
        section.text(line)
    return section.text("The two propositions: " + " / ".join(result.propositions))


def _reasons(result: CaseResult) -> Section:
    section = Section("Reasons, object by object").text(
        "Grey ticks: control objects; band: their middle half; black line: their median. A cross marks a value that "
        "alone would have rejected the object, a dot one that would not, an arrow one far outside. Alone means: judged "
        "by this variable and no other, by the method kernel, at the same sensitivity. That some variable does so is "
        "common also among objects of the control's own source: the verdict weighs all variables together."
    )
    section.text(
        "tp by counting: in this variable alone, twice the share of control objects beyond the value; 1 at their "
        "median, 0 outside of them. It is counted like that whatever the method, whose own tp the verdicts give."
    )
    ordered = sorted(result.verdicts, key=lambda v: v.accepted)
    for verdict in ordered[:DETAILED]:
        its = verdict.id if verdict.source is None else f"{verdict.id}, source {verdict.source}"
        all_the_same = " all the same" if verdict.accepted and verdict.deciding else ""
        caption = f"{its}: {word(verdict)}{all_the_same}, p-value {verdict.p_value:.3g}"
        section.table(_strips(result, verdict), caption, kind="strips", forms=STRIP_FORMS)
    if len(ordered) > DETAILED:
        section.text(f"{len(ordered) - DETAILED} more objects are in the JSON file only.")
    return section


def _strips(result: CaseResult, verdict: Verdict) -> pd.DataFrame:
    words = [f"{r.side} the median" + (", rejects alone" if r.rejected_alone else "") for r in verdict.reasons]
    drawn = [strip_svg(result.values[r.variable], r.value, r.rejected_alone) for r in verdict.reasons]
    return pd.DataFrame(
        {
            "variable": [_named(result, r.variable) for r in verdict.reasons],
            "value": [r.value for r in verdict.reasons],
            "control median": [r.median for r in verdict.reasons],
            "among the control objects": [{"svg": s, "alt": w} for s, w in zip(drawn, words, strict=True)],
            "tp by counting": [r.tp for r in verdict.reasons],
            "": words,
        }
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
            + (" They are from all variables: the reduction is for the verdicts." if _reduced(result) else "")
        )
        .table(ratio_frame(result), "log10 likelihood ratios", digits=2)
    ]


def _reduced(result: CaseResult) -> bool:
    return bool(result.no_say or result.combinations)


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

    sections = [asdict(section) for section in case_sections(result, today)]
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        content = json.dumps({"title": TITLE, "lead": result.question, "sections": sections})
        (here / "case.json").write_text(content, encoding="utf-8")
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
