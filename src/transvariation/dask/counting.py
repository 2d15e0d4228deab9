"""Objects against target rows when either are in partitions: counts are added over the target's partitions."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transvariation.cluster.pam import closest
from transvariation.dask.blocks import LocalRows, Scratch, blocks_of
from transvariation.dask.rows import Floats, Rows, feature_names
from transvariation.depth.counting import Transvariations, count_transvariations
from transvariation.depth.probability import ratio


def open_rows(
    X: Any,
    scratch: Scratch | None = None,
    width: int | None = None,
    finite: bool = True,
    columns: list | None = None,
) -> Rows:
    """See any data as rows in partitions: a Dask collection, an array, a memory map, or a function giving blocks.

    `columns` are those that tables must have; by default those that X says it has, or its first block.
    """
    if is_lazy(X):
        from transvariation.dask.collections import DaskRows, parts_of

        said = list(X.columns) if hasattr(X, "columns") else None
        rows: Rows = DaskRows(parts_of(X, width, finite, said if columns is None else columns))
        rows.names = feature_names(said)
    elif hasattr(X, "__next__"):
        fitting = ", which can be read only once, and fitting reads the data several times" if width is None else ""
        raise ValueError(
            f"this is an iterator{fitting}; give a function that returns a new iterator over the same blocks, such as "
            "lambda: read_blocks(path)"
        )
    else:
        rows = LocalRows(blocks_of(X, width, finite, columns), scratch)
    return rows


def is_lazy(X: Any) -> bool:
    """Say whether something is a Dask collection, without importing Dask for what is not."""
    return type(X).__module__.startswith("dask") and hasattr(X, "to_delayed")


def count_about(rows: Floats, k: int, Z: Floats, centers: Floats) -> NDArray[np.int64]:
    """Count within the part of the class whose centre is closest to the object: shape (5, objects).

    Lines as in `Transvariations`, but for the last, which counts the rows of that part: numbers that can be added.
    """
    own = closest(rows, centers)[0] if len(centers) > 1 and len(rows) else np.zeros(len(rows), dtype=np.intp)
    label = closest(Z, centers)[0] if len(centers) > 1 and len(Z) else np.zeros(len(Z), dtype=np.intp)
    counts = np.zeros((5, len(Z)), dtype=np.int64)
    for part, center in enumerate(centers):
        units, objects = rows if len(centers) == 1 else rows[own == part], np.flatnonzero(label == part)
        if len(objects) and len(units):
            counts[:, objects] = count_transvariations(units, center, Z if len(centers) == 1 else Z[objects])
            counts[4, objects] = len(units)
    return counts


def tp_about(Z: Floats, counts: NDArray[np.int64], centers: Floats, tau_max: str, ties: str) -> Floats:
    """Turn the added counts into tp."""
    label = closest(Z, centers)[0] if len(centers) > 1 and len(Z) else np.zeros(len(Z), dtype=np.intp)
    n_open = (centers[label] != Z).sum(axis=1)
    tp = np.empty(len(Z))
    for part in np.unique(label):
        those = label == part
        beyond, at, side, centre, n = counts[:, those]
        tp[those] = ratio(
            Transvariations(beyond, at, side, centre, n_open[those]), int(n[0]), Z.shape[1], tau_max, ties
        )
    return tp


def answer(
    Z: Any,
    asked: list[Rows],
    count: Callable,
    finish: Callable,
    *,
    width: int,
    columns: int = 0,
    dtype: type = np.float64,
    finite: bool = True,
    names: list | None = None,
) -> Any:
    """Put every object of Z to the target's partitions (see `Rows.against`), and give back what Z is.

    A Dask collection gives a lazy Dask array, a function that gives blocks an iterator of arrays, an array an array.
    `columns` is the number of answers per object, 0 for one without a dimension of its own.
    `names` are the columns that tables must have.
    """
    rows = open_rows(Z, width=width, finite=finite, columns=names).against(asked, count, finish)
    if not is_lazy(Z):
        assert isinstance(rows, LocalRows)
        if callable(Z):
            return rows.blocks()
        blocks = list(rows.blocks())
        return np.concatenate(blocks) if blocks else np.empty((0, columns) if columns else 0, dtype)
    import dask.array as da

    sizes = Z.chunks[0] if hasattr(Z, "chunks") else (np.nan,) * Z.npartitions
    shapes = [(size, columns) if columns else (size,) for size in sizes]
    parts = zip(rows.parts, shapes, strict=True)  # type: ignore[attr-defined]
    return da.concatenate([da.from_delayed(part, shape, dtype) for part, shape in parts])
