"""Counts that run along with a stream: objects come and go, the centre stays, and tp stays exact."""

import numpy as np

from transvariation.depth.counting import Floats, Transvariations, count_transvariations

_FEW = 32  # units so few are compared with every object: sorting the objects for them would take longer
_CELLS = 100_000


def moved_on(X: Floats, counts: Transvariations, m: Floats, new: Floats, n_gone: int) -> tuple[Floats, Transvariations]:
    """Update the counts of a sample about m when its first `n_gone` rows leave and new ones join at the end.

    Counts are sums over units: those of the units that left are taken off, those of the new ones are added.

    Examples
    --------
    >>> X, m = np.array([[1.0], [2.0], [3.0]]), np.array([0.0])
    >>> kept, counts = moved_on(X, count_transvariations(X, m, X), m, np.array([[4.0]]), n_gone=1)
    >>> kept.ravel(), counts.beyond
    (array([2., 3., 4.]), array([2, 1, 0]))
    """
    gone, stay = X[:n_gone], X[n_gone:]
    kept = np.concatenate([stay, new])
    if len(new) + len(gone) >= len(stay):
        return kept, count_transvariations(kept, m, kept)
    lost, gained = _from_few(gone, m, stay), _from_few(new, m, stay)
    arrived = count_transvariations(kept, m, new) if len(new) else None
    columns = []
    for name, column, minus, plus in zip(counts._fields, counts, lost, gained, strict=True):
        updated = column[n_gone:] - minus + plus if name != "n_open" else column[n_gone:]
        columns.append(updated if arrived is None else np.concatenate([updated, getattr(arrived, name)]))
    return kept, Transvariations(*columns)


def _from_few(units: Floats, m: Floats, objects: Floats) -> Transvariations:
    """Count units about m for objects, of which there are many more."""
    if not len(units):
        return Transvariations(*(np.zeros(len(objects), dtype=np.int64) for _ in range(5)))
    step = max(_CELLS // len(units), 1) if len(units) <= _FEW else max(len(objects), 1)
    parts = [count_transvariations(units, m, objects[i : i + step]) for i in range(0, len(objects), step)]
    return Transvariations(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
