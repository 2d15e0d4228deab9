"""Covariances from scatter matrices, by model; see `models`. Two variables have closed forms in `plane_steps`."""

from math import exp, log

import numpy as np

from transvariation.density.compiled import compiled
from transvariation.density.compiled.algebra import eigen, pool, total_of, turn, whiten
from transvariation.density.covariance_models import (
    AXES_ROUNDS_MANY_VARIABLES,
    AXES_TOL,
    INNER_ROUNDS,
    INNER_TOL,
    MODELS,
    VVE_BY_LIKELIHOOD,
)

CODES = {name: code for code, name in enumerate((*MODELS, VVE_BY_LIKELIHOOD))} | {"E": 0, "V": 1}
_EII, _VII, _EEE, _VEE, _VVV = (CODES[m] for m in ("EII", "VII", "EEE", "VEE", "VVV"))
VVE_ML = CODES[VVE_BY_LIKELIHOOD]
# How the other models find their axes (0: given, 1: common, 2: own), and whether volume and shape are common.
AXES = np.array([{"I": 0, "E": 1, "V": 2}[m[2]] for m in (*MODELS, "VVE")])
COMMON_VOLUME = np.array([m[0] == "E" for m in (*MODELS, "VVE")])
COMMON_SHAPE = np.array([m[1] == "E" for m in (*MODELS, "VVE")])

COMMON_COVARIANCE = np.array([m in ("EII", "EEI", "EEE") for m in (*MODELS, "VVE")])


@compiled()
def _geometric_mean(a):
    """The volume of an ellipsoid whose squared axes are `a`, per axis."""
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
            size = _geometric_mean(w[k])
            total += size
            for j in range(p):
                v[k, j] = w[k, j] / size
        for k in range(G):
            for j in range(p):
                v[k, j] *= total / n
    elif common_shape:
        shape = np.empty(p)
        for _ in range(INNER_ROUNDS):
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
                if abs(new - scale[k]) > INNER_TOL * new:
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
    for _ in range(AXES_ROUNDS_MANY_VARIABLES):
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
        if not largest >= AXES_TOL:
            break
    for k in range(G):
        for j in range(p):
            w[k, j] = V[k, j, j]


@compiled()
def _proportional(W, N, scale, S, L, T):
    """VEE: one matrix, volumes of their own."""
    G, p = W.shape[:2]
    C = np.empty((p, p))
    none = np.zeros(p)
    for _ in range(INNER_ROUNDS):
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
            if abs(new - scale[k]) > INNER_TOL * new:
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
    elif model == _VVV:
        for k in range(G):
            for i in range(p):
                for j in range(p):
                    S[k, i, j] = W[k, i, j] / N[k]
    else:
        axes = AXES[model]
        if axes == 0:
            for k in range(G):
                for j in range(p):
                    w[k, j] = W[k, j, j]
        elif axes == 1:
            if fresh:
                pool(W, L)
                eigen(L, v[0], D)
            _common_axes(W, N, D, model == VVE_ML, V, w)
        else:
            for k in range(G):
                for i in range(p):
                    for j in range(p):
                        L[i, j] = W[k, i, j]
                eigen(L, w[k], V[k])
        _variances(w, N, COMMON_VOLUME[model], COMMON_SHAPE[model], scale, v)
        for k in range(G):
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
