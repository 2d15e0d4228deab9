"""Recompute a saved case from its tables and name every difference."""

import hashlib
import io
import json
import math
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from transvariation import __version__
from transvariation._typing import Fields
from transvariation.casework.errors import CaseError
from transvariation.casework.judging import judge
from transvariation.casework.model_file import fit_model
from transvariation.casework.progress import Progress
from transvariation.casework.reading import NFI
from transvariation.casework.result import CaseResult
from transvariation.casework.settings import TABLES_OF_CASE, CaseSettings
from transvariation.model_archive import HEADER
from transvariation.persistence import load, read_about
from transvariation.provenance import provenance

IGNORED = ("provenance", "schema")
RELATIVE_TOLERANCE = 1e-9  # relative, of numbers: what another processor may round differently


@dataclass(frozen=True)
class TableFound:
    """A table that a case names."""

    table: str  # control, recovered, background or foreign
    file: str  # as the case names it
    state: str  # same, changed or missing: whether the file has the SHA-256 that the case states


@dataclass(frozen=True)
class Difference:
    """A place where a saved and a recomputed case or model differ; `transvariation.report.wording` puts it in words."""

    place: str  # a path into the JSON file, a file in a model, or the name of a software
    saved: str | None  # what is there, None if nothing is; of an array, the first value that differs, or its kind
    recomputed: str | None
    n: int = 1  # how many values of an array differ
    of: int = 1  # how many it has


@dataclass(frozen=True)
class Verification:
    """The comparison of a saved case with a recomputation.

    Attributes
    ----------
    tables : tuple of TableFound
        The tables that the case names.
    differences, versions : tuple of Difference
        Where the recomputed case differs, and which software has another version.
    recomputed : bool
        Whether all tables were there and unchanged, so that the case could be recomputed.
    sha256 : str
        Of the whole model, where a model was verified.
    """

    tables: tuple[TableFound, ...]
    differences: tuple[Difference, ...]
    versions: tuple[Difference, ...]
    recomputed: bool
    sha256: str = ""

    @property
    def confirmed(self) -> bool:
        """Whether the case was recomputed with the same result."""
        return self.recomputed and not self.differences


def read_case_file(path: str | Path) -> CaseResult:
    """Read a case from the JSON file that ``judge --json`` wrote."""
    with case_errors(path, ValueError):
        return CaseResult.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))


@contextmanager
def case_errors(path: str | Path, *more: type[Exception]) -> Iterator[None]:
    """Say that a file is not a case, where what it holds leads to errors of types, or to those given."""
    kinds: tuple[type[Exception], ...] = (LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
    try:
        yield
    except CaseError:
        raise
    except kinds + more as error:
        raise CaseError("not-a-case", file=path, reason=error) from error


def verify(path: str | Path, *, folder: str | Path | None = None, progress: Progress | None = None) -> Verification:
    """Recompute a saved case, or a model that `fit` wrote, from the tables that it names.

    Parameters
    ----------
    path : path
        The JSON file of the case, or the model file.
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
    if zipfile.is_zipfile(path):
        return _verify_model(Path(path), folder)
    saved = read_case_file(path)
    tables: list[TableFound] = []
    sources: Fields = {}
    for which in TABLES_OF_CASE:
        if (given := getattr(saved.inputs, which)) is None:
            continue
        if which == "background" and not given["sha256"]:
            sources[which], state = NFI, "same"
        else:
            sources[which], state = _find_table(given, Path(path), folder)
        tables.append(TableFound(which, str(given["file"]), state))
    versions = tuple(_versions(saved.provenance, provenance("transvariation verify")))
    if any(table.state != "same" for table in tables):
        return Verification(tuple(tables), (), versions, recomputed=False)
    again = judge(**sources, settings=saved.settings, progress=progress)
    one, two = (json.loads(each.to_json()) for each in (saved, again))
    return Verification(tuple(tables), tuple(_differences(one, two, "")), versions, recomputed=True)


def _find_table(given: Mapping[str, object], path: Path, folder: str | Path | None) -> tuple[Path | None, str]:
    """Find a table where it was, beside the saved file or in a folder, and compare its SHA-256."""
    name = str(given["file"])
    files = [Path(name), path.parent / Path(name).name] if folder is None else [Path(folder) / Path(name).name]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        return None, "missing"
    same = hashlib.sha256(file.read_bytes()).hexdigest() == given["sha256"]
    return file, "same" if same else "changed"


def _verify_model(path: Path, folder: str | Path | None) -> Verification:
    """Fit a saved model again, and compare all numbers in it."""
    load(path)  # which refuses damage
    known = read_about(path)
    try:
        given, settings = known["about"]["control"], CaseSettings.from_dict(known["about"]["settings"])
        file, state = _find_table(given, path, folder)
    except (KeyError, TypeError, ValueError) as error:
        raise CaseError("not-a-fitted-model", file=path, reason=error) from None
    tables = (TableFound("control", str(given["file"]), state),)
    now = f"transvariation {__version__}"
    versions = () if known["written_by"] == now else (Difference("software", known["written_by"], now),)
    if file is None or state != "same":
        return Verification(tables, (), versions, recomputed=False, sha256=known["sha256"])
    with tempfile.TemporaryDirectory() as scratch:
        again = Path(scratch) / "model"
        fit_model(file, again, settings)
        found = tuple(_model_differences(path, again))
    return Verification(tables, found, versions, recomputed=True, sha256=known["sha256"])


def _model_differences(one: Path, two: Path) -> Iterator[Difference]:
    with zipfile.ZipFile(one) as saved, zipfile.ZipFile(two) as again:
        for name in sorted({*saved.namelist(), *again.namelist()} - {HEADER}):
            if name not in saved.namelist() or name not in again.namelist():
                yield _only_in(name, name in saved.namelist())
            elif name.endswith(".npy"):
                a, b = (np.load(io.BytesIO(each.read(name)), allow_pickle=False) for each in (saved, again))
                if a.shape != b.shape or a.dtype != b.dtype:
                    yield Difference(name, f"{a.dtype} {a.shape}", f"{b.dtype} {b.shape}")
                    continue
                if a.dtype.kind == "f":
                    differs = ~np.isclose(a, b, rtol=RELATIVE_TOLERANCE, atol=1e-12, equal_nan=True)
                else:
                    differs = np.asarray(a != b)
                if differs.any():
                    one_value, other = (repr(each.ravel()[np.argmax(differs)].item()) for each in (a, b))
                    yield Difference(name, one_value, other, int(differs.sum()), a.size)
            else:
                yield from _differences(json.loads(saved.read(name)), json.loads(again.read(name)), "")


def _versions(before: Mapping[str, object], now: Mapping[str, object]) -> Iterator[Difference]:
    for name in before:
        if name in now and name not in ("command", "seed", "date") and str(before[name]) != str(now[name]):
            yield Difference(name, str(before[name]), str(now[name]))


def _only_in(place: str, is_saved: bool) -> Difference:
    return Difference(place, "", None) if is_saved else Difference(place, None, "")


def _differences(one: object, two: object, where: str) -> Iterator[Difference]:
    """Walk through two JSON values and name the places where they differ."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in {**one, **two}:
            if key in IGNORED or (key == "file" and ".inputs." in where):
                continue  # the same file, elsewhere
            if key not in one or key not in two:
                yield _only_in(f"{where}.{key}", key in one)
            else:
                yield from _differences(one[key], two[key], f"{where}.{key}")
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for i, (a, b) in enumerate(zip(one, two, strict=True)):
            yield from _differences(a, b, f"{where}[{i}]")
    elif isinstance(one, float) and isinstance(two, int | float) and not isinstance(two, bool):
        if not math.isclose(one, two, rel_tol=RELATIVE_TOLERANCE, abs_tol=1e-12):
            yield Difference(where, repr(one), repr(two))
    elif one != two:
        yield Difference(where, repr(one), repr(two))
