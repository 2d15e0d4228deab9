"""What a column's name says: the variable, its unit, and whether it is a variable at all."""

import re
import unicodedata
from collections.abc import Sequence

# Written as they are compared: lower case, no blanks, micro as u, "wt.%" as "wt%".
_CONTENT = {"%", "wt%", "mass%", "w%", "w/w%", "%w/w", "at%", "mol%", "vol%", "ppm", "ppb", "ppt", "ppmw"}
_RATIO = {f"{a}/{b}" for a in ("g", "mg", "ug", "ng", "pg") for b in ("kg", "g", "l", "ml", "m3", "cm3")}
_OTHER = {
    "km",
    "m",
    "cm",
    "mm",
    "um",
    "nm",
    "kg",
    "g",
    "mg",
    "ug",
    "ng",
    "s",
    "ms",
    "min",
    "h",
    "k",
    "c",
    "°c",
    "kev",
    "ev",
}
_OTHER |= {
    "cps",
    "counts",
    "au",
    "a.u.",
    "counts/s",
    "j/m2",
    "w",
    "v",
    "mv",
    "a",
    "ma",
    "hz",
    "pa",
    "kpa",
    "bar",
    "mm2",
    "deg",
    "°",
}

_BRACKETED = re.compile(r"(.*\S)\s*[(\[]([^()\[\]]+)[)\]]")
_TRAILING = re.compile(r"(.*[^\s_,;/])[\s_,;/]+(\S+(?: %)?)")

# Names as compared by `key`: lower case, letters and digits only.
IDS = {
    "id",
    "ids",
    "identifier",
    "uid",
    "uuid",
    "barcode",
    "sampleid",
    "objectid",
    "fragmentid",
    "specimenid",
    "exhibitid",
}
OBJECTS = {
    "sample",
    "object",
    "fragment",
    "specimen",
    "exhibit",
    "particle",
    "item",
    "name",
    "label",
    "code",
    "samplename",
}
NUMBERINGS = {"", "no", "nr", "num", "number", "index", "row", "unnamed0"}  # not "n", which is nitrogen
SOURCES = {"source", "sourceid", "item", "itemid", "group", "groupid", "pane", "window", "origin", "batch", "donor"}
REPLICATES = {"replicate", "replicateid", "rep", "repeat", "piece", "measurement", "run", "aliquot", "spot", "shot"}
LABELS = {"type", "class", "category", "classlabel", "target", "outcome"}


def tidy(header: str) -> str:
    """Bring a header to one spelling: composed characters, single blanks."""
    return " ".join(unicodedata.normalize("NFC", header).split())


def key(header: str) -> str:
    """Reduce a header to what names are compared by.

    >>> key("Sample-ID"), key("Fragment No.")
    ('sampleid', 'fragment')
    """
    plain = "".join(c for c in header.casefold() if c.isalnum())
    numbered = re.sub(r"(no|nr|num|number)$", "", plain)
    return numbered if numbered in OBJECTS | SOURCES | REPLICATES else plain


def _unit_key(unit: str) -> str:
    plain = unit.casefold().replace("µ", "u").replace("μ", "u").replace("³", "3").replace("²", "2").replace(" ", "")
    return re.sub(r"^(wt|at|mol|mass|vol)\.?-?(%|percent|pct)$", r"\1%", plain)


def is_unit(text: str) -> bool:
    """Tell whether a text is a unit of measurement known here."""
    return _unit_key(text) in _CONTENT | _RATIO | _OTHER


def is_content_unit(text: str) -> bool:
    """Tell whether a text is a unit of composition, which nothing else is spelt like."""
    return _unit_key(text) in _CONTENT | _RATIO


def same_unit(one: str, other: str) -> bool:
    """Tell whether two spellings mean the same unit: µg/g and ug/g, wt% and wt.%."""
    return _unit_key(one) == _unit_key(other)


def split_unit(header: str) -> tuple[str, str]:
    """Part a header into the variable's name and its unit, "" where it has none.

    >>> split_unit("Na (wt%)"), split_unit("Sr [µg/g]"), split_unit("Zr_ppm"), split_unit("RI (D line)")
    (('Na', 'wt%'), ('Sr', 'µg/g'), ('Zr', 'ppm'), ('RI (D line)', ''))
    """
    name = tidy(header)
    if len(name) > 200:  # no name of a variable, and slow work for the patterns below
        return name, ""
    match = _BRACKETED.fullmatch(name)
    if match and is_unit(match[2]):
        return match[1], match[2].strip()
    match = _TRAILING.fullmatch(name)
    if match and is_content_unit(match[2]):  # without brackets, "Q m" is no metre
        return match[1], match[2]
    return name, ""


def in_unit(name: str, unit: str, headers: Sequence[str]) -> int | None:
    """Find the one header that names a variable in this unit; None where there is none, or more than one.

    >>> in_unit("Na", "ppm", ["K", "Na (ppm)", "Na (wt%)"])
    1
    """
    parts = [split_unit(header) for header in headers] if unit else []
    at = [i for i, (short, own) in enumerate(parts) if short == name and same_unit(own, unit)]
    return at[0] if len(at) == 1 else None
