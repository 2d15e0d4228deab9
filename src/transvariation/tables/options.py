"""Options: what front ends know of a field of the settings, and which values it takes. Plain data, without NumPy."""

import codecs
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from transvariation._typing import Fields

ROLES = ("id", "source", "fragment", "replicate", "order", "measurement", "ignore")
MARKS = {".": "point", ",": "comma"}
RECOGNIZED = "recognized"


class Option(NamedTuple):
    """What front ends know of a field of the settings."""

    group: str  # the heading under which it is listed: tables, variables, comparison or report
    kind: str  # what values it takes, a key of `OPTION_KINDS`
    help: str  # what it does, in a sentence
    flag: str = ""  # its name on the command line, if that is not the field's own
    choices: Sequence[str] | Mapping[str, str] = ()  # allowed values, with what they mean where they are a mapping
    example: object = None  # a value to suggest after a wrong one
    least: float = 0  # the smallest number allowed
    absent: str = ""  # what happens if it is left out
    label: str = ""  # its name on the page, if that is not the field's own
    check: "ValueCheck | None" = None  # what keeps or refuses a value, if not its kind
    optional: bool = False  # whether it may be None

    @property
    def sentence(self) -> str:
        """What it does, and what happens if it is left out; without the full stop where choices follow."""
        default = f"; by default {self.absent}" if self.absent else ""
        return f"{self.help.removesuffix('.')}{default}{'' if isinstance(self.choices, Mapping) else '.'}"


ValueCheck = Callable[[object, Option], object]


def options_in(group: str) -> Callable[..., Any]:  # a field, which stands for its default, as in dataclasses
    """Return what declares the fields of one group: by its default, its kind, its help and more of `Option`."""

    def declare(default: object, kind: str, help: str, **more: Any) -> object:
        own: Fields = {"default_factory": dict} if default == {} else {"default": default}
        return field(**own, metadata={"option": Option(group, kind, help, **more, optional=default is None)})

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


def _expect(is_right: object, value: object, words: str) -> None:
    """Refuse a wrong value; the name of the option comes before the message."""
    if not is_right:
        raise ValueError(f"={value!r} {words}")


def _text(value: object, given: Option) -> str:
    if isinstance(value, str):
        return value
    raise ValueError(f"={value!r} must be a text")


def _sheet(value: object, given: Option) -> object:
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else _text(value, given)


def _flag(value: object, given: Option) -> bool:
    _expect(type(value).__name__ in ("bool", "bool_"), value, "must be true or false")
    return bool(value)


def _choice(value: object, given: Option) -> object:
    known = isinstance(value, str) and value in given.choices
    _expect(known, value, f"is unknown; choose one of {', '.join(given.choices)}")
    return value


def _mark(value: object, given: Option) -> str:
    found = [mark for mark, word in MARKS.items() if value in (mark, word)]
    _expect(found, value, "must be '.' or ',' (point or comma)")
    return found[0]


def _delimiter(value: object, given: Option) -> object:
    is_one = isinstance(value, str) and len(value) == 1 and value not in '"\r\n\x00 '
    _expect(is_one, value, "must be one character, such as ';'")
    return value


def _encoding(value: object, given: Option) -> object:
    try:
        known = codecs.lookup(_text(value, given))._is_text_encoding  # base64 is no text
    except (LookupError, ValueError):
        known = False
    _expect(known, value, "is unknown; utf-8, cp1252 and utf-16 are the usual ones")
    return value


def _whole(value: object, given: Option) -> int:
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
    number = _as_float(value)
    _expect(given.least <= number < math.inf, value, f"must be a finite number, at least {given.least}")
    return number


def _share(value: object, given: Option) -> float:
    share = _as_float(value)
    percent = f"; did you mean {share / 100:g}?" if 1 < share < 100 else ""
    _expect(0 < share <= 1, value, f"must be a number above 0 and at most 1, such as 0.9{percent}")
    return share


def _listed(value: object, what: str) -> tuple[Any, ...]:
    if isinstance(value, Iterable) and not isinstance(value, str):
        return tuple(value)
    raise ValueError(f"={value!r} must be a list of {what}")


def _names(value: object, given: Option) -> tuple[str, ...] | None:
    return tuple(map(str, _listed(value, "names"))) or None


def _shares(value: object, given: Option) -> tuple[float, ...]:
    shares = _listed(value, "shares such as 0.9")
    _expect(shares, value, "must be a list of shares such as 0.9")
    return tuple(_share(share, given) for share in shares)


def _ranges(value: object, given: Option) -> tuple[tuple[float, float], ...] | None:
    return tuple(map(_range, _listed(value, "pairs of numbers"))) or None


def _range(pair: Any) -> tuple[float, float]:  # noqa: ANN401  # what a user gave
    try:
        low, high = sorted(map(float, pair))
    except (TypeError, ValueError, OverflowError):
        low = high = math.nan
    if math.isfinite(low) and math.isfinite(high):
        return low, high
    raise ValueError(f": {pair!r} is not a pair of numbers")


def mapping(value: object, what: str) -> Mapping[Any, Any]:
    """Return a mapping, an empty one for None; refuse what does not map what it should."""
    if value is None or isinstance(value, Mapping):
        return value or {}
    raise ValueError(f"={value!r} must map {what}")


def _roles(value: object, given: Option) -> dict[str, str]:
    roles = mapping(value, "the names of columns to roles")
    for column, role in roles.items():
        _expect(
            isinstance(role, str) and role in ROLES, {column: role}, f"is wrong: a role is one of {', '.join(ROLES)}"
        )
    return {str(column): role for column, role in roles.items()}


# By kind: what returns the value to keep or refuses it, unless each field has its own check; and how documentation
# calls it where it does not list choices. None, or an empty text, is an optional value that is not given.
OPTION_KINDS: dict[str, tuple[ValueCheck | None, str]] = {
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
