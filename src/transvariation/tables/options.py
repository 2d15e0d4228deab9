"""Options: what front ends know of a field of the settings, and which values it takes. Plain data, without NumPy."""

import codecs
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields
from numbers import Integral, Real
from typing import Any, NamedTuple

ROLES = ("id", "source", "fragment", "replicate", "order", "measurement", "ignore")
MARKS = {".": "point", ",": "comma"}
RECOGNISED = "recognised"


class Option(NamedTuple):
    """What front ends know of a field of the settings.

    Attributes
    ----------
    group : {"tables", "variables", "comparison", "report"}
        The heading under which it is listed.
    kind : str
        A key of `OPTION_KINDS`: what values it takes.
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
    absent : str
        What happens if it is left out.
    label : str
        Its name on the page, if that is not the field's own.
    check : callable or None
        What returns the value to keep, or raises a `ValueError`; by default that of its kind.
    optional : bool
        Whether it may be None.
    """

    group: str
    kind: str
    help: str
    flag: str = ""
    choices: Any = ()
    example: object = None
    least: float = 0
    absent: str = ""
    label: str = ""
    check: Callable[[Any, Any], Any] | None = None
    optional: bool = False

    @property
    def sentence(self) -> str:
        """What it does, and what happens if it is left out; without the full stop where choices follow."""
        default = f"; by default {self.absent}" if self.absent else ""
        return f"{self.help.removesuffix('.')}{default}{'' if isinstance(self.choices, Mapping) else '.'}"


def option(default: object, group: str, kind: str, help: str, **more: Any) -> Any:
    """Declare a field of the settings: its default, and what front ends know of it."""
    own: dict[str, Any] = {"default_factory": dict} if default == {} else {"default": default}
    return field(**own, metadata={"option": Option(group, kind, help, **more, optional=default is None)})


def options_in(group: str) -> Callable[..., Any]:
    """Return what declares the fields of one group: ``option`` without the group."""

    def declare(default: object, kind: str, help: str, **more: Any) -> Any:
        return option(default, group, kind, help, **more)

    return declare


def options_of(kind: type) -> dict[str, Option]:
    """Return the options among the fields of a class of settings, by name."""
    return {each.name: each.metadata["option"] for each in fields(kind) if "option" in each.metadata}


def flag_of(name: str, given: Option) -> str:
    """Return the name of an option on the command line."""
    return given.flag or f"--{name.replace('_', '-')}"


def label_of(name: str, given: Option) -> str:
    """Return the name of an option on the page."""
    return given.label or name.replace("_", " ").capitalize()


def _text(value: object, given: Option) -> str | None:
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
    if (value is None and given.optional) or (isinstance(value, str) and value in given.choices):
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
    if value is None and given.optional:
        return None
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= given.least:
        return int(value)
    raise ValueError(f"={value!r} must be a whole number, at least {given.least}")


def _as_float(value: object) -> float:
    """Return a number as float: NaN for what is none, infinity beyond what a float holds."""
    try:
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return math.inf


def _number(value: object, given: Option) -> float:
    if given.least <= (number := _as_float(value)) < math.inf:
        return number
    raise ValueError(f"={value!r} must be a finite number, at least {given.least}")


def _share(value: object, given: Option) -> float:
    if 0 < (share := _as_float(value)) <= 1:
        return share
    percent = f"; did you mean {share / 100:g}?" if 1 < share < 100 else ""
    raise ValueError(f"={value!r} must be a number above 0 and at most 1, such as 0.9{percent}")


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
    except (TypeError, ValueError, OverflowError):
        low = high = math.nan
    if math.isfinite(low) and math.isfinite(high):
        return low, high
    raise ValueError(f": {pair!r} is not a pair of numbers")


def mapping(value: Any, what: str) -> Mapping[Any, Any]:
    """Return a mapping, an empty one for None; refuse what does not map what it should."""
    if value is None or isinstance(value, Mapping):
        return value or {}
    raise ValueError(f"={value!r} must map {what}")


def _roles(value: object, given: Option) -> dict[str, str]:
    roles = mapping(value, "the names of columns to roles")
    for column, role in roles.items():
        if not isinstance(role, str) or role not in ROLES:
            raise ValueError(f"={{{column!r}: {role!r}}}: a role is one of {', '.join(ROLES)}")
    return {str(column): role for column, role in roles.items()}


# By kind: what checks a value, unless each field has its own check, and how documentation calls it where it does not
# list choices.
OPTION_KINDS: dict[str, tuple[Any, str]] = {
    "text": (_text, "str, optional"),
    "sheet": (_sheet, "str or int, optional"),
    "flag": (_flag, "bool"),
    "choice": (_choice, ""),
    "mark": (_mark, ""),
    "delimiter": (_delimiter, "str, optional"),
    "encoding": (_encoding, "str, optional"),
    "whole": (_whole, "int"),
    "number": (_number, "float"),
    "share": (_share, "float in (0, 1]"),
    "shares": (_shares, "sequence of float in (0, 1]"),
    "names": (_names, "sequence of str, optional"),
    "ranges": (_ranges, "sequence of (low, high), optional"),
    "roles": (_roles, "mapping of column to role, optional"),
    "steps": (None, "str or sequence of str, optional"),
    "tables": (None, "mapping of table to TableSettings, optional"),
    "case": (None, "mapping of str to str, optional"),
}
