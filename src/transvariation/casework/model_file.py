"""Fit a classifier to a table, keep it in a file, and apply it later to tables of any length."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from transvariation._typing import Fields
from transvariation.atomic_write import check_outputs, replacing
from transvariation.base import OneClassClassifier
from transvariation.calibration import check_groups
from transvariation.casework.control import fit_classifier, tp_of, used_features
from transvariation.casework.errors import CaseError
from transvariation.casework.settings import CaseSettings, words_for
from transvariation.casework.variables import check_without, select_ranges, spectral_axis
from transvariation.persistence import ModelFileError, load, read_about, save
from transvariation.tables import Table, TableError, TableSettings, apply_policy, read_chunks, read_table
from transvariation.tables.axis import interpolated
from transvariation.tables.opening import TableSource
from transvariation.tables.pairing import unit_problems, without_classes
from transvariation.tables.problems import printable

if TYPE_CHECKING:
    import _csv

_COLUMNS = ("id", "verdict", "p_value", "tp", "model")
READ_OTHERWISE = ("resampled", "coarser", "missing-bands", "unused-class")  # notes on spectra
MODEL_DIGITS = 12  # of the SHA-256: enough to tell models apart in every line of a long table


class Fitted(NamedTuple):
    """A classifier fitted to a table, what to be warned of, and the SHA-256 of the model."""

    classifier: OneClassClassifier
    table: Table
    warnings: list[str]
    sha256: str


def fit_model(control: TableSource, path: Path, settings: CaseSettings | None = None) -> Fitted:
    """Fit a classifier to the samples of a table, and save it: replicates are averaged, as :func:`judge` does.

    Parameters
    ----------
    control : path, bytes or DataFrame
        The table.
    path : Path
        The file to write.
    settings : CaseSettings, optional
        How the table is read, its variables, and the method; logarithms are not taken.
    """
    settings = settings or CaseSettings()
    if settings.log:
        raise CaseError("log-of-model")
    check_outputs([path], [control])
    _check_replaceable(path)
    missing = "keep" if settings.ranges else settings.missing
    table = read_table(control, features=settings.features, missing=missing, settings=settings.of_table("control"))
    if settings.without:
        check_without(settings.without, table)
    if settings.ranges:
        table = apply_policy(table.select(select_ranges(table.features, settings.ranges)), settings.missing)
    if len(table) < 2:
        raise CaseError("one-row", table=table.name)
    is_spectrum = spectral_axis(table.features) is not None
    rows, groups = _samples(table)
    if words_for(settings, is_spectrum) == "sample" and table.fragment is not None:
        groups = None  # as `judge`: the samples are those of a class, whoever supplied them
    classifier, found = fit_classifier(settings, settings.sensitivity, rows, groups)
    warned = list(found)
    used, _, _ = used_features(classifier, table.features)
    if is_spectrum:  # for spectra that lack bands, `score` fits again to the others
        classifier.samples_, classifier.sample_groups_ = rows.to_numpy(), check_groups(groups, len(rows))
    about = {"control": table.summary(), "settings": settings.to_dict(), "cautions": warned, "used": list(used)}
    save(classifier, path, about=about)
    return Fitted(classifier, table, warned, read_about(path)["sha256"])


def _samples(table: Table) -> tuple[pd.DataFrame, Sequence[str] | None]:
    """Return the mean of each fragment, and the groups that calibration keeps together: fragments of one source."""
    rows, groups, names = table.to_frame(), table.groups, table.fragment_names
    if names is not None and 1 < len(set(names)) < len(names):
        means = rows.groupby(list(names), sort=False).mean()
        source = None if table.source is None else dict(zip(names, table.source, strict=True))
        rows, groups = means, None if source is None else tuple(source[name] for name in means.index)
    return rows, groups if groups and 1 < len(set(groups)) < len(rows) else None


def _check_replaceable(path: Path) -> None:
    """Let a model replace only a model: a name typed in the wrong place must not destroy a table."""
    if not path.is_file() or not path.stat().st_size:
        return
    try:
        read_about(path)
    except ModelFileError as error:
        raise CaseError("not-a-model", file=path) from error


class Scored(NamedTuple):
    """What was done: counts, the level in force, and what the reader should know."""

    scored: int
    rejected: int
    sensitivity: float | tuple[float, ...]  # the level in force, or one for each stratum
    left_out: int
    warnings: list[str]
    used: tuple[str, ...]
    sha256: str
    unit: str
    notes: tuple[str, ...]  # on how the table was read


def score_table(
    model: Path,
    table: TableSource,
    out: Path,
    settings: TableSettings = TableSettings(),  # noqa: B008  # frozen
    *,
    missing: str = "error",
    progress: Callable[[float], None] | None = None,
) -> Scored:
    """Apply a saved classifier to a table, block by block; write one line per sample.

    A sample is a row, or, where the first rows repeat the label of a fragment, the mean of its rows. The table may be
    larger than memory, if the means of its samples are not. The output appears under its name only when it is complete.
    Where bands of a spectrum are missing, or its positions are farther apart, the classifier is fitted again to the
    positions that are there, as :func:`judge` does.

    Parameters
    ----------
    model : Path
        A file that `fit_model` wrote.
    table : path, bytes or DataFrame
    out : Path
        The CSV file to write.
    settings : TableSettings
        How the table is read.
    missing : {"error", "drop"}, default="error"
    progress : callable, optional
        Called with the share of the table that was read.
    """
    check_outputs([out], [model, table])
    classifier = _load_classifier(model)
    names = [str(name) for name in classifier.feature_names_in_]
    known = read_about(model)
    sha256, about = known["sha256"], known["about"]  # of a file saved by other means it may hold anything, or nothing
    warned = about.get("cautions")
    control = about["control"] if isinstance(about.get("control"), dict) else {}
    classes = {note["column"] for note in control.get("notes", ()) if note["code"] == "unused-class"}
    classes -= settings.column_roles.keys()
    notes: tuple[str, ...] = ()
    scored = rejected = 0
    lost: list[int] = []
    options: Fields = {"settings": settings, "missing": missing, "units": control.get("units", {})}
    options |= {"progress": progress, "gaps": hasattr(classifier, "samples_")}
    with replacing(out) as unfinished, unfinished.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        means: Means | None = None
        for block in read_chunks(table, names, left_out=lambda ids: lost.append(len(ids)), **options):
            block = without_classes(block, classes)
            if problems := unit_problems(
                control.get("units", {}), control.get("file", "the control"), block, block.features
            ):
                raise TableError(problems)
            notes = notes or tuple(str(note) for note in block.notes if note.code in READ_OTHERWISE)
            if len(block.features) < len(names):
                classifier, found = _at_positions(classifier, about.get("settings"), names, block.features)
                warned, names = list(found), list(block.features)
            keys = block.fragment_keys
            if not scored and means is None and keys is not None and len(set(keys)) < len(keys):
                means = Means({})
            if means is not None:
                means.add(block)
                continue
            rejected += _write(writer, block.ids, _scores(classifier, pd.DataFrame(block.X, columns=names)), sha256)
            scored += len(block)
        if means is not None:
            rejected = _write(writer, means.names, _scores(classifier, pd.DataFrame(means.X, columns=names)), sha256)
            scored = len(means.names)
    words = [printable(str(message)) for message in warned] if isinstance(warned, list) else []
    unit = "row" if means is None else "sample"
    used = used_features(classifier, names)[0]
    level = classifier.coverage_report().sensitivity
    return Scored(scored, rejected, level, sum(lost), words, used, sha256, unit, notes)


def _at_positions(
    classifier: BaseEstimator, settings: Fields, names: Sequence[str], there: Sequence[str]
) -> tuple[OneClassClassifier, dict[str, type[Warning]]]:
    """Fit the classifier of spectra again, to the positions that are there; return it and its warnings."""
    rows = pd.DataFrame(interpolated(classifier.samples_, names, there), columns=list(there))
    how = CaseSettings.from_dict(settings)
    return fit_classifier(how, classifier.sensitivity, rows, classifier.sample_groups_)


class Means(NamedTuple):
    """Sums of the rows of each sample, and how many there are."""

    sums: dict[tuple[str, str], tuple[np.ndarray, int]]

    def add(self, block: Table) -> None:
        """Add the rows of a block."""
        for key, row in zip(block.fragment_keys or (), block.X, strict=True):
            total, n = self.sums.get(key, (0.0, 0))
            self.sums[key] = total + row, n + 1

    @property
    def X(self) -> np.ndarray:
        """The means."""
        return np.array([total / n for total, n in self.sums.values()])

    @property
    def names(self) -> list[str]:
        """The samples; with their sources where two sources use one label."""
        several = len({fragment for _, fragment in self.sums}) < len(self.sums)
        return [f"{source} / {fragment}" if several else fragment for source, fragment in self.sums]


def _write(writer: "_csv.Writer", ids: Sequence[str], columns: tuple[np.ndarray, ...], sha256: str) -> int:
    """Write one line per sample, each with the start of the model's SHA-256; return how many were rejected."""
    model = [sha256[:MODEL_DIGITS]] * len(ids)
    writer.writerows(zip(map(spreadsheet_safe, ids), *columns, model, strict=True))
    return int((columns[0] == "rejected").sum())


def _load_classifier(model: Path) -> OneClassClassifier:
    """Load a classifier that can score a table."""
    try:
        classifier = load(model)
    except ModelFileError as error:
        raise ModelFileError(f"{error} (`score` takes the model first, then the table)") from error
    if not hasattr(classifier, "p_values"):
        raise CaseError("no-p-values", file=model, kind=type(classifier).__name__)
    check_is_fitted(classifier)
    if not hasattr(classifier, "feature_names_in_"):
        raise CaseError("no-names", file=model)
    return classifier


def _scores(classifier: OneClassClassifier, rows: pd.DataFrame) -> tuple[np.ndarray, ...]:
    words = np.where(classifier.predict(rows) == 1, "accepted", "rejected")
    tp, p = tp_of(classifier, rows), classifier.p_values(rows)
    return words, p, np.full(len(rows), "") if tp is None else tp


def spreadsheet_safe(name: str) -> str:
    """Keep a spreadsheet from taking an id for a formula."""
    return f"'{name}" if name[:1] in ("=", "+", "-", "@", "\t", "\r") else name
