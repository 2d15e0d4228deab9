"""The picture of a test of exchangeability shows its p-values, smallest first."""

import numpy as np
import pytest

from transvariation import exchangeability_test
from transvariation.displays import ExchangeabilityDisplay


def test_points_are_the_adjusted_p_values_of_each_feature():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 14))
    X[:, 3] = np.arange(80)  # a drift
    result = exchangeability_test(X)
    display = ExchangeabilityDisplay(result, level=0.01).plot()
    rows = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert rows[0] == result.tests[int(np.argmin([test.p_value for test in result.tests]))].feature
    assert len(rows) == 12
    drawn = {
        (points.get_label(), rows[round(y)]): x for points in display.ax_.collections for x, y in points.get_offsets()
    }
    expected = {(test.test, test.feature or "all together"): result.adjusted(test) for test in result.tests}
    for key, x in drawn.items():
        assert x == pytest.approx(max(expected[key], 1e-12))
    assert display.ax_.lines[0].get_xdata()[0] == 0.01
