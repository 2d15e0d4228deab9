"""A judged case on the screen."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Column, Table

from transvariation.atomic_write import write_text
from transvariation.casework import CaseResult, CaseSettings
from transvariation.casework.batch import BatchCase, file_name, judge_batch
from transvariation.casework.database import Database
from transvariation.casework.judging import judge_tables
from transvariation.casework.procedure import Procedure
from transvariation.casework.progress import ProgressStep
from transvariation.casework.reading import read_case
from transvariation.provenance import command_line
from transvariation.report.batch import case_frame, write_summary
from transvariation.report.case_text import conclusion_frame, disagreement_lines, fact_lines, note_lines
from transvariation.report.controls import joint_lines, joint_of, matrix_frame, own_warnings
from transvariation.report.page import CELLS, check_report_name
from transvariation.report.vocabulary import said, speaking
from transvariation.report.wording.cautions import warning_texts
from transvariation.report.wording.notices import step_text
from transvariation.report.wording.statements import headline
from transvariation.tables.opening import TableSource
from transvariation.tables.problems import printable_text

VARIABLES_NAMED = 4  # variables in which a fragment differs by itself
NOTES_PRINTED = 6  # notes on the tables
WHOLE = ("fragment", "p-value", "likelihood ratio")  # columns whose cells are never divided
NARROW_COLUMNS = 80  # columns; a narrower screen gets a list instead of a table


def judge_case(
    sources: Mapping[str, object],
    settings: CaseSettings,
    reports: Sequence[Path],
    json_file: Path | None,
    console: Console,
    procedure: Procedure | None = None,
) -> CaseResult:
    """Judge a case, show the conclusions and write the files asked for."""
    for report in reports:
        check_report_name(report)
    if reports:
        from transvariation.report.case import write_report  # which loads matplotlib
    with _progress(console) as bar:
        task = bar.add_task("judging", total=1.0)

        def show(words: str, share: float | None) -> None:
            bar.update(task, description=words, completed=share or 0.0)
            bar.tasks[task].total = None if share is None else 1.0  # without a total the bar moves back and forth

        def report_step(step: ProgressStep, share: float | None) -> None:
            show(step_text(step), share)

        report_step(ProgressStep("reading"), 0.0)
        tables = read_case(sources, settings)
        result = judge_tables(tables, settings, progress=report_step, command=command_line())
        if procedure is not None:
            result = procedure.recorded(result)
        # Files first: whatever happens to the screen, they exist.
        for report in reports:
            show(f"writing {report.name}", 0.95)
            write_report(result, report)
    if json_file is not None:
        write_text(json_file, result.to_json())
    show_case(result, console)
    for kind, path in (*(("Report", report) for report in reports), ("JSON", json_file)):
        if path is not None:
            console.print(printable_text(f"{kind}: {path}"), markup=False, soft_wrap=True, highlight=False)
    return result


def judge_cases(
    cases: Sequence[BatchCase],
    background: TableSource | Database | None,
    settings: CaseSettings,
    folder: Path,
    console: Console,
    procedure: Procedure | None = None,
) -> list[tuple[str, CaseResult | Exception]]:
    """Judge many cases, write a report and a JSON file of each and the summary into a folder, and show the summary."""
    from transvariation.report.case import write_report

    judged: list[tuple[str, CaseResult | Exception]] = []
    with _progress(console) as bar:
        task = bar.add_task("judging", total=1.0)

        def show(step: ProgressStep, share: float | None) -> None:
            bar.update(task, description=step_text(step), completed=share or 0.0)

        command = command_line()
        for case, found in judge_batch(cases, background=background, settings=settings, progress=show, command=command):
            if isinstance(found, CaseResult):
                found = found if procedure is None else procedure.recorded(found)
                write_report(found, folder / f"{file_name(case.name)}.html")
                write_text(folder / f"{file_name(case.name)}.json", found.to_json())
            judged.append((case.name, found))
    written = write_summary(judged, folder)
    for row in case_frame(judged).to_dict("records"):
        print_line(console, f"{row['case']}: {row['result']}")
    print_line(console, f"Summary: {written[0]}")
    return judged


def _progress(console: Console) -> Progress:
    """Make a progress bar that is gone when the work is done, and is not shown in files."""
    columns = BarColumn(20), TaskProgressColumn(), TextColumn("{task.description}", table_column=Column(no_wrap=True))
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def show_case(result: CaseResult, console: Console) -> None:
    """Print the conclusions and the summary of a case, in the vocabulary of the result."""
    with speaking(result):
        _show_case(result, console)


def _show_case(result: CaseResult, console: Console) -> None:
    if result.cases:
        _show_matrix(result, console)
        return
    print_line(console, headline(result), style="bold")
    for warning in warning_texts(result):
        print_line(console, f"Warning: {warning}")
    _print_frame(console, conclusion_frame(result, VARIABLES_NAMED), [[c.outcome] for c in result.conclusions])
    for line in (*disagreement_lines(result), *fact_lines(result)):
        print_line(console, line)
    notes = note_lines(result)
    for note in notes[:NOTES_PRINTED]:
        print_line(console, f"Note: {note}")
    if len(notes) > NOTES_PRINTED:
        print_line(console, f"{len(notes) - NOTES_PRINTED} more notes are in the report.")


def _show_matrix(result: CaseResult, console: Console) -> None:
    """Print the conclusions by several control sources."""
    print_line(console, headline(result), style="bold")
    for warning in (*warning_texts(result), *own_warnings(result)):
        print_line(console, f"Warning: {warning}")
    outcomes = [[c.outcome for c in case.conclusions] for case in result.cases]
    outcomes.append([each.accepted for each in joint_of(result).conclusions])
    _print_frame(console, matrix_frame(result), list(zip(*outcomes, strict=True)))
    for line in (*joint_lines(result), *fact_lines(result)[1:2]):
        print_line(console, line)


def print_line(console: Console, line: str, style: str | None = None) -> None:
    """Print a sentence in lines that fit; names are never split, and their control characters are escaped."""
    line = printable_text(said(line))
    lines = textwrap.wrap(line, console.width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    for part in lines:
        console.print(part, markup=False, highlight=False, soft_wrap=True, style=style)


def _print_frame(console: Console, frame: pd.DataFrame, outcomes: Sequence[Sequence[bool | None]]) -> None:
    """Print conclusions, in red where they are against the control's source; on a narrow screen as a list.

    The first column names the fragments; the outcomes are those of the columns after it.
    """
    names = list(frame.columns)
    if console.width < NARROW_COLUMNS:
        for first, *cells in frame.itertuples(index=False):
            pairs = zip(names[1:], cells, strict=True)
            parts = [cell if name == "conclusion" else f"{name} {cell}" for name, cell in pairs if cell]
            print_line(console, f"{first.replace(' ', chr(0xA0))}: {'; '.join(parts)}")
        return
    table = Table()
    for name in names:
        table.add_column(escape(printable_text(said(name))), overflow="fold", no_wrap=name in WHOLE)
    for row, found in zip(frame.itertuples(index=False), outcomes, strict=True):
        cells = [escape(printable_text(said(cell) if cell in CELLS else cell)) for cell in row]
        red = [j for j, outcome in enumerate(found, 1) if outcome is False]
        table.add_row(*(f"[bold red]{cell}[/]" if j in red else cell for j, cell in enumerate(cells)))
    console.print(table)
