"""Thresholds, p-values, combined p-values and the false discovery rate: by hand, against SciPy, by simulation."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from transvariation import TOCC, ConformalCalibration, benjamini_hochberg, required_n
from transvariation.conformal import (
    check_p_values,
    conformal_threshold,
    group_weights,
    is_accepted,
    margin,
    p_values,
    weighted_p_values,
)
from transvariation.exceptions import TooFewSamples

SCORES = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=25)


def test_a_p_value_at_the_level_excludes():
    # 1 - 0.9 is 0.09999999999999998 in floating point; one of ten fragments has p = 0.1.
    assert not is_accepted(0.1, 0.9)
    assert is_accepted(2 / 19, 0.9)
    assert is_accepted(np.array([0.05, 0.1, 0.2]), 0.9).tolist() == [False, False, True]


@given(SCORES, st.sampled_from([0.05, 0.3, 0.5, 0.75, 0.9, 1.0]))
def test_threshold_accepts_the_share_and_is_the_largest_that_does(scores, sensitivity):
    scores = np.array(scores)
    threshold = conformal_threshold(scores, sensitivity)
    assert np.sum(scores >= threshold) >= sensitivity * len(scores) - 1e-9
    assert np.sum(scores > threshold) < sensitivity * len(scores) - 1e-9 + 1


@given(SCORES, st.sampled_from([0.3, 0.5, 0.75, 0.9]), st.integers(0, 2**31))
def test_held_out_threshold_accepts_exactly_p_above_alpha(scores, sensitivity, seed):
    groups = np.random.default_rng(seed).integers(0, 9, size=len(scores))
    for weights in (None, group_weights(groups)):
        n = len(scores) if weights is None else len(np.unique(groups))
        if n < required_n(sensitivity):
            with pytest.warns(UserWarning, match="is not supported by"):
                assert conformal_threshold(scores, sensitivity, weights, held_out=True) == -np.inf
            continue
        threshold = conformal_threshold(scores, sensitivity, weights, held_out=True)
        objects = np.arange(-1, 8, 0.5)
        accepted = p_values(scores, objects, weights) > 1 - sensitivity + 1e-9
        np.testing.assert_array_equal(objects >= threshold, accepted)


def test_glass_count_from_the_paper():
    """s = 0.9 of 87 keeps 79; NumPy's quantile would keep 78."""
    scores = np.random.default_rng(0).random(87)
    assert np.sum(scores >= conformal_threshold(scores, 0.9)) == 79


def test_group_p_values_hold_for_an_object_of_a_new_group():
    """Ten groups of unequal size with a strong group effect: at most alpha below alpha, whatever the sizes."""
    rng = np.random.default_rng(1)
    small = 0
    for _ in range(4000):
        sizes = rng.integers(1, 8, size=11)
        effect = np.repeat(rng.normal(size=11), sizes)
        scores = effect + 0.1 * rng.normal(size=sizes.sum())
        groups = np.repeat(np.arange(11), sizes)
        old = groups < 10
        small += p_values(scores[old], scores[~old][:1], group_weights(groups[old]))[0] <= 0.2
    assert small / 4000 < 0.2 + 3 * np.sqrt(0.16 / 4000)


def test_required_n():
    assert required_n(0.5) == 1
    assert required_n(1.0) == np.inf


def test_nan_scores_rank_lowest():
    assert p_values([0.1, 0.2, 0.3], [np.nan, -np.inf, 0.3]).tolist() == [0.25, 0.25, 1.0]
    assert p_values([-0.3, -0.2, -0.1], [np.nan]).tolist() == [0.25]


def test_warnings_point_at_the_line_that_fits():
    X = np.random.default_rng(0).normal(size=(12, 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")  # each line once
        TOCC(calibration="loo", sensitivity=0.99).fit(X)
        TOCC(calibration="loo", sensitivity=0.99).fit(X + 1)
    assert {warning.filename for warning in caught} == {__file__}
    assert len({warning.lineno for warning in caught}) == 2
    assert len(caught) == 2  # TooFewSamples for both fits


@pytest.mark.parametrize("level", [0.05, 0.1, 0.3])
def test_benjamini_hochberg_equals_scipys_adjusted_p_values(level):
    p = np.random.default_rng(0).beta(0.5, 2, size=60)
    np.testing.assert_array_equal(benjamini_hochberg(p, level), false_discovery_control(p) <= level)


def test_invalid_input_is_refused():
    for bad in ([], [[0.1]], [0.1, np.nan], [1.2]):
        with pytest.raises(ValueError, match="p-value"):
            benjamini_hochberg(bad)
    with pytest.raises(ValueError, match=r"level=1 must lie"):
        benjamini_hochberg([0.1], level=1)
    with pytest.raises(ValueError, match="empty"):
        ConformalCalibration([1.0]).combined_p_value([])


def test_weighted_p_values_by_hand():
    found = weighted_p_values([1.0, 2.0, 3.0], [2.0, 0.5], [1.0, 2.0, 5.0], [2.0, 0.5])
    assert found == pytest.approx([(1 + 2 + 2) / (8 + 2), 0.5 / (8 + 0.5)])


@pytest.mark.parametrize(
    ("known", "new"), [([1, -1, 1], [1]), ([1, np.inf, 1], [1]), ([1, 1], [1]), ([1, 1, 1], [1, 1]), ([1, 1, 1], [-1])]
)
def test_weights_that_are_no_density_ratios_are_refused(known, new):
    with pytest.raises(ValueError, match="weights"):
        weighted_p_values([1.0, 2.0, 3.0], [2.0], known, new)


@pytest.mark.parametrize(("wrong", "message"), [(-0.1, "-0.1"), (1.5, "1.5"), (np.nan, "nan")])
def test_a_p_value_outside_the_unit_interval_is_named(wrong, message):
    with pytest.raises(ValueError, match=f"p-value {message} is not between 0 and 1"):
        check_p_values([0.0, 0.5, wrong, 1.0])
    assert check_p_values([0, 1]).tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"shape \(1, 1\)"):
        check_p_values([[0.5]])


def test_a_sensitivity_beyond_the_samples_names_what_they_support():
    with pytest.warns(TooFewSamples, match=r"by 15 held-out samples.*at least 19, or lower.*at most 0.937$"):
        assert conformal_threshold(np.arange(15), 0.95, held_out=True) == -np.inf
    with pytest.warns(TooFewSamples, match="at most 0.9$"):
        conformal_threshold(np.arange(9), 0.95, held_out=True)
    assert conformal_threshold([3.0, 1.0, 2.0], 1e-9) == 3.0  # the highest score is the last threshold
    assert conformal_threshold([3.0, 1.0, 2.0], 1e-9, weights=[1, 1, 1]) == 3.0


def test_margins_of_rejected_scores_are_negative():
    assert margin([-1.0, 2.0, 2.0, np.inf], [1.0, 2.0, 0.5, np.inf]).tolist() == [-2.0, 0.0, 1.5, 0.0]


@pytest.mark.parametrize("weights", [None, np.full(5, 0.2)])
def test_a_sensitivity_of_nearly_zero_has_the_highest_score_as_threshold(weights):
    assert conformal_threshold(np.arange(5.0), 1e-12, weights=weights) == 4.0


def test_a_wrong_weight_or_p_value_is_named_by_its_value():
    with pytest.raises(ValueError, match=r"at least 0, not -3\.0"):
        weighted_p_values([1.0, 2.0, 3.0], [2.0], [1.0, -3.0, -4.0], [1.0])
    with pytest.raises(ValueError, match=r"p-value 1\.5 is not between 0 and 1"):
        check_p_values([0.5, 1.5, 2.5])
