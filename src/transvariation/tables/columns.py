"""Recognize what each column of a table is: a label, an order or a measurement, and in which unit."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

import numpy as np

from transvariation.tables.cells import Column, cell_text, explain, order_values, other_mark, read_cells
from transvariation.tables.grid import Block, Grid
from transvariation.tables.headers import (
    CHEMICAL,
    CONTENT_UNITS,
    KNOWN_NAMES,
    KNOWN_UNITS,
    MIN_POSITIONS,
    NAMES_BY_ROLE,
    is_chemical,
    is_unit,
    key,
    locate,
    position_of,
    same_unit,
    similar,
    split_unit,
    tidy,
    unit_key,
)
from transvariation.tables.problems import Problems

LEVELS = ("source", "fragment", "replicate")
_CLASS_NAMES = {"label", "name", "code", "origin", "group", "herkunft", "origine", "origen"}
MIN_PER_CLASS = 10  # spectra: of fewer, a label may name a sample that was measured again
# What follows the name of a variable in the column of its uncertainty or detection limit, as Iolite, GLITTER and others
# write it: Al_Int2SE, Al_ppm_2SD, Al 1s, Al_LOD.
_UNCERTAINTY = re.compile(
    r"(?:int|prop)?[12]?(?:se|sd|sem|sigma|rsd|err|error|unc|uncertainty|stdev|stderr)%?|[12]s|lod|loq|dl|mdl|±|\+/-",
    re.IGNORECASE,
)

_POINT_AND_THREE = re.compile(r"[1-9]\d{0,2}\.\d{3}", re.ASCII)


class TableColumn:
    """A column: its name and unit, what the cells of the first rows look like, and its role."""

    def __init__(self, number: int, header: str, cells: Column, decimal: str):
        self.number, self.header, self.cells, self._decimal = number, header, cells, decimal
        self.name, self.unit = split_unit(header)
        self.key = key(self.name)
        self.role = ""  # of ROLES, "" until it is decided
        self.given = False  # whether the role was given rather than recognized
        self.read = read_cells(cells, decimal)
        self.faults = self.read.faults
        self.numbers, self.numeric = self.read.n_numbers, self.read.are_numbers
        self.empty = self.numbers == 0 and not self.faults
        self.whole = bool(self.numbers == len(cells) and (self.read.values == np.round(self.read.values)).all())

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The cells as text."""
        return tuple(map(cell_text, self.cells.tolist()))

    def may_name(self) -> bool:
        """Return whether the column holds words or whole numbers, all of them different."""
        return bool(self.whole or self.faults) and all(self.labels) and len(set(self.labels)) == len(self.labels)

    def in_other_mark(self) -> int | None:
        """Return the first cell of a column that would be one of numbers if the decimal mark were the other."""
        other = read_cells(self.cells, "," if self._decimal == "." else ".")
        return next((i for i in self.faults if i not in other.faults), None) if other.are_numbers else None

    def nearly_numbers(self) -> int:
        """Count the cells that would be numbers without a thousands separator or a unit of composition."""
        codes = [(explain(cell, self._decimal)[0], str(cell).strip()) for cell in self.faults.values()]
        return sum(
            code == "thousands" or (code == "unit-in-cell" and is_unit(text.lstrip("+-0123456789.,Ee ")))
            for code, text in codes
        )

    def like_labels(self) -> bool:
        """Return whether the column numbers something: 1, 2, 3, ... or whole numbers that repeat as labels do."""
        values = self.read.values
        if not self.whole or len(values) < 4 or not values.any():
            return False
        with np.errstate(over="ignore"):
            steps, distinct = np.diff(values), np.unique(values)
        gapless = distinct[0] in (0, 1) and distinct[-1] == distinct[0] + len(distinct) - 1
        in_blocks = int((steps != 0).sum()) == len(distinct) - 1
        return bool((steps == 1).all() or (2 * len(distinct) <= len(values) and (gapless or in_blocks)))

    def determines(self, other: "TableColumn") -> bool:
        """Return whether each label of this column belongs to one label of the other, as fragments do to sources."""
        return len(set(zip(self.labels, other.labels, strict=True))) == len(set(self.labels))


def find_columns(
    grid: Grid,
    block: Block,
    *,
    roles: Mapping[str, str] = MappingProxyType({}),
    features: Sequence[str] | None = None,
    expect: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
) -> list[TableColumn]:
    """Decide what each column is, from its name and the cells of the first rows.

    `roles` are given rather than recognized, `features` the only columns to measure by, and `units` those they are
    wanted in. `expect` are measurements if present, whatever their cells look like: what the other table measured.
    """
    problems = grid.problems
    cells = enumerate(zip(grid.header, block.columns, strict=True), 1)
    columns = [TableColumn(i, header, column, grid.decimal) for i, (header, column) in cells]
    if features is None:
        _check_orientation(columns, problems)
    _check_names(columns, grid)
    wanted = dict.fromkeys([] if features is None else _find(columns, features, "measurement", problems, units or {}))
    expected = set(expect)
    for column in columns:
        if column in wanted or not expected.isdisjoint((column.name, tidy(column.header))):
            column.role = "measurement"
    _give_roles(columns, roles, problems)
    for column in wanted:
        if column.role != "measurement":
            problems.add("feature-and-label", name=column.header, role=column.role)
    _recognize_labels(columns, grid.decimal, problems)
    if features is None:
        _set_aside_uncertainties(columns, problems)
    unsure = []
    for column in columns:
        if not column.role and column.numeric and features is None:
            if column.unit or (column.key and column.key not in KNOWN_NAMES):
                column.role = "measurement"
                if column.like_labels() and not column.unit and not CHEMICAL.fullmatch(column.name):
                    unsure.append(column)
            elif column.name:
                problems.note("unused-label", None, column.header)
        column.role = column.role or "ignore"
    _check_points(columns, grid)
    # Where all are whole numbers, these are as likely measurements; what only this table measures is not used.
    if any(column.role == "measurement" and not column.whole for column in columns) and not expect:
        for column in unsure:
            problems.add("label-or-measurement", None, column.header, remedy="give-role")
    sure = features is not None or grid.decimal_given or any(p.code == "decimal-mark" for p in problems.problems)
    _note_columns(columns, grid, block, sure)
    return columns


def _set_aside_uncertainties(columns: list[TableColumn], problems: Problems) -> None:
    """Ignore the columns whose names are that of another column and a word for its uncertainty or detection limit."""
    names = {name: column for column in columns for name in (tidy(column.header), column.name)}
    for column in columns:
        full = tidy(column.header)
        word = re.split(r"[\s_]", full)[-1]
        stem = full[: len(full) - len(word)].rstrip(" _")
        if column.role or not column.numeric or not stem or not _UNCERTAINTY.fullmatch(word.strip("()[]")):
            continue
        variable = names.get(stem) or names.get(split_unit(stem)[0])
        if variable is not None:
            column.role, column.given = "ignore", True
            problems.note("unused-uncertainty", None, column.header, variable=variable.header)


def _check_orientation(columns: list[TableColumn], problems: Problems) -> None:
    """Refuse a table whose rows are the variables: its other problems, such as repeated names, follow from that."""
    # K1 and B may be samples, Sr and SiO2 are not.
    if len(columns) < 3 or any(CHEMICAL.fullmatch(x.name) and sum(map(str.isalpha, x.name)) > 1 for x in columns):
        return
    labels = [label for label in columns[0].labels if key(label) not in KNOWN_NAMES]
    variables = [label for label in labels if is_chemical(split_unit(label)[0])]
    long = [label for label in variables if len(label) > 1]
    if 2 * len(long) >= len(labels) >= 3 and len(set(variables)) == len(variables) >= 0.8 * len(labels):
        samples = [column.header for column in columns[1:5]]
        raise problems.stop("transposed", None, columns[0].header or None, names=variables[:4], samples=samples)


def _check_points(columns: list[TableColumn], grid: Grid) -> None:
    """Ask what points mean that all stand before three digits, beside whole numbers, in a file with semicolons.

    Where the comma is the decimal mark, spreadsheets write such files, and 98.302 may be a number of thousands.
    """
    if (grid.delimiter, grid.decimal, grid.decimal_given) != ("the semicolon", ".", False):
        return
    measured = [(column, label) for column in columns if column.role == "measurement" for label in column.labels]
    pointed = [(column, label) for column, label in measured if "." in label]
    whole = any(label.isdecimal() and int(label) for _, label in measured)
    if pointed and whole and all(_POINT_AND_THREE.fullmatch(label) for _, label in pointed):
        column, value = pointed[0]
        said = {"value": value, "small": value, "large": value.replace(".", ""), "mark": "point"}
        grid.problems.add("decimal-mark", None, column.header, remedy="give-decimal", **said)


def _check_names(columns: list[TableColumn], grid: Grid) -> None:
    """Tell columns of one name apart by their units, and report those of one header."""
    names = Counter(column.name for column in columns)
    headers: dict[str, list[str]] = {}
    for column in columns:
        full = tidy(column.header)
        if names[column.name] > 1:
            column.name = full  # "Na (ppm)" beside "Na (wt%)"
        headers.setdefault(full, []).append(str(column.number))
    for header, (*others, last) in headers.items():
        if header and others:
            grid.problems.add("same-name", grid.first_row, header, columns=f"{', '.join(others)} and {last}")


def _find(
    columns: list[TableColumn],
    wanted: Sequence[str],
    role: str,
    problems: Problems,
    units: Mapping[str, str] = MappingProxyType({}),
) -> list[TableColumn]:
    """Look columns up by name, with or without the unit; report those that are not there, or named twice."""
    there = [column.name for column in columns if column.name]
    found: list[TableColumn] = []
    missing: list[str] = []
    for name, at in zip(wanted, locate(wanted, [column.header for column in columns], units), strict=True):
        if at is not None:
            found.append(columns[at])
        elif role != "ignore":
            missing.append(name)
    if len(missing) > 2:
        problems.add("no-such-columns", names=missing[:12], columns=there[:12], role=role)
    for name in missing if len(missing) <= 2 else []:
        if close := similar(name, there):
            problems.add("similar-column", name=name, similar=close, role=role)
        else:
            problems.add("no-such-column", name=name, columns=there[:12], role=role)
    for column in (column for column, times in Counter(found).items() if times > 1):
        problems.add("column-twice", name=column.header)
    return found


def _give_roles(columns: list[TableColumn], roles: Mapping[str, str], problems: Problems) -> None:
    for name, role in roles.items():
        for column in _find(columns, [name], role, problems):
            column.role, column.given = role, True
    for role in ("id", *LEVELS, "order"):
        headers = [column.header for column in columns if column.role == role]
        if len(headers) > 1:
            problems.add("role-twice", columns=headers, role=role)


def _recognize_labels(columns: list[TableColumn], decimal: str, problems: Problems) -> None:
    """Recognize labels and order among the columns without a role, by name, then by content."""
    given = {column.role for column in columns}
    free = [column for column in columns if not column.role and not column.empty]
    free = _without_classes(free, columns, problems)
    # what has a unit is measured: "Charge (mV)" is no batch
    named = {
        role: [column for column in free if column.key in NAMES_BY_ROLE[role] and not column.unit]
        for role in NAMES_BY_ROLE
    }
    found = _labels_by_name(named, given, decimal, problems)
    found |= _labels_by_content([column for column in free if column not in found.values()], {*found, *given})
    for role, column in found.items():
        column.role = role
    if "fragment" in found and "source" not in {*found, *given}:
        _check_nesting(found["fragment"], [column for column in named["supplier"] if not column.role], problems)


def _labels_by_name(
    named: Mapping[str, list[TableColumn]], given: set[str], decimal: str, problems: Problems
) -> dict[str, TableColumn]:
    """Choose one column for each role that is not given, among those named like it."""
    found = {}
    for role in ("id", *LEVELS):
        alike = named[role]
        if alike and role not in given:
            inner = [column for column in alike if all(map(column.determines, alike))]
            if not inner and role in ("source", "fragment"):  # batch and pane, with pane 1 in each batch
                problems.add("several-labels", columns=[column.header for column in alike], role=role)
            found[role] = (inner or alike)[0]
    if "fragment" in found and "source" not in {*found, *given}:
        outer = [column for column in named["fragment"] if not column.determines(found["fragment"])]
        if outer:
            found["source"] = outer[0]  # sample and fragment
    for column in named["order"] if "order" not in given else ():
        if np.isfinite(order_values(column.cells, decimal)).all():
            found.setdefault("order", column)
    source, others = found.get("source"), {"id", "fragment", "replicate"}
    if source and source.key == "item" and source.may_name() and others.isdisjoint({*found, *given}):
        found["fragment"] = found.pop("source")  # each item was measured once
    return found


def _labels_by_content(free: list[TableColumn], roles: set[str]) -> dict[str, TableColumn]:
    """Choose a column whose cells all differ as the ID, and one of objects that repeat as the fragments."""
    found = {}
    objects = [column for column in free if column.key in NAMES_BY_ROLE["object"]]
    if "id" not in roles:
        numbering = [column for column in free if not column.key or column.key in NAMES_BY_ROLE["numbering"]]
        words = [c for c in free[:1] if c.number == 1 and not c.numeric and c.key not in NAMES_BY_ROLE["category"]]
        unique = [column for column in objects + numbering + words if column.may_name()]
        if unique:
            found["id"] = unique[0]
    repeated = [column for column in objects if column is not found.get("id") and (column.whole or column.faults)]
    if repeated and "fragment" not in roles:
        found["fragment"] = repeated[0]  # the same sample measured again
    return found


def _check_nesting(fragment: TableColumn, suppliers: list[TableColumn], problems: Problems) -> None:
    """Report a column of suppliers that number their samples each for itself."""
    for column in suppliers:
        if not fragment.determines(column):
            labels: dict[str, dict[str, None]] = {}
            for own, label in zip(fragment.labels, column.labels, strict=True):
                labels.setdefault(own, {})[label] = None
            value, several = next((own, found) for own, found in labels.items() if len(found) > 1)
            said = {"inner": fragment.header, "value": value, "labels": list(several)[:3]}
            problems.add("nested-labels", None, column.header, remedy="source-role", **said)


def _without_classes(free: list[TableColumn], columns: list[TableColumn], problems: Problems) -> list[TableColumn]:
    """Set aside columns with a few labels beside many spectra: these are classes, not samples measured again."""
    if sum(position_of(column.name) is not None for column in columns) < MIN_POSITIONS:
        return free
    kept = []
    for column in free:
        n, rows = len(set(column.labels)), len(column.labels)
        if column.key in _CLASS_NAMES and n * MIN_PER_CLASS <= rows and not column.unit:
            column.role, column.given = "ignore", True
            problems.note("unused-class", None, column.header, n=n, rows=rows)
        else:
            kept.append(column)
    return kept


def _note_columns(columns: list[TableColumn], grid: Grid, block: Block, sure: bool) -> None:
    """Note what was understood; report that no column holds numbers, and why the first ones hold none.

    Unless the decimal mark is sure, what may be measurements in the other one is a problem: setting them aside would
    lose them.
    """
    problems = grid.problems
    for column in columns:
        if not column.header and column.role != "id" and not column.empty:
            problems.add("no-name", grid.first_row, number=column.number)
        if column.role not in ("measurement", "ignore") and not column.given:
            problems.note("role", None, column.header, role=column.role)
        elif column.role == "measurement" and column.unit:
            problems.note("unit", None, column.header, unit=column.unit)
        elif column.role != "ignore" or column.given:
            continue
        elif column.empty and column.header:
            problems.note("unused-empty", None, column.header)
        elif column.faults and not column.numeric:
            code, params = explain(column.faults[at := min(column.faults)], grid.decimal)
            n, row = len(column.faults), int(block.rows[at])
            problems.note("unused-text", row, column.header, others=n, n=n + column.numbers, fault=code, **params)
            if 2 * column.nearly_numbers() >= n:
                problems.add(code, row, column.header, **params)
            elif not sure and (other := column.in_other_mark()) is not None:
                params = explain(column.faults[other], grid.decimal)[1] | other_mark(grid.decimal)
                problems.add("column-in-other-mark", int(block.rows[other]), column.header, **params)
    if problems.problems or not len(block.rows) or any(column.role == "measurement" for column in columns):
        return
    code = "no-numbers" if not grid.delimiter else "no-delimiter" if len(columns) == 1 else "no-measurement"
    problems.add(code, delimiter=grid.delimiter, header=" | ".join(grid.header)[:80])
    for note in [note for note in problems.notes if note.code == "unused-text"][:5]:
        problems.add(note.params["fault"], note.row, note.column, **note.params)


def take_units(grid: Grid, block: Block) -> Block:
    """Put the units into the header and leave out their row, if the first row below the header holds them.

    "A" may be the ampere or a sample: a row of units needs units of composition in most columns. "-" is not a unit.
    """
    if all(column.dtype != object for column in block.columns):  # numbers only
        return block
    units = [cell_text(column[0]) for column in block.columns]
    filled = [unit_key(unit) for unit in units if unit not in ("", "-")]
    if 2 * len(filled) < len(units) - 1 or CONTENT_UNITS.isdisjoint(filled) or not KNOWN_UNITS.issuperset(filled):
        return block
    row, names = int(block.rows[0]), list(grid.header)
    for i, (name, unit) in enumerate(zip(names, units, strict=True)):
        own = split_unit(name)[1]
        if unit not in ("", "-") and not own:
            grid.header[i] = f"{name} ({unit})"
        elif unit not in ("", "-") and not same_unit(own, unit):
            grid.problems.add("unit-in-header", row, name, unit=unit, other=own)
    grid.problems.note("units-row", row)
    return block.keep(slice(1, None))
