"""A rule kept in a file and applied later, to tables of any length."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from transvariation.atomic_write import check_outputs, replacing
from transvariation.base import OneClassClassifier
from transvariation.casework.judging import fit_rule, groups_of
from transvariation.casework.methods import DEFAULT, make_rule, saying_the_remedy
from transvariation.casework.selected_features import having_a_say, tp_of
from transvariation.casework.warnings_ import cautions, remedy
from transvariation.persistence import ModelFileError, load, read_about, save
from transvariation.tables import Table, TableError, read_chunks, read_table
from transvariation.tables.pairing import unit_problems
from transvariation.tables.problems import printable

COLUMNS = ("id", "verdict", "p_value", "tp")


@saying_the_remedy()
def fit_model(
    control: Any,
    path: Path,
    *,
    method: str = DEFAULT,
    reduce: str | None = None,
    sensitivity: float = 0.9,
    features: Sequence[str] | None = None,
    missing: str = "error",
    seed: int = 0,
    **options: Any,
) -> tuple[OneClassClassifier, Table, list[str]]:
    """Fit a rule to a table of control objects and save it; give the rule, the table read and what to be warned of."""
    check_outputs([path], [control])
    _check_rule_or_none(path)
    table = read_table(control, features=features, missing=missing, **options)
    rule, _ = make_rule(method, reduce, sensitivity, seed)
    known = table.to_frame()
    rule, heard = fit_rule(rule, known, table.groups)
    way_out = remedy(method, known, groups_of(table.groups))
    heard += [c.words for c in cautions(rule.coverage_report(), len(table), way_out) if c.holds(sensitivity)]
    say = having_a_say(rule, table.features)
    about = {"control": table.summary(), "method": method, "reduce": reduce, "cautions": heard, "say": say._asdict()}
    save(rule, path, about=about)
    return rule, table, heard


def _check_rule_or_none(path: Path) -> None:
    """Let a rule replace nothing but a rule: a name typed in the wrong place must not cost a table."""
    if not path.is_file() or not path.stat().st_size:
        return
    try:
        read_about(path)
    except ModelFileError as error:
        raise ValueError(f"'{path}' exists and holds no rule; give another name, or delete it first") from error


class Scored(NamedTuple):
    """How many objects were judged, rejected and left out, and what was to be warned of when the rule was fitted."""

    judged: int
    rejected: int
    cautions: list[str]
    left_out: int = 0  # because a value is missing
    reduced: str = ""  # which variables the rule judges by, if not by all


@saying_the_remedy()
def score_table(
    model: Path,
    table: Any,
    out: Path,
    *,
    missing: str = "error",
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> Scored:
    """Apply a saved rule to a table, block by block; write one line per object.

    The table may be larger than memory. The output appears under its name only when it is complete. Further options are
    those of :func:`transvariation.tables.read_chunks`.
    """
    check_outputs([out], [model, table])
    rule = _judging_rule(model)
    names = [str(name) for name in rule.feature_names_in_]
    about = read_about(model)["about"]  # of a rule kept by other means it may say anything, or nothing
    heard = about.get("cautions")
    control = about["control"] if isinstance(about.get("control"), dict) else {}
    judged = rejected = 0
    lost: list[int] = []
    options |= {"missing": missing, "units": control.get("units", {}), "progress": progress}
    with replacing(out) as unfinished, unfinished.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for block in read_chunks(table, names, left_out=lambda ids: lost.append(len(ids)), **options):
            _check_units(control, block)
            verdicts = _verdicts(rule, pd.DataFrame(block.X, columns=names))
            writer.writerows(zip((spreadsheet_safe(name) for name in block.ids), *verdicts, strict=True))
            judged += len(block)
            rejected += int((verdicts[0] == "rejected").sum())
    told = [printable(str(words)) for words in heard] if isinstance(heard, list) else []
    return Scored(judged, rejected, told, sum(lost), having_a_say(rule, names).reduced())


def _judging_rule(model: Path) -> OneClassClassifier:
    """Read a rule that can judge a table, or say why the file holds none: `save` keeps many other things too."""
    try:
        rule = load(model)
    except ModelFileError as error:
        raise ModelFileError(f"{error} (`score` takes the rule first, then the table)") from error
    if not hasattr(rule, "p_values"):
        raise ValueError(
            f"'{model}' holds a {type(rule).__name__}, which has no p-values; fit and save a "
            "classifier of transvariation, or CalibratedOCC around a pipeline"
        )
    check_is_fitted(rule)
    if not hasattr(rule, "feature_names_in_"):
        raise ValueError(f"the rule in '{model}' was fitted without column names; fit it to a table that has them")
    return rule


def _check_units(control: dict[str, Any], block: Table) -> None:
    """Refuse a table in other units than the control table of the rule, where both state them."""
    if problems := unit_problems(control.get("units", {}), control.get("file", "the control"), block, block.features):
        raise TableError(problems)


def _verdicts(rule: OneClassClassifier, rows: pd.DataFrame) -> tuple[np.ndarray, ...]:
    words = np.where(rule.predict(rows) == 1, "accepted", "rejected")
    tp = tp_of(rule, rows)
    return words, rule.p_values(rows), np.full(len(rows), "") if tp is None else tp


def spreadsheet_safe(name: str) -> str:
    """Keep a spreadsheet from taking an id for a formula."""
    return f"'{name}" if name[:1] in ("=", "+", "-", "@", "\t", "\r") else name
