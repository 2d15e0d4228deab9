"""More rows than one core, memory or machine handles: time and memory against n, processes and peers."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import cost, cpu_seconds
from benchmarks.table import Table
from transvariation import TOCC, dask

BLOCK = 1 << 20
HERE = "benchmarks.sections.scaling"


def write_rows(path: str, n: int) -> None:
    rng = np.random.default_rng(0)
    with open(path, "wb") as file:
        for start in range(0, n, BLOCK):
            file.write(rng.normal(size=(min(BLOCK, n - start), 2)).data)


def read_blocks(path: str) -> Iterator[np.ndarray]:
    with open(path, "rb") as file:
        while len(block := np.fromfile(file, count=2 * BLOCK)):
            yield block.reshape(-1, 2)


def fit_and_score_blocks(path: str) -> None:
    classifier = dask.TOCC().fit(lambda: read_blocks(path))
    sum((labels == 1).sum() for labels in classifier.predict(lambda: read_blocks(path)))


def fit_and_score_in_memory(path: str) -> None:
    X = np.fromfile(path).reshape(-1, 2)
    TOCC().fit(X).predict(X)


def sizes(short: bool) -> Iterator[dict[str, Any]]:
    for n in (10**4, 10**5) if short else (10**5, 10**6, 10**7, 10**8):
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "rows")
            write_rows(path, n)
            for how, function in (("in memory", "fit_and_score_in_memory"), ("in blocks", "fit_and_score_blocks")):
                if how == "in memory" and n > 10**7:
                    continue
                cpu, wall, peak = cost(f"{HERE}:{function}", path=path)
                row = {"n": n, "fit": how, "CPU s": cpu, "wall s": wall, "CPU us per row": 1e6 * cpu / n}
                yield row | {"peak MB": peak, "data MB": 16 * n / 1e6}


def peers(short: bool) -> Iterator[dict[str, Any]]:
    from pyod.models.copod import COPOD
    from pyod.models.ecod import ECOD
    from pyod.models.hbos import HBOS
    from sklearn.ensemble import IsolationForest
    from sklearn.linear_model import SGDOneClassSVM
    from sklearn.neighbors import LocalOutlierFactor

    n = 2_000 if short else 200_000
    X, Z = np.random.default_rng(0).normal(size=(n, 2)), np.random.default_rng(1).normal(size=(n, 2))
    classifiers = {
        "TOCC": TOCC(),
        "dask.TOCC": dask.TOCC(),
        "scikit-learn IsolationForest": IsolationForest(random_state=0),
        "scikit-learn LocalOutlierFactor": LocalOutlierFactor(novelty=True),
        "scikit-learn SGDOneClassSVM": SGDOneClassSVM(random_state=0),
        "PyOD ECOD": ECOD(),
        "PyOD COPOD": COPOD(),
        "PyOD HBOS": HBOS(),
    }
    TOCC().fit(X).score_samples(Z)  # machine code from the disk
    for name, classifier in classifiers.items():
        classifier.fit(X[:500]).decision_function(Z[:500])  # imports, and what others compile
        fit = cpu_seconds(lambda classifier=classifier: classifier.fit(X), 1)
        score = cpu_seconds(lambda classifier=classifier: classifier.decision_function(Z), 1)
        yield {"classifier": name, "n": n, "fit CPU s": fit, "score CPU s": score}
    yield from nearest_of_dask_ml(X, Z)


def nearest_of_dask_ml(X: np.ndarray, Z: np.ndarray) -> Iterator[dict[str, Any]]:
    """Measure Dask-ML's nearest equivalent: a scikit-learn detector fitted to a sample and applied by partitions."""
    import dask.array as da
    from dask_ml.wrappers import ParallelPostFit
    from sklearn.ensemble import IsolationForest

    import dask

    classifier = ParallelPostFit(IsolationForest(random_state=0))
    with dask.config.set(scheduler="single-threaded"):
        fit = cpu_seconds(lambda: classifier.fit(X[::10]), 1)
        parts = da.from_array(Z, chunks=(len(Z) // 8, 2))
        score = cpu_seconds(lambda: classifier.predict(parts).compute(), 1)
    yield {"classifier": "Dask-ML ParallelPostFit(IsolationForest), fitted to a tenth", "n": len(Z)} | {
        "fit CPU s": fit,
        "score CPU s": score,
    }


def samples(short: bool) -> Iterator[dict[str, Any]]:
    """Compare counting among all rows with counting among a random sample of them."""
    n = 100_000 if short else 10_000_000
    X, Z = np.random.default_rng(0).normal(size=(n, 2)), np.random.default_rng(1).normal(size=(n // 10, 2))
    everything: dict[str, np.ndarray] = {}
    for size in (n, n // 10, n // 100):
        classifier = dask.TOCC(sample_size=size, sensitivity=0.9)
        fit = cpu_seconds(lambda classifier=classifier: classifier.fit(X), 1)
        found = {"tp": classifier.score_samples(Z), "label": classifier.predict(Z)}
        everything = everything or found
        yield {
            "rows counted": size,
            "of": n,
            "fit CPU s": fit,
            "mean difference of tp": float(np.abs(found["tp"] - everything["tp"]).mean()),
            "decisions that differ": float((found["label"] != everything["label"]).mean()),
            "new rows accepted": float((found["label"] == 1).mean()),
        }


def run(short: bool) -> Iterator[Table]:
    yield Table("scaling_peers", "The same data, two variables, one process", list(peers(short)))
    yield Table("scaling_sample", "What counting among a sample costs", list(samples(short)))
    yield Table("scaling_size", "Fit and score n rows of two features in a separate process", list(sizes(short)))
