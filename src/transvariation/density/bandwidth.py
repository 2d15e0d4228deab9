"""Two-stage plug-in bandwidth matrices for kernel densities.

References
----------
Wand, M. P. and Jones, M. C. (1994). Multivariate plug-in bandwidth selection. Computational Statistics 9, 97-116.
Duong, T. and Hazelton, M. L. (2003). Plug-in bandwidth matrices for bivariate kernel density estimation. Journal of
Nonparametric Statistics 15, 17-30.
Chacón, J. E. and Duong, T. (2010). Multivariate plug-in bandwidth selection with unconstrained pilot bandwidth
matrices. Test 19, 375-398.
"""

from itertools import combinations_with_replacement
from math import factorial, pi, prod

import numpy as np
from scipy.optimize import minimize

from transvariation._typing import Floats
from transvariation.density.covariance import covariance_root
from transvariation.subsample import subsample

Order = tuple[int, ...]  # how often each coordinate is differentiated
Functionals = dict[Order, float]

FUNCTIONALS = ("correct", "ks")
MAX_DIMENSION = 3
_BLOCK_DIFFERENCES = 1 << 18  # differences held at a time
_MAX_SAMPLES = 3000  # whose pairs are summed

# What ks 1.14 does with its pilot "dscalar" in three dimensions, as measured from outside on 38 samples of 16 to 120
# samples: g6 = A n^(-1/11) and g4 = (B / (n |trace|))^(1/9), with exponents 11.000000 and 9.000000.
_KS_THREE = (0.864674294, 1.18710081)


def plug_in_bandwidth(X: Floats, *, functionals: str = "correct") -> Floats:
    r"""Choose the unconstrained bandwidth matrix H by the two-stage plug-in method.

    H minimizes the estimated asymptotic mean integrated squared error of the density,

    .. math:: n^{-1} (4 \pi)^{-p/2} |H|^{-1/2} + \tfrac14\, \mathrm{vec}(H)^\top \hat\Psi_4\, \mathrm{vec}(H),

    where :math:`\hat\Psi_4` holds the functionals :math:`\psi_r = \int f^{(r)} f` of order 4. These are kernel
    estimates themselves, whose pilot bandwidth rests on estimates of order 6, whose pilot bandwidth rests on the normal
    distribution. All is done on data with unit covariance.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        With p at most 3. Of more than 3000 samples, H is that of a subsample, made narrower for their number; it comes
        within some 20 percent of the width that all samples would give.
    functionals : {"correct", "ks"}
        ``"correct"`` chooses the pilot that minimizes the squared error of the vector of all order-4 functionals.
        ``"ks"`` reproduces the R package ks: in one dimension it leaves the largest value out of the functionals, in
        two it indexes those of order 6 inconsistently, in three it uses smaller pilots.

    Returns
    -------
    ndarray of shape (p, p)
        H, the covariance of the kernels (in one dimension the squared bandwidth).

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(200, 1))
    >>> np.sqrt(plug_in_bandwidth(x)).round(2)
    array([[0.39]])
    """
    n, p = X.shape
    if functionals not in FUNCTIONALS:
        raise ValueError(f"functionals={functionals!r} is unknown; choose one of {', '.join(FUNCTIONALS)}")
    if p > MAX_DIMENSION:
        raise ValueError(f"p={p} variables are too many for the plug-in method (at most 3); use silverman or scott")
    if n > _MAX_SAMPLES:
        narrower = (_MAX_SAMPLES / n) ** (2 / (p + 4))
        return plug_in_bandwidth(X[subsample(X, _MAX_SAMPLES)], functionals=functionals) * narrower
    root, inverse = covariance_root(X) if p > 1 else _robust_scale(X)
    # KernSmooth, which serves ks in one dimension, loses the samples at the upper end of its grid.
    counted = X[X[:, 0] < X.max()] if functionals == "ks" and p == 1 else X
    Z = (counted - X.mean(axis=0)) @ inverse
    # The best pilot for order 6 if the density were normal.
    g6 = np.sqrt(2) * (2 / (n * (p + 6))) ** (1 / (p + 8))
    if functionals == "ks" and p == 3:
        g6 = _KS_THREE[0] * n ** (-1 / 11)
        trace = _sum_of_traces(_functionals(Z, 6, g6))
        g4 = (_KS_THREE[1] / (n * abs(trace))) ** (1 / 9)
    else:
        g4 = _pilot(_functionals(Z, 6, g6), n, p, as_ks=functionals == "ks" and p == 2)
    return root @ _minimize(_functionals(Z, 4, g4), n, p) @ root


def _robust_scale(x: Floats) -> tuple[Floats, Floats]:
    """Compute the smaller of the standard deviation and its robust estimate from the quartiles."""
    root, _ = covariance_root(x)
    between_quartiles = float(np.subtract(*np.percentile(x, [75, 25]))) / 1.349
    scale = min(root[0, 0], between_quartiles) if between_quartiles > 0 else root[0, 0]
    return np.full((1, 1), scale), np.full((1, 1), 1 / scale)


def _orders(total: int, p: int) -> list[Order]:
    """List all ways to differentiate `total` times, (total, 0, ...) first."""
    picks = combinations_with_replacement(range(p), total)
    return [tuple(pick.count(i) for i in range(p)) for pick in picks]


def _multiplicity(r: Order) -> float:
    """Count the sequences of single derivatives that make up r."""
    return factorial(sum(r)) / prod(map(factorial, r))


def _at_zero(r: Order) -> float:
    """Compute the derivative r of the standard normal density at 0."""
    if any(k % 2 for k in r):
        return 0.0
    return prod((-1) ** (k // 2) * prod(range(k - 1, 0, -2)) for k in r) * (2 * pi) ** (-len(r) / 2)


def _raised(r: Order, i: int) -> Order:
    return tuple(k + 2 * (j == i) for j, k in enumerate(r))


def _pilot(psi: Functionals, n: int, p: int, *, as_ks: bool) -> float:
    r"""Compute the pilot bandwidth g for the functionals of order 4 from those of order 6.

    The bias of :math:`\hat\psi_r(g)` is :math:`n^{-1} g^{-p-4} \phi^{(r)}(0) + \tfrac12 g^2 s_r` with
    :math:`s_r = \sum_i \psi_{r + 2 e_i}`; the sum of its squares over r is a quadratic in :math:`g^{p+6}`.
    """
    orders = _orders(4, p)
    weights = np.array([_multiplicity(r) for r in orders])
    if as_ks:
        # ks lists all 64 sequences of derivatives but looks values up by the position among the 7 distinct orders;
        # it also sums only over the orders with a derivative at zero, each once.
        sequences = [(6 - k, k) for k in (0, 1, 1, 2, 1, 2, 2)]
        psi = dict(zip(_orders(6, 2), (psi[r] for r in sequences), strict=True))
        weights = np.array([float(_at_zero(r) != 0) for r in orders])
    peak = np.array([_at_zero(r) for r in orders])
    slope = np.array([sum(psi[_raised(r, i)] for i in range(p)) for r in orders])
    a, b, c = (weights * peak**2).sum(), (weights * peak * slope).sum(), (weights * slope**2).sum()
    u = ((p + 2) * b + np.sqrt(((p + 2) * b) ** 2 + 8 * (p + 4) * a * c)) / (2 * c * n)
    return float(u ** (1 / (p + 6)))


def _sum_of_traces(psi: Functionals) -> float:
    """Compute the threefold trace of the functionals of order 6: the integral of f times its triple Laplacian."""
    halves = {r: tuple(k // 2 for k in r) for r in psi if not any(k % 2 for k in r)}
    return sum(_multiplicity(half) * psi[r] for r, half in halves.items())


def _minimize(psi: Functionals, n: int, p: int) -> Floats:
    """Compute the H that minimizes the estimated error, over H = L L'."""
    if p == 1 and psi[4,] > 0:  # c / h + psi h^4 / 4 is least where h^5 = c / psi
        return np.full((1, 1), ((4 * pi) ** -0.5 / n / psi[4,]) ** 0.4)
    pairs = [(i, j) for i in range(p) for j in range(p)]
    Psi = np.array([[psi[tuple((a + b).count(i) for i in range(p))] for b in pairs] for a in pairs])
    lower = np.tril_indices(p)
    constant = (4 * pi) ** (-p / 2) / n

    def error(entries: Floats) -> tuple[float, Floats]:
        L = np.zeros((p, p))
        L[lower] = entries
        H = L @ L.T
        bend = (Psi @ H.ravel()).reshape(p, p)
        variance = constant / abs(np.prod(np.diag(L)))
        gradient = 2 * (-0.5 * variance * np.linalg.inv(H) + 0.5 * bend) @ L
        scale = 1 / constant  # of order one, so that the tolerance below means something
        return scale * float(variance + 0.25 * (H * bend).sum()), scale * gradient[lower]

    start = (4 / (n * (p + 2))) ** (1 / (p + 4)) * np.eye(p)
    # The last digits of the gradient are rounding; what the search reports about them does not matter.
    L = np.zeros((p, p))
    L[lower] = minimize(error, start[lower], jac=True, method="BFGS", options={"gtol": 1e-9}).x
    return L @ L.T


def _functionals(Z: Floats, order: int, g: float) -> Functionals:
    r"""Compute :math:`\hat\psi_r(g) = n^{-2} \sum_{ij} \phi_g^{(r)}(z_i - z_j)` for all r of an order."""
    n, p = Z.shape
    totals = {r: n * _at_zero(r) for r in _orders(order, p)}  # each sample with itself
    rows = max(1, _BLOCK_DIFFERENCES // n)
    for start in range(0, n - 1, rows):
        first, second = np.triu_indices(min(rows, n - start), 1, n - start)
        differences = (Z[start + first] - Z[start + second]) / g
        # A pair counts twice: orders are even, both directions agree.
        kernel = 2 * (2 * pi) ** (-p / 2) * np.exp(-0.5 * (differences**2).sum(axis=1))
        hermite = [_hermite(column, order) for column in differences.T]
        for r in totals:
            totals[r] += float(kernel @ prod(column[k] for column, k in zip(hermite, r, strict=True)))
    return {r: total * g ** (-p - order) / n**2 for r, total in totals.items()}


def _hermite(x: Floats, order: int) -> list[Floats]:
    """Compute the factors (-1)^k He_k(x) of the derivatives of the normal density, k = 0, ..., order."""
    values = [np.ones_like(x), -x]
    for k in range(1, order):
        values.append(-x * values[k] - k * values[k - 1])
    return values
