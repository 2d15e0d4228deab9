"""False discoveries: all subsets by brute force, validity by simulation, an explained empty list."""

import warnings
from itertools import combinations

import numpy as np
import pytest

from transvariation import ConformalCalibration, benjamini_hochberg, count_anomalies, false_discovery_bound
from transvariation.conformal import p_values
from transvariation.exceptions import TooFewToDiscover


def samples(n):
    return ConformalCalibration(np.arange(float(n)))


def simes_rejects(p, alpha):
    p = np.sort(p)
    return bool((p <= alpha * np.arange(1, len(p) + 1) / len(p)).any())


def bound_by_closed_testing(p, selected, rejects):
    """The size of the largest part of the selection that lies in a set which is not rejected."""
    sets = [c for k in range(len(p), 0, -1) for c in combinations(range(len(p)), k)]
    return max((len(set(c) & set(selected)) for c in sets if not rejects(p[list(c)])), default=0)


@pytest.mark.parametrize("seed", range(12))
def test_bounds_equal_closed_testing_over_all_subsets(seed):
    rng = np.random.default_rng(seed)
    p = np.r_[rng.beta(0.2, 4, size=5), rng.random(4)].round(2 if seed % 2 else 6)
    for selected in (np.arange(9), np.argsort(p)[:4], rng.choice(9, 3, replace=False), np.array([], dtype=int)):
        expected = bound_by_closed_testing(p, selected, lambda part: simes_rejects(part, 0.1))
        assert false_discovery_bound(p, selected, confidence=0.9) == expected
        mask = np.isin(np.arange(9), selected)
        assert false_discovery_bound(p, mask, confidence=0.9) == expected


@pytest.mark.parametrize("seed", range(4))
def test_rank_sum_count_equals_closed_testing_over_all_subsets(seed):
    rng = np.random.default_rng(seed)
    calibration, new = rng.normal(size=40), np.r_[rng.normal(-2, 1, size=6), rng.normal(size=3)]
    expected = bound_by_closed_testing(
        new, range(9), lambda part: ConformalCalibration(calibration).combined_p_value(part) <= 0.1
    )
    p = p_values(calibration, new)
    assert count_anomalies(p, 0.9, test="rank_sum", calibration=samples(40)).at_least == 9 - expected


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_bounds_hold_for_selections_made_after_looking(shift):
    rng, wrong, foreign = np.random.default_rng(4), 0, 20 if shift else 0
    for _ in range(1_000):
        scores = np.r_[rng.normal(-shift, 1, size=20), rng.normal(size=80)]
        p = p_values(rng.normal(size=200), scores)
        ordered = np.argsort(p)
        bounds = [false_discovery_bound(p, ordered[:k], 0.9) for k in range(1, 101, 9)]
        wrong += any(np.sum(ordered[:k] >= foreign) > bound for k, bound in zip(range(1, 101, 9), bounds, strict=True))
    assert wrong / 1_000 <= 0.1 + 0.03


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_counts_by_rank_sum_exceed_the_truth_as_rarely_as_stated(shift):
    rng, too_many, foreign = np.random.default_rng(4), 0, 4 if shift else 0
    for _ in range(1_000):
        scores = np.r_[rng.normal(-shift, 1, size=4), rng.normal(size=16)]
        p = p_values(rng.normal(size=40), scores)
        too_many += count_anomalies(p, 0.9, test="rank_sum", calibration=samples(40)).at_least > foreign
    assert too_many / 1_000 <= 0.1 + 0.03


def test_bounds_by_the_joint_distribution_hold_and_are_lower_than_simes():
    rng, wrong, ours, simes = np.random.default_rng(6), 0, [], []
    for _ in range(300):
        p = p_values(rng.normal(size=200), np.r_[rng.normal(-3, 1, size=20), rng.normal(size=80)])
        ordered = np.argsort(p, kind="stable")
        sizes = range(1, 101, 9)
        bounds = [false_discovery_bound(p, ordered[:k], 0.9, calibration=samples(200)) for k in sizes]
        wrong += any(np.sum(ordered[:k] >= 20) > bound for k, bound in zip(sizes, bounds, strict=True))
        ours.append(bounds[2])
        simes.append(false_discovery_bound(p, ordered[:19], 0.9))
    assert wrong / 300 <= 0.1 + 0.04
    assert np.mean(ours) < np.mean(simes)


def test_a_confidence_beyond_the_simulated_one_uses_simes():
    """1,999 simulated runs cannot tell an error of 1 in 10,000 from one of 7 in 10,000."""
    p = p_values(np.arange(50.0), np.r_[np.full(10, -1.0), np.linspace(0, 50, 20)])
    bounds = [false_discovery_bound(p, np.arange(20), 0.9999, calibration=each) for each in (samples(50), None)]
    assert bounds[0] == bounds[1] > false_discovery_bound(p, np.arange(20), 0.95, calibration=samples(50))


def test_an_empty_list_is_explained():
    p = np.r_[1 / 88, np.arange(2, 89) / 88, np.full(912, 0.5)]
    with pytest.warns(TooFewToDiscover, match=r"with 87 calibration samples .* of 1,000 .* takes 9,999"):
        assert not benjamini_hochberg(p, 0.1).any()
    with pytest.warns(TooFewToDiscover, match="with 50 calibration samples"):
        benjamini_hochberg(np.full(100, 0.3), 0.1, calibration=samples(50))


def test_an_empty_list_that_could_have_been_full_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        benjamini_hochberg(np.linspace(0.2, 1, 30))
        benjamini_hochberg([0.5, 0.5, 1.0])
        benjamini_hochberg(p_values(np.arange(1_000.0), np.linspace(100, 900, 50)), calibration=samples(1_000))


def test_estimate_and_text():
    rng = np.random.default_rng(5)
    p = p_values(rng.normal(size=2_000), np.r_[rng.normal(-5, 1, size=100), rng.normal(size=900)])
    count = count_anomalies(p)
    assert 70 <= count.at_least <= 100
    assert abs(count.estimate - 100) < 60
    assert str(count).startswith("with 95% confidence at least ")


def test_invalid_input_is_refused():
    with pytest.raises(ValueError, match="choose 'simes' or 'rank_sum'"):
        count_anomalies([0.1], test="fisher")
    with pytest.raises(ValueError, match="needs calibration="):
        count_anomalies([0.1], test="rank_sum")
    with pytest.raises(ValueError, match="not multiples"):
        count_anomalies([0.123], test="rank_sum", calibration=samples(10))


def test_a_selection_is_a_mask_or_different_indices():
    p = np.linspace(0.01, 1, 10)
    assert false_discovery_bound(p, [0, 1]) == false_discovery_bound(p, np.arange(10) < 2)
    for wrong in ([0, 0], [0, 10], [0.5], (p < 0.3).astype(int), [True]):
        with pytest.raises(ValueError, match="10 values True or False, one for each p-value, or different indices"):
            false_discovery_bound(p, wrong)
    with pytest.raises(TypeError, match=r"calibration is a list; pass classifier\.calibration_"):
        false_discovery_bound(p, calibration=[1.0])
