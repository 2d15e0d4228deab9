"""Compare likelihood ratios with those of lir's two-level model and of a calibrated Mahalanobis distance.

The combination of scores was chosen on every other source of Zadora's and the NFI's glass and of the tablets, and on
simulated panes with other seeds. Here are the other sources and other panes; the vehicle glass of FIU was never looked
at. Every pair is one of sources that the background does not hold.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm

from benchmarks.data import DATA
from benchmarks.panes import make_panes
from transvariation._typing import Floats
from transvariation.casework.background.likelihood_ratio import calibrated_ratio
from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import (
    Design,
    Pairs,
    Source,
    different_source_pairs,
    same_source_pairs,
    scaled_differences,
)
from transvariation.casework.background.performance import cllr, elub
from transvariation.casework.background.three_level import shrunk_covariance

N_TEST_FOLDS = 3
N_CALIBRATION_FOLDS = 5  # of the background, by which a peer is calibrated
N_DIFFERENT = 2_000  # pairs of different sources in each fold
MOST_SOURCES = 300  # of a large set
PEERS = ("lir", "Mahalanobis")


def cells(short: bool) -> Iterator[tuple[str, list[Source], Design]]:
    """List the data and designs: other sources than those by which the system was chosen."""
    for name, sources, designs in _real():
        for design in designs:
            enough = [source for source in sources[1::2] if len(source) > design.known]
            yield name, enough[: 60 if short else MOST_SOURCES], design
    designs = [Design(1, 1, 1, 1), Design(1, 1, 5, 5), Design(3, 1, 1, 1), Design(3, 1, 5, 5), Design(10, 1, 5, 5)]
    for number, (p, design) in enumerate([*((18, d) for d in designs), (8, designs[3]), (4, designs[3])]):
        panes, _ = make_panes(48, p, np.random.default_rng([2026, number]))
        yield "simulated", [list(pane) for pane in panes], design


def _real() -> Iterator[tuple[str, list[Source], tuple[Design, ...]]]:
    if (path := DATA / "zadora_glass" / "glass.csv").is_file():
        designs = Design(1, 1, 1, 1), Design(1, 1, 3, 3), Design(3, 1, 1, 1), Design(3, 1, 3, 3)
        yield "Zadora", sources_of(pd.read_csv(path), "item", "fragment"), designs
    if (path := DATA / "nfi_glass" / "training.csv").is_file():
        table = pd.concat(
            [pd.read_csv(path), pd.read_csv(path.with_name("triplo.csv")).assign(Item=lambda t: -t["Item"])]
        )
        yield "NFI", sources_of(table.drop(columns=["id", "Piece"]), "Item"), (Design(1), Design(2))
    if (path := DATA / "fiu_glass" / "vehicle.csv").is_file():
        yield "FIU", sources_of(pd.read_csv(path), "item"), (Design(1), Design(3), Design(8))
    if (path := DATA / "xtc_tablets" / "tablets.csv").is_file():
        table = pd.read_csv(path).dropna().drop(columns="measurement")
        yield "tablets", sources_of(table, "batchnumber"), (Design(1),)


def sources_of(table: pd.DataFrame, source: str, fragment: str | None = None) -> list[Source]:
    """Divide a table into sources and fragments; without a column of fragments every row is one."""
    variables = [name for name in table.columns if name not in (source, fragment)]
    found = []
    for _, rows in table.groupby(source, sort=False):
        parts = (
            [rows.iloc[[i]] for i in range(len(rows))] if fragment is None else [x for _, x in rows.groupby(fragment)]
        )
        found.append([part[variables].to_numpy(dtype=float) for part in parts])
    return found


def ratio_row(name: str, sources: list[Source], design: Design) -> dict[str, Any]:
    """Measure the systems on the same pairs, with the same calibration and the same bounds.

    A peer is computed on the measurements and on the stabilized ones; the better of both counts.
    """
    found: dict[str, list[Floats]] = {}
    kinds: list[Pairs] = []
    for number, (background, unseen) in enumerate(folds(sources, N_TEST_FOLDS)):
        rng = np.random.default_rng(number)
        model = Background(background)
        ratio = model.calibrated(design)
        assert ratio is not None
        seen, fresh = (_with_stabilized(part, model) for part in (background, unseen))
        p = background[0][0].shape[1]
        views = {"measured": slice(0, p), "stabilized": slice(p, 2 * p)}
        select = np.vstack([np.zeros((p, p)), model.differences(design).whitening_])
        same = same_source_pairs(fresh, design, rng, 600)
        both = same, different_source_pairs(same, rng, N_DIFFERENT, whitening=select)
        kinds += both
        found.setdefault("used", []).extend(ratio.log10_lr(_view(pairs, views["stabilized"])) for pairs in both)
        for peer, view, system in _peers(seen, views, select, design, rng):
            found.setdefault(f"{peer} {view}", []).extend(system(pairs) for pairs in both)
    same = np.concatenate([pairs.same for pairs in kinds])
    weight = np.concatenate([pairs.weight / pairs.weight.sum() for pairs in kinds])
    source = np.concatenate([pairs.source + 10_000 * (i // 2) for i, pairs in enumerate(kinds)])
    values = {system: np.concatenate(parts) for system, parts in found.items()}
    costs = {system: cllr(x, same, weight) for system, x in values.items()}
    chosen = {"used": "used"} | {r: min((f"{r} {v}" for v in views), key=costs.__getitem__) for r in PEERS}
    best = min((chosen[peer] for peer in PEERS), key=costs.__getitem__)
    shares = weight / np.where(same, weight[same].sum(), weight[~same].sum())

    def difference(quantity: Callable[[Floats], Floats], peer: str) -> tuple[float, float]:
        return _difference(shares * (quantity(values["used"]) - quantity(values[peer])), source)

    cost, error = difference(lambda x: np.logaddexp(0, np.where(same, -x, x) * np.log(10)) / np.log(2) / 2, best)
    more, error_of_more = difference(lambda x: 100.0 * (same & (x < -1)), chosen["lir"])
    row = {
        "data": name,
        "variables": p,
        "sources": len(sources),
        "known x replicates": f"{design.known} x {design.known_replicates}",
    }
    row |= {f"Cllr, {system}": f"{costs[key]:.3f}" for system, key in chosen.items()}
    row["used - better peer"] = f"{cost:+.3f} [{cost - error:+.3f}, {cost + error:+.3f}]"
    for system, key in chosen.items():
        row[f"same source, LR < 1/10, {system}"] = f"{np.average(values[key][same] < -1, weights=weight[same]):.2%}"
    row["LR < 1/10, used - lir"] = f"{more:+.2f} [{more - error_of_more:+.2f}, {more + error_of_more:+.2f}]"
    return row


def _difference(parts: Floats, source: Floats) -> tuple[float, float]:
    """Sum a difference over pairs; compute half its 95% interval, over sources of the known fragments."""
    of_source = np.bincount(np.unique(source, return_inverse=True)[1], parts)
    return float(of_source.sum()), float(norm.ppf(0.975) * of_source.std(ddof=1) * np.sqrt(len(of_source)))


def folds(sources: Sequence[Source], n_folds: int) -> Iterator[tuple[list[Source], list[Source]]]:
    """Divide the sources into a background and unseen ones, in turn."""
    fold = np.random.default_rng(0).permutation(len(sources)) % n_folds
    for number in range(n_folds):
        yield tuple(
            [s for s, f in zip(sources, fold, strict=True) if (f == number) == unseen] for unseen in (False, True)
        )


def _with_stabilized(sources: Sequence[Source], model: Background) -> list[Source]:
    """Put the stabilized measurements beside the measurements, so that both have the same pairs."""
    return [[np.hstack([x, model.stabilizer.transform(x)]) for x in source] for source in sources]


def _view(pairs: Pairs, columns: slice) -> Pairs:
    return Pairs(**vars(pairs) | {"known": pairs.known[:, columns], "questioned": pairs.questioned[:, columns]})


def _peers(
    sources: list[Source], views: dict[str, slice], select: Floats, design: Design, rng: np.random.Generator
) -> Iterator[tuple[str, str, Callable[[Pairs], Floats]]]:
    """Calibrate and bound the peers by folds of unseen sources; yield them as functions of pairs."""
    r = design.questioned_replicates

    def fit(peer: str, view: slice, part: Sequence[Source]) -> Any:
        means = [np.array([x[:r, view].mean(axis=0) for x in source]) for source in part]
        return (TwoLevel if peer == "lir" else Mahalanobis)(means)

    parts = []
    for seen, unseen in folds(sources, N_CALIBRATION_FOLDS):
        same = same_source_pairs(unseen, design, rng, 1_000)
        parts.append((seen, (same, different_source_pairs(same, rng, 1_000, whitening=select))))
    label = np.concatenate([pairs.same for _, both in parts for pairs in both])
    weight = np.concatenate([pairs.weight / pairs.weight.sum() for _, both in parts for pairs in both])
    numbers = sum(map(len, sources)), len(sources) * (len(sources) - 1) // 2
    for peer in PEERS:
        for name, view in views.items():
            systems = [fit(peer, view, seen) for seen, _ in parts]
            raw = np.concatenate(
                [
                    system.score(_view(pairs, view))
                    for system, (_, both) in zip(systems, parts, strict=True)
                    for pairs in both
                ]
            )
            calibrate = calibrated_ratio(raw, label, weight)
            bounds, final = elub(calibrate(raw), label, weight, numbers), fit(peer, view, sources)

            def log10_lr(pairs: Pairs, calibrate=calibrate, bounds=bounds, final=final, view=view) -> Floats:
                return np.clip(calibrate(final.score(_view(pairs, view))), *bounds)

            yield peer, name, log10_lr


class TwoLevel:
    """The two-level model on fragment means as lir's TwoLevelModelNormalKDE computes it (Bolck et al., 2009)."""

    def __init__(self, means: Sequence[Floats]):
        self.centers = np.array([m.mean(axis=0) for m in means])
        n, p = self.centers.shape
        sizes = np.array([len(m) for m in means])
        self.within = np.mean([np.cov(m.T).reshape(p, p) for m in means], axis=0)
        kappa = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (n - 1)
        spread = self.centers - np.average(self.centers, axis=0, weights=sizes)
        between = ((spread * sizes[:, None]).T @ spread / (n - 1) - self.within) / kappa
        values, axes = np.linalg.eigh((4 / ((p + 2) * n)) ** (2 / (p + 4)) * between)
        self.kernel = (axes * np.maximum(values, 1e-12 * values[-1])) @ axes.T

    def score(self, pairs: Pairs) -> Floats:
        ratios = np.empty(len(pairs.source))
        for k in np.unique(pairs.n_known):
            at = pairs.n_known == k
            a, b, one, two = pairs.known[at], pairs.questioned[at], self.within / k, self.within
            joint = np.linalg.inv(np.linalg.inv(one) + np.linalg.inv(two))
            middle = (a @ np.linalg.inv(one) + b @ np.linalg.inv(two)) @ joint
            logs = self._log_density(middle, joint) - self._log_density(a, one) - self._log_density(b, two)
            ratios[at] = logs + multivariate_normal(cov=one + two).logpdf(a - b)
        return ratios / np.log(10)

    def _log_density(self, points: Floats, error: Floats) -> Floats:
        normal = multivariate_normal(cov=self.kernel + error)
        return logsumexp([normal.logpdf(points - center) for center in self.centers], axis=0) - np.log(
            len(self.centers)
        )


class Mahalanobis:
    """The log distance of the means, by the shrunk covariance within sources."""

    def __init__(self, means: Sequence[Floats]):
        residuals = np.concatenate([m - m.mean(axis=0) for m in means])
        covariance = shrunk_covariance(residuals, sum(len(m) - 1 for m in means))
        self.root = np.linalg.inv(np.linalg.cholesky(covariance))

    def score(self, pairs: Pairs) -> Floats:
        return -np.log(((scaled_differences(pairs) @ self.root.T) ** 2).sum(axis=1) + 1e-9)
