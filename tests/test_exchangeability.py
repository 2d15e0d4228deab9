"""The test of exchangeability: exact moments, level, power, and the plant whose days are in an order."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter
from scipy.stats import hypergeom, kruskal, norm, spearmanr

from transvariation import exchangeability_test
from transvariation.ordered import normal_scores


def test_moments_of_serial_sums_equal_those_of_all_permutations():
    scores = normal_scores(np.array([0.3, 2.0, 9.0, -1.0, 4.0, 4.0, 0.1, 7.5]))
    sums = np.array([np.dot(each[1:], each[:-1]) for each in map(np.array, permutations(scores))])
    found = exchangeability_test(scores[:, None]).tests[1]
    assert found.statistic == pytest.approx((scores[1:] @ scores[:-1] - sums.mean()) / sums.std())


def test_statistics_agree_with_scipys():
    rng = np.random.default_rng(0)
    values, labels = rng.normal(size=200), np.arange(200) % 4
    shifted = values + 0.3 * labels
    ours = exchangeability_test(shifted[:, None], groups=labels).tests[0]
    theirs = kruskal(*(shifted[labels == k] for k in range(4)))
    assert np.log10(ours.p_value) == pytest.approx(np.log10(theirs.pvalue), rel=0.15)  # normal scores, not ranks
    trend = values + np.linspace(0, 0.8, 200)
    found, expected = exchangeability_test(trend[:, None]).tests[0].p_value, spearmanr(trend, np.arange(200)).pvalue
    assert np.log10(found) == pytest.approx(np.log10(expected), rel=0.15)


def test_a_rare_indicator_is_tested_by_permutations():
    """Of 4 ones among 40 samples, 3 are among the 10 new ones: Fisher's exact test, for which a normal law is poor."""
    X, new = np.zeros((30, 1)), np.zeros((10, 1))
    X[0], new[:3] = 1, 1
    location = exchangeability_test(X, new=new).tests[0]
    exact = hypergeom.sf(2, 40, 4, 10)  # no other outcome is as far from the mean of one
    assert location.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact / 1_999))
    assert location.p_value > 2 * (2 * norm.sf(location.statistic))


def rare_indicators(rng, size):
    return (rng.random(size) < 0.05).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw", [np.random.Generator.standard_normal, np.random.Generator.standard_cauchy, rare_indicators]
)
def test_exchangeable_samples_fail_at_most_at_the_level(draw):
    rng = np.random.default_rng(1)
    p = [exchangeability_test(draw(rng, (30, 4))).p_value for _ in range(100)]
    q = [exchangeability_test(draw(rng, (40, 3)), new=draw(rng, (12, 3))).p_value for _ in range(60)]
    r = [exchangeability_test(draw(rng, (40, 3)), groups=np.repeat(range(10), 4)).p_value for _ in range(60)]
    assert np.mean(np.array(p) <= 0.1) <= 0.1 + 0.05
    assert np.mean(np.array(q) <= 0.1) <= 0.1 + 0.08
    assert np.mean(np.array(r) <= 0.1) <= 0.1 + 0.08


def test_each_kind_of_deviation_is_found_in_its_feature():
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=["Na", "Mg", "Al"])
    drifting = X.assign(Mg=X["Mg"] + np.linspace(0, 2, 120))
    assert "Mg" in exchangeability_test(drifting).drivers()["trend"]
    shuffled = rng.permutation(120)
    again = exchangeability_test(drifting.iloc[shuffled], order=np.arange(120)[shuffled])
    assert again.drivers()["trend"] == ["Mg"]
    assert exchangeability_test(drifting.iloc[shuffled]).drivers() == {}
    batches = np.repeat(np.arange(12), 10)
    assert exchangeability_test(X.assign(Al=X["Al"] + rng.normal(size=12)[batches]), groups=batches).drivers() == {
        "groups": ["Al"]
    }
    new = pd.DataFrame(rng.normal(0, [1, 1, 3], size=(60, 3)), columns=X.columns)
    assert exchangeability_test(X, new=new).drivers()["spread"] == ["Al"]


def test_a_short_autocorrelated_series_is_found_by_its_features():
    rng = np.random.default_rng(5)
    for _ in range(5):
        X = lfilter([1], [1, -0.95], rng.normal(size=(400, 5)), axis=0)[300:]
        assert "autocorrelation" in exchangeability_test(X).drivers(0.001)


def test_a_changed_correlation_is_found_by_the_neighbors():
    rng = np.random.default_rng(3)
    known = rng.normal(size=(300, 1)) + 0.2 * rng.normal(size=(300, 2))
    new = rng.normal(scale=known.std(axis=0), size=(100, 2))
    assert "neighbors" in exchangeability_test(known, new=new).drivers()


def test_missing_values_duplicates_and_text():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    X[::7, 0] = np.nan
    X[1] = X[2]
    result = exchangeability_test(X)
    assert result.n_duplicates == 1
    assert "no sign of a deviation" in str(result)
    assert "1 sample equals an earlier one" in str(result)
    assert list(pd.DataFrame(result.tests).columns) == ["test", "feature", "statistic", "p_value"]


def test_invalid_input_is_refused():
    X = np.zeros((20, 2))
    assert exchangeability_test(X).p_value == 1  # constant features
    with pytest.raises(ValueError, match=r"3 sample.* while a minimum of 8 is required"):
        exchangeability_test(X[:3])
    with pytest.raises(ValueError, match="new has 1 features and X has 2"):
        exchangeability_test(X, new=X[:, :1])
    with pytest.raises(ValueError, match=r"order has shape \(3,\) for 20 samples"):
        exchangeability_test(X, order=[1, 2, 3])


def test_input_that_cannot_be_tested_is_named():
    X = np.random.default_rng(0).normal(size=(20, 2))
    table = pd.DataFrame(X, columns=["a", "b"])
    for options, words in (
        ({"order": [None, *range(19)]}, "order is missing for 1 of 20 samples"),
        ({"order": np.array(["a", 1] * 10, dtype=object)}, "order holds values of several types"),
        ({"order": [np.nan, *range(19)]}, "order is missing for 1 of 20 samples"),
        ({"groups": np.zeros(20)}, "a single group"),
        ({"new": table[["b", "a"]]}, "new has 'b' where X has 'a'"),
        ({"new": X, "groups": np.arange(20)}, "without order and groups"),
    ):
        with pytest.raises(ValueError, match=words):
            exchangeability_test(table, **options)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        exchangeability_test(table.assign(b=np.where(np.arange(20) == 3, np.inf, X[:, 1])))
    with pytest.raises(ValueError, match="could not convert string to float: 'text'"):
        exchangeability_test(table.assign(b="text"))
    with pytest.raises(ValueError, match="new has no values"):
        exchangeability_test(X, new=np.full((9, 2), np.nan))
    missing = np.column_stack([X, np.full(20, np.nan)])
    assert exchangeability_test(missing, new=missing).p_value == exchangeability_test(X, new=X).p_value
