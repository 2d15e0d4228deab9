"""The log density of a mixture is that of mclust."""

import numpy as np
import pytest

from transvariation.density.em import log_density

SETS = ["glass_k_mg", "glass_si_mg", "glass_pc89", "blobs2", "banana2", "skew2", "glass_mg1", "mix1"]


def array(values, *shape):
    return np.array(values, dtype=float).reshape(shape)


@pytest.mark.parametrize("name", SETS)
def test_density_of_mclusts_parameters(reference, name):
    case = reference.case("case02_mclust")[name]
    G, p = case["G"], case["p"]
    value, probability = log_density(
        reference.table(f"{name}_query"),
        array(case["pro"], G),
        array(case["means"], G, p),
        array(case["sigmas"], G, p, p),
    )
    np.testing.assert_allclose(value, case["query_log_density"], rtol=1e-8)
    np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=1e-12)
