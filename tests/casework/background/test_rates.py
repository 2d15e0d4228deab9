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
