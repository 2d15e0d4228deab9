"""Explanations: one row per sample and feature, counted by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from transvariation import PAMTOCC, TOCC, load_glass
from transvariation.explanation import corrected_p_values, univariate_p_values

CLASSIFIERS = [TOCC(), PAMTOCC(3)]


@pytest.fixture
def plane():
    return load_glass().control[["K", "Mg"]]


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_explain_has_one_row_per_sample_and_feature(plane, classifier):
    classifier = clone(classifier).fit(plane)
    others = load_glass().recovered[["K", "Mg"]]
    table = classifier.explain(others)
    assert list(table.columns) == [
        *("sample", "feature", "value", "median", "side", "tp", "p_value", "univariate_rejection")
    ]
    assert table["sample"].tolist() == np.repeat(others.index, 2).tolist()
    assert table["feature"].tolist() == ["K", "Mg"] * len(others)
    pd.testing.assert_series_equal(table["value"], pd.Series(others.to_numpy().ravel(), name="value"), check_names=True)
    assert table["tp"].between(0, 1).all()
    assert not (table["univariate_rejection"] & (table["tp"] == 1)).any()


def test_explain_counts_by_hand():
    classifier = TOCC(sensitivity=0.8).fit([[1.0, 10], [2, 20], [3, 30], [4, 40], [5, 50]])
    table = classifier.explain([[4.5, 30.0], [3.0, 60.0]])
    assert table["sample"].tolist() == [0, 0, 1, 1]
    assert table["feature"].tolist() == ["x0", "x1", "x0", "x1"]
    assert table["median"].tolist() == [3, 30, 3, 30]
    assert table["side"].tolist() == ["above", "at", "at", "above"]
    # One of five units lies beyond 4.5: 2 * 1/5. Beyond 60 there is none.
    assert table["tp"].tolist() == [0.4, 1, 1, 0]
    # The units lie 2.5, 1.5, 0, 1.5, 2.5 from the median of the other four: four of them at least 1.5.
    assert table["p_value"].tolist() == pytest.approx([5 / 6, 1, 1, 1 / 6])
    assert table["univariate_rejection"].tolist() == [False, False, False, True]


@pytest.mark.parametrize("n", [2, 3, 8, 9])
def test_univariate_p_values_are_those_of_a_loop(n):
    rng = np.random.default_rng(n)
    control, new = np.round(rng.normal(size=(n, 6)), 1), np.round(rng.normal(size=(5, 6)), 1)
    for j in range(6):
        own = [abs(control[i, j] - np.median(np.delete(control[:, j], i))) for i in range(n)]
        far = np.abs(new[:, j] - np.median(control[:, j]))
        expected = [(1 + sum(o >= f or np.isclose(o, f, rtol=1e-9) for o in own)) / (n + 1) for f in far]
        assert univariate_p_values(control, new)[:, j].tolist() == pytest.approx(expected)


def test_p_values_of_18_variables_are_corrected_for_their_number():
    """Of samples of the same source, at most a tenth have any variable at or below 0.1; uncorrected nearly all do."""
    rng = np.random.default_rng(0)
    found = {corrected_p_values: [], univariate_p_values: []}
    for _ in range(60):
        control, new = rng.normal(size=(39, 18)), rng.normal(size=(50, 18))
        for compute, shares in found.items():
            shares.append((compute(control, new) <= 0.1).any(axis=1).mean())
    assert np.mean(found[corrected_p_values]) == pytest.approx(0.1, abs=0.03)
    assert np.mean(found[univariate_p_values]) > 0.8


def test_the_corrected_p_value_of_one_variable_is_the_uncorrected_one():
    rng = np.random.default_rng(1)
    control, new = rng.normal(size=(12, 1)), rng.normal(size=(5, 1))
    assert corrected_p_values(control, new).tolist() == univariate_p_values(control, new).tolist()
