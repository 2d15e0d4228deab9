"""Orthants and boxes of normal variables: R, mpmath and closed forms."""

import itertools

import mpmath
import numpy as np
import pytest

from transvariation.density.box_probability import normal_box_probability
from transvariation.density.normal_boxes import log_interval

INF = np.inf


def correlation(rho):
    return np.array([[1.0, rho], [rho, 1.0]])


def mp_box2(lower, upper, rho):
    """P(lower < X < upper) by 25-digit Gauss-Legendre over the first variable, on panels where something happens."""
    sd = np.sqrt((1 - rho) * (1 + rho))
    grid = np.linspace(max(lower[0], -60.0), min(upper[0], 60.0), 40_001)
    inside = log_interval((lower[1] - rho * grid) / sd, (upper[1] - rho * grid) / sd) - grid**2 / 2
    matters = np.flatnonzero(inside > inside.max() - 60)
    first, last = grid[max(matters[0] - 1, 0)], grid[min(matters[-1] + 1, len(grid) - 1)]
    turns = np.add.outer([s / rho for s in (lower[1], upper[1]) if np.isfinite(s)], np.arange(-8, 9) * sd / rho)
    cuts = np.unique(np.clip(np.append(np.linspace(first, last, 21), turns), first, last))
    with mpmath.workdps(25):
        rho = mpmath.mpf(rho)
        sd, root2 = mpmath.sqrt((1 - rho) * (1 + rho)), mpmath.sqrt(2)

        def integrand(x):
            low, high = (lower[1] - rho * x) / sd, (upper[1] - rho * x) / sd
            low, high = (low, high) if low + high > 0 else (-high, -low)
            return mpmath.npdf(x) * (mpmath.erfc(low / root2) - mpmath.erfc(high / root2)) / 2

        rule = mpmath.calculus.quadrature.GaussLegendre(mpmath.mp).calc_nodes(3, 100)
        total = mpmath.mpf(0)
        for a, b in itertools.pairwise(cuts):
            middle, half = (mpmath.mpf(a) + mpmath.mpf(b)) / 2, (mpmath.mpf(b) - mpmath.mpf(a)) / 2
            total += half * sum(w * integrand(middle + half * x) for x, w in rule)
        return total


def relative_error(value, truth):
    return float(abs(mpmath.mpf(float(value)) / truth - 1))


@pytest.mark.parametrize("p", [2, 3])
def test_orthants_of_r(reference, p):
    cases = [case for case in reference.case("case04_orthants") if case["p"] == p]
    assert len(cases) >= 20
    for case in cases:
        lower, upper = ([float(v) for v in case[side]] for side in ("lower", "upper"))
        value = normal_box_probability(np.zeros(p), case["corr"], lower, upper)[0]
        assert value == pytest.approx(case["quadrature"], rel=1e-11), case["name"]


# From the middle to about 1e-300, where Owen's T and SciPy's cdf have no digits left.
CORNERS = [(0.1, -0.1), (1.0, 2.0), (-3.0, -2.0), (5.0, -4.9), (12.0, 11.0), (25.0, 10.0), (30.0, -29.0), (36.0, 20.0)]


@pytest.mark.parametrize("rho", [-0.999, -0.6, 0.1, 0.95, 0.999])
def test_orthants_keep_ten_digits_down_to_1e_minus_300(rho):
    seen = []
    for corner in CORNERS:
        truth = mp_box2(corner, (INF, INF), rho)
        if truth > 1e-304:
            value = normal_box_probability([0, 0], correlation(rho), corner, (INF, INF))[0]
            assert relative_error(value, truth) < 1e-10, corner
            seen.append(float(truth))
    assert min(seen) < 1e-80


def test_the_smallest_orthants():
    for corner, rho in [((36.9, 0.0), 0.0001), ((36.5, 36.4), 0.999), ((26.0, 26.0), 0.01)]:
        truth = mp_box2(corner, (INF, INF), rho)
        assert 1e-306 < truth < 1e-285
        value = normal_box_probability([0, 0], correlation(rho), corner, (INF, INF))[0]
        assert relative_error(value, truth) < 1e-10


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ((-1.0, 6.0), (1.0, INF)),
        ((-INF, -1.0), (-7.0, 0.5)),
        ((3.0, 3.0), (3.0001, 4.0)),  # narrow: four large terms would cancel
        ((-5.0, -5.0), (-4.0, -3.0)),
        ((-0.5, -2.0), (1.5, 0.25)),
        ((9.0, -8.0), (9.5, -7.0)),
    ],
)
@pytest.mark.parametrize("rho", [-0.9, 0.5])
def test_finite_boxes_do_not_cancel(lower, upper, rho):
    value = normal_box_probability([0, 0], correlation(rho), lower, upper)[0]
    assert relative_error(value, mp_box2(lower, upper, rho)) < 1e-10


def test_intervals():
    a = np.array([-1.0, 20.0, -30.0, 5.0, 5.0, -2.0, -INF, 3.0, 2.0])
    b = np.array([2.0, 21.0, -29.0, 5.0 + 1e-9, 5.5, INF, INF, 3.0, 1.0])
    with mpmath.workdps(450):
        tail = [[mpmath.erfc(v / mpmath.sqrt(2)) / 2 for v in side] for side in (a, b)]
        truth = [x - y for x, y in zip(*tail, strict=True)]
        for got, exact in zip(log_interval(a, b)[:7], truth, strict=False):
            assert abs(mpmath.mpf(float(got)) - mpmath.log(exact)) < 1e-13 * max(1, abs(float(got)))
    assert (log_interval(a, b)[7:] == -INF).all()
