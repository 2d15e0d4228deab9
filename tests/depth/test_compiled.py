"""Compiled counts equal the definition, at sizes about those at which the kernels divide their work."""

import numpy as np
import pytest

pytest.importorskip("numba")

from transvariation.depth.compiled import count_beyond


@pytest.mark.parametrize("p", [2, 3])
@pytest.mark.parametrize("n", [1, 63, 1_025, 2_049, 33_000])
def test_counts_of_the_definition(n, p):
    rng = np.random.default_rng(n)
    X, Z = rng.normal(size=(n, p)), rng.normal(size=(300, p))
    m = np.full(p, 0.1)
    beyond, side, ties = count_beyond(X, m, Z, False)
    assert not ties
    for i, c in enumerate(Z):
        away = np.sign(c - m)
        assert beyond[i] == ((X - c) * away > 0).all(axis=1).sum()
        assert side[i] == ((X - m) * away > 0).all(axis=1).sum()
