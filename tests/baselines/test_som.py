import numpy as np
import pytest

from transvariation.baselines import SOMOCC


@pytest.mark.parametrize("name", ["glass_k_mg", "banana2", "glass_na_mg_al3", "glass9"])
@pytest.mark.parametrize(("setting", "rate"), [("som_paper", (0.5, 0.3)), ("som_default", (0.05, 0.01))])
def test_quantisation_errors_of_kohonen(reference, name, setting, rate):
    expected = reference.case("case08_som_kmeans")[name][setting]
    X, Z = reference.table(name), reference.table(f"{name}_query")
    maps = [SOMOCC(learning_rate=rate, random_state=seed).fit(X) for seed in range(5)]
    for key, value in {
        "mean_distance": np.mean([m.quantization_error_ for m in maps]),
        "mean_squared_distance": np.mean([m.score_samples(X) ** 2 for m in maps]),
        "query_mean_distance": -np.mean([m.score_samples(Z) for m in maps]),
    }.items():
        assert abs(value - expected[key]["mean"]) < 4 * expected[key]["sd"], key


def test_one_seed_one_map():
    X = np.random.default_rng(0).normal(size=(30, 2))
    first, second = (SOMOCC(n_epochs=5, random_state=3).fit(X).units_ for _ in range(2))
    assert np.array_equal(first, second)


def test_one_unit_ends_near_the_mean():
    X = np.random.default_rng(0).normal(size=(200, 2))
    unit = SOMOCC(grid=(1, 1), learning_rate=(0.05, 0.001), random_state=0).fit(X).units_[0]
    assert unit == pytest.approx(X.mean(axis=0), abs=0.1)


def test_fewer_objects_than_units():
    assert SOMOCC(random_state=0).fit([[0.0], [1.0], [2.0]]).units_.shape == (25, 1)


@pytest.mark.parametrize("wrong", [{"grid": (0, 5)}, {"learning_rate": (0.5, 0.0)}, {"n_epochs": 0}])
def test_impossible_settings(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SOMOCC(**wrong).fit(np.eye(5))
