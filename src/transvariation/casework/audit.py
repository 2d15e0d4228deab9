"""Recompute a saved case from its tables and name every difference."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transvariation.casework.errors import CaseError
from transvariation.casework.judging import judge
from transvariation.casework.reading import NFI
from transvariation.casework.result import CaseResult
from transvariation.casework.settings import TABLES
from transvariation.provenance import provenance

IGNORED = ("provenance", "schema")
TOLERANCE = 1e-9  # relative, of numbers: what another processor may round differently


@dataclass(frozen=True)
class TableFound:
    """A table that a case names.

    Attributes
    ----------
    table : str
        ``"control"``, ``"recovered"``, ``"background"`` or ``"foreign"``.
    file : str
        As the case names it.
    state : {"same", "changed", "missing"}
        Whether the file has the SHA-256 that the case states.
    """

    table: str
    file: str
    state: str


@dataclass(frozen=True)
class Verification:
    """The comparison of a saved case with a recomputation.

    Attributes
    ----------
    tables : tuple of TableFound
        The tables that the case names.
    differences : tuple of str
        Where the recomputed case differs, with both values.
    versions : tuple of str
        Versions of software that differ, with both.
    recomputed : bool
        Whether all tables were there and unchanged, so that the case could be recomputed.
    """

    tables: tuple[TableFound, ...]
    differences: tuple[str, ...]
    versions: tuple[str, ...]
    recomputed: bool

    @property
    def confirmed(self) -> bool:
        """Whether the case was recomputed with the same result."""
        return self.recomputed and not self.differences


def read_case_file(path: str | Path) -> CaseResult:
    """Read a case from its JSON file.

    Parameters
    ----------
    path : path
        The file that ``judge --json`` wrote.

    Returns
    -------
    CaseResult
    """
    try:
        return CaseResult.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CaseError("not-a-case", file=path, reason=error) from None


def verify(
    path: str | Path, *, folder: str | Path | None = None, progress: Callable[[str, float | None], None] | None = None
) -> Verification:
    """Recompute a saved case from the tables that it names.

    Parameters
    ----------
    path : path
        The JSON file of the case.
    folder : path, optional
        Where the tables are; by default they are sought as they were named, and beside the JSON file.
    progress : callable, optional
        See :func:`transvariation.casework.judge`.

    Returns
    -------
    Verification

    See Also
    --------
    transvariation.casework.judge : Judge a case.
    """
    saved = read_case_file(path)
    tables: list[TableFound] = []
    sources: dict[str, Any] = {}
    for which in TABLES:
        if (given := getattr(saved.inputs, which)) is None:
            continue
        name = str(given["file"])
        if which == "background" and not given["sha256"]:
            sources[which], state = NFI, "same"
        else:
            own = Path(name).name
            files = [Path(folder) / own] if folder is not None else [Path(name), Path(path).parent / own]
            file = next((file for file in files if file.is_file()), None)
            if file is None:
                state = "missing"
            else:
                same = hashlib.sha256(file.read_bytes()).hexdigest() == given["sha256"]
                sources[which], state = file, "same" if same else "changed"
        tables.append(TableFound(which, name, state))
    versions = tuple(_versions(saved.provenance, provenance("transvariation verify")))
    if any(table.state != "same" for table in tables):
        return Verification(tuple(tables), (), versions, recomputed=False)
    again = judge(**sources, settings=saved.settings, progress=progress)
    one, two = (json.loads(each.to_json()) for each in (saved, again))
    return Verification(tuple(tables), tuple(_differences(one, two, "")), versions, recomputed=True)


def _versions(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in before:
        if name in now and name not in ("command", "seed", "date") and str(before[name]) != str(now[name]):
            yield f"{name}: {before[name]} then, {now[name]} now"


def _differences(one: Any, two: Any, where: str) -> Iterator[str]:
    """Walk through two JSON values and name the places where they differ."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in {**one, **two}:
            if key in IGNORED or (key == "file" and ".inputs." in where):
                continue  # the same file, elsewhere
            if key not in one or key not in two:
                yield f"{where}.{key}: only in the {'saved' if key in one else 'recomputed'} case"
            else:
                yield from _differences(one[key], two[key], f"{where}.{key}")
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for i, (a, b) in enumerate(zip(one, two, strict=True)):
            yield from _differences(a, b, f"{where}[{i}]")
    elif isinstance(one, float) and isinstance(two, int | float) and not isinstance(two, bool):
        if not math.isclose(one, two, rel_tol=TOLERANCE, abs_tol=1e-12):
            yield f"{where}: {one!r} saved, {two!r} recomputed"
    elif one != two:
        yield f"{where}: {one!r} saved, {two!r} recomputed"
