"""Error rates of casework comparisons with few known fragments, on Zadora's and the NFI's glass.

Zadora's glass has three levels: 200 panes, four fragments each, three replicates each. The NFI's has pieces of panes.
Every
comparison is one of sources that the background does not hold (ten folds).
"""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.data import DATA
from benchmarks.table import RESULTS, Table
from transvariation.casework.astm import MIN_FRAGMENTS, match_interval
from transvariation.casework.likelihood_ratio import LikelihoodSystem, Performance, ThreeLevelModel, performance
from transvariation.casework.same_source import (
    Design,
    Pairs,
    SameSourceDifferences,
    Source,
    different_source_pairs,
    same_source_pairs,
    scaled_differences,
)
from transvariation.casework.stabilizer import VarianceStabilizer
from transvariation.conformal import p_values
from transvariation.datasets import load_nfi_glass
from transvariation.report.case_figures import draw_performance

Floats = NDArray[np.float64]
N_FOLDS = 10
N_DIFFERENT = 8_000
LEVELS = (0.10, 0.05)


class ScoreBased:
    """A likelihood ratio from the tp of the difference: the alternative to the three-level model."""

    def __init__(self, design: Design):
        self.design = design

    def fit(self, background: Sequence[Source]) -> "ScoreBased":
        self.differences = SameSourceDifferences(self.design).fit(background)
        return self

    def log10_lr(self, pairs: Pairs, design: Design) -> Floats:
        return self.differences.score(scaled_differences(pairs)) / np.log(10)


def run(short: bool) -> Iterator[Table]:
    """Measure false exclusion and false inclusion, and likelihood ratios."""
    glasses = {"NFI": (_nfi(), (Design(2), Design(4)))}
    path = DATA / "zadora_glass" / "glass.csv"
    if path.is_file():
        designs = (Design(3, 1, 3, 3), Design(1, 1, 3, 3), Design(3, 1, 1, 1))
        glasses = {"Zadora": (_zadora(pd.read_csv(path)), designs)} | glasses
    else:
        warnings.warn(f"no {path} (see benchmarks/data.py): casework is measured on the NFI's glass only", stacklevel=2)
    rates, ratios = [], []
    for name, (sources, designs) in glasses.items():
        sources = sources[:60] if short else sources
        for design in designs:
            enough = [source for source in sources if len(source) > design.known]
            rates += _rates(name, enough, design, short)
            ratios += _ratios(name, enough, design)
    yield Table("casework_rates", "Comparisons of one questioned fragment with a few known ones", rates)
    yield Table("casework_ratios", "Likelihood ratios, calibrated and bounded by the background", ratios)
    if not short:
        _figure(next(iter(glasses.values()))).savefig(RESULTS / "casework_ratios.png", dpi=130)


def _zadora(table: pd.DataFrame) -> list[Source]:
    elements = list(table.columns[2:])
    return [
        [rows[elements].to_numpy() for _, rows in item.groupby("fragment", sort=False)]
        for _, item in table.groupby("item", sort=False)
    ]


def _nfi() -> list[Source]:
    glass = load_nfi_glass()
    return [list(rows[glass.elements].to_numpy()[:, None, :]) for _, rows in glass.frame.groupby("source", sort=False)]


USED = "tp of same-source differences (used)"


def _rates(name: str, sources: list[Source], design: Design, short: bool) -> list[dict]:
    """One row per criterion and nominal level; the ASTM criterion also at the multiplier with the same exclusions."""
    n_pairs = (400 if short else N_DIFFERENT) // N_FOLDS
    found: dict[str, list[tuple[Floats, Floats]]] = {}
    limits: list[tuple[Floats, Floats]] = []
    for number, (background, unseen) in enumerate(_folds(sources, N_FOLDS)):
        plain = _p_values(background, unseen, design, number, n_pairs)
        stable = _p_values(*_stabilized(background, unseen), design, number, n_pairs)
        found.setdefault(USED, []).append(stable["tp"])
        found.setdefault("the same without stabilized variance", []).append(plain["tp"])
        found.setdefault("calibrated Mahalanobis", []).append(plain["Mahalanobis"])
        if design.known >= MIN_FRAGMENTS:
            limits.append(_astm_multipliers(unseen, design, np.random.default_rng(number)))
    joined = {key: [np.concatenate(x) for x in zip(*parts, strict=True)] for key, parts in found.items()}
    astm = [np.concatenate(x) for x in zip(*limits, strict=True)] if limits else None
    rows = []
    for level in LEVELS:
        for criterion, (same_p, different_p) in joined.items():
            rows.append(_row(name, design, criterion, level, (same_p <= level).mean(), (different_p > level).mean()))
        if astm is not None:
            excluded = float((joined[USED][0] <= level).mean())
            multiplier = float(np.quantile(astm[0], 1 - excluded))
            words = f"ASTM E2927 with ± {multiplier:.1f} instead of 4"
            rows.append(_row(name, design, words, level, (astm[0] > multiplier).mean(), (astm[1] <= multiplier).mean()))
    if astm is not None:
        rows.append(_row(name, design, "ASTM E2927", None, (astm[0] > 4).mean(), (astm[1] <= 4).mean()))
    return rows


def _folds(sources: list[Source], n_folds: int) -> Iterator[tuple[list[Source], list[Source]]]:
    """Divide the sources into a background and unseen ones, in turn."""
    fold = np.random.default_rng(0).permutation(len(sources)) % n_folds
    for number in range(n_folds):
        yield tuple(
            [s for s, f in zip(sources, fold, strict=True) if (f == number) == unseen] for unseen in (False, True)
        )


def _stabilized(background: list[Source], unseen: list[Source]) -> tuple[list[Source], ...]:
    stabilizer = VarianceStabilizer().fit(background)
    return tuple([[stabilizer.transform(x) for x in source] for source in part] for part in (background, unseen))


def _p_values(
    background: list[Source], unseen: list[Source], design: Design, seed: int, n_pairs: int
) -> dict[str, tuple[Floats, ...]]:
    """P-values of comparisons within and between unseen sources."""
    rng = np.random.default_rng(seed)
    same = same_source_pairs(unseen, design, rng)
    both = [scaled_differences(pairs) for pairs in (same, different_source_pairs(same, n_pairs, rng))]
    model = SameSourceDifferences(design).fit(background)
    own = -(model.whitened_**2).sum(axis=1)
    squares = [-((d @ model.whitening_) ** 2).sum(axis=1) for d in both]
    return {
        "tp": tuple(model.p_values(d) for d in both),
        "Mahalanobis": tuple(p_values(own, square, model.weights_) for square in squares),
    }


def _row(name: str, design: Design, criterion: str, level: float | None, exclusion: float, inclusion: float) -> dict:
    return {
        "glass": name,
        "known": design.known,
        "replicates": design.known_replicates,
        "criterion": criterion,
        "nominal": "" if level is None else f"{level:.2f}",
        "false exclusion": f"{exclusion:.3f}",
        "false inclusion": f"{inclusion:.4f}" if inclusion < 0.01 else f"{inclusion:.3f}",
    }


def _astm_multipliers(sources: list[Source], design: Design, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The multiplier at which each comparison would just be a match, for the same and for other sources."""
    means = [np.array([(10.0**x).mean(axis=0) for x in source]) for source in sources]
    same, different = [], []
    for i, m in enumerate(means):
        for q in range(len(m)):
            known = rng.permutation(np.delete(m, q, axis=0))[: design.known]
            low, high = match_interval(known, 1.0)
            center, half = (low + high) / 2, (high - low) / 2
            same.append((np.abs(m[q] - center) / half).max())
            others = (i + rng.integers(1, len(means), size=10)) % len(means)
            different += [(np.abs(means[j][0] - center) / half).max() for j in others]
    return np.array(same), np.array(different)


def _ratios(name: str, sources: list[Source], design: Design) -> list[dict]:
    rows = []
    models = {
        "three-level (used)": (ThreeLevelModel, True),
        "the same without stabilized variance": (ThreeLevelModel, False),
        "from tp": (lambda: ScoreBased(design), True),
    }
    for words, (model, stabilized) in models.items():
        measured = _performance(sources, design, model, stabilized)
        rows.append(
            {
                "glass": name,
                "known": design.known,
                "replicates": design.known_replicates,
                "system": words,
                "Cllr": f"{measured.cllr:.3f}",
                "Cllr after recalibration": f"{measured.cllr_min:.3f}",
                "same source, LR < 1": f"{measured.same_below_one:.1%}",
                "different sources, LR > 1": f"{measured.different_above_one:.1%}",
            }
        )
    return rows


def _performance(sources: list[Source], design: Design, model: Any, stabilized: bool) -> Performance:
    """Fit and calibrate a system on four fifths of the sources and measure it on the others, in turn."""
    ratios, labels = [], []
    for number, (background, unseen) in enumerate(_folds(sources, 5)):
        if stabilized:
            background, unseen = _stabilized(background, unseen)
        system = LikelihoodSystem(model=model).fit(background).calibrate(design)
        rng = np.random.default_rng(number)
        same = same_source_pairs(unseen, design, rng)
        for pairs in (same, different_source_pairs(same, N_DIFFERENT // 5, rng)):
            ratios.append(system.log10_lr(pairs))
            labels.append(pairs.same)
    values = np.concatenate(ratios)
    return performance(values, np.concatenate(labels), (float(values.min()), float(values.max())))


def _figure(glass: tuple[list[Source], tuple[Design, ...]]) -> Figure:
    sources, designs = glass
    return draw_performance(_performance(sources, designs[0], ThreeLevelModel, stabilized=True))
