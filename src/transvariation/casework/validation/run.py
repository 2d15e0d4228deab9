"""Validate the method on a laboratory's own database."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from transvariation import __version__
from transvariation._typing import Fields
from transvariation.casework.database import Database, is_database
from transvariation.casework.errors import CaseError
from transvariation.casework.progress import Progress, ProgressStep, ignore_progress
from transvariation.casework.settings import ValidationSettings
from transvariation.casework.validation.comparisons import Comparisons, Sources, parse_design
from transvariation.casework.validation.criteria import OF_RATIOS, check_criteria, read_criteria
from transvariation.casework.validation.measures import learning_curve, measure_design, measure_stability, verdicts_on
from transvariation.casework.validation.result import ValidationResult
from transvariation.provenance import provenance
from transvariation.studies.checkpoint import Checkpoint
from transvariation.tables.settings import with_fields

MIN_STRATA = 10  # with fewer, the background of a fold would lack too large a part of the population


@with_fields(ValidationSettings)
def validate(
    database: Database | str | Path | pd.DataFrame,
    *,
    criteria: Mapping[str, float] | str | Path | None = None,
    n_jobs: int = 1,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
    settings: ValidationSettings | None = None,
    **fields: Any,
) -> ValidationResult:
    """Measure on a database how often the method is wrong.

    Parameters
    ----------
    database : Database, path or DataFrame
        The sources: a database, or a table with a column that names them. Where the database names strata (makers,
        batches) and there are at least ten, all sources of a stratum are left out together.
    criteria : mapping or path, optional
        Acceptance criteria, as limits by name (`CRITERIA`) or a TOML file; written down before the validation.
    n_jobs : int, default=1
        The number of processes. The result is the same for every number.
    checkpoint : path, optional
        A file that keeps what is done, so that a second call resumes.
    progress : callable, optional
        See :func:`transvariation.casework.judge`.
    settings : ValidationSettings, optional
        What is compared. The fields below replace those of `settings`; any other keyword is refused.
    **fields

    Returns
    -------
    ValidationResult

    See Also
    --------
    transvariation.casework.judge : Judge a case.

    Examples
    --------
    >>> from transvariation import load_nfi_glass
    >>> from transvariation.casework import Database, validate
    >>> glass = load_nfi_glass().frame
    >>> some = glass[glass["source"].isin(glass["source"].unique()[:60])]
    >>> database = Database.build(some, fragment_column="piece", logged=True)
    >>> quick = {"n_comparisons": 40, "n_folds": 2, "stability": False}
    >>> result = validate(database, designs=["1x1"], **quick)
    >>> result.designs[0].n_sources
    60
    """
    if not isinstance(database, Database):
        database = Database.read(database) if is_database(database) else Database.build(database)
    limits = check_criteria(criteria) if isinstance(criteria, Mapping) else read_criteria(criteria)
    named = "" if criteria is None else "given in Python"
    if isinstance(criteria, str | Path):
        named = f"{Path(criteria).name}, SHA-256 {hashlib.sha256(Path(criteria).read_bytes()).hexdigest()}"
    chosen = ValidationSettings.build(settings, fields)
    designs, sensitivities = chosen.designs, chosen.sensitivities
    wanted = [parse_design(text) for text in designs]
    for sensitivity in sensitivities:
        if not 0 < sensitivity < 1:
            raise CaseError("sensitivity", sensitivity=sensitivity)
    if criteria is None and chosen.rates_only:
        limits = {name: limit for name, limit in limits.items() if name not in OF_RATIOS}
    variables = _variables(database, chosen.features)
    values = database.frame[list(variables)].to_numpy(dtype=float)
    gaps = np.isnan(values)
    if gaps.any() and chosen.missing == "error":
        raise CaseError("missing-values", remedy="leave-out", variables=list(compress(variables, gaps.any(axis=0))))
    whole = replace(database, frame=database.frame[~gaps.any(axis=1)].reset_index(drop=True))
    values = values[~gaps.any(axis=1)]
    logged = database.logged or not chosen.linear
    if logged and not database.logged:
        if (lacking := values <= 0).any():
            raise CaseError("not-positive", remedy="no-zeros", variables=list(compress(variables, lacking.any(axis=0))))
        values = np.log10(values)
    used = chosen.to_dict() | {"variables": list(variables), "log": logged, "dropped": len(gaps) - len(values)}
    used["leave_out"] = "stratum" if len(set(database.strata.values())) >= MIN_STRATA else "source"
    del used["features"], used["stability"], used["linear"]
    data = Sources(values, whole, chosen.n_folds, used["leave_out"] == "stratum", logged)
    for text, design in zip(designs, wanted, strict=True):
        data.check_design(text, design)
    run = Comparisons(data, chosen.n_comparisons, chosen.seed, not chosen.rates_only)
    tasks = run.tasks(wanted, chosen.stability)
    header = {"study": "validation", "version": __version__, "sha256": database.sha256, **used}
    results = _run_all(tasks, run, header, checkpoint, n_jobs, progress or ignore_progress)
    measured = tuple(
        measure_design(text, design, data, run, results, sensitivities)
        for text, design in zip(designs, wanted, strict=True)
    )
    return ValidationResult(
        database=database.describe(),
        findings=database.check(),
        settings=used | {"criteria": named},
        designs=measured,
        stability=measure_stability(results, wanted[0], sensitivities[0]),
        learning=learning_curve(results, wanted[0], data, sensitivities[0]),
        verdicts=tuple(verdicts_on(measured, limits)),
        provenance=provenance("transvariation.casework.validate"),
    )


def _variables(database: Database, features: Sequence[str] | None) -> tuple[str, ...]:
    if features is None:
        return database.variables
    if unknown := [name for name in features if name not in database.variables]:
        raise CaseError("lacks-variables", table="the database", lacking=unknown, there=list(database.variables))
    return tuple(features)


def _run_all(
    tasks: Sequence[tuple[str, int, int, float]],
    run: Comparisons,
    header: Fields,
    checkpoint: str | Path | None,
    n_jobs: int,
    progress: Progress,
) -> dict[tuple[str, int, int, float], Fields]:
    """Run all tasks, in processes if asked for; with a checkpoint, those that have no result there."""

    with TemporaryDirectory() as folder:
        kept = Checkpoint(Path(checkpoint or Path(folder) / "validation.jsonl"), header)
        done = len(tasks) - len(kept.missing(tasks))
        progress(ProgressStep("validation"), done / len(tasks))
        for _ in kept.run(tasks, partial(Comparisons.compare, run), n_jobs):
            done += 1
            progress(ProgressStep("validation"), done / len(tasks))
        return {task: kept.results[task] for task in tasks}
