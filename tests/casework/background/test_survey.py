"""Likelihood ratios of one variable with a survey of single values."""

import numpy as np
import pytest
from scipy.stats import norm

from transvariation.casework.background.survey import compare_with_survey


def test_the_ratio_is_that_of_two_normal_densities():
    # A survey of a standard normal distribution, exact quantiles of it: its kernel density is nearly that.
    survey = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    found = compare_with_survey([[0.9, 1.1]], [1.0, 1.2], survey, within=0.2)
    error = 0.2 * np.sqrt(1 / 2 + 1 / 2)
    expected = norm.logpdf(-0.1, 0, error) - norm.logpdf(1.1, 0, np.hypot(1.0, 0.2 / np.sqrt(2)))
    assert found.log10_lr == pytest.approx(expected / np.log(10), abs=0.01)
    assert found.p_value == pytest.approx(2 * norm.sf(0.1 / error))


def test_a_rare_value_is_bounded_by_the_survey():
    survey = np.random.default_rng(0).normal(1.518, 0.0005, size=99)
    found = compare_with_survey([[1.5300, 1.53001]], [1.53001, 1.53002], survey, within=2e-5)
    assert (found.log10_lr, found.bound) == (2.0, "at least")
    assert found.indistinguishable.share == 0
    assert found.indistinguishable.high == pytest.approx(1 - 0.05 ** (1 / 99))


def test_measurements_without_spread_need_a_within_source_standard_deviation():
    with pytest.raises(ValueError, match="as `within`"):
        compare_with_survey([[1.5]], [1.5], [1.5, 1.6, 1.7])
