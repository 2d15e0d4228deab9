"""Order numbers in linear time: a radix sort on shortened keys, then the few that it left in the wrong order.

A key is the upper part of the bits of |x - m|. Bits of positive floats sort as the floats do, and rounding keeps the
order, so two values with different keys are in the right order; those with equal keys lie side by side and are
compared themselves. Only values crowded far from m could make long stretches of equal keys: then all bits are sorted.
"""

import numpy as np

from transvariation.typicality.compiled import compiled

_DIGIT = 11
_BUCKETS = 1 << _DIGIT
_MASK = np.uint64(_BUCKETS - 1)
_INDEX = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@compiled
def order(v, base, positions, tied, words, spare):
    """Sort v, all at or above base, ascending: the positions, and whether each value equals the one before it.

    Equal values come in any order. `words` and `spare` are room to work in. All arrays are as long as v: the caller
    keeps and reuses them, because fresh memory costs as much as the sorting.
    """
    if len(v) == 0:
        return
    passes = 2 if len(v) <= 1 << 16 else 3
    counts = _pack(v, base, passes, spare, words)
    for k in range(passes):
        _scatter(words, words, 32 + k * _DIGIT, counts[k], spare)
        words, spare = spare, words
    if not _settle(words, v, positions, tied):
        _order_all_bits(v, positions, tied, words, spare)


@compiled
def _pack(v, base, passes, keys, words):
    """The upper bits of each distance over its position; 22 or 32 bits of the range that is in use."""
    distance = keys.view(np.float64)
    for i in range(len(v)):
        distance[i] = abs(v[i] - base)  # -0.0 - 0.0 would carry a sign
    low, high = keys[0], keys[0]
    for i in range(len(v)):
        low, high = min(low, keys[i]), max(high, keys[i])
    shift = np.uint64(0)
    while ((high - low) >> shift) >> np.uint64(min(passes * _DIGIT, 32)):
        shift += np.uint64(1)
    counts = np.zeros((passes, _BUCKETS), np.uint32)
    for i in range(len(v)):
        key = (keys[i] - low) >> shift
        words[i] = (key << _HALF) | np.uint64(i)
        for k in range(passes):
            counts[k, key & _MASK] += np.uint32(1)
            key >>= np.uint64(_DIGIT)
    return counts


@compiled
def _scatter(keys, words, shift, counts, out):
    """One stable pass: words into out, by the digit of keys at this shift, whose counts are given and used up."""
    shift = np.uint64(shift)
    total = np.uint32(0)
    for j in range(_BUCKETS):
        counts[j], total = total, total + counts[j]
    for i in range(len(keys)):
        j = (keys[i] >> shift) & _MASK
        out[counts[j]] = words[i]
        counts[j] += np.uint32(1)


@compiled
def _settle(words, v, positions, tied):
    """Put values of equal key in order by insertion; False when that would take long."""
    n = len(words)
    budget = 8 * n + 64
    i = 0
    while i < n:
        key = words[i] >> _HALF
        positions[i] = np.int32(words[i] & _INDEX)
        tied[i] = 0
        start = i
        i += 1
        while i < n and words[i] >> _HALF == key:
            position = np.int32(words[i] & _INDEX)
            x = v[position]
            k = i
            while k > start and v[positions[k - 1]] > x:
                positions[k] = positions[k - 1]
                k -= 1
            positions[k] = position
            budget -= i - k
            if budget < 0:
                return False
            i += 1
        for k in range(start + 1, i):
            tied[k] = v[positions[k]] == v[positions[k - 1]]
    return True


@compiled
def _order_all_bits(v, positions, tied, keys, spare):
    """The same by every bit of v itself."""
    n = len(v)
    sign = np.uint64(1) << np.uint64(63)
    values = spare.view(np.float64)
    for i in range(n):
        values[i] = v[i] + 0.0  # -0.0 + 0.0 = 0.0: equal numbers, equal keys
        keys[i] = ~spare[i] if spare[i] & sign else spare[i] | sign
        positions[i] = i
    index, spare_index = positions, np.empty_like(positions)
    for k in range(6):
        counts = np.zeros(_BUCKETS, np.uint32)
        for i in range(n):
            counts[(keys[i] >> np.uint64(k * _DIGIT)) & _MASK] += np.uint32(1)
        _scatter(keys, index, k * _DIGIT, counts.copy(), spare_index)
        _scatter(keys, keys, k * _DIGIT, counts, spare)
        keys, spare = spare, keys
        index, spare_index = spare_index, index
    tied[0] = 0  # after six passes the index is back in `positions`
    for i in range(1, n):
        tied[i] = keys[i] == keys[i - 1]
