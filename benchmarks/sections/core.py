"""TOCC's fit (spatial median, training tp, threshold) against sorting the columns."""

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import ratio
from benchmarks.table import Table
from transvariation import TOCC

# variables, objects, at most this many times np.sort(X, axis=0)
TARGETS = [(2, 100_000, 2.0), (2, 1_000_000, 2.0), (3, 200_000, 4.0), (5, 50_000, 8.0)]


def sample(n: int, p: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, p))


def run(short: bool) -> Iterator[Table]:
    rows = []
    for p, n, target in TARGETS:
        X = sample(n // 100 if short else n, p)
        fit, sort = ratio(lambda X=X: TOCC().fit(X), lambda X=X: np.sort(X, axis=0))
        rows.append(
            {"p": p, "n": len(X), "fit s": fit, "np.sort s": sort, "ratio": fit / sort, "target": target}
            | {"reached": fit <= target * sort}
        )
    yield Table("core_fit", "TOCC().fit(X) against np.sort(X, axis=0)", rows)
