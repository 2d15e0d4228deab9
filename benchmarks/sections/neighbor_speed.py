"""Time and memory of NeighborTOCC beside scikit-learn's nearest neighbors; the price of a reference subsample."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

from benchmarks.measure import cost, cpu_seconds
from benchmarks.table import RESULTS, Table
from transvariation import NeighborTOCC

SIZES = tuple((n, p) for n in (1_000, 10_000, 100_000) for p in (2, 10, 50))
AT_MOST = 15  # times scikit-learn's search, fit with calibration and scores of all samples together
PAIRS_AT_MOST, PAIRS_FROM = 2.5, 10_000  # times as long as without pairs of features, from so many samples on
AT_MOST_ONE_ROW = 5  # times scikit-learn's search for the neighbors of one row
LARGEST = 1_000_000
REFERENCES = (1_000, 3_000, 10_000, 30_000)


def _neighbor(X: np.ndarray, *, pairs: bool = True) -> None:
    NeighborTOCC(pairs=pairs).fit(X).score_samples(X)


def _knn(X: np.ndarray) -> None:
    NearestNeighbors(n_neighbors=5).fit(X).kneighbors(X)


def _lof(X: np.ndarray) -> None:
    LocalOutlierFactor(20, novelty=True).fit(X).score_samples(X)


def _forest(X: np.ndarray) -> None:
    IsolationForest(random_state=0).fit(X).score_samples(X)


def one_row(n: int, p: int, calls: int) -> dict[str, Any]:
    """Median time to score one row, alternately with scikit-learn's search for its neighbors."""
    X, Z = (np.random.default_rng(seed).normal(size=(size, p)) for seed, size in ((0, n), (1, calls)))
    jobs = [NeighborTOCC().fit(X).score_samples, NearestNeighbors(n_neighbors=5).fit(X).kneighbors]
    times = np.empty((calls, 2))
    for i in range(calls):
        for j, job in enumerate(jobs):
            start = time.perf_counter()
            job(Z[i : i + 1])
            times[i, j] = time.perf_counter() - start
    ours, theirs = np.median(times, axis=0)
    row = {"n": n, "p": p, "NeighborTOCC, ms": 1e3 * ours, "kNN, ms": 1e3 * theirs, "ratio": ours / theirs}
    return row | {"target": AT_MOST_ONE_ROW, "met": bool(ours <= AT_MOST_ONE_ROW * theirs)}


METHODS: dict[str, Callable[[np.ndarray], None]] = {
    "NeighborTOCC": _neighbor,
    "scikit-learn kNN": _knn,
    "LOF": _lof,
    "IsolationForest": _forest,
}


def fit_and_score(n: int, p: int) -> None:
    """Fit and score in a separate process whose peak memory is measured."""
    _neighbor(np.random.default_rng(0).normal(size=(n, p)))


def clusters(n: int, p: int, seed: int) -> np.ndarray:
    """Samples of a hundred clusters: what a small reference may miss."""
    centers = np.random.default_rng(0).normal(size=(100, p)) * 4
    rng = np.random.default_rng(seed)
    return centers[rng.integers(100, size=n)] + rng.normal(size=(n, p)) * rng.gamma(2.0, 0.25, size=(n, 1))


def loss(n: int, p: int, references: tuple[int, ...]) -> list[dict[str, Any]]:
    """AUC against uniform samples in the same box, by the number of reference samples."""
    X, fresh = clusters(n, p, 1), clusters(2_000, p, 2)
    other = np.random.default_rng(3).uniform(fresh.min(axis=0), fresh.max(axis=0), size=(2_000, p))
    near = fresh + np.random.default_rng(4).normal(size=fresh.shape)
    rows = []
    for size in references:
        classifier = NeighborTOCC(max_reference=size).fit(X)
        scores = [classifier.score_samples(Z) for Z in (fresh, other, near)]
        areas = [roc_auc_score(np.repeat([1, 0], 2_000), np.concatenate([scores[0], s])) for s in scores[1:]]
        rows.append({"reference samples": size, "AUC, uniform": areas[0], "AUC, noise added": areas[1]})
    return rows


def run(short: bool) -> Iterator[Table]:
    rng = np.random.default_rng(0)
    rows = []
    for n, p in ((1_000, 2), (1_000, 10)) if short else SIZES:
        X = rng.normal(size=(n, p))
        jobs: Any = (_neighbor, _knn, partial(_neighbor, pairs=False))
        times = [[cpu_seconds(partial(job, X), 1) for job in jobs] for _ in range(3 if n <= 10_000 else 1)]
        ours, theirs, without = np.min(times, axis=0).tolist()
        met = ours <= AT_MOST * theirs and (n < PAIRS_FROM or ours <= PAIRS_AT_MOST * without)
        rows.append({"n": n, "p": p, "NeighborTOCC, s": ours, "kNN, s": theirs, "ratio": ours / theirs})
        rows[-1] |= {"without pairs, s": without, "ratio, pairs": ours / without, "target": AT_MOST, "met": met}
    note = "Fit with calibration and scores of the same n samples; kNN: five neighbors of the same n samples."
    yield Table("neighbor_speed", "CPU seconds, one thread", rows, note)
    latency = [one_row(n, 10, 20 if short else 500) for n in ((1_000,) if short else (1_000, 10_000, 100_000))]
    yield Table("neighbor_latency", "Scores of one row, wall-clock time", latency)

    sizes = (1_000, 3_000) if short else (1_000, 3_000, 10_000, 30_000)
    growth = [
        {"method": name, "n": n, "p": 10, "CPU s": cpu_seconds(lambda job=job, n=n: job(rng.normal(size=(n, 10))), 1)}
        for name, job in METHODS.items()
        for n in sizes
    ]
    yield Table("neighbor_growth", "Fit and scores of the same samples, ten features", growth)

    shapes = ((10_000, 10),) if short else ((10_000, 10), (100_000, 10), (LARGEST, 10))
    memory = []
    for n, p in shapes:
        cpu, wall, peak = cost("benchmarks.sections.neighbor_speed:fit_and_score", n=n, p=p)
        memory.append({"n": n, "p": p, "CPU s": cpu, "wall s": wall, "peak MB": peak, "data MB": n * p * 8 / 2**20})
    yield Table("neighbor_memory", "A process that fits and scores the same samples", memory)
    n = 5_000 if short else 100_000
    title = f"AUC by the size of the reference subsample, n = {n}, ten features"
    yield Table("neighbor_reference", title, loss(n, 10, REFERENCES[:2] if short else REFERENCES))
    if not short:
        figure(growth).savefig(RESULTS / "neighbor_growth.png", dpi=150)


def figure(rows: list[dict[str, Any]]) -> Any:
    """Draw CPU time against the number of samples; our classifier in dark blue."""
    import matplotlib
    from matplotlib.figure import Figure

    from transvariation.report.figure_style import PHONE_WIDTH, SETTINGS

    with matplotlib.rc_context(SETTINGS):
        drawing = Figure(figsize=(PHONE_WIDTH, 4))
        axes = drawing.subplots()
        for name, mark in zip(METHODS, "osD^", strict=True):
            points = [(row["n"], row["CPU s"]) for row in rows if row["method"] == name]
            axes.loglog(*zip(*points, strict=True), marker=mark, label=name)
        axes.set(xlabel="samples of ten features", ylabel="CPU seconds, fit and score")
        axes.grid(True, which="major", color="0.9")
        axes.legend()
    return drawing
