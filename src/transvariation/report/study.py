"""The study commands: compute with a progress bar, then write the page."""

from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from transvariation.atomic_write import make_folder
from transvariation.provenance import command_line, provenance
from transvariation.report import glass as glass_report
from transvariation.report.simulation import write_simulation_page
from transvariation.studies.checkpoint import Checkpoint
from transvariation.studies.glass import GlassStudy
from transvariation.studies.simulation import Study


def progress_bar(console: Console) -> Progress:
    """Make a progress bar with elapsed and remaining time."""
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
    make_folder(directory)
    checkpoint = study.checkpoint(directory)
    tasks = study.tasks()
    missing, start = len(checkpoint.missing(tasks)), perf_counter()
    with progress_bar(console) as progress:
        bar = progress.add_task("data sets", total=len(tasks), completed=len(tasks) - missing)
        for _ in study.run(checkpoint):
            progress.advance(bar)
    _say_warnings(checkpoint, len(tasks), "data sets", console)
    took = _took(missing, perf_counter() - start, "data sets")
    made_by = provenance(command_line(), seed=study.seed, data_sets=len(tasks), time=took)
    return write_simulation_page(study.table(checkpoint), directory, made_by)


def analyse_glass(study: GlassStudy, directory: Path, console: Console) -> Path:
    """Run what is missing of the paper's glass analysis and its cross-validation, then write tables, figures, page."""
    make_folder(directory)
    checkpoint = study.checkpoint(directory)
    parts = (
        ("the paper's cells", study.cells(), study.run_cells),
        ("unseen fragments", study.folds(), study.run_folds),
    )
    missing, start = len(checkpoint.missing([*study.cells(), *study.folds()])), perf_counter()
    with progress_bar(console) as progress:
        for name, tasks, run in parts:
            bar = progress.add_task(name, total=len(tasks), completed=len(tasks) - len(checkpoint.missing(tasks)))
            for _ in run(checkpoint):
                progress.advance(bar)
    _say_warnings(checkpoint, len(study.cells()) + len(study.folds()), "cells and folds", console)
    took = _took(missing, perf_counter() - start, "cells and folds")
    made_by = provenance(command_line(), seeds=study.seeds, repeats=study.repeats, time=took)
    return glass_report.write_glass_page(study.scored(checkpoint), study.held_out(checkpoint), directory, made_by)


def _say_warnings(checkpoint: Checkpoint, n: int, what: str, console: Console) -> None:
    """Print each kind of warning once, with the number of tasks in which it was given."""
    for kind, times in checkpoint.warned.most_common():
        text = f"Warning in {times} of {n} {what}, the first: {checkpoint.warnings[kind]}"
        console.print(text, markup=False, highlight=False)


def _took(missing: int, seconds: float, what: str) -> str:
    # What an earlier call did, which was stopped, nobody timed.
    return f"{_duration(seconds)} for {missing} of the {what}" if missing else "drawn again"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"
