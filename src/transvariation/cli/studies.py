"""The tables and figures of the paper."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from transvariation.cli.options import COUNT, FOLDER, Commands, parse_numbers, say, usage_errors


def _jobs(context: click.Context, option: click.Option, given: int) -> int:
    """Refuse a study without processes."""
    if not given:
        raise click.BadParameter(f"{given} is none of these: {option.help}")
    return given


_folder = click.option("--out", type=FOLDER, required=True, help="Folder for the results.")


@click.group(cls=Commands)
def study() -> None:
    """Reproduce the tables and figures of the paper in a folder."""


@study.command()
@_folder
@click.option("--scenarios", default="a-i", help="Letters and ranges, such as a-d,i.")
@click.option("--sizes", default="100,200,500", help="Numbers of target samples.")
@click.option("--shifts", default="1,2", help="Shifts of the non-targets in scenarios a to d.")
@click.option("--repeats", type=COUNT, metavar="N", default=100, help="Data sets per setting.")
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", default=0, help="Seed; equal seeds give equal results."
)
@click.option("--jobs", type=int, metavar="N", default=1, callback=_jobs, help="Processes; -1 for all cores.")
def simulation(out: Path, scenarios: str, sizes: str, shifts: str, repeats: int, seed: int, jobs: int) -> None:
    """Compare nine methods in nine scenarios. An interrupted study resumes when called again."""
    from rich.console import Console

    from transvariation.report.study import simulate
    from transvariation.studies.simulation import Study

    console = Console()
    with _kept_in(out), usage_errors():
        work = Study(
            scenarios=_letters(scenarios),
            sizes=tuple(parse_numbers(sizes, int, "--sizes")),
            shifts=tuple(parse_numbers(shifts, float, "--shifts")),
            repeats=repeats,
            seed=seed,
            jobs=jobs,
        )
        path = simulate(work, out, console)
    say(f"Page: {path}")


@study.command()
@_folder
@click.option("--seeds", type=COUNT, metavar="N", default=20, help="Number of seeds for random projections.")
@click.option("--repeats", type=COUNT, metavar="N", default=3, help="Number of ten-fold splits.")
@click.option("--jobs", type=int, metavar="N", default=-1, callback=_jobs, help="Processes; -1 for all cores.")
def glass(out: Path, seeds: int, repeats: int, jobs: int) -> None:
    """Reproduce the analysis of the glass fragments, then repeat it on unseen fragments.

    An interrupted study resumes when called again.
    """
    from rich.console import Console

    from transvariation.report.study import analyse_glass
    from transvariation.studies.glass import GlassStudy

    console = Console()
    with _kept_in(out), usage_errors():
        path = analyse_glass(GlassStudy(seeds, repeats, jobs), out, console)
    say(f"Page: {path}")


@contextmanager
def _kept_in(out: Path) -> Iterator[None]:
    """Report where the results are when Ctrl-C stops a study."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"\nStopped. Finished work is kept in {out}; the same command resumes it.", err=True)
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
