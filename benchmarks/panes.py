"""Simulate panes of float glass: two makers, heavy tails, three levels."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SHARE = 0.35  # of panes of the second maker
DEGREES = 4  # of freedom of the t-distributions
HETEROGENEITY = 0.4  # standard deviation of the log scale of a pane's variation
BETWEEN = 2.5  # panes of a maker differ by so many standard deviations of a fragment
BETWEEN_MAKERS = 6.0


def make_panes(
    n_panes: int, p: int, rng: np.random.Generator, n_fragments: int = 24, n_replicates: int = 5
) -> tuple[list[Floats], NDArray[np.intp]]:
    """Draw log10 contents of p elements of panes.

    Panes of one maker differ little. Elements are correlated between panes, between fragments of a pane and between
    replicates of a fragment; each maker has covariances of its own. Fragments and replicates follow multivariate
    t-distributions, whose scale differs from pane to pane.

    Returns
    -------
    panes : list of ndarray of shape (n_fragments, n_replicates, p)
    makers : ndarray of shape (n_panes,)
    """
    spread = 0.009 * np.exp(rng.normal(0, 0.5, p))  # of fragments, by element: 2 % in the middle
    level = rng.normal(1, 1, p)
    makers = [
        {
            "mean": level + BETWEEN_MAKERS * spread * rng.normal(size=p),
            "pane": BETWEEN * spread[:, None] * _correlated(p, 1.0, rng),
            "fragment": (spread * np.exp(rng.normal(0, 0.3, p)))[:, None] * _correlated(p, 0.8, rng),
            "replicate": (spread * np.exp(rng.normal(0, 0.3, p)))[:, None] * _correlated(p, 0.5, rng),
        }
        for _ in range(2)
    ]
    owner = (rng.random(n_panes) < SHARE).astype(np.intp)
    panes = []
    for i in owner:
        maker, scale = makers[i], np.exp(rng.normal(0, HETEROGENEITY))
        pane = maker["mean"] + maker["pane"] @ rng.normal(size=p)
        fragments = pane + scale * _student(maker["fragment"], (n_fragments, 1), rng)
        panes.append(fragments + scale * _student(maker["replicate"], (n_fragments, n_replicates), rng))
    return panes, owner


def _correlated(p: int, strength: float, rng: np.random.Generator) -> Floats:
    """Draw the root of a correlation matrix with three common factors."""
    factors = rng.normal(size=(p, 3)) * strength
    covariance = factors @ factors.T + np.diag(rng.uniform(0.3, 1.0, p))
    scale = np.sqrt(np.diag(covariance))
    return np.asarray(np.linalg.cholesky(covariance / np.outer(scale, scale)))


def _student(root: Floats, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Draw from a multivariate t-distribution with the given root of its covariance."""
    normal = rng.normal(size=(*shape, len(root))) @ root.T
    return np.asarray(normal * np.sqrt((DEGREES - 2) / rng.chisquare(DEGREES, size=(*shape, 1))))
