"""Counting scores: cuts and p-values by hand, and their guarantee by simulation."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transvariation import TOCC
from transvariation.conformal import conformal_threshold, group_weights, p_values, required

SCORES = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=25)


@given(SCORES, st.sampled_from([0.05, 0.3, 0.5, 0.75, 0.9, 1.0]))
def test_the_cut_keeps_the_share_and_is_the_largest_that_does(scores, sensitivity):
    scores = np.array(scores)
    threshold = conformal_threshold(scores, sensitivity)
    assert np.sum(scores >= threshold) >= sensitivity * len(scores) - 1e-9
    assert np.sum(scores > threshold) < sensitivity * len(scores) - 1e-9 + 1


@given(SCORES, st.sampled_from([0.3, 0.5, 0.75, 0.9]), st.integers(0, 2**31))
def test_held_out_cut_accepts_exactly_p_above_alpha(scores, sensitivity, seed):
    groups = np.random.default_rng(seed).integers(0, 9, size=len(scores))
    for weights in (None, group_weights(groups)):
        n = len(scores) if weights is None else len(np.unique(groups))
        if n < required(sensitivity):
            with pytest.warns(UserWarning, match="cannot be promised"):
                assert conformal_threshold(scores, sensitivity, weights, held_out=True) == min(scores)
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


def test_required_numbers():
    assert required(0.5) == 1
    assert required(1.0) == np.inf


@pytest.mark.parametrize("kind", ["spread", "tied", "constant", "every 64th low", "every 64th high", "falling"])
@pytest.mark.parametrize("sensitivity", [0.1, 0.7, 0.8, 0.9, 0.99, 1.0])
def test_the_cut_among_many_scores_is_the_same_order_statistic(kind, sensitivity):
    scores = np.random.default_rng(0).random(30_011)
    if kind == "tied":
        scores = np.round(scores, 2)
    elif kind == "constant":
        scores[:] = 0.5
    elif kind.startswith("every 64th"):  # a first look at these would mislead
        scores[::64] += -1 if kind.endswith("low") else 1
    elif kind == "falling":
        scores = np.sort(scores)[::-1]
    assert conformal_threshold(scores, sensitivity) == np.sort(scores)[int((1 - sensitivity) * len(scores) + 1e-9)]


def test_what_could_not_be_rated_ranks_lowest():
    assert p_values([0.1, 0.2, 0.3], [np.nan, -np.inf, 0.3]).tolist() == [0.25, 0.25, 1.0]


def test_every_rule_warns_where_it_was_fitted():
    X = np.random.default_rng(0).normal(size=(12, 1))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")  # each line once
        TOCC(calibration="loo", sensitivity=0.99).fit(X)
        TOCC(calibration="loo", sensitivity=0.99).fit(X + 1)
    assert {warning.filename for warning in told} == {__file__}
    assert len({warning.lineno for warning in told}) == 2
    assert len(told) == 4  # too few, and so able to reject nothing: said of both
