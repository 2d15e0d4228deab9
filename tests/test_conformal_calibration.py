"""Calibration scores with strata and weights."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from transvariation import ConformalCalibration
from transvariation.conformal import (
    check_sensitivities,
    group_weights,
    p_values,
    pool_strata,
    tail_p_values,
)


def test_strata_too_small_even_together_join_the_next_larger():
    assert pool_strata([3, 2, 50, 60], 0.9).tolist() == [0, 0, 0, 1]
    assert pool_strata([3, 2], 0.9).tolist() == [0, 0]
    assert pool_strata([12, 9], 0.9).tolist() == [0, 1]
    assert pool_strata([9, 9], 0.9).tolist() == [0, 1]  # nine are enough for 0.9


def test_public_calibration_object_counts_scores_in_strata_with_weights():
    calibration = ConformalCalibration([1.0, 2.0, 3.0, 4.0], strata=[0, 0, 1, 1])
    np.testing.assert_allclose(calibration.p_values([2.5, 2.5], [0, 1], 0.5), [1.0, 1 / 3])
    grouped = ConformalCalibration([1.0, 2.0, 3.0], weights=group_weights(["a", "a", "b"]))
    np.testing.assert_allclose(grouped.p_values([1.5]), [1.5 / 3])
    assert grouped.coverage_report(0.5).unit == "groups"
    with pytest.raises(ValueError, match="equal length"):
        ConformalCalibration([1.0, 2.0], strata=[0])


@pytest.mark.parametrize("n", [8, 15, 60])
def test_tail_p_values_are_uniform_for_exponential_scores(n):
    rng = np.random.default_rng(n)
    p = np.concatenate([tail_p_values(-rng.exponential(size=n), -rng.exponential(size=10)) for _ in range(4000)])
    for level in (0.1, 0.05, 0.01):
        assert np.mean(p <= level) == pytest.approx(level, abs=0.15 * level + 0.002)


def test_the_tail_is_that_of_the_ten_lowest_scores():
    found = tail_p_values(-np.arange(1.0, 31.0), [-42.0])  # the eleventh is -20, the others are 5.5 lower on average
    assert found == pytest.approx([11 / 31 * (1 + 22 / 55) ** -10])
    assert tail_p_values(np.ones(8), [1.0, 0.5]) == pytest.approx([1, 1 / 9])  # equal scores have no tail


def test_one_sensitivity_per_stratum():
    assert check_sensitivities(0.9, 3) == [0.9, 0.9, 0.9]
    assert check_sensitivities([0.9, 0.8], 2) == [0.9, 0.8]
    assert check_sensitivities([0.9, 0.8]) == [0.9, 0.8]
    with pytest.raises(ValueError, match="has 2 values for 1 stratum of the class"):
        check_sensitivities([0.9, 0.8], 1)
    with pytest.raises(ValueError, match="has 2 values for 3 strata of the class"):
        check_sensitivities([0.9, 0.8], 3)


def test_a_calibration_refuses_what_it_cannot_count():
    with pytest.raises(ValueError, match="weights must be finite numbers of at least 0, not inf"):
        ConformalCalibration([1.0, 2.0], weights=[np.inf, 1.0])
    with pytest.raises(ValueError, match="weights are all 0"):
        ConformalCalibration([1.0, 2.0], weights=[0.0, 0.0])
    with pytest.raises(ValueError, match=r"strata must be whole numbers 0, 1, \.\.\., not -1"):
        ConformalCalibration([1.0, 2.0], strata=[-1, 0])
    with pytest.raises(ValueError, match=r"the calibration score of sample 1 .* leave the sample out"):
        ConformalCalibration([1.0, np.nan])
    with pytest.raises(ValueError, match="mode='half' is unknown; choose one of"):
        ConformalCalibration([1.0, 2.0], mode="half")
    strata = ConformalCalibration([1.0, 2.0, 3.0], strata=[0, 0, 1])
    for own in ([5], None, [0, 1]):
        with pytest.raises(ValueError, match=r"strata must be one of 0, \.\.\., 1 for each of 1 scores"):
            strata.p_values([2.0], own)
    trained = ConformalCalibration([1.0, 2.0], mode="resubstitution", n_folds=0)
    with pytest.raises(ValueError, match=r"cannot be guaranteed with confidence=0\.95 by calibration='resubstitution'"):
        trained.guaranteed_sensitivity(0.9, 0.95)


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
    calibration, new = rng.normal(size=501), rng.normal(-0.1, size=101)
    expected = mannwhitneyu(new, calibration, alternative="less", method="asymptotic").pvalue
    assert ConformalCalibration(calibration).combined_p_value(new) == pytest.approx(expected, rel=1e-9)


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


def test_twice_the_mean_for_groups():
    grouped = ConformalCalibration(np.arange(9.0), weights=np.ones(9))
    assert grouped.combined_p_value([7.0, 6.0]) == 1
    assert grouped.combined_p_value([-1.0, 0.0]) == pytest.approx(0.1 + 0.2)
    with pytest.raises(ValueError, match="at least one sample"):
        grouped.combined_p_value([])
