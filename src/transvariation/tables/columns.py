"""Recognise what each column of a table is: a label, an order or a measurement, and in which unit."""

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

import numpy as np

from transvariation.tables.cells import Column, cell_text, explain, order_values, other_mark, read_cells
from transvariation.tables.grid import Block, Grid
from transvariation.tables.problems import Problems
from transvariation.tables.settings import ROLES

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
    "replicate": "replicate rep repl wdh wdhlg repeat repetition meas measurement run aliquot spot shot"
    " messung wiederholung messpunkt lauf replicat mesure replica medida medicion repeticion misura ripetizione"
    " meting herhaling",
    "order": "order sequence seq runorder measurementorder acquisitionorder time date datetime timestamp acquired"
    " reihenfolge zeit zeitpunkt datum uhrzeit messzeit ordre heure orden fecha hora ordine ora volgorde tijd",
    "numbering": "no nr num number nummer numero index row line unnamed0 lfdnr",
    "category": "type class category classlabel target outcome lab laboratory labor operator day",
    "supplier": "supplier producer manufacturer vendor brand farm lieferant hersteller erzeuger fournisseur fabricant",
    "object": "name label code",  # of the rows where no two are alike, else of fragments
}
NAMES = {role: frozenset(names.split()) for role, names in _NAMES.items()}
_KNOWN = frozenset().union(*NAMES.values())
_CLASS_NAMES = {"label", "name", "code", "origin", "group", "herkunft", "origine", "origen"}
MIN_POSITIONS = 20  # columns named by numbers: fewer are no spectrum
MIN_PER_CLASS = 10  # spectra: of fewer, a label may name a sample that was measured again

# Compared as `_unit_key` writes them: lower case, no blanks, micro as u, "wt.%" as "wt%".
_CONTENT = {"%", "wt%", "mass%", "w%", "w/w%", "%w/w", "at%", "mol%", "vol%", "ppm", "ppb", "ppt", "ppmw"} | {
    f"{a}/{b}" for a in ("g", "mg", "ug", "ng", "pg") for b in ("kg", "g", "l", "ml", "m3", "cm3")
}
_OTHER = (
    "km m cm mm um nm mm2 kg g mg ug ng s ms min h deg ° k c °c kev ev cps counts counts/s au a.u. j/m2 w v mv a ma"
)
_UNITS = _CONTENT.union(f"{_OTHER} hz pa kpa bar".split())
_UNIT_LETTERS = str.maketrans("µμ³²", "uu32", " ")
_BRACKETED = re.compile(r"(.*\S)\s*[(\[]([^()\[\]]+)[)\]]")
_TRAILING = re.compile(r"(.*[^\s_,;/])[\s_,;/]+(\S+(?: %)?)")

_ELEMENTS = (
    "He|Li|Be|Ne|Na|Mg|Al|Si|Cl|Ar|Ca|Sc|Ti|Cr|Mn|Fe|Co|Ni|Cu|Zn|Ga|Ge|As|Se|Br|Kr|Rb|Sr|Zr|Nb|Mo|Ru|Rh|Pd|Ag|Cd|In|Sn"
    "|Sb|Te|Xe|Cs|Ba|La|Ce|Pr|Nd|Sm|Eu|Gd|Tb|Dy|Ho|Er|Tm|Yb|Lu|Hf|Ta|Re|Os|Ir|Pt|Au|Hg|Tl|Pb|Bi|Th"
    "|H|B|C|N|O|F|P|S|K|V|Y|I|W|U"
)
_ISOTOPE = re.compile(rf"({_ELEMENTS})[-_ ]?\d{{0,3}}|\d{{1,3}}[-_ ]?({_ELEMENTS})")
_POSITION = re.compile(r"[-+]?\d{1,12}([.,]\d{1,12})?", re.ASCII)
# What follows the name of a variable in the column of its uncertainty or detection limit, as Iolite, GLITTER and others
# write it: Al_Int2SE, Al_ppm_2SD, Al 1s, Al_LOD.
_UNCERTAINTY = re.compile(
    r"(?:int|prop)?[12]?(?:se|sd|sem|sigma|rsd|err|error|unc|uncertainty|stdev|stderr)%?|[12]s|lod|loq|dl|mdl|±|\+/-",
    re.IGNORECASE,
)
_CHEMICAL = re.compile(rf"(log)?\d{{0,3}}((?:{_ELEMENTS})\d{{0,3}})+|RI|n[Dd]")


def is_chemical(name: str) -> bool:
    """Return whether a name is that of an element, an isotope, an oxide or the refractive index.

    A letter and a number, such as F1 or K12, more often name an object.
    """
    return _CHEMICAL.fullmatch(name) is not None and not re.fullmatch(r"[A-Z]\d+", name)


def is_label_name(header: str) -> bool:
    """Return whether a header is one of labels or of an order, and not of measurements."""
    return key(header) in _KNOWN


def is_unit(text: str) -> bool:
    """Return whether a text is a unit of composition, such as ppm."""
    return _unit_key(text) in _CONTENT


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
    plain = unit.casefold().translate(_UNIT_LETTERS)
    return re.sub(r"^(wt|at|mol|mass|vol)\.?-?(%|percent|pct)$", r"\1%", plain)


_SAME_UNITS = {
    name: names.split()[0]
    for names in ("ppm ppmw ug/g mg/kg g/t", "ppb ng/g ug/kg mg/t", "wt% mass% w% w/w% %w/w")
    for name in names.split()
}


def same_unit(one: str, other: str) -> bool:
    """Return whether two spellings mean the same unit: µg/g and ug/g, wt% and wt.%, ppm and mg/kg."""
    first, second = (_unit_key(unit) for unit in (one, other))
    return _SAME_UNITS.get(first, first) == _SAME_UNITS.get(second, second)


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


def locate(
    wanted: Sequence[str], headers: Sequence[str], units: Mapping[str, str] = MappingProxyType({})
) -> list[int | None]:
    """Return the positions of variables among the columns, None where one is not there.

    A variable is named with its unit, which the column must then have or leave open, or without; `units` are those
    wanted by variables named without. Of several columns it is the one in the very unit. A variable that no column
    names may be there under another name for the same: see `_by_meaning`.
    """
    columns: dict[str, list[tuple[int, str]]] = {}
    for i, (name, unit) in enumerate(map(split_unit, headers)):
        columns.setdefault(name, []).append((i, unit))
    places = {tidy(header): i for i, header in enumerate(headers)}
    others = _by_meaning(columns, {split_unit(name)[0] for name in wanted})

    def position(wanted: str) -> int | None:
        name, own = split_unit(wanted)
        unit = own or units.get(wanted, "")
        found = columns.get(others.get(name, name), [])
        same = [i for i, other in found if _unit_key(other) == _unit_key(unit)]
        same = same or [i for i, other in found if same_unit(other, unit)]
        open_to = [i for i, other in found if not own or not other or same_unit(other, unit)]
        return next((each[0] for each in (same, open_to) if len(each) == 1), places.get(tidy(wanted)))

    return [position(name) for name in wanted]


def _by_meaning(columns: Iterable[str], wanted: Iterable[str]) -> dict[str, str]:
    """Return what columns call variables of another name: Al27 for Al or 27Al, 1100.0 for 1100.

    An element that several columns or variables have, as isotopes, is not matched.
    """
    there, here = set(columns), set(wanted)
    groups: dict[object, tuple[list[str], list[str]]] = {}
    for names, at in ((here, 0), (there, 1)):
        for name in names:
            if (meaning := _meaning(name)) is not None:
                groups.setdefault(meaning, ([], []))[at].append(name)
    found = {}
    for own, other in groups.values():
        if len(own) == len(other) == 1 and own != other:
            numbers = {number for name in (own[0], other[0]) for number in re.findall(r"\d+", name)}
            if isinstance(_meaning(own[0]), float) or len(numbers) < 2:  # not Mg24 for Mg25
                found[own[0]] = other[0]
    return found


def _meaning(name: str) -> object:
    """Return the element that a name stands for, or the position in a spectrum; None if it is neither."""
    if isotope := _ISOTOPE.fullmatch(name):
        return isotope[1] or isotope[2]
    return position_of(name)


def position_of(name: str) -> float | None:
    """Return the number that a name is, such as a wavelength; None if it is none."""
    return float(name.replace(",", ".")) if _POSITION.fullmatch(name) else None


def similar(name: str, others: Sequence[str], cutoff: float = 0.6) -> str:
    """Return the name most like this one, "" if none is; sought among a few short names, as comparing is slow."""
    lower = {other.casefold(): other for other in others[:200] if len(other) <= 60}
    close = difflib.get_close_matches(name[:60].casefold(), lower, 1, cutoff)
    return lower[close[0]] if close else ""


class TableColumn:
    """A column: its name and unit, what the cells of the first rows look like, and its role."""

    def __init__(self, number: int, header: str, cells: Column, decimal: str):
        self.number, self.header, self.cells, self._decimal = number, header, cells, decimal
        self.name, self.unit = split_unit(header)
        self.key = key(self.name)
        self.role = ""  # of ROLES, "" until it is decided
        self.given = False  # whether the role was given rather than recognised
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

    `roles` are given rather than recognised, `features` the only columns to measure by, and `units` those they are
    wanted in. `expect` are measurements if present, whatever their cells look like: what the other table measured.
    """
    problems = grid.problems
    cells = enumerate(zip(grid.header, block.columns, strict=True), 1)
    columns = [TableColumn(i, header, column, grid.decimal) for i, (header, column) in cells]
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
    _recognise_labels(columns, grid.decimal, problems)
    if features is None:
        _set_aside_uncertainties(columns, problems)
        _check_orientation(columns, problems)
    unsure = []
    for column in columns:
        if not column.role and column.numeric and features is None:
            if column.unit or (column.key and column.key not in _KNOWN):
                column.role = "measurement"
                if column.like_labels() and not column.unit and not _CHEMICAL.fullmatch(column.name):
                    unsure.append(column)
            elif column.name:
                problems.note("unused-label", None, column.header)
        column.role = column.role or "ignore"
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
    """Report a table whose rows are the variables."""
    if len(columns) < 3 or any(_CHEMICAL.fullmatch(column.name) for column in columns):
        return
    labels = columns[0].labels
    variables = [label for label in labels if is_chemical(split_unit(label)[0])]
    long = [label for label in variables if len(label) > 1]  # K and B may be objects
    if 2 * len(long) >= len(labels) >= 3 and len(set(variables)) == len(variables) >= 0.8 * len(labels):
        objects = [column.header for column in columns[1:5]]
        problems.add("transposed", None, columns[0].header or None, names=variables[:4], objects=objects)


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
        if role not in ROLES:
            raise ValueError(f"roles={{{name!r}: {role!r}}}: a role is one of {', '.join(ROLES)}")
        for column in _find(columns, [name], role, problems):
            column.role, column.given = role, True
    for role in ("id", *LEVELS, "order"):
        headers = [column.header for column in columns if column.role == role]
        if len(headers) > 1:
            problems.add("role-twice", columns=headers, role=role)


def _recognise_labels(columns: list[TableColumn], decimal: str, problems: Problems) -> None:
    """Recognise labels and order among the columns without a role, by name, then by content."""
    free = [column for column in columns if not column.role and not column.empty]
    taken = {column.role for column in columns}
    free = _without_classes(free, columns, problems)
    # what has a unit is measured: "Charge (mV)" is no batch
    named = {role: [column for column in free if column.key in NAMES[role] and not column.unit] for role in NAMES}
    found: dict[str, TableColumn] = {}  # by role: a column has one, and each role one column
    for role in ("id", *LEVELS):
        alike = named[role]
        if alike and role not in taken:
            inner = [column for column in alike if all(map(column.determines, alike))]
            if not inner and role in ("source", "fragment"):  # batch and pane, with pane 1 in each batch
                problems.add("several-labels", columns=[column.header for column in alike], role=role)
            found[role] = (inner or alike)[0]
    if "fragment" in found and "source" not in {*found, *taken}:
        outer = [column for column in named["fragment"] if not column.determines(found["fragment"])]
        if outer:
            found["source"] = outer[0]  # sample and fragment
    for column in named["order"] if "order" not in taken else ():
        if np.isfinite(order_values(column.cells, decimal)).all():
            found.setdefault("order", column)
    levels, source = {*found, *taken}, found.get("source")
    if source and source.key == "item" and source.may_name() and levels.isdisjoint(("id", "fragment", "replicate")):
        found["fragment"] = found.pop("source")  # each item was measured once
    free = [column for column in free if column not in found.values()]
    objects = [column for column in free if column.key in NAMES["object"]]
    if "id" not in levels:
        numbering = [column for column in free if not column.key or column.key in NAMES["numbering"]]
        words = [c for c in free[:1] if c.number == 1 and not c.numeric and c.key not in NAMES["category"]]
        unique = [column for column in objects + numbering + words if column.may_name()]
        if unique:
            found["id"] = unique[0]
    repeated = [column for column in objects if column is not found.get("id") and (column.whole or column.faults)]
    if repeated and "fragment" not in {*found, *taken}:
        found["fragment"] = repeated[0]  # the same object measured again
    for role, column in found.items():
        column.role = role
    if "fragment" in found and "source" not in {*found, *taken}:
        _check_nesting(found["fragment"], [column for column in named["supplier"] if not column.role], problems)


def _check_nesting(fragment: TableColumn, suppliers: list[TableColumn], problems: Problems) -> None:
    """Report a column of suppliers that number their samples each for itself."""
    for column in suppliers:
        if not fragment.determines(column):
            labels: dict[str, dict[str, None]] = {}
            for own, label in zip(fragment.labels, column.labels, strict=True):
                labels.setdefault(own, {})[label] = None
            value, several = next((own, found) for own, found in labels.items() if len(found) > 1)
            said = {"inner": fragment.header, "value": value, "labels": list(several)[:3]}
            problems.add("nested-labels", None, column.header, remedy="give-role", **said)


def _without_classes(free: list[TableColumn], columns: list[TableColumn], problems: Problems) -> list[TableColumn]:
    """Set aside columns with a few labels beside many spectra: these are classes, not samples measured again."""
    if sum(_POSITION.fullmatch(column.name) is not None for column in columns) < MIN_POSITIONS:
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

    "A" may be the ampere or an object: a row of units needs units of composition in most columns. "-" is not a unit.
    """
    if all(column.dtype != object for column in block.columns):  # numbers only
        return block
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
    return block.keep(slice(1, None))
