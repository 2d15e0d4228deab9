"""The scenarios have the distributions they name, by Kolmogorov-Smirnov against closed forms."""

import numpy as np
import pytest
from scipy.stats import kstest, norm, rice, uniform

from transvariation import make_scenario

N = 20_000
MARGINS = {
    "a": norm.cdf,
    "b": lambda t: 2 * norm.cdf(np.sqrt(np.maximum(t, 0))) - 1,
    "c": lambda t: 2 * norm.cdf(np.maximum(t, 0) ** 2) - 1,
    "d": lambda t: 2 * norm.cdf(np.exp(t)) - 1,
}
MARGINS |= dict(zip("efgh", MARGINS.values(), strict=True))


def agrees(sample, cdf):
    return kstest(sample, cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", "abcdefgh")
def test_target_margins(name):
    target, _ = make_scenario(name, N, random_state=1)
    assert all(agrees(column, MARGINS[name]) for column in target.T)


def test_correlations():
    """0.35 between normals; 0.35^2 between their squares."""
    a, b = (make_scenario(name, N, random_state=2)[0] for name in "ab")
    assert abs(np.corrcoef(a.T)[0, 1] - 0.35) < 0.02
    assert abs(np.corrcoef(b.T)[0, 1] - 0.35**2) < 0.03


@pytest.mark.parametrize("name", "abcd")
@pytest.mark.parametrize("shift", [1.0, 2.0])
def test_non_targets_are_shifted_after_the_transform(name, shift):
    _, other = make_scenario(name, N, shift, random_state=3)
    assert all(agrees(column - shift, MARGINS[name]) for column in other.T)


@pytest.mark.parametrize("name", "efgh")
def test_non_targets_fill_the_box(name):
    target, other = make_scenario(name, N, random_state=6)
    lower, median, upper = np.quantile(target, [0.25, 0.5, 0.75], axis=0)
    side = 3 * (upper - lower)
    assert all(agrees(((other - median + side) / (2 * side))[:, u], uniform.cdf) for u in (0, 1))


def test_bananas():
    """Noise of unit variance about a circle of radius 5 puts the distance from its center in Rice's distribution."""
    target, other = make_scenario("i", N, random_state=7)
    other = other + 3.75
    for points in (target, other):
        assert agrees(np.linalg.norm(points, axis=1), rice(5).cdf)
    widths = [np.ptp(np.quantile(_angles(points), [0.1, 0.9])) / 0.8 for points in (target, -other)]
    np.testing.assert_allclose(widths, [1.25 * np.pi, 0.75 * np.pi], rtol=0.05)


def _angles(points):
    return np.arctan2(points[:, 0], points[:, 1]) % (2 * np.pi)


def test_sizes_and_seeds():
    target, other = make_scenario("e", 101, random_state=8)
    assert (len(target), len(other)) == (101, 50)
    np.testing.assert_array_equal(target, make_scenario("e", 101, random_state=8)[0])
    assert not np.array_equal(target, make_scenario("e", 101)[0])


@pytest.mark.parametrize("bad", ["j", "A", "", "ab"])
def test_unknown_names(bad):
    with pytest.raises(ValueError, match="choose one of a, b"):
        make_scenario(bad)


def test_too_small():
    with pytest.raises(ValueError, match="n_target=1 must be at least 2"):
        make_scenario("a", 1)
