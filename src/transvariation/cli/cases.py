"""Judge cases, show them again, and recompute them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from transvariation.casework.settings import CaseSettings
from transvariation.cli.options import (
    FOLDER,
    INPUT,
    OUTPUT,
    GroupedCommand,
    GroupedOption,
    check_files,
    check_outputs,
    given_fields,
    output_options,
    overwrite_option,
    say,
    settings_options,
    usage_errors,
    write_outputs,
)

if TYPE_CHECKING:
    from transvariation.casework.procedure import Procedure

NO_CONCLUSION = 3  # exit status


@click.command()
@click.option("--out", type=FOLDER, default="transvariation-demo", help="The folder for the report.")
@click.option("--tables", type=FOLDER, help="Only write the example tables of the documentation into this folder.")
@overwrite_option
def demo(out: Path, tables: Path | None, overwrite: bool) -> None:
    """Judge packaged glass fragments: which could come from a window?"""
    from rich.console import Console

    from transvariation.report.demo import REPORT, demo_files, write_tables
    from transvariation.report.demo import demo as run

    console = Console()
    with usage_errors():
        given = {out / REPORT: b""} if tables is None else {tables / name: file for name, file in demo_files().items()}
        others = [path for path, file in given.items() if path.is_file() and path.read_bytes() != file]
        check_files(others, (), overwrite)
        for path in run(out, console) if tables is None else write_tables(tables):
            say(f"Written: {path}")


def _background(context: click.Context, option: click.Parameter, given: str | None) -> Path | str | None:
    """Accept an existing file, or the name of the packaged background."""
    if given is None or given == "nfi":
        return given
    if not Path(given).is_file():
        raise click.BadParameter(f"File {given!r} does not exist; give a file, or nfi for the packaged float glass.")
    return Path(given)


@settings_options(CaseSettings, "tables", "variables", "comparison", "report")
@click.command(cls=GroupedCommand)
@click.argument("control", type=INPUT, required=False)
@click.argument("recovered", type=INPUT, required=False)
@click.option(
    "--batch",
    type=click.Path(exists=True, path_type=Path),
    help="Judge many cases instead of CONTROL and RECOVERED: a folder with a folder for each case that holds the "
    "tables control and recovered, or a table with the columns case, control and recovered.",
)
@click.option("--out", type=FOLDER, help="The folder for the reports, JSON files and summary of --batch.")
@click.option(
    "--procedure",
    type=INPUT,
    help="A TOML file that fixes the variables, the comparison and the background; the report names it.",
)
@click.option(
    "--background",
    cls=GroupedOption,
    group="tables",
    callback=_background,
    help="A table of many sources with several fragments each, or nfi for the packaged float glass: calibrates the "
    "conclusions where the control has few fragments, and adds likelihood ratios.",
)
@click.option(
    "--foreign",
    cls=GroupedOption,
    group="tables",
    type=INPUT,
    help="A table of samples that are known not to come from the control's source: shows how often such samples are "
    "noticed. Not with --background.",
)
@output_options
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
    **options: object,
) -> None:
    """Judge whether RECOVERED fragments could come from the source of the CONTROL fragments.

    Exit status: 0 = judged, 2 = the input or an option is wrong, 3 = no conclusion could be drawn. Of many cases, 2 = a
    case could not be judged, 3 = in a case no conclusion could be drawn.
    """
    from rich.console import Console

    given = given_fields(options)
    with usage_errors():
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
        sources = {"control": control, "recovered": recovered, "background": background, "foreign": foreign}
        check_outputs(reports, json_file, [each for each in sources.values() if isinstance(each, Path)], overwrite)
        if reports:
            from transvariation.report.case import write_report  # which loads matplotlib
        from transvariation.report.console import judge_case, show_case

        console = Console()
        result = judge_case(sources, settings, console, fixed)
        with console.status("writing"):  # files first: whatever happens to the screen, they exist
            written = write_outputs(reports, json_file, lambda path: write_report(result, path), result.to_json)
        show_case(result, console)
        for line in written:
            say(line)
    if not result.concludes:
        context.exit(NO_CONCLUSION)


def _judge_batch(
    batch: Path,
    out: Path,
    background: Path | str | None,
    settings: CaseSettings,
    overwrite: bool,
    fixed: "Procedure | None",
) -> int:
    """Judge many cases; return the exit status."""
    from rich.console import Console

    from transvariation.atomic_write import make_folder
    from transvariation.casework.batch import file_name, read_batch
    from transvariation.report.batch import SUMMARY
    from transvariation.report.console import judge_cases

    cases = read_batch(batch)
    names = [*SUMMARY, *(f"{file_name(case.name)}{kind}" for case in cases for kind in (".html", ".json"))]
    make_folder(out)
    check_files([out / name for name in names], (), overwrite)
    judged = [result for _, result in judge_cases(cases, background, settings, out, Console(), fixed)]
    conclusive = [result.concludes for result in judged if not isinstance(result, Exception)]
    return 2 if len(conclusive) < len(judged) else 0 if all(conclusive) else NO_CONCLUSION


@click.command()
@click.argument("case", type=INPUT)
@click.option(
    "--report",
    "reports",
    type=OUTPUT,
    multiple=True,
    required=True,
    help="The report to write: .html or .pdf. May be repeated.",
)
@overwrite_option
def report(case: Path, reports: tuple[Path, ...], overwrite: bool) -> None:
    """Write the report of a saved CASE (a JSON file) again."""
    from transvariation.casework.audit import case_errors, read_case_file
    from transvariation.report.case import write_report

    with usage_errors():
        check_files(reports, [case], overwrite)
        result = read_case_file(case)
        for path in reports:
            with case_errors(case):
                write_report(result, path)
            say(f"Report: {path}")


@click.command()
@click.argument("case", type=INPUT)
@click.option("--folder", type=FOLDER, help="Where the tables are.  [as named in the case, or beside it]")
def verify(case: Path, folder: Path | None) -> None:
    """Recompute a saved CASE (a JSON file, or a model that fit wrote) from its tables, and say what differs.

    Exit status: 0 = the same result, 1 = it differs or could not be recomputed, 2 = the input is wrong.
    """
    from rich.console import Console

    from transvariation.casework.audit import verify as run
    from transvariation.report.wording.cautions import difference_text

    with usage_errors(), Console(stderr=True).status("recomputing"):
        found = run(case, folder=folder)
    states = {"same": "unchanged", "changed": "CHANGED since it was read", "missing": "not found"}
    for table in found.tables:
        say(f"{table.table}: {table.file}: {states[table.state]}")
    if found.sha256:
        say(f"Model: SHA-256 {found.sha256}")
    for other in found.versions:
        say(f"Another version of {other.place}: {other.saved} then, {other.recomputed} now")
    if not found.recomputed:
        say("Not recomputed: give the tables as they were (--folder).")
    for each in found.differences[:20]:
        say(difference_text(each))
    if len(found.differences) > 20:
        say(f"... and {len(found.differences) - 20} more differences")
    if found.confirmed:
        say("Confirmed: what was recomputed is the same.")
    else:
        raise SystemExit(1)


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", default=8377, help="Port; 0: any free one.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def serve(port: int, no_browser: bool) -> None:
    """Serve the local page: the same work in a browser, on this computer only."""
    from transvariation.web.serve import serve as run

    with usage_errors():
        run(port, not no_browser)
