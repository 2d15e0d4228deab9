"""Reduce "strictly greater in every variable" to permutations without ties.

Items are units and objects together. The sequence orders them by the first variable, greatest first, those of equal
first value with rising second value. Every other variable orders them greatest first too, and those of equal value from
the end of the sequence to its beginning. A unit lies beyond an object exactly if it comes before it in all orders.
"""

import numpy as np

from transvariation.acceleration import compiled
from transvariation.depth.compiled.order import order


@compiled
def permutations(V):
    """The items in sequence; per further variable, greatest first, their places in it; whether first values repeat."""
    n, p = V.shape
    room = np.empty((2, n), np.uint64)
    tied, scratch = np.empty(n, np.uint8), np.empty(n, np.int32)
    orders = np.empty((p, n), np.int32)
    column = np.empty(n)
    _order_by(V, 0, -1.0, column, orders[0], tied, room)
    ties = tied.any()
    if ties:
        _order_by(V, 1, 1.0, column, orders[1], np.empty(n, np.uint8), room)
        _arrange(orders[0], tied, orders[1], scratch)
    place = np.empty(n, np.int32)
    for t in range(n):
        place[orders[0, t]] = t
    backwards = orders[0, ::-1].copy()
    for u in range(1, p):
        _order_by(V, u, -1.0, column, orders[u], tied, room)
        if tied.any():
            _arrange(orders[u], tied, backwards, scratch)
        for t in range(n):
            orders[u, t] = place[orders[u, t]]
    return orders, ties


@compiled
def _order_by(V, u, sign, column, positions, tied, room):
    """Order by one variable: sign -1 puts the greatest first."""
    low = np.inf
    for i in range(len(V)):
        column[i] = sign * V[i, u]
        low = min(low, column[i])
    order(column, low, positions, tied, room[0], room[1])


@compiled
def _arrange(positions, tied, wanted, scratch):
    """Put each stretch of equal items into the order in which `wanted` lists them."""
    n = len(positions)
    start = np.empty(n, np.int32)
    for t in range(n):
        start[t] = start[t - 1] if tied[t] else t
        scratch[positions[t]] = start[t]
    filled = np.zeros(n, np.int32)
    for k in range(n):
        first = scratch[wanted[k]]
        positions[first + filled[first]] = wanted[k]
        filled[first] += 1
