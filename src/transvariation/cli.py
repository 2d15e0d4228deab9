"""The command line. Each command imports what it needs when it runs, so that --help answers at once."""

import csv
import io
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from transvariation import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Tell whether objects belong to a class that you know well."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an id that the terminal lacks letters for stops nothing


@main.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default="transvariation-demo",
    show_default=True,
    help="The folder for the report and the figure.",
)
def demo(out: Path) -> None:
    """Judge the packaged glass fragments: which could come from a window?"""
    from rich.console import Console

    from transvariation.report.demo import demo as run

    console = Console()
    with _usage_errors():
        for path in run(out, console):
            console.print(f"Written: {path}", soft_wrap=True, highlight=False)


def _jobs(context: click.Context, option: click.Option, given: int | str) -> int | str:
    """Read a number of processes; leave the address of a scheduler, which names a port, as it is."""
    try:
        number = int(given)
    except ValueError:
        number = 0
    if number:
        return number
    host, _, port = str(given).rpartition(":")
    if not (host and port.isdecimal() and int(port) < 1 << 16):
        raise click.BadParameter(f"{given!r} is none of these: {option.help}")
    return given


@main.group()
def study() -> None:
    """Reproduce the paper: its tables and figures, made afresh into a folder."""


@study.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="The folder to fill.")
@click.option("--scenarios", default="a-i", show_default=True, help="Letters and ranges, such as a-d,i.")
@click.option("--sizes", default="100,200,500", show_default=True, help="Numbers of target objects.")
@click.option("--shifts", default="1,2", show_default=True, help="Shifts of the non-targets in scenarios a to d.")
@click.option("--repeats", type=click.IntRange(min=1), default=100, show_default=True, help="Data sets per setting.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed, the same results."
)
@click.option(
    "--jobs",
    default="1",
    show_default=True,
    callback=_jobs,
    help="Processes, -1 for all cores, or a Dask scheduler's address, such as tcp://127.0.0.1:8786.",
)
def simulation(out: Path, scenarios: str, sizes: str, shifts: str, repeats: int, seed: int, jobs: int | str) -> None:
    """Compare nine methods in nine scenarios. Interrupted and called again, it goes on where it was."""
    from rich.console import Console

    from transvariation.report.study import simulate
    from transvariation.studies.simulation import Study

    console = Console()
    with _kept_in(out), _usage_errors():
        work = Study(
            scenarios=_letters(scenarios),
            sizes=tuple(_numbers(sizes, int, "--sizes")),
            shifts=tuple(_numbers(shifts, float, "--shifts")),
            repeats=repeats,
            seed=seed,
            jobs=jobs,
        )
        path = simulate(work, out, console)
    console.print(f"Page: {path}", soft_wrap=True, highlight=False)


@study.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="The folder to fill.")
@click.option(
    "--seeds", type=click.IntRange(min=1), default=20, show_default=True, help="Seeds for random projections."
)
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True, help="Ten-fold splits.")
@click.option("--jobs", type=int, default=-1, show_default=True, callback=_jobs, help="Processes; -1 for all cores.")
def glass(out: Path, seeds: int, repeats: int, jobs: int) -> None:
    """Reproduce the analysis of the glass fragments, cell by cell, then try it on unseen fragments.

    Interrupted and called again, it goes on where it was.
    """
    from rich.console import Console

    from transvariation.report.study import analyse_glass
    from transvariation.studies.glass import GlassStudy

    console = Console()
    with _kept_in(out), _usage_errors():
        path = analyse_glass(GlassStudy(seeds, repeats, jobs), out, console)
    console.print(f"Page: {path}", soft_wrap=True, highlight=False)


@contextmanager
def _kept_in(out: Path) -> Iterator[None]:
    """Say where the results are when Ctrl-C stops a study."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"\nStopped. What is done is kept in {out}: the same command goes on from there.", err=True)
        raise SystemExit(130) from None


def _letters(text: str) -> str:
    """Read a list of scenarios such as a-d,i."""
    letters: list[str] = []
    for part in text.replace(" ", "").split(","):
        first, _, last = part.partition("-")
        if not (len(first) == 1 and first in "abcdefghi" and (not last or (last in "abcdefghi" and last >= first))):
            raise click.BadParameter(
                f"{part!r} is no scenario; they are a to i, for example a-d,i", param_hint="--scenarios"
            )
        letters += [chr(code) for code in range(ord(first), ord(last or first) + 1)]
    return "".join(sorted(set(letters)))


def _numbers(text: str, kind: type, option: str) -> list:
    """Read a list of positive numbers separated by commas."""
    try:
        numbers = [kind(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(0 < number < math.inf for number in numbers):
        raise click.BadParameter(f"{text!r} must be positive numbers separated by commas", param_hint=option)
    return numbers


def _mark(context: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """Take the words for the marks."""
    return {"comma": ",", "point": "."}.get(given or "", given)


def _decimal_option(name: str, words: str) -> Any:
    return click.option(name, type=click.Choice([",", ".", "comma", "point"]), callback=_mark, help=words)


_decimal = _decimal_option("--decimal", "The decimal mark of every table given; by default recognised.")


# In brief what casework says at length: to import it would make --help wait. A test compares the names.
METHODS = {
    "kernel": "tp and crowding in a smoothed cloud",
    "tocc": "counting farther control objects",
    "pam": "counting around several typical ones",
    "mixture": "a mixture of normal distributions",
    "projections": "a vote over many planes",
}
REDUCTIONS = {
    "minor": "the combinations that vary least in the control",
    "vip": "the most important variables in projection",
    "varsel": "the variables that a mixture singles out",
}


def _in_words(choices: dict[str, str]) -> str:
    *head, last = [f"{name} ({words})" for name, words in choices.items()]
    return f"{', '.join(head)} or {last}"


def _judging(command: Any) -> Any:
    """Give a command the options that say how to judge."""
    options = [
        click.option(
            "--method",
            default="kernel",
            show_default=True,
            help=f"How to measure what is typical: {_in_words(METHODS)}.",
        ),
        click.option("--reduce", help=f"Reduce the variables first, always to two: {_in_words(REDUCTIONS)}."),
        click.option(
            "--sensitivity", type=float, default=0.9, show_default=True, help="Share of the control's like to accept."
        ),
        click.option(
            "--features",
            help="Variables to use, separated by commas, a name with a comma in double quotes; by default all columns "
            "of numbers.",
        ),
        click.option("--id-column", help="The column that names the objects; by default recognised."),
        click.option("--source-column", help="The column that says which rows are replicates of one object."),
        _decimal,
        click.option(
            "--missing",
            type=click.Choice(["error", "drop", "impute"]),
            default="error",
            show_default=True,
            help="Missing and below-detection values: report them, leave the object out, or fill them in.",
        ),
        click.option(
            "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For methods that draw lots."
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


_sheet = click.option("--sheet", help="The sheet to read of an Excel workbook; by default the first.")


def _listed(options: dict[str, Any]) -> dict[str, Any]:
    """Read the list of variables."""
    names = options["features"]
    if not names:
        return options | {"features": None}
    found = next(csv.reader([" ".join(names.split())], skipinitialspace=True))  # quotes keep a comma in a name
    return options | {"features": [name.strip() for name in found or [""]]}


@contextmanager
def _usage_errors() -> Iterator[None]:
    """Say in words what is wrong with the input or a parameter, and leave with status 2."""
    from transvariation.tables import TableError

    try:
        yield
    except OSError as error:
        words = [str(part) for part in (error.filename, error.strerror) if part]
        raise click.UsageError(": ".join(words) or str(error)) from error
    except TableError as error:
        raise click.UsageError(error.text("cli")) from error
    except (ValueError, ImportError) as error:
        raise click.UsageError(str(error)) from error


@main.command()
@click.argument("control", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("recovered", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--report", type=click.Path(dir_okay=False, path_type=Path), help="Write a report: .html or .pdf.")
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write everything as JSON.")
@click.option(
    "--background",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A table of many sources, each measured repeatedly: adds likelihood ratios.",
)
@click.option("--control-sheet", help="The sheet of CONTROL, if it is an Excel workbook; by default the first.")
@click.option("--recovered-sheet", help="The sheet of RECOVERED, likewise; both may be in one workbook.")
@click.option("--background-sheet", help="The sheet of the background, likewise.")
@_decimal_option("--control-decimal", "The decimal mark of CONTROL alone.")
@_decimal_option("--recovered-decimal", "The decimal mark of RECOVERED alone.")
@_judging
def judge(
    control: Path,
    recovered: Path,
    report: Path | None,
    json_file: Path | None,
    background: Path | None,
    background_sheet: str | None,
    control_sheet: str | None,
    recovered_sheet: str | None,
    control_decimal: str | None,
    recovered_decimal: str | None,
    **options: Any,
) -> None:
    """Judge RECOVERED objects by CONTROL objects: could they come from the same source?"""
    from rich.console import Console

    from transvariation.report.judging import judge_case

    given = {
        "background": background,
        "background_sheet": background_sheet,
        "sheets": (control_sheet, recovered_sheet),
        "decimals": (control_decimal, recovered_decimal),
    }
    with _usage_errors():
        judge_case(control, recovered, report, json_file, Console(), **given, **_listed(options))


@main.command()
@click.argument("control", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@_sheet
@_judging
def fit(control: Path, model: Path, **options: Any) -> None:
    """Fit a rule to CONTROL objects and keep it in the file MODEL."""
    from rich.console import Console

    from transvariation.casework.model_file import fit_model
    from transvariation.report.console import rule_lines

    with _usage_errors(), Console(stderr=True).status("fitting"):
        rule, table, heard = fit_model(control, model, **_listed(options))
    for line in rule_lines(rule, table):
        click.echo(line)
    _warn(heard)
    click.echo(f"Rule: {model}")


def _warn(cautions: list[str]) -> None:
    for caution in cautions:
        click.echo(f"Caution: {caution}", err=True)


@main.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("table", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="The CSV file to write.  [TABLE.scores.csv]"
)
@click.option("--id-column", help="The column that names the objects; by default recognised.")
@_decimal
@click.option(
    "--missing",
    type=click.Choice(["error", "drop"]),
    default="error",
    show_default=True,
    help="Missing values: report them, or leave the object out.",
)
@_sheet
def score(model: Path, table: Path, out: Path | None, **options: Any) -> None:
    """Apply the rule in MODEL to the objects of TABLE, however many; one line per object into a CSV file."""
    from rich.console import Console
    from rich.progress import Progress

    from transvariation.casework.model_file import score_table

    out = out or table.with_name(f"{table.stem}.scores.csv")
    with _usage_errors(), Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("scoring", total=1.0)
        done = score_table(model, table, out, progress=lambda share: progress.update(bar, completed=share), **options)
    _warn(done.cautions)
    lost = f", {done.left_out} left out because a value is missing or below detection" if done.left_out else ""
    if done.reduced:
        click.echo(done.reduced)
    click.echo(f"{done.judged} objects judged, {done.rejected} rejected{lost}: {out}")


@main.command()
@click.option("--port", type=click.IntRange(0, 65535), default=8377, show_default=True, help="0 takes any free one.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def serve(port: int, no_browser: bool) -> None:
    """Open the local page: the same work without typing commands. It answers this computer only."""
    from transvariation.web.serve import serve as run

    with _usage_errors():
        run(port, not no_browser)
