"""Fitted classifiers kept in a file, and the monitoring of a process."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import click

from transvariation.casework.settings import CaseSettings, TableSettings
from transvariation.cli.options import (
    COUNT,
    INPUT,
    OUTPUT,
    GroupedCommand,
    check_files,
    check_outputs,
    output_options,
    overwrite_option,
    say,
    settings_of,
    settings_options,
    usage_errors,
    warn,
    write_outputs,
)

_OF_A_CASE = (  # settings that a classifier by itself has no use for
    *("tables", "log", "logged", "multiplier", "min_rsd"),
    *("lead", "family_wise", "astm", "within", "controls", "group"),
)


@settings_options(CaseSettings, "tables", "variables", "comparison", without=_OF_A_CASE)
@click.command(cls=GroupedCommand)
@click.argument("control", type=INPUT)
@click.argument("model", type=OUTPUT)
@overwrite_option
def fit(control: Path, model: Path, overwrite: bool, **options: object) -> None:
    """Fit a classifier to the rows of CONTROL and save it as MODEL."""
    from rich.console import Console

    from transvariation.casework.model_file import fit_model

    with usage_errors(), Console(stderr=True).status("fitting"):
        check_files([model], [control], overwrite)
        settings = settings_of(CaseSettings, options)
        fitted = fit_model(control, model, settings)
    after = f" after {settings.steps}" if settings.steps else ""
    click.echo(f"{len(fitted.table)} rows, {len(fitted.table.features)} variables{after}")
    click.echo(fitted.classifier.coverage_report())
    warn(fitted.warnings)
    say(f"Model: {model}, SHA-256 {fitted.sha256}")


@settings_options(TableSettings, "tables")
@click.command(cls=GroupedCommand)
@click.argument("model", type=INPUT)
@click.argument("table", type=INPUT)
@click.option("--out", type=OUTPUT, help="The CSV file to write.  [TABLE.scores.csv]")
@click.option(
    "--missing",
    type=click.Choice(["error", "drop"]),
    default="error",
    help="Missing values: report them, or leave the row out.",
)
@overwrite_option
def score(model: Path, table: Path, out: Path | None, missing: str, overwrite: bool, **options: object) -> None:
    """Score the rows of TABLE, of any length, with MODEL; write one line per row, or per sample, into a CSV file.

    Rows that repeat the label of a sample are its replicates: their mean is scored.
    """
    import numpy as np
    from rich.console import Console
    from rich.progress import Progress

    from transvariation.casework.model_file import score_table
    from transvariation.report.wording.numbers import listed, plural

    out = out or table.with_name(f"{table.stem}.scores.csv")
    with usage_errors(), Progress(console=Console(stderr=True), transient=True) as progress:
        check_files([out], [model, table], overwrite)
        bar = progress.add_task("scoring", total=1.0)

        def show(share: float) -> None:
            progress.update(bar, completed=share)

        settings = settings_of(TableSettings, options)
        done = score_table(model, table, out, settings, missing=missing, progress=show)
    warn(done.warnings)
    for note in done.notes:
        say(f"Note: {note}")
    lost = f", {done.left_out} left out because a value is missing or below detection" if done.left_out else ""
    say(f"Model: {model}, SHA-256 {done.sha256}")
    say(f"Variables used: {listed(done.used)}")
    level = np.round(done.sensitivity, 4)
    say(f"{plural(done.scored, done.unit)} scored, {done.rejected} rejected at a sensitivity of {level}{lost}: {out}")


@click.command()
@click.argument("normal", type=INPUT)
@click.argument("new", type=INPUT)
@click.option(
    "--lags", type=click.IntRange(min=0), metavar="N", default=0, help="How many earlier rows to append to each row."
)
@click.option(
    "--components", "n_components", type=COUNT, metavar="N", help="Principal components.  [90% of the variance]"
)
@click.option(
    "--false-alarm",
    type=float,
    metavar="NUMBER",
    default=0.01,
    help="Share of normal rows that one or more charts flag.",
)
@click.option("--run", type=COUNT, metavar="N", default=2, help="Successive flagged rows that raise an alarm.")
@click.option("--normal-sheet", help="The sheet of NORMAL, if it is an Excel workbook; by default the first.")
@click.option("--new-sheet", help="The sheet of NEW.")
@output_options
def monitor(
    normal: Path, new: Path, reports: tuple[Path, ...], json_file: Path | None, overwrite: bool, **options: Any
) -> None:
    """Chart a NEW run of a process against a NORMAL run: score, Hotelling's T2 and Q over time, and alarms.

    The tables have one row per time, in time order or with a column of times, and one column per variable.
    """
    from rich.console import Console

    from transvariation.report.monitoring import monitor_tables, monitoring_summary, write_monitoring_report

    sheets = (options.pop("normal_sheet"), options.pop("new_sheet"))
    with usage_errors():
        check_outputs(reports, json_file, [normal, new], overwrite)
        with Console(stderr=True).status("measuring"):
            result = monitor_tables(normal, new, sheets=sheets, **options)
        say(monitoring_summary(result))
        for alarm in result.alarms[:10]:
            named = ", ".join(list(alarm.contributions)[:3])
            say(f"  {result.labels[alarm.raised]}: {', '.join(alarm.charts)}; {named}")
        write = partial(write_monitoring_report, result)
        for line in write_outputs(reports, json_file, write, lambda: json.dumps(result.to_dict())):
            say(line)
