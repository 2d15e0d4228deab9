"""What the header of a column says: the name of a variable or a label, its unit, a position in a spectrum."""

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

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
NAMES_BY_ROLE = {role: frozenset(names.split()) for role, names in _NAMES.items()}
KNOWN_NAMES = frozenset().union(*NAMES_BY_ROLE.values())
MIN_POSITIONS = 20  # columns named by numbers: fewer are no spectrum

# Compared as `unit_key` writes them: lower case, no blanks, micro as u, "wt.%" as "wt%".
CONTENT_UNITS = {"%", "wt%", "mass%", "w%", "w/w%", "%w/w", "at%", "mol%", "vol%", "ppm", "ppb", "ppt", "ppmw"} | {
    f"{a}/{b}" for a in ("g", "mg", "ug", "ng", "pg") for b in ("kg", "g", "l", "ml", "m3", "cm3")
}
_OTHER = "km m cm mm um nm cm-1 mm2 kg g mg ug ng s ms min h deg ° k c °c kev ev cps counts counts/s au a.u. j/m2"
KNOWN_UNITS = CONTENT_UNITS.union(f"{_OTHER} w v mv a ma hz pa kpa bar".split())
_UNIT_LETTERS = str.maketrans("µμ³²¹⁻", "uu321-", " ^")
_BRACKETED = re.compile(r"(.*\S)\s*[(\[]([^()\[\]]+)[)\]]")
_TRAILING = re.compile(r"(.*[^\s_,;/])[\s_,;/]+(\S+(?: %)?)")

_ELEMENTS = (
    "He|Li|Be|Ne|Na|Mg|Al|Si|Cl|Ar|Ca|Sc|Ti|Cr|Mn|Fe|Co|Ni|Cu|Zn|Ga|Ge|As|Se|Br|Kr|Rb|Sr|Zr|Nb|Mo|Ru|Rh|Pd|Ag|Cd|In|Sn"
    "|Sb|Te|Xe|Cs|Ba|La|Ce|Pr|Nd|Sm|Eu|Gd|Tb|Dy|Ho|Er|Tm|Yb|Lu|Hf|Ta|Re|Os|Ir|Pt|Au|Hg|Tl|Pb|Bi|Th"
    "|H|B|C|N|O|F|P|S|K|V|Y|I|W|U"
)
_ISOTOPE = re.compile(rf"({_ELEMENTS})[-_ ]?\d{{0,3}}|\d{{1,3}}[-_ ]?({_ELEMENTS})")
_POSITION = re.compile(r"[-+]?\d{1,12}([.,]\d{1,12})?", re.ASCII)
CHEMICAL = re.compile(rf"(log)?\d{{0,3}}((?:{_ELEMENTS})\d{{0,3}})+|RI|n[Dd]")


def is_chemical(name: str) -> bool:
    """Return whether a name is that of an element, an isotope, an oxide or the refractive index.

    A letter and a number, such as F1 or K12, more often name a sample, and so do several, such as P1F3, except an
    oxide, such as P2O5.
    """
    return CHEMICAL.fullmatch(name) is not None and not re.fullmatch(r"[A-Z]\d+([A-NP-Z]\d+)*", name)


def is_label_name(header: str) -> bool:
    """Return whether a header is one of labels or of an order, and not of measurements."""
    return key(header) in KNOWN_NAMES


def is_unit(text: str) -> bool:
    """Return whether a text is a unit of composition, such as ppm."""
    return unit_key(text) in CONTENT_UNITS


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
    return short if short in KNOWN_NAMES else plain


def unit_key(unit: str) -> str:
    """Reduce a unit to what units are compared by: lower case, no blanks, micro as u."""
    plain = unit.casefold().translate(_UNIT_LETTERS)
    return re.sub(r"^(wt|at|mol|mass|vol)\.?-?(%|percent|pct)$", r"\1%", plain)


_SAME_UNITS = {
    name: names.split()[0]
    for names in ("ppm ppmw ug/g mg/kg g/t", "ppb ng/g ug/kg mg/t", "wt% mass% w% w/w% %w/w")
    for name in names.split()
}


def same_unit(one: str, other: str) -> bool:
    """Return whether two spellings mean the same unit: µg/g and ug/g, wt% and wt.%, ppm and mg/kg."""
    first, second = (unit_key(unit) for unit in (one, other))
    return _SAME_UNITS.get(first, first) == _SAME_UNITS.get(second, second)


def split_unit(header: str) -> tuple[str, str]:
    """Split a header into the variable's name and its unit, "" where it has none.

    >>> split_unit("Na (wt%)"), split_unit("Sr [µg/g]"), split_unit("Zr_ppm"), split_unit("RI (D line)")
    (('Na', 'wt%'), ('Sr', 'µg/g'), ('Zr', 'ppm'), ('RI (D line)', ''))
    """
    name = tidy(header)
    if len(name) > 200:  # no name of a variable, and slow to match
        return name, ""
    # without brackets, only units of composition count: "Q m" is no meter
    for pattern, units in ((_BRACKETED, KNOWN_UNITS), (_TRAILING, CONTENT_UNITS)):
        match = pattern.fullmatch(name)
        if match and unit_key(match[2]) in units:
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
        same = [i for i, other in found if unit_key(other) == unit_key(unit)]
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
