"""One p-value for several samples: SciPy's rank-sum test, the normal limit, twice the mean."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from transvariation import ConformalCalibration
from transvariation.combined_p_values import combine_p_values
from transvariation.conformal import (
    p_values,
)


@pytest.mark.parametrize(("n", "k"), [(8, 3), (40, 12), (87, 51), (3, 7), (1, 1), (2_500, 9), (4, 900)])
def test_rank_sum_equals_scipys_exact_test(n, k):
    rng = np.random.default_rng(n)
    calibration, new = rng.normal(size=n), rng.normal(-0.3, size=k)
    expected = mannwhitneyu(new, calibration, alternative="less", method="exact").pvalue
    assert ConformalCalibration(calibration).combined_p_value(new) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("k", "expected"), [(1, 1 / 20_002), (2, 2 / (20_002 * 20_003))])
def test_a_small_set_among_many_is_exact(k, expected):
    assert ConformalCalibration(np.arange(1.0, 20_002)).combined_p_value(np.zeros(k)) == pytest.approx(
        expected, rel=1e-12
    )


def test_large_sets_use_the_normal_limit():
    rng = np.random.default_rng(1)
    calibration, new = rng.normal(size=500), rng.normal(-0.1, size=100)
    expected = mannwhitneyu(new, calibration, alternative="less", method="asymptotic").pvalue
    assert ConformalCalibration(calibration).combined_p_value(new) == pytest.approx(expected, rel=1e-3)


def test_one_sample_keeps_its_conformal_p_value():
    calibration = np.random.default_rng(2).integers(0, 5, size=30)
    for score in (-1, 0, 3, 9, np.nan, -np.inf):
        assert ConformalCalibration(calibration).combined_p_value([score]) == pytest.approx(
            p_values(calibration, [score])[0]
        )


def test_ties_are_conservative():
    rng = np.random.default_rng(3)
    low = np.mean(
        [
            ConformalCalibration(rng.integers(0, 3, 20)).combined_p_value(rng.integers(0, 3, 4)) <= 0.2
            for _ in range(2000)
        ]
    )
    assert low <= 0.2


def test_twice_the_mean():
    assert combine_p_values([0.9, 0.8]) == 1
    assert combine_p_values([0.02]) == 0.04
