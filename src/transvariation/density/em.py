"""EM for Gaussian mixtures: many fits at a time, and the search over models and numbers of components.

The search fits about a hundred small mixtures to the same data. The components of all fits are rows of the same arrays,
so that each NumPy call serves all of them; one fit after the other would spend its time on calls.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from transvariation._typing import Bools, Floats, Indices
from transvariation.density.covariance_models import Fits, m_step, n_parameters
from transvariation.parallel import run_in_threads

_EPS = float(np.finfo(float).eps)
# A component has collapsed when the part of a variable's variance that the variables before it leave unexplained is
# nothing but rounding: of the component's own variance of that variable, or of that of all samples.
COLLAPSED_SHARE = 1e-13
SMALLEST_SIZE = float(np.sqrt(_EPS))
_BATCH_SIZE = 2**17  # components x samples that are fitted together: many calls' worth of work that fits into the cache


class Mixture(NamedTuple):
    """One fitted mixture; `loglik` is that of its parameters."""

    weights: Floats
    means: Floats
    covariances: Floats
    loglik: float
    n_iter: int


class Mixtures(NamedTuple):
    """Several mixtures fitted to the same data, one after the other in the same arrays."""

    first: Indices  # where the components of each begin, and where those of the last end
    weights: Floats
    means: Floats
    covariances: Floats
    loglik: Floats  # NaN where a component has collapsed
    n_iter: NDArray[np.int64]

    def pick(self, i: int) -> Mixture:
        """Return a copy of one of them."""
        weights, means, covariances = (a[self.first[i] : self.first[i + 1]].copy() for a in self[1:4])
        return Mixture(weights, means, covariances, float(self.loglik[i]), int(self.n_iter[i]))


def variance_floor(X: Floats) -> Floats:
    """Compute the conditional variances at or below which a component has collapsed, (p,)."""
    return _EPS * X.var(axis=0)


def least_scatter(X: Floats) -> float:
    """Compute the variance below which a component has no scatter, and so no axes.

    Memberships that small are not accurate in compiled code, and vanish in NumPy.
    """
    return 1e-150 * float(X.var(axis=0).sum())


def whitening(covariances: Floats, floor: Floats) -> tuple[Floats, Floats, Bools]:
    """Invert the Cholesky factors of covariance matrices.

    Parameters
    ----------
    covariances : ndarray of shape (k, p, p)
    floor : ndarray of shape (p,)
        A conditional variance at or below it counts as zero.

    Returns
    -------
    inverse : ndarray of shape (k, p, p)
        Lower triangular T with T Sigma T' = I.
    half_log_determinant : ndarray of shape (k,)
    regular : ndarray of bool of shape (k,)
        False where a component has collapsed; its other results mean nothing.
    """
    k, p = covariances.shape[:2]
    L = np.zeros((k, p, p))
    T = np.zeros((k, p, p))
    regular = np.ones(k, dtype=bool)
    half_log_determinant = np.zeros(k)
    for i in range(p):
        for j in range(i):
            L[:, i, j] = (covariances[:, i, j] - np.einsum("kl,kl->k", L[:, i, :j], L[:, j, :j])) * T[:, j, j]
        variance = covariances[:, i, i]
        left = variance - np.einsum("kl,kl->k", L[:, i, :i], L[:, i, :i])
        regular &= left > np.maximum(COLLAPSED_SHARE * variance, floor[i])
        root = np.sqrt(np.where(regular, left, 1.0))
        half_log_determinant += np.log(root)
        L[:, i, i] = root
        T[:, i, i] = 1 / root
        for j in range(i):
            T[:, i, j] = -np.einsum("kl,kl->k", L[:, i, j:i], T[:, j:i, j]) * T[:, i, i]
    return T, half_log_determinant, regular


def _log_joint(
    X: Floats, weights: Floats, means: Floats, T: Floats, half_log_determinant: Floats
) -> tuple[Floats, Floats]:
    """Compute log(weight x density) of samples in components, (k, n), and deviations from the means, (p, k, n)."""
    p = X.shape[1]
    deviation = X.T[:, None, :] - means.T[:, :, None]
    constant = np.log(weights) - half_log_determinant - 0.5 * p * np.log(2 * np.pi)
    squares = np.zeros(deviation.shape[1:])
    for i in range(p):
        y = deviation[0] * T[:, i, 0, None]
        for j in range(1, i + 1):
            y += deviation[j] * T[:, i, j, None]
        y *= y
        squares += y
    squares *= -0.5
    squares += constant[:, None]
    return squares, deviation


def log_density(X: Floats, weights: Floats, means: Floats, covariances: Floats) -> tuple[Floats, Floats]:
    """Evaluate a mixture.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    weights : ndarray of shape (k,)
    means : ndarray of shape (k, p)
    covariances : ndarray of shape (k, p, p)

    Returns
    -------
    log_density : ndarray of shape (n,)
    probability : ndarray of shape (n, k)
        The probability that a sample comes from each component; the weights where its log density is minus infinity,
        too far from all components for a number.

    Examples
    --------
    >>> value, _ = log_density(np.zeros((1, 1)), np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1)))
    >>> np.exp(value).round(4)
    array([0.3989])
    """
    T, half_log_determinant, _ = whitening(covariances, np.zeros(X.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):  # squares of far deviations, and infinite ones that cancel
        joint, _ = _log_joint(X, weights, means, T, half_log_determinant)
    joint = np.fmax(joint, -np.inf)
    top = joint.max(axis=0)
    far = top == -np.inf
    joint = np.exp(joint - np.where(far, 0.0, top))
    # One after the other: the rounding of sum(axis=0) depends on the number of samples.
    total = sum(joint, np.where(far, 1.0, 0.0))
    return top + np.log(total), np.where(far, weights[:, None], joint / total).T


class _Batch:
    """The assignment of rows of the stacked arrays to fits; fits are in order of their number of components."""

    def __init__(self, models: list[str], sizes: Indices):
        self.models, self.sizes = models, sizes
        self.first = np.concatenate([[0], np.cumsum(sizes)])
        self.owner = np.repeat(np.arange(len(sizes)), sizes)
        # Runs of fits of one size: their components reshape to (fits, size, n), where sums over a fit are cheap.
        edges = np.flatnonzero(np.diff(sizes, prepend=-1, append=-1))
        self.runs = [(slice(a, b), slice(self.first[a], self.first[b]), int(sizes[a])) for a, b in pairwise(edges)]
        names = np.array(models)
        self.by_model = []
        for model in dict.fromkeys(models):
            fits = np.flatnonzero(names == model)
            rows = np.concatenate([np.arange(self.first[f], self.first[f + 1]) for f in fits])
            own = sizes[fits]
            self.by_model.append((model, fits, rows, np.cumsum(own) - own, np.repeat(np.arange(len(fits)), own)))


def _covariances(W: Floats, N: Floats, floor: Floats, batch: _Batch, scale: Floats, axes: Floats) -> Floats:
    """Compute the M-step of every fit by its model; `scale` and `axes` keep the state of inner loops."""
    out = np.empty_like(W)
    for model, which, rows, starts, owner in batch.by_model:
        fits = Fits(starts, owner, scale[rows], axes[which])
        out[rows] = m_step(model, W[rows], N[rows], fits)
        if model[1:3] == "VE":  # on a line, a component with its own shape has no common axes but by rounding errors
            out[rows[~whitening(W[rows] / N[rows, None, None], floor)[2]]] = np.nan
        scale[rows], axes[which] = fits.scale, fits.axes
    return out


def fit_mixtures(
    X: Floats,
    problems: Sequence[tuple[str, int]],
    starts: dict[int, Indices],
    *,
    tol: float = 1e-5,
    max_iter: int = 1000,
) -> Mixtures:
    """Fit several mixtures to the same data by EM.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    problems : sequence of (model, number of components)
    starts : dict
        For each number of components a label per sample, from which the first M-step is taken; samples with label -1
        are not used in the start.
    tol : float, default=1e-5
        Stop when the log likelihood l changes by less than `tol` (1 + abs(l)) in one iteration.
    max_iter : int, default=1000

    Returns
    -------
    Mixtures
        The mixtures in the order of the problems. In collapsed ones a component has shrunk onto a point, a line, a
        plane.
    """
    p = X.shape[1]
    center = X.mean(axis=0)
    X = X - center
    floor, least = variance_floor(X), least_scatter(X)
    first = np.concatenate([[0], np.cumsum([size for _, size in problems])])
    k = int(first[-1])
    results = Mixtures(
        first,
        np.empty(k),
        np.empty((k, p)),
        np.empty((k, p, p)),
        np.full(len(problems), np.nan),
        np.zeros(len(problems), dtype=np.int64),
    )
    order = sorted(range(len(problems)), key=lambda i: problems[i][1])
    place = np.array(order, dtype=np.intp)
    batch = _Batch([problems[i][0] for i in order], np.array([problems[i][1] for i in order], dtype=np.intp))
    z = np.concatenate([starts[size] == np.arange(size)[:, None] for size in batch.sizes.tolist()]).astype(float)
    means = (z @ X) / np.maximum(z.sum(axis=1), _EPS)[:, None]
    deviation = X.T[:, None, :] - means.T[:, :, None]
    scale, axes = np.ones(len(z)), np.zeros((len(order), p, p))
    loglik = np.full(len(order), -np.inf)
    finished = np.zeros(len(order), dtype=bool)
    for iteration in range(1, max_iter + 1):
        with np.errstate(all="ignore"):  # collapsed fits divide by zero; `regular` finds them
            N = z.sum(axis=1)
            means, W = _moments(z, N, means, deviation)
            W[~(np.einsum("kii->k", W) > N * least)] = 0.0
            covariances = _covariances(W, N, floor, batch, scale, axes)
            T, half_log_determinant, regular = whitening(covariances, floor)
        regular &= N > SMALLEST_SIZE
        keep = np.logical_and.reduceat(regular, batch.first[:-1]) & ~finished
        if not keep.all():
            rows = keep[batch.owner]
            place, loglik, axes, finished = place[keep], loglik[keep], axes[keep], finished[keep]
            batch = _Batch([m for m, k in zip(batch.models, keep, strict=True) if k], batch.sizes[keep])
            N, means, covariances, T, scale = N[rows], means[rows], covariances[rows], T[rows], scale[rows]
            half_log_determinant = half_log_determinant[rows]
            if not len(place):
                break
        weights = N / np.add.reduceat(N, batch.first[:-1])[batch.owner]
        joint, deviation = _log_joint(X, weights, means, T, half_log_determinant)
        z, last = joint, loglik
        loglik = _memberships(z, batch)
        finished = (np.abs(loglik - last) < tol * (1 + np.abs(loglik))) | (iteration == max_iter)
        for f in np.flatnonzero(finished).tolist():
            own, fit = slice(batch.first[f], batch.first[f + 1]), place[f]
            to = slice(first[fit], first[fit + 1])
            results.weights[to], results.means[to] = weights[own], means[own] + center
            results.covariances[to] = covariances[own]
            results.loglik[fit], results.n_iter[fit] = loglik[f], iteration
    return results


def _moments(z: Floats, N: Floats, means: Floats, deviation: Floats) -> tuple[Floats, Floats]:
    """Compute the new means and the scatter about them, from deviations from the old means: nothing cancels."""
    p = len(deviation)
    weighted = [z * d for d in deviation]
    shift = np.stack([w.sum(axis=1) for w in weighted], axis=1) / N[:, None]
    W = np.empty((len(z), p, p))
    for i in range(p):
        for j in range(i + 1):
            W[:, i, j] = np.einsum("kn,kn->k", weighted[i], deviation[j]) - N * shift[:, i] * shift[:, j]
            W[:, j, i] = W[:, i, j]
    return means + shift, W


def _memberships(joint: Floats, batch: _Batch) -> Floats:
    """Turn log joint densities into memberships, in place, and return the log likelihood of each fit."""
    n = joint.shape[1]
    loglik = np.empty(len(batch.sizes))
    for fits, rows, size in batch.runs:
        block = joint[rows].reshape(-1, size, n)
        top = block.max(axis=1)
        block -= top[:, None]
        np.exp(block, out=block)
        total = block.sum(axis=1)
        block /= total[:, None]
        np.log(total, out=total)
        loglik[fits] = (top + total).sum(axis=1)
    return loglik


class Search(NamedTuple):
    """The fits of several models with several numbers of components."""

    bic: Floats  # (models, sizes): 2 loglik - parameters x log n; NaN where there is no fit
    place: Indices  # (models, sizes): which fit it is; one component is the same in several models
    batches: list[Mixtures]

    def pick(self, row: int, column: int) -> Mixture:
        """Return the fit of a row and a column of `bic`."""
        i = int(self.place[row, column])
        for batch in self.batches:
            if i < len(batch.loglik):
                break
            i -= len(batch.loglik)
        return batch.pick(i)


def search(
    X: Floats,
    models: Sequence[str],
    sizes: Sequence[int],
    starts: dict[int, Indices],
    fit: Callable[..., Mixtures] = fit_mixtures,
    *,
    tol: float = 1e-5,
    max_iter: int = 1000,
    n_jobs: int | None = None,
) -> Search:
    """Fit every model with every number of components that has a start.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    models : sequence of str
    sizes : sequence of int
        Numbers of components.
    starts : dict
        Labels to start from, by number of components; see `hierarchical.starting_partitions`.
    fit : function, default=fit_mixtures
        This module's `fit_mixtures` or its compiled replacement.
    tol, max_iter
        When EM stops; see `fit_mixtures`.
    n_jobs : int, optional
        The number of threads that share the batches of fits; the batches do not depend on it.
    """
    n, p = X.shape
    problems, place, df = _plan(tuple(models), tuple(sizes), tuple(starts), p)
    total = np.cumsum([G for _, G in problems]) * max(n, p * p)
    batches: list[tuple[list[tuple[str, int]]]] = []
    done = 0
    while done < len(problems):
        limit = _BATCH_SIZE + (total[done - 1] if done else 0)
        stop = max(done + 1, int(np.searchsorted(total, limit, side="right")))
        batches.append((problems[done:stop],))
        done = stop
    fits = run_in_threads(partial(fit, X, starts=starts, tol=tol, max_iter=max_iter), batches, n_jobs)
    loglik = np.concatenate([batch.loglik for batch in fits] + [[np.nan]])[place]
    return Search(2 * loglik - df * np.log(n), place, fits)


@cache
def _plan(
    models: tuple[str, ...], sizes: tuple[int, ...], started: tuple[int, ...], p: int
) -> tuple[list[tuple[str, int]], Indices, Floats]:
    """List the problems to solve, the place of each model and size among them (-1: no start), and their parameters."""
    wanted = [[(_single_component(m) if G == 1 else m, G) for G in sizes] for m in models]
    problems = [problem for problem in dict.fromkeys(chain(*wanted)) if problem[1] in started]
    number = {problem: i for i, problem in enumerate(problems)}
    place = np.array([[number.get(problem, -1) for problem in row] for row in wanted])
    return problems, place, np.array([[n_parameters(m, G, p) for G in sizes] for m in models], dtype=float)


def _single_component(model: str) -> str:
    """Return the simplest model that a model equals with one component, which shares nothing."""
    if len(model) == 1:
        return "E"
    return "EII" if model.endswith("II") else "EEI" if model.endswith("I") else "EEE"
