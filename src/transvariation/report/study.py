"""The study commands: compute, a bar while it takes long, then tell."""

from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from transvariation.report import glass as glass_report
from transvariation.report.simulation import tell
from transvariation.studies import glass
from transvariation.studies.provenance import command_line, provenance
from transvariation.studies.simulation import Study
from transvariation.writing import make_folder


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
    make_folder(directory)
    journal = study.journal(directory)
    tasks = study.tasks()
    missing, start = len(journal.missing(tasks)), perf_counter()
    with progress_bar(console) as progress:
        bar = progress.add_task("data sets", total=len(tasks), completed=len(tasks) - missing)
        for _ in study.run(journal):
            progress.advance(bar)
    # What an earlier call did, which was stopped, nobody timed.
    took = f"{_duration(perf_counter() - start)} for {missing} of the data sets" if missing else "drawn again"
    made_by = provenance(command_line(), seed=study.seed, data_sets=len(tasks), time=took)
    return tell(study.table(journal), directory, made_by)


def analyse_glass(directory: Path, seeds: int, repeats: int, jobs: int, console: Console) -> Path:
    """Run the paper's glass analysis and its cross-validation, then write tables, figures and page."""
    make_folder(directory)
    scored, rows, start = [], [], perf_counter()
    with progress_bar(console) as progress:
        bar = progress.add_task("the paper's cells", total=len(glass.RULES) * (len(glass.REDUCTIONS) + seeds))
        for entry in glass.paper_scores(seeds, jobs):
            scored.append(entry)
            progress.advance(bar)
        bar = progress.add_task("unseen fragments", total=glass.FOLDS * repeats)
        for outcomes in glass.held_out(repeats, jobs):
            rows += outcomes
            progress.advance(bar)
    took = _duration(perf_counter() - start)
    made_by = provenance(command_line(), seeds=seeds, repeats=repeats, time=took)
    return glass_report.tell(scored, glass.held_out_table(rows), directory, made_by)


def _duration(seconds: float) -> str:
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
