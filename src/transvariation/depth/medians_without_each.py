"""The spatial medians of every sample with one object less, at about the cost of the median of the whole.

Leaving out one object moves the median by about 1/n, so that all n moves follow from one expansion of the sum of
distances about the common median. What has to be exact is not the place of each median but which values of the sample
lie below it and which above: where the expansion leaves that open, Newton's method decides.

All arrays hold one variable per row: NumPy then works along the objects.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from transvariation.depth.collinear import middles_without_each, order_on_line
from transvariation.depth.median import spatial_median_of_rows
from transvariation.depth.medians_of_wide import is_wide, wide_medians_without_each
from transvariation.validation import blocks, exponent_of

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_SMALL = 150  # objects up to which Newton's steps take all of them as they are
_CLOSE = 3.0  # moves of the median away: there it may come to lie on an object
_FAR = 30.0  # moves of the median away: there the pull of an object is expanded
_CELLS = 1 << 15  # differences worked on at a time
_CACHED = 32_768  # objects whose arithmetic stays in the cache
_FEW = 16  # values, or medians, up to which to take one after the other is quicker
_STEPS = 12  # of Newton's; where it converges half as many do


def medians_without_each(X: Floats, m: Floats | None = None) -> Floats:
    """Find the spatial median of the other rows, for every row of `X`.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    m : ndarray of shape (p,), optional
        The spatial median of all rows, if it is known already.

    Returns
    -------
    ndarray of shape (n, p)
        Each lies between the same values of every variable as the median itself, or is that median where it has a
        value of the sample.

    Examples
    --------
    >>> medians_without_each(np.array([[0.0, 0], [4, 0], [0, 4], [1, 1], [1, 1]]))
    array([[1., 1.],
           [1., 1.],
           [1., 1.],
           [1., 1.],
           [1., 1.]])
    """
    n, p = X.shape
    if n <= 3:
        return np.array([spatial_median_of_rows(np.delete(X, i, axis=0)) for i in range(n)] if n > 1 else X)
    if p == 1:
        return middles_without_each(X, np.argsort(X[:, 0], kind="stable"))
    m = spatial_median_of_rows(X) if m is None else m
    if exponent := exponent_of(X):
        return np.ldexp(medians_without_each(np.ldexp(X, -exponent), np.ldexp(m, -exponent)), exponent)
    if is_wide(n, p):
        return wide_medians_without_each(X)
    about = _seen_from(X, m)
    if about.softest <= 1e-12 * about.stiffest:
        return middles_without_each(X, order_on_line(X))
    if about.closest > 0:
        D, doubt = _expanded(about)
        held = _held_close_by(about, D, doubt)
    else:
        D, doubt = _held(about.v)
        held = {}
    # To expand the pull of the far objects takes a look at each, as does one search with all of them as they are.
    many = n > _SMALL and np.count_nonzero(doubt) > _FEW
    for reach in (_FAR / about.softest if many else np.inf, np.inf):
        some = np.flatnonzero(doubt)
        if len(some):
            D[:, some], doubt[some] = _newton_steps(about, some, D[:, some], reach)
    D += m[:, None]
    for row, some in held.items():
        D[:, some] = X[row, :, None]
    for i in np.flatnonzero(doubt):
        D[:, i] = spatial_median_of_rows(np.delete(X, i, axis=0))
    return D.T


class _Sample(NamedTuple):
    """A sample seen from its median: the offsets, and sums that say how the sum of distances bends."""

    v: Floats
    hessian: Floats
    twist: Floats  # third derivatives
    squares: float  # sum of 1 / distance^2
    cubes: float
    closest: float
    softest: float  # the smallest curvature
    stiffest: float
    scale: float  # the mean distance
    rounding: float  # by which a median may be off that was found to the last digit


def _seen_from(X: Floats, m: Floats) -> _Sample:
    v = np.subtract(X.T, m[:, None], order="C")
    p = len(m)
    hessian, twist, squares, cubes, total, closest = np.zeros((p, p)), np.zeros((p, p, p)), 0.0, 0.0, 0.0, np.inf
    for block in blocks(v.shape[1], _CACHED):
        r, inverse, u = _directions(v[:, block])
        hessian += _bend(u, inverse)
        twist += _twist(u, inverse)
        squares += float(inverse @ inverse)
        cubes += float((inverse * inverse) @ inverse)
        total += r.sum()
        closest = min(closest, r.min())
    values, scale = np.linalg.eigvalsh(hessian), total / len(X)
    rounding = 1e-13 * scale + 4 * np.finfo(float).eps * float(np.abs(m).max())
    return _Sample(v, hessian, twist, squares, cubes, closest, values[0], values[-1], scale, rounding)


def _dot(a: Floats, b: Floats) -> Floats:
    return np.einsum("ui,ui->i", a, b)


def _directions(v: Floats) -> tuple[Floats, Floats, Floats]:
    """Distances, their inverses (zero at the median itself), and directions."""
    r = np.sqrt(_dot(v, v))
    inverse = np.divide(1.0, r, out=np.zeros_like(r), where=r > 0)
    return r, inverse, v * inverse


def _bend(u: Floats, inverse: Floats) -> Floats:
    """Second derivatives of the sum of distances to objects in directions u."""
    return inverse.sum() * np.eye(len(u)) - (u * inverse) @ u.T


def _twist(u: Floats, inverse: Floats) -> Floats:
    """Third derivatives."""
    weighted = u * inverse**2
    first = np.multiply.outer(weighted.sum(axis=1), np.eye(len(u)))
    third = np.array([(weighted * along) @ u.T for along in u])
    return first + first.transpose(1, 0, 2) + first.transpose(2, 1, 0) - 3 * third


def _held(v: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Where, without each object, the one at the origin does not hold the pull of the others; and the step off it."""
    r, inverse, u = _directions(v)
    at, rest = r == 0, u.sum(axis=1)[:, None] - u
    pull = np.linalg.norm(rest, axis=0)
    hold = np.count_nonzero(at) - at
    held = pull <= hold * (1 - 1e-12)
    direction = rest / np.where(pull > 0, pull, 1.0)
    curvature = _dot(direction, _bend(u, inverse) @ direction)
    return np.where(held, 0.0, direction * ((pull - hold) / np.where(curvature > 0, curvature, 1.0))), ~held


def _held_close_by(about: _Sample, D: Floats, doubt: NDArray[np.bool_]) -> dict[int, Indices]:
    """Objects close to the median, and which of the moves in doubt end at each of them; they are so no longer.

    Newton's method would not settle there, nor shortly beside unless it starts from there: so it will.
    """
    held = {}
    if doubt.any():
        distance = np.sqrt(_dot(about.v, about.v))
        for row in np.flatnonzero(distance <= _CLOSE / about.softest)[:_FEW]:
            place = about.v[:, [row]]
            step, moves = _held(about.v - place)
            held[int(row)] = np.flatnonzero(doubt & ~moves)
            doubt &= moves
            beside = np.flatnonzero(doubt & (_dot(step, step) < distance[row] ** 2))
            D[:, beside] = place + step[:, beside]
    return held


def _expanded(about: _Sample) -> tuple[Floats, NDArray[np.bool_]]:
    """Every move of the median to first order, where that does not do to second; and where that does not do either."""
    v, softest, squares = about.v, about.softest, about.squares
    back = -np.linalg.inv(about.hessian)
    # Closer objects, or a curvature that changes as the median moves, are beyond an expansion.
    farthest = min(about.closest / 4, softest / (4 * squares))
    # A move to first order is at most as long as that; half as much again is room for what is left out.
    limits = 1.5 * np.linalg.norm(back, axis=1)
    values = [np.unique(x[np.abs(x) <= limit]) for x, limit in zip(v, limits, strict=True)]
    D, doubt = np.empty_like(v), np.empty(v.shape[1], dtype=bool)
    for block in blocks(v.shape[1], _CACHED):
        _, inverse, u = _directions(v[:, block])
        d = np.matmul(back, u, out=D[:, block])
        margin = inverse * (4 / softest**2) + (2 * squares / softest**3 + about.rounding)
        doubt[block] = _in_doubt(values, d, margin) | (margin > limits.min() / 3) | (_dot(d, d) > farthest**2)
    some = np.flatnonzero(doubt)
    _, inverse, u = _directions(v[:, some])
    d = D[:, some]
    # The sum of distances bends, and the pull of the object itself turns, as the median moves.
    bent = np.array([_dot(part @ d, d) for part in about.twist]) / 2
    change = back @ (bent - (d - u * _dot(u, d)) * inverse)
    d += change
    size, last = np.sqrt(_dot(d, d)), np.sqrt(_dot(change, change))
    left = size**2 * (size * about.cubes + 4 * inverse**2) + 2 * last * (size * squares + inverse)
    margin = left * (2 / softest) + about.rounding
    beyond = (np.abs(d) + margin > limits[:, None]).any(axis=0)
    D[:, some], doubt[some] = d, _in_doubt(values, d, margin) | (size > farthest) | beyond
    return D, doubt


@np.errstate(all="ignore")  # at a corner of the sum of distances the steps make no sense, and show it
def _newton_steps(about: _Sample, some: Indices, D: Floats, reach: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Newton's method for the medians without each of some objects, from moves D, and whether they are in doubt.

    Objects within reach pull exactly, the others as expanded.
    """
    v, p = about.v, len(about.v)
    r, inverse, u = _directions(v)
    near, far = np.flatnonzero(r <= reach), np.flatnonzero(r > reach)
    pull, bend = -u[:, far].sum(axis=1), _bend(u[:, far], inverse[far])
    twist = _twist(u[:, far], inverse[far]).reshape(p, p * p)
    offsets, moves, margin = v.take(near, axis=1), D.T.copy(), np.empty(len(some))
    truncated = 4 * (inverse[far] ** 3).sum() / about.softest
    for block in blocks(len(some), _CELLS // max(1, len(near) * p)):
        d, own, itself = moves[block], v[:, some[block]].T, near == some[block][:, None]
        inside = itself.any(axis=1)
        for _ in range(_STEPS):
            twisted = (d @ twist).reshape(-1, p, p)
            gradient, curvature = pull + d @ bend + np.einsum("iuv,iv->iu", twisted, d) / 2, bend + twisted
            _add(gradient, curvature, offsets - d[:, :, None], 1.0, itself)
            if not inside.all():
                _add(gradient, curvature, (own - d)[:, :, None], -1.0, inside[:, None])
            # A trace of stiffness: no step has to be refused, and none is changed that matters.
            ridge = np.trace(curvature, axis1=1, axis2=2)[:, None, None] * 1e-14 + 1e-300
            move = np.linalg.solve(curvature + ridge * np.eye(p), -gradient[:, :, None])[:, :, 0]
            d = d + move
            last = np.linalg.norm(move, axis=1)
            if not (last > 1e-7 * about.scale).any():
                break
        size = np.linalg.norm(d, axis=1)
        bound = 4 * last + truncated * size**3 + about.rounding
        moves[block], margin[block] = d, np.where(10 * size < reach, bound, np.inf)
    known = np.flatnonzero(np.isfinite(margin))
    doubt = np.ones(len(some), dtype=bool)
    if len(known):
        low, high = moves[known].T - margin[known], moves[known].T + margin[known]
        values = [
            np.unique(x[(x >= a) & (x <= b)]) for x, a, b in zip(v, low.min(axis=1), high.max(axis=1), strict=True)
        ]
        doubt[known] = _in_doubt(values, moves[known].T, margin[known])
    return moves.T, doubt


def _add(gradient: Floats, curvature: Floats, w: Floats, sign: float, but: NDArray[np.bool_]) -> None:
    """Add the derivatives of the distances to objects at offsets w, (moves, p, objects), but for some of them."""
    square = np.einsum("iuj,iuj->ij", w, w)
    square[but] = np.inf
    inverse = 1 / np.sqrt(square)
    u = w * inverse[:, None]
    gradient -= sign * u.sum(axis=2)
    bend = inverse.sum(axis=1)[:, None, None] * np.eye(w.shape[1]) - (u * inverse[:, None]) @ u.transpose(0, 2, 1)
    curvature += sign * bend


def _in_doubt(values: list[Floats], D: Floats, margin: Floats) -> NDArray[np.bool_]:
    """Say which moves may pass other values, of those listed for each variable, than what they stand for."""
    doubt = np.zeros(len(margin), dtype=bool)
    for here, d in zip(values, D, strict=True):
        if len(here) > _FEW:
            doubt |= np.searchsorted(here, d - margin) < np.searchsorted(here, d + margin, side="right")
        else:
            for value in here:
                doubt |= np.abs(d - value) <= margin
    return doubt
