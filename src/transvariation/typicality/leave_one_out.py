"""tp of every target unit with respect to the others, at about the cost of tp with respect to all.

Leaving out one unit moves the spatial median by about 1/n. So all n medians are found together, by Newton steps from
the common median with a Taylor expansion of the far units' pull; and all n counts differ only by units in the thin
slabs through which the medians move.
"""

import numpy as np
from numpy.typing import NDArray

from transvariation.typicality.counting import Transvariations, count_transvariations
from transvariation.typicality.median import _newton, spatial_median
from transvariation.typicality.probability import ratio

Floats = NDArray[np.float64]

_SMALL = 40  # units; up to here one Newton search for each costs no more
_MANY_VARIABLES = 12  # from here on third derivatives cost more than they save
_FAR = 30.0  # moves of the median away: there the pull of a unit is expanded


def leave_one_out_probability(X: Floats, *, tau_max: str = "count", ties: str = "proper") -> Floats:
    """Compute tp of each row of `X` with respect to the other rows, about the centre of those others.

    The result equals ``transvariation_probability(others, row, tau_max=tau_max, ties=ties)`` for every row.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    >>> leave_one_out_probability(X).round(2)
    array([0.  , 0.33, 0.67, 1.  , 0.67, 0.33, 0.  ])
    """
    if tau_max == "product":
        return np.prod([leave_one_out_probability(x[:, None], tau_max="half", ties=ties) for x in X.T], axis=0)
    counts = count_without_each(X, medians_without_each(X))
    return ratio(counts, len(X) - 1, X.shape[1], tau_max, ties)


def medians_without_each(X: Floats) -> Floats:
    """Find the spatial median of the other rows, for every row of `X`: shape (n, p)."""
    n, p = X.shape
    if p == 1:
        return _middles(X[:, 0])[:, None]
    m = spatial_median(X)
    if n <= _SMALL or p >= _MANY_VARIABLES:
        return np.array([_newton(np.delete(X, i, axis=0), m) if n > 3 else _few(X, i) for i in range(n)])
    M, doubtful = _held(X, m) if (m == X).all(axis=1).any() else _moved(X, m)
    for i in np.flatnonzero(doubtful):
        M[i] = _newton(np.delete(X, i, axis=0), m)
    return M


def count_without_each(X: Floats, M: Floats) -> Transvariations:
    """Count the other units beyond and at each unit, on its side of its own centre `M[i]` and at that centre."""
    m = M[0]
    counts = count_transvariations(X, m, X)
    below = X < M
    # The count of units beyond depends on the centre through the side alone, and few units change sides.
    odd = (below != (m > X)).any(axis=1) | (X == M).any(axis=1) | (m == X).any(axis=1)
    side, centre = _on_side(X, M, below)
    result = Transvariations(
        counts.beyond.copy(), counts.at - 1, side - 1, centre, np.full(len(X), X.shape[1], dtype=np.int64)
    )
    for i in np.flatnonzero(odd):
        one = count_transvariations(np.delete(X, i, axis=0), M[i], X[[i]])
        for kept, new in zip(result, one, strict=True):
            kept[i] = new[0]
    return result


def _on_side(X: Floats, M: Floats, below: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many units lie strictly on each unit's side of its centre, the unit itself included, and at the centre."""
    moving = ((M.min(axis=0) <= X) & (M.max(axis=0) >= X)).any(axis=1)
    orthant = np.unique(below, axis=0, return_inverse=True)[1].ravel()
    # Outside the slabs a unit lies in the same orthant about every centre.
    side = np.bincount(orthant[~moving], minlength=orthant.max() + 1)[orthant]
    centre = np.zeros(len(X), dtype=np.int64)
    for x in X[moving]:
        side += (np.where(below, x < M, x > M)).all(axis=1)
        centre += (x == M).all(axis=1)
    return side, centre


def _few(X: Floats, i: int) -> Floats:
    return spatial_median(np.delete(X, i, axis=0))


def _middles(x: Floats) -> Floats:
    """The median of the others, for every value of one variable."""
    if len(x) < 2:
        return x.copy()
    order = np.argsort(x, kind="stable")
    s, rank, k = x[order], np.arange(len(x)), len(x) // 2
    if len(x) % 2 == 0:
        middles = np.where(rank < k, s[k], s[k - 1])
    else:
        low, high = np.where(rank <= k - 1, s[k], s[k - 1]), np.where(rank <= k, s[min(k + 1, len(x) - 1)], s[k])
        middles = (low + high) / 2
    result = np.empty_like(x)
    result[order] = middles
    return result


def _held(X: Floats, m: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The median is a unit: it stays so while it holds the pull of the others; where not, the search must decide."""
    v = X - m
    r = np.linalg.norm(v, axis=1)
    u = np.divide(v, r[:, None], out=np.zeros_like(v), where=r[:, None] > 0)
    at = np.count_nonzero(r == 0)
    pull = np.linalg.norm(u.sum(axis=0) - u, axis=1)
    return np.tile(m, (len(X), 1)), pull > np.where(r == 0, at - 1, at) * (1 - 1e-12)


def _moved(X: Floats, m: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Newton steps for all medians at once, and which of them are not certain to have found their cell of the grid."""
    n, p = X.shape
    v = X - m
    r = np.linalg.norm(v, axis=1)
    u = v / r[:, None]
    hessian = np.eye(p) * (1 / r).sum() - (u / r[:, None]).T @ u
    softest = float(np.linalg.eigvalsh(hessian)[0])
    if softest <= 0:
        return np.tile(m, (n, 1)), np.ones(n, dtype=bool)
    far = r > _FAR / softest
    pull, bend, twist = _expand(u[far], r[far])
    near = v[~far]
    D = np.zeros((n, p))
    for _ in range(8):
        gradient = pull + D @ bend + np.einsum("abc,nb,nc->na", twist, D, D) / 2
        curvature = bend + np.einsum("abc,nc->nab", twist, D)
        for w in near:
            _add(gradient, curvature, w - D, 1.0)
        _add(gradient, curvature, v - D, -1.0)
        step = np.linalg.solve(curvature + 1e-300 * np.eye(p), -gradient[:, :, None])[:, :, 0]
        D += step
        if np.abs(step).max() <= 1e-14 * r.mean():
            break
    # What the expansion leaves out, with a margin; and Newton's own last step.
    left = 4 * np.linalg.norm(D, axis=1) ** 3 * (r[far] ** -3.0).sum() / softest + 4 * np.linalg.norm(step, axis=1)
    M, margin = m + D, left[:, None] + 1e-13 * r.mean()
    doubtful = ~np.isfinite(M).all(axis=1) | (np.linalg.norm(D, axis=1) > 3 / softest)
    for column in range(p):
        values = np.sort(X[:, column])
        low, high = M[:, column] - margin[:, 0], M[:, column] + margin[:, 0]
        doubtful |= np.searchsorted(values, low) < np.searchsorted(values, high, side="right")
    return M, doubtful


def _expand(u: Floats, r: Floats) -> tuple[Floats, Floats, Floats]:
    """Derivatives of a sum of distances, to third order, at a point from which the units lie in directions u."""
    p = u.shape[1]
    eye, w2 = np.eye(p), u / r[:, None] ** 2
    first = w2.sum(axis=0)
    third = -3 * np.einsum("na,nb,nc->abc", w2, u, u, optimize=True)
    third += (
        np.einsum("a,bc->abc", first, eye) + np.einsum("b,ac->abc", first, eye) + np.einsum("c,ab->abc", first, eye)
    )
    return -u.sum(axis=0), eye * (1 / r).sum() - (u / r[:, None]).T @ u, third


def _add(gradient: Floats, curvature: Floats, v: Floats, sign: float) -> None:
    """Add the distance to one unit per row, at offsets v, to the derivatives of each row."""
    r = np.maximum(np.linalg.norm(v, axis=1), np.finfo(float).tiny)
    u = v / r[:, None]
    gradient -= sign * u
    curvature += sign * (np.eye(v.shape[1]) - u[:, :, None] * u[:, None, :]) / r[:, None, None]
