"""Error rates of casework comparisons with few known fragments, on Zadora's and the NFI's glass and on simulated panes.

Zadora's glass has three levels: 200 panes, four fragments each, three replicates each. The NFI's has pieces of panes.
Every comparison is one of sources that the background does not hold (ten folds). The score was chosen on Zadora's
glass; how the case's own source is counted, and from how many control fragments on they calibrate, on simulated panes.
"""

import warnings
from collections.abc import Iterator, Sequence

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.data import DATA
from benchmarks.panes import make_panes
from benchmarks.ratios import cells, folds, ratio_row
from benchmarks.table import RESULTS, Table
from transvariation.casework.astm import MIN_FRAGMENTS, match_interval
from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import (
    Design,
    Pairs,
    Source,
    different_source_pairs,
    same_source_pairs,
    scaled_differences,
)
from transvariation.casework.background.performance import Performance
from transvariation.casework.background.rates import Rate, measure_rate
from transvariation.casework.background.same_source import SameSourceDifferences, VarianceStabilizer, source_p_values
from transvariation.datasets import load_nfi_glass
from transvariation.neighbor_tocc import NeighborTOCC
from transvariation.report.case_figures import draw_ece, draw_tippett
from transvariation.report.figure_style import PHONE_WIDTH, SETTINGS

Floats = NDArray[np.float64]
N_FOLDS = 10
N_DIFFERENT = 8_000
N_DRAWN = 6_000  # same-source pairs of a background: their Monte Carlo error is far below that of the rates
LEVELS = (0.10, 0.05)
NFI = DATA / "nfi_glass"


def run(short: bool) -> Iterator[Table]:
    """Measure false exclusion and false inclusion, and likelihood ratios."""
    glasses = {"NFI": (_nfi(), (Design(2), Design(4)))}
    path = DATA / "zadora_glass" / "glass.csv"
    if path.is_file():
        designs = (Design(3, 1, 3, 3), Design(1, 1, 3, 3), Design(3, 1, 1, 1))
        glasses = {"Zadora": (_zadora(pd.read_csv(path)), designs)} | glasses
    else:
        warnings.warn(f"no {path} (see benchmarks/data.py): casework is measured on the NFI's glass only", stacklevel=2)
    rates = []
    for name, (sources, designs) in glasses.items():
        for design in designs:
            enough = [source for source in sources if len(source) > design.known][: 60 if short else None]
            rates += _rates(name, enough, design, short)
    yield Table("casework_rates", "Comparisons of one questioned fragment with a few known ones", rates)
    yield Table("casework_simulation", "The same on simulated panes", list(_simulated(short)))
    yield Table("casework_basis", "Calibrated by the control or by 48 background panes, at .10", list(_bases(short)))
    if NFI.is_dir():
        yield Table(
            "casework_transfer", "Validation data of the NFI, with its training data as the background", _transfer()
        )
    ratios = [ratio_row(*cell) for cell in cells(short)]
    yield Table("casework_ratios", "Likelihood ratios, calibrated and bounded by the background", ratios)
    if not short:
        _figure(next(iter(glasses.values()))).savefig(RESULTS / "casework_ratios.png", dpi=150)


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
RIVAL = "calibrated Mahalanobis"


def _rates(name: str, sources: list[Source], design: Design, short: bool) -> list[dict]:
    """One row per criterion and nominal level; the 4 s interval also at the multiplier with the same exclusions."""
    n_pairs = (400 if short else N_DIFFERENT) // N_FOLDS
    found: dict[str, list[tuple[Floats, ...]]] = {}
    limits: list[tuple[Floats, ...]] = []
    for number, (background, unseen) in enumerate(folds(sources, N_FOLDS)):
        for stabilize, words in ((True, USED), (False, "the same without stabilized variance")):
            model = SameSourceDifferences(design, stabilize=stabilize, n_pairs=N_DRAWN).fit(background)
            rng = np.random.default_rng(number)
            same = same_source_pairs(_transformed(unseen, model.stabilizer_), design, rng)
            other = different_source_pairs(same, rng, n_pairs)
            both = [scaled_differences(pairs) for pairs in (same, other)]
            found.setdefault(words, []).append(
                (*(model.p_values(d) for d in both), other.weight, *_owners(number, same, other))
            )
        found.setdefault(RIVAL, []).append(
            (*(_mahalanobis_p_values(model, d) for d in both), other.weight, *_owners(number, same, other))
        )
        if design.known >= MIN_FRAGMENTS:
            limits.append(_astm_multipliers(unseen, design, np.random.default_rng(number), 1_000 * number))
    joined = {key: [np.concatenate(x) for x in zip(*parts, strict=True)] for key, parts in found.items()}
    astm = [np.concatenate(x) for x in zip(*limits, strict=True)] if limits else None
    rows = []
    for level in LEVELS:
        for criterion, (same_p, different_p, weight, owner, one, two) in joined.items():
            exclusion = measure_rate(same_p <= level, owner)
            inclusion = measure_rate(different_p > level, one, two, weight)
            rows.append(_row(name, design, criterion, level, exclusion, inclusion))
        if astm is not None:
            excluded = float((joined[USED][0] <= level).mean())
            multiplier = float(np.quantile(astm[0], 1 - excluded))
            words = f"4 s interval with ± {multiplier:.1f} instead of 4"
            rows.append(_row(name, design, words, level, *_astm_rates(astm, multiplier)))
    if astm is not None:
        rows.append(_row(name, design, "4 s interval", None, *_astm_rates(astm, 4.0)))
    return rows


def _astm_rates(found: Sequence[Floats], multiplier: float) -> tuple[Rate, Rate]:
    """False exclusion and false inclusion of the criterion at a multiplier."""
    same, different, owner, one, two = found
    return measure_rate(same > multiplier, owner), measure_rate(different <= multiplier, one, two)


def _owners(number: int, same: Pairs, other: Pairs) -> tuple[Floats, Floats, Floats]:
    """Number the sources of pairs over all folds."""
    return tuple(1_000 * number + x for x in (same.source, other.source, other.other))


def _mahalanobis_p_values(model: SameSourceDifferences, differences: Floats) -> Floats:
    """Calibrate the Mahalanobis distance by the same differences, each source left out of the covariance."""
    own, theirs = (-(x**2).sum(axis=1) for x in (model.held_out_, differences @ model.whitening_))
    return source_p_values(own, theirs, model.pairs_.source)


def _transformed(sources: Sequence[Source], stabilizer: VarianceStabilizer) -> list[Source]:
    return [[stabilizer.transform(x) for x in source] for source in sources]


def _simulated(short: bool) -> Iterator[dict]:
    """One row per number of background panes, of elements and of known fragments; then unequal replicates."""
    cells = [(n, p, k, 5, 5) for n in (20, 48, 100, 200) for p in (5, 10, 18) for k in (1, 3, 5, 10)]
    cells += [(48, 18, 1, 5, 1), (48, 18, 3, 5, 1), (48, 18, 3, 5, 3), (48, 18, 3, 1, 5)]
    for n, p, k, r_known, r_questioned in [(20, 5, 3, 2, 2), (48, 18, 10, 2, 1)] if short else cells:
        row = {"sources": n, "elements": p, "known": k, "replicates": f"{r_known} / {r_questioned}"}
        design = Design(k, 1, r_known, r_questioned)
        for level, rates in simulated_rates(n, p, design, n_backgrounds=2 if short else 30).items():
            row |= {f"{words}, {level:.2f}": f"{rate:.3f}" for words, rate in rates.items()}
        yield row


def simulated_rates(
    n: int, p: int, design: Design, n_backgrounds: int, n_unseen: int = 40, seed: int = 0
) -> dict[float, dict[str, float]]:
    """False exclusion, and false inclusion among panes of one maker, of unseen simulated panes."""
    found: dict[str, list[tuple[Floats, Floats]]] = {"tp": [], "Mahalanobis": []}
    k = design.known
    for number in range(n_backgrounds):
        rng = np.random.default_rng([seed, number, n, p, k])
        panes, makers = make_panes(n + n_unseen, p, rng)
        model = SameSourceDifferences(design, number, n_pairs=3_000).fit([list(pane) for pane in panes[:n]])
        unseen = [model.stabilizer_.transform(x.reshape(-1, p)).reshape(x.shape) for x in panes[n:]]
        known = np.array([x[:k, : design.known_replicates].mean(axis=(0, 1)) for x in unseen])
        questioned = np.array([x[k, : design.questioned_replicates].mean(axis=0) for x in unseen])
        one, other = np.nonzero(np.triu(makers[n:, None] == makers[n:], 1))
        both = [(known[i] - questioned[j]) / np.sqrt(1 + 1 / k) for i, j in ((..., ...), (one, other))]
        found["tp"].append(tuple(model.p_values(d) for d in both))
        found["Mahalanobis"].append(tuple(_mahalanobis_p_values(model, d) for d in both))
    rates: dict[float, dict[str, float]] = {level: {} for level in LEVELS}
    for criterion, parts in found.items():
        same, different = (np.concatenate(x) for x in zip(*parts, strict=True))
        for level, row in rates.items():
            row[f"{criterion}: false exclusion"] = float((same <= level).mean())
            row[f"{criterion}: false inclusion"] = float((different > level).mean())
    return rates


def _bases(short: bool) -> Iterator[dict]:
    """Compare the classifier of the control fragments with the background, on simulated panes."""
    for p, k in [(5, 10)] if short else [(p, k) for p in (5, 18) for k in (10, 20, 30, 50)]:
        rates: dict[str, list[float]] = {}
        for number in range(1 if short else 5):
            panes, makers = make_panes(78, p, np.random.default_rng([number, p, k]), k + 1, 3)
            model = SameSourceDifferences(Design(k, 1, 3, 3), number).fit([list(pane) for pane in panes[:48]])
            stable = [model.stabilizer_.transform(x.reshape(-1, p)).reshape(x.shape) for x in panes]
            questioned, moved = (np.array([x[k].mean(axis=0) for x in group[48:]]) for group in (panes, stable))
            for i in range(48, len(panes)):
                by_control = NeighborTOCC().fit(panes[i][:k].mean(axis=1)).p_values(questioned)
                differences = (stable[i][:k].mean(axis=(0, 1)) - moved) / np.sqrt(1 + 1 / k)
                own = np.arange(48, len(panes)) == i
                other = (makers[48:] == makers[i]) & ~own
                for basis, found in (("control", by_control), ("background", model.p_values(differences))):
                    rates.setdefault(f"{basis}: false exclusion", []).extend(found[own] <= LEVELS[0])
                    rates.setdefault(f"{basis}: false inclusion", []).extend(found[other] > LEVELS[0])
        yield {"elements": p, "known": k} | {words: f"{np.mean(x):.3f}" for words, x in rates.items()}


def _transfer() -> list[dict]:
    """Judge the NFI's validation data with its training data, and with each other, as the background."""
    sets = {}
    for name in ("training", "duplo", "triplo"):
        table = pd.read_csv(NFI / f"{name}.csv")
        sets[name] = [rows.iloc[:, 3:].to_numpy() for _, rows in table.groupby("Item", sort=False)]
    both = list(zip(sets["triplo"], sets["duplo"], strict=True))
    comparisons = {
        "training: two against the third": [(x[1:], x[:1]) for x in sets["training"]],
        "triplo: two against the third": [(t[1:], t[:1]) for t, _ in both],
        "duplo: one against the other": [(d[1:], d[:1]) for _, d in both],
        "one of triplo against one of duplo": [(t[:1], d[:1]) for t, d in both],
        "triplo against one of duplo": [(t, d[:1]) for t, d in both],
        "triplo against duplo": [(t, d) for t, d in both],
    }
    backgrounds = {"training": sets["training"], "triplo and duplo": [np.concatenate(pair) for pair in both]}
    rows = []
    for background, items in backgrounds.items():
        for words, pairs in comparisons.items():
            own = words.startswith("training") == (background == "training")
            if words.startswith("training") and not own:
                continue
            rows.append({"background": background, "compared": words} | _transferred(items, pairs, own))
    return rows


def _transferred(items: list[Floats], pairs: list[tuple[Floats, Floats]], own: bool) -> dict[str, str]:
    """False exclusion of pairs; items that are also in the background are left out of it in ten folds."""
    design = Design(*(len(x) for x in pairs[0]))
    fold = np.random.default_rng(0).permutation(len(pairs)) % N_FOLDS if own else np.zeros(len(pairs))
    found, squares = [], []
    for number in np.unique(fold):
        at = np.flatnonzero(fold == number)
        left_out = set(at.tolist()) if own else set()
        model = SameSourceDifferences(design).fit([list(x[:, None]) for i, x in enumerate(items) if i not in left_out])
        means = [np.array([model.stabilizer_.transform(pairs[i][side]).mean(axis=0) for i in at]) for side in (0, 1)]
        differences = (means[0] - means[1]) / np.sqrt(1 / design.known + 1 / design.questioned)
        found.append(model.p_values(differences))
        squares.append(((differences @ model.whitening_) ** 2).mean(axis=1))
    p, square = np.concatenate(found), np.concatenate(squares)
    return {
        "comparisons": str(len(p)),
        "mean square": f"{square.mean():.2f}",
        "false exclusion at .10": f"{(p <= 0.10).mean():.3f}",
        "false exclusion at .05": f"{(p <= 0.05).mean():.3f}",
    }


def _row(name: str, design: Design, criterion: str, level: float | None, exclusion: Rate, inclusion: Rate) -> dict:
    row = {
        "glass": name,
        "known": design.known,
        "replicates": design.known_replicates,
        "criterion": criterion,
        "nominal": "" if level is None else f"{level:.2f}",
        "false exclusion": f"{exclusion.share:.3f}",
        "false inclusion": f"{inclusion.share:.4f}" if inclusion.share < 0.01 else f"{inclusion.share:.3f}",
    }
    for words, rate in (("false exclusion", exclusion), ("false inclusion", inclusion)):
        row |= {f"{words}, n": rate.n, f"{words}, 95%": f"{rate.low:.4f} to {rate.high:.4f}"}
    return row


def _astm_multipliers(
    sources: list[Source], design: Design, rng: np.random.Generator, first: int
) -> tuple[Floats, ...]:
    """Return the multiplier at which each comparison would just be a match, and its sources, numbered from the first.

    For the same source: multipliers, sources; for different ones: multipliers, sources of known and of questioned
    fragments.
    """
    measured = [[10.0 ** x[: design.known_replicates] for x in source] for source in sources]
    means = [np.array([x.mean(axis=0) for x in source]) for source in measured]
    same, different = [], []
    for i, m in enumerate(means):
        for q in range(len(m)):
            known = rng.permutation(np.delete(np.arange(len(m)), q))[: design.known]
            low, high = match_interval(np.concatenate([measured[i][k] for k in known]), 1.0)
            center, half = (low + high) / 2, (high - low) / 2
            same.append(((np.abs(m[q] - center) / half).max(), first + i))
            others = (i + rng.integers(1, len(means), size=10)) % len(means)
            different += [((np.abs(means[j][0] - center) / half).max(), first + i, first + j) for j in others]
    (own, owner), (theirs, one, two) = np.transpose(same), np.transpose(different)
    return own, theirs, owner, one, two


def _performance(sources: list[Source], design: Design) -> Performance:
    """Measure the system on the sources themselves, each left out in turn."""
    ratio = Background(sources).calibrated(design)
    assert ratio is not None
    return ratio.performance


def _figure(glass: tuple[list[Source], tuple[Design, ...]]) -> Figure:
    sources, designs = glass
    found = _performance(sources, designs[0])
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(PHONE_WIDTH, 6.6))
        above, below = figure.subplots(2, 1)
        draw_tippett(above, found.tippett_same, found.tippett_different)
        draw_ece(below, found.ece)
    return figure
