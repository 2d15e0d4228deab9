"""Wall-clock time with one and with two workers."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.measure import wall_seconds
from benchmarks.table import Table
from transvariation import (
    DensityTOCC,
    GaussianMixtureBIC,
    NeighborTOCC,
    ProjectionEnsemble,
    VIPSelector,
)
from transvariation.baselines import KDEOCC, MixtureOCC

Factory = Callable[[int], Any]


def cases(short: bool) -> Iterator[tuple[str, Factory, np.ndarray, np.ndarray | None]]:
    """Yield a description, a factory by number of workers, the samples to fit, and those to score or None."""
    rng = np.random.default_rng(0)
    n = 100_000 if short else 2_000_000
    plane, others = rng.normal(size=(n, 2)), rng.normal(size=(n, 2))
    yield "DensityTOCC, one Gaussian, score", lambda jobs: DensityTOCC(density="gaussian", n_jobs=jobs), plane, others
    kernels = plane[: n // 1_000]
    ten = rng.normal(size=(n // 100, 10))
    yield "NeighborTOCC, fit", lambda jobs: NeighborTOCC(n_jobs=jobs), ten, None
    yield "NeighborTOCC, score", lambda jobs: NeighborTOCC(n_jobs=jobs), ten, ten
    yield "KDEOCC, score", lambda jobs: KDEOCC(n_jobs=jobs), kernels, others[: n // 20]
    skew = plane[: n // 200] ** 2
    yield "GaussianMixtureBIC, fit", lambda jobs: GaussianMixtureBIC(n_jobs=jobs, random_state=0), skew, None
    yield "MixtureOCC, fit in ten folds", lambda jobs: _mixture(jobs), skew[: n // 1_000], None
    wide = rng.normal(size=(n // 500, 10))
    yield "VIPSelector, fit", lambda jobs: VIPSelector(n_jobs=jobs, random_state=0), wide, None
    yield "ProjectionEnsemble of mixtures, fit", lambda jobs: _ensemble(jobs), wide[: max(n // 10_000, 60)], None


def _mixture(jobs: int) -> MixtureOCC:
    return MixtureOCC(calibration="cv", n_jobs=jobs, random_state=0)


def _ensemble(jobs: int) -> ProjectionEnsemble:
    return ProjectionEnsemble(DensityTOCC(), n_jobs=jobs, random_state=0)


def run(short: bool) -> Iterator[Table]:
    rows = []
    for what, classifier, X, Z in cases(short):
        taken = []
        for jobs in (1, 2):
            fitted = classifier(jobs).fit(X)  # now imports, compilation and worker processes are done
            job = (
                (lambda fitted=fitted, X=X: fitted.fit(X)) if Z is None else (lambda r=fitted, Z=Z: r.score_samples(Z))
            )
            taken.append(wall_seconds(job))
        row = {"what": what, "n": len(X if Z is None else Z), "one worker, s": taken[0], "two workers, s": taken[1]}
        rows.append(row | {"speed-up": taken[0] / taken[1], "load average": os.getloadavg()[0]})
    yield Table(
        "workers",
        "One and two workers, by the clock",
        rows,
        f"On {os.cpu_count()} cores. By the clock: other work on the machine slows it down.",
    )
