"""Databases of sources, and the validation of the method on them."""

import json
from pathlib import Path
from typing import Any

import click

from transvariation.casework.settings import TableSettings
from transvariation.cli.options import (
    COUNT,
    INPUT,
    OUTPUT,
    Commands,
    GroupedCommand,
    check_files,
    overwrite_option,
    parse_names,
    parse_numbers,
    say,
    settings_of,
    settings_options,
    usage_errors,
)


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
@click.option("--stratum-column", help="The column that names what sources share, such as their maker or batch.")
@click.option("--logged", is_flag=True, help="The tables hold logarithms (base 10).")
@overwrite_option
def build(files: tuple[Path, ...], out: Path, overwrite: bool, **options: Any) -> None:
    """Read FILES into one checked database."""
    from transvariation.casework import Database

    about = {key: options.pop(key) for key in (*_ABOUT, "stratum_column", "logged")}
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


def _check(found: Any) -> None:
    from transvariation.report.wording.notices import finding_text

    findings = found.check()
    for finding in findings:
        say(f"Check, {finding.check}: {finding_text(finding)}")
    say("Nothing was changed or left out." if findings else "Checks: nothing was found.")


def _describe(found: Any) -> None:
    from transvariation.report.wording.numbers import significant

    described = found.describe()
    described["strata"] = ", ".join(f"{name} ({n} sources)" for name, n in described["strata"].items())
    described["logged"] = "as logarithms (base 10)" if described["logged"] else ""
    for key, value in described.items():
        if key not in ("variables", "sha256") and value != "":
            say(f"{key.replace('_', ' ').capitalize()}: {value}")
    for name, each in described["variables"].items():
        unit = f" {each['unit']}" if each["unit"] else ""
        low, high = (significant(each[key], 4) for key in ("smallest", "largest"))
        within, between = (significant(each[key], 2) for key in ("within sources", "between sources"))
        say(f"  {name}: {low} to {high}{unit}; standard deviation {within} within, {between} between sources")


@click.command()
@click.argument("database", type=INPUT)
@click.option("--design", default="1x1,3x1", help="Known fragments x replicates, separated by commas.")
@click.option("--sensitivity", default="0.9", help="Sensitivities, separated by commas.")
@click.option("--features", callback=parse_names, help="The variables to use, separated by commas; by default all.")
@click.option("--linear", is_flag=True, help="Take no logarithms.")
@click.option("--criteria", type=INPUT, help="Acceptance criteria: a TOML file with a limit per line.")
@click.option("--report", "reports", type=OUTPUT, multiple=True, help="Write a report: .html or .pdf. May be repeated.")
@click.option("--json", "json_file", type=OUTPUT, help="Write everything as JSON.")
@click.option("--comparisons", type=COUNT, default=2000, help="Comparisons of each kind in a design.")
@click.option("--seed", type=int, default=0, help="Seed of all random numbers.")
@click.option("--jobs", type=COUNT, default=1, help="The number of processes.")
@click.option("--rates-only", is_flag=True, help="No likelihood ratios and no other methods: a fraction of the time.")
@click.option("--resume", type=OUTPUT, help="Keep what is done in this file; a second call goes on from there.")
@overwrite_option
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

    from transvariation.atomic_write import write_text
    from transvariation.casework.validation import validate as run
    from transvariation.report.case_text import format_rate
    from transvariation.report.page import check_report_name
    from transvariation.report.validation import (
        validation_summary,
        write_validation_report,
    )
    from transvariation.report.wording.notices import step_text

    with usage_errors():
        check_files([*reports, json_file], [database], options["overwrite"])
        for path in reports:
            check_report_name(path)
        columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            bar = progress.add_task("validating", total=1.0)
            result = run(
                database,
                designs=[text.strip() for text in design.split(",")],
                sensitivities=parse_numbers(sensitivity, float, "--sensitivity"),
                criteria=criteria,
                features=features,
                log=not linear,
                n_comparisons=options["comparisons"],
                ratios=not options["rates_only"],
                seed=options["seed"],
                n_jobs=options["jobs"],
                checkpoint=options["resume"],
                progress=lambda step, share: progress.update(bar, description=step_text(step), completed=share),
            )
        for each in result.designs:
            say(f"Design {each.design}: {each.n_same:,} comparisons of one source, {each.n_different:,} of two")
            for rates in each.rates["transvariation"]:
                say(f"  sensitivity {rates.sensitivity:g}: false exclusion {format_rate(rates.false_exclusion)}")
                say(f"    false inclusion {format_rate(rates.false_inclusion)}")
            if "transvariation" in each.ratios:
                say(f"  likelihood ratios: Cllr {each.ratios['transvariation'].cllr:.3f}")
        say(validation_summary(result))
        for path in reports:
            write_validation_report(result, path)
            say(f"Report: {path}")
        if json_file is not None:
            write_text(json_file, json.dumps(result.to_dict()))
            say(f"JSON: {json_file}")
    if not result.passed:
        raise SystemExit(1)
