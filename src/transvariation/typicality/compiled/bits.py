"""A set of positions 0 ... n - 1 that knows how many of its members lie before any position.

The set is a row of bits in words of 64. Sixteen words make a block, sixteen blocks a chunk, four chunks a room, eight
rooms a house. Per word the members before it in its block, per block those before it in its chunk and per chunk those
before it in its room are kept as 16-bit numbers, four to a machine word; per room those before it as 32-bit numbers,
two to a word. Adding a member is then a dozen additions, always the same ones; counting is five look-ups, one popcount.
"""

import numpy as np

from transvariation.typicality.compiled import compiled, inlined

_ONE = np.uint64(1)
_LOW, _HALF = np.uint64(0xFFFF), np.uint64(0xFFFFFFFF)
# Row k has a one in each field after field k.
_LATER = (np.arange(16) > np.arange(16)[:, None]).astype(np.uint16).view(np.uint64)
_LATER_ROOMS = (np.arange(8) > np.arange(8)[:, None]).astype(np.uint32).view(np.uint64)
_BOTH = np.uint64(1 << 32 | 1)


@compiled
def new_set(n):
    """An empty set: bits, counts per word, per block, per chunk and per room."""
    bits = np.zeros((n >> 6) + 1, np.uint64)
    words = np.zeros((n >> 10) + 1 << 2, np.uint64)
    blocks = np.zeros((n >> 14) + 1 << 2, np.uint64)
    chunks = np.zeros((n >> 16) + 1, np.uint64)
    rooms = np.zeros((n >> 19) + 1 << 2, np.uint64)
    return bits, words, blocks, chunks, rooms


@inlined
def count_before(bits, words, blocks, chunks, rooms, position):
    """How many members lie before this position."""
    e = np.uint32(position)
    word, block = e >> np.uint32(6), e >> np.uint32(10)
    inside = popcount(bits[word] & ((_ONE << np.uint64(e & np.uint32(63))) - _ONE))
    in_block = (words[e >> np.uint32(8)] >> np.uint64((word & np.uint32(3)) << np.uint32(4))) & _LOW
    in_chunk = (blocks[e >> np.uint32(12)] >> np.uint64((block & np.uint32(3)) << np.uint32(4))) & _LOW
    in_room = (chunks[e >> np.uint32(16)] >> np.uint64((e >> np.uint32(14) & np.uint32(3)) << np.uint32(4))) & _LOW
    before = (rooms[e >> np.uint32(17)] >> np.uint64((e >> np.uint32(16) & np.uint32(1)) << np.uint32(5))) & _HALF
    return np.int32(before + in_room + in_chunk + in_block + inside)


@inlined
def add(bits, words, blocks, chunks, rooms, position):
    """Put a position into the set; it must not be there yet."""
    e = np.uint32(position)
    word, block, chunk = e >> np.uint32(6), e >> np.uint32(10), e >> np.uint32(14)
    bits[word] |= _ONE << np.uint64(e & np.uint32(63))
    _add_after(words, block << np.uint32(2), word & np.uint32(15))
    _add_after(blocks, chunk << np.uint32(2), block & np.uint32(15))
    chunks[e >> np.uint32(16)] += _LATER[chunk & np.uint32(3), 0]
    if len(chunks) > 1:
        _add_to_rooms(rooms, e >> np.uint32(16))


@inlined
def count_in_row(bits, words, blocks, halves, position):
    """The same for many small sets in a row, each of two chunks: how many members of its own set lie before it."""
    e = np.uint32(position)
    word, block = e >> np.uint32(6), e >> np.uint32(10)
    inside = popcount(bits[word] & ((_ONE << np.uint64(e & np.uint32(63))) - _ONE))
    in_block = (words[e >> np.uint32(8)] >> np.uint64((word & np.uint32(3)) << np.uint32(4))) & _LOW
    in_chunk = (blocks[e >> np.uint32(12)] >> np.uint64((block & np.uint32(3)) << np.uint32(4))) & _LOW
    return np.int32(np.uint64(halves[e >> np.uint32(14)]) + in_chunk + in_block + inside)


@inlined
def add_in_row(bits, words, blocks, halves, position):
    """Put a position into its set; `halves` counts, at each second chunk, the members in the first."""
    e = np.uint32(position)
    word, block, chunk = e >> np.uint32(6), e >> np.uint32(10), e >> np.uint32(14)
    bits[word] |= _ONE << np.uint64(e & np.uint32(63))
    _add_after(words, block << np.uint32(2), word & np.uint32(15))
    _add_after(blocks, chunk << np.uint32(2), block & np.uint32(15))
    halves[chunk | np.uint32(1)] += np.uint32(1) - (chunk & np.uint32(1))


@inlined
def _add_after(counts, start, k):
    counts[start] += _LATER[k, 0]
    counts[start + np.uint32(1)] += _LATER[k, 1]
    counts[start + np.uint32(2)] += _LATER[k, 2]
    counts[start + np.uint32(3)] += _LATER[k, 3]


@inlined
def _add_to_rooms(rooms, room):
    house, k = room >> np.uint32(3) << np.uint32(2), room & np.uint32(7)
    rooms[house] += _LATER_ROOMS[k, 0]
    rooms[house + np.uint32(1)] += _LATER_ROOMS[k, 1]
    rooms[house + np.uint32(2)] += _LATER_ROOMS[k, 2]
    rooms[house + np.uint32(3)] += _LATER_ROOMS[k, 3]
    for j in range(np.int64(house) + 4, len(rooms)):
        rooms[j] += _BOTH


@inlined
def popcount(x):
    """The number of ones; compilers know this form and use the machine's own instruction."""
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)
