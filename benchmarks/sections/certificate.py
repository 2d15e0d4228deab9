"""How often the certificate of a classifier holds: its true sensitivity is at least the stated bound."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.sections.neighbor_coverage import DRAWS, SEED, SIZES, Draw, Floats
from benchmarks.sections.ordered import autoregression
from benchmarks.table import Table
from transvariation import NeighborTOCC
from transvariation._typing import Indices

Known = Callable[[np.random.Generator, int, int], tuple[Floats, Indices | None]]

CONFIDENCE = 0.95
MARGIN = 0.02
NOMINAL = (0.9, 0.8)
# Classifiers for each row, divided among the sizes of `neighbor_coverage` with that number of features. In the kept
# table eight rows of cv have fewer: they were measured before.
N_CLASSIFIERS = {"loo": 120, "cv": 240, "split": 300, "loo, groups": 60, "blocks": 40}
FEATURES = {"loo": (5, 18, 50), "cv": (5, 18), "split": (18,)}  # a split is exact for every distribution
N_FRESH = 1_000
N_ITEMS, N_ORDERED = 60, 500
REPEAT = 4  # a row beyond the margin is measured again, with so many times the classifiers and other seeds


def alone(draw: Draw, rng: np.random.Generator, n: int, p: int) -> tuple[Floats, None]:
    """Draw n items of one sample each."""
    return draw(rng, n, p), None


def replicates(draw: Draw, rng: np.random.Generator, n: int, p: int) -> tuple[Floats, Indices]:
    """Draw n items, of which a tenth has 20 replicates and the others one or two; half of the variance is within."""
    sizes = np.where(rng.random(n) < 0.1, 20, rng.integers(1, 3, size=n))
    items = np.repeat(np.arange(n), sizes)
    return draw(rng, n, p)[items] + draw(rng, len(items), p), items


def new_items(draw: Draw, rng: np.random.Generator, n: int, p: int) -> Floats:
    """Draw one replicate of each of n items."""
    return draw(rng, n, p) + draw(rng, n, p)


def series(rho: float, rng: np.random.Generator, n: int, p: int) -> tuple[Floats, None]:
    """Draw n successive rows of a process."""
    return autoregression(rng, n, rho, p), None


def independent(rng: np.random.Generator, n: int, p: int) -> Floats:
    """Draw rows of these processes that are far from each other in time."""
    return rng.normal(size=(n, p))


def held(known: Known, new: Draw, sizes: Sequence[int], p: int, mode: str, runs: int, seed: int) -> dict[float, float]:
    """Share of classifiers whose true sensitivity is at least the bound, for each nominal sensitivity."""
    found: dict[float, list[bool]] = {level: [] for level in NOMINAL}
    for n in sizes:
        rng = np.random.default_rng([SEED, seed, n, p])
        for _ in range(runs):
            X, groups = known(rng, n, p)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                classifier = NeighborTOCC(calibration=mode).fit(X, groups=groups)
            p_values = classifier.p_values(new(rng, N_FRESH, p))
            for level in NOMINAL:
                bound = classifier.coverage_report(CONFIDENCE, sensitivity=level).sensitivity_bound
                if bound is not None and bound < 1:
                    found[level].append(bool(np.mean(p_values > 1 - level + 1e-9) >= bound))
    return {level: float(np.mean(each)) for level, each in found.items() if each}


def row(
    data: str, known: Known, new: Draw, sizes: Sequence[int], p: int, calibration: str, short: bool
) -> dict[str, Any]:
    mode = calibration.split(",")[0]
    runs = 1 if short else math.ceil(N_CLASSIFIERS[calibration] / len(sizes))
    found = held(known, new, sizes, p, mode, runs, 0)
    if min(found.values()) < CONFIDENCE - MARGIN:
        runs *= REPEAT
        found = held(known, new, sizes, p, mode, runs, 1)
    lowest, n = min(found.values()), runs * len(sizes)
    return (
        {
            "data": data,
            "calibration": calibration,
            "p": p,
            "n": " to ".join(map(str, sorted({min(sizes), max(sizes)}))),
            "classifiers": n,
        }
        | {f"at {level:.2f}": found.get(level) for level in NOMINAL}
        | {"standard error": float(np.sqrt(lowest * (1 - lowest) / n)), "met": lowest >= CONFIDENCE - MARGIN}
    )


def cells(short: bool) -> list[tuple[str, Known, Draw, Sequence[int], int, str]]:
    """List what is measured: a kind of data, how known and new samples are drawn, sizes, features, calibration."""
    few = 1 if short else None
    kinds = list(DRAWS.items())[:few]
    single = [
        (data, partial(alone, draw), draw, sizes, p, mode)
        for mode, features in FEATURES.items()
        for data, draw in kinds[: 3 if mode == "split" else None]
        for p, sizes in [(p, SIZES[p]) for p in features][:few]
    ]
    items = [
        (data, partial(replicates, draw), partial(new_items, draw), [N_ITEMS], 5, "loo, groups") for data, draw in kinds
    ]
    ordered = [
        (f"autocorrelation {rho:g}", partial(series, rho), independent, [N_ORDERED], 5, "blocks")
        for rho in (0.7, 0.95)[:few]
    ]
    return [*single, *items, *ordered]


def run(short: bool) -> Iterator[Table]:
    yield from tables([row(*cell, short) for cell in cells(short)])


def tables(rows: list[dict[str, Any]]) -> Iterator[Table]:
    """Make the tables of measured cells, some of which may have been measured before."""
    note = (
        f"Share of classifiers whose sensitivity on {N_FRESH:,} new samples is at least the bound stated with "
        f"{CONFIDENCE:.0%} confidence, at two nominal sensitivities, over the numbers n of samples in the table of "
        f"false rejections, and the standard error of the lower share; met: at least {CONFIDENCE - MARGIN:.2f}. Rows "
        f"below it were measured again with {REPEAT} times as many classifiers; that result is shown. Groups: items "
        "with 1 to 20 replicates. Blocks: rows in the order of time."
    )
    yield Table("certificate", "How often the certificate of NeighborTOCC holds", rows, note)
    summary = []
    for mode in N_CLASSIFIERS:
        own = [each for each in rows if each["calibration"] == mode]
        shares = [each[f"at {level:.2f}"] for each in own for level in NOMINAL if each[f"at {level:.2f}"] is not None]
        summary.append({"calibration": mode, "rows": len(own), "mean": float(np.mean(shares)), "lowest": min(shares)})
    yield Table("certificate_summary", "How often the certificate holds, over all rows", summary)
