"""The command line. Commands import what they need when they run, so that --help is fast."""

import csv
import io
import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from transvariation import __version__
from transvariation.casework.settings import CASE_FIELDS, ROLES, TABLES, CaseSettings, TableSettings
from transvariation.tables.settings import Option, flag_of, options_of

INPUT = click.Path(exists=True, dir_okay=False, path_type=Path)
OUTPUT = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
COUNT = click.IntRange(min=1)
NO_CONCLUSION = 3  # exit status


class _Commands(click.Group):
    """Commands that Ctrl-C stops with a sentence and the usual exit status; their summaries are listed whole."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(500)) for name in self.list_commands(ctx)]
            )

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


@main.group(cls=_Commands)
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


class _Option(click.Option):
    """An option under a heading of the help."""

    def __init__(self, names: Sequence[str], group: str = "", **more: Any):
        super().__init__(names, **more)
        self.group = group


class _Command(click.Command):
    """A command whose options are listed under headings; those of one table only are described together."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            if isinstance(option, click.Option) and (record := option.get_help_record(ctx)):
                sections.setdefault(getattr(option, "group", "") or "options", []).append(record)
        if any(getattr(option, "hidden", False) for option in self.params):
            known = options_of(TableSettings)
            names = [f"--TABLE{flag_of(name, given)[1:]}" for name, given in known.items()]
            words = f"The same for one table only: TABLE is {', '.join(TABLES[:-1])} or {TABLES[-1]}."
            sections["tables"].append((", ".join(names[:2]) + ", ...", words))
        for title, records in sorted(sections.items(), key=lambda item: [*_SECTIONS, item[0]].index(item[0])):
            with formatter.section(title.capitalize()):
                formatter.write_dl(records)


_SECTIONS = ("tables", "variables", "comparison", "report", "options")


def _settings_options(kind: type[TableSettings], *groups: str, without: tuple[str, ...] = ()) -> Any:
    """Add the options of settings to a command: the fields in some groups, and the same for each single table."""
    found: list[_Option] = []
    for name, given in options_of(kind).items():
        if given.group not in groups or name in without:
            continue
        default = getattr(kind(), name)
        if given.kind == "tables":
            for table in TABLES:
                for own, its in options_of(TableSettings).items():
                    found.append(
                        _option(f"{table}__{own}", f"--{table}{flag_of(own, its)[1:]}", its, None, hidden=True)
                    )
        elif given.kind == "case":
            for field, words in CASE_FIELDS.items():
                flag = f"--{field.replace('_', '-')}"
                found.append(_Option([flag, f"case__{field}"], group="report", help=f"{words}, for the report."))
        else:
            found.append(_option(name, flag_of(name, given), given, default))

    def decorate(command: click.Command) -> click.Command:
        command.params += found
        return command

    return decorate


def _option(name: str, flag: str, given: Option, default: Any, hidden: bool = False) -> _Option:
    """Build the option of one field; a value that was not given is None."""
    words, more = given.help, dict[str, Any](metavar=_METAVARS.get(given.kind, "TEXT"))
    if given.kind == "choice":
        listed = [f"{choice} ({meaning})" for choice, meaning in given.choices.items()]
        words = f"{words}: {', '.join(listed[:-1])} or {listed[-1]}."
        more = {"metavar": "|".join(given.choices)} if len(given.choices) < 4 else {"metavar": "NAME"}
    if given.kind in _PARSERS:
        words, more = f"{words} {_MANNERS[given.kind]}", {"callback": _PARSERS[given.kind], **_FORMS[given.kind]}
    elif given.kind in ("whole", "number", "share"):
        more["type"] = int if given.kind == "whole" else float
    elif given.kind == "flag":
        more = {"is_flag": True, "default": None}
    if default is not None and default is not False and default != {}:
        words += f"  [default: {default}]"
    return _Option([flag, name], group=given.group, help=words, hidden=hidden, show_default=False, **more)


def _roles(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    """Parse the roles of columns."""
    roles = {}
    for text in given:
        column, _, role = text.rpartition("=")  # a name may contain the sign, a role does not
        if not column or role not in ROLES:
            raise click.BadParameter(f"{text!r} must be COLUMN=ROLE with one of the roles {', '.join(ROLES)}")
        roles[column] = role
    return roles or None


def _ranges(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[Any] | None:
    """Parse ranges of wavelengths."""
    number = r"([-+]?\d+(?:\.\d+)?)"
    found = [re.fullmatch(rf"\s*{number}\s*[-:–]\s*{number}\s*", text) for text in given]
    for text, match in zip(given, found, strict=True):
        if match is None:
            raise click.BadParameter(f"{text!r} must be two numbers with a hyphen between them, such as 800-1200")
    return [(float(match[1]), float(match[2])) for match in found if match] or None


def _names(context: click.Context, option: click.Parameter, text: str | None) -> list[str] | None:
    """Parse a list of variables."""
    if not text:
        return None
    found = next(csv.reader([" ".join(text.split())], skipinitialspace=True))  # quotes keep a comma in a name
    return [name.strip() for name in found or [""]]


_PARSERS: dict[str, Any] = {"roles": _roles, "ranges": _ranges, "names": _names}
_FORMS: dict[str, dict[str, Any]] = {
    "roles": {"metavar": "COLUMN=ROLE", "multiple": True},
    "ranges": {"metavar": "LOW-HIGH", "multiple": True},
    "names": {"metavar": "NAMES"},
}
_METAVARS = {"whole": "N", "number": "NUMBER", "share": "NUMBER", "mark": "MARK", "steps": "STEPS"}
_MANNERS = {
    "roles": "May be repeated.",
    "ranges": "May be repeated.",
    "names": "Separated by commas, a name with a comma in double quotes.",
}


def _settings(kind: type[Any], options: dict[str, Any]) -> Any:
    """Build settings from the options that were given."""
    return kind.build(None, _given(options))


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given, as fields of settings."""
    given: dict[str, Any] = {}
    for name, value in options.items():
        if value is None:
            continue
        first, _, rest = name.rpartition("__")
        if first == "case":
            given.setdefault("case", {})[rest] = value
        elif first:
            given.setdefault("tables", {}).setdefault(first, {})[rest] = value
        else:
            given[name] = value
    return given


@contextmanager
def _usage_errors() -> Iterator[None]:
    """Report wrong input and wrong parameters in terms of the command line, and exit with status 2."""
    try:
        yield
    except OSError as error:
        words = [str(part) for part in (error.filename, error.strerror) if part]
        raise click.UsageError(_printable(": ".join(words) or str(error))) from error
    except (ValueError, ImportError) as error:
        from transvariation.report.wording import error_text

        raise click.UsageError(_printable(error_text(error, "cli"))) from error


def _background(context: click.Context, option: click.Parameter, given: str | None) -> Path | str | None:
    """Accept an existing file, or the name of the packaged background."""
    if given is None or given == "nfi":
        return given
    if not Path(given).is_file():
        raise click.BadParameter(f"File {given!r} does not exist; give a file, or nfi for the packaged float glass.")
    return Path(given)


_overwrite = click.option("--overwrite", is_flag=True, help="Replace output files that exist.")


def _check_new(outputs: Iterable[Path | None], overwrite: bool) -> None:
    """Refuse to replace a file silently; an empty one is no loss, and a pipe or a device is written to."""
    for path in outputs:
        if not overwrite and path is not None and path.is_file() and path.stat().st_size:
            raise click.UsageError(_printable(f"{path} exists; give another name, or --overwrite to replace it."))


@_settings_options(CaseSettings, "tables", "variables", "comparison", "report")
@main.command(cls=_Command)
@click.argument("control", type=INPUT, required=False)
@click.argument("recovered", type=INPUT, required=False)
@click.option(
    "--batch",
    type=click.Path(exists=True, path_type=Path),
    help="Judge many cases instead of CONTROL and RECOVERED: a folder with a folder for each case, in which are the "
    "tables control and recovered, or a CSV table with the columns case, control and recovered.",
)
@click.option("--out", type=FOLDER, help="The folder for the reports, JSON files and summary of --batch.")
@click.option(
    "--procedure",
    type=INPUT,
    help="A TOML file that fixes the variables, the comparison and the background; the report names it.",
)
@_overwrite
@click.option(
    "--background",
    cls=_Option,
    group="tables",
    callback=_background,
    help="A table of many sources with several fragments each, or nfi for the packaged float glass: calibrates the "
    "conclusions where the control has few fragments, and adds likelihood ratios.",
)
@click.option(
    "--foreign",
    cls=_Option,
    group="tables",
    type=INPUT,
    help="A table of samples that are known not to come from the control's source: shows how often such samples are "
    "noticed. Not with --background.",
)
@click.option(
    "--report",
    "reports",
    cls=_Option,
    group="report",
    type=OUTPUT,
    multiple=True,
    help="Write a report: .html or .pdf. May be repeated.",
)
@click.option("--json", "json_file", cls=_Option, group="report", type=OUTPUT, help="Write everything as JSON.")
@click.pass_context
def judge(
    context: click.Context,
    control: Path | None,
    recovered: Path | None,
    batch: Path | None,
    out: Path | None,
    procedure: Path | None,
    overwrite: bool,
    background: Path | str | None,
    foreign: Path | None,
    reports: tuple[Path, ...],
    json_file: Path | None,
    **options: Any,
) -> None:
    """Judge whether RECOVERED fragments could come from the source of the CONTROL fragments.

    Exit status: 0 = judged, 2 = the input or an option is wrong, 3 = no conclusion could be drawn. Of many cases, 2 = a
    case could not be judged, 3 = in a case no conclusion could be drawn.
    """
    from rich.console import Console

    given = _given(options)
    with _usage_errors():
        fixed = None
        if procedure is not None:
            from transvariation.casework.procedure import Procedure

            fixed = Procedure.read(procedure)
            background = fixed.background_of(background)
        settings = CaseSettings.build(None, given) if fixed is None else fixed.settings(given)
        if batch is not None:
            if control or foreign or reports or json_file or out is None:
                words = "--batch takes no CONTROL and RECOVERED, --foreign, --report or --json, and needs --out FOLDER"
                raise click.UsageError(f"{words}, which receives a report and a JSON file of each case.")
            context.exit(_judge_batch(batch, out, background, settings, overwrite, fixed))
        if control is None or recovered is None:
            raise click.UsageError("Missing argument: give the tables CONTROL and RECOVERED, or --batch.")
        from transvariation.report.console import judge_case

        _check_new([*reports, json_file], overwrite)
        sources = {"control": control, "recovered": recovered, "background": background, "foreign": foreign}
        result = judge_case(sources, settings, reports, json_file, Console(), fixed)
    if not result.concludes:
        context.exit(NO_CONCLUSION)


def _judge_batch(batch: Path, out: Path, background: Any, settings: CaseSettings, overwrite: bool, fixed: Any) -> int:
    """Judge many cases; return the exit status."""
    from rich.console import Console

    from transvariation.casework.batch import file_name, read_batch
    from transvariation.report.batch import SUMMARY
    from transvariation.report.console import judge_cases

    cases = read_batch(batch)
    names = [*SUMMARY, *(f"{file_name(case.name)}{kind}" for case in cases for kind in (".html", ".json"))]
    _check_new([out / name for name in names], overwrite)
    judged = [result for _, result in judge_cases(cases, background, settings, out, Console(), fixed)]
    conclusive = [result.concludes for result in judged if not isinstance(result, Exception)]
    return 2 if len(conclusive) < len(judged) else 0 if all(conclusive) else NO_CONCLUSION


@_settings_options(
    CaseSettings, "tables", "variables", "comparison", without=("tables", "log", "logged", "multiplier", "min_rsd")
)
@main.command(cls=_Command)
@click.argument("control", type=INPUT)
@click.argument("model", type=OUTPUT)
@_overwrite
def fit(control: Path, model: Path, overwrite: bool, **options: Any) -> None:
    """Fit a classifier to the rows of CONTROL and keep it in the file MODEL."""
    from rich.console import Console

    from transvariation.casework.model_file import fit_model

    _check_new([model], overwrite)
    with _usage_errors(), Console(stderr=True).status("fitting"):
        settings = _settings(CaseSettings, options)
        fitted = fit_model(control, model, settings)
    coverage = fitted.classifier.coverage_report()
    after = f" after {settings.steps}" if settings.steps else ""
    variables = f"{len(fitted.table.features)} variables{after}"
    click.echo(f"{len(fitted.table)} rows, {variables}; {coverage.n} {coverage.unit} calibrate.")
    click.echo(coverage.guarantee)
    _warn(fitted.warnings)
    _say(f"Model: {model}, SHA-256 {fitted.sha256}")


def _warn(messages: list[str]) -> None:
    for message in messages:
        _say(f"Warning: {message}", err=True)


@_settings_options(TableSettings, "tables")
@main.command(cls=_Command)
@click.argument("model", type=INPUT)
@click.argument("table", type=INPUT)
@click.option("--out", type=OUTPUT, help="The CSV file to write.  [TABLE.scores.csv]")
@click.option(
    "--missing",
    type=click.Choice(["error", "drop"]),
    default="error",
    help="Missing values: report them, or leave the row out.",
)
@_overwrite
def score(model: Path, table: Path, out: Path | None, missing: str, overwrite: bool, **options: Any) -> None:
    """Apply the classifier in MODEL to TABLE, of any length; write one line per row, or per sample, into a CSV file.

    Rows that repeat the label of a sample are its replicates: their mean is scored.
    """
    from rich.console import Console
    from rich.progress import Progress

    from transvariation.casework.model_file import score_table
    from transvariation.report.wording import listed

    out = out or table.with_name(f"{table.stem}.scores.csv")
    _check_new([out], overwrite)
    with _usage_errors(), Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("scoring", total=1.0)

        def show(share: float) -> None:
            progress.update(bar, completed=share)

        settings = _settings(TableSettings, options)
        done = score_table(model, table, out, settings, missing=missing, progress=show)
    _warn(done.warnings)
    lost = f", {done.left_out} left out because a value is missing or below detection" if done.left_out else ""
    _say(f"Model: {model}, SHA-256 {done.sha256}")
    _say(f"Variables used: {listed(done.used)}")
    _say(f"{done.scored} {done.unit} scored, {done.rejected} rejected{lost}: {out}")


@main.command()
@click.argument("normal", type=INPUT)
@click.argument("new", type=INPUT)
@click.option("--report", type=OUTPUT, help="Write a report: .html.")
@click.option("--json", "json_file", type=OUTPUT, help="Write everything as JSON.")
@click.option("--lags", type=click.IntRange(min=0), default=0, help="Judge each row with so many rows before it.")
@click.option("--components", "n_components", type=COUNT, help="Principal components.  [90% of the variance]")
@click.option("--false-alarm", type=float, default=0.01, help="Share of normal rows that one or more charts flag.")
@click.option("--run", type=COUNT, default=2, help="Successive flagged rows that raise an alarm.")
@click.option("--normal-sheet", help="The sheet of NORMAL, if it is an Excel workbook; by default the first.")
@click.option("--new-sheet", help="The sheet of NEW.")
@_overwrite
def monitor(
    normal: Path, new: Path, report: Path | None, json_file: Path | None, overwrite: bool, **options: Any
) -> None:
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
        _check_new([report, json_file], overwrite)
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


@main.group(cls=_Commands)
def database() -> None:
    """Build, check and describe a database of sources."""


@_settings_options(TableSettings, "tables")
@database.command(cls=_Command)
@click.argument("files", nargs=-1, required=True, type=INPUT)
@click.option(
    "--out", required=True, type=OUTPUT, help="The database: a .csv file; its description is written beside it."
)
@click.option("--name", default="database", help="What reports call the database.")
@click.option("--population", default="", help="What the sources are a sample of.")
@click.option("--laboratory", default="", help="Who measured them.")
@click.option("--instrument", default="", help="What they were measured with.")
@click.option("--dates", default="", help="When they were measured.")
@click.option("--quality-control", default="", help="The quality-control glass and its results.")
@click.option("--stratum-column", help="The column that names what sources share, such as their maker or batch.")
@click.option("--logged", is_flag=True, help="The tables hold logarithms (base 10).")
@_overwrite
def build(files: tuple[Path, ...], out: Path, overwrite: bool, **options: Any) -> None:
    """Read FILES into one checked database."""
    from transvariation.atomic_write import check_outputs
    from transvariation.casework import Database

    about = {key: options.pop(key) for key in (*_ABOUT, "name", "stratum_column", "logged")}
    with _usage_errors():
        check_outputs([out, out.with_suffix(".json")], files)
        _check_new([out, out.with_suffix(".json")], overwrite)
        built = Database.build(files, settings=_settings(TableSettings, options), **about)
        for path in built.write(out):
            _say(f"Written: {path}")
    _describe(built)


_ABOUT = ("population", "laboratory", "instrument", "dates", "quality_control")


@database.command()
@click.argument("file", type=INPUT)
def check(file: Path) -> None:
    """Check a database: duplicates, outlying values, units, labels, drift, missing values."""
    from transvariation.casework import Database

    with _usage_errors():
        findings = Database.read(file).check()
    for finding in findings:
        some = ", ".join(finding.sources[:5]) + (", ..." if len(finding.sources) > 5 else "")
        _say(f"{finding.check}: {finding.text}" + (f" ({some})" if some else ""))
    if not findings:
        _say("Nothing was found.")


@database.command()
@click.argument("file", type=INPUT)
def describe(file: Path) -> None:
    """Describe the population, the numbers and the variables of a database."""
    from transvariation.casework import Database

    with _usage_errors():
        _describe(Database.read(file))


def _describe(found: Any) -> None:
    described = found.describe()
    for key, value in described.items():
        if key not in ("variables", "sha256") and value not in ("", {}):
            _say(f"{key.replace('_', ' ').capitalize()}: {value}")
    for name, each in described["variables"].items():
        unit = f" {each['unit']}" if each["unit"] else ""
        within, between = each["within sources"], each["between sources"]
        _say(
            f"  {name}: {each['smallest']:.4g} to {each['largest']:.4g}{unit}; sd {within:.2g} within, {between:.2g} "
            "between sources"
        )


@main.command()
@click.argument("database", type=INPUT)
@click.option("--design", default="1x1,3x1", help="Known fragments x replicates, separated by commas.")
@click.option("--sensitivity", default="0.9", help="Sensitivities, separated by commas.")
@click.option("--features", callback=_names, help="The variables to use, separated by commas; by default all.")
@click.option("--linear", is_flag=True, help="Take no logarithms.")
@click.option("--criteria", type=INPUT, help="Acceptance criteria: a TOML file with a limit per line.")
@click.option("--report", "reports", type=OUTPUT, multiple=True, help="Write a report: .html or .pdf. May be repeated.")
@click.option("--json", "json_file", type=OUTPUT, help="Write everything as JSON.")
@click.option("--comparisons", type=COUNT, default=2000, help="Comparisons of each kind in a design.")
@click.option("--seed", type=int, default=0, help="Seed of all random numbers.")
@click.option("--jobs", type=COUNT, default=1, help="The number of processes.")
@click.option("--rates-only", is_flag=True, help="No likelihood ratios and no other methods: a fraction of the time.")
@click.option("--resume", type=OUTPUT, help="Keep what is done in this file; a second call goes on from there.")
@_overwrite
def validate(
    database: Path,
    design: str,
    sensitivity: str,
    features: list[str] | None,
    linear: bool,
    criteria: Path | None,
    reports: tuple[Path, ...],
    json_file: Path | None,
    **options: Any,
) -> None:
    """Measure on a DATABASE how often the method is wrong, and compare that with acceptance criteria.

    Exit status: 0 = all criteria are met, 1 = a criterion is not met, 2 = the input or an option is wrong.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from transvariation.atomic_write import check_outputs
    from transvariation.casework.validation import validate as run
    from transvariation.report.case_text import format_rate
    from transvariation.report.page import check_report_name
    from transvariation.report.validation import (
        validation_summary,
        write_validation_json,
        write_validation_report,
    )

    with _usage_errors():
        check_outputs([*reports, json_file], [database])
        _check_new([*reports, json_file], options["overwrite"])
        for path in reports:
            check_report_name(path)
        columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            bar = progress.add_task("validating", total=1.0)
            result = run(
                database,
                designs=[text.strip() for text in design.split(",")],
                sensitivities=_numbers(sensitivity, float, "--sensitivity"),
                criteria=criteria,
                features=features,
                log=not linear,
                n_comparisons=options["comparisons"],
                ratios=not options["rates_only"],
                seed=options["seed"],
                n_jobs=options["jobs"],
                checkpoint=options["resume"],
                progress=lambda step, share: progress.update(bar, description=step, completed=share),
            )
        for each in result.designs:
            _say(f"Design {each.design}: {each.n_same:,} comparisons of one source, {each.n_different:,} of two")
            for rates in each.rates["transvariation"]:
                _say(f"  sensitivity {rates.sensitivity:g}: false exclusion {format_rate(rates.false_exclusion)}")
                _say(f"    false inclusion {format_rate(rates.false_inclusion)}")
            if "transvariation" in each.ratios:
                _say(f"  likelihood ratios: Cllr {each.ratios['transvariation'].cllr:.3f}")
        _say(validation_summary(result))
        for path in reports:
            write_validation_report(result, path)
            _say(f"Report: {path}")
        if json_file is not None:
            write_validation_json(result, json_file)
            _say(f"JSON: {json_file}")
    if not result.passed:
        raise SystemExit(1)


@main.command()
@click.argument("case", type=INPUT)
@click.option(
    "--report",
    "reports",
    type=OUTPUT,
    multiple=True,
    required=True,
    help="The report to write: .html or .pdf. May be repeated.",
)
@_overwrite
def report(case: Path, reports: tuple[Path, ...], overwrite: bool) -> None:
    """Write the report of a saved CASE (a JSON file) again."""
    from transvariation.atomic_write import check_outputs
    from transvariation.casework.audit import read_case_file
    from transvariation.report.case import write_report

    with _usage_errors():
        check_outputs(list(reports), [case])
        _check_new(reports, overwrite)
        result = read_case_file(case)
        for path in reports:
            write_report(result, path)
            _say(f"Report: {path}")


@main.command()
@click.argument("case", type=INPUT)
@click.option("--folder", type=FOLDER, help="Where the tables are.  [as named in the case, or beside it]")
def verify(case: Path, folder: Path | None) -> None:
    """Recompute a saved CASE (a JSON file, or a model that fit wrote) from its tables, and say what differs.

    Exit status: 0 = the same result, 1 = it differs or could not be recomputed, 2 = the input is wrong.
    """
    from rich.console import Console

    from transvariation.casework.audit import verify as run

    with _usage_errors(), Console(stderr=True).status("recomputing"):
        found = run(case, folder=folder)
    states = {"same": "unchanged", "changed": "CHANGED since it was read", "missing": "not found"}
    for table in found.tables:
        _say(f"{table.table}: {table.file}: {states[table.state]}")
    if found.sha256:
        _say(f"Model: SHA-256 {found.sha256}")
    for line in found.versions:
        _say(f"Another version of {line}")
    if not found.recomputed:
        _say("Not recomputed: give the tables as they were (--folder).")
    for line in found.differences[:20]:
        _say(line.removeprefix("."))
    if len(found.differences) > 20:
        _say(f"... and {len(found.differences) - 20} more differences")
    if found.confirmed:
        _say("Confirmed: what was recomputed is the same.")
    else:
        raise SystemExit(1)
