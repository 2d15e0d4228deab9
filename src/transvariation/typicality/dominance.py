"""Plain NumPy kernels: for each row of C, how many rows of A are greater in every variable.

Each takes a sample `A` (n, p) and objects `C` (q, p) as seen from one orthant of the centre, mirrored so that beyond
means greater, and returns counts (q,). When `C` is `A` itself, the same sort serves both.

==============  =========  ===================  =============
kernel          variables  time                 memory
==============  =========  ===================  =============
`by_comparing`  any        n q p                n q
`on_line`       1          (n + q) log n        n + q
`in_plane`      2          (n + q) log(n + q)   n + q
`by_bits`       any        n q p / 64           n p + a block
==============  =========  ===================  =============
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_BLOCK = 2048  # units per table of bit sets
_ROWS = 4096  # objects looked up at once: the rows that are ANDed stay in the cache


def by_comparing(A: Floats, C: Floats) -> Integers:
    """Count by comparing all pairs: for a handful."""
    greater = np.ones((len(C), len(A)), dtype=bool)
    for u in range(A.shape[1]):
        greater &= A[:, u] > C[:, u, None]
    return greater.sum(axis=1)


def on_line(A: Floats, C: Floats) -> Integers:
    """Count by binary search."""
    # Objects in order walk through the sorted sample; in any order they would jump.
    by_value = np.argsort(C[:, 0])
    beyond = np.empty(len(C), dtype=np.int64)
    beyond[by_value] = len(A) - np.searchsorted(np.sort(A[:, 0]), C[by_value, 0], side="right")
    return beyond


def in_plane(A: Floats, C: Floats) -> Integers:
    """Count by going through the first variable outside in, while the ranks in the second are sorted bit by bit."""
    V, unit = (A, None) if C is A else (np.concatenate([A, C]), np.arange(len(A) + len(C)) < len(A))
    (inward, first), (upward, second) = (_ranks(column) for column in np.ascontiguousarray(V.T))
    size = len(V)
    if first is None and second is None:
        sequence, rank = inward[::-1], np.empty(size, dtype=np.int64)
        rank[upward] = np.arange(size)
    else:
        # Ties: an equal value is not beyond. In the sequence those of equal first value come with rising second value,
        # and those of equal second value rise in rank along the sequence: none is earlier and larger.
        first = _inverse(inward) if first is None else first
        second = _inverse(upward) if second is None else second
        sequence = np.argsort((size - first) * size + second)
        rank = _inverse(np.argsort(second * size + _inverse(sequence)))
    larger = np.empty(size, dtype=np.int64)
    larger[sequence] = earlier_and_larger(rank[sequence], None if unit is None else unit[sequence])
    return larger if unit is None else larger[len(A) :]


def _ranks(values: Floats) -> tuple[Integers, Integers | None]:
    """Positions in ascending order, and the rank that equal values share; None where no two are equal."""
    order = np.argsort(values)
    ordered = values[order]
    step = ordered[1:] != ordered[:-1]
    if step.all():
        return order, None
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.concatenate([[0], np.cumsum(step)])
    return order, rank


def _inverse(permutation: Integers) -> Integers:
    inverse = np.empty(len(permutation), dtype=np.int64)
    inverse[permutation] = np.arange(len(permutation))
    return inverse


def earlier_and_larger(rank: Integers, unit: NDArray[np.bool_] | None = None) -> Integers:
    """For each element of a permutation of 0 ... n - 1, count the (unit) elements before it that are larger.

    A wavelet matrix, level by level: split a stretch of the sequence by the leading bit of the ranks, keeping the order
    inside both halves; an element with 0 has before it, and larger, the elements with 1 that came earlier.

    Examples
    --------
    >>> earlier_and_larger(np.array([2, 0, 3, 1]))
    array([0, 1, 0, 2])
    """
    n = len(rank)
    # Room for `ways` stretches of equal power-of-two length: at most an eighth of it is padding.
    depth = max(n.bit_length() - 4, 0)
    ways = -(-n // (1 << depth))
    padded = np.arange(ways << depth, dtype=np.uint64)  # padding comes last and largest: it disturbs no one
    padded[:n] = rank
    # One word per element: the count so far | whether it is a unit | its rank.
    here = np.ones(len(padded), dtype=bool) if unit is None else np.zeros(len(padded), dtype=bool)
    if unit is not None:
        here[:n] = unit
    words = padded | (here.astype(np.uint64) << np.uint64(31))
    words = _split_many(words, here, (padded >> np.uint64(depth)).astype(np.int64), ways)
    for b in reversed(range(depth)):
        words = _split(words, b, unit is None)
    return (words[rank] >> np.uint64(32)).astype(np.int64)


def _split_many(words: NDArray[np.uint64], here: NDArray[np.bool_], digit: Integers, ways: int) -> NDArray[np.uint64]:
    """The first level, several ways at once."""
    parts = []
    for d in range(ways):
        mine = np.flatnonzero(digit == d)
        larger = np.cumsum(here & (digit > d), dtype=np.int64)[mine].astype(np.uint64)
        parts.append(words[mine] + (larger << np.uint64(32)))
    return np.concatenate(parts)


def _split(words: NDArray[np.uint64], b: int, all_units: bool) -> NDArray[np.uint64]:
    """One level of bits, for all stretches of length 2^(b + 1) at once; each has as many zeros as ones."""
    half = 1 << b
    bit = (words & np.uint64(half)) != 0
    ones, zeros = np.flatnonzero(bit), np.flatnonzero(~bit)
    j = np.arange(len(zeros))
    before_stretch = j >> b << b  # ones in earlier stretches
    if all_units:
        larger = zeros - j - before_stretch
    else:
        seen = np.cumsum(bit & ((words & np.uint64(1 << 31)) != 0))
        ends = np.concatenate([[0], seen[2 * half - 1 :: 2 * half]])
        larger = seen[zeros] - ends[j >> b]
    out = np.empty((len(words) // (2 * half), 2, half), dtype=np.uint64)
    out[:, 0] = (words[zeros] + (larger.astype(np.uint64) << np.uint64(32))).reshape(-1, half)
    out[:, 1] = words[ones].reshape(-1, half)
    return out.ravel()


def by_bits(A: Floats, C: Floats) -> Integers:
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
    return beyond


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
