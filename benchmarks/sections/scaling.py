"""Past one core, memory and machine: time and memory against n, processes, partitions, peers, and messages."""

import os
import pickle
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import cost, cpu_seconds
from benchmarks.table import Table
from transvariation import TOCC, dask
from transvariation.dask import base
from transvariation.dask.blocks import BLOCK_ROWS, LocalRows

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


def fit_blocks(path: str) -> None:
    dask.TOCC(scratch=Path(path).parent).fit(lambda: read_blocks(path))


def fit_in_memory(path: str) -> None:
    TOCC().fit(np.fromfile(path).reshape(-1, 2))


def sizes(short: bool) -> Iterator[dict[str, Any]]:
    for n in (10**4, 10**5) if short else (10**5, 10**6, 10**7, 10**8):
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "rows")
            write_rows(path, n)
            for how, function in (("in memory", "fit_in_memory"), ("out of core", "fit_blocks")):
                if how == "in memory" and n > 10**7:
                    continue
                cpu, wall, peak = cost(f"{HERE}:{function}", path=path)
                row = {"n": n, "fit": how, "CPU s": cpu, "wall s": wall, "CPU us per row": 1e6 * cpu / n}
                yield row | {"peak MB": peak, "data MB": 16 * n / 1e6}


def partitions(short: bool) -> Iterator[dict[str, Any]]:
    """Weak scaling: the work per row as partitions of the same size are added."""
    size = 20_000 if short else 250_000
    for k in (1, 2, 4, 8, 16):
        blocks = [np.random.default_rng(i).normal(size=(size, 2)) for i in range(k)]
        cpu = cpu_seconds(lambda blocks=blocks: dask.TOCC().fit(lambda: iter(blocks)), 2)
        yield {"partitions": k, "n": k * size, "CPU s": cpu, "CPU us per row": 1e6 * cpu / (k * size)}


def processes(short: bool) -> Iterator[dict[str, Any]]:
    """Strong scaling: the same rows with one and two worker processes, by the clock."""
    import dask.array as da
    from distributed import Client, LocalCluster

    n = 40_000 if short else 2_000_000
    first = None
    for workers in (1, 2):
        with (
            LocalCluster(workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
            Client(cluster) as client,
        ):
            rows = da.random.default_rng(0).normal(size=(n, 2), chunks=(n // 8, 2)).persist()
            dask.TOCC().fit(rows[: n // 4])  # imports and machine code are there now
            before = sum(client.run(time.process_time).values())
            start = time.perf_counter()
            dask.TOCC().fit(rows)
            wall = time.perf_counter() - start
            cpu = sum(client.run(time.process_time).values()) - before
        first = first or wall
        row = {"processes": workers, "n": n, "wall s": wall, "speed-up": first / wall, "CPU s of the workers": cpu}
        yield row | {"load average": os.getloadavg()[0]}


def peers(short: bool) -> Iterator[dict[str, Any]]:
    from pyod.models.copod import COPOD
    from pyod.models.ecod import ECOD
    from pyod.models.hbos import HBOS
    from sklearn.ensemble import IsolationForest
    from sklearn.linear_model import SGDOneClassSVM
    from sklearn.neighbors import LocalOutlierFactor

    n = 2_000 if short else 200_000
    X, Z = np.random.default_rng(0).normal(size=(n, 2)), np.random.default_rng(1).normal(size=(n, 2))
    rules = {
        "TOCC": TOCC(),
        "dask.TOCC, out of core": dask.TOCC(),
        "scikit-learn IsolationForest": IsolationForest(random_state=0),
        "scikit-learn LocalOutlierFactor": LocalOutlierFactor(novelty=True),
        "scikit-learn SGDOneClassSVM": SGDOneClassSVM(random_state=0),
        "PyOD ECOD": ECOD(),
        "PyOD COPOD": COPOD(),
        "PyOD HBOS": HBOS(),
    }
    TOCC().fit(X).score_samples(Z)  # machine code from the disk
    for name, rule in rules.items():
        rule.fit(X[:500]).decision_function(Z[:500])  # imports, and what others compile
        fit = cpu_seconds(lambda rule=rule: rule.fit(X), 1)
        score = cpu_seconds(lambda rule=rule: rule.decision_function(Z), 1)
        yield {"rule": name, "n": n, "fit CPU s": fit, "score CPU s": score}
    yield from nearest_of_dask_ml(X, Z)


def nearest_of_dask_ml(X: np.ndarray, Z: np.ndarray) -> Iterator[dict[str, Any]]:
    """Dask-ML has no one-class rule; its nearest: a scikit-learn rule fitted to a sample, applied by partitions."""
    import dask.array as da
    from dask_ml.wrappers import ParallelPostFit
    from sklearn.ensemble import IsolationForest

    import dask

    rule = ParallelPostFit(IsolationForest(random_state=0))
    with dask.config.set(scheduler="single-threaded"):
        fit = cpu_seconds(lambda: rule.fit(X[::10]), 1)
        parts = da.from_array(Z, chunks=(len(Z) // 8, 2))
        score = cpu_seconds(lambda: rule.predict(parts).compute(), 1)
    yield {"rule": "Dask-ML ParallelPostFit(IsolationForest), fitted to a tenth", "n": len(Z)} | {
        "fit CPU s": fit,
        "score CPU s": score,
    }


class Ledger(LocalRows):
    """Rows that write down what each step computes and what it would send."""

    def __init__(self, blocks: Callable, scratch: Any = None, book: dict | None = None):
        super().__init__(blocks, scratch)
        self.book: dict[str, dict[str, float]] = {} if book is None else book

    def _enter(self, function: Callable, **values: float) -> None:
        empty = {"rounds": 0.0, "calls": 0.0, "cpu": 0.0, "to client": 0.0, "to peers": 0.0}
        line = self.book.setdefault(function.__name__.strip("_"), empty)
        for key, value in values.items():
            line[key.replace("_", " ")] += value

    def _timed(self, function: Callable, sends: bool) -> Callable:
        self._enter(function, rounds=1)

        def timed(rows: Any, number: int, *arguments: Any) -> Any:
            start = time.process_time()
            found = function(rows, number, *arguments)
            cpu = time.process_time() - start
            self._enter(function, calls=1, cpu=cpu, to_client=len(pickle.dumps(found, 5)) if sends else 0)
            return found

        timed.__name__ = function.__name__
        return timed

    def map(self, function: Callable, *arguments: Any) -> list:
        return super().map(self._timed(function, True), *arguments)

    def total(self, function: Callable, *arguments: Any) -> Any:
        return super().total(self._timed(function, True), *arguments)

    def derive(self, function: Callable, *arguments: Any) -> "Ledger":
        derived = super().derive(self._timed(function, False), *arguments)
        return Ledger(derived.blocks, self.scratch, self.book)

    def exchange(self, function: Callable, n_parts: int, *arguments: Any) -> "Ledger":
        timed = self._timed(function, False)

        def split(rows: Any, number: int, *rest: Any) -> Any:
            pieces = timed(rows, number, *rest)
            self._enter(function, to_peers=sum(piece.nbytes for piece in pieces))
            return pieces

        return Ledger(super().exchange(split, n_parts, *arguments).blocks, self.scratch, self.book)

    def store(self) -> "Ledger":
        return Ledger(super().store().blocks, self.scratch, self.book)


MEANING = {
    "look": "look at every partition",
    "rows_at": "a sample for start and borders",
    "edges": "rows at the edges of partitions",
    "sums_inside": "Newton's sums",
    "tile_counts": "the table of tiles",
    "split_by_second": "exchange by the second variable",
    "count_in_second": "count, exchange by the first variable",
    "finish": "count, divide",
    "histogram": "selection: histograms",
    "within": "selection: the rest",
}


def messages(short: bool) -> Iterator[dict[str, Any]]:
    """Measure each step on a few partitions, and put many of them on many workers."""
    k, size = 4, 20_000 if short else 1_000_000
    # Odd sizes: partitions that begin within a block of the summation, as they do in life.
    blocks = [np.random.default_rng(i).normal(size=(size + 17 * i, 2)) for i in range(k)]
    TOCC().fit(blocks[0])
    ledger = Ledger(lambda: iter(blocks))
    rule, opened = dask.TOCC(), base.open_rows
    try:
        base.open_rows = lambda X, scratch: ledger
        rule.fit(lambda: iter(blocks))
    finally:
        base.open_rows = opened
    measured = sum(map(len, blocks))
    for workers, rows_per_partition, n in ((100, 10**8, 10**10), (100, 10**7, 10**10)):
        parts = n // rows_per_partition
        for step, line in ledger.book.items():
            fixed = line["rounds"] * line["to client"] / line["calls"]  # per partition, whatever its size
            if step == "sums_inside":  # grows with the rows: one set of sums per block of 16384
                fixed *= rows_per_partition / size
            elif step in ("rows_at", "within"):  # of fixed size for all partitions together
                fixed *= k / parts
            elif step == "tile_counts":  # grows with the square of the number of slabs
                fixed = 8.0 * (parts + 3) ** 2
            yield {
                "partitions": parts,
                "step": MEANING.get(step, step),
                "rounds": int(line["rounds"]),
                "MB to the client or up a tree": fixed * parts / 1e6,
                "GB between workers": line["to peers"] / measured * n * (1 - 1 / workers) / 1e9,
                "CPU s per worker": line["cpu"] / measured * n / workers,
                "tasks": int(line["rounds"]) * parts + (2 * parts**2 if line["to peers"] else 0),
            }


def run(short: bool) -> Iterator[Table]:
    yield Table("scaling_partitions", "Weak scaling: partitions of one size, one process", list(partitions(short)))
    yield Table(
        "scaling_processes",
        "Strong scaling: dask.TOCC().fit on a local Dask cluster",
        list(processes(short)),
        "By the clock: other work on the machine (load average) slows it down.",
    )
    yield Table("scaling_peers", "The same data, two variables, one process", list(peers(short)))
    yield Table(
        "scaling_messages",
        "1e10 rows on 100 workers, from what four partitions were measured to compute and to send",
        list(messages(short)),
    )
    yield Table("scaling_size", "Fit n rows of two variables in a process of its own", list(sizes(short)))


assert BLOCK == BLOCK_ROWS
