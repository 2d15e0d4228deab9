"""Box probabilities against R's quadrature, mpmath's and closed forms."""

import itertools

import mpmath
import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr
from scipy.stats import multivariate_normal

from transvariation.density.box_probability import log_mixture_boxes, mixture_box_probability, normal_box_probability
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


def test_the_log_scale_does_not_underflow():
    assert normal_box_probability([0], [[1]], [1000.0], [INF], log=True)[0] == pytest.approx(
        log_ndtr(-1000.0), rel=1e-14
    )
    far = normal_box_probability([0, 0], correlation(0.5), [[100.0, 100.0], [200.0, 200.0]], [INF, INF], log=True)
    assert np.isfinite(far).all()
    assert far[1] < far[0] < -6000


def test_three_variables_in_closed_form():
    corr = np.array([[1.0, 0.3, -0.2], [0.3, 1.0, 0.6], [-0.2, 0.6, 1.0]])
    angles = np.arcsin(corr[np.triu_indices(3, 1)])
    value = normal_box_probability(np.zeros(3), corr, np.zeros(3), np.full(3, INF))[0]
    assert value == pytest.approx(1 / 8 + angles.sum() / (4 * np.pi), rel=1e-12)


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-6, 1e-8, 1e-12])
def test_three_variables_that_almost_repeat_each_other(gap):
    # The edge at zero is narrower than the distance of the first node from it.
    corr = np.full((3, 3), 1 - gap) + gap * np.eye(3)
    value = normal_box_probability(np.zeros(3), corr, np.zeros(3), np.full(3, INF))[0]
    assert value == pytest.approx(1 / 8 + 3 * np.arcsin(1 - gap) / (4 * np.pi), rel=1e-10)
    edges = [(-INF, -0.3), (-0.3, 0.4), (0.4, INF)]
    boxes = np.array([(a, b, c) for a in edges for b in edges for c in edges])
    assert normal_box_probability(np.zeros(3), corr, boxes[..., 0], boxes[..., 1]).sum() == pytest.approx(1, abs=1e-10)


def test_the_boxes_of_a_partition_sum_to_one():
    corr = np.array([[1.0, 0.8, -0.5], [0.8, 1.0, -0.7], [-0.5, -0.7, 1.0]])
    edges = [(-INF, -0.3), (-0.3, 1.1), (1.1, INF)]
    boxes = np.array([(a, b, c) for a in edges for b in edges for c in edges])
    assert normal_box_probability(np.zeros(3), corr, boxes[..., 0], boxes[..., 1]).sum() == pytest.approx(1, abs=1e-10)


def test_an_unbounded_variable_leaves_the_marginal():
    cov = np.array([[2.0, 0.5, 0.3], [0.5, 1.0, -0.4], [0.3, -0.4, 1.5]])
    lower = np.array([[1.0, -INF, -INF], [1.0, 0.2, -INF], [-INF, -INF, -INF]])
    values = normal_box_probability([0.5, 0, 0], cov, lower, np.full(3, INF))
    assert values[0] == pytest.approx(ndtr(-0.5 / np.sqrt(2)), rel=1e-14)
    marginal = normal_box_probability([0.5, 0], cov[:2, :2], lower[1, :2], [INF, INF])[0]
    assert values[1] == pytest.approx(marginal, rel=1e-15)
    assert values[2] == 1


def test_a_mixture_is_the_weighted_sum():
    covs = np.array([correlation(0.5), 2 * correlation(-0.3)])
    means = np.array([[0.0, 0.0], [1.0, 2.0]])
    lower = np.array([[0.0, 1.0], [-1.0, -1.0]])
    parts = [normal_box_probability(m, c, lower, np.full(2, INF)) for m, c in zip(means, covs, strict=True)]
    value = mixture_box_probability([0.3, 0.7], means, covs, lower, np.full(2, INF))
    np.testing.assert_allclose(value, 0.3 * parts[0] + 0.7 * parts[1], rtol=1e-13)


def test_empty_boxes_and_none():
    assert normal_box_probability([0, 0], correlation(0.5), [1, 1], [1, 2])[0] == 0
    assert normal_box_probability([0, 0], correlation(0.5), [2, 1], [1, 2], log=True)[0] == -INF
    assert normal_box_probability([0, 0], correlation(0.5), np.empty((0, 2)), np.empty((0, 2))).shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0], np.ones((2, 2)), [0, 0], [1, 1]), "positive definite"),
        (([0, 0], np.diag([1.0, 0.0]), [0, 0], [1, 1]), "positive definite"),
        (([0, 0], np.eye(3), [0, 0], [1, 1]), "do not belong together"),
        (([0, 0], np.eye(2), [0, 0, 0], [1, 1, 1]), "2 columns"),
        (([0, 0], np.eye(2), [0, np.nan], [1, 1]), "NaN"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        normal_box_probability(*arguments)


def test_bad_weights_are_named():
    with pytest.raises(ValueError, match="sum to one"):
        mixture_box_probability([0.5, 0.6], [[0], [1]], [[[1]], [[1]]], [0], [1])


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


def test_too_many_variables_are_named():
    corr = np.full((30, 30), 0.5) + np.eye(30) / 2
    with pytest.raises(ValueError, match="reduce the variables"):
        normal_box_probability(np.zeros(30), corr, np.zeros(30), np.full(30, INF))
    with pytest.raises(ValueError, match="relative precision 1e-09"):
        normal_box_probability(np.zeros(4), corr[:4, :4], np.zeros(4), np.full(4, INF), tolerance=1e-9)


def test_boxes_of_a_mixture_equal_scipy():
    rng = np.random.default_rng(11)
    weights, means = np.array([0.2, 0.3, 0.1, 0.4]), rng.normal(size=(4, 2))
    covs = np.array([[[1, r], [r, 0.5 + r * r]] for r in (-0.9, 0.0, 0.4, 0.6)])
    n = 3_000
    corner = rng.normal(scale=2, size=(n, 2))
    below = rng.random((n, 2)) < 0.5  # all four kinds of quadrant in one call
    lower, upper = np.where(below, -np.inf, corner), np.where(below, corner, np.inf)
    found = mixture_box_probability(weights, means, covs, lower, upper)
    some = slice(0, 200)
    sign = np.where(below[some], 1.0, -1.0)
    for i in range(200):
        turn = np.diag(sign[i])  # an upper quadrant is a lower one of the mirrored variable
        expected = sum(
            w * multivariate_normal(turn @ m, turn @ c @ turn).cdf(turn @ corner[i])
            for w, m, c in zip(weights, means, covs, strict=True)
        )
        assert found[i] == pytest.approx(expected, rel=1e-8, abs=1e-13)
