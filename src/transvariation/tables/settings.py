"""How a table is read, as plain data. Imports neither NumPy nor pandas: the command line builds its options from it."""

import codecs
import difflib
import inspect
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

ROLES = ("id", "source", "fragment", "replicate", "order", "measurement", "ignore")
MARKS = {".": "point", ",": "comma"}


class Option(NamedTuple):
    """What front ends know of a field of the settings.

    Attributes
    ----------
    group : {"tables", "variables", "comparison", "report"}
        The heading under which it is listed.
    kind : str
        A key of `CHECKS`: what values it takes.
    help : str
        What it does, in a sentence.
    flag : str
        Its name on the command line, if that is not the field's own.
    choices : mapping or tuple
        Allowed values, with what they mean where they are a mapping.
    example : object
        A value to suggest after a wrong one.
    least : float
        The smallest number allowed.
    """

    group: str
    kind: str
    help: str
    flag: str = ""
    choices: Any = ()
    example: object = None
    least: float = 0


def option(default: object, group: str, kind: str, help: str, **more: Any) -> Any:
    """Declare a field of the settings: its default, and what front ends know of it."""
    own: dict[str, Any] = {"default_factory": dict} if default == {} else {"default": default}
    return field(**own, metadata={"option": Option(group, kind, help, **more)})


def options_of(kind: type) -> dict[str, Option]:
    """Return the options among the fields of a class of settings, by name."""
    return {each.name: each.metadata["option"] for each in fields(kind) if "option" in each.metadata}


def flag_of(name: str, given: Option) -> str:
    """Return the name of an option on the command line."""
    return given.flag or f"--{name.replace('_', '-')}"


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

    def text(self, called: Callable[[str, Option | None], str] = lambda name, given: name) -> str:
        """List what is wrong in the terms of a front end.

        Parameters
        ----------
        called : callable
            What the front end calls a field, by its name and its option; by default as Python does.

        Returns
        -------
        str
        """
        lines = []
        for name, wrong, given in self.problems:
            example = "" if given is None or given.example is None else f"; an example is {given.example}"
            lines.append(f"{called(name, given)}{wrong}{example}")
        return lines[0] if len(lines) == 1 else "\n  ".join([f"{len(lines)} settings are wrong:", *lines])

    def __str__(self) -> str:
        return self.text()


def _text(value: object, given: Option) -> Any:
    if isinstance(value, str) or value is None:
        return value or None
    raise ValueError(f"={value!r} must be a text")


def _sheet(value: object, given: Option) -> object:
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    return _text(value, given)


def _flag(value: object, given: Option) -> bool:
    if value is True or value is False or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise ValueError(f"={value!r} must be true or false")


def _choice(value: object, given: Option) -> object:
    if value is None or (isinstance(value, str) and value in given.choices):
        return value
    raise ValueError(f"={value!r} is unknown; choose one of {', '.join(given.choices)}")


def _mark(value: object, given: Option) -> object:
    marks = {word: mark for mark, word in MARKS.items()} | {mark: mark for mark in MARKS}
    if value is None or value == "":
        return None
    if isinstance(value, str) and value in marks:
        return marks[value]
    raise ValueError(f"={value!r} must be '.' or ',' (point or comma)")


def _delimiter(value: object, given: Option) -> object:
    if value in (None, "") or (isinstance(value, str) and len(value) == 1 and value not in '"\r\n\x00 '):
        return value or None
    raise ValueError(f"={value!r} must be one character, such as ';'")


def _encoding(value: object, given: Option) -> object:
    name = _text(value, given)
    try:
        known = name is None or codecs.lookup(name)._is_text_encoding  # base64 and the like are no text
    except (LookupError, ValueError):
        known = False
    if known:
        return name
    raise ValueError(f"={value!r} is unknown; utf-8, cp1252 and utf-16 are the usual ones")


def _whole(value: object, given: Option) -> object:
    if value is None or (isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= given.least):
        return None if value is None else int(value)
    raise ValueError(f"={value!r} must be a whole number, at least {given.least}")


def _number(value: object, given: Option) -> float:
    if isinstance(value, Real) and not isinstance(value, bool) and given.least <= float(value) < math.inf:
        return float(value)
    raise ValueError(f"={value!r} must be a finite number, at least {given.least}")


def _share(value: object, given: Option) -> float:
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) <= 1:
        return float(value)
    percent = f"; did you mean {float(value) / 100:g}?" if isinstance(value, Real) and 1 < float(value) < 100 else ""
    raise ValueError(
        f"={value!r} must lie in (0, 1]; 0.9 excludes 10% of fragments of the control's own source{percent}"
    )


def _names(value: object, given: Option) -> object:
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(f"={value!r} must be a list of names")
    return tuple(map(str, value)) or None


def _shares(value: object, given: Option) -> object:
    if isinstance(value, Iterable) and not isinstance(value, str) and (shares := tuple(value)):
        return tuple(_share(share, given) for share in shares)
    raise ValueError(f"={value!r} must be a list of shares such as 0.9")


def _ranges(value: object, given: Option) -> object:
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(f"={value!r} must be a list of pairs of numbers")
    return tuple(map(_range, value)) or None


def _range(pair: Any) -> tuple[float, float]:
    try:
        low, high = sorted(map(float, pair))
    except (TypeError, ValueError):
        low = high = math.nan
    if math.isfinite(low) and math.isfinite(high):
        return low, high
    raise ValueError(f": {pair!r} is not a pair of numbers")


def _roles(value: object, given: Option) -> dict[str, str]:
    if value is not None and not isinstance(value, Mapping):
        raise ValueError(f"={value!r} must map the names of columns to roles")
    for column, role in (value or {}).items():
        if not isinstance(role, str) or role not in ROLES:
            raise ValueError(f"={{{column!r}: {role!r}}}: a role is one of {', '.join(ROLES)}")
    return {str(column): role for column, role in (value or {}).items()}


CHECKS: dict[str, Callable[[object, Option], object]] = {
    "text": _text,
    "sheet": _sheet,
    "flag": _flag,
    "choice": _choice,
    "mark": _mark,
    "delimiter": _delimiter,
    "encoding": _encoding,
    "whole": _whole,
    "number": _number,
    "share": _share,
    "shares": _shares,
    "names": _names,
    "ranges": _ranges,
    "roles": _roles,
}


def nearest(name: str, names: Iterable[str]) -> str:
    """Return advice that names the nearest right name, or all.

    Parameters
    ----------
    name : str
        A wrong name.
    names : iterable of str
        The right ones.

    Returns
    -------
    str

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
                object.__setattr__(self, name, self._check(name, getattr(self, name), given))
            except SettingsError as error:
                problems += error.problems
            except ValueError as error:
                problems.append((name, str(error), given))
        problems += self._conflicts()
        if problems:
            raise SettingsError(problems)

    def _check(self, name: str, value: object, given: Option) -> object:
        return CHECKS[given.kind](value, given)

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

    def to_dict(self) -> dict[str, Any]:
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


@dataclass(frozen=True, kw_only=True)
class TableSettings(Settings):
    """How a table is read. Every field may be left out; the columns are then recognised."""

    sheet: str | int | None = option(
        None, "tables", "sheet", "The sheet of an Excel workbook, by title or number; by default the first visible one."
    )
    header_row: int | None = option(
        None, "tables", "whole", "The row that holds the names of the columns; rows above it are skipped.", least=1
    )
    decimal: str | None = option(
        None,
        "tables",
        "mark",
        "The decimal mark, comma or point; by default recognised.",
        choices=(*MARKS, "comma", "point"),
    )
    delimiter: str | None = option(None, "tables", "delimiter", "The character between columns; by default recognised.")
    encoding: str | None = option(None, "tables", "encoding", "The encoding of a text file; by default recognised.")
    id_column: str | None = option(None, "tables", "text", "The column that names the rows; by default recognised.")
    fragment_column: str | None = option(
        None, "tables", "text", "The column that names the fragment; its rows are replicates."
    )
    source_column: str | None = option(
        None, "tables", "text", "The column that names the source (pane, bottle, batch) of a fragment."
    )
    roles: Mapping[str, str] = option(
        {}, "tables", "roles", f"The role of a column: {', '.join(ROLES)}; by default recognised.", flag="--role"
    )
    numbered_names: str | None = option(
        None,
        "tables",
        "choice",
        "What the numbers in names such as K1-1, K1-2 count; by default asked where it is not clear",
        choices={"replicates": "measurements of one fragment", "fragments": "fragments of one source"},
    )
    drop_summary_rows: bool = option(
        False, "tables", "flag", "Leave out rows of means and standard deviations; otherwise they are reported."
    )

    @property
    def column_roles(self) -> dict[str, str]:
        """The roles of all columns that were named."""
        named = {self.id_column: "id", self.source_column: "source", self.fragment_column: "fragment"}
        return {column: role for column, role in named.items() if column is not None} | dict(self.roles)

    def opening(self) -> "TableSettings":
        """Return the settings by which a file is opened, without those by which its cells are understood.

        Returns
        -------
        TableSettings
        """
        names = ("sheet", "header_row", "decimal", "delimiter", "encoding")
        return TableSettings(**{name: getattr(self, name) for name in names})

    def given(self) -> list[str]:
        """List the fields that say something.

        Returns
        -------
        list of str
        """
        return [each.name for each in fields(TableSettings) if getattr(self, each.name)]


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
        kind = f"{{{', '.join(map(repr, given.choices))}}}" if given.choices else _KINDS.get(given.kind, given.kind)
        default = getattr(plain, name)
        kind += "" if default in (None, {}) or given.choices else f", default={default!r}"
        text = given.help
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


def with_fields(kind: type) -> Callable[[Any], Any]:
    """Give a function whose further keywords are fields of settings a signature and a docstring that name them."""

    def decorate(function: Any) -> Any:
        signature, plain = inspect.signature(function), kind()
        own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        further = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=getattr(plain, name))
            for name in options_of(kind)
        ]
        function.__signature__ = signature.replace(parameters=[*own, *further])
        function.__doc__ = function.__doc__.replace("    **fields\n", f"{described(kind)}\n")
        return function

    return decorate


_KINDS = {
    "text": "str, optional",
    "sheet": "str or int, optional",
    "delimiter": "str, optional",
    "encoding": "str, optional",
    "flag": "bool",
    "whole": "int",
    "number": "float",
    "share": "float in (0, 1]",
    "shares": "sequence of float in (0, 1]",
    "names": "sequence of str, optional",
    "ranges": "sequence of (low, high), optional",
    "roles": "mapping of column to role, optional",
    "tables": "mapping of table to TableSettings, optional",
    "steps": "str or sequence of str, optional",
    "case": "mapping of str to str, optional",
}
document(TableSettings)
