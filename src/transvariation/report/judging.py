"""The judge command: compute, then tell on the screen and in files."""

import json
from pathlib import Path
from typing import Any

from rich.console import Console

from transvariation.atomic_write import check_outputs, replacing
from transvariation.casework import judge
from transvariation.provenance import command_line
from transvariation.report.case import check_report_name, write_report
from transvariation.report.console import case_table, summary_lines


def judge_case(
    control: Path, recovered: Path, report: Path | None, json_file: Path | None, console: Console, **options: Any
) -> None:
    """Judge a case, show the verdicts and write the files asked for."""
    if report is not None:
        check_report_name(report)
    check_outputs([report, json_file], [control, recovered, options.get("background")])
    with console.status("judging") as status:
        result = judge(control, recovered, command=command_line(), progress=status.update, **options)
    # Files first: whatever becomes of the screen, they are there.
    if report is not None:
        with console.status("writing the report"):
            write_report(result, report)
    if json_file is not None:
        with replacing(json_file) as unfinished:
            unfinished.write_text(json.dumps(result.to_dict(), indent=1) + "\n", encoding="utf-8")
    console.print(case_table(result))
    for line in summary_lines(result):
        console.print(line, markup=False, highlight=False)
    for kind, path in (("Report", report), ("JSON", json_file)):
        if path is not None:
            console.print(f"{kind}: {path}", markup=False, soft_wrap=True, highlight=False)
