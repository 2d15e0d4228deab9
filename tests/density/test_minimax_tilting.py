"""Boxes of many variables by minimax tilting."""

import mpmath
import numpy as np
import pytest

from transvariation.density.box_probability import log_mixture_boxes, mixture_box_probability, normal_box_probability

INF = np.inf


def test_many_variables_of_r(reference):
    cases = [case for case in reference.case("case04_orthants") if case["p"] >= 4]
    assert min(case["quadrature"] for case in cases) < 1e-11
    for case in cases:
        lower, upper = ([float(v) for v in case[side]] for side in ("lower", "upper"))
        arguments = [1.0], np.zeros((1, case["p"])), case["corr"], lower, upper
        value, error = mixture_box_probability(*arguments)[0], log_mixture_boxes(*arguments, tolerance=1e-3)[1][0]
        assert abs(value / case["quadrature"] - 1) <= max(error, 1e-9), case["name"]
        assert error <= 1.1e-3, case["name"]


def equicorrelated(p, h, rho=0.5):
    """log P(all > h) at equal correlations: one integral over the common factor, in 20 digits."""
    with mpmath.workdps(20):
        root, sd = mpmath.sqrt(rho), mpmath.sqrt(1 - rho)
        f = lambda x: mpmath.npdf(x) * (mpmath.erfc((h - root * x) / sd / mpmath.sqrt(2)) / 2) ** p  # noqa: E731
        return mpmath.log(mpmath.quad(f, [h * 0.9 + 0.5 * i for i in range(-12, 24)]))


@pytest.mark.parametrize(("p", "h"), [(4, 30.0), (7, 6.0), (10, 0.0), (10, 20.0)])
def test_ten_variables_far_out(p, h):
    corr = np.full((p, p), 0.5) + np.eye(p) / 2
    value = normal_box_probability(np.zeros(p), corr, np.full(p, h), np.full(p, INF), log=True)[0]
    assert abs(value - float(equicorrelated(p, h))) < 1e-3


def test_a_seed_repeats_and_another_agrees():
    corr = np.full((5, 5), 0.3) + 0.7 * np.eye(5)
    boxes = np.random.default_rng(0).normal(size=(6, 5))
    first, again, other = (normal_box_probability(np.zeros(5), corr, boxes, np.full(5, INF), seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    np.testing.assert_allclose(first, other, rtol=2e-3)
    assert (first != other).any()
    alone = normal_box_probability(np.zeros(5), corr, boxes[2], np.full(5, INF), seed=1)[0]
    assert alone == pytest.approx(first[2], rel=1e-13)
