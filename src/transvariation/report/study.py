"""The study commands: compute with a progress bar, then write the page."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from transvariation.atomic_write import make_folder
from transvariation.provenance import command_line, provenance
from transvariation.report.glass import write_glass_page
from transvariation.report.simulation import write_simulation_page
from transvariation.studies.checkpoint import Checkpoint, Task
from transvariation.studies.glass import GlassStudy
from transvariation.studies.simulation import Study

Part = tuple[str, Sequence[Task], Callable[[Checkpoint], Iterator[Task]]]  # of a study: name, tasks, what runs them


def simulate(study: Study, directory: Path, console: Console) -> Path:
    """Run what is missing of a simulation study, then write its tables, figures and page."""
    tasks = study.tasks()
    checkpoint, took = _run(study, directory, console, "data sets", [("data sets", tasks, study.run)])
    made_by = provenance(command_line(), seed=study.seed, data_sets=len(tasks), time=took)
    return write_simulation_page(study.table(checkpoint), directory, made_by)


def analyse_glass(study: GlassStudy, directory: Path, console: Console) -> Path:
    """Run what is missing of the paper's glass analysis and its cross-validation, then write tables, figures, page."""
    parts: list[Part] = [
        ("the paper's cells", study.cells(), study.run_cells),
        ("unseen fragments", study.folds(), study.run_folds),
    ]
    checkpoint, took = _run(study, directory, console, "cells and folds", parts)
    made_by = provenance(command_line(), seeds=study.seeds, repeats=study.repeats, time=took)
    return write_glass_page(study.scored(checkpoint), study.held_out(checkpoint), directory, made_by)


def _run(
    study: Study | GlassStudy, directory: Path, console: Console, what: str, parts: Sequence[Part]
) -> tuple[Checkpoint, str]:
    """Run what is missing of each part; return the results and the time it took.

    Each kind of warning is printed once, with the number of tasks in which it was given.
    """
    make_folder(directory)
    checkpoint, start = study.checkpoint(directory), perf_counter()
    n = sum(len(tasks) for _, tasks, _ in parts)
    missing = sum(len(checkpoint.missing(tasks)) for _, tasks, _ in parts)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    times = TextColumn("elapsed"), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()
    with Progress(*columns, *times, console=console) as progress:
        for name, tasks, run in parts:
            bar = progress.add_task(name, total=len(tasks), completed=len(tasks) - len(checkpoint.missing(tasks)))
            for _ in run(checkpoint):
                progress.advance(bar)
    for kind, count in checkpoint.warned.most_common():
        text = f"Warning in {count} of {n} {what}, the first: {checkpoint.warnings[kind]}"
        console.print(text, markup=False, highlight=False)
    minutes, seconds = divmod(round(perf_counter() - start), 60)
    # The time of an earlier call, which was stopped, is not known.
    return checkpoint, f"{minutes} min {seconds} s for {missing} of the {what}" if missing else "drawn again"
