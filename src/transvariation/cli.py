"""The command line."""

import click


@click.group()
def main() -> None:
    """Tell whether objects belong to a class that you know well."""
