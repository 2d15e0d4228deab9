"""The fourteen ways in which the components of a mixture may share volume, shape and orientation.

A component's covariance is written lambda_k D_k A_k D_k': volume lambda_k, shape A_k (diagonal, of determinant one) and
orientation D_k. A model's three letters state for volume, shape and orientation, in this order, whether it is Equal for
all components, Varies, or is the Identity. The M-steps are those of Celeux & Govaert (1995) [1]_; the common
orientation of EVE and VVE is found by rotations in coordinate planes, in the manner of Flury & Gautschi (1986) [2]_.

Every function here works on many fits at once: the components of all of them are stacked.

References
----------
.. [1] G. Celeux and G. Govaert (1995). Gaussian parsimonious clustering models. Pattern Recognition 28, 781-793.
.. [2] B. N. Flury and W. Gautschi (1986). An algorithm for simultaneous orthogonal transformation of several positive
   definite symmetric matrices to nearly diagonal form. SIAM J. Sci. Stat. Comput. 7, 169-184.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from transvariation._typing import Bools, Floats, Indices

MODELS = ("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV")
MODELS_1D = ("E", "V")

# Inner loops start where the last EM iteration left them, so that one or two rounds are usual.
INNER_TOL = 1e-7
INNER_ROUNDS = 100
# A round of rotations costs p (p - 1) / 2 of them. Any progress is progress of EM, the next iteration goes on from it.
AXES_ROUNDS_PLANE = 100
AXES_ROUNDS = 5
NULL_SHARE = 1e-13  # eigenvalues below this share of the largest are zero
AXES_TOL = 1e-4  # the criterion is flat at its minimum: an error of 1e-4 in the angle is one of 1e-8 in it


@cache
def n_parameters(model: str, n_components: int, n_features: int) -> int:
    """Count the free parameters of a mixture: weights, means and what the covariances do not share.

    Parameters
    ----------
    model : str
        One of `MODELS`, or ``"E"`` or ``"V"`` in one dimension.
    n_components, n_features : int
        The number of components and of features.

    Examples
    --------
    >>> n_parameters("VVV", 2, 3), n_parameters("EII", 2, 3)
    (19, 8)
    """
    G, p = n_components, n_features
    volume, shape, orientation = list(model + "II")[:3]
    free = {"E": 1, "V": G, "I": 0}
    return (G - 1) + G * p + free[volume] + free[shape] * (p - 1) + free[orientation] * (p * (p - 1) // 2)


@dataclass
class Fits:
    """The components of several fits of one model, and the state of inner loops from the last iteration."""

    starts: Indices  # where each fit's components begin
    owner: Indices  # the fit that each component belongs to
    scale: Floats  # (k,): volumes to start inner loops from
    axes: Floats  # (fits, p, p): common orientation to start inner loops from; zero = none yet

    def pool(self, a: Floats) -> Floats:
        """Sum over the components of each fit."""
        return np.add.reduceat(a, self.starts, axis=0)

    def share(self, a: Floats) -> Floats:
        """Repeat each fit's value for its components."""
        return a[self.owner]

    def move(self, last: Floats, new: Floats, moving: Bools) -> tuple[Floats, Bools]:
        """Replace the volumes of fits that have not converged; return them and the components of fits still moving.

        Each fit stops by itself: its result does not depend on the other fits of the batch.
        """
        far = moving & (np.abs(new - last) > INNER_TOL * new)
        return np.where(moving, new, last), np.logical_or.reduceat(far, self.starts)[self.owner]


def _diagonals_of(W: Floats) -> Floats:
    return np.diagonal(W, axis1=1, axis2=2)


def _unit(values: Floats) -> tuple[Floats, Floats]:
    """Split positive vectors into their geometric mean and the rest."""
    size = np.exp(np.log(values).mean(axis=1))
    return size, values / size[:, None]


def determinant(W: Floats) -> Floats:
    """Determinants of symmetric matrices; a closed form in two dimensions."""
    if W.shape[-1] == 2:
        return W[..., 0, 0] * W[..., 1, 1] - W[..., 0, 1] * W[..., 1, 0]
    return np.linalg.det(W)


def eigen(W: Floats) -> tuple[Floats, Floats]:
    """Diagonalise symmetric matrices, largest eigenvalue first; a closed form in two dimensions."""
    if W.shape[1] != 2:
        # A fit that has collapsed carries NaN until it is dropped; LAPACK would refuse the whole stack for it.
        values, vectors = np.linalg.eigh(np.where(np.isfinite(W), W, 0.0))
        values, vectors = values[:, ::-1], vectors[:, :, ::-1].copy()
        rank = (values > NULL_SHARE * values[:, :1]).sum(axis=1)
        for k in np.flatnonzero(rank < W.shape[1] - 1):
            _complete_axes(vectors[k], int(rank[k]))
        return values, vectors
    a, d, o = W[:, 0, 0], W[:, 1, 1], W[:, 0, 1]
    angle = 0.5 * np.arctan2(2 * o, a - d)
    c, s = np.cos(angle), np.sin(angle)
    vectors = np.stack([np.stack([c, -s], axis=1), np.stack([s, c], axis=1)], axis=1)
    largest = c * c * a + 2 * c * s * o + s * s * d
    smallest = s * s * a - 2 * c * s * o + c * c * d
    return np.stack([largest, smallest], axis=1), vectors


def _complete_axes(vectors: Floats, rank: int) -> None:
    """Replace the eigenvectors after the first `rank`, which are arbitrary, by directions near coordinate axes."""
    p = len(vectors)
    for column in range(rank, p):
        for axis in range(p):
            left = -vectors[:, :column] @ vectors[axis, :column]
            left[axis] += 1
            if left @ left > 0.9 / p:
                vectors[:, column] = left / np.sqrt(left @ left)
                break


def _rotate(V: Floats, D: Floats, i: int, j: int, angle: Floats, fits: Fits) -> None:
    """Turn axes i and j of every fit by its angle, in place: the axes D and the scatter V seen from them."""
    c, s = np.cos(angle), np.sin(angle)
    for M, c_, s_ in ((D, c[:, None], s[:, None]), (V, fits.share(c)[:, None], fits.share(s)[:, None])):
        M[:, :, i], M[:, :, j] = c_ * M[:, :, i] + s_ * M[:, :, j], c_ * M[:, :, j] - s_ * M[:, :, i]
    V[:, i], V[:, j] = c_ * V[:, i] + s_ * V[:, j], c_ * V[:, j] - s_ * V[:, i]


def _common_axes(W: Floats, fits: Fits) -> tuple[Floats, Floats]:
    """Compute the axes D that minimize the sum of tr(W_k D B_k^-1 D'), B_k the shape of the scatter along D.

    These are the axes of EVE. mclust takes them for VVE as well, where they are best only if the volumes are equal.
    """
    p = W.shape[1]
    new = ~fits.axes.any(axis=(1, 2))
    D = fits.axes.copy()
    if new.any():
        D[new] = eigen(fits.pool(W))[1][new]
    shared = fits.share(D)
    V = shared.transpose(0, 2, 1) @ W @ shared
    turning = np.ones(len(D), dtype=bool)
    for _ in range(AXES_ROUNDS_PLANE if p == 2 else AXES_ROUNDS):
        largest = np.zeros(len(D))
        for i in range(p):
            for j in range(i + 1, p):
                B = _unit(_diagonals_of(V))[1]
                weight = 1 / B[:, i] - 1 / B[:, j]
                a, d, o = fits.pool(weight * V[:, i, i]), fits.pool(weight * V[:, j, j]), fits.pool(weight * V[:, i, j])
                angle = np.where(turning, 0.5 * np.arctan2(-2 * o, d - a), 0.0)
                _rotate(V, D, i, j, angle, fits)
                # A turn by a right angle only swaps names.
                largest = np.maximum(largest, np.abs(np.sin(2 * angle)))
        turning &= largest >= AXES_TOL
        if not turning.any():
            break
    fits.axes = D
    return _diagonals_of(V), fits.share(D)


def _volumes_and_shape(w: Floats, N: Floats, fits: Fits) -> Floats:
    """Variances of components that share a shape but not a volume, from their scatter along the axes."""
    p = w.shape[1]
    volume, shape, moving = fits.scale, np.ones_like(w), np.ones(len(N), dtype=bool)
    for _ in range(INNER_ROUNDS):
        shape = np.where(moving[:, None], fits.share(_unit(fits.pool(w / volume[:, None]))[1]), shape)
        volume, moving = fits.move(volume, (w / shape).sum(axis=1) / (p * N), moving)
        if not moving.any():
            break
    fits.scale = volume
    return volume[:, None] * shape


def _proportional(W: Floats, N: Floats, fits: Fits) -> Floats:
    """VEE: one matrix, with a volume for each component."""
    p = W.shape[1]
    volume, matrix, moving = fits.scale, np.ones_like(W), np.ones(len(N), dtype=bool)
    for _ in range(INNER_ROUNDS):
        C = fits.pool(W / volume[:, None, None])
        C /= (determinant(C) ** (1 / p))[:, None, None]
        good = np.asarray(np.isfinite(C).all(axis=(1, 2)))
        # Singular where components with fewer samples than variables have collapsed.
        good[good] = np.linalg.slogdet(C[good])[0] != 0
        inverse = np.full_like(C, np.nan)
        inverse[good] = np.linalg.inv(C[good])
        matrix = np.where(moving[:, None, None], fits.share(C), matrix)
        volume, moving = fits.move(volume, np.einsum("kij,kji->k", W, fits.share(inverse)) / (p * N), moving)
        if not moving.any():
            break
    fits.scale = volume
    return volume[:, None, None] * matrix


def _variances(volume: str, shape: str, w: Floats, N: Floats, fits: Fits) -> Floats:
    """Turn scatter along the axes into variances along them, by what the components share."""
    if volume == "E" and shape != "V":
        return fits.share(fits.pool(w) / fits.pool(N)[:, None])
    if volume == "E":
        size, own = _unit(w)
        return fits.share(fits.pool(size) / fits.pool(N))[:, None] * own
    return _volumes_and_shape(w, N, fits) if shape == "E" else w / N[:, None]


def m_step(model: str, W: Floats, N: Floats, fits: Fits) -> Floats:
    """Compute the covariances of components with scatter matrices W and sizes N, (k, p, p).

    `fits.scale` and `fits.axes` are where inner loops begin, and are set to where they end.
    """
    volume, shape, orientation = list(model + "II")[:3]
    if model == "EEE":
        return fits.share(fits.pool(W) / fits.pool(N)[:, None, None])
    if model == "VEE":
        return _proportional(W, N, fits)
    if model == "VVV":
        return W / N[:, None, None]
    if orientation == "I":
        w = _diagonals_of(W)
        w = np.broadcast_to(w.mean(axis=1, keepdims=True), w.shape) if shape == "I" else w
        return _variances(volume, shape, w, N, fits)[:, :, None] * np.eye(W.shape[1])
    w, axes = _common_axes(W, fits) if orientation == "E" else eigen(W)
    return (axes * _variances(volume, shape, w, N, fits)[:, None, :]) @ axes.transpose(0, 2, 1)
