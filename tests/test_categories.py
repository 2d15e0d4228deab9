"""Categorical features: how they are named, rare and unknown categories."""

import numpy as np
import pandas as pd
import pytest

from transvariation import NeighborTOCC


def orders(rng, n, n_levels=100):
    """Two measurements and a category, most levels of which are rare."""
    weights = 1 / np.arange(1, n_levels + 1)
    level = rng.choice(n_levels, n, p=weights / weights.sum())
    names = np.array([f"level {i}" for i in range(n_levels)], dtype=object)[level]
    return pd.DataFrame(
        {"a": rng.normal(size=n) + 4 * (level % 3), "b": rng.normal(size=n), "c": pd.Categorical(names)}
    )


def test_rare_categories_keep_the_error_rate():
    shares = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        classifier = NeighborTOCC().fit(orders(rng, 300))
        shares.append(np.mean(classifier.p_values(orders(rng, 400)) <= 0.1))
    assert 0.05 < np.mean(shares) < 0.13


def test_categories_by_type_name_index_and_mask_are_the_same():
    rng = np.random.default_rng(0)
    X, new = orders(rng, 150), orders(rng, 30)
    expected = NeighborTOCC().fit(X).p_values(new)
    for features in (["c"], [2], [False, False, True]):
        classifier = NeighborTOCC(categorical_features=features).fit(X.astype({"c": object}))
        np.testing.assert_array_equal(classifier.p_values(new.astype({"c": object})), expected)
    polars = pytest.importorskip("polars")
    table = polars.from_pandas(X)
    np.testing.assert_array_equal(NeighborTOCC().fit(table).p_values(polars.from_pandas(new)), expected)


def test_one_row_is_enough_and_none_is_refused():
    X = orders(np.random.default_rng(1), 60)
    classifier = NeighborTOCC().fit(X)
    assert len(classifier.predict(X[:1])) == 1
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        classifier.predict(X[:0])
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        NeighborTOCC().fit(X[:1])


def test_unknown_and_rare_categories_are_far():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.normal(size=200), "c": pd.Categorical(["x", "y"] * 100)})
    new = pd.DataFrame({"a": [0.1, 0.1, 0.1], "c": ["x", "y", "z"]})
    p_values = NeighborTOCC().fit(X).p_values(new)
    assert p_values[2] == pytest.approx(1 / 201)
    assert p_values[:2].min() > 0.1


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ("all", "from_dtype"),
        ([True], "1 values for 3"),
        (["d"], "names 'd'"),
        ([3], "from 0 to 2"),
        (["a"], "no numbers"),
    ],
)
def test_categorical_features_are_checked(features, words):
    with pytest.raises(ValueError, match=words):
        NeighborTOCC(categorical_features=features).fit(orders(np.random.default_rng(0), 20))
