"""The summary sheet of many cases."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from transvariation.atomic_write import write_text
from transvariation.casework import CaseResult
from transvariation.casework.model_file import spreadsheet_safe
from transvariation.report.case_text import format_ratio
from transvariation.report.page import Document, Section
from transvariation.report.wording.cautions import warning_texts
from transvariation.report.wording.numbers import format_p, plural
from transvariation.report.wording.remedies import error_text
from transvariation.report.wording.statements import headline, verdict

TITLE = "Summary of cases"
Judged = Sequence[tuple[str, CaseResult | Exception]]


def case_frame(judged: Judged) -> pd.DataFrame:
    """Tabulate the cases, one row each."""
    rows = []
    for name, result in judged:
        row = {"case": name, "control": "–", "recovered": "–", "excluded": "–", "warnings": "–"}
        if isinstance(result, CaseResult):
            found = result.conclusions if result.joint is None else result.joint.conclusions
            row |= {
                "control": str(result.inputs.control["fragments"]),
                "recovered": str(len(found)),
                "excluded": str(sum(c.accepted is False for c in found)) if result.model.conclusive else "–",
                "warnings": str(len(warning_texts(result))),
                "result": headline(result),
            }
        else:
            row["result"] = f"Not judged: {error_text(result, 'cli')}"
        rows.append(row)
    return pd.DataFrame(rows)


def conclusions_frame(judged: Judged) -> pd.DataFrame:
    """Tabulate all conclusions, one row per case, recovered fragment and control source."""
    rows = [
        {
            "case": name,
            "fragment": c.fragment,
            "control": c.control or "",
            "conclusion": verdict(c),
            "p-value": format_p(c.p_value),
            "likelihood ratio": "; ".join(format_ratio(v, c.bound.get(s, "")) for s, v in c.log10_lr.items()),
        }
        for name, result in judged
        if isinstance(result, CaseResult)
        for c in result.conclusions
    ]
    return pd.DataFrame(rows, columns=["case", "fragment", "control", "conclusion", "p-value", "likelihood ratio"])


def write_summary(judged: Judged, folder: Path) -> list[Path]:
    """Write the summary as a page, and the cases and their conclusions as tables for a spreadsheet."""
    cases, conclusions = case_frame(judged), conclusions_frame(judged)
    section = Section("Cases").table(cases, "Numbers of fragments; the report of each case is beside this file")
    failed = sum(isinstance(result, Exception) for _, result in judged)
    lead = f"{plural(len(judged), 'case')}, {failed} not judged."
    further = [Section("Conclusions").table(conclusions, "By case, recovered fragment and control source")]
    page, *tables = (folder / name for name in SUMMARY)
    Document(TITLE, [section, *(further if len(conclusions) else [])], lead).write(page)
    for path, frame in zip(tables, (cases, conclusions), strict=True):
        write_text(path, frame.map(spreadsheet_safe).to_csv(index=False))
    return [page, *tables]


SUMMARY = ("summary.html", "summary.csv", "conclusions.csv")
