"""The background of a case: comparisons that are counted, and ratios that are refused."""

import numpy as np
import pytest
from tests.casework.conftest import make_glass, sources_of

from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import Design


@pytest.fixture(scope="module")
def background():
    return Background(sources_of(make_glass(60, 4, 3, np.random.default_rng(0), between=0.05)))


def test_all_comparisons_of_a_small_background_leave_no_monte_carlo_error(background):
    ratio = background.calibrated(Design(3, 1, 3, 3))
    others, _ = background.others(Design(3, 1, 3, 3))
    assert len(others.source) == 60 * 59 * 4 * 4
    assert ratio.errors(ratio.differences.pairs_).max() == 0
    assert background.calibrated(Design(3, 1, 1, 1)).errors(ratio.differences.pairs_).max() > 0


def test_too_few_sources_give_no_ratio(rng):
    assert Background(sources_of(make_glass(20, 3, 1, rng))).calibrated(Design(2)) is None


def test_the_highest_sensitivity_has_the_error_rate_that_it_promises(background):
    rates = background.rates(Design(3, 1, 3, 3))
    assert rates["sensitivity"][-1] == pytest.approx(60 / 61)
    assert rates["false_exclusion_low"][-1] < 1 / 61 < rates["false_exclusion_high"][-1]
    assert 0.5 / 61 < rates["false_exclusion"][-1] <= rates["false_exclusion"][-2]
