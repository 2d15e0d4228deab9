"""Plain NumPy kernels: for each row of C, how many rows of A are greater in every variable.

Each takes a sample `A` (n, p) and objects `C` (q, p) as seen from one orthant of the centre, mirrored so that beyond
means greater, and returns counts (q,) and whether a row of `A` may equal one of `C` other than itself. When `C` is `A`
itself, the same sort serves both.

==============  =========  ===================  =============
kernel          variables  time                 memory
==============  =========  ===================  =============
`by_comparing`  any        n q p                n q
`on_line`       1          (n + q) log n        n + q
`in_plane`      2          (n + q)^1.5          n + q
`by_bits`       any        n q p / 64           n p + a block
==============  =========  ===================  =============
"""

import numpy as np
from numpy.typing import NDArray

from transvariation.depth.ordering import in_order
from transvariation.depth.precedence import earlier_in_both

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Counted = tuple[Integers, bool]

_BLOCK = 2048  # units per table of bit sets
_ROWS = 4096  # objects looked up at once: the rows that are ANDed stay in the cache


def by_comparing(A: Floats, C: Floats) -> Counted:
    """Count by comparing all pairs: for a handful."""
    greater = np.ones((len(C), len(A)), dtype=bool)
    for u in range(A.shape[1]):
        greater &= A[:, u] > C[:, u, None]
    return greater.sum(axis=1), True


def on_line(A: Floats, C: Floats) -> Counted:
    """Count by binary search."""
    # Objects in order walk through the sorted sample; in any order they would jump.
    by_value, values = in_order(C[:, 0])
    beyond = np.empty(len(C), dtype=np.int64)
    beyond[by_value] = len(A) - np.searchsorted(np.sort(A[:, 0]), values, side="right")
    return beyond, True


def in_plane(A: Floats, C: Floats) -> Counted:
    """Count by putting all in order by either variable, greatest first: what comes before an object in both orders."""
    V, unit = (A, None) if C is A else (np.concatenate([A, C]), np.arange(len(A) + len(C)) < len(A))
    first, second = np.negative(V.T, order="C")
    sequence, ordered = in_order(first)
    ties = bool((ordered[1:] == ordered[:-1]).any())
    if ties:
        # An equal value is not beyond: those of equal first value come with rising second value.
        rising, _ = in_order(-second)
        sequence = rising.take(in_order(first.take(rising))[0])
    # Those of equal second value come from the end of the sequence to its beginning.
    place = len(V) - 1 - in_order(second.take(sequence[::-1]))[0]
    beyond = np.empty(len(V), dtype=np.int64)
    beyond[sequence] = earlier_in_both(place, None if unit is None else unit[sequence])
    return (beyond if unit is None else beyond[len(A) :]), ties


def _inverse(permutation: Integers) -> Integers:
    inverse = np.empty(len(permutation), dtype=np.int64)
    inverse[permutation] = np.arange(len(permutation))
    return inverse


def by_bits(A: Floats, C: Floats) -> Counted:
    """Count with bit sets: per variable, the units greater than an object's value are a set looked up by its rank."""
    n, p = A.shape
    outward = [np.argsort(-A[:, u]) for u in range(p)]  # greatest first
    place = [_inverse(order) for order in outward]
    greater = [n - np.searchsorted(A[outward[u][::-1], u], C[:, u], side="right") for u in range(p)]
    beyond = np.zeros(len(C), dtype=np.int64)
    inward = np.argsort(-C[:, 0])  # objects, outermost first: a block of units matters from some object on
    for start in range(0, n, _BLOCK):
        units = outward[0][start : start + _BLOCK]
        objects = inward[np.searchsorted(greater[0][inward], start, side="right") :]
        tables = [_sets(place[u][units], n) for u in range(p)]
        for block in range(0, len(objects), _ROWS):
            some = objects[block : block + _ROWS]
            common = tables[0][0][tables[0][1][greater[0][some]]]
            for u in range(1, p):
                common &= tables[u][0][tables[u][1][greater[u][some]]]
            beyond[some] += np.bitwise_count(common).sum(axis=1, dtype=np.int64)
    first = A[outward[0], 0]
    return beyond, C is not A or bool((first[1:] == first[:-1]).any())


def _sets(place: Integers, n: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """For every k: which units of a block are its k outermost, and how many are among the sample's k outermost."""
    size = len(place)
    order = np.argsort(place)
    sets = np.zeros((size + 1, -(-size // 64)), dtype=np.uint64)
    sets[np.arange(1, size + 1), order >> 6] = np.uint64(1) << (order & 63).astype(np.uint64)
    np.bitwise_or.accumulate(sets, axis=0, out=sets)
    among = np.zeros(n + 1, dtype=np.int32)
    among[place + 1] = 1
    return sets, np.cumsum(among, dtype=np.int32)
