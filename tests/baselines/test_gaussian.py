import numpy as np
import pytest

from transvariation.baselines import GaussianOCC

NAMES = [
    *("glass_k_mg", "glass_si_mg", "glass_pc89", "blobs2", "banana2", "skew2", "glass_mg1", "mix1"),
    *("glass_na_mg_al3", "blobs3", "gauss5", "glass9", "gauss9"),
]


@pytest.mark.parametrize("name", NAMES)
def test_distances_of_r(reference, name):
    case = reference.case("case09_mahalanobis")[name]
    X = reference.table(name)
    tolerance = 1e-14 * max(1e3, 10 * case["condition_number"])
    classifier = GaussianOCC().fit(X)
    assert -classifier.score_samples(X) == pytest.approx(case["data_distance2"], rel=tolerance)
    queries = reference.table(f"{name}_query")
    assert -classifier.score_samples(queries) == pytest.approx(case["query_distance2"], rel=tolerance)
    assert classifier.covariance_ == pytest.approx(np.array(case["cov"]), rel=1e-9, abs=1e-12)


def test_singular_covariance_names_the_columns():
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(ValueError, match="columns 0, 1, 3 determine each other; drop one"):
        GaussianOCC().fit(np.column_stack([X, X[:, 0] - X[:, 1]]))
    with pytest.raises(ValueError, match="column 3 constant; drop"):
        GaussianOCC().fit(np.column_stack([X, np.ones(30)]))
    with pytest.raises(ValueError, match="n_samples=3 samples cannot span p=3"):
        GaussianOCC().fit(X[:3])


def test_leaving_out_the_only_object_that_spans():
    X = np.zeros((8, 2))
    X[:, 0] = np.arange(8)
    X[0, 1] = 1.0
    with pytest.raises(ValueError, match="column 1 constant"):
        GaussianOCC(calibration="loo").fit(X)
