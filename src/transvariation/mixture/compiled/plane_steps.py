"""Covariances from scatter in two variables, by model: closed forms, no matrices; see `models`.

A symmetric matrix (a, o; o, d) has the middle (a + d) / 2 and, seen from axes turned by an angle t, the difference from
it h cos 2t + o sin 2t along them and o cos 2t - h sin 2t beside them, where h = (a - d) / 2: whatever turns, turns by
the double angle, whose cosine and sine are ratios. The rows of `W` and `S` are a, d and o of every component.
"""

from math import sqrt

from transvariation.mixture.compiled import compiled
from transvariation.mixture.compiled.algebra import total_of
from transvariation.mixture.compiled.m_steps import AXES, CODES, COMMON_SHAPE, COMMON_VOLUME, INNER_TOL, VVE_ML

_EII, _VII, _EEE, _VEE, _EVV, _VVV = (CODES[m] for m in ("EII", "VII", "EEE", "VEE", "EVV", "VVV"))


@compiled()
def _volumes_and_shape(w, N, scale, v):
    """Variances of components that share a shape but not a volume, from their scatter along the axes."""
    for _ in range(100):
        first, second = 0.0, 0.0
        for k in range(len(N)):
            per = 1 / scale[k]
            first += w[0, k] * per
            second += w[1, k] * per
        size = sqrt(first * second)
        first, second = size / first, size / second
        moved = False
        for k in range(len(N)):
            new = (w[0, k] * first + w[1, k] * second) / (2 * N[k])
            moved |= abs(new - scale[k]) > INNER_TOL * new
            scale[k] = new
        if not moved:
            break
    for k in range(len(N)):
        v[0, k] = scale[k] / first
        v[1, k] = scale[k] / second


@compiled()
def _variances(w, N, common_volume, common_shape, scale, v):
    """Turn scatter along the axes, (2, G), into variances along them by what the components share."""
    if common_volume and common_shape:
        n = total_of(N)
        first, second = total_of(w[0]) / n, total_of(w[1]) / n
        for k in range(len(N)):
            v[0, k], v[1, k] = first, second
    elif common_volume:
        total = 0.0
        for k in range(len(N)):
            v[0, k] = sqrt(w[0, k] * w[1, k])
            total += v[0, k]
        total /= total_of(N)
        for k in range(len(N)):
            per = total / v[0, k]
            v[0, k] = w[0, k] * per
            v[1, k] = w[1, k] * per
    elif common_shape:
        _volumes_and_shape(w, N, scale, v)
    else:
        for k in range(len(N)):
            per = 1 / N[k]
            v[0, k] = w[0, k] * per
            v[1, k] = w[1, k] * per


@compiled()
def _turned(c, s, a, d, o):
    """See (a, o; o, d) from axes with the double angle's cosine c and sine s: along them, and beside."""
    middle, half = (a + d) / 2, (a - d) / 2
    along, beside = half * c + o * s, o * c - half * s
    return middle + along, middle - along, beside


@compiled()
def _common_axes(W, N, axes, fresh, by_likelihood, w):
    """Turn the common axes, from where they are, to those of the criterion; w is the scatter along them."""
    if fresh:
        half, o = (total_of(W[0]) - total_of(W[1])) / 2, total_of(W[2])
        radius = sqrt(half * half + o * o)
        axes[0], axes[1] = (half / radius, o / radius) if radius > 0 else (1.0, 0.0)
    c, s = axes[0], axes[1]
    for _ in range(100):
        across, beside = 0.0, 0.0
        for k in range(len(N)):
            x, y, xy = _turned(c, s, W[0, k], W[1, k], W[2, k])
            weight = (N[k] / (x * y) if by_likelihood else 1 / sqrt(x * y)) * (y - x)
            across += weight * (y - x)
            beside += weight * xy
        radius = sqrt(across * across + 4 * beside * beside)
        turn_c, turn_s = (across / radius, -2 * beside / radius) if radius > 0 else (1.0, 0.0)
        c, s = c * turn_c - s * turn_s, s * turn_c + c * turn_s
        length = sqrt(c * c + s * s)  # of many turns the rounding would add up
        c, s = c / length, s / length
        if not abs(turn_s) >= 1e-4:
            break
    axes[0], axes[1] = c, s
    for k in range(len(N)):
        w[0, k], w[1, k], _ = _turned(c, s, W[0, k], W[1, k], W[2, k])


@compiled()
def _own_axes(W, w, turned):
    """Scatter along each component's own axes, and the double angle that these are turned by."""
    for k in range(W.shape[1]):
        a, d, o = W[0, k], W[1, k], W[2, k]
        half = (a - d) / 2
        radius = sqrt(half * half + o * o)
        w[0, k] = (a + d) / 2 + radius
        w[1, k] = (a * d - o * o) / w[0, k] if w[0, k] > 0 else 0.0  # a component may consist of one object
        turned[0, k], turned[1, k] = (half / radius, o / radius) if radius > 0 else (1.0, 0.0)


@compiled()
def _proportional(W, N, scale, S):
    """VEE: one matrix, volumes of their own."""
    a, d, o = 0.0, 0.0, 0.0
    for _ in range(100):
        a, d, o = 0.0, 0.0, 0.0
        for k in range(len(N)):
            per = 1 / scale[k]
            a += W[0, k] * per
            d += W[1, k] * per
            o += W[2, k] * per
        size = sqrt(a * d - o * o)
        a, d, o = a / size, d / size, o / size
        moved = False
        for k in range(len(N)):
            new = (W[0, k] * d - 2 * W[2, k] * o + W[1, k] * a) / (2 * N[k])
            moved |= abs(new - scale[k]) > INNER_TOL * new
            scale[k] = new
        if not moved:
            break
    for k in range(len(N)):
        S[0, k], S[1, k], S[2, k] = scale[k] * a, scale[k] * d, scale[k] * o


@compiled()
def m_step(model, W, N, S, scale, axes, fresh, w, v, turned):
    """Turn scatter W of components of size N into covariances S; the rest is state and room to work in."""
    G = len(N)
    if model == _EII:
        value = (total_of(W[0]) + total_of(W[1])) / (2 * total_of(N))
        for k in range(G):
            S[0, k], S[1, k], S[2, k] = value, value, 0.0
    elif model == _VII:
        for k in range(G):
            S[0, k] = S[1, k] = (W[0, k] + W[1, k]) / (2 * N[k])
            S[2, k] = 0.0
    elif model == _EEE:
        n = total_of(N)
        a, d, o = total_of(W[0]) / n, total_of(W[1]) / n, total_of(W[2]) / n
        for k in range(G):
            S[0, k], S[1, k], S[2, k] = a, d, o
    elif model == _VEE:
        _proportional(W, N, scale, S)
    elif model == _EVV:  # the axes are the scatter's own and the volume needs none
        total = 0.0
        for k in range(G):
            v[0, k] = sqrt(W[0, k] * W[1, k] - W[2, k] * W[2, k])
            total += v[0, k]
        total /= total_of(N)
        for k in range(G):
            per = total / v[0, k]
            S[0, k], S[1, k], S[2, k] = W[0, k] * per, W[1, k] * per, W[2, k] * per
    elif model == _VVV:
        for k in range(G):
            per = 1 / N[k]
            S[0, k], S[1, k], S[2, k] = W[0, k] * per, W[1, k] * per, W[2, k] * per
    elif AXES[model] == 0:
        _variances(W, N, COMMON_VOLUME[model], COMMON_SHAPE[model], scale, S)
        for k in range(G):
            S[2, k] = 0.0
    else:
        own = AXES[model] == 2
        if own:
            _own_axes(W, w, turned)
        else:
            _common_axes(W, N, axes, fresh, model == VVE_ML, w)
        _variances(w, N, COMMON_VOLUME[model], COMMON_SHAPE[model], scale, v)
        for k in range(G):
            c, s = (turned[0, k], turned[1, k]) if own else (axes[0], axes[1])
            middle, half = (v[0, k] + v[1, k]) / 2, (v[0, k] - v[1, k]) / 2
            S[0, k], S[1, k], S[2, k] = middle + half * c, middle - half * c, half * s
