"""Reading a million rows: the checked reader against pandas' parser, and its memory."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measure import peak_memory, ratio
from benchmarks.table import Table
from transvariation.tables import read_chunks, read_table

COLUMNS = list("ABCDEFGHI")


def write(folder: Path, n: int) -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(10, 3, (n, 9)).round(4), columns=COLUMNS)
    frame.insert(0, "id", [f"F{i}" for i in range(n)])
    frame.to_csv(folder / "plain.csv", index=False)
    frame.to_csv(folder / "quoted.csv", index=False, quoting=2)
    frame.to_csv(folder / "comma.csv", index=False, sep=";", decimal=",")
    frame.to_parquet(folder / "plain.parquet")


def read_at_once(path: str) -> None:
    read_table(path)


def read_in_blocks(path: str) -> None:
    for _ in read_chunks(path, COLUMNS):
        pass


def run(short: bool) -> Iterator[Table]:
    n = 10_000 if short else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, n)
        peers = {
            "plain.csv": lambda: pd.read_csv(folder / "plain.csv"),
            "quoted.csv": lambda: pd.read_csv(folder / "quoted.csv"),
            "comma.csv": lambda: pd.read_csv(folder / "comma.csv", sep=";", decimal=","),
            "plain.parquet": lambda: pd.read_parquet(folder / "plain.parquet"),
        }
        rows = []
        for file, peer in peers.items():
            path = str(folder / file)
            ours, theirs = ratio(lambda path=path: read_at_once(path), peer, best_of=1 if short else 3)
            rows.append(
                {"file": file, "rows": n, "read_table s": ours, "pandas s": theirs, "ratio": ours / theirs}
                | {"MB at once": peak_memory("benchmarks.sections.reading:read_at_once", path=path)}
                | {"MB in blocks": peak_memory("benchmarks.sections.reading:read_in_blocks", path=path)}
            )
    yield Table("reading", "A million rows of an id and nine numbers", rows, "pandas checks nothing")
