r"""Normal box probabilities in four and more features: quasi Monte Carlo with reordering and minimax tilting.

The box is sampled one feature after the other, each from its truncated normal distribution given those before, and
the product of the conditional probabilities is averaged. Three things keep the average's relative error small even
where the probability is tiny. The features are put in the order that leaves the least to chance for later. The
sampling means are shifted by mu, the solution of a small saddle-point problem, so that the product hardly varies over
the box. And the random numbers are replaced by a lattice, shifted at random a few times to estimate the error.

References
----------
Botev, Z. I. (2017). The normal law under linear restrictions: simulation and estimation via minimax tilting. Journal of
the Royal Statistical Society B 79, 125-148.
Genz, A. and Bretz, F. (2009). Computation of multivariate normal and t probabilities. Springer.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri, ndtri_exp

from transvariation._typing import Floats, Indices
from transvariation.density.normal_boxes import log_interval

_N_SHIFTS = 12
_FIRST, _LAST = 64, 1 << 14  # lattice points per shift: from, to
_BLOCK_POINTS = 1 << 19  # boxes times lattice points held at a time
_PRIMES = np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97])
MAX_VARIABLES = len(_PRIMES) + 1


class _Boxes(NamedTuple):
    """Boxes with their features in order, in units of the conditional standard deviations."""

    lower: Floats  # (m, d)
    upper: Floats
    chol: Floats  # (m, d, d), strictly lower: what the variables before add to each one's mean


def log_box_tilted(
    lower: Floats,
    upper: Floats,
    corr: Floats,
    *,
    tolerance: float = 1e-3,
    seed: int = 0,
    negligible: float = -np.inf,
) -> tuple[Floats, Floats]:
    """Estimate log probabilities of boxes of shape (q, p), and their relative errors (three standard errors).

    The lattice is enlarged, for each box separately, until the error is below `tolerance`, the log probability below
    `negligible`, or the lattice exhausted.

    Examples
    --------
    >>> equal = np.full((5, 5), 0.5) + np.eye(5) / 2
    >>> log_p, error = log_box_tilted(np.zeros((1, 5)), np.full((1, 5), np.inf), equal)
    >>> bool(abs(np.exp(log_p[0]) * 6 - 1) < 1e-3), bool(error[0] < 1e-3)
    (True, True)
    """
    log_p, error = np.full(len(lower), -np.inf), np.zeros(len(lower))
    rows = np.flatnonzero((lower < upper).all(axis=1))
    step = max(1, _BLOCK_POINTS // (_N_SHIFTS * _FIRST))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        boxes = _reorder(lower[block], upper[block], corr)
        mu = _tilt(boxes)
        n_points, left = _FIRST, np.arange(len(block))
        while len(left) and n_points <= _LAST:
            lattice = _lattice(n_points, lower.shape[1] - 1, seed)
            size = max(1, _BLOCK_POINTS // len(lattice))
            for i in range(0, len(left), size):
                part = left[i : i + size]
                log_p[block[part]], error[block[part]] = _average(_take(boxes, part), mu[part], lattice)
            rows_left = block[left]
            left = left[(error[rows_left] > tolerance) & (log_p[rows_left] > negligible)]
            n_points *= 4
    return log_p, error


def _take(boxes: _Boxes, part: Indices) -> _Boxes:
    return _Boxes(*(array[part] for array in boxes))


def _reorder(lower: Floats, upper: Floats, corr: Floats) -> _Boxes:
    """Compute Cholesky factors, at each step with the feature whose interval is least probable given those before."""
    m, d = lower.shape
    low, high = lower.copy(), upper.copy()
    sigma = np.broadcast_to(corr, (m, d, d)).copy()
    chol, mean = np.zeros((m, d, d)), np.zeros((m, d))
    each = np.arange(m)
    for j in range(d):
        # A variable that the ones before determine has no conditional variance: rounding must not make it negative.
        spread = np.sqrt(np.maximum(np.einsum("mii->mi", sigma) - (chol**2).sum(axis=2), 1e-16))
        shift = (chol @ mean[:, :, None])[:, :, 0]
        log_p = log_interval((low - shift) / spread, (high - shift) / spread)
        log_p[:, :j] = np.inf
        k = np.argmin(log_p, axis=1)
        for array in (low, high, spread, shift, log_p, chol):
            array[each, k], array[:, j] = array[:, j].copy(), array[each, k].copy()
        sigma[each, k], sigma[:, j] = sigma[:, j].copy(), sigma[each, k].copy()
        sigma[each, :, k], sigma[:, :, j] = sigma[:, :, j].copy(), sigma[each, :, k].copy()
        below = sigma[:, j + 1 :, j] - (chol[:, j + 1 :, :j] @ chol[:, j, :j, None])[:, :, 0]
        chol[:, j, j] = spread[:, j]
        chol[:, j + 1 :, j] = below / spread[:, [j]]
        a, b = ((side[:, j] - shift[:, j]) / spread[:, j] for side in (low, high))
        mean[:, j] = _density_ratio(a, log_p[:, j]) - _density_ratio(b, log_p[:, j])
    scale = np.einsum("mii->mi", chol).copy()
    chol = chol / scale[:, :, None]
    chol[:, np.arange(d), np.arange(d)] = 0
    # Later variables are in units of their own scale: X_i / scale_i = Z_i + sum_k chol_ik Z_k.
    return _Boxes(low / scale, high / scale, chol)


def _density_ratio(x: Floats, log_p: Floats) -> Floats:
    """Compute phi(x) / P, zero at an infinite side."""
    return np.exp(np.where(np.isfinite(x), -0.5 * x * x, -np.inf) - log_p) / np.sqrt(2 * np.pi)


def _tilt(boxes: _Boxes) -> Floats:
    """Solve for the tilting means by Newton's method, damped so that the gradient of the saddle function shrinks.

    Where it does not converge the best means so far serve as well: any leave the estimate unbiased.
    """
    m, d = boxes.lower.shape
    z = np.zeros((m, 2 * (d - 1)))
    gradient, jacobian = _saddle(boxes, z)
    size = (gradient * gradient).sum(axis=1)
    active = np.arange(m)
    for _ in range(60):
        active = active[size[active] > 1e-12]
        if not len(active):
            break
        step = np.linalg.solve(jacobian[active], -gradient[active][:, :, None])[:, :, 0]
        here = _take(boxes, active)
        length, pending = 1.0, np.arange(len(active))
        for _ in range(25):
            trial = z[active[pending]] + length * step[pending]
            g, jac = _saddle(_take(here, pending), trial)
            new = (g * g).sum(axis=1)
            good = new < size[active[pending]] * (1 - 0.1 * length)
            rows = active[pending[good]]
            z[rows], gradient[rows], jacobian[rows], size[rows] = trial[good], g[good], jac[good], new[good]
            pending, length = pending[~good], length / 2
            if not len(pending):
                break
        active = np.delete(active, pending)  # no shorter step helps: leave those as they are
    return np.concatenate([z[:, d - 1 :], np.zeros((m, 1))], axis=1)


def _saddle(boxes: _Boxes, z: Floats) -> tuple[Floats, Floats]:
    """Compute gradient and Jacobian of psi(x, mu) = sum mu^2 / 2 - x mu + log P(lower < Z + mu + chol x < upper)."""
    m, d = boxes.lower.shape
    x, mu = np.zeros((m, d)), np.zeros((m, d))
    x[:, :-1], mu[:, :-1] = z[:, : d - 1], z[:, d - 1 :]
    shift = mu + (boxes.chol @ x[:, :, None])[:, :, 0]
    a, b = boxes.lower - shift, boxes.upper - shift
    log_p = log_interval(a, b)
    with np.errstate(over="ignore", invalid="ignore"):
        at_a, at_b = _density_ratio(a, log_p), _density_ratio(b, log_p)
        mean = at_a - at_b
        change = -mean * mean + np.where(np.isfinite(a), a, 0) * at_a - np.where(np.isfinite(b), b, 0) * at_b
    gradient = np.concatenate([((mean[:, None] @ boxes.chol)[:, 0] - mu)[:, :-1], (mu - x + mean)[:, :-1]], axis=1)
    cross = change[:, :, None] * boxes.chol - np.eye(d)
    jacobian = np.zeros((m, 2 * d - 2, 2 * d - 2))
    jacobian[:, : d - 1, : d - 1] = (boxes.chol.transpose(0, 2, 1) @ (change[:, :, None] * boxes.chol))[:, :-1, :-1]
    jacobian[:, d - 1 :, : d - 1] = cross[:, :-1, :-1]
    jacobian[:, : d - 1, d - 1 :] = cross[:, :-1, :-1].transpose(0, 2, 1)
    corner = np.arange(d - 1, 2 * d - 2)
    jacobian[:, corner, corner] = 1 + change[:, :-1]
    return gradient, jacobian


def _lattice(n_points: int, d: int, seed: int) -> Floats:
    """Make Richtmyer's lattice, folded to be periodic, under `_N_SHIFTS` random shifts: (shifts * points, d)."""
    shifts = np.random.default_rng(seed).random((_N_SHIFTS, 1, d))
    points = np.arange(1, n_points + 1)[:, None] * np.sqrt(_PRIMES[:d])
    lattice: Floats = np.abs(2 * ((points + shifts) % 1) - 1)
    return np.clip(lattice.reshape(-1, d), 1e-15, 1 - 1e-15)


def _average(boxes: _Boxes, mu: Floats, lattice: Floats) -> tuple[Floats, Floats]:
    m, d = boxes.lower.shape
    log_weight = np.zeros((m, len(lattice)))
    z = np.empty((d - 1, m, len(lattice)))
    for j in range(d):
        shift = np.repeat(mu[:, [j]], len(lattice), axis=1)
        for k in range(j):  # one after the other: rounding must not depend on the number of boxes
            shift += boxes.chol[:, j, k, None] * z[k]
        a, b = boxes.lower[:, [j]] - shift, boxes.upper[:, [j]] - shift
        log_p = log_interval(a, b)
        log_weight += log_p
        if j < d - 1:
            z[j] = mu[:, [j]] + _quantile(lattice[:, j], a, b, log_p)
            log_weight += mu[:, [j]] * (mu[:, [j]] / 2 - z[j])
    # The mean of each shift, relative to the mean of all: their scatter estimates the error.
    log_means = logsumexp(log_weight.reshape(m, _N_SHIFTS, -1), axis=2) - np.log(len(lattice) / _N_SHIFTS)
    log_mean = logsumexp(log_means, axis=1) - np.log(_N_SHIFTS)
    scatter = np.exp(log_means - log_mean[:, None]).std(axis=1, ddof=1)
    return log_mean, 3 * scatter / np.sqrt(_N_SHIFTS)


def _quantile(share: Floats, a: Floats, b: Floats, log_p: Floats) -> Floats:
    """Compute the quantiles of a standard normal variable between a and b, computed on the side where they are."""
    with np.errstate(invalid="ignore"):
        flip = a + b > 0
    low, high = np.where(flip, -b, a), np.where(flip, -a, b)
    share = np.where(flip, 1 - share, share)
    p = ndtr(low)
    p += share * (ndtr(high) - p)
    z = ndtri(np.minimum(p, 1 - 1e-16))
    far = high < -30
    if far.any():
        z[far] = ndtri_exp(
            np.logaddexp(log_interval(np.full(far.sum(), -np.inf), low[far]), np.log(share[far]) + log_p[far])
        )
    return np.where(flip, -z, z)
