"""A set of positions 0 ... n - 1 that knows how many of its members lie before any position.

The set is a row of bits in words of 64. Sixteen words make a block and sixteen blocks a chunk; per word the members
before it in its block, and per block those before it in its chunk, are kept as 16-bit numbers, four to a machine word,
so that adding a member is a dozen additions and counting is four look-ups and one popcount.
"""

import numpy as np

from transvariation.typicality.compiled import compiled, inlined

_ONE = np.uint64(1)
_LOW = np.uint64(0xFFFF)
# Row k has a one in each 16-bit field after field k.
_LATER = (np.arange(16) > np.arange(16)[:, None]).astype(np.uint16).view(np.uint64)


@compiled
def new_set(n):
    """An empty set: bits, counts per word, counts per block, counts per chunk."""
    bits = np.zeros((n >> 6) + 1, np.uint64)
    words = np.zeros((n >> 10) + 1 << 2, np.uint64)
    blocks = np.zeros((n >> 14) + 1 << 2, np.uint64)
    chunks = np.zeros((n >> 14) + 1, np.int32)
    return bits, words, blocks, chunks


@inlined
def count_before(bits, words, blocks, chunks, position):
    """How many members lie before this position."""
    e = np.uint32(position)
    word, block = e >> np.uint32(6), e >> np.uint32(10)
    inside = popcount(bits[word] & ((_ONE << np.uint64(e & np.uint32(63))) - _ONE))
    in_block = (words[e >> np.uint32(8)] >> np.uint64((word & np.uint32(3)) << np.uint32(4))) & _LOW
    in_chunk = (blocks[e >> np.uint32(12)] >> np.uint64((block & np.uint32(3)) << np.uint32(4))) & _LOW
    return chunks[e >> np.uint32(14)] + np.int32(in_chunk) + np.int32(in_block) + np.int32(inside)


@inlined
def add(bits, words, blocks, chunks, position):
    """Put a position into the set; it must not be there yet."""
    e = np.uint32(position)
    word, block, chunk = e >> np.uint32(6), e >> np.uint32(10), e >> np.uint32(14)
    bits[word] |= _ONE << np.uint64(e & np.uint32(63))
    _add_after(words, block << np.uint32(2), word & np.uint32(15))
    _add_after(blocks, chunk << np.uint32(2), block & np.uint32(15))
    for j in range(np.int64(chunk) + 1, len(chunks)):
        chunks[j] += np.int32(1)


@inlined
def _add_after(counts, start, k):
    counts[start] += _LATER[k, 0]
    counts[start + np.uint32(1)] += _LATER[k, 1]
    counts[start + np.uint32(2)] += _LATER[k, 2]
    counts[start + np.uint32(3)] += _LATER[k, 3]


@inlined
def popcount(x):
    """The number of ones; compilers know this form and use the machine's own instruction."""
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)
