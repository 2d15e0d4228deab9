"""A judged case on the screen."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from transvariation.atomic_write import write_text
from transvariation.casework import CaseResult, CaseSettings
from transvariation.casework.batch import BatchCase, file_name, judge_batch
from transvariation.casework.database import Database
from transvariation.casework.judging import judge_tables
from transvariation.casework.procedure import Procedure
from transvariation.casework.progress import Progress as Reported
from transvariation.casework.progress import ProgressStep
from transvariation.casework.reading import read_case
from transvariation.provenance import command_line
from transvariation.report.batch import case_frame, write_summary
from transvariation.report.case_text import conclusion_frame, disagreement_lines, fact_lines, note_lines
from transvariation.report.controls import joint_lines, matrix_frame
from transvariation.report.page import CELLS
from transvariation.report.vocabulary import said, speaking
from transvariation.report.wording.cautions import step_text, warning_texts
from transvariation.report.wording.statements import headline
from transvariation.tables.opening import TableSource
from transvariation.tables.problems import printable_text

VARIABLES_NAMED = 4  # variables in which a fragment differs by itself
NOTES_PRINTED = 6  # notes on the tables
WHOLE = ("fragment", "p-value", "likelihood ratio")  # columns whose cells are never divided
NARROW_COLUMNS = 80  # columns; a narrower screen gets a list instead of a table


def judge_case(
    sources: Mapping[str, object], settings: CaseSettings, console: Console, procedure: Procedure | None = None
) -> CaseResult:
    """Judge a case, and show how far it is."""
    with progress_bar(console) as show:
        show(ProgressStep("reading"), 0.0)
        tables = read_case(sources, settings)
        result = judge_tables(tables, settings, progress=show, command=command_line())
    return result if procedure is None else procedure.recorded(result)


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
    with progress_bar(console) as show:
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


@contextmanager
def progress_bar(console: Console) -> Iterator[Reported]:
    """Show a bar until the block ends, if a person looks; yield what reports a step and the share before it."""
    words = TextColumn("{task.description}", table_column=Column(no_wrap=True))
    columns = BarColumn(20), TaskProgressColumn(), TimeRemainingColumn(), words
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0)

        def show(step: ProgressStep, share: float | None) -> None:
            bar.update(task, description=step_text(step), completed=share or 0.0)
            bar.tasks[task].total = None if share is None else 1.0  # without a total the bar moves back and forth

        yield show


def show_case(result: CaseResult, console: Console) -> None:
    """Print the conclusions and the summary of a case, in the vocabulary of the result."""
    with speaking(result):
        _show_case(result, console)


def _show_case(result: CaseResult, console: Console) -> None:
    print_line(console, headline(result), style="bold")
    for warning in warning_texts(result):
        print_line(console, f"Warning: {warning}")
    if result.joint is None:
        frame, outcomes = conclusion_frame(result, VARIABLES_NAMED), [[c.outcome] for c in result.conclusions]
        lines, notes = [*disagreement_lines(result), *fact_lines(result)], note_lines(result)
    else:
        columns = [[c.outcome for c in case.conclusions] for case in result.cases]
        columns.append([each.accepted for each in result.joint.conclusions])
        frame, outcomes = matrix_frame(result), list(map(list, zip(*columns, strict=True)))
        lines, notes = [*joint_lines(result), *fact_lines(result)[1:2]], []
    _print_frame(console, frame, outcomes)
    for line in lines:
        print_line(console, line)
    for note in notes[:NOTES_PRINTED]:
        print_line(console, f"Note: {note}")
    if n_more := len(notes[NOTES_PRINTED:]):
        print_line(console, f"{n_more} more note{'' if n_more == 1 else 's'}: a report (--report) has them all.")


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
