"""A set of positions 0 ... n - 1 that knows how many of its members lie before any position.

The set is a row of bits in words of 64. Sixteen words make a block, sixteen blocks a chunk, eight chunks a room, eight
rooms a house. Kept are per word the members before it in its block, per block those before it in its chunk, and so on.
The counts of one block, chunk, room or house fill 32 bytes, and a new member is added to all that come after it in one
step: adding is at most four such steps, counting is four look-ups and a popcount.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from transvariation.acceleration import compiled, inlined

_ONE = np.uint64(1)
# Row k has a one in each place from k on.
_FROM = (np.arange(16) >= np.arange(17)[:, None]).astype(np.uint16).ravel()
_FROM_WIDE = (np.arange(8) >= np.arange(9)[:, None]).astype(np.uint32).ravel()


@compiled
def new_set(n):
    """An empty set: bits, counts per word, per block, per chunk and per room."""
    bits = np.zeros((n >> 6) + 1, np.uint64)
    words, blocks = np.zeros((n >> 10) + 1 << 4, np.uint16), np.zeros((n >> 14) + 1 << 4, np.uint16)
    chunks, rooms = np.zeros((n >> 17) + 1 << 3, np.uint32), np.zeros((n >> 20) + 1 << 3, np.uint32)
    return bits, words, blocks, chunks, rooms


@inlined
def count_before(bits, words, blocks, chunks, rooms, position):
    """How many members lie before this position."""
    e = np.uint32(position)
    return np.int32(count_in_chunk(bits, words, blocks, e) + chunks[e >> np.uint32(14)] + rooms[e >> np.uint32(17)])


@inlined
def add(bits, words, blocks, chunks, rooms, position):
    """Put a position into the set; it must not be there yet."""
    e = np.uint32(position)
    add_in_chunk(bits, words, blocks, e)
    chunk, room = e >> np.uint32(14), e >> np.uint32(17)
    _add_row(chunks, chunk & ~np.uint32(7), _FROM_WIDE, ((chunk & np.uint32(7)) + np.uint32(1)) << np.uint32(3))
    if len(chunks) > 8:
        _add_row(rooms, room & ~np.uint32(7), _FROM_WIDE, ((room & np.uint32(7)) + np.uint32(1)) << np.uint32(3))
        for house in range((room | np.uint32(7)) + np.uint32(1), len(rooms), 8):
            _add_row(rooms, np.uint32(house), _FROM_WIDE, np.uint32(0))


@inlined
def count_in_chunk(bits, words, blocks, e):
    """How many members of a chunk lie before position e in it."""
    inside = popcount(bits[e >> np.uint32(6)] & ((_ONE << np.uint64(e & np.uint32(63))) - _ONE))
    return inside + words[e >> np.uint32(6)] + blocks[e >> np.uint32(10)]


@inlined
def add_in_chunk(bits, words, blocks, e):
    """Put a position into the set as far as its chunk goes."""
    word, block = e >> np.uint32(6), e >> np.uint32(10)
    bits[word] |= _ONE << np.uint64(e & np.uint32(63))
    _add_row(words, word & ~np.uint32(15), _FROM, ((word & np.uint32(15)) + np.uint32(1)) << np.uint32(4))
    _add_row(blocks, block & ~np.uint32(15), _FROM, ((block & np.uint32(15)) + np.uint32(1)) << np.uint32(4))


@intrinsic
def _add_row(typing, counts, start, rows, first):
    """Add 32 bytes of `rows` to 32 bytes of `counts`: one instruction, which the compiler does not find by itself."""

    def generate(context, builder, signature, arguments):
        bits = counts.dtype.bitwidth
        vector = ir.VectorType(ir.IntType(bits), 256 // bits).as_pointer()

        def place(kind, array, index):
            data = context.make_array(kind)(context, builder, array).data
            return builder.bitcast(builder.gep(data, [builder.zext(index, ir.IntType(64))]), vector)

        into, what = place(counts, *arguments[:2]), place(rows, *arguments[2:])
        both = builder.add(builder.load(into, align=bits // 8), builder.load(what, align=bits // 8))
        builder.store(both, into, align=bits // 8)
        return context.get_dummy_value()

    return types.void(counts, types.uint32, rows, types.uint32), generate


@inlined
def popcount(x):
    """The number of ones; compilers know this form and use the machine's own instruction."""
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)
