"""Strong scaling: the same rows scored by one and by two Dask workers, by the clock. Run it on an idle machine."""

import os
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.table import Table
from transvariation import dask


def scored(name: str, n: int) -> Iterator[dict[str, Any]]:
    """Score n rows of two features by one and by two processes of one thread."""
    import dask.array as da
    from distributed import Client, LocalCluster

    first = None
    for workers in (1, 2):
        with (
            LocalCluster(workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
            Client(cluster) as client,
        ):
            rows = da.random.default_rng(0).normal(size=(n, 2), chunks=(n // 16, 2)).persist()
            classifier = getattr(dask, name)(sample_size=10_000).fit(rows)
            (classifier.predict(rows[: n // 4]) == 1).sum().compute()  # imports and machine code are there now
            before = sum(client.run(time.process_time).values())
            start = time.perf_counter()
            (classifier.predict(rows) == 1).sum().compute()
            wall = time.perf_counter() - start
            cpu = sum(client.run(time.process_time).values()) - before
        first = first or wall
        row = {"classifier": name, "processes": workers, "n": n, "wall s": wall, "speed-up": first / wall}
        yield row | {"CPU s of the workers": cpu, "load average": os.getloadavg()[0]}


def run(short: bool) -> Iterator[Table]:
    sizes = {"TOCC": 10_000_000, "NeighborTOCC": 1_000_000}
    yield Table(
        "scaling_processes",
        "Scoring on a local Dask cluster",
        [row for name, n in sizes.items() for row in scored(name, 40_000 if short else n)],
        "By the clock: other work on the machine (load average) slows it down.",
    )
