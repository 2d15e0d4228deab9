"""Box probabilities of bivariate mixtures against 1e7 exponentials and SciPy's cdf; three and more variables."""

from collections.abc import Iterator

import numpy as np
from scipy.stats import multivariate_normal

from benchmarks.measure import cpu_seconds, ratio
from benchmarks.table import Table
from transvariation.density.box_probability import mixture_box_probability, normal_box_probability

CORRELATIONS = (-0.9, -0.4, 0.1, 0.6, 0.95)


def mixture(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Five components with all sorts of correlations, and objects drawn from them."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(5, 2))
    covs = np.array([[[1.0, rho], [rho, 1.0]] for rho in CORRELATIONS])
    Z = np.concatenate([rng.multivariate_normal(m, c, size=n // 5) for m, c in zip(means, covs, strict=True)])
    return np.full(5, 0.2), means, covs, Z


def run(short: bool) -> Iterator[Table]:
    yield _two_variables(10_000 if short else 100_000)
    yield _more_variables(100 if short else 1_000)


def _two_variables(n: int) -> Table:
    weights, means, covs, Z = mixture(n)
    exponents = -np.random.default_rng(1).random(100 * n)
    boxes, exp = ratio(
        lambda: mixture_box_probability(weights, means, covs, Z, np.inf), lambda: np.exp(exponents), best_of=5
    )
    few = Z[:: max(1, n // 1_000)]

    # SciPy integrates from below: P(X > z) is the cdf of -X at -z, the same boxes.
    def peer() -> None:
        for mean, cov in zip(means, covs, strict=True):
            multivariate_normal(-mean, cov).cdf(-few)

    scipy = cpu_seconds(peer, 5) * n / len(few)
    rows = [
        {"peer": f"np.exp on {len(exponents):.0e} numbers", "boxes s": boxes, "peer s": exp, "ratio": boxes / exp}
        | {"target": "at most 8", "met": boxes <= 8 * exp},
        {"peer": "multivariate_normal.cdf", "boxes s": boxes, "peer s": scipy, "ratio": boxes / scipy}
        | {"target": "at most 1/50", "met": 50 * boxes <= scipy},
    ]
    note = f"SciPy measured on {len(few)} of the points, five components, and scaled up."
    return Table("boxes_two_variables", f"{n:.0e} points x 5 components, p = 2", rows, note)


def _more_variables(n: int) -> Table:
    rows = []
    for p, count in ((3, n), (5, n // 10), (10, n // 10)):
        corr = np.full((p, p), 0.5) + np.eye(p) / 2
        Z = np.random.default_rng(2).normal(size=(count, p))

        def job(p: int = p, corr: np.ndarray = corr, Z: np.ndarray = Z) -> None:
            normal_box_probability(np.zeros(p), corr, Z, np.inf)

        rows.append({"p": p, "boxes": count, "ms per box": 1e3 * cpu_seconds(job) / count})
    return Table(
        "boxes_more_variables", "Orthants with equal correlations of 0.5, to a relative error of 1e-3 for p > 3", rows
    )
