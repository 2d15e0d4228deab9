"""The match criterion of ASTM E2927."""

import numpy as np

from transvariation.casework.astm import applies, error_rates, match_interval


def test_the_match_interval_by_hand():
    known = np.array([[10.0, 100.0], [11.0, 100.0], [12.0, 100.0]])
    low, high = match_interval(known)
    assert low.tolist() == [7.0, 88.0]  # 11 ± 4 sd of 1; 100 ± 4 times 3 %
    assert high.tolist() == [15.0, 112.0]
    low, _ = match_interval(known, multiplier=2, min_rsd=0.01)
    assert low.tolist() == [9.0, 98.0]
    assert applies(known)
    assert not applies(known[:2])
    assert not applies(-known)


def test_error_rates_of_the_criterion_by_hand():
    tight = [np.array([[v], [v], [v], [v]]) for v in (10.0, 100.0)]
    assert error_rates(tight, 3, 4, 0.03, np.random.default_rng(0)) == (0.0, 0.0)
    alike = [np.array([[v], [v], [v], [2 * v]]) for v in (10.0, 10.1)]
    exclusion, inclusion = error_rates(alike, 3, 4, 0.03, np.random.default_rng(0))
    assert exclusion == 0.25  # the odd fragment against three equal ones; the others see it in their sd
    assert inclusion == 1.0
    assert error_rates(tight, 2, 4, 0.03, np.random.default_rng(0)) == (None, None)
