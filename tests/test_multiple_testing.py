"""Selection and combination against SciPy's own tests and by simulation."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control, mannwhitneyu

from transvariation.conformal import p_values
from transvariation.multiple_testing import benjamini_hochberg, combine_p_values, combine_ranks


@pytest.mark.parametrize("level", [0.05, 0.1, 0.3])
def test_benjamini_hochberg_equals_scipys_adjusted_p_values(level):
    p = np.random.default_rng(0).beta(0.5, 2, size=60)
    np.testing.assert_array_equal(benjamini_hochberg(p, level), false_discovery_control(p) <= level)


@pytest.mark.parametrize(("n", "k"), [(8, 3), (40, 12), (87, 51), (3, 7), (1, 1), (2_500, 9), (4, 900)])
def test_rank_sum_equals_scipys_exact_test(n, k):
    rng = np.random.default_rng(n)
    calibration, new = rng.normal(size=n), rng.normal(-0.3, size=k)
    expected = mannwhitneyu(new, calibration, alternative="less", method="exact").pvalue
    assert combine_ranks(calibration, new) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("k", "expected"), [(1, 1 / 20_002), (2, 2 / (20_002 * 20_003))])
def test_few_foreign_objects_among_many_are_not_left_to_the_normal_limit(k, expected):
    assert combine_ranks(np.arange(1.0, 20_002), np.zeros(k)) == pytest.approx(expected, rel=1e-12)


def test_large_sets_use_the_normal_limit():
    rng = np.random.default_rng(1)
    calibration, new = rng.normal(size=500), rng.normal(-0.1, size=100)
    expected = mannwhitneyu(new, calibration, alternative="less", method="asymptotic").pvalue
    assert combine_ranks(calibration, new) == pytest.approx(expected, rel=1e-3)


def test_one_object_keeps_its_conformal_p_value():
    calibration = np.random.default_rng(2).integers(0, 5, size=30)
    for score in (-1, 0, 3, 9, np.nan, -np.inf):
        assert combine_ranks(calibration, [score]) == pytest.approx(p_values(calibration, [score])[0])


def test_ties_are_conservative():
    rng = np.random.default_rng(3)
    low = np.mean([combine_ranks(rng.integers(0, 3, 20), rng.integers(0, 3, 4)) <= 0.2 for _ in range(2000)])
    assert low <= 0.2


def test_twice_the_mean():
    assert combine_p_values([0.9, 0.8]) == 1
    assert combine_p_values([0.02]) == 0.04


def test_hostile_input():
    for bad in ([], [[0.1]], [0.1, np.nan], [1.2]):
        with pytest.raises(ValueError, match="p-value"):
            benjamini_hochberg(bad)
    with pytest.raises(ValueError, match=r"level=1 must lie"):
        benjamini_hochberg([0.1], level=1)
    with pytest.raises(ValueError, match="empty"):
        combine_ranks([1.0], [])
