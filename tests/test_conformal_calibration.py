"""Calibration scores with strata and weights."""

import numpy as np
import pytest

from transvariation import ConformalCalibration
from transvariation.conformal import (
    check_sensitivities,
    group_weights,
    pool_strata,
    tail_p_values,
)


def test_strata_too_small_even_together_join_the_next_larger():
    assert pool_strata([3, 2, 50, 60], 0.9).tolist() == [0, 0, 0, 1]
    assert pool_strata([3, 2], 0.9).tolist() == [0, 0]
    assert pool_strata([12, 9], 0.9).tolist() == [0, 1]


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
    strata = ConformalCalibration([1.0, 2.0, 3.0], strata=[0, 0, 1])
    for own in ([5], None, [0, 1]):
        with pytest.raises(ValueError, match=r"strata must be one of 0, \.\.\., 1 for each of 1 scores"):
            strata.p_values([2.0], own)
    trained = ConformalCalibration([1.0, 2.0], mode="resubstitution", n_folds=0)
    with pytest.raises(ValueError, match=r"cannot be guaranteed with confidence=0\.95 by calibration='resubstitution'"):
        trained.guaranteed_sensitivity(0.9, 0.95)
