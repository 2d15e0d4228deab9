"""Recognise what each column of a table is: a label, an order or a measurement, and in which unit."""

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from transvariation.tables.cells import read_cells
from transvariation.tables.grid import Block, Column, Grid
from transvariation.tables.problems import Findings, quoted

ROLES = ("id", "source", "fragment", "replicate", "order", "measurement", "ignore")
LEVELS = ("source", "fragment", "replicate")

# Compared by `key`: lower case, letters and digits only, without accents.
# English, German, French, Spanish, Italian, Dutch.
_NAMES = {
    "id": "id ids identifier uid uuid barcode",
    "source": "source pane window bottle batch lot item origin donor group vehicle"
    " quelle scheibe fenster flasche charge herkunft vitre fenetre bouteille origine"
    " fuente ventana botella lote origen sorgente lastra finestra bottiglia lotto bron ruit fles partij",
    "fragment": "fragment frag piece sample object specimen exhibit particle shard chip"
    " bruchstuck stuck probe objekt scherbe splitter partikel asservat spur morceau eclat echantillon objet particule"
    " fragmento pieza muestra objeto particula frammento pezzo campione oggetto monster stuk scherf deeltje",
    "replicate": "replicate rep repl repeat repetition meas measurement run aliquot spot shot"
    " messung wiederholung messpunkt lauf replicat mesure replica medida medicion repeticion misura ripetizione"
    " meting herhaling",
    "order": "order sequence seq runorder measurementorder acquisitionorder time date datetime timestamp acquired"
    " reihenfolge zeit zeitpunkt datum uhrzeit messzeit ordre heure orden fecha hora ordine ora volgorde tijd",
}
NAMES = {role: frozenset(names.split()) for role, names in _NAMES.items()}
NUMBERINGS = frozenset(
    {"", "no", "nr", "num", "number", "nummer", "numero", "index", "row", "line", "unnamed0", "lfdnr"}
)
CATEGORIES = frozenset(
    {"type", "class", "category", "classlabel", "target", "outcome", "lab", "laboratory", "labor", "operator", "day"}
)
OBJECTS = frozenset({"name", "label", "code"})  # of the rows where no two are alike, else of fragments
_KNOWN = frozenset().union(*NAMES.values(), NUMBERINGS, CATEGORIES, OBJECTS) - {""}

# Compared as `_unit_key` writes them: lower case, no blanks, micro as u, "wt.%" as "wt%".
_CONTENT = {"%", "wt%", "mass%", "w%", "w/w%", "%w/w", "at%", "mol%", "vol%", "ppm", "ppb", "ppt", "ppmw"} | {
    f"{a}/{b}" for a in ("g", "mg", "ug", "ng", "pg") for b in ("kg", "g", "l", "ml", "m3", "cm3")
}
_OTHER_UNITS = (
    "km m cm mm um nm kg g mg ug ng s ms min h k c °c kev ev cps counts au a.u. counts/s j/m2 w v mv a ma hz pa kpa bar"
    " mm2 deg °"
)
_UNITS = _CONTENT.union(_OTHER_UNITS.split())
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


def is_unit(text: str) -> bool:
    """Return whether a text is a known unit of measurement."""
    return _unit_key(text) in _UNITS


def is_content_unit(text: str) -> bool:
    """Return whether a text is a unit of composition, which nothing else is spelt like."""
    return _unit_key(text) in _CONTENT


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
    match = _BRACKETED.fullmatch(name)
    if match and is_unit(match[2]):
        return match[1], match[2].strip()
    match = _TRAILING.fullmatch(name)
    if match and is_content_unit(match[2]):  # without brackets, "Q m" is no metre
        return match[1], match[2]
    return name, ""


def in_unit(name: str, unit: str, headers: Sequence[str]) -> int | None:
    """Return the position of the one header that names a variable in this unit; None if there is none or several.

    >>> in_unit("Na", "ppm", ["K", "Na (ppm)", "Na (wt%)"])
    1
    """
    parts = [split_unit(header) for header in headers] if unit else []
    at = [i for i, (short, own) in enumerate(parts) if short == name and same_unit(own, unit)]
    return at[0] if len(at) == 1 else None


def cell_text(cell: object) -> str:
    """Return a label as text: a whole number without the decimals that a spreadsheet adds.

    >>> cell_text(12.0), cell_text(" F1 "), cell_text(None)
    ('12', 'F1', '')
    """
    if cell is None or (isinstance(cell, float) and cell != cell):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def cell_texts(cells: Column) -> tuple[str, ...]:
    """Return a column of labels as text."""
    try:
        return tuple(map(str.strip, cells))  # anything but str raises, as intended
    except TypeError:
        return tuple(map(cell_text, cells))


def order_values(cells: Column, decimal: str) -> NDArray[np.float64] | None:
    """Return the measurement order as numbers: as they are, or seconds of dates and times; None if they are neither."""
    values, below, reasons = read_cells(cells, decimal)
    if not reasons and not below and np.isfinite(values).all():
        return values
    moments = [_seconds(cell) for cell in cells]
    return None if None in moments else np.array(moments, dtype=np.float64)


def _seconds(cell: object) -> float | None:
    if isinstance(cell, date) and not isinstance(cell, datetime):
        cell = datetime(cell.year, cell.month, cell.day)
    if isinstance(cell, str):
        text = cell.strip()
        german = re.sub(r"^(\d\d?)\.(\d\d?)\.(\d{4})", lambda m: f"{m[3]}-{m[2]:0>2}-{m[1]:0>2}", text)
        try:
            cell = time.fromisoformat(text) if ":" in text[:3] else datetime.fromisoformat(german)
        except ValueError:
            return None
    if isinstance(cell, datetime):
        return (cell.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()
    if isinstance(cell, time):
        return cell.hour * 3600 + cell.minute * 60 + cell.second + cell.microsecond / 1e6
    return None


@dataclass(frozen=True)
class Layout:
    """What each column of a file was taken for."""

    header: list[str]
    roles: list[str]  # of ROLES
    names: list[str]  # the header without its unit
    units: list[str]

    def at(self, role: str) -> list[int]:
        """Return the positions of the columns with a role."""
        return [i for i, taken in enumerate(self.roles) if taken == role]


class _Look:
    """What the first rows of a column hold."""

    def __init__(self, cells: Column, decimal: str):
        values, below, reasons = read_cells(cells, decimal)
        self.numbers = int(np.isfinite(values).sum()) + len(below)
        self.others = len(reasons)
        self.reasons = reasons
        self.empty = self.numbers == 0 and self.others == 0
        self.numeric = self.numbers >= max(self.others, 1)
        self.whole = bool(self.others == 0 and self.numbers == len(values) and (values == np.round(values)).all())
        self._values, self._cells, self._decimal = values, cells, decimal

    def unique(self) -> bool:
        """Return whether every cell is filled and no two are alike."""
        texts = cell_texts(self._cells)
        return all(texts) and len(set(texts)) == len(texts)

    def in_other_mark(self) -> tuple[int, str] | None:
        """Return the first cell of a column that would be one of numbers if the decimal mark were the other."""
        other = _Look(self._cells, "," if self._decimal == "." else ".")
        readable = ((i, reason) for i, reason in self.reasons.items() if i not in other.reasons)
        return next(readable, None) if other.numeric else None

    def like_labels(self) -> bool:
        """Return whether the column numbers something: 1, 2, 3, ... or whole numbers that repeat as labels do."""
        values = self._values
        if not self.whole or len(values) < 4 or not values.any() or np.abs(values).max() > 2**53:
            return False
        steps = np.diff(values)
        if (steps == 1).all():
            return True
        distinct = np.unique(values)
        if 2 * len(distinct) > len(values):
            return False
        gapless = distinct[0] in (0, 1) and distinct[-1] - distinct[0] == len(distinct) - 1
        in_blocks = int((steps != 0).sum()) == len(distinct) - 1
        return bool(gapless or in_blocks)

    def nested_in(self, other: "_Look") -> bool:
        """Return whether every label of this column belongs to one label of the other."""
        pairs = set(zip(cell_texts(self._cells), cell_texts(other._cells), strict=True))
        return len(pairs) == len({own for own, _ in pairs})


def find_layout(
    grid: Grid,
    block: Block | None,
    findings: Findings,
    *,
    roles: Mapping[str, str] = MappingProxyType({}),
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
    roles : mapping of str to str
        Roles given rather than recognised, by column name.
    features : sequence of str or None
        The only columns to measure by.
    expect : sequence of str
        Names that are measurements if present, whatever their cells look like: what the other table measured.
    units : mapping of str to str or None
        The units that `features` are wanted in, where the table has a variable in several.
    decimal : str or None
        The decimal mark if it was given: where it was recognised, a column of numbers with the other one is a problem.
    """
    header = grid.header
    names, own_units = _names_and_units(header)
    layout = Layout(header, ["ignore"] * len(header), names, own_units)
    _check_names(layout, grid.first_row, findings)
    looks = [_Look(column, grid.decimal) for column in block.columns] if block else [_Look([], ".") for _ in header]
    wanted = _find(layout, features, findings, units or {}) if features is not None else []
    given = _given_roles(layout, roles, findings)
    for i in set(given).intersection(wanted):
        if given[i] != "measurement":
            findings.problem(f"the column {quoted(header[i])} is named among the features and as the {given[i]}")
    set_of_expected = set(expect)
    expected = [i for i, name in enumerate(names) if not set_of_expected.isdisjoint((name, tidy(header[i])))]
    taken = dict.fromkeys([*expected, *wanted], "measurement") | given
    recognised = _recognised_labels(layout, looks, block, grid.decimal, taken, findings)
    asked = []
    for i, look in enumerate(looks):
        role = taken.get(i) or recognised.get(i)
        if role is None and look.numeric and features is None:
            role = "measurement"
            if key(names[i]) in CATEGORIES | NUMBERINGS | frozenset().union(*NAMES.values()):
                role = "ignore"
                findings.note(
                    "not used: taken for a label; name it among the features to measure by it", None, header[i]
                )
            elif look.like_labels() and not own_units[i] and not _CHEMICAL.fullmatch(names[i]):
                asked.append(i)
        layout.roles[i] = role or "ignore"
    decimals = any(role == "measurement" and not look.whole for role, look in zip(layout.roles, looks, strict=True))
    for i in asked if decimals and not expect else ():  # what only this table measures is not used
        findings.problem(
            "the whole numbers in this column may be labels or measurements; give its role, such as"
            f" roles={{{header[i]!r}: 'fragment'}}, 'replicate', 'ignore' or 'measurement'",
            None,
            header[i],
            code="label-or-measurement",
        )
    unsure = any(problem.code == "decimal-mark" for problem in findings.problems)  # which mark it is
    if features is None and decimal is None and not unsure:
        _ask_about_marks(layout, looks, given, block, findings)
    _note_roles(layout, looks, block, grid.first_row, given, findings, chosen=features is not None)
    return layout


def _given_roles(layout: Layout, roles: Mapping[str, str], findings: Findings) -> dict[int, str]:
    given: dict[int, str] = {}
    for name, role in roles.items():
        if role not in ROLES:
            raise ValueError(f"roles={{{name!r}: {role!r}}}: a role is one of {', '.join(ROLES)}")
        for i in _find(layout, [name], findings, role=role):
            given[i] = role
    for role, times in Counter(given.values()).items():
        if times > 1 and role not in ("measurement", "ignore"):
            columns = _listed(quoted(layout.header[i]) for i in given if given[i] == role)
            findings.problem(f"the columns {columns} are all given as the {role}; only one can be", code="role-twice")
    return given


def _recognised_labels(
    layout: Layout,
    looks: list[_Look],
    block: Block | None,
    decimal: str,
    taken: Mapping[int, str],
    findings: Findings,
) -> dict[int, str]:
    """Recognise labels and order among the columns without a role, by name, then by content."""
    keys = [key(name) for name in layout.names]
    free = [i for i, look in enumerate(looks) if i not in taken and not look.empty]
    found: dict[int, str] = {}

    def named(role: str) -> list[int]:
        return [i for i in free if keys[i] in NAMES[role] and i not in found]

    for role in ("id", "fragment", "source", "replicate"):
        columns = named(role)
        if role in taken.values() or not columns:
            continue
        first, *others = columns
        if role == "fragment" and others and "source" not in taken.values() and not named("source"):
            # sample, fragment: the column whose labels contain the other's is the source
            outer = [i for i in columns if looks[first].nested_in(looks[i]) and not looks[i].nested_in(looks[first])]
            inner = [i for i in columns if looks[i].nested_in(looks[first]) and not looks[first].nested_in(looks[i])]
            if outer:
                found[outer[0]] = "source"
            elif inner:
                found[first], first = "source", inner[0]
        found[first] = role
    for i in named("order"):
        ordered = block is not None and order_values(block.columns[i], decimal) is not None
        if ordered and "order" not in {*taken.values(), *found.values()}:
            found[i] = "order"
    levels = {*taken.values(), *found.values()}
    sources = [i for i, role in found.items() if role == "source"]
    if sources and keys[sources[0]] == "item" and levels.isdisjoint(("id", "fragment", "replicate")):
        found[sources[0]] = "fragment" if looks[sources[0]].unique() else "source"
    if "id" not in levels:
        found |= _unnamed_id(free, keys, looks, found)
    if "fragment" not in {*taken.values(), *found.values()}:
        for i in free:
            if keys[i] in OBJECTS and i not in found and (looks[i].whole or looks[i].others):
                found[i] = "fragment"  # not unique, or it would be the id: the same object measured again
                break
    return found


def _unnamed_id(free: list[int], keys: list[str], looks: list[_Look], found: Mapping[int, str]) -> dict[int, str]:
    for names in (OBJECTS, NUMBERINGS):
        for i in free:
            if i not in found and keys[i] in names and (looks[i].whole or looks[i].others) and looks[i].unique():
                return {i: "id"}
    words = free[:1] == [0] and looks[0].others and not looks[0].numeric and keys[0] not in CATEGORIES
    return {0: "id"} if words and 0 not in found and looks[0].unique() else {}


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
    layout: Layout,
    wanted: Sequence[str],
    findings: Findings,
    units: Mapping[str, str] = MappingProxyType({}),
    role: str = "measurement",
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
        if role == "ignore":
            continue
        there = [n for n in layout.names if n]
        lower = {n.casefold(): n for n in there[:200] if len(n) <= 60}  # comparing is slow
        close = [lower[k] for k in difflib.get_close_matches(plain[:60].casefold(), lower, 1)]
        hint = f"did you mean {quoted(close[0])}?" if close else f"there are {_listed(map(quoted, there[:12]))}"
        code = "no-such-column" if role == "measurement" else "no-such-label-column"
        findings.problem(f"there is no column {quoted(name)}; {hint}", code=code)
    for at in (at for at, times in Counter(found).items() if times > 1):
        findings.problem(f"the column {quoted(layout.header[at])} is named twice among the features")
    return found


def _ask_about_marks(
    layout: Layout, looks: list[_Look], given: Mapping[int, str], block: Block | None, findings: Findings
) -> None:
    """Report what may be measurements in another decimal mark than the file's: setting them aside would lose them."""
    for i in layout.at("ignore"):
        if i in given or looks[i].numeric or looks[i].empty or block is None:
            continue
        found = looks[i].in_other_mark()
        if found:
            at, reason = found
            findings.problem(f"{reason}; {NO_MEASUREMENT}", int(block.rows[at]), layout.header[i])


NO_MEASUREMENT = "if the column is no measurement, name the features to use"  # the page says it in its own words


def _note_roles(
    layout: Layout,
    looks: list[_Look],
    block: Block | None,
    first_row: int,
    given: Mapping[int, str],
    findings: Findings,
    *,
    chosen: bool,
) -> None:
    for number, (name, role, look) in enumerate(zip(layout.header, layout.roles, looks, strict=True), start=1):
        if not name and role != "id" and not look.empty:
            findings.problem(f"column {number} has values but no name in the header", first_row)
    for i, (name, role, unit, look) in enumerate(zip(layout.header, layout.roles, layout.units, looks, strict=True)):
        if role == "ignore" and look.empty and name:
            findings.note("not used: the column is empty", None, name)
        elif role == "ignore" and i not in given and not look.numeric and not look.empty:
            at, reason = next(iter(look.reasons.items()), (0, "no numbers"))
            row = int(block.rows[at]) if block is not None and look.reasons else None
            kind = f"{look.others} of its {look.others + look.numbers} values are not numbers, the first: {reason}"
            findings.note(f"not used as a variable: {kind}", row, name)
        elif role not in ("measurement", "ignore"):
            findings.note(f"taken for the {role}", None, name)
        elif role == "measurement" and unit:
            findings.note(f"unit {quoted(unit)}", None, name)


def is_unit_row(block: Block) -> bool:
    """Return whether the first row below the header holds the units."""
    filled = [cell for cell in (cell_text(column[0]) for column in block.columns) if cell not in ("", "-")]
    # "A" alone may be an ampere or an object: it takes a unit of composition, and most columns, to be sure
    return 2 * len(filled) >= len(block.columns) - 1 and any(map(is_content_unit, filled)) and all(map(is_unit, filled))


def _listed(items: Iterable[object]) -> str:
    *head, last = [str(item) for item in items] or [""]
    return f"{', '.join(head)} and {last}" if head else last
