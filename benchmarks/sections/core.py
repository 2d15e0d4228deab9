"""TOCC's fit (spatial median, training tp, threshold): against sorting, against other detectors, and as n grows."""

import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.measure import cpu_seconds, peak_memory, ratio
from benchmarks.table import Table
from transvariation import TOCC, acceleration

# variables, objects, at most this many times np.sort(X, axis=0): compiled and plain
TARGETS = [(2, 100_000, 2.0, 15.0), (2, 1_000_000, 2.0, 15.0), (3, 200_000, 4.0, None)]

# name, where it is, parameters, objects that it gets when its cost grows with their square, at least so many times TOCC
PEERS: list[tuple[str, str, dict[str, Any], int | None, float | None]] = [
    ("IsolationForest", "sklearn.ensemble", {"random_state": 0}, None, 15.0),
    ("ECOD", "pyod.models.ecod", {}, None, 10.0),
    ("COPOD", "pyod.models.copod", {}, None, 10.0),
    ("HBOS", "pyod.models.hbos", {}, None, None),
    ("LocalOutlierFactor", "sklearn.neighbors", {"novelty": True}, None, None),
    ("EllipticEnvelope", "sklearn.covariance", {"random_state": 0}, None, None),
    ("OneClassSVM", "sklearn.svm", {"nu": 0.1}, 10_000, None),
    ("KernelDensity", "sklearn.neighbors", {}, 10_000, None),
]


def sample(n: int, p: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, p))


@contextmanager
def plain() -> Iterator[None]:
    """As if numba were not installed."""
    before, acceleration.COMPILE_FROM = acceleration.COMPILE_FROM, sys.maxsize
    try:
        yield
    finally:
        acceleration.COMPILE_FROM = before


def fit_and_score(name: str, n: int, p: int = 2, compiled: bool = True) -> None:
    """Fit and score one detector, in a separate process whose peak memory is measured."""
    X = sample(n, p)
    if not compiled:
        acceleration.COMPILE_FROM = sys.maxsize
    _job(name, X)()


def fit(n: int, p: int, compiled: bool = True) -> None:
    if not compiled:
        acceleration.COMPILE_FROM = sys.maxsize
    TOCC().fit(sample(n, p))


def _job(name: str, X: np.ndarray) -> Callable[[], Any]:
    if name == "TOCC":
        return lambda: TOCC().fit(X).score_samples(X)
    _, home, parameters, _, _ = next(peer for peer in PEERS if peer[0] == name)
    make = getattr(import_module(home), name)

    def job() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make(**parameters).fit(X)
            return model.decision_function(X) if home.startswith("pyod") else model.score_samples(X)

    return job


def run(short: bool) -> Iterator[Table]:
    yield _against_sorting(short)
    yield _cold()
    yield _against_peers(short)
    yield _growth(short)


def _against_sorting(short: bool) -> Table:
    rows: list[dict[str, Any]] = []
    for p, n, compiled_target, plain_target in TARGETS:
        X = sample(n // 10 if short else n, p)
        TOCC().fit(X)  # compilation, if any, is measured in the next table
        for kernels, target in (("compiled", compiled_target), ("plain", plain_target)):
            with plain() if kernels == "plain" else warnings.catch_warnings():
                seconds, peer = ratio(lambda X=X: TOCC().fit(X), lambda X=X: np.sort(X, axis=0))
            row = {"p": p, "n": len(X), "kernels": kernels, "fit ms": 1e3 * seconds, "np.sort ms": 1e3 * peer}
            row |= {"ratio": seconds / peer, "target": target, "met": target and seconds <= target * peer}
            row |= {
                "peak MB": peak_memory("benchmarks.sections.core:fit", n=len(X), p=p, compiled=kernels == "compiled")
            }
            rows.append(row)
    note = (
        "CPU time of one call: best of three in one run, in turn, each the mean of as many calls as fill 0.2 s. The "
        "peer sorts the columns of the very array that is fitted, which lies in memory row by row. Peak memory is that "
        "of the whole process, imports and data included."
    )
    return Table("core_fit", "TOCC().fit(X) against np.sort(X, axis=0)", rows, note)


_FIRST = """
import time, numpy as np
from transvariation import TOCC
X = np.random.default_rng(0).normal(size=({n}, {p}))
TOCC().fit(X[:1000])
start = time.process_time(); TOCC().fit(X); print(time.process_time() - start)
"""


def _cold() -> Table:
    import os
    import subprocess

    rows = []
    for p, n in ((2, 100_000), (3, 100_000)):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", _FIRST.format(n=n, p=p)]
            environment = os.environ | {"NUMBA_CACHE_DIR": folder}
            cold, warm = (
                float(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)
                for _ in range(2)
            )
        rows.append({"p": p, "n": n, "first ever s": cold, "first in a later process s": warm})
    return Table("core_cold", "What the compiler costs: the first fit", rows, "CPU time, the import of numba included.")


def _against_peers(short: bool) -> Table:
    n = 5_000 if short else 100_000
    X = sample(n, 2)
    own = _job("TOCC", X)
    own()
    only_fit = cpu_seconds(lambda: TOCC().fit(X))
    rows: list[dict[str, Any]] = [{"detector": "TOCC, fit alone", "n": n, "CPU s": only_fit}]
    best = cpu_seconds(own)
    rows.append(
        {"detector": "TOCC", "n": n, "CPU s": best, "times TOCC": 1.0}
        | {"peak MB": peak_memory("benchmarks.sections.core:fit_and_score", name="TOCC", n=n)}
    )
    for name, _, _, cap, target in PEERS:
        size = min(n, cap or n)
        data = X[:size]
        seconds = cpu_seconds(_job(name, data), 3 if target else 1)
        reference = best if size == n else cpu_seconds(_job("TOCC", data))
        times = seconds / reference
        rows.append(
            {"detector": name, "n": size, "CPU s": seconds, "times TOCC": times, "target": target}
            | {"met": target and times >= target}
            | {"peak MB": peak_memory("benchmarks.sections.core:fit_and_score", name=name, n=size)}
        )
    note = "Fit and score, p = 2. A smaller n where the cost grows with its square; TOCC is then timed at that n too."
    return Table("core_peers", "Against other detectors", rows, note)


def _growth(short: bool) -> Table:
    largest = {
        ("compiled", 2): 7,
        ("plain", 2): 6,
        ("compiled", 3): 6,
        ("plain", 5): 5,
        ("np.sort", 2): 7,
    }
    rows = []
    for (kernels, p), power in largest.items():
        for k in range(3, min(power, 5) + 1 if short else power + 1):
            X = sample(10**k, p)
            with plain() if kernels == "plain" else warnings.catch_warnings():
                job = (lambda X=X: np.sort(X, axis=0)) if kernels == "np.sort" else (lambda X=X: TOCC().fit(X))
                rows.append({"kernels": kernels, "p": p, "n": 10**k, "CPU s": cpu_seconds(job, 3 if k < 7 else 1)})
    return Table("core_growth", "Growth: TOCC().fit(X)", rows)
