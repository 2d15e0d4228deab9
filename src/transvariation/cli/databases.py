"""Databases of sources, and the validation of the method on them."""

import json
import shutil
import sys
import textwrap
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transvariation.casework.settings import TableSettings, ValidationSettings
from transvariation.cli.options import (
    COUNT,
    INPUT,
    OUTPUT,
    Commands,
    GroupedCommand,
    check_files,
    check_outputs,
    output_options,
    overwrite_option,
    parse_names,
    say,
    settings_of,
    settings_options,
    usage_errors,
    write_outputs,
)

if TYPE_CHECKING:
    from transvariation._typing import Fields
    from transvariation.casework import Database


@click.group(cls=Commands)
def database() -> None:
    """Build, check and describe a database of sources."""


@settings_options(TableSettings, "tables")
@database.command(cls=GroupedCommand)
@click.argument("files", nargs=-1, required=True, type=INPUT)
@click.option(
    "--out", required=True, type=OUTPUT, help="The database: a .csv file; its description is written beside it."
)
@click.option("--name", help="What reports call the database.  [default: as the file]")
@click.option("--population", default="", help="What the sources are a sample of.")
@click.option("--laboratory", default="", help="Who measured them.")
@click.option("--instrument", default="", help="What they were measured with.")
@click.option("--dates", default="", help="When they were measured.")
@click.option("--quality-control", default="", help="The quality-control glass and its results.")
@click.option(
    "--features",
    callback=parse_names,
    metavar="NAMES",
    help="The variables to use, separated by commas; by default all, which the tables must share.",
)
@click.option("--stratum-column", help="The column that names what sources share, such as their maker or batch.")
@click.option("--logged", is_flag=True, help="The tables hold logarithms (base 10).")
@overwrite_option
def build(files: tuple[Path, ...], out: Path, overwrite: bool, **options: Any) -> None:
    """Read FILES into one checked database."""
    from transvariation.casework import Database

    about = {key: options.pop(key) for key in (*_ABOUT, "features", "stratum_column", "logged")}
    about["name"] = options.pop("name") or out.stem
    with usage_errors():
        check_files([out, out.with_suffix(".json")], files, overwrite)
        built = Database.build(files, settings=settings_of(TableSettings, options), **about)
        for path in built.write(out):
            say(f"Written: {path}")
    _describe(built)
    _check(built)


_ABOUT = ("population", "laboratory", "instrument", "dates", "quality_control")


@database.command()
@click.argument("file", type=INPUT)
def check(file: Path) -> None:
    """Check a database: duplicates, outlying values, units, labels, drift, missing values."""
    from transvariation.casework import Database

    with usage_errors():
        _check(Database.read(file))


@database.command()
@click.argument("file", type=INPUT)
def describe(file: Path) -> None:
    """Describe the population, the numbers and the variables of a database."""
    from transvariation.casework import Database

    with usage_errors():
        _describe(Database.read(file))


def _tell(text: str) -> None:
    """Print a sentence, on a terminal in lines that fit."""
    if sys.stdout.isatty():
        indent = " " * (len(text) - len(text.lstrip()) + 2)
        width = shutil.get_terminal_size().columns
        lines = textwrap.wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    else:
        lines = [text]
    for line in lines:
        say(line)


def _check(found: "Database") -> None:
    from transvariation.report.wording.cautions import finding_text

    findings = found.check()
    for finding in findings:
        _tell(f"Check, {finding.check}: {finding_text(finding)}")
    say("Nothing was changed or left out." if findings else "Checks: nothing was found.")


def _describe(found: "Database") -> None:
    from transvariation.report.wording.numbers import significant

    described = found.describe()
    described["strata"] = ", ".join(f"{name} ({n} sources)" for name, n in described["strata"].items())
    described["logged"] = "as logarithms (base 10)" if described["logged"] else ""
    for key, value in described.items():
        if key not in ("variables", "sha256") and value != "":
            _tell(f"{key.replace('_', ' ').capitalize()}: {value}")
    for name, each in described["variables"].items():
        unit = f" {each['unit']}" if each["unit"] else ""
        low, high = (significant(each[key], 4) for key in ("smallest", "largest"))
        within, between = (significant(each[key], 2) for key in ("within sources", "between sources"))
        _tell(f"  {name}: {low} to {high}{unit}; standard deviation {within} within, {between} between sources")


@settings_options(ValidationSettings, "variables", "comparison", without=("n_folds", "stability"))
@click.command(cls=GroupedCommand)
@click.argument("database", type=INPUT)
@click.option("--criteria", type=INPUT, help="Acceptance criteria: a TOML file with a limit per line.")
@click.option("--jobs", type=COUNT, metavar="N", default=1, help="The number of processes.")
@output_options
def validate(
    database: Path,
    criteria: Path | None,
    reports: tuple[Path, ...],
    json_file: Path | None,
    jobs: int,
    overwrite: bool,
    **options: object,
) -> None:
    """Measure on a DATABASE how often the method is wrong, and compare that with acceptance criteria.

    DATABASE is what `database build` wrote, or a table with a column that names the sources. After Ctrl-C, the same
    command continues where it stopped, if it writes a report or JSON.

    Exit status: 0 = all criteria are met, 1 = a criterion is not met, 2 = the input or an option is wrong.
    """
    from rich.console import Console

    from transvariation.casework.validation import validate as run
    from transvariation.provenance import command_line
    from transvariation.report.console import progress_bar
    from transvariation.report.validation import rate_lines, validation_summary, write_validation_report

    outputs = [path for path in (*reports, json_file) if path is not None]
    unfinished = Path(f"{outputs[0]}.unfinished") if outputs else None
    with usage_errors():
        check_outputs(reports, json_file, [database], overwrite)
        settings = settings_of(ValidationSettings, options)
        how: Fields = {"settings": settings, "criteria": criteria, "n_jobs": jobs, "checkpoint": unfinished}
        try:
            with progress_bar(Console(stderr=True)) as show:
                result = run(database, progress=show, **how)
        except KeyboardInterrupt:
            if unfinished is not None:
                say(f"What is done is in {unfinished}; the same command goes on from there.", err=True)
            raise
        result = replace(result, provenance=result.provenance | {"command": command_line()})
        for line in (*rate_lines(result), validation_summary(result)):
            _tell(line)
        write = partial(write_validation_report, result)
        for line in write_outputs(reports, json_file, write, lambda: json.dumps(result.to_dict())):
            say(line)
        if unfinished is not None:
            unfinished.unlink()
    if not result.passed:
        raise SystemExit(1)
