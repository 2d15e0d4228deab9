"""Box probabilities against R's quadrature, mpmath's and closed forms."""

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr
from scipy.stats import multivariate_normal

from transvariation.density.box_probability import mixture_box_probability, normal_box_probability

INF = np.inf


def correlation(rho):
    return np.array([[1.0, rho], [rho, 1.0]])


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
