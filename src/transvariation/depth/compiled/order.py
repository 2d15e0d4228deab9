"""Order numbers in linear time: a radix sort on shortened keys, then the few that it left in the wrong order.

A key is the upper part of the bits of |x - base| + spread. Bits of positive floats sort as the floats do, and rounding
keeps the order, so two values with different keys are in the right order; those with equal keys lie side by side and
are compared themselves. The spread is a typical distance: keys are then evenly spaced up to it and spaced by ratios
beyond it, so that few values share one, in a bell as in a heavy tail. Only values crowded far from the base could make
long stretches of equal keys: then all bits are sorted.
"""

import numpy as np

from transvariation.acceleration import compiled

_INDEX = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_FEW = 64


@compiled
def order(v, base, positions, tied, words, spare):
    """Sort v, all at or above base, ascending: the positions, and whether each value equals the one before it.

    Returns whether any two are equal; these come in any order. `words` and `spare` are room to work in. All arrays are
    as long as v: the caller keeps and reuses them, because fresh memory costs as much as the sorting.
    """
    n = len(v)
    if n == 0:
        return False
    # So many bits of key that values seldom share one, and buckets that stay in the cache.
    digit, passes = (11, 2) if n <= 1 << 16 else (12, 2) if n <= 1 << 19 else (11, 3)
    counts = _pack(v, base, digit, passes, spare, words)
    for k in range(passes):
        _scatter(words, words, 32 + k * digit, counts[k], spare)
        words, spare = spare, words
    settled, ties = _settle(words, v, positions, tied)
    return ties if settled else _order_all_bits(v, positions, tied, words, spare)


@compiled
def _pack(v, base, digit, passes, keys, words):
    """The upper bits of each distance over its position: as many bits of the range in use as the passes sort."""
    n = len(v)
    distance, signed = keys.view(np.float64), keys.view(np.int64)
    some = 0  # the mean of the upper bits of a few distances: about their geometric mean
    for i in range(_FEW):
        distance[0] = abs(v[i * (n - 1) // (_FEW - 1)] - base)
        some += signed[0] >> 32
    signed[0] = some // _FEW << 32
    spread, least = distance[0], keys[0]
    high = signed[0]  # no distance has a sign: the same order, and machines compare signed numbers faster
    for i in range(n):
        bits = np.float64(abs(v[i] - base) + spread).view(np.int64)
        signed[i] = bits
        high = max(high, bits)
    shift = np.uint64(0)
    while ((np.uint64(high) - least) >> shift) >> np.uint64(min(passes * digit, 32)):
        shift += np.uint64(1)
    counts = np.zeros((passes, 1 << digit), np.uint32)
    step, mask = np.uint64(digit), np.uint64((1 << digit) - 1)
    first, second = counts[0], counts[1]
    for i in range(len(v)):
        key = (keys[i] - least) >> shift
        words[i] = (key << _HALF) | np.uint64(i)
        first[key & mask] += np.uint32(1)
        second[(key >> step) & mask] += np.uint32(1)
    for k in range(2, passes):
        for i in range(len(v)):
            counts[k, (words[i] >> np.uint64(32 + k * digit)) & mask] += np.uint32(1)
    return counts


@compiled
def _scatter(keys, words, shift, counts, out):
    """One stable pass: words into out, by the digit of keys at this shift, whose counts are given and used up."""
    shift, mask = np.uint64(shift), np.uint64(len(counts) - 1)
    total = np.uint32(0)
    for j in range(len(counts)):
        counts[j], total = total, total + counts[j]
    for i in range(len(keys)):
        j = (keys[i] >> shift) & mask
        place = counts[j]
        counts[j] = place + np.uint32(1)
        out[place] = words[i]


@compiled
def _settle(words, v, positions, tied):
    """Put values of equal key in order by insertion; whether that did not take too long, and whether any are equal."""
    n = len(words)
    tied[:n] = 0
    budget = 8 * n + 64
    ties = False
    before, start = ~words[0], 0
    for i in range(n):
        word = words[i]
        position = np.int32(word & _INDEX)
        positions[i] = position
        if (word ^ before) >> _HALF:
            before, start = word, i
            continue
        x = v[position]
        k = i
        while k > start and v[positions[k - 1]] > x:
            positions[k] = positions[k - 1]
            tied[k] = tied[k - 1]
            k -= 1
        positions[k] = position
        budget -= i - k
        if budget < 0:
            return False, False
        tied[k] = k > start and v[positions[k - 1]] == x
        ties |= tied[k] != 0
    return True, ties


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
        counts = np.zeros(1 << 11, np.uint32)
        for i in range(n):
            counts[(keys[i] >> np.uint64(k * 11)) & np.uint64(len(counts) - 1)] += np.uint32(1)
        _scatter(keys, index, k * 11, counts.copy(), spare_index)
        _scatter(keys, keys, k * 11, counts, spare)
        keys, spare = spare, keys
        index, spare_index = spare_index, index
    tied[0] = 0  # after six passes the index is back in `positions`
    ties = False
    for i in range(1, n):
        tied[i] = keys[i] == keys[i - 1]
        ties |= keys[i] == keys[i - 1]
    return ties
