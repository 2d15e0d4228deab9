"""Count, for each row of C, the rows of A that are greater in every variable. Plain NumPy.

`A` (n, p) and `C` (q, p) are units and objects in one orthant about the centre, mirrored so that beyond means greater.

==============  =========  ===================  =============
kernel          variables  time                 memory
==============  =========  ===================  =============
`by_comparing`  any        n q p                n q
`on_line`       1          (n + q) log n        n + q
`in_plane`      2          (n + q) log (n + q)  n + q
`by_bits`       any        n q p / 64           n p + a block
==============  =========  ===================  =============
"""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_FEW_PAIRS = 1 << 12  # units times objects up to which comparing all is fastest
_BLOCK = 2048  # units per table of bit sets
_ROWS = 4096  # objects looked up at once: the sets that are intersected stay in the cache


def count_greater(A: Floats, C: Floats) -> tuple[Integers, bool]:
    """Count the rows of `A` greater than each row of `C`; whether rows may be equal, other than a row to itself.

    Where `C` is `A` itself, one sort serves both.
    """
    if len(A) * len(C) <= _FEW_PAIRS:
        return by_comparing(A, C)
    if A.shape[1] == 1:
        return on_line(A, C), True
    return in_plane(A, C) if A.shape[1] == 2 else by_bits(A, C)


def by_comparing(A: Floats, C: Floats) -> tuple[Integers, bool]:
    """Count by comparing all pairs."""
    greater = np.ones((len(C), len(A)), dtype=bool)
    for u in range(A.shape[1]):
        greater &= A[:, u] > C[:, u, None]
    n_equal = np.count_nonzero(A[:, 0] == C[:, 0, None])
    return greater.sum(axis=1), int(n_equal) > (len(A) if C is A else 0)


def on_line(A: Floats, C: Floats) -> Integers:
    """Count by binary search."""
    # Searching for the objects in rising order is faster than in any other.
    by_value, values = in_order(C[:, 0])
    beyond = np.empty(len(C), dtype=np.int64)
    beyond[by_value] = len(A) - np.searchsorted(np.sort(A[:, 0]), values, side="right")
    return beyond


def in_plane(A: Floats, C: Floats) -> tuple[Integers, bool]:
    """Count the units that come before an object in the orders of both variables, greatest first."""
    V, unit = (A, None) if C is A else (np.concatenate([A, C]), np.arange(len(A) + len(C)) < len(A))
    first, second = np.negative(V.T, order="C")
    sequence, ordered = in_order(first)
    ties = bool((ordered[1:] == ordered[:-1]).any())
    if ties:
        # An equal value is not greater: rows of equal first value come with rising second value,
        rising, _ = in_order(-second)
        sequence = rising.take(in_order(first.take(rising))[0])
    # and rows of equal second value from the end of the sequence to its beginning.
    places = len(V) - 1 - in_order(second.take(sequence[::-1]))[0]
    beyond = np.empty(len(V), dtype=np.int64)
    beyond[sequence] = earlier_in_both(_inverse(places), None if unit is None else unit[sequence])
    return (beyond if unit is None else beyond[len(A) :]), ties


def earlier_in_both(rank: Integers, unit: NDArray[np.bool_] | None = None) -> Integers:
    """Count for each item of a sequence the earlier (unit) items of smaller rank; ranks are 0, ..., n - 1.

    A radix sort of the ranks from the highest bit down, stable, so that items of equal upper bits keep the order of the
    sequence. Two items part at the highest bit in which they differ; there the one with bit 1 counts the other.

    Examples
    --------
    >>> earlier_in_both(np.array([0, 2, 1, 3]))
    array([0, 1, 1, 3])
    """
    n = len(rank)
    value, count, every = rank.astype(np.int32), np.zeros(n, dtype=np.int32), np.arange(n, dtype=np.int32)
    counted = np.ones(n, dtype=np.int32) if unit is None else unit.astype(np.int32)
    for bit in reversed(range(n.bit_length())):
        one = (value >> bit & 1).astype(bool)
        group = value >> bit + 1 << bit + 1  # ranks of equal upper bits are contiguous, from this place on
        n_zeros = _before_in_group(~one, group)
        count += np.where(one, n_zeros if unit is None else _before_in_group(~one & (counted == 1), group), 0)
        target = np.where(one, every - n_zeros + (1 << bit), group + n_zeros)
        for array in (value, count, counted) if unit is not None else (value, count):
            array[target] = array.copy()
    return count.take(rank).astype(np.int64)


def _before_in_group(mask: NDArray[np.bool_], group: NDArray[np.int32]) -> NDArray[np.int32]:
    before = np.zeros(len(mask) + 1, dtype=np.int32)
    np.cumsum(mask, out=before[1:])
    return before[:-1] - before.take(group)


def by_bits(A: Floats, C: Floats) -> tuple[Integers, bool]:
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
    """Find for every k which units of a block are its k outermost, and how many are among the sample's k outermost."""
    size = len(place)
    order = np.argsort(place)
    sets = np.zeros((size + 1, -(-size // 64)), dtype=np.uint64)
    sets[np.arange(1, size + 1), order >> 6] = np.uint64(1) << (order & 63).astype(np.uint64)
    np.bitwise_or.accumulate(sets, axis=0, out=sets)
    among = np.zeros(n + 1, dtype=np.int32)
    among[place + 1] = 1
    return sets, np.cumsum(among, dtype=np.int32)


def _inverse(permutation: Integers) -> Integers:
    inverse = np.empty(len(permutation), dtype=np.int64)
    inverse[permutation] = np.arange(len(permutation))
    return inverse


def in_order(values: Floats) -> tuple[Integers, Floats]:
    """List positions by rising value, equal values by rising position; and the values in this order.

    The same as ``np.argsort(values, kind="stable")``, but faster, because NumPy sorts integers faster than it finds an
    order: each value, rounded to an integer, is put above its position in one word, and the words are sorted. Values
    that rounding made equal are then sorted themselves.

    Examples
    --------
    >>> in_order(np.array([0.3, 0.1, 0.3, 0.2]))
    (array([1, 3, 0, 2]), array([0.1, 0.2, 0.3, 0.3]))
    """
    n, low = len(values), float(values.min())
    bits = n.bit_length()
    _, exponent = math.frexp(float(values.max()) - low)
    if not math.isfinite(float(values.max()) - low) or exponent < -900:
        order = np.argsort(values, kind="stable")
        return order, values.take(order)
    words = ((values - low) * 2.0 ** (63 - bits - exponent)).astype(np.int64)
    words <<= bits
    words |= np.arange(n)
    words.sort()
    words &= (1 << bits) - 1
    ordered = values.take(words)
    if (ordered[1:] >= ordered[:-1]).all():
        return words, ordered
    order = np.argsort(ordered, kind="stable")  # fast on what is nearly in order
    return words.take(order), ordered.take(order)


def count_equal(X: Floats, Z: Floats) -> Integers:
    """Count the rows of X equal to each row of Z; 0.0 and -0.0 are equal.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [1.0, -0.0], [2.0, 1.0]])
    >>> count_equal(X, X)
    array([2, 2, 1])
    """
    V = X if Z is X else np.concatenate([X, Z])
    order, first = in_order(V[:, 0])
    differs = _differ_from_next(V[order])
    if (differs & (first[1:] == first[:-1])).any():  # these may come between equal rows
        order = np.lexsort(V.T)
        differs = _differ_from_next(V[order])
    group = np.empty(len(V), dtype=np.int64)
    group[order] = np.concatenate([[0], np.cumsum(differs)])
    sizes = np.bincount(group[: len(X)], minlength=group.max() + 1)
    return sizes[group if Z is X else group[len(X) :]]


def _differ_from_next(V: Floats) -> NDArray[np.bool_]:
    differ = np.zeros(len(V) - 1, dtype=bool)
    for column in V.T:
        differ |= column[1:] != column[:-1]
    return differ
