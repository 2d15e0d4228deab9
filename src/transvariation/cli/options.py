"""Options of the commands, generated from the settings of a case, and what commands have in common."""

import csv
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from transvariation.casework.settings import CASE_FIELDS, ROLES, TABLES_OF_CASE, TableSettings
from transvariation.tables.options import Option, flag_of, options_of
from transvariation.tables.settings import Settings

if TYPE_CHECKING:
    from transvariation._typing import Fields

INPUT = click.Path(exists=True, dir_okay=False, path_type=Path)
OUTPUT = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
COUNT = click.IntRange(min=1)

S = TypeVar("S", bound=Settings)


class Commands(click.Group):
    """Commands that Ctrl-C stops with a sentence and the usual exit status; their summaries are listed whole."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their whole summaries."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(500)) for name in self.list_commands(ctx)]
            )

    def invoke(self, ctx: click.Context) -> object:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("\nStopped. Output files are complete or were not written.", err=True)
            raise SystemExit(130) from None


def say(text: str, *, err: bool = False) -> None:
    """Print a line."""
    click.echo(printable_line(text), err=err)


def printable_line(text: str) -> str:
    """Escape the control characters of names from files."""
    from transvariation.tables.problems import printable_text

    return printable_text(text)


def warn(messages: list[str]) -> None:
    """Print warnings."""
    for message in messages:
        say(f"Warning: {message}", err=True)


def parse_numbers(text: str, kind: type, option: str) -> list:
    """Parse positive numbers separated by commas."""
    try:
        numbers = [kind(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(0 < number < math.inf for number in numbers):
        raise click.BadParameter(f"{text!r} must be positive numbers separated by commas", param_hint=option)
    return numbers


class GroupedOption(click.Option):
    """An option under a heading of the help."""

    def __init__(self, names: Sequence[str], group: str = "", **more: Any):
        super().__init__(names, **more)
        self.group = group


class GroupedCommand(click.Command):
    """A command whose options are listed under headings; those of one table only are described together."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options under headings."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            if isinstance(option, click.Option) and (record := option.get_help_record(ctx)):
                sections.setdefault(group_of(option), []).append(record)
        if any(getattr(option, "hidden", False) for option in self.params):
            known = options_of(TableSettings)
            names = [f"--TABLE{flag_of(name, given)[1:]}" for name, given in known.items()]
            words = f"The same for one table only: TABLE is {', '.join(TABLES_OF_CASE[:-1])} or {TABLES_OF_CASE[-1]}."
            sections["tables"].append((", ".join(names[:2]) + ", ...", words))
        for title, records in sorted(sections.items(), key=lambda item: GROUPS.index(item[0])):
            with formatter.section(title.capitalize()):
                formatter.write_dl(records)


GROUPS = ("tables", "variables", "comparison", "report", "options")


def group_of(option: click.Option) -> str:
    """Return the heading of an option, one of `GROUPS`."""
    return getattr(option, "group", "") or "options"


def settings_options(
    kind: type[Settings], *groups: str, without: tuple[str, ...] = ()
) -> Callable[[click.Command], click.Command]:
    """Add the options of settings to a command: the fields in some groups, and the same for each single table."""
    found: list[GroupedOption] = []
    for name, given in options_of(kind).items():
        if given.group not in groups or name in without:
            continue
        default = getattr(kind(), name)
        if given.kind == "tables":
            for table in TABLES_OF_CASE:
                for own, its in options_of(TableSettings).items():
                    found.append(
                        _option(f"{table}__{own}", f"--{table}{flag_of(own, its)[1:]}", its, None, hidden=True)
                    )
        elif given.kind == "case":
            for field, words in CASE_FIELDS.items():
                flag = f"--{field.replace('_', '-')}"
                more = {"metavar": "TEXT", "help": f'Fill in "{words}" in the report.'}
                found.append(GroupedOption([flag, f"case__{field}"], group="report", **more))
        else:
            found.append(_option(name, flag_of(name, given), given, default))

    def decorate(command: click.Command) -> click.Command:
        command.params += found
        return command

    return decorate


def _option(name: str, flag: str, given: Option, default: object, hidden: bool = False) -> GroupedOption:
    """Build the option of one field; a value that was not given is None."""
    manner, more = _FORMS.get(given.kind, ("", {"metavar": "TEXT"}))
    words = f"{given.sentence} {manner}".rstrip()
    if isinstance(given.choices, Mapping):
        listed = [f"{choice} ({meaning})" for choice, meaning in given.choices.items()]
        words = f"{words}: {', '.join(listed[:-1])} or {listed[-1]}."
        more = {"metavar": "|".join(given.choices) if len(given.choices) < 4 else "NAME"}
    if default is not None and default is not False and default != {}:
        words += f"  [default: {','.join(map(str, default)) if isinstance(default, tuple) else default}]"
    return GroupedOption([flag, name], group=given.group, help=words, hidden=hidden, show_default=False, **more)


def _roles(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    """Parse the roles of columns."""
    roles = {}
    for text in given:
        column, _, role = text.rpartition("=")  # a name may contain the sign, a role does not
        if not column or role not in ROLES:
            raise click.BadParameter(f"{text!r} must be COLUMN=ROLE with one of the roles {', '.join(ROLES)}")
        roles[column] = role
    return roles or None


def _ranges(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[object] | None:
    """Parse ranges of wavelengths."""
    number = r"([-+]?\d+(?:\.\d+)?)"
    found = [re.fullmatch(rf"\s*{number}\s*[-:–]\s*{number}\s*", text) for text in given]
    for text, match in zip(given, found, strict=True):
        if match is None:
            raise click.BadParameter(f"{text!r} must be two numbers with a hyphen between them, such as 800-1200")
    return [(float(match[1]), float(match[2])) for match in found if match] or None


def parse_names(context: click.Context, option: click.Parameter, text: str | None) -> list[str] | None:
    """Parse a list of variables."""
    if not text:
        return None
    found = next(csv.reader([" ".join(text.split())], skipinitialspace=True))  # quotes keep a comma in a name
    return [name.strip() for name in found or [""]]


def _shares(context: click.Context, option: click.Parameter, text: str | None) -> list[float] | None:
    """Parse a list of shares."""
    return None if text is None else parse_numbers(text, float, option.opts[0])


# How values of each kind are given, by kind: what the help says of it, and what click is told.
_FORMS: dict[str, tuple[str, "Fields"]] = {
    "flag": ("", {"is_flag": True, "default": None}),
    "whole": ("", {"metavar": "N", "type": int}),
    "number": ("", {"metavar": "NUMBER", "type": float}),
    "share": ("", {"metavar": "NUMBER", "type": float}),
    "mark": ("", {"metavar": "MARK"}),
    "steps": ("", {"metavar": "STEPS"}),
    "roles": ("May be repeated.", {"metavar": "COLUMN=ROLE", "multiple": True, "callback": _roles}),
    "ranges": ("May be repeated.", {"metavar": "LOW-HIGH", "multiple": True, "callback": _ranges}),
    "names": (
        "Separated by commas, a name with a comma in double quotes.",
        {"metavar": "NAMES", "callback": parse_names},
    ),
    "shares": ("Separated by commas.", {"metavar": "NUMBERS", "callback": _shares}),
}


def settings_of(kind: type[S], options: Mapping[str, object]) -> S:
    """Build settings from the options that were given."""
    return kind.build(None, given_fields(options))


def given_fields(options: Mapping[str, object]) -> "Fields":
    """Return the options that were given, as fields of settings."""
    given: Fields = {}
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
def usage_errors() -> Iterator[None]:
    """Report wrong input and wrong parameters in terms of the command line, and exit with status 2."""
    try:
        yield
    except BrokenPipeError:  # nobody reads the output any more: click ends the program without words
        raise
    except OSError as error:
        words = [str(part) for part in (error.filename, error.strerror) if part]
        raise click.UsageError(printable_line(": ".join(words) or str(error))) from error
    except (ValueError, ImportError) as error:
        from transvariation.report.wording.remedies import error_text

        raise click.UsageError(printable_line(error_text(error, "cli"))) from error


overwrite_option = click.option("--overwrite", is_flag=True, help="Replace output files that exist.")
report_option = click.option(
    *("--report", "reports"),
    cls=GroupedOption,
    group="report",
    type=OUTPUT,
    multiple=True,
    help="Write a report: .html or .pdf. May be repeated.",
)
json_option = click.option(
    *("--json", "json_file"), cls=GroupedOption, group="report", type=OUTPUT, help="Write everything as JSON."
)


def output_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the files that a command writes."""
    return report_option(json_option(overwrite_option(command)))


def check_outputs(reports: Sequence[Path], json_file: Path | None, inputs: Iterable[object], overwrite: bool) -> None:
    """Refuse files of `output_options` that cannot be written."""
    from transvariation.report.page import check_report_name

    check_files([*reports, json_file], inputs, overwrite)
    for path in reports:
        check_report_name(path)


def write_outputs(
    reports: Sequence[Path], json_file: Path | None, write: Callable[[Path], None], content: Callable[[], str]
) -> list[str]:
    """Write the files of `output_options`; say where they are."""
    from transvariation.atomic_write import write_text

    for path in reports:
        write(path)
    if json_file is not None:
        write_text(json_file, content())
    return [*(f"Report: {path}" for path in reports), *([] if json_file is None else [f"JSON: {json_file}"])]


def check_files(outputs: Sequence[Path | None], inputs: Iterable[object], overwrite: bool) -> None:
    """Refuse outputs that cannot be written, and to replace a file silently; an empty one is no loss.

    A pipe or a device is written to.
    """
    from transvariation import atomic_write

    atomic_write.check_outputs(outputs, inputs)
    for path in outputs:
        if not overwrite and path is not None and path.is_file() and path.stat().st_size:
            raise click.UsageError(printable_line(f"{path} exists; give another name, or --overwrite to replace it."))
