"""Draw comparisons of known origin from a database, and compute them by every method.

Sources are left out in folds. What a comparison learns, it learns from the other sources.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from transvariation._typing import Fields, Floats, Indices
from transvariation.casework.background.likelihood_ratio import MIN_SOURCES_FOR_RATIOS
from transvariation.casework.background.pairs import Design, Source
from transvariation.casework.database import Database
from transvariation.casework.errors import CaseError
from transvariation.casework.fragments import gather_fragments
from transvariation.casework.validation.methods import Compared, judge_comparisons, matches_interval

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
        source, fragment = database.frame["source"], database.frame["fragment"]
        self.sources = gather_fragments(values, list(source + "\n" + fragment), list(source)).by_source()
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
            r, need = design.known_replicates, 2 * MIN_FOLDS
            raise CaseError(
                "small-database", n=sum(enough), need=need, fragments=design.known + 1, replicates=r, design=text
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
class Comparisons:
    """The comparisons of a validation, as tasks that can run in any order."""

    data: Sources
    n_comparisons: int
    seed: int
    ratios: bool = True

    def tasks(self, designs: Sequence[Design], stability: bool) -> list[tuple[str, int, int, float]]:
        """List (design, fold, seed, share of the sources); extra seeds and shares for the first design only."""
        folds = [int(f) for f in np.unique(self.data.fold)]
        listed = [(design_name(d), f, self.seed, 1.0) for d in designs for f in folds]
        few = folds[:2] if stability else []
        listed += [(design_name(designs[0]), f, self.seed + i, 1.0) for i in (1, 2) for f in few]
        return listed + [(design_name(designs[0]), f, self.seed, share) for share in SHARES for f in few]

    def compare(self, name: str, fold: int, seed: int, share: float) -> dict[str, list[float]]:
        """Compare the fragments of the sources in one fold by the others, as cases are judged."""
        design = parse_design(name)
        known, questioned, drawn = self.draw(design, fold)
        if not drawn:
            return {"known": []}
        found: Fields = {"known": known, "questioned": questioned}
        found["astm"] = [matches_interval(each, self.data.logged) for each in drawn]
        others = self.ratios and (seed, share) == (self.seed, 1.0)  # repetitions show the stability of the method
        found |= judge_comparisons(drawn, self.background(fold, share), seed, design, self.ratios, others)
        return {name: np.asarray(values).tolist() for name, values in found.items()}

    def background(self, fold: int, share: float = 1.0) -> list[Source]:
        """Return the sources outside a fold, or a share of them."""
        kept = np.flatnonzero(self.data.fold != fold)
        if share < 1:
            n = max(MIN_SOURCES_FOR_RATIOS, int(share * len(kept)))
            kept = np.sort(np.random.default_rng(1).permutation(kept)[:n])
        return [self.data.sources[i] for i in kept]

    def draw(self, design: Design, fold: int) -> tuple[Indices, Indices, list[Compared]]:
        """Draw the comparisons of a fold: the sources of known and questioned fragments, and the fragments."""
        sources = self.data.in_design(design)
        enough = [len(source) > design.known for source in sources]
        out = [int(i) for i in np.flatnonzero(self.data.fold == fold) if enough[i]]
        if not out:
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), []
        rng = np.random.default_rng([0, fold])  # the comparisons do not depend on the seed
        n = max(1, round(self.n_comparisons * len(out) / sum(enough)))
        known, questioned = _draw_sources(out, n, self.data.stratum, rng)
        drawn, (k, r) = [], (design.known, design.known_replicates)
        for one, other in zip(known, questioned, strict=True):
            order = rng.permutation(len(sources[one]))
            fragments = [_some(sources[one][i], r, rng) for i in order[:k]]
            rest = order[k:] if one == other else rng.permutation(len(sources[other]))
            drawn.append(Compared(fragments, _some(sources[other][rest[0]], r, rng)))
        return known, questioned, drawn


def design_name(design: Design) -> str:
    """Write a design as `parse_design` reads it."""
    return f"{design.known}x{design.known_replicates}"


def _draw_sources(out: Sequence[int], n: int, stratum: Indices, rng: np.random.Generator) -> tuple[Indices, Indices]:
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


def _some(rows: Floats, n: int, rng: np.random.Generator) -> Floats:
    return rows[rng.permutation(len(rows))[:n]]
