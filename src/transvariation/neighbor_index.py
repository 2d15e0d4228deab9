"""Find the nearest known rows: k-d trees for few numeric features, otherwise a search of all rows."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from transvariation._typing import Floats, Indices
from transvariation.validation import blocks

_TREE_FEATURES, _TREE_ROWS = 5, 500  # up to so many features and from so many rows on, a k-d tree is faster
_BLOCK_DISTANCES = 1 << 20  # distances in one block
_FEW_NEIGHBORS = 16
_FEW_ROWS = 4  # rows: to compare them with all known rows takes less time than to search trees


class NeighborIndex:
    """Known rows, indexed to find the nearest of them.

    The distance is Euclidean. Different categories of a feature differ by the root of its `mismatch`. Where values are
    missing (NaN), the squared distance over the features that both rows have is multiplied by their share of all
    features; rows without a common feature are infinitely far from each other.

    Parameters
    ----------
    known : ndarray of shape (n, p)
    mismatch : ndarray of shape (p,), optional
        The squared distance between different categories of each feature; 0 for numeric features.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.neighbor_index import NeighborIndex
    >>> index = NeighborIndex(np.array([[0.0, 0.0], [3.0, 4.0], [1.0, np.nan]]))
    >>> distances, found = index.query(np.array([[0.0, 1.0]]), 3)
    >>> distances.round(2), found
    (array([[1.  , 1.41, 4.24]]), array([[0, 2, 1]]))
    """

    def __init__(self, known: Floats, mismatch: Floats | None = None):
        self.known = known
        self.mismatch = mismatch if mismatch is not None and mismatch.any() else np.zeros(known.shape[1])
        self._categorical = np.flatnonzero(self.mismatch)
        present = ~np.isnan(known)
        self._gaps = not present.all()
        self._tree = None
        plain = not self._gaps and not len(self._categorical)
        if plain and known.shape[1] <= _TREE_FEATURES and len(known) > _TREE_ROWS:
            self._tree = cKDTree(known, balanced_tree=False, compact_nodes=False)
        else:
            self._single = self._prepared(np.float32)

    def _prepared(self, dtype: type[np.floating]) -> NDArray[np.floating]:
        """Return the known rows for one product with new rows: -2 x, 1, x^2 and, with gaps, what is present."""
        numbers = self._numbers(self.known)
        if not self._gaps:
            return np.vstack([-2 * numbers.T, np.einsum("ij,ij->i", numbers, numbers)]).astype(dtype)
        present = ~np.isnan(self.known)
        return np.vstack([-2 * numbers.T, present.T, numbers.T**2]).astype(dtype)

    def _numbers(self, rows: Floats) -> Floats:
        """Set missing values and codes of categories to 0."""
        if not self._gaps and not len(self._categorical):
            return rows
        numbers = np.nan_to_num(rows)
        numbers[:, self._categorical] = 0.0
        return numbers

    def query(self, new: Floats, k: int) -> tuple[Floats, Indices]:
        """Find the k nearest known rows of each new row: distances and indices, nearest first."""
        k = min(k, len(self.known))
        if self._tree is not None and not np.isnan(new).any():
            pair = self._tree.query(new, k)
            return pair[0].reshape(len(new), k), pair[1].reshape(len(new), k)
        found, distances = np.empty((len(new), k), dtype=np.intp), np.empty((len(new), k))
        gaps = np.zeros(len(new), dtype=bool) if self._gaps else np.isnan(new).any(axis=1)
        if gaps.any():
            distances[~gaps], found[~gaps] = self.query(new[~gaps], k)
            distances[gaps], found[gaps] = self._with_gaps.query(new[gaps], k)
            return distances, found
        for block in blocks(len(new), _BLOCK_DISTANCES // len(self.known)):
            distances[block], found[block] = self._search(new[block], k)
        return distances, found

    def _search(self, rows: Floats, k: int) -> tuple[Floats, Indices]:
        """Compare new rows with all known rows."""
        numbers = self._numbers(rows)
        found = _smallest(self._squares(rows, numbers, self._single), k)
        distances = self._distances(rows, found)
        # Single precision loses distances that are small beside the rows' own lengths.
        coarse = distances.max(axis=1) ** 2 < 1e-4 * np.einsum("ij,ij->i", numbers, numbers)
        if coarse.any():
            squares = self._squares(rows[coarse], numbers[coarse], self._prepared(np.float64))
            found[coarse] = _smallest(squares, k)
            distances[coarse] = self._distances(rows[coarse], found[coarse])
        at = np.arange(len(rows))[:, None], np.argsort(distances, axis=1, kind="stable")
        return distances[at], found[at]

    @cached_property
    def _with_gaps(self) -> "NeighborIndex":
        """The same rows, to be compared with rows that have missing values."""
        index = NeighborIndex.__new__(NeighborIndex)
        index.known, index.mismatch, index._categorical = self.known, self.mismatch, self._categorical
        index._gaps, index._tree = True, None
        index._single = index._prepared(np.float32)
        return index

    def _squares(self, rows: Floats, numbers: Floats, known: NDArray) -> NDArray:
        """Compute squared distances to all known rows, without gaps less the square of each new row's length."""
        present = ~np.isnan(rows) if self._gaps else None
        with np.errstate(invalid="ignore"):  # OpenBLAS may set this flag for finite numbers
            if present is None:
                values = np.hstack([numbers, np.ones((len(rows), 1))]).astype(known.dtype) @ known
            else:
                values = np.hstack([numbers, numbers**2, present]).astype(known.dtype) @ known
                n_common = present.astype(known.dtype) @ known[rows.shape[1] : 2 * rows.shape[1]]
        for j in self._categorical:
            differs = rows[:, j, None] != self.known[:, j]
            if present is not None:
                differs &= present[:, j, None] & ~np.isnan(self.known[:, j])
            values += known.dtype.type(self.mismatch[j]) * differs
        if present is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.where(n_common > 0, values * (rows.shape[1] / n_common), np.inf)
        return values

    def _distances(self, new: Floats, found: Indices) -> Floats:
        """Compute the distances to the known rows `found` in double precision."""
        differences = new[:, None] - self.known[found]
        if len(self._categorical):
            part = differences[..., self._categorical]
            steps = np.sqrt(self.mismatch[self._categorical])
            differences[..., self._categorical] = np.where(np.isnan(part), part, (part != 0) * steps)
        if not self._gaps:
            return np.sqrt(np.einsum("ijk,ijk->ij", differences, differences))
        n_common = (~np.isnan(differences)).sum(axis=2)
        differences = np.nan_to_num(differences)
        squares = np.einsum("ijk,ijk->ij", differences, differences)
        return np.sqrt(np.where(n_common > 0, squares * (new.shape[1] / np.maximum(n_common, 1)), np.inf))


class PairIndex:
    """Known rows, indexed to find the distance to the nearest of them in each of several pairs of features.

    Only rows that have both values are compared.
    """

    def __init__(self, known: Floats, pairs: list[tuple[int, int]], mismatch: Floats):
        self._columns, self._pairs, self._mismatch = np.ascontiguousarray(known.T), pairs, mismatch
        present, every = ~np.isnan(self._columns), np.arange(len(known))
        gaps = not present.all()
        self._rows = [np.flatnonzero(present[a] & present[b]) if gaps else every for a, b in pairs]
        self._trees = [
            None
            if mismatch[a] or mismatch[b] or not len(rows)
            else cKDTree(known[rows][:, (a, b)] if gaps else known[:, (a, b)], balanced_tree=False, compact_nodes=False)
            for (a, b), rows in zip(pairs, self._rows, strict=True)
        ]

    def nearest(self, new: Floats, duplicate: Indices, groups: tuple[Indices, Indices] | None = None) -> Floats:
        """Compute the distance of each new row to the nearest known row in each pair; NaN where a value is missing.

        The known row `duplicate` of each new row is left out, and those of its group: `groups` are those of the known
        and of the new rows.
        """
        result = np.full((len(new), len(self._pairs)), np.nan)
        compared = [j for j, tree in enumerate(self._trees) if tree is None or len(new) <= _FEW_ROWS]
        if compared:
            size = _BLOCK_DISTANCES // (len(compared) * self._columns.shape[1])
            for block in blocks(len(new), size):
                result[block, compared] = self._compare(new[block], compared, duplicate[block], groups, block)
        duplicates = (duplicate >= 0).any()
        n_left_out = int(duplicates) + (0 if groups is None else int(np.bincount(groups[0]).max()))
        missing = np.isnan(new)
        numbers = np.nan_to_num(new) if missing.any() else new
        for j, (tree, rows) in enumerate(zip(self._trees, self._rows, strict=True)):
            if tree is None or j in compared:
                continue
            distances, found = tree.query(numbers[:, self._pairs[j]], range(1, min(1 + n_left_out, len(rows)) + 1))
            if duplicates:
                distances[rows[found] == duplicate[:, None]] = np.inf
            if groups is not None:
                distances[groups[0][rows[found]] == groups[1][:, None]] = np.inf
            result[:, j] = distances.min(axis=1)
        first, second = np.transpose(self._pairs)
        result[np.isinf(result) | missing[:, first] | missing[:, second]] = np.nan
        return result

    def _compare(
        self, new: Floats, pairs: list[int], duplicate: Indices, groups: tuple[Indices, Indices] | None, block: slice
    ) -> Floats:
        """Compare each new row with all known rows."""
        squares = (new[:, :, None] - self._columns) ** 2
        for j in np.flatnonzero(self._mismatch):
            squares[:, j] = np.where(np.isnan(squares[:, j]), np.nan, self._mismatch[j] * (squares[:, j] > 0))
        if groups is None:
            row = np.flatnonzero(duplicate >= 0)
            squares[row, :, duplicate[row]] = np.nan
        else:
            left_out = (groups[0] == groups[1][block, None]) | (np.arange(len(groups[0])) == duplicate[:, None])
            squares = np.where(left_out[:, None], np.nan, squares)
        nearest = [np.fmin.reduce(squares[:, a] + squares[:, b], axis=1) for a, b in (self._pairs[j] for j in pairs)]
        return np.sqrt(np.transpose(nearest))


def _smallest(values: Floats, k: int) -> Indices:
    """Find the columns of the k smallest values in each row; for small k this is much faster than a partition."""
    if k > _FEW_NEIGHBORS:
        return np.argpartition(values, k - 1, axis=1)[:, :k]
    rows = np.arange(len(values))
    found = np.empty((len(values), k), dtype=np.intp)
    for j in range(k):
        found[:, j] = values.argmin(axis=1)
        values[rows, found[:, j]] = np.inf
    return found
