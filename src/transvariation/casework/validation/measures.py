"""Measure error rates and likelihood ratios on comparisons of known origin."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from scipy.stats import t

from transvariation._typing import Bools, Fields, Floats, Indices
from transvariation.casework.background.likelihood_ratio import MIN_SOURCES_FOR_RATIOS
from transvariation.casework.background.pairs import Design
from transvariation.casework.background.performance import cllr, ece_curves, recalibrated
from transvariation.casework.background.rates import measure_rate
from transvariation.casework.validation.comparisons import SHARES, Comparisons, Sources, design_name
from transvariation.casework.validation.criteria import OF_RATIOS, Verdict
from transvariation.casework.validation.result import DesignResult, HardPair, Misleading, Rates, Ratios
from transvariation.conformal import is_accepted

STRENGTHS = (1, 10, 100, 1000)  # of misleading evidence
N_HARDEST_PAIRS = 20  # pairs that are listed
POINTS_DRAWN = 200  # points of a Tippett curve

Key = tuple[str, int, int, float]  # of the comparisons of a fold: design, fold, seed, share of the sources


def _joined(results: Mapping[Key, Fields], tasks: Sequence[Key]) -> dict[str, Floats]:
    parts = [results[task] for task in tasks if results[task]["known"]]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if all(name in p for p in parts)}


def _excluded(found: Fields, sensitivity: float, method: str = "transvariation") -> Bools:
    """Decide as `judge` does: at the sensitivity, or at the largest that the sources of the background support."""
    n = np.asarray(found["n"])
    used: Floats = np.minimum(sensitivity, n / (n + 1))
    return ~is_accepted(np.asarray(found[method]), used)


def measure_design(
    text: str,
    design: Design,
    data: Sources,
    run: Comparisons,
    results: Mapping[Key, Fields],
    sensitivities: Sequence[float],
) -> DesignResult:
    """Measure the error rates and likelihood ratios of every method in one design."""
    name = design_name(design)
    tasks = [task for task in results if task[0] == name and task[2:] == (run.seed, 1.0)]
    usable = sum(len(source) > design.known for source in data.in_design(design))
    found = _joined(results, tasks)
    known, questioned = found["known"].astype(int), found["questioned"].astype(int)
    same = known == questioned
    alike = ~same & (data.stratum[known] == data.stratum[questioned]) & (data.stratum[known] != "")

    learned = 1 - 1 / len(np.unique(data.fold))
    rate = partial(measure_rate, learned=learned)

    def rates(sensitivity: float | None, excluded: Bools, judged: Bools) -> Rates:
        own, others = judged & same, judged & ~same
        within = judged & alike
        return Rates(
            sensitivity,
            rate(excluded[own], known[own]),
            rate(~excluded[others], known[others], questioned[others]),
            rate(~excluded[within], known[within], questioned[within]) if within.any() else None,
        )

    every = np.ones(len(known), dtype=bool)
    measured: dict[str, tuple[Rates, ...]] = {
        method: tuple(rates(s, _excluded(found, s, method), every) for s in sensitivities)
        for method in ("transvariation", "mahalanobis", "lir")
        if method in found
    }
    applies = np.isfinite(found["astm"])
    if applies.any():
        measured["astm"] = (rates(None, found["astm"] == 0, applies),)
    bounds = found.get("bounds", np.array([-np.inf, np.inf]))
    stated = np.isfinite(found.get("transvariation_lr", np.full(len(known), np.nan)))  # `judge` refuses the others
    ratios = {}
    if (stated & same).any() and (stated & ~same).any():
        own = same[stated], known[stated], questioned[stated]
        for method, ends in (("transvariation", bounds), ("mahalanobis", None), ("lir", None)):
            if f"{method}_lr" in found:
                ratios[method] = _ratios(found[f"{method}_lr"][stated], *own, ends, int((~stated).sum()), learned)
    p, lr = found["transvariation"], np.where(stated, found.get("transvariation_lr", np.nan), np.nan)

    def pairs(kind: Bools, sign: int) -> tuple[HardPair, ...]:
        """List pairs of sources by their smallest (+1) or largest (-1) p-value, equal ones by their ratio."""
        listed: dict[tuple[str, ...], HardPair] = {}
        order = np.lexsort((np.nan_to_num(sign * lr, nan=np.inf), sign * p))
        for i in order[kind[order]]:
            names = data.names[known[i]], data.names[questioned[i]]
            ratio = float(lr[i]) if stated[i] else None
            listed.setdefault(tuple(sorted(names)), HardPair(*names, float(p[i]), ratio))
        return tuple(listed.values())[:N_HARDEST_PAIRS]

    return DesignResult(
        design=text,
        n_sources=usable,
        n_same=int(same.sum()),
        n_different=int((~same).sum()),
        rates=measured,
        ratios=ratios,
        hard_same=pairs(same, 1),
        hard_different=pairs(~same, -1),
    )


def _ratios(
    log10_lr: Floats,
    same: Bools,
    known: Indices,
    questioned: Indices,
    bounds: Floats | None,
    refused: int,
    learned: float,
) -> Ratios:
    best = recalibrated(log10_lr, same)
    finite = np.clip(best, log10_lr.min(), log10_lr.max())
    misleading = tuple(
        Misleading(
            strength,
            measure_rate(log10_lr[same] < -np.log10(strength), known[same], learned=learned),
            measure_rate(log10_lr[~same] > np.log10(strength), known[~same], questioned[~same], learned=learned),
        )
        for strength in STRENGTHS
    )
    shares = np.linspace(0, 1, POINTS_DRAWN)
    ends = (
        (float(log10_lr.min()), float(log10_lr.max())) if bounds is None else (float(bounds.min()), float(bounds.max()))
    )
    return Ratios(
        cllr=cllr(log10_lr, same),
        cllr_interval=cllr_interval(log10_lr, same, known, questioned, learned),
        cllr_min=cllr(best, same),
        dev_pav=float(np.mean(np.abs(log10_lr - finite))),
        bounds=ends,
        refused=refused,
        misleading=misleading,
        tippett_same=tuple(map(float, np.quantile(log10_lr[same], shares))),
        tippett_different=tuple(map(float, np.quantile(log10_lr[~same], shares))),
        ece=ece_curves(log10_lr, best, same),
    )


def cllr_interval(
    log10_lr: Floats, same: Bools, known: Indices, questioned: Indices, learned: float = 1.0
) -> tuple[float, float]:
    """Compute the 95% interval of Cllr, with a variance as that of :func:`measure_rate`."""
    cost = np.logaddexp(0, np.where(same, -1, 1) * log10_lr * np.log(10)) / np.log(2)
    residual = np.zeros(len(cost))
    for kind in (same, ~same):
        residual[kind] = (cost[kind] - cost[kind].mean()) / kind.sum() / 2
    n = int(max(known.max(), questioned.max())) + 1
    of_source = np.bincount(known, residual, n) + np.bincount(questioned[~same], residual[~same], n)
    pair = np.minimum(known, questioned) * n + np.maximum(known, questioned)
    of_pair = np.bincount(np.unique(pair[~same], return_inverse=True)[1], residual[~same])  # counted twice
    variance = max((of_source**2).sum() - (of_pair**2).sum(), (residual**2).sum()) / learned
    value = cllr(log10_lr, same)
    wide = np.exp(t.ppf(0.975, len(np.unique(known)) - 1) * np.sqrt(variance) / value)  # a cost is positive
    return float(value / wide), float(value * wide)


def measure_stability(results: Mapping[Key, Fields], design: Design, sensitivity: float) -> dict[str, float]:
    """Compare what other seeds give for the same comparisons."""
    by_fold: dict[int, list[Fields]] = {}
    for (name, fold, _, share), found in results.items():
        if name == design_name(design) and share == 1.0 and found["known"]:
            by_fold.setdefault(fold, []).append(found)
    several = [alike for alike in by_fold.values() if len(alike) > 1]
    if not several:
        return {}
    spread = {"p_value": 0.0}
    flips = []
    for alike in several:
        p = np.array([each["transvariation"] for each in alike])
        spread["p_value"] = max(spread["p_value"], float(np.ptp(p, axis=0).max()))
        excluded = np.array([_excluded(each, sensitivity) for each in alike])
        flips.append((excluded.any(axis=0) & ~excluded.all(axis=0)).mean())
        if all("transvariation_lr" in each for each in alike):
            lr = np.array([each["transvariation_lr"] for each in alike])
            stated = lr[:, np.isfinite(lr).all(axis=0)]
            spread["log10_lr"] = max(spread.get("log10_lr", 0.0), float(np.ptp(stated, axis=0).max(initial=0.0)))
    return spread | {"changed_conclusions": float(np.mean(flips)), "seeds": float(max(map(len, several)))}


def learning_curve(
    results: Mapping[Key, Fields], design: Design, data: Sources, sensitivity: float
) -> tuple[dict[str, float], ...]:
    """Measure the error rates with a part of the sources, on the comparisons of the same folds."""
    seed = min(task[2] for task in results)
    few = sorted({task[1] for task in results if task[3] < 1})
    points = []
    for share in (*SHARES, 1.0):
        tasks = [
            task for task in results if task[0] == design_name(design) and task[1] in few and task[2:] == (seed, share)
        ]
        if not any(results[task]["known"] for task in tasks):
            continue
        found = _joined(results, tasks)
        same = found["known"] == found["questioned"]
        excluded = _excluded(found, sensitivity)
        point = {
            "sources": float(max(MIN_SOURCES_FOR_RATIOS, int(share * np.mean([(data.fold != f).sum() for f in few])))),
            "false_exclusion": float(excluded[same].mean()),
            "false_inclusion": float((~excluded[~same]).mean()),
        }
        stated = np.isfinite(found.get("transvariation_lr", np.full(len(same), np.nan)))
        if (stated & same).any() and (stated & ~same).any():
            point["cllr"] = cllr(found["transvariation_lr"][stated], same[stated])
        points.append(point)
    return tuple({point["sources"]: point for point in points}.values())  # few sources are not divided further


def verdicts_on(designs: Sequence[DesignResult], limits: Mapping[str, float]) -> list[Verdict]:
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
        ratios = each.ratios.get("transvariation")
        for name in OF_RATIOS:
            if name in limits:
                measured = () if ratios is None else _measured(name, ratios)
                found.append(Verdict(name, each.design, None, limits[name], *measured))
    return found


def _measured(criterion: str, ratios: Ratios) -> tuple[float, float, float]:
    """Return what a criterion limits, with its interval."""
    if criterion == "cllr":
        return ratios.cllr, *ratios.cllr_interval
    worst = next(m for m in ratios.misleading if m.strength == 100)
    rate = max((worst.same_source, worst.different_sources), key=lambda r: r.share)
    return rate.share, rate.low, rate.high
