"""Random projections that describe the target tightly: the best of many candidates, many times.

A candidate is a p x d matrix with orthonormal columns, drawn uniformly (the Haar measure). Of `n_candidates` of them
the one with the most compact image of the target is kept; this is repeated `n_projections` times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from transvariation._typing import Floats, RandomState
from transvariation.parallel import run_in_threads
from transvariation.validation import check_count

_BLOCK_VALUES = 1 << 17  # numbers held at a time while candidates are compared: they stay in the cache


class Projections(NamedTuple):
    """The chosen matrices, of shape (n_projections, p, d), and the criterion that each of them reached."""

    matrices: Floats
    spread: Floats


def project(X: Floats, A: Floats) -> Floats:
    """Multiply X, of shape (n, p), by A, of shape (p, d), so that each row's result depends on that row only.

    A matrix product by BLAS may round a row differently among other rows. A sample would then no longer equal
    itself, and tp counts units that equal it.
    """
    image = np.zeros((A.shape[1], len(X)))
    for column, weights in zip(np.ascontiguousarray(X.T), A, strict=True):
        image += weights[:, None] * column
    return np.ascontiguousarray(image.T)


def orthonormal(G: Floats) -> Floats:
    """Make the columns of Gaussian matrices orthonormal; their directions stay uniform."""
    Q, R = np.linalg.qr(G)
    # Without this the signs are LAPACK's choice and the draw is not uniform.
    Q *= np.where(np.diagonal(R, axis1=-2, axis2=-1) < 0, -1.0, 1.0)[..., None, :]
    return Q


def _middle(values: Floats) -> Floats:
    """Compute the median along the last axis; np.median costs several times as much on many short rows."""
    n = values.shape[-1]
    low, high = (n - 1) // 2, n // 2
    ordered = np.partition(values, (low, high) if low != high else low, axis=-1)
    return (ordered[..., low] + ordered[..., high]) / 2


def _mad(T: Floats) -> Floats:
    """Sum the median absolute deviations of the coordinates of images of shape (..., d, n); small = compact."""
    deviations = T - _middle(T)[..., None]
    return _middle(np.abs(deviations, out=deviations)).sum(axis=-1)


def random_projections(
    X: ArrayLike,
    n_projections: int = 101,
    n_candidates: int = 50,
    n_components: int = 2,
    *,
    rng: np.random.Generator | int | None = None,
    n_jobs: int | None = None,
) -> Projections:
    """Search for `n_projections` random projections in which the target is compact.

    The best candidate has the smallest sum of the median absolute deviations of its coordinates.

    Every projection has its own random stream: the first ten of a hundred projections are those of a search for ten.

    Parameters
    ----------
    X : array-like of shape (n, p)
        The target samples, in the units in which compactness is to be measured: nothing is scaled here.
    n_projections : int
        How many projections to return, B1 in the paper.
    n_candidates : int
        The candidates that each of them is the best of, B2 in the paper.
    n_components : int
        The dimension d of the image, at most p.
    rng : Generator, int or None
        A generator, or the seed of one.
    n_jobs : int, optional
        The number of threads; the result is the same for every number.

    Returns
    -------
    matrices : ndarray of shape (n_projections, p, d)
        The chosen projections, with orthonormal columns.
    spread : ndarray of shape (n_projections,)
        The sum of the median absolute deviations that each of them reached.

    See Also
    --------
    transvariation.ProjectionEnsemble : A classifier over such projections.
    transvariation.VIPSelector : Select features by such projections.

    References
    ----------
    Cannings, T. I. and Samworth, R. J. (2017). Random-projection ensemble classification. JRSS B 79, 959-1035.

    Stewart, G. W. (1980). The efficient generation of random orthogonal matrices. SIAM J. Numer. Anal. 17, 403-409.

    Examples
    --------
    >>> from transvariation import load_glass, random_projections
    >>> X = load_glass().control.to_numpy()
    >>> matrices, spread = random_projections(X, n_projections=5, rng=1)
    >>> matrices.shape
    (5, 9, 2)
    >>> _, first = random_projections(X, n_projections=5, n_candidates=1, rng=1)
    >>> spread.round(2), first.round(2)  # the best of 50 candidates, and the first
    (array([0.2 , 0.15, 0.17, 0.15, 0.17]), array([0.27, 0.45, 0.22, 0.55, 0.41]))
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or not X.size or not np.isfinite(X).all():
        raise ValueError(f"X of shape {X.shape} must hold finite numbers, one row per sample, one column per variable")
    p = X.shape[1]
    for name, value in {"n_projections": n_projections, "n_candidates": n_candidates}.items():
        check_count(name, value)
    check_count("n_components", n_components, p)
    # Deviations are all that counts; about the median they are small numbers even for a variable like 1e6 + noise.
    deviations = np.ascontiguousarray((X - np.median(X, axis=0)).T)
    # In units of a power of two, which rounds nothing: sums of products of extreme numbers would overflow or vanish.
    exponent = int(np.frexp(np.abs(deviations).max())[1])
    deviations = np.ldexp(deviations, -exponent)
    streams = np.random.default_rng(rng).spawn(n_projections)
    per_candidate = n_components * max(X.shape)
    step = max(1, _BLOCK_VALUES // (n_candidates * per_candidate))
    pieces = [(deviations, streams[i : i + step], n_candidates, n_components) for i in range(0, n_projections, step)]
    chosen = run_in_threads(_best, pieces, n_jobs)
    matrices, spread = (np.concatenate(parts) for parts in zip(*chosen, strict=True))
    with np.errstate(over="ignore", under="ignore"):
        return Projections(matrices, np.ldexp(spread, exponent))


def _best(deviations: Floats, streams: list[np.random.Generator], n_candidates: int, d: int) -> tuple[Floats, Floats]:
    p, n = deviations.shape
    A = orthonormal(np.stack([stream.standard_normal((n_candidates, p, d)) for stream in streams]))
    # One large product instead of thousands of small ones.
    images = (A.swapaxes(-1, -2).reshape(-1, p) @ deviations).reshape(len(streams), n_candidates, d, n)
    spread = _mad(images)
    best = np.argmin(spread, axis=1)
    rows = np.arange(len(streams))
    return A[rows, best], spread[rows, best]


def generator(random_state: RandomState) -> np.random.Generator:
    """Make a Generator of scikit-learn's `random_state`: None, a seed, a Generator or a legacy RandomState."""
    if random_state is None or isinstance(random_state, int | np.integer | np.random.Generator):
        return np.random.default_rng(random_state)
    from sklearn.utils import check_random_state

    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1, size=4))
