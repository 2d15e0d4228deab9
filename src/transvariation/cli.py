"""The command line. Commands import what they need when they run, so that --help is fast."""

import csv
import io
import math
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from transvariation import __version__

INPUT = click.Path(exists=True, dir_okay=False, path_type=Path)
OUTPUT = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
COUNT = click.IntRange(min=1)


class _Commands(click.Group):
    """Commands that Ctrl-C stops with a sentence and the usual exit status."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("\nStopped. Output files are complete or were not written.", err=True)
            raise SystemExit(130) from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__)
def main() -> None:
    """Judge whether objects belong to a class that is known from examples."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # ids may hold characters that the terminal lacks


@main.command()
@click.option("--out", type=FOLDER, default="transvariation-demo", help="The folder for the report and the figure.")
@click.option("--tables", type=FOLDER, help="Only write the example tables of the documentation into this folder.")
def demo(out: Path, tables: Path | None) -> None:
    """Judge packaged glass fragments: which could come from a window?"""
    from rich.console import Console

    from transvariation.report.demo import demo as run
    from transvariation.report.demo import write_tables

    console = Console()
    with _usage_errors():
        for path in run(out, console) if tables is None else write_tables(tables):
            _say(f"Written: {path}")


def _jobs(context: click.Context, option: click.Option, given: int | str) -> int | str:
    """Parse a number of processes, or the address of a scheduler."""
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


_folder = click.option("--out", type=FOLDER, required=True, help="Folder for the results.")


@main.group()
def study() -> None:
    """Reproduce the tables and figures of the paper in a folder."""


@study.command()
@_folder
@click.option("--scenarios", default="a-i", help="Letters and ranges, such as a-d,i.")
@click.option("--sizes", default="100,200,500", help="Numbers of target objects.")
@click.option("--shifts", default="1,2", help="Shifts of the non-targets in scenarios a to d.")
@click.option("--repeats", type=COUNT, default=100, help="Data sets per setting.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed; equal seeds give equal results.")
@click.option(
    "--jobs",
    default="1",
    callback=_jobs,
    help="Processes, -1 for all cores, or a Dask scheduler's address, such as tcp://127.0.0.1:8786.",
)
def simulation(out: Path, scenarios: str, sizes: str, shifts: str, repeats: int, seed: int, jobs: int | str) -> None:
    """Compare nine methods in nine scenarios. An interrupted study resumes when called again."""
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
    _say(f"Page: {path}")


@study.command()
@_folder
@click.option("--seeds", type=COUNT, default=20, help="Number of seeds for random projections.")
@click.option("--repeats", type=COUNT, default=3, help="Number of ten-fold splits.")
@click.option("--jobs", type=int, default=-1, callback=_jobs, help="Processes; -1 for all cores.")
def glass(out: Path, seeds: int, repeats: int, jobs: int) -> None:
    """Reproduce the analysis of the glass fragments, then repeat it on unseen fragments.

    An interrupted study resumes when called again.
    """
    from rich.console import Console

    from transvariation.report.study import analyse_glass
    from transvariation.studies.glass import GlassStudy

    console = Console()
    with _kept_in(out), _usage_errors():
        path = analyse_glass(GlassStudy(seeds, repeats, jobs), out, console)
    _say(f"Page: {path}")


def _say(text: str, *, err: bool = False) -> None:
    click.echo(_printable(text), err=err)


def _printable(text: str) -> str:
    """Escape the control characters of names from files."""
    from transvariation.tables.problems import printable_text

    return printable_text(text)


@contextmanager
def _kept_in(out: Path) -> Iterator[None]:
    """Report where the results are when Ctrl-C stops a study."""
    try:
        yield
    except KeyboardInterrupt:
        _say(f"\nStopped. Finished work is kept in {out}; the same command resumes it.", err=True)
        raise SystemExit(130) from None


def _letters(text: str) -> str:
    """Parse a list of scenarios such as a-d,i."""
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
    """Parse positive numbers separated by commas."""
    try:
        numbers = [kind(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(0 < number < math.inf for number in numbers):
        raise click.BadParameter(f"{text!r} must be positive numbers separated by commas", param_hint=option)
    return numbers


def _mark(context: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """Translate the names of decimal marks."""
    return {"comma": ",", "point": "."}.get(given or "", given)


def _decimal_option(name: str, words: str) -> Any:
    return click.option(name, type=click.Choice([",", ".", "comma", "point"]), callback=_mark, help=words)


_decimal = _decimal_option("--decimal", "The decimal mark of every table given; by default recognised.")


# Short forms of what casework describes; importing it would delay --help. A test compares the names.
METHODS = {
    "neighbor": "distances to the nearest control fragments",
    "tocc": "share of control fragments farther from the centre",
    "pam": "the same around several centres",
    "mixture": "a mixture of normal distributions",
    "projections": "an average over many planes",
}
REDUCTIONS = {
    "minor": "the combinations that vary least in the control",
    "vip": "the most important variables in projection",
    "varsel": "the variables that a mixture selects",
}

ROLES = ("id", "source", "fragment", "replicate", "order", "measurement", "ignore")


def _roles(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    """Parse the roles of columns."""
    roles = {}
    for text in given:
        column, _, role = text.rpartition("=")  # a name may contain the sign, a role does not
        if not column or role not in ROLES:
            raise click.BadParameter(f"{text!r} must be COLUMN=ROLE with one of the roles {', '.join(ROLES)}")
        roles[column] = role
    return roles or None


_role = click.option(
    "--role",
    "roles",
    metavar="COLUMN=ROLE",
    multiple=True,
    callback=_roles,
    help=f"The role of a column: {', '.join(ROLES)}; by default recognised. May be repeated.",
)
_drop_summary_rows = click.option(
    "--drop-summary-rows", is_flag=True, help="Leave out rows of means and standard deviations."
)


def _ranges(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[tuple[float, float]]:
    """Parse ranges of wavelengths."""
    number = r"([-+]?\d+(?:\.\d+)?)"
    found = [re.fullmatch(rf"\s*{number}\s*[-:–]\s*{number}\s*", text) for text in given]
    for text, match in zip(given, found, strict=True):
        if match is None:
            raise click.BadParameter(f"{text!r} must be two numbers with a hyphen between them, such as 800-1200")
    return [(float(match[1]), float(match[2])) for match in found if match]


def _in_words(choices: dict[str, str]) -> str:
    *head, last = [f"{name} ({words})" for name, words in choices.items()]
    return f"{', '.join(head)} or {last}"


def _judging(command: Any) -> Any:
    """Add the options shared by judge and fit."""
    options = [
        click.option("--method", default="neighbor", help=f"How to compare with the control: {_in_words(METHODS)}."),
        click.option(
            "--preprocess",
            metavar="STEPS",
            help="Preprocess spectra first, by steps separated by commas, such as snv,sg1: snv, msc, emsc (scatter "
            "correction), detrend, als (baseline), area, peak, length (normalisation), regions (scaling), sg, sg1, sg2 "
            "(smoothing, first and second derivative; sg1:15:2 has a window of 15 positions and degree 2).",
        ),
        click.option("--reduce", help=f"Reduce the variables first: {_in_words(REDUCTIONS)}."),
        click.option(
            "--reduce-to", type=int, default=2, help="Number of variables or combinations that --reduce leaves."
        ),
        click.option(
            "--sensitivity",
            type=float,
            default=0.9,
            help="Share of fragments of the control's own source that should not be excluded.",
        ),
        click.option(
            "--features",
            help="Variables to use, separated by commas, a name with a comma in double quotes; by default all columns "
            "of numbers.",
        ),
        click.option(
            "--range",
            "ranges",
            metavar="LOW-HIGH",
            multiple=True,
            callback=_ranges,
            help="Use the variables whose names are numbers (wavelengths) from LOW to HIGH. May be repeated.",
        ),
        click.option("--without", help="Variables to leave out, separated by commas as for --features."),
        click.option("--id-column", help="The column that names the rows; by default recognised."),
        click.option("--fragment-column", help="The column that names the fragment; its rows are replicates."),
        click.option("--source-column", help="The column that names the source (pane, bottle, batch) of a fragment."),
        _role,
        _drop_summary_rows,
        _decimal,
        click.option(
            "--missing",
            type=click.Choice(["error", "drop", "impute"]),
            default="error",
            help="Missing and below-detection values: report them, leave the row out, or fill them in.",
        ),
        click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of all random numbers."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


_sheet = click.option("--sheet", help="The sheet to read of an Excel workbook; by default the first.")


def _listed(options: dict[str, Any]) -> dict[str, Any]:
    """Parse the lists of variables."""
    return options | {option: _names(options[option]) for option in ("features", "without")}


def _names(text: str | None) -> list[str] | None:
    if not text:
        return None
    found = next(csv.reader([" ".join(text.split())], skipinitialspace=True))  # quotes keep a comma in a name
    return [name.strip() for name in found or [""]]


@contextmanager
def _usage_errors() -> Iterator[None]:
    """Report wrong input and wrong parameters in terms of the command line, and exit with status 2."""
    try:
        yield
    except OSError as error:
        words = [str(part) for part in (error.filename, error.strerror) if part]
        raise click.UsageError(_printable(": ".join(words) or str(error))) from error
    except (ValueError, ImportError) as error:
        text = getattr(error, "text", None)  # errors that know the terms of every front end
        raise click.UsageError(_printable(str(error) if text is None else text("cli"))) from error


def _background(context: click.Context, option: click.Parameter, given: str | None) -> Path | str | None:
    """Accept an existing file, or the name of the packaged background."""
    if given is None or given == "nfi":
        return given
    if not Path(given).is_file():
        raise click.BadParameter(f"File {given!r} does not exist; give a file, or nfi for the packaged float glass.")
    return Path(given)


def _case_options(command: Any) -> Any:
    """Add the case details of the report."""
    fields = {
        "case_number": "Case number",
        "items": "Items examined",
        "laboratory": "Laboratory",
        "examiner": "Examiner",
        "reviewer": "Reviewer",
        "received": "Date on which the items were received",
        "examined": "Date of the examination",
    }
    for name, words in reversed(fields.items()):
        command = click.option(f"--{name.replace('_', '-')}", name, help=f"{words}, for the report.")(command)
    return command


@main.command()
@click.argument("control", type=INPUT)
@click.argument("recovered", type=INPUT)
@click.option("--report", type=OUTPUT, help="Write a report: .html or .pdf.")
@click.option("--json", "json_file", type=OUTPUT, help="Write everything as JSON.")
@click.option(
    "--background",
    callback=_background,
    help="A table of many sources with several fragments each, or nfi for the packaged float glass: calibrates the "
    "conclusions where the control has few fragments, and adds likelihood ratios.",
)
@click.option(
    "--foreign",
    type=INPUT,
    help="A table of samples that are known not to come from the control's source: shows how often such samples are "
    "noticed. Not with --background.",
)
@click.option("--log", is_flag=True, help="Take logarithms of the measurements first.")
@click.option("--logged", is_flag=True, help="The tables already hold logarithms (base 10).")
@click.option("--multiplier", type=float, default=4.0, help="Multiplier of ASTM E2927.")
@click.option("--min-rsd", type=float, default=0.03, help="Minimum relative SD of ASTM E2927.")
@click.option("--control-sheet", help="The sheet of CONTROL, if it is an Excel workbook; by default the first.")
@click.option("--recovered-sheet", help="The sheet of RECOVERED; both tables may be in one workbook.")
@click.option("--background-sheet", help="The sheet of the background table.")
@_decimal_option("--control-decimal", "The decimal mark of CONTROL only.")
@_decimal_option("--recovered-decimal", "The decimal mark of RECOVERED only.")
@_judging
@_case_options
def judge(
    control: Path,
    recovered: Path,
    report: Path | None,
    json_file: Path | None,
    control_sheet: str | None,
    recovered_sheet: str | None,
    control_decimal: str | None,
    recovered_decimal: str | None,
    **options: Any,
) -> None:
    """Judge whether RECOVERED fragments could come from the source of the CONTROL fragments."""
    from rich.console import Console

    from transvariation.casework import CASE_FIELDS
    from transvariation.report.console import judge_case

    case = {name: options.pop(name) for name in CASE_FIELDS}
    given = {
        "case": {name: value for name, value in case.items() if value},
        "sheets": (control_sheet, recovered_sheet),
        "decimals": (control_decimal, recovered_decimal),
    }
    with _usage_errors():
        judge_case(control, recovered, report, json_file, Console(), **given, **_listed(options))


@main.command()
@click.argument("control", type=INPUT)
@click.argument("model", type=OUTPUT)
@_sheet
@_judging
def fit(control: Path, model: Path, **options: Any) -> None:
    """Fit a classifier to the rows of CONTROL and keep it in the file MODEL."""
    from rich.console import Console

    from transvariation.casework.model_file import fit_model

    with _usage_errors(), Console(stderr=True).status("fitting"):
        fitted = fit_model(control, model, **_listed(options))
    coverage = fitted.classifier.coverage_report()
    after = f" after {options['preprocess']}" if options["preprocess"] else ""
    variables = f"{len(fitted.table.features)} variables{after}"
    click.echo(f"{len(fitted.table)} rows, {variables}; {coverage.n} {coverage.unit} calibrate.")
    click.echo(coverage.guarantee)
    _warn(fitted.warnings)
    _say(f"Model: {model}")


def _warn(messages: list[str]) -> None:
    for message in messages:
        _say(f"Warning: {message}", err=True)


@main.command()
@click.argument("model", type=INPUT)
@click.argument("table", type=INPUT)
@click.option("--out", type=OUTPUT, help="The CSV file to write.  [TABLE.scores.csv]")
@click.option("--id-column", help="The column that names the rows; by default recognised.")
@_decimal
@click.option(
    "--missing",
    type=click.Choice(["error", "drop"]),
    default="error",
    help="Missing values: report them, or leave the row out.",
)
@_role
@_drop_summary_rows
@_sheet
def score(model: Path, table: Path, out: Path | None, **options: Any) -> None:
    """Apply the classifier in MODEL to the rows of TABLE, of any length; write one line per row into a CSV file."""
    from rich.console import Console
    from rich.progress import Progress

    from transvariation.casework.model_file import score_table
    from transvariation.report.case_text import listed

    out = out or table.with_name(f"{table.stem}.scores.csv")
    with _usage_errors(), Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("scoring", total=1.0)
        done = score_table(model, table, out, progress=lambda share: progress.update(bar, completed=share), **options)
    _warn(done.warnings)
    lost = f", {done.left_out} left out because a value is missing or below detection" if done.left_out else ""
    _say(f"Variables used: {listed(done.used)}")
    _say(f"{done.scored} rows scored, {done.rejected} rejected{lost}: {out}")


@main.command()
@click.argument("normal", type=INPUT)
@click.argument("new", type=INPUT)
@click.option("--report", type=OUTPUT, help="Write a report: .html.")
@click.option("--json", "json_file", type=OUTPUT, help="Write everything as JSON.")
@click.option("--lags", type=click.IntRange(min=0), default=0, help="Judge each row with so many rows before it.")
@click.option("--components", "n_components", type=COUNT, help="Principal components.  [90% of the variance]")
@click.option("--false-alarm", type=float, default=0.01, help="Share of normal rows that one or more charts flag.")
@click.option("--run", type=COUNT, default=3, help="Successive flagged rows that raise an alarm.")
@click.option("--normal-sheet", help="The sheet of NORMAL, if it is an Excel workbook; by default the first.")
@click.option("--new-sheet", help="The sheet of NEW.")
def monitor(normal: Path, new: Path, report: Path | None, json_file: Path | None, **options: Any) -> None:
    """Chart a NEW run of a process against a NORMAL run: score, Hotelling's T2 and Q over time, and alarms.

    The tables have one row per time, in time order or with a column of times, and one column per variable.
    """
    from rich.console import Console

    from transvariation.atomic_write import check_outputs
    from transvariation.report.monitoring import monitor_tables, monitoring_summary, write_monitoring_json
    from transvariation.report.monitoring import write_monitoring_report as write_report

    sheets = (options.pop("normal_sheet"), options.pop("new_sheet"))
    with _usage_errors():
        check_outputs([report, json_file], [normal, new])
        with Console(stderr=True).status("measuring"):
            result = monitor_tables(normal, new, sheets=sheets, **options)
        _say(monitoring_summary(result))
        for alarm in result.alarms[:10]:
            named = ", ".join(list(alarm.contributions)[:3])
            _say(f"  {result.labels[alarm.raised]}: {', '.join(alarm.charts)}; {named}")
        for path, write in ((report, write_report), (json_file, write_monitoring_json)):
            if path is not None:
                write(result, path)
                _say(f"Written: {path}")


@main.command()
@click.option("--port", type=click.IntRange(0, 65535), default=8377, help="Port; 0: any free one.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def serve(port: int, no_browser: bool) -> None:
    """Serve the local page: the same work in a browser, on this computer only."""
    from transvariation.web.serve import serve as run

    with _usage_errors():
        run(port, not no_browser)
