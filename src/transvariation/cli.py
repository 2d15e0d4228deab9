"""The command line. Each command imports what it needs when it runs, so that --help answers at once."""

from pathlib import Path

import click

from transvariation import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Tell whether objects belong to a class that you know well."""


@main.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default="transvariation-demo",
    show_default=True,
    help="The folder for the figure.",
)
def demo(out: Path) -> None:
    """Judge the packaged glass fragments: which could come from a window?"""
    from rich.console import Console

    from transvariation.report.demo import demo as run

    console = Console()
    path = run(out, console)
    console.print(f"Figure: {path}", soft_wrap=True, highlight=False)
