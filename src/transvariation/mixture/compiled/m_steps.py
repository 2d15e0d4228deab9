"""Covariances from scatter matrices, by model; see `models`."""

from math import exp, log, sqrt

import numpy as np

from transvariation.mixture.compiled import compiled
from transvariation.mixture.compiled.algebra import eigen, pool, total_of, turn, whiten
from transvariation.mixture.models import MODELS, VVE_BY_LIKELIHOOD

CODES = {name: code for code, name in enumerate((*MODELS, VVE_BY_LIKELIHOOD))} | {"E": 0, "V": 1}
_EII, _VII, _EEE, _VEE, _EVV, _VVV = (CODES[m] for m in ("EII", "VII", "EEE", "VEE", "EVV", "VVV"))
_VVE_ML = CODES[VVE_BY_LIKELIHOOD]
# How the other models find their axes (0: given, 1: common, 2: own), and whether volume and shape are common.
_AXES = np.array([{"I": 0, "E": 1, "V": 2}[m[2]] for m in (*MODELS, "VVE")])
_COMMON_VOLUME = np.array([m[0] == "E" for m in (*MODELS, "VVE")])
_COMMON_SHAPE = np.array([m[1] == "E" for m in (*MODELS, "VVE")])

COMMON_COVARIANCE = np.array([m in ("EII", "EEI", "EEE") for m in (*MODELS, "VVE")])

_INNER_TOL = 1e-7


@compiled()
def _geometric_mean(a):
    """The volume of an ellipsoid whose squared axes are `a`, per axis."""
    if len(a) == 2:  # no logarithm needed
        return sqrt(a[0]) * sqrt(a[1])
    total = 0.0
    for i in range(len(a)):
        total += log(a[i])
    return exp(total / len(a))


@compiled()
def _variances(w, N, common_volume, common_shape, scale, v):
    """Turn scatter along the axes, (G, p), into variances along them by what the components share."""
    G, p = w.shape
    n = total_of(N)
    if common_volume and common_shape:
        for j in range(p):
            total = 0.0
            for k in range(G):
                total += w[k, j]
            for k in range(G):
                v[k, j] = total / n
    elif common_volume:
        total = 0.0
        for k in range(G):
            size = sqrt(w[k, 0]) * sqrt(w[k, 1]) if p == 2 else _geometric_mean(w[k])
            total += size
            for j in range(p):
                v[k, j] = w[k, j] / size
        for k in range(G):
            for j in range(p):
                v[k, j] *= total / n
    elif common_shape:
        shape = np.empty(p)
        for _ in range(100):
            for j in range(p):
                shape[j] = 0.0
                for k in range(G):
                    shape[j] += w[k, j] / scale[k]
            size = _geometric_mean(shape)
            for j in range(p):
                shape[j] /= size
            moved = False
            for k in range(G):
                new = 0.0
                for j in range(p):
                    new += w[k, j] / shape[j]
                new /= p * N[k]
                if abs(new - scale[k]) > _INNER_TOL * new:
                    moved = True
                scale[k] = new
            if not moved:
                break
        for k in range(G):
            for j in range(p):
                v[k, j] = scale[k] * shape[j]
    else:
        for k in range(G):
            for j in range(p):
                v[k, j] = w[k, j] / N[k]


@compiled()
def _common_axes(W, N, D, by_likelihood, V, w):
    """Turn the common axes D, from where they are, to those of the criterion; w is the scatter along them."""
    G, p = W.shape[:2]
    for k in range(G):
        for a in range(p):
            for b in range(p):
                x = 0.0
                for i in range(p):
                    y = 0.0
                    for j in range(p):
                        y += W[k, i, j] * D[j, b]
                    x += D[i, a] * y
                V[k, a, b] = x
    size = np.ones(G)
    for _ in range(5):
        largest = 0.0
        for i in range(p - 1):
            for j in range(i + 1, p):
                a, d, o = 0.0, 0.0, 0.0
                for k in range(G):
                    if by_likelihood:
                        size[k] = N[k]
                    else:
                        x = 0.0
                        for h in range(p):
                            x += log(V[k, h, h])
                        size[k] = exp(x / p)
                    weight = size[k] * (1 / V[k, i, i] - 1 / V[k, j, j])
                    a += weight * V[k, i, i]
                    d += weight * V[k, j, j]
                    o += weight * V[k, i, j]
                c, s = turn(a, d, o)
                largest = max(largest, abs(2 * c * s))
                for h in range(p):
                    x, y = D[h, i], D[h, j]
                    D[h, i], D[h, j] = c * x + s * y, c * y - s * x
                for k in range(G):
                    for h in range(p):
                        x, y = V[k, h, i], V[k, h, j]
                        V[k, h, i], V[k, h, j] = c * x + s * y, c * y - s * x
                    for h in range(p):
                        x, y = V[k, i, h], V[k, j, h]
                        V[k, i, h], V[k, j, h] = c * x + s * y, c * y - s * x
        if not largest >= 1e-4:
            break
    for k in range(G):
        for j in range(p):
            w[k, j] = V[k, j, j]


@compiled()
def _common_axes_plane(W, N, D, by_likelihood, w):
    """The same in two variables, where there is one angle to turn by."""
    G = len(W)
    for _ in range(100):
        a, d, o = 0.0, 0.0, 0.0
        for k in range(G):
            x, y, xy = _seen_from(D, W[k, 0, 0], W[k, 1, 1], W[k, 0, 1])
            w[k, 0], w[k, 1] = x, y
            weight = (N[k] if by_likelihood else sqrt(x) * sqrt(y)) * (1 / x - 1 / y)
            a += weight * x
            d += weight * y
            o += weight * xy
        c, s = turn(a, d, o)
        for h in range(2):
            x, y = D[h, 0], D[h, 1]
            D[h, 0], D[h, 1] = c * x + s * y, c * y - s * x
        if not abs(2 * c * s) >= 1e-4:
            break
    for k in range(G):
        w[k, 0], w[k, 1], _ = _seen_from(D, W[k, 0, 0], W[k, 1, 1], W[k, 0, 1])


@compiled()
def _seen_from(D, a, d, o):
    """A symmetric matrix (a, o; o, d) along axes D: its diagonal and what is beside it."""
    p, q, r, s = D[0, 0], D[1, 0], D[0, 1], D[1, 1]
    return (
        p * p * a + 2 * p * q * o + q * q * d,
        r * r * a + 2 * r * s * o + s * s * d,
        p * r * a + (p * s + q * r) * o + q * s * d,
    )


@compiled()
def _own_axes_plane(W, N, common_volume, common_shape, scale, w, v, V, S):
    """Covariances with axes of their own in two variables, by the angle's double: no axes have to be found."""
    for k in range(len(W)):
        a, d, o = W[k, 0, 0], W[k, 1, 1], W[k, 0, 1]
        middle, half = (a + d) / 2, (a - d) / 2
        radius = sqrt(half * half + o * o)
        w[k, 0] = middle + radius
        w[k, 1] = (a * d - o * o) / w[k, 0] if w[k, 0] > 0 else 0.0  # a component may consist of one object
        V[k, 0, 0], V[k, 0, 1] = (half / radius, o / radius) if radius > 0 else (1.0, 0.0)
    _variances(w, N, common_volume, common_shape, scale, v)
    for k in range(len(W)):
        middle, half = (v[k, 0] + v[k, 1]) / 2, (v[k, 0] - v[k, 1]) / 2
        S[k, 0, 0], S[k, 1, 1] = middle + half * V[k, 0, 0], middle - half * V[k, 0, 0]
        S[k, 0, 1] = S[k, 1, 0] = half * V[k, 0, 1]


@compiled()
def _proportional(W, N, scale, S, L, T):
    """VEE: one matrix, volumes of their own."""
    G, p = W.shape[:2]
    C = np.empty((p, p))
    none = np.zeros(p)
    for _ in range(100):
        for i in range(p):
            for j in range(p):
                C[i, j] = 0.0
                for k in range(G):
                    C[i, j] += W[k, i, j] / scale[k]
        size = exp(2 * whiten(C, none, L, T) / p)
        for i in range(p):
            for j in range(p):
                C[i, j] /= size
        moved = False
        for k in range(G):
            new = 0.0
            for a in range(p):
                for i in range(a + 1):
                    for j in range(a + 1):
                        new += T[a, i] * T[a, j] * W[k, i, j]
            new *= size / (p * N[k])
            if abs(new - scale[k]) > _INNER_TOL * new:
                moved = True
            scale[k] = new
        if not moved:
            break
    for k in range(G):
        for i in range(p):
            for j in range(p):
                S[k, i, j] = scale[k] * C[i, j]


@compiled()
def m_step(model, W, N, S, scale, D, fresh, L, T, V, w, v):
    """Turn scatter matrices W of components of size N into covariances S; the rest is state and room to work in."""
    G, p = W.shape[:2]
    if model in (_EII, _VII):
        total = 0.0
        for k in range(G):
            own = 0.0
            for j in range(p):
                own += W[k, j, j]
            total += own
            scale[k] = own / (p * N[k])
        for k in range(G):
            value = scale[k] if model == _VII else total / (p * total_of(N))
            for i in range(p):
                for j in range(p):
                    S[k, i, j] = value if i == j else 0.0
    elif model == _EEE:
        pool(W, L)
        n = total_of(N)
        for k in range(G):
            for i in range(p):
                for j in range(p):
                    S[k, i, j] = L[i, j] / n
    elif model == _VEE:
        _proportional(W, N, scale, S, L, T)
    elif model == _EVV and p == 2:  # the axes are the scatter's own and the volume needs none
        total = 0.0
        for k in range(G):
            v[k, 0] = sqrt(W[k, 0, 0] * W[k, 1, 1] - W[k, 0, 1] * W[k, 0, 1])
            total += v[k, 0]
        total /= total_of(N)
        for k in range(G):
            for i in range(2):
                for j in range(2):
                    S[k, i, j] = W[k, i, j] * (total / v[k, 0])
    elif _AXES[model] == 2 and p == 2 and model != _VVV:
        _own_axes_plane(W, N, _COMMON_VOLUME[model], _COMMON_SHAPE[model], scale, w, v, V, S)
    elif model == _VVV:
        for k in range(G):
            for i in range(p):
                for j in range(p):
                    S[k, i, j] = W[k, i, j] / N[k]
    else:
        axes = _AXES[model]
        if axes == 0:
            for k in range(G):
                for j in range(p):
                    w[k, j] = W[k, j, j]
        elif axes == 1:
            if fresh:
                pool(W, L)
                eigen(L, v[0], D)
            if p == 2:
                _common_axes_plane(W, N, D, model == _VVE_ML, w)
            else:
                _common_axes(W, N, D, model == _VVE_ML, V, w)
        else:
            for k in range(G):
                for i in range(p):
                    for j in range(p):
                        L[i, j] = W[k, i, j]
                eigen(L, w[k], V[k])
        _variances(w, N, _COMMON_VOLUME[model], _COMMON_SHAPE[model], scale, v)
        for k in range(G):
            if axes == 1 and p == 2:
                a, b, c, d = D[0, 0], D[0, 1], D[1, 0], D[1, 1]
                S[k, 0, 0] = a * a * v[k, 0] + b * b * v[k, 1]
                S[k, 1, 1] = c * c * v[k, 0] + d * d * v[k, 1]
                S[k, 0, 1] = S[k, 1, 0] = a * c * v[k, 0] + b * d * v[k, 1]
                continue
            for i in range(p):
                for j in range(p):
                    if axes == 0:
                        S[k, i, j] = v[k, i] if i == j else 0.0
                    else:
                        x = 0.0
                        for h in range(p):
                            if axes == 1:
                                x += D[i, h] * v[k, h] * D[j, h]
                            else:
                                x += V[k, i, h] * v[k, h] * V[k, j, h]
                        S[k, i, j] = x
