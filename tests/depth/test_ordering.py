"""The order of numbers: what NumPy's stable sort says, whatever the numbers."""

import numpy as np
import pytest

from transvariation.depth.ordering import in_order

KINDS = {
    "bell": lambda rng, n: rng.normal(size=n),
    "rounded": lambda rng, n: np.round(rng.normal(size=n), 1),
    "heavy tail": lambda rng, n: rng.standard_cauchy(n) ** 5,
    "one far out": lambda rng, n: np.append(rng.random(n - 1), 1e30),
    "one ulp apart": lambda rng, n: rng.choice([0.0, 1.0, np.nextafter(1.0, 2.0), 1e9], size=n),
    "zeros of both signs": lambda rng, n: rng.choice([0.0, -0.0], size=n),
    "subnormal": lambda rng, n: rng.integers(-9, 9, size=n) * 5e-324,
    "subnormal and not": lambda rng, n: rng.choice([5e-324, -5e-324, 0.0, 1.0], size=n),
    "huge": lambda rng, n: (rng.random(n) - 0.5) * 1.7e308 * 2,
    "constant": lambda rng, n: np.full(n, 7.0),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 50, 3000])
def test_equals_the_stable_sort(kind, n):
    values = KINDS[kind](np.random.default_rng(n), n)
    order, ordered = in_order(values)
    np.testing.assert_array_equal(order, np.argsort(values, kind="stable"))
    np.testing.assert_array_equal(ordered, values[order])
