"""Recognise what each column of a table is: a label, an order or a measurement, and in which unit."""

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from transvariation.tables.cells import Column, cell_text, cell_texts, explain, order_values, other_mark, read_cells
from transvariation.tables.grid import Block, Grid
from transvariation.tables.problems import Problems

ROLES = ("id", "source", "fragment", "replicate", "order", "measurement", "ignore")
LEVELS = ("source", "fragment", "replicate")

# Compared by `key`: lower case, letters and digits only, without accents.
# English, German, French, Spanish, Italian, Dutch.
_NAMES = {
    "id": "id ids identifier uid uuid barcode",
    "source": "source pane window bottle batch lot item origin donor group vehicle"
    " quelle scheibe fenster flasche chargen herkunft vitre fenetre bouteille origine"
    " fuente ventana botella lote origen sorgente lastra finestra bottiglia lotto bron ruit fles partij",
    "fragment": "fragment frag piece sample object specimen exhibit particle shard chip"
    " bruchstuck stuck probe objekt scherbe splitter partikel asservat spur morceau eclat echantillon objet particule"
    " fragmento pieza muestra objeto particula frammento pezzo campione oggetto monster stuk scherf deeltje",
    "replicate": "replicate rep repl repeat repetition meas measurement run aliquot spot shot"
    " messung wiederholung messpunkt lauf replicat mesure replica medida medicion repeticion misura ripetizione"
    " meting herhaling",
    "order": "order sequence seq runorder measurementorder acquisitionorder time date datetime timestamp acquired"
    " reihenfolge zeit zeitpunkt datum uhrzeit messzeit ordre heure orden fecha hora ordine ora volgorde tijd",
    "numbering": "no nr num number nummer numero index row line unnamed0 lfdnr",
    "category": "type class category classlabel target outcome lab laboratory labor operator day",
    "object": "name label code",  # of the rows where no two are alike, else of fragments
}
NAMES = {role: frozenset(names.split()) for role, names in _NAMES.items()}
_KNOWN = frozenset().union(*NAMES.values())

# Compared as `_unit_key` writes them: lower case, no blanks, micro as u, "wt.%" as "wt%".
_CONTENT = {"%", "wt%", "mass%", "w%", "w/w%", "%w/w", "at%", "mol%", "vol%", "ppm", "ppb", "ppt", "ppmw"} | {
    f"{a}/{b}" for a in ("g", "mg", "ug", "ng", "pg") for b in ("kg", "g", "l", "ml", "m3", "cm3")
}
_LENGTH_TO_TIME = "km m cm mm um nm mm2 kg g mg ug ng s ms min h deg ° k c °c"
_SIGNAL = "kev ev cps counts counts/s au a.u. j/m2 w v mv a ma hz pa kpa bar"
_UNITS = _CONTENT.union(_LENGTH_TO_TIME.split(), _SIGNAL.split())
_BRACKETED = re.compile(r"(.*\S)\s*[(\[]([^()\[\]]+)[)\]]")
_TRAILING = re.compile(r"(.*[^\s_,;/])[\s_,;/]+(\S+(?: %)?)")

_ELEMENTS = (
    "He|Li|Be|Ne|Na|Mg|Al|Si|Cl|Ar|Ca|Sc|Ti|Cr|Mn|Fe|Co|Ni|Cu|Zn|Ga|Ge|As|Se|Br|Kr|Rb|Sr|Zr|Nb|Mo|Ru|Rh|Pd|Ag|Cd|In|Sn"
    "|Sb|Te|Xe|Cs|Ba|La|Ce|Pr|Nd|Sm|Eu|Gd|Tb|Dy|Ho|Er|Tm|Yb|Lu|Hf|Ta|Re|Os|Ir|Pt|Au|Hg|Tl|Pb|Bi|Th"
    "|H|B|C|N|O|F|P|S|K|V|Y|I|W|U"
)
_CHEMICAL = re.compile(rf"(log)?\d{{0,3}}((?:{_ELEMENTS})\d{{0,3}})+|RI|n[Dd]")


def tidy(header: str) -> str:
    """Bring a header to one spelling: composed characters, single blanks."""
    return " ".join(unicodedata.normalize("NFC", header).split())


def key(header: str) -> str:
    """Reduce a header to what names are compared by: letters and digits, without accents and a final number word.

    >>> key("Sample-ID"), key("Fragment No."), key("Réplicat")
    ('sample', 'fragment', 'replicat')
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", header[:200].casefold()) if c.isalnum())
    short = re.sub(r"(id|no|nr|num|number|nummer|name|code)$", "", plain)
    return short if short in _KNOWN else plain


def _unit_key(unit: str) -> str:
    plain = unit.casefold().replace("µ", "u").replace("μ", "u").replace("³", "3").replace("²", "2").replace(" ", "")
    return re.sub(r"^(wt|at|mol|mass|vol)\.?-?(%|percent|pct)$", r"\1%", plain)


def same_unit(one: str, other: str) -> bool:
    """Return whether two spellings mean the same unit: µg/g and ug/g, wt% and wt.%."""
    return _unit_key(one) == _unit_key(other)


def split_unit(header: str) -> tuple[str, str]:
    """Split a header into the variable's name and its unit, "" where it has none.

    >>> split_unit("Na (wt%)"), split_unit("Sr [µg/g]"), split_unit("Zr_ppm"), split_unit("RI (D line)")
    (('Na', 'wt%'), ('Sr', 'µg/g'), ('Zr', 'ppm'), ('RI (D line)', ''))
    """
    name = tidy(header)
    if len(name) > 200:  # no name of a variable, and slow to match
        return name, ""
    # without brackets, only units of composition count: "Q m" is no metre
    for pattern, units in ((_BRACKETED, _UNITS), (_TRAILING, _CONTENT)):
        match = pattern.fullmatch(name)
        if match and _unit_key(match[2]) in units:
            return match[1], match[2].strip()
    return name, ""


def by_unit(headers: Sequence[str]) -> dict[tuple[str, str], int]:
    """Index the headers that have a unit, by name and unit; without variables that occur twice in one unit.

    >>> by_unit(["K", "Na (ppm)", "Na (wt%)"])
    {('Na', 'ppm'): 1, ('Na', 'wt%'): 2}
    """
    parts = [(name, _unit_key(unit)) for name, unit in map(split_unit, headers)]
    count = Counter(parts)
    return {part: i for i, part in enumerate(parts) if part[1] and count[part] == 1}


def locate(
    wanted: Sequence[str], names: Sequence[str], headers: Sequence[str], units: Mapping[str, str] = MappingProxyType({})
) -> list[int | None]:
    """Return the positions of variables, looked up with or without their units; None where one is not there.

    The columns are called `names` without and `headers` with their units; `units` are those wanted where a variable
    has columns in several.
    """
    in_unit = by_unit(headers)
    places = {name: i for i, name in enumerate(names)} | {tidy(header): i for i, header in enumerate(headers)}

    def position(name: str) -> int | None:
        plain, (short, own) = tidy(name), split_unit(name)
        at = in_unit.get((name, _unit_key(units.get(name, ""))), places.get(plain))
        if at is not None:
            return at
        at = places.get(short)
        other = "" if at is None else split_unit(headers[at])[1]
        return None if other and not same_unit(own, other) else at

    return [position(name) for name in wanted]


def similar(name: str, others: Sequence[str], cutoff: float = 0.6) -> str:
    """Return the name most like this one, "" if none is; sought among a few short names, as comparing is slow."""
    lower = {other.casefold(): other for other in others[:200] if len(other) <= 60}
    close = difflib.get_close_matches(name[:60].casefold(), lower, 1, cutoff)
    return lower[close[0]] if close else ""


class _Look:
    """What the first rows of a column hold."""

    def __init__(self, cells: Column, decimal: str):
        self._cells, self._decimal = cells, decimal
        self._values, below, self.faults = read_cells(cells, decimal)
        self.numbers = int(np.isfinite(self._values).sum()) + len(below)
        self.empty = self.numbers == 0 and not self.faults
        self.numeric = self.numbers >= max(len(self.faults), 1)
        self.whole = bool(self.numbers == len(cells) and (self._values == np.round(self._values)).all())

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The cells as text."""
        return cell_texts(self._cells)

    def may_name(self) -> bool:
        """Return whether the column holds words or whole numbers, all of them different."""
        return bool(self.whole or self.faults) and all(self.labels) and len(set(self.labels)) == len(self.labels)

    def sortable(self) -> bool:
        """Return whether the column can be the order of measurement."""
        return bool(np.isfinite(order_values(self._cells, self._decimal)).all())

    def in_other_mark(self) -> int | None:
        """Return the first cell of a column that would be one of numbers if the decimal mark were the other."""
        other = _Look(self._cells, "," if self._decimal == "." else ".")
        return next((i for i in self.faults if i not in other.faults), None) if other.numeric else None

    def like_labels(self) -> bool:
        """Return whether the column numbers something: 1, 2, 3, ... or whole numbers that repeat as labels do."""
        values = self._values
        if not self.whole or len(values) < 4 or not values.any():
            return False
        steps, distinct = np.diff(values), np.unique(values)
        if (steps == 1).all():
            return True
        gapless = distinct[0] in (0, 1) and distinct[-1] - distinct[0] == len(distinct) - 1
        in_blocks = int((steps != 0).sum()) == len(distinct) - 1
        return bool(2 * len(distinct) <= len(values) and (gapless or in_blocks))

    def determines(self, other: "_Look") -> bool:
        """Return whether each label of this column belongs to one label of the other, as fragments do to sources."""
        return len(set(zip(self.labels, other.labels, strict=True))) == len(set(self.labels))


@dataclass
class Layout:
    """What each column of a file was taken for."""

    header: list[str]
    names: list[str]  # the header without its unit
    units: list[str]
    roles: list[str]  # of ROLES
    at: dict[str, list[int]] = field(default_factory=dict)  # role -> columns

    def find(
        self, wanted: Sequence[str], role: str, problems: Problems, units: Mapping[str, str] = MappingProxyType({})
    ) -> list[int]:
        """Look columns up by name, with or without the unit; report those that are not there, or named twice."""
        found: list[int] = []
        for name, at in zip(wanted, locate(wanted, self.names, self.header, units), strict=True):
            if at is not None:
                found.append(at)
            elif role != "ignore":
                there = [other for other in self.names if other]
                if close := similar(name, there):
                    problems.add("similar-column", name=name, similar=close, role=role)
                else:
                    problems.add("no-such-column", name=name, columns=there[:12], role=role)
        for i in (i for i, times in Counter(found).items() if times > 1):
            problems.add("column-twice", name=self.header[i])
        return found


def find_layout(
    grid: Grid,
    block: Block,
    *,
    roles: Mapping[str, str] = MappingProxyType({}),
    features: Sequence[str] | None = None,
    expect: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
) -> Layout:
    """Decide what each column is.

    Parameters
    ----------
    block : Block
        The first rows, whose content decides where names do not.
    roles : mapping of str to str
        Roles given rather than recognised, by column name.
    features : sequence of str or None
        The only columns to measure by.
    expect : sequence of str
        Names that are measurements if present, whatever their cells look like: what the other table measured.
    units : mapping of str to str or None
        The units that `features` are wanted in, where the table has a variable in several.
    """
    header, problems = grid.header, grid.problems
    parts = [split_unit(name) for name in header]
    count = Counter(name for name, _ in parts)
    # "Na (ppm)" beside "Na (wt%)": the unit is then part of the name
    names = [name if count[name] == 1 else tidy(full) for (name, _), full in zip(parts, header, strict=True)]
    layout = Layout(header, names, [unit for _, unit in parts], ["ignore"] * len(header))
    _report_same_names(header, grid)
    looks = [_Look(column, grid.decimal) for column in block.columns]
    wanted = [] if features is None else layout.find(features, "measurement", problems, units or {})
    given = _given_roles(layout, roles, problems)
    for i in set(given).intersection(wanted):
        if given[i] != "measurement":
            problems.add("feature-and-label", name=header[i], role=given[i])
    known = set(expect)
    expected = [i for i, name in enumerate(names) if not known.isdisjoint((name, tidy(header[i])))]
    taken = dict.fromkeys([*expected, *wanted], "measurement") | given
    taken |= _recognised_labels(layout, looks, taken, problems)
    unsure = []
    for i, look in enumerate(looks):
        if i not in taken and look.numeric and features is None:
            if layout.units[i] or key(names[i]) not in _KNOWN | {""}:
                taken[i] = "measurement"
                if look.like_labels() and not layout.units[i] and not _CHEMICAL.fullmatch(names[i]):
                    unsure.append(i)
            elif names[i]:
                problems.note("unused-label", None, header[i])
    layout.roles[:] = [taken.get(i, "ignore") for i in range(len(header))]
    layout.at = {role: [i for i, own in enumerate(layout.roles) if own == role] for role in ROLES}
    # Where all are whole numbers, these are as likely measurements; what only this table measures is not used.
    if any(not looks[i].whole for i in layout.at["measurement"]) and not expect:
        for i in unsure:
            problems.add("label-or-measurement", None, header[i], remedy="give-role")
    unused = {i: looks[i] for i in layout.at["ignore"] if i not in given}
    if features is None and not grid.decimal_given and not any(p.code == "decimal-mark" for p in problems.problems):
        _ask_about_marks(grid, block, unused)
    _note_roles(grid, block, layout, looks, unused)
    return layout


def _report_same_names(header: list[str], grid: Grid) -> None:
    places: dict[str, list[str]] = {}
    for i, name in enumerate(map(tidy, header), 1):
        places.setdefault(name, []).append(str(i))
    for name, (*others, last) in places.items():
        if name and others:
            grid.problems.add("same-name", grid.first_row, name, columns=f"{', '.join(others)} and {last}")


def _given_roles(layout: Layout, roles: Mapping[str, str], problems: Problems) -> dict[int, str]:
    given: dict[int, str] = {}
    for name, role in roles.items():
        if role not in ROLES:
            raise ValueError(f"roles={{{name!r}: {role!r}}}: a role is one of {', '.join(ROLES)}")
        given |= dict.fromkeys(layout.find([name], role, problems), role)
    for role in ("id", *LEVELS, "order"):
        columns = [layout.header[i] for i in given if given[i] == role]
        if len(columns) > 1:
            problems.add("role-twice", columns=columns, role=role)
    return given


def _recognised_labels(
    layout: Layout, looks: list[_Look], taken: Mapping[int, str], problems: Problems
) -> dict[int, str]:
    """Recognise labels and order among the columns without a role, by name, then by content."""
    keys = [key(name) for name in layout.names]
    free = [i for i, look in enumerate(looks) if i not in taken and not look.empty]
    # what has a unit is measured: "Charge (mV)" is no batch
    named = {role: [i for i in free if keys[i] in NAMES[role] and not layout.units[i]] for role in NAMES}
    found: dict[str, int] = {}  # by role: a column has one, and each role one column
    for role in ("id", *LEVELS):
        columns = named[role]
        if columns and role not in taken.values():
            inner = [i for i in columns if all(looks[i].determines(looks[j]) for j in columns)]
            if not inner and role in ("source", "fragment"):  # batch and pane, with pane 1 in each batch
                problems.add("several-labels", columns=[layout.header[i] for i in columns], role=role)
            found[role] = (inner or columns)[0]
    if "fragment" in found and "source" not in {*found, *taken.values()}:
        outer = [i for i in named["fragment"] if not looks[i].determines(looks[found["fragment"]])]
        if outer:
            found["source"] = outer[0]  # sample and fragment
    for i in named["order"] if "order" not in taken.values() else ():
        if looks[i].sortable():
            found.setdefault("order", i)
    levels = {*found, *taken.values()}
    item = "source" in found and keys[found["source"]] == "item" and looks[found["source"]].may_name()
    if item and levels.isdisjoint(("id", "fragment", "replicate")):
        found["fragment"] = found.pop("source")  # each item was measured once
    free = [i for i in free if i not in found.values()]
    objects = [i for i in free if keys[i] in NAMES["object"]]
    if "id" not in levels:
        numbering = [i for i in free if not keys[i] or keys[i] in NAMES["numbering"]]
        words = [i for i in free[:1] if i == 0 and not looks[0].numeric and keys[0] not in NAMES["category"]]
        unique = [i for i in objects + numbering + words if looks[i].may_name()]
        if unique:
            found["id"] = unique[0]
    repeated = [i for i in objects if i != found.get("id") and (looks[i].whole or looks[i].faults)]
    if repeated and "fragment" not in {*found, *taken.values()}:
        found["fragment"] = repeated[0]  # the same object measured again
    return {i: role for role, i in found.items()}


def _ask_about_marks(grid: Grid, block: Block, unused: Mapping[int, _Look]) -> None:
    """Report what may be measurements in another decimal mark than the file's: setting them aside would lose them."""
    for i, look in unused.items():
        at = None if look.numeric else look.in_other_mark()
        if at is not None:
            value = explain(look.faults[at], grid.decimal)[1]["value"]
            params: dict[str, Any] = {"remedy": "give-decimal", "value": value} | other_mark(grid.decimal)
            grid.problems.add("column-in-other-mark", int(block.rows[at]), grid.header[i], **params)


def _note_roles(grid: Grid, block: Block, layout: Layout, looks: list[_Look], unused: Mapping[int, _Look]) -> None:
    """Note what was understood; report that no column holds numbers, and why the first ones hold none."""
    problems, reasons = grid.problems, []
    for i, (name, role, look) in enumerate(zip(grid.header, layout.roles, looks, strict=True)):
        if not name and role != "id" and not look.empty:
            problems.add("no-name", grid.first_row, number=i + 1)
        if role not in ("measurement", "ignore"):
            problems.note("role", None, name, role=role)
        elif role == "measurement" and layout.units[i]:
            problems.note("unit", None, name, unit=layout.units[i])
        elif i in unused and look.empty and name:
            problems.note("unused-empty", None, name)
        elif i in unused and look.faults and not look.numeric:
            at, cell = next(iter(look.faults.items()))
            code, params = explain(cell, grid.decimal)
            counts = {"others": len(look.faults), "n": len(look.faults) + look.numbers}
            problems.note("unused-text", int(block.rows[at]), name, **counts, value=params["value"], fault=code)
            reasons.append((code, int(block.rows[at]), name, params))
    if layout.at["measurement"] or problems.problems or not len(block.rows):
        return
    why = f"the delimiter is {grid.delimiter}" if grid.delimiter else "no cell is a number"
    if grid.delimiter and len(grid.header) == 1:
        why = "no delimiter was found in the first row; columns must be separated by comma, semicolon, tab or bar"
    problems.add("no-measurement", why=why, header=" | ".join(grid.header)[:80])
    for code, row, name, params in reasons[:5]:
        problems.add(code, row, name, **params)


def take_units(grid: Grid, block: Block) -> Block:
    """Put the units into the header and leave out their row, if the first row below the header holds them.

    "A" may be the ampere or an object: a row of units needs units of composition in most columns. "-" is not a unit.
    """
    units = [cell_text(column[0]) for column in block.columns]
    filled = [_unit_key(unit) for unit in units if unit not in ("", "-")]
    if 2 * len(filled) < len(units) - 1 or _CONTENT.isdisjoint(filled) or not _UNITS.issuperset(filled):
        return block
    row, names = int(block.rows[0]), list(grid.header)
    for i, (name, unit) in enumerate(zip(names, units, strict=True)):
        own = split_unit(name)[1]
        if unit not in ("", "-") and not own:
            grid.header[i] = f"{name} ({unit})"
        elif unit not in ("", "-") and not same_unit(own, unit):
            grid.problems.add("unit-in-header", row, name, unit=unit, other=own)
    grid.problems.note("units-row", row)
    return block.keep(range(1, len(block.rows)))
