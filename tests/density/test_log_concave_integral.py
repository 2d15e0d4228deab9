"""Integrals of log-concave functions against closed forms, far out and at narrow edges too."""

import numpy as np
import pytest
from scipy.special import log_ndtr

from transvariation.density.log_concave_integral import integrate_log_concave


def test_normal_tails_far_beyond_the_smallest_number():
    lower = np.array([-np.inf, 0.0, 8.0, 40.0, 1000.0])
    own = integrate_log_concave(lambda x, rows: -x * x / 2, lower, np.full(5, np.inf))
    np.testing.assert_allclose(own, log_ndtr(-lower) + 0.5 * np.log(2 * np.pi), rtol=1e-11)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e5])
def test_exponentials_of_any_slope_on_a_finite_range(scale):
    upper = np.array([1e-6, 1.0, 50.0])
    own = integrate_log_concave(lambda x, rows: -x / scale, np.zeros(3), upper)
    np.testing.assert_allclose(own, np.log(-np.expm1(-upper / scale) * scale), atol=1e-11, rtol=1e-11)


@pytest.mark.parametrize("edge", [1.0, 1e-3, 1e-6])
def test_a_steep_fall_beyond_a_plateau(edge):
    """Log-logistic: 1 / (1 + exp((x - 1) / edge)) has an integral in closed form."""
    own = integrate_log_concave(lambda x, rows: -np.logaddexp(0, (x - 1) / edge), np.zeros(1), np.full(1, 3.0))
    expected = edge * (np.logaddexp(0, 1 / edge) - np.logaddexp(0, -2 / edge))
    np.testing.assert_allclose(own, np.log(expected), atol=1e-9)


def test_rows_do_not_depend_on_each_other():
    slope = np.array([1.0, 1e4, 3.0])
    ends = np.zeros(3), np.full(3, np.inf)
    own = integrate_log_concave(lambda x, rows: -slope[rows, None] * x, *ends)
    for i in range(3):
        alone = integrate_log_concave(lambda x, rows, i=i: -slope[i] * x, np.zeros(1), np.full(1, np.inf))
        assert own[i] == alone[0]
    np.testing.assert_allclose(own, -np.log(slope), atol=1e-10)
