"""Leaving one out, quickly: the same numbers as n descriptions from scratch."""

import numpy as np
import pytest

from transvariation import load_glass, spatial_median, transvariation_probability
from transvariation.typicality.leave_one_out import leave_one_out_probability, medians_without_each


def by_hand(X, rows, **options):
    return [transvariation_probability(np.delete(X, i, axis=0), X[[i]], **options)[0] for i in rows]


def samples():
    rng = np.random.default_rng(0)
    yield "small", rng.normal(size=(30, 2))
    yield "plane", rng.normal(size=(400, 2))
    yield "rounded", rng.normal(size=(400, 2)).round(1)
    yield "skew", rng.lognormal(size=(300, 3))
    yield "five", rng.normal(size=(260, 5)) * [1, 10, 0.1, 1, 1000]
    yield "line", rng.normal(size=(250, 1)) @ np.ones((1, 2))
    yield "heavy point", np.vstack([np.zeros((150, 2)), rng.normal(size=(151, 2))])
    yield "one variable, odd", rng.normal(size=(251, 1)).round(2)
    yield "one variable, even", rng.normal(size=(250, 1)).round(2)
    yield "glass", load_glass().control[["Si", "Mg"]].to_numpy()
    yield "two", rng.normal(size=(2, 2))
    yield "three", rng.normal(size=(3, 2))


@pytest.mark.parametrize(("name", "X"), list(samples()), ids=lambda value: value if isinstance(value, str) else "")
def test_equals_n_descriptions(name, X):
    rows = range(0, len(X), max(1, len(X) // 100))
    np.testing.assert_array_equal(leave_one_out_probability(X)[rows], by_hand(X, rows))


@pytest.mark.parametrize("options", [{"ties": "literal"}, {"tau_max": "half"}, {"tau_max": "product"}])
def test_every_option(options):
    X = np.random.default_rng(1).normal(size=(90, 2)).round(1)
    np.testing.assert_array_equal(leave_one_out_probability(X, **options), by_hand(X, range(90), **options))


def test_medians_are_the_medians():
    X = np.random.default_rng(2).standard_t(3, size=(1000, 3))
    M = medians_without_each(X)
    for i in range(0, 1000, 50):
        np.testing.assert_allclose(M[i], spatial_median(np.delete(X, i, axis=0)), atol=1e-7)
