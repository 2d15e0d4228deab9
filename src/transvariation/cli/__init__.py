"""The command line. Commands import what they need when they run, so that --help is fast."""

import io
import sys

import click

from transvariation import __version__
from transvariation.cli.cases import demo, judge, report, serve, verify
from transvariation.cli.databases import database, validate
from transvariation.cli.models import fit, monitor, score
from transvariation.cli.options import Commands
from transvariation.cli.studies import study


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__)
def main() -> None:
    """Judge whether samples belong to a class that is known from examples."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # ids may hold characters that the terminal lacks


for _command in (database, demo, fit, judge, monitor, report, score, serve, study, validate, verify):
    main.add_command(_command)
