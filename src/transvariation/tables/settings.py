"""How a table is read, as plain data. Imports neither NumPy nor pandas: the command line builds its options from it."""

import difflib
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Self, TypeVar

from transvariation.tables.options import MARKS, OPTION_KINDS, RECOGNIZED, ROLES, Option, options_in, options_of

if TYPE_CHECKING:
    from transvariation._typing import Fields

F = TypeVar("F", bound=Callable[..., object])


class SettingsError(ValueError):
    """Settings with wrong values, all of them named.

    Parameters
    ----------
    problems : sequence of (str, str, Option or None)
        For each wrong value the name of its field, what is wrong, and the option.
    """

    def __init__(self, problems: Sequence[tuple[str, str, Option | None]]):
        super().__init__(problems)
        self.problems = list(problems)

    def __str__(self) -> str:
        return listed(self)


def listed(error: SettingsError, called: Callable[[str, Option | None], str] = lambda name, given: name) -> str:
    """List what is wrong; `called` gives what a front end calls a field, by its name and its option."""
    lines = []
    for name, wrong, given in error.problems:
        example = "" if given is None or given.example is None else f"; an example is {given.example}"
        lines.append(f"{called(name, given)}{wrong}{example}")
    return lines[0] if len(lines) == 1 else "\n  ".join([f"{len(lines)} settings are wrong:", *lines])


def nearest(name: str, names: Iterable[str]) -> str:
    """Return advice after a wrong name: the nearest of the right ones, or all.

    Examples
    --------
    >>> nearest("sensitivity_", ["sensitivity", "seed"])
    "did you mean 'sensitivity'?"
    """
    right = list(names)
    close = difflib.get_close_matches(str(name), right, 1, 0.6)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(right)}"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Frozen settings, declared by `option`; wrong values are all named at once, in a `SettingsError`."""

    def __post_init__(self) -> None:
        problems = []
        for name, given in options_of(type(self)).items():
            try:
                value, check = getattr(self, name), given.check or OPTION_KINDS[given.kind][0]
                assert check is not None
                is_given = not given.optional or not (value is None or (isinstance(value, str) and value == ""))
                object.__setattr__(self, name, check(value, given) if is_given else None)
            except SettingsError as error:
                problems += error.problems
            except ValueError as error:
                problems.append((name, str(error), given))
        problems += self._conflicts()
        if problems:
            raise SettingsError(problems)

    def _conflicts(self) -> list[tuple[str, str, Option | None]]:
        """List values that exclude each other."""
        return []

    @classmethod
    def build(cls, settings: Self | None = None, given: Mapping[str, object] | None = None) -> Self:
        """Return settings with some fields replaced; a misspelt name is refused with the nearest right one.

        Parameters
        ----------
        settings : Settings, optional
            By default all fields have their defaults.
        given : mapping, optional
            Values by field.

        Returns
        -------
        Settings
        """
        if given is not None and not isinstance(given, Mapping):
            raise SettingsError([("settings", f"={given!r} must map the names of settings to values", None)])
        names = [each.name for each in fields(cls)]
        if unknown := [name for name in given or {} if name not in names]:
            wrong = [(repr(name), f" is no setting; {nearest(name, names)}", None) for name in unknown]
            raise SettingsError(wrong)
        if settings is None:
            return cls(**(given or {}))
        if not isinstance(settings, cls):
            raise SettingsError([("settings", f"={settings!r} must be a {cls.__name__}", None)])
        return replace(settings, **(given or {}))

    def to_dict(self) -> "Fields":
        """Return all fields as JSON values.

        Returns
        -------
        dict
        """
        return {each.name: _json(getattr(self, each.name)) for each in fields(self)}

    @classmethod
    def from_dict(cls, content: Mapping[str, object]) -> Self:
        """Build settings from `to_dict`, or from a file of settings.

        Parameters
        ----------
        content : mapping
            Values by field.

        Returns
        -------
        Settings
        """
        return cls.build(None, content)


reading = options_in("tables")


@dataclass(frozen=True, kw_only=True)
class TableSettings(Settings):
    """How a table is read. Every field may be left out; the columns are then recognized."""

    sheet: str | int | None = reading(
        None, "sheet", "The sheet of an Excel workbook, by title or number", absent="the first visible one"
    )
    header_row: int | None = reading(
        None, "whole", "The row that holds the names of the columns; rows above it are skipped", least=1
    )
    decimal: str | None = reading(
        None,
        "mark",
        "The decimal mark, comma or point",
        choices=(*MARKS, "comma", "point"),
        absent=RECOGNIZED,
        label="Decimal mark",
    )
    delimiter: str | None = reading(None, "delimiter", "The character between columns", absent=RECOGNIZED)
    encoding: str | None = reading(None, "encoding", "The encoding of a text file", absent=RECOGNIZED)
    id_column: str | None = reading(None, "text", "The column that names the rows", absent=RECOGNIZED)
    fragment_column: str | None = reading(None, "text", "The column that names the fragment; its rows are replicates")
    source_column: str | None = reading(
        None, "text", "The column that names the source (pane, bottle, batch) of a fragment"
    )
    roles: Mapping[str, str] = reading(
        {}, "roles", f"The role of a column: {', '.join(ROLES)}", flag="--role", absent=RECOGNIZED
    )
    numbered_names: str | None = reading(
        None,
        "choice",
        "What the numbers in names such as K1-1, K1-2 count",
        choices={"replicates": "measurements of one fragment", "fragments": "fragments of one source"},
        absent="asked where it is not clear",
    )
    drop_summary_rows: bool = reading(
        False,
        "flag",
        "Leave out rows of means and standard deviations; otherwise they are reported",
        label="Leave out summary rows",
    )

    @property
    def column_roles(self) -> dict[str, str]:
        """The roles of all columns that were named."""
        named = {self.id_column: "id", self.source_column: "source", self.fragment_column: "fragment"}
        return {column: role for column, role in named.items() if column is not None} | dict(self.roles)


def _json(value: object) -> object:
    if isinstance(value, Settings):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: _json(own) for name, own in value.items()}
    return [_json(own) for own in value] if isinstance(value, tuple) else value


def described(cls: type) -> str:
    """Describe the fields of a class of settings, for a docstring."""
    lines, plain = [], cls()
    for name, given in options_of(cls).items():
        kind = f"{{{', '.join(map(repr, given.choices))}}}" if given.choices else OPTION_KINDS[given.kind][1]
        default = getattr(plain, name)
        kind += "" if default in (None, {}) or given.choices else f", default={default!r}"
        text = given.sentence
        if isinstance(given.choices, Mapping):
            text += ": " + "; ".join(f"``{choice!r}``, {meaning}" for choice, meaning in given.choices.items()) + "."
        lines += [
            f"    {name} : {kind}",
            *textwrap.wrap(text, 112, initial_indent=" " * 8, subsequent_indent=" " * 8),
        ]
    return "\n".join(lines)


def document(cls: type) -> None:
    """Add the fields of a class of settings to its docstring."""
    cls.__doc__ = f"{cls.__doc__}\n\n    Attributes\n    ----------\n{described(cls)}\n    "


def with_fields(kind: type) -> Callable[[F], F]:
    """Give a function whose further keywords are fields of settings a signature and a docstring that name them."""

    def decorate(function: F) -> F:
        signature, plain = inspect.signature(function), kind()
        own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        further = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=getattr(plain, name))
            for name in options_of(kind)
        ]
        function.__signature__ = signature.replace(parameters=[*own, *further])  # type: ignore[attr-defined]
        function.__doc__ = str(function.__doc__).replace("    **fields\n", f"{described(kind)}\n")
        return function

    return decorate


document(TableSettings)
