"""Which column is the id, which the source, which are measurements: by name, then by content."""

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from transvariation.tables.cells import read_cells
from transvariation.tables.grid import Block, Column, Grid
from transvariation.tables.headers import (
    IDS,
    LABELS,
    NUMBERINGS,
    OBJECTS,
    REPLICATES,
    SOURCES,
    in_unit,
    is_content_unit,
    is_unit,
    key,
    same_unit,
    split_unit,
    tidy,
)
from transvariation.tables.problems import Findings, quoted

NO_MEASUREMENT = "if the column is no measurement, name the features to use"  # the page says it in its own words


@dataclass(frozen=True)
class Layout:
    """What each column of a file was taken for."""

    header: list[str]
    roles: list[str]
    names: list[str]  # the header without its unit
    units: list[str]

    def at(self, role: str) -> list[int]:
        """Give the positions of the columns with a role."""
        return [i for i, taken in enumerate(self.roles) if taken == role]


class _Look:
    """A first look at one column's cells."""

    def __init__(self, cells: Column, decimal: str):
        values, below, reasons = read_cells(cells, decimal)
        self.numbers = int(np.isfinite(values).sum()) + len(below)
        self.others = len(reasons)
        self.reasons = reasons
        self.empty = self.numbers == 0 and self.others == 0
        self.numeric = self.numbers >= max(self.others, 1)
        self.whole = bool(self.others == 0 and self.numbers == len(values) and (values == np.round(values)).all())
        self.counting = bool(self.whole and len(values) > 2 and (np.diff(values) == 1).all())
        self._cells, self._decimal = cells, decimal

    def unique(self) -> bool:
        """Tell whether every cell is filled and no two are alike."""
        texts = cell_texts(self._cells)
        return all(texts) and len(set(texts)) == len(texts)

    def in_other_mark(self) -> tuple[int, str] | None:
        """Give the first cell of a column that would be one of numbers if the decimal mark were the other."""
        other = _Look(self._cells, "," if self._decimal == "." else ".")
        readable = ((i, reason) for i, reason in self.reasons.items() if i not in other.reasons)
        return next(readable, None) if other.numeric else None


def cell_text(cell: object) -> str:
    """Give an id as text: a whole number without the decimals that a spreadsheet adds.

    >>> cell_text(12.0), cell_text(" F1 "), cell_text(None)
    ('12', 'F1', '')
    """
    if cell is None or (isinstance(cell, float) and cell != cell):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def cell_texts(cells: Column) -> tuple[str, ...]:
    """Give a column of ids as text."""
    try:
        return tuple(map(str.strip, cells))  # anything but str raises, as intended
    except TypeError:
        return tuple(map(cell_text, cells))


def find_layout(
    grid: Grid,
    block: Block | None,
    findings: Findings,
    *,
    id_column: str | None = None,
    source_column: str | None = None,
    features: Sequence[str] | None = None,
    expect: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
    decimal: str | None = None,
) -> Layout:
    """Decide what each column is.

    Parameters
    ----------
    block : Block or None
        The first rows, whose content decides where names do not.
    id_column, source_column : str or None
        Given rather than recognised.
    features : sequence of str or None
        The only columns to measure by; whatever else there is counts as unused.
    expect : sequence of str
        Names that are features if present, whatever their cells look like: what the other table measured.
    units : mapping of str to str or None
        The units that `features` are wanted in, where the table has a variable in several.
    decimal : str or None
        The decimal mark if it was given: where it was recognised, a column of numbers with the other one is a problem.
    """
    header, set_of_expected = grid.header, set(expect)
    names, own_units = _names_and_units(header)
    layout = Layout(header, ["text"] * len(header), names, own_units)
    _check_names(layout, grid.first_row, findings)
    looks = [_Look(column, grid.decimal) for column in block.columns] if block else [_Look([], ".") for _ in header]
    keys = [key(name) for name in names]
    roles = layout.roles
    for i, look in enumerate(looks):
        roles[i] = "empty" if look.empty else "feature" if look.numeric else "text"
        if roles[i] == "feature" and keys[i] in LABELS:
            roles[i] = "label"
        if keys[i] in REPLICATES:
            roles[i] = "replicate"
    wanted = _find(layout, features, findings, units or {}) if features is not None else None
    given_id = _find(layout, [id_column], findings) if id_column is not None else []
    given_source = _find(layout, [source_column], findings) if source_column is not None else []
    for i in set(given_id + given_source).intersection(wanted or []):
        findings.problem(f"the column {quoted(header[i])} is named among the features and as the id or the source")
    expected = [i for i, name in enumerate(names) if not set_of_expected.isdisjoint((name, tidy(header[i])))]
    taken = set(given_id + given_source + expected + (wanted or []))
    free = [i for i in range(len(header)) if i not in taken]
    ids = given_id or _guess_id(free, keys, looks)
    sources = given_source or _guess_source([i for i in free if i not in ids], keys, looks)
    for i in expected:
        roles[i] = "feature"
    if wanted is not None:
        roles[:] = ["unused" if role == "feature" else role for role in roles]
        for i in wanted:
            roles[i] = "feature"
    for i in sources:
        roles[i] = "source"
    for i in ids:
        roles[i] = "id"
    asked = any(" may mean " in problem.message for problem in findings.problems)  # which mark it is
    if features is None and decimal is None and not asked:
        _ask_about_marks(layout, looks, block, findings)
    _tell(layout, looks, block, grid.first_row, findings, chosen=features is not None)
    return layout


def _names_and_units(header: list[str]) -> tuple[list[str], list[str]]:
    parts = [split_unit(name) for name in header]
    count = Counter(name for name, _ in parts)
    # "Na (ppm)" beside "Na (wt%)": the unit is then part of the name
    names = [name if count[name] == 1 else tidy(full) for (name, _), full in zip(parts, header, strict=True)]
    return names, [unit for _, unit in parts]


def _check_names(layout: Layout, row: int, findings: Findings) -> None:
    places: dict[str, list[int]] = {}
    for i, name in enumerate(tidy(name) for name in layout.header):
        places.setdefault(name, []).append(i + 1)
    for name, at in places.items():
        if name and len(at) > 1:
            findings.problem(f"columns {_listed(at)} have the same name; rename or remove all but one", row, name)


def _find(
    layout: Layout, wanted: Sequence[str], findings: Findings, units: Mapping[str, str] = MappingProxyType({})
) -> list[int]:
    """Look columns up by name, with or without the unit; report those that are not there, or named twice."""
    found: list[int] = []
    places = {short: i for i, short in enumerate(layout.names)} | {
        tidy(full): i for i, full in enumerate(layout.header)
    }
    for name in wanted:
        plain = tidy(name)
        short, unit = split_unit(name)
        meant = in_unit(name, units.get(name, ""), layout.header)
        at = places.get(plain, places.get(short)) if meant is None else meant
        sure = meant is not None or plain in places
        if at is not None and (sure or not layout.units[at] or same_unit(unit, layout.units[at])):
            found.append(at)
            continue
        there = [n for n in layout.names if n]
        lower = {n.casefold(): n for n in there[:200] if len(n) <= 60}  # comparing is slow work
        close = [lower[k] for k in difflib.get_close_matches(plain[:60].casefold(), lower, 1)]
        hint = f"did you mean {quoted(close[0])}?" if close else f"there are {_listed(map(quoted, there[:12]))}"
        findings.problem(f"there is no column {quoted(name)}; {hint}")
    for at in (at for at, times in Counter(found).items() if times > 1):
        findings.problem(f"the column {quoted(layout.header[at])} is named twice among the features")
    return found


def _guess_id(free: list[int], keys: list[str], looks: list[_Look]) -> list[int]:
    for i in free:
        if keys[i] in IDS:
            return [i]
    for names in (OBJECTS, NUMBERINGS):
        for i in free:
            if keys[i] in names and (looks[i].whole or looks[i].others) and looks[i].unique():
                return [i]
    if (
        free[:1] == [0]
        and looks[0].others
        and not looks[0].numeric
        and keys[0] not in SOURCES | LABELS
        and looks[0].unique()
    ):
        return [0]
    return []


def _guess_source(free: list[int], keys: list[str], looks: list[_Look]) -> list[int]:
    for i in free:
        if keys[i] in SOURCES and not looks[i].empty:
            return [i]
    for i in free:
        if keys[i] in OBJECTS and (looks[i].whole or looks[i].others):
            return [i]  # not unique, or it would be the id: the same object measured again
    return []


def _ask_about_marks(layout: Layout, looks: list[_Look], block: Block | None, findings: Findings) -> None:
    """Report what may be measurements in another decimal mark than the file's: setting them aside would lose them."""
    for i in layout.at("text"):
        found = looks[i].in_other_mark()
        if found and block is not None:
            at, reason = found
            findings.problem(f"{reason}; {NO_MEASUREMENT}", int(block.rows[at]), layout.header[i])


def _tell(
    layout: Layout, looks: list[_Look], block: Block | None, first_row: int, findings: Findings, *, chosen: bool
) -> None:
    for number, (name, role) in enumerate(zip(layout.header, layout.roles, strict=True), start=1):
        if not name and role not in ("id", "empty"):
            findings.problem(f"column {number} has values but no name in the header", first_row)
    for name, role, unit, look in zip(layout.header, layout.roles, layout.units, looks, strict=True):
        if role == "text":
            at, reason = next(iter(look.reasons.items()), (0, "no numbers"))
            row = int(block.rows[at]) if block is not None and look.reasons else None
            kind = f"{look.others} of its {look.others + look.numbers} values are not numbers, the first: {reason}"
            findings.note(f"not used as a variable: {kind}", row, name)
        elif role == "empty" and name:
            findings.note("not used: the column is empty", None, name)
        elif role == "label":
            findings.note("not used: taken for a class label; name it among the features to use it", None, name)
        elif role in ("id", "source", "replicate"):
            findings.note(f"taken for the {role}", None, name)
        elif role == "feature" and unit:
            findings.note(f"unit {quoted(unit)}", None, name)
        elif role == "feature" and look.counting and not chosen:
            findings.note(
                "used as a variable though it counts up by one: if it numbers the objects, name the features to use",
                None,
                name,
            )


def is_unit_row(block: Block) -> bool:
    """Tell whether the first row below the header holds the units."""
    filled = [cell for cell in (cell_text(column[0]) for column in block.columns) if cell not in ("", "-")]
    # "A" alone may be an ampere or an object: it takes a unit of composition, and most columns, to be sure
    return 2 * len(filled) >= len(block.columns) - 1 and any(map(is_content_unit, filled)) and all(map(is_unit, filled))


def _listed(items: Iterable[object]) -> str:
    *head, last = [str(item) for item in items] or [""]
    return f"{', '.join(head)} and {last}" if head else last
