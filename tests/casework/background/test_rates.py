"""Measured rates and their intervals by source."""

import numpy as np
import pytest
from scipy.stats import binomtest

from transvariation.casework.background.rates import measure_rate


def test_independent_comparisons_have_the_exact_interval():
    events = np.arange(200) < 20
    rate = measure_rate(events, np.arange(200))
    exact = binomtest(20, 200).proportion_ci(0.95, "exact")
    assert (rate.low, rate.high) == pytest.approx((exact.low, exact.high), rel=0.02)


def test_no_event_among_two_thousand():
    one, other = (x[:2000] for x in np.triu_indices(100, 1))
    rate = measure_rate(np.zeros(2000), one, other)
    assert (rate.share, rate.n, rate.low) == (0.0, 2000, 0.0)
    assert rate.high == pytest.approx(0.0015, abs=5e-5)
    assert measure_rate(np.zeros(2000), np.repeat(np.arange(40), 50)).high == pytest.approx(1 - 0.05 ** (1 / 40))


def test_intervals_by_source_contain_the_true_rate():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(300):
        share = rng.beta(0.5, 4.5, size=48)  # sources differ widely; the mean is 0.1
        events = rng.random((48, 20)) < share[:, None]
        rate = measure_rate(events.ravel(), np.repeat(np.arange(48), 20))
        inside.append(rate.low <= 0.1 <= rate.high)
    assert np.mean(inside) >= 0.93


def test_pairs_of_sources_share_sources():
    rng = np.random.default_rng(1)
    one, other = np.nonzero(~np.eye(30, dtype=bool))
    inside = []
    for _ in range(200):
        level = rng.normal(size=30)
        events = level[one] + level[other] > 2.0
        rate = measure_rate(events, one, other)
        inside.append(rate.low <= 0.0786 <= rate.high)  # P(N(0, 2) > 2)
    assert np.mean(inside) >= 0.9


def test_a_few_events_are_no_better_evidence_than_none():
    one, other = (np.repeat(x, 50) for x in np.nonzero(~np.eye(34, dtype=bool)))
    events = np.arange(len(one)) < 3  # of 56,100 comparisons, all of the same two sources
    none, few = measure_rate(np.zeros(len(one)), one, other), measure_rate(events, one, other)
    assert few.low < few.share < none.high <= few.high
    every, most = measure_rate(np.ones(len(one)), one, other), measure_rate(~events, one, other)
    assert most.low <= every.low < most.share < most.high


def test_rare_events_of_few_near_sources_have_intervals_that_contain_the_true_rate():
    rng = np.random.default_rng(0)
    one, other = np.nonzero(~np.eye(15, dtype=bool))
    inside = []
    for _ in range(300):
        sources = rng.normal(size=(15, 3))
        known, questioned = (sources[:, None] + 0.1 * rng.normal(size=(15, 20, 3)) for _ in range(2))
        events = (np.abs(known[one] - questioned[other]) < 0.2 * np.sqrt(2)).all(axis=2)
        rate = measure_rate(events.ravel(), np.repeat(one, 20), np.repeat(other, 20))
        inside.append(rate.low <= 0.003925 <= rate.high)  # (2 Phi(0.2 / sqrt(1.01)) - 1) ** 3
    assert np.mean(inside) >= 0.95
