"""Measure how often the method is wrong on a laboratory's own database.

Sources are left out in folds. Their fragments are compared in the design of a case, with fragments of the same source
and of other left-out sources, by the code that judges cases: what it learns, it learns from the other sources.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transvariation import __version__
from transvariation._typing import Bools, Floats, Indices
from transvariation.casework.astm import match_interval
from transvariation.casework.background.likelihood_ratio import (
    MIN_SOURCES,
    calibrated_ratio,
    cllr,
    cross_entropy,
    recalibrated,
)
from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import Design, Pairs, Source, different_source_pairs, scaled_differences
from transvariation.casework.background.rates import Rate, measure_rate
from transvariation.casework.background.same_source import SameSourceDifferences, source_p_values
from transvariation.casework.database import Database, Finding
from transvariation.casework.errors import CaseError
from transvariation.provenance import provenance
from transvariation.studies.checkpoint import Checkpoint

Progress = Callable[[str, float | None], None]

SCHEMA = "transvariation-validation/1"
METHODS = {
    "transvariation": "same-source differences by tp; three-level likelihood ratio",
    "mahalanobis": "Mahalanobis distance within sources, calibrated by held-out sources",
    "astm": "4 s interval of ASTM E2927, standard deviations of the measurements",
    "lir": "lir's two-level model on fragment means",
}
STRENGTHS = (1, 10, 100, 1000)  # of misleading evidence
CRITERIA = {
    "false_exclusion_excess": 0.03,  # above 1 - sensitivity
    "false_inclusion": 0.3,
    "cllr": 0.5,
    "misleading_100": 0.02,  # of either kind, with a ratio beyond 100
}
MEANING = {
    "false_exclusion_excess": "false exclusions beyond the promised share",
    "false_inclusion": "false inclusions",
    "cllr": "cost of the likelihood ratios, Cllr",
    "misleading_100": "strongly misleading likelihood ratios (beyond 100)",
}
SHARES = (0.25, 0.5, 0.75)  # of the sources, for the learning curve
HARDEST = 20  # pairs that are listed
MIN_FOLDS = 5
DRAWN = 200  # points of a Tippett curve


@dataclass(frozen=True)
class Misleading:
    """How often likelihood ratios mislead, beyond a strength."""

    strength: int
    same_source: Rate
    different_sources: Rate


@dataclass(frozen=True)
class Ratios:
    """The performance of likelihood ratios on comparisons of known origin.

    Attributes
    ----------
    cllr, cllr_min, dev_pav : float
        The cost, the cost after the best monotone recalibration, and the mean distance between both on the log10 scale.
    bounds : tuple of float
        The smallest and the largest log10 ratio, over the folds.
    misleading : tuple of Misleading
    tippett_same, tippett_different : tuple of float
        Quantiles of the log10 ratios.
    ece : dict
        Empirical cross-entropy by prior odds.
    """

    cllr: float
    cllr_min: float
    dev_pav: float
    bounds: tuple[float, float]
    misleading: tuple[Misleading, ...]
    tippett_same: tuple[float, ...]
    tippett_different: tuple[float, ...]
    ece: dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class Rates:
    """Error rates at one sensitivity.

    Attributes
    ----------
    sensitivity : float or None
        None for a criterion without one.
    false_exclusion, false_inclusion : Rate
    same_stratum : Rate or None
        False inclusions among sources of one stratum, such as a maker.
    """

    sensitivity: float | None
    false_exclusion: Rate
    false_inclusion: Rate
    same_stratum: Rate | None = None


@dataclass(frozen=True)
class HardPair:
    """Two sources that are hard to tell apart, or two parts of one that look different."""

    known: str
    questioned: str
    p_value: float
    log10_lr: float | None


@dataclass(frozen=True)
class DesignResult:
    """What was measured in one design of comparison.

    Attributes
    ----------
    design : str
        Known fragments x replicates, such as ``"3x5"``.
    n_sources, n_same, n_different : int
        Sources that have enough fragments, and comparisons.
    rates : dict
        Rates by method, one for each sensitivity.
    ratios : dict
        Likelihood ratios by method.
    hard_same, hard_different : tuple of HardPair
        Same-source comparisons with the smallest p-values, and different-source ones with the largest.
    """

    design: str
    n_sources: int
    n_same: int
    n_different: int
    rates: dict[str, tuple[Rates, ...]]
    ratios: dict[str, Ratios]
    hard_same: tuple[HardPair, ...]
    hard_different: tuple[HardPair, ...]


@dataclass(frozen=True)
class Verdict:
    """Whether an acceptance criterion was met in a design.

    Attributes
    ----------
    criterion, design : str
    sensitivity : float or None
    limit, measured : float
    high : float
        The upper end of the 95% interval of what was measured, where it has one.
    met : bool
        Whether what was measured does not exceed the limit.
    shown : bool
        Whether the whole interval lies on the same side of the limit.
    """

    criterion: str
    design: str
    sensitivity: float | None
    limit: float
    measured: float
    low: float
    high: float

    @property
    def met(self) -> bool:
        """Whether what was measured does not exceed the limit."""
        return self.measured <= self.limit

    @property
    def shown(self) -> bool:
        """Whether the whole interval lies on the same side of the limit."""
        return self.high <= self.limit or self.low > self.limit


@dataclass(frozen=True)
class ValidationResult:
    """The validation of the method on a database.

    Attributes
    ----------
    database : dict
        What :meth:`Database.describe` returns.
    findings : tuple of Finding
        What the checks of the database found.
    settings : dict
        How the validation was made.
    designs : tuple of DesignResult
        What was measured in each design.
    stability : dict
        Largest differences of p-values and log10 ratios between seeds, and the share of conclusions that change.
    learning : tuple of dict
        Error rates and Cllr with a part of the sources.
    verdicts : tuple of Verdict
        Whether each acceptance criterion is met.
    provenance : dict
        Versions and seed.
    """

    database: dict[str, Any]
    findings: tuple[Finding, ...]
    settings: dict[str, Any]
    designs: tuple[DesignResult, ...]
    stability: dict[str, float]
    learning: tuple[dict[str, float], ...]
    verdicts: tuple[Verdict, ...]
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every acceptance criterion is met."""
        return all(verdict.met for verdict in self.verdicts)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values.

        Returns
        -------
        dict
        """
        verdicts = [asdict(v) | {"met": v.met, "shown": v.shown} for v in self.verdicts]
        return {"schema": SCHEMA, **asdict(self), "verdicts": verdicts, "passed": self.passed}


def read_criteria(path: str | Path | None) -> dict[str, float]:
    """Read acceptance criteria from a TOML file, ``name = limit`` on each line; None gives the defaults.

    Parameters
    ----------
    path : path or None
        The file.

    Returns
    -------
    dict
        The limits by name.
    """
    if path is None:
        return dict(CRITERIA)
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CaseError(f"{path} cannot be read as acceptance criteria: {error}") from None
    return check_criteria(given)


def check_criteria(given: Mapping[str, Any]) -> dict[str, float]:
    """Check the names and limits of acceptance criteria."""
    for name, limit in given.items():
        if name not in CRITERIA:
            raise CaseError(f"{name!r} is no acceptance criterion; choose from {', '.join(CRITERIA)}")
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 0:
            raise CaseError(f"the limit of {name} must be a number that is not negative, not {limit!r}")
    return {name: float(limit) for name, limit in given.items()}


def parse_design(text: str) -> Design:
    """Read a design such as "3x5": three known fragments, five replicates of each and of the questioned one."""
    parts = str(text).lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.strip().isdigit() and int(part) > 0 for part in parts):
        raise CaseError(f"the design {text!r} must have the form 3x5: known fragments x replicates of each")
    known, replicates = map(int, parts)
    return Design(known, 1, replicates, replicates)


def validate(
    database: Any,
    *,
    designs: Sequence[str] = ("1x1", "3x1"),
    sensitivities: Sequence[float] = (0.9,),
    criteria: Mapping[str, float] | str | Path | None = None,
    features: Sequence[str] | None = None,
    log: bool = True,
    n_comparisons: int = 2000,
    n_folds: int = 10,
    stability: bool = True,
    seed: int = 0,
    n_jobs: int = 1,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
) -> "ValidationResult":
    """Measure on a database how often the method is wrong.

    Parameters
    ----------
    database : Database or path
        The sources. Where it names strata (makers, batches) and there are at least ten, all sources of a stratum are
        left out together.
    designs : sequence of str, default=("1x1", "3x1")
        Known fragments x replicates of each, such as ``"3x5"``; one questioned fragment has as many replicates.
    sensitivities : sequence of float, default=(0.9,)
        The shares of same-source fragments that should not be excluded.
    criteria : mapping or path, optional
        Acceptance criteria, as limits by name (`CRITERIA`) or a TOML file; written down before the validation.
    features : sequence of str, optional
        The variables to use; by default all.
    log : bool, default=True
        Whether to take logarithms (base 10) of a database that does not hold them already.
    n_comparisons : int, default=2000
        Comparisons of the same source, and as many of different sources, in each design.
    n_folds : int, default=10
        How many folds of sources are left out in turn.
    stability : bool, default=True
        Whether to repeat some folds with other seeds and with a part of the sources, in the first design.
    seed : int, default=0
        Of the choice of fragments.
    n_jobs : int, default=1
        The number of processes. The result is the same for every number.
    checkpoint : path, optional
        A file that keeps what is done, so that a second call resumes.
    progress : callable, optional
        Called with each step in words and the share of the work done.

    Returns
    -------
    ValidationResult

    Examples
    --------
    >>> from transvariation import load_nfi_glass
    >>> from transvariation.casework import Database, validate
    >>> glass = load_nfi_glass().frame
    >>> some = glass[glass["source"].isin(glass["source"].unique()[:60])]
    >>> database = Database.build(some, fragment_column="piece", logged=True)
    >>> result = validate(database, designs=["1x1"], n_comparisons=40, n_folds=2, stability=False)
    >>> result.designs[0].n_sources
    60
    """
    database = database if isinstance(database, Database) else Database.read(database)
    limits = check_criteria(criteria) if isinstance(criteria, Mapping) else read_criteria(criteria)
    wanted = [parse_design(text) for text in designs]
    for sensitivity in sensitivities:
        if not 0 < sensitivity < 1:
            raise CaseError(f"the sensitivity {sensitivity} must lie between 0 and 1, such as 0.9")
    variables = _variables(database, features)
    frame = database.frame
    values = frame[list(variables)].to_numpy(dtype=float)
    if np.isnan(values).any():
        lacking = [v for v, gap in zip(variables, np.isnan(values).any(axis=0), strict=True) if gap]
        raise CaseError(f"values of {', '.join(lacking)} are missing; leave these variables out (features)")
    logged = database.logged or log
    if log and not database.logged:
        if not (values > 0).all():
            raise CaseError(
                "logarithms need positive values; leave variables with zeros out (features), or use log=False"
            )
        values = np.log10(values)
    settings = {
        "designs": list(map(str, designs)),
        "sensitivities": list(map(float, sensitivities)),
        "variables": list(variables),
        "log": logged,
        "n_comparisons": n_comparisons,
        "n_folds": n_folds,
        "seed": seed,
        "leave_out": "stratum" if len(set(database.strata.values())) >= n_folds else "source",
    }
    data = _Data(values, database, n_folds, settings["leave_out"] == "stratum", logged)
    for text, design in zip(designs, wanted, strict=True):
        data.check_design(text, design)
    run = _Run(data, n_comparisons, seed)
    tasks = run.tasks(wanted, stability)
    header = {"study": "validation", "version": __version__, "sha256": database.sha256, **settings}
    say = progress or (lambda step, share: None)
    results = _run_all(tasks, run, header, checkpoint, n_jobs, say)
    measured = tuple(
        _measure(text, design, data, run, results, sensitivities) for text, design in zip(designs, wanted, strict=True)
    )
    return ValidationResult(
        database=database.describe(),
        findings=database.check(),
        settings=settings,
        designs=measured,
        stability=_stability(results, wanted[0], sensitivities[0]),
        learning=_learning(results, wanted[0], data, sensitivities[0]),
        verdicts=tuple(_verdicts(measured, limits)),
        provenance=provenance("transvariation.casework.validate"),
    )


def _variables(database: Database, features: Sequence[str] | None) -> tuple[str, ...]:
    if features is None:
        return database.variables
    if unknown := [name for name in features if name not in database.variables]:
        raise CaseError(f"the database has no variable {', '.join(unknown)}; it has {', '.join(database.variables)}")
    return tuple(features)


class _Data:
    """The measurements of a database by source and fragment, and the folds of its sources."""

    def __init__(self, values: Floats, database: Database, n_folds: int, by_stratum: bool, logged: bool):
        self.names, self.logged = database.sources, logged
        number = {name: i for i, name in enumerate(self.names)}
        by_fragment: dict[tuple[str, str], list[int]] = {}
        for row, key in enumerate(zip(database.frame["source"], database.frame["fragment"], strict=True)):
            by_fragment.setdefault(key, []).append(row)
        sources: list[list[Floats]] = [[] for _ in self.names]
        for (source, _), rows in by_fragment.items():
            sources[number[source]].append(values[rows])
        self.sources: list[Source] = list(sources)
        strata = database.strata
        self.stratum = np.array([strata.get(name, "") for name in self.names])
        unit = np.unique(self.stratum, return_inverse=True)[1] if by_stratum else np.arange(len(self.names))
        # The order of sources in a table may mean something: folds take every n-th one in a random order.
        order = np.random.default_rng(0).permutation(unit.max() + 1)
        self.fold = (order % min(n_folds, unit.max() + 1))[unit]

    def check_design(self, text: str, design: Design) -> None:
        """Refuse a design for which too few sources have fragments and replicates."""
        enough = [len(source) > design.known for source in self.in_design(design)]
        if sum(enough) < 2 * MIN_FOLDS:
            raise CaseError(
                f"{sum(enough)} sources have {design.known + 1} fragments with {design.known_replicates} or more "
                f"replicates each, which the design {text} needs; choose a smaller design"
            )

    def in_design(self, design: Design) -> list[Source]:
        """Give each source its fragments for a design; rows of fragments without replicates are joined in turn."""
        r = design.known_replicates
        found: list[Source] = []
        for source in self.sources:
            if r > 1 and all(len(fragment) == 1 for fragment in source):
                rows = np.concatenate(source)
                source = [rows[i : i + r] for i in range(0, len(rows) - r + 1, r)]
            found.append([fragment for fragment in source if len(fragment) >= r])
        return found


@dataclass(frozen=True)
class _Run:
    """The comparisons of a validation, as tasks that can run in any order."""

    data: _Data
    n_comparisons: int
    seed: int

    def tasks(self, designs: Sequence[Design], stability: bool) -> list[tuple[Any, ...]]:
        """List (design, fold, seed, share of the sources); extra seeds and shares for the first design only."""
        folds = [int(f) for f in np.unique(self.data.fold)]
        listed = [(_name(d), f, self.seed, 1.0) for d in designs for f in folds]
        few = folds[:2] if stability else []
        listed += [(_name(designs[0]), f, self.seed + i, 1.0) for i in (1, 2) for f in few]
        return listed + [(_name(designs[0]), f, self.seed, share) for share in SHARES for f in few]

    def compare(self, name: str, fold: int, seed: int, share: float) -> dict[str, list[float]]:
        """Compare the fragments of the sources in one fold by the others."""
        design = parse_design(name)
        sources = self.data.in_design(design)
        out = [int(i) for i in np.flatnonzero(self.data.fold == fold) if len(sources[i]) > design.known]
        kept = np.flatnonzero(self.data.fold != fold)
        if share < 1:
            kept = np.sort(np.random.default_rng(1).permutation(kept)[: max(MIN_SOURCES, int(share * len(kept)))])
        if not out:
            return {"known": []}
        total = sum(len(s) > design.known for s in sources)
        n = max(1, round(self.n_comparisons * len(out) / total))
        rng = np.random.default_rng([0, fold])  # the comparisons do not depend on the seed
        known, questioned = _draw(out, n, self.data.stratum, rng)
        background = Background([sources[i] for i in kept if len(sources[i]) > 1], seed)
        return _compare(sources, known, questioned, design, background, self.data.logged, rng)


def _name(design: Design) -> str:
    return f"{design.known}x{design.known_replicates}"


def _draw(out: Sequence[int], n: int, stratum: NDArray[Any], rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Draw sources of n same-source and n different-source comparisons, half of the latter within strata if any."""
    sources = np.asarray(out)
    same = sources[rng.permutation(np.arange(n) % len(sources))]
    first = sources[rng.permutation(np.arange(n) % len(sources))]
    other = np.empty_like(first)
    for i, source in enumerate(first):
        others = sources[sources != source]
        alike = others[stratum[others] == stratum[source]]
        pool = alike if i % 2 and len(alike) and stratum[source] else others
        other[i] = rng.choice(pool) if len(pool) else source
    kept = other != first
    return np.concatenate([same, first[kept]]), np.concatenate([same, other[kept]])


def _compare(
    sources: Sequence[Source],
    known: Indices,
    questioned: Indices,
    design: Design,
    background: Background,
    logged: bool,
    rng: np.random.Generator,
) -> dict[str, list[float]]:
    """Compute p-values and likelihood ratios of comparisons by every method."""
    k, r = design.known, design.known_replicates
    own, theirs, match = [], [], []
    for one, other in zip(known, questioned, strict=True):
        order = rng.permutation(len(sources[one]))
        fragments = [_some(sources[one][i], r, rng) for i in order[:k]]
        rest = order[k:] if one == other else rng.permutation(len(sources[other]))
        single = _some(sources[other][rest[0]], r, rng)
        match.append(_matches(np.concatenate(fragments), single, logged))
        own.append(np.mean([background.stabilizer.transform(x).mean(axis=0) for x in fragments], axis=0))
        theirs.append(background.stabilizer.transform(single).mean(axis=0))
    n = len(known)
    zero = np.zeros(n, dtype=np.intp)
    counts = np.full(n, k), np.ones(n, dtype=np.intp)
    pairs = Pairs(np.array(own), np.array(theirs), *counts, zero - 1, zero - 2, np.ones(n), zero)
    model = background.differences(design)
    p = model.p_values(scaled_differences(pairs))
    ratio = background.calibrated(design)
    maha_p, maha_lr = _mahalanobis(model, pairs)
    found: dict[str, Any] = {
        "known": known,
        "questioned": questioned,
        "transvariation": p,
        "mahalanobis": maha_p,
        "astm": np.asarray(match, dtype=float),
        "mahalanobis_lr": maha_lr,
    }
    if ratio is not None:
        found |= {"transvariation_lr": ratio.log10_lr(pairs), "bounds": np.asarray(ratio.performance.bounds)}
    return {name: np.asarray(values).tolist() for name, values in found.items()}


def _some(rows: Floats, n: int, rng: np.random.Generator) -> Floats:
    return rows[rng.permutation(len(rows))[:n]]


def _matches(known: Floats, questioned: Floats, logged: bool) -> float:
    """Apply the 4 s interval to concentrations; NaN where it does not apply."""
    own, mean = (10.0**known, (10.0**questioned).mean(axis=0)) if logged else (known, questioned.mean(axis=0))
    if len(own) < 3 or (own < 0).any():
        return np.nan
    low, high = match_interval(own)
    return float(((mean >= low) & (mean <= high)).all())


def _mahalanobis(model: SameSourceDifferences, pairs: Pairs) -> tuple[Floats, Floats]:
    """Compute calibrated p-values and log10 ratios of Mahalanobis distances, from the differences of the model."""
    calibration = -np.linalg.norm(model.held_out_, axis=1)
    scores = -np.linalg.norm(scaled_differences(pairs) @ model.whitening_, axis=1)
    different = different_source_pairs(model.pairs_, np.random.default_rng(0), len(calibration), model.whitening_)
    foreign = -np.linalg.norm(scaled_differences(different) @ model.whitening_, axis=1)
    raw, same = (
        np.log(-np.concatenate([calibration, foreign])),
        np.arange(len(calibration) + len(foreign)) < len(calibration),
    )
    weight = np.concatenate([model.pairs_.weight, different.weight])
    return source_p_values(calibration, scores, model.pairs_.source), calibrated_ratio(raw, same, weight)(
        np.log(-scores)
    )


def _run_all(
    tasks: Sequence[tuple[Any, ...]], run: _Run, header: dict[str, Any], checkpoint: Any, n_jobs: int, say: Progress
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Run all tasks, in processes if asked for; with a checkpoint, those that have no result there."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        kept = Checkpoint(Path(checkpoint or Path(folder) / "validation.jsonl"), header)
        done = len(tasks) - len(kept.missing(tasks))
        say("comparing sources that were left out", done / len(tasks))
        for _ in kept.run(tasks, partial(_Run.compare, run), n_jobs):
            done += 1
            say("comparing sources that were left out", done / len(tasks))
        return {task: kept.results[task] for task in tasks}


def _joined(results: Mapping[Any, Any], tasks: Sequence[Any]) -> dict[str, Floats]:
    parts = [results[task] for task in tasks if results[task]["known"]]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if all(name in p for p in parts)}


def _measure(
    text: str, design: Design, data: _Data, run: _Run, results: Mapping[Any, Any], sensitivities: Sequence[float]
) -> DesignResult:
    name = _name(design)
    tasks = [task for task in results if task[0] == name and task[2:] == (run.seed, 1.0)]
    usable = sum(len(source) > design.known for source in data.in_design(design))
    found = _joined(results, tasks)
    known, questioned = found["known"].astype(int), found["questioned"].astype(int)
    same = known == questioned
    alike = ~same & (data.stratum[known] == data.stratum[questioned]) & (data.stratum[known] != "")

    def rates(sensitivity: float | None, excluded: Bools, judged: Bools) -> Rates:
        own, others = judged & same, judged & ~same
        within = judged & alike
        return Rates(
            sensitivity,
            measure_rate(excluded[own], known[own]),
            measure_rate(~excluded[others], known[others], questioned[others]),
            measure_rate(~excluded[within], known[within], questioned[within]) if within.any() else None,
        )

    every = np.ones(len(known), dtype=bool)
    measured = {
        method: tuple(rates(s, found[method] <= 1 - s + 1e-9, every) for s in sensitivities)
        for method in ("transvariation", "mahalanobis")
    }
    applies = np.isfinite(found["astm"])
    if applies.any():
        measured["astm"] = (rates(None, found["astm"] == 0, applies),)
    bounds = found.get("bounds", np.array([-np.inf, np.inf]))
    ratios = {
        method: _ratios(found[f"{method}_lr"], same, known, questioned, bounds if method == "transvariation" else None)
        for method in ("transvariation", "mahalanobis")
        if f"{method}_lr" in found
    }
    order = np.argsort(found["transvariation"], kind="stable")
    lr = found.get("transvariation_lr")

    def pairs(rows: Indices) -> tuple[HardPair, ...]:
        names = data.names
        return tuple(
            HardPair(
                names[known[i]],
                names[questioned[i]],
                float(found["transvariation"][i]),
                None if lr is None else float(lr[i]),
            )
            for i in rows[:HARDEST]
        )

    return DesignResult(
        design=text,
        n_sources=usable,
        n_same=int(same.sum()),
        n_different=int((~same).sum()),
        rates=measured,
        ratios=ratios,
        hard_same=pairs(order[same[order]]),
        hard_different=pairs(order[~same[order]][::-1]),
    )


def _ratios(
    log10_lr: Floats, same: Bools, known: NDArray[Any], questioned: NDArray[Any], bounds: Floats | None
) -> Ratios:
    best = recalibrated(log10_lr, same)
    finite = np.clip(best, log10_lr.min(), log10_lr.max())
    misleading = tuple(
        Misleading(
            strength,
            measure_rate(log10_lr[same] < -np.log10(strength), known[same]),
            measure_rate(log10_lr[~same] > np.log10(strength), known[~same], questioned[~same]),
        )
        for strength in STRENGTHS
    )
    shares = np.linspace(0, 1, DRAWN)
    ends = (
        (float(log10_lr.min()), float(log10_lr.max())) if bounds is None else (float(bounds.min()), float(bounds.max()))
    )
    return Ratios(
        cllr=cllr(log10_lr, same),
        cllr_min=cllr(best, same),
        dev_pav=float(np.mean(np.abs(log10_lr - finite))),
        bounds=ends,
        misleading=misleading,
        tippett_same=tuple(map(float, np.quantile(log10_lr[same], shares))),
        tippett_different=tuple(map(float, np.quantile(log10_lr[~same], shares))),
        ece={
            "system": cross_entropy(log10_lr, same),
            "recalibrated": cross_entropy(best, same),
            "reference": cross_entropy(np.zeros(len(same)), same),
        },
    )


def _stability(results: Mapping[Any, Any], design: Design, sensitivity: float) -> dict[str, float]:
    """Compare what other seeds give for the same comparisons."""
    by_fold: dict[int, list[dict[str, Any]]] = {}
    for (name, fold, _, share), found in results.items():
        if name == _name(design) and share == 1.0 and found["known"]:
            by_fold.setdefault(fold, []).append(found)
    several = [found for found in by_fold.values() if len(found) > 1]
    if not several:
        return {}
    spread = {"p_value": 0.0, "log10_lr": 0.0}
    flips = []
    for found in several:
        p = np.array([each["transvariation"] for each in found])
        spread["p_value"] = max(spread["p_value"], float(np.ptp(p, axis=0).max()))
        excluded = p <= 1 - sensitivity + 1e-9
        flips.append((excluded.any(axis=0) & ~excluded.all(axis=0)).mean())
        if all("transvariation_lr" in each for each in found):
            lr = np.array([each["transvariation_lr"] for each in found])
            spread["log10_lr"] = max(spread["log10_lr"], float(np.ptp(lr, axis=0).max()))
    return spread | {"changed_conclusions": float(np.mean(flips)), "seeds": float(max(map(len, several)))}


def _learning(
    results: Mapping[Any, Any], design: Design, data: _Data, sensitivity: float
) -> tuple[dict[str, float], ...]:
    """Measure the error rates with a part of the sources, on the comparisons of the same folds."""
    seed = min(task[2] for task in results)
    few = sorted({task[1] for task in results if task[3] < 1})
    points = []
    for share in (*SHARES, 1.0):
        tasks = [task for task in results if task[0] == _name(design) and task[1] in few and task[2:] == (seed, share)]
        if not any(results[task]["known"] for task in tasks):
            continue
        found = _joined(results, tasks)
        same = found["known"] == found["questioned"]
        excluded = found["transvariation"] <= 1 - sensitivity + 1e-9
        point = {
            "sources": float(max(MIN_SOURCES, int(share * np.mean([(data.fold != f).sum() for f in few])))),
            "false_exclusion": float(excluded[same].mean()),
            "false_inclusion": float((~excluded[~same]).mean()),
        }
        if "transvariation_lr" in found:
            point["cllr"] = cllr(found["transvariation_lr"], same)
        points.append(point)
    return tuple(points)


def _verdicts(designs: Sequence[DesignResult], limits: Mapping[str, float]) -> list[Verdict]:
    """Compare what was measured of the method with the acceptance criteria."""
    found = []
    for each in designs:
        for rates in each.rates["transvariation"]:
            s = rates.sensitivity
            assert s is not None
            for name, rate, promised in (
                ("false_exclusion_excess", rates.false_exclusion, 1 - s),
                ("false_inclusion", rates.false_inclusion, 0.0),
            ):
                if name in limits:
                    low, high = rate.low - promised, rate.high - promised
                    found.append(Verdict(name, each.design, s, limits[name], rate.share - promised, low, high))
        if (ratios := each.ratios.get("transvariation")) is None:
            continue
        if "cllr" in limits:
            found.append(Verdict("cllr", each.design, None, limits["cllr"], ratios.cllr, ratios.cllr, ratios.cllr))
        if "misleading_100" in limits:
            worst = next(m for m in ratios.misleading if m.strength == 100)
            rate = max((worst.same_source, worst.different_sources), key=lambda r: r.share)
            found.append(
                Verdict("misleading_100", each.design, None, limits["misleading_100"], rate.share, rate.low, rate.high)
            )
    return found
