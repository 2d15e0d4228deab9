"""What the commands do: compute, then tell; a bar while it takes long."""

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from transvariation.casework import judge
from transvariation.report.case import write_report
from transvariation.report.screen import case_table, summary_lines
from transvariation.report.simulation import tell
from transvariation.studies.provenance import command_line, provenance
from transvariation.studies.simulation import Study


def progress_bar(console: Console) -> Progress:
    """A bar with what is done, the time it took and the time that is left."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("elapsed"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )


def simulate(study: Study, directory: Path, console: Console) -> Path:
    """Run what is missing of a simulation study, then write its tables, figures and page."""
    journal = study.journal(directory)
    tasks = study.tasks()
    with progress_bar(console) as progress:
        bar = progress.add_task("data sets", total=len(tasks), completed=len(tasks) - len(journal.missing(tasks)))
        for _ in study.run(journal):
            progress.advance(bar)
    made_by = provenance(command_line(), seed=study.seed, data_sets=len(tasks))
    return tell(study.table(journal), directory, made_by)


def judge_case(
    control: Path, recovered: Path, report: Path | None, json_file: Path | None, console: Console, **options: Any
) -> None:
    """Judge a case, show the verdicts and write the files asked for."""
    features = options.pop("features")
    with console.status("judging"):
        result = judge(
            control,
            recovered,
            features=[name.strip() for name in features.split(",")] if features else None,
            command=command_line(),
            **options,
        )
    console.print(case_table(result))
    for line in summary_lines(result):
        console.print(line, markup=False, highlight=False)
    if report is not None:
        write_report(result, report)
        console.print(f"Report: {report}", markup=False, soft_wrap=True, highlight=False)
    if json_file is not None:
        json_file.write_text(json.dumps(result.to_dict(), indent=1) + "\n", encoding="utf-8")
        console.print(f"JSON: {json_file}", markup=False, soft_wrap=True, highlight=False)
