"""Draw comparisons of known origin from a database, and compute them by every method.

Sources are left out in folds. What a comparison learns, it learns from the other sources.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transvariation._typing import Floats, Indices
from transvariation.casework.astm import match_interval
from transvariation.casework.background.likelihood_ratio import MIN_SOURCES_FOR_RATIOS, calibrated_ratio
from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import Design, Pairs, Source, different_source_pairs, scaled_differences
from transvariation.casework.background.same_source import SameSourceDifferences, source_p_values
from transvariation.casework.database import Database
from transvariation.casework.errors import CaseError

COMPARED_METHODS = {
    "transvariation": "same-source differences by tp; three-level likelihood ratio",
    "mahalanobis": "Mahalanobis distance within sources, calibrated by held-out sources",
    "astm": "4 s interval of ASTM E2927, standard deviations of the measurements",
    "lir": "lir's two-level model on fragment means",
}
SHARES = (0.25, 0.5, 0.75)  # of the sources, for the learning curve
MIN_FOLDS = 5


def parse_design(text: str) -> Design:
    """Read a design such as "3x5": three known fragments, five replicates of each and of the questioned one."""
    parts = str(text).lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.strip().isdigit() and int(part) > 0 for part in parts):
        raise CaseError("design", design=text)
    known, replicates = map(int, parts)
    return Design(known, 1, replicates, replicates)


class Sources:
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
            fragments, replicates = design.known + 1, design.known_replicates
            raise CaseError("small-database", n=sum(enough), fragments=fragments, replicates=replicates, design=text)

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
class Comparisons:
    """The comparisons of a validation, as tasks that can run in any order."""

    data: Sources
    n_comparisons: int
    seed: int

    def tasks(self, designs: Sequence[Design], stability: bool) -> list[tuple[Any, ...]]:
        """List (design, fold, seed, share of the sources); extra seeds and shares for the first design only."""
        folds = [int(f) for f in np.unique(self.data.fold)]
        listed = [(design_name(d), f, self.seed, 1.0) for d in designs for f in folds]
        few = folds[:2] if stability else []
        listed += [(design_name(designs[0]), f, self.seed + i, 1.0) for i in (1, 2) for f in few]
        return listed + [(design_name(designs[0]), f, self.seed, share) for share in SHARES for f in few]

    def compare(self, name: str, fold: int, seed: int, share: float) -> dict[str, list[float]]:
        """Compare the fragments of the sources in one fold by the others."""
        design = parse_design(name)
        sources = self.data.in_design(design)
        out = [int(i) for i in np.flatnonzero(self.data.fold == fold) if len(sources[i]) > design.known]
        kept = np.flatnonzero(self.data.fold != fold)
        if share < 1:
            kept = np.sort(
                np.random.default_rng(1).permutation(kept)[: max(MIN_SOURCES_FOR_RATIOS, int(share * len(kept)))]
            )
        if not out:
            return {"known": []}
        total = sum(len(s) > design.known for s in sources)
        n = max(1, round(self.n_comparisons * len(out) / total))
        rng = np.random.default_rng([0, fold])  # the comparisons do not depend on the seed
        known, questioned = _draw(out, n, self.data.stratum, rng)
        background = Background([sources[i] for i in kept if len(sources[i]) > 1], seed)
        return _compare(sources, known, questioned, design, background, self.data.logged, rng)


def design_name(design: Design) -> str:
    """Write a design as `parse_design` reads it."""
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
