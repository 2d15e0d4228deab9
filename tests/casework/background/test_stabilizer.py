"""Variables transformed to a within-source variance that does not depend on the level."""

import numpy as np
import pytest

from transvariation.casework.background.pairs import Design, same_source_pairs, scaled_differences
from transvariation.casework.background.same_source import SameSourceDifferences, VarianceStabilizer


def _sources(n, rng):
    """Contents whose standard deviation is a third of the level below 10 and a hundredth above."""
    levels = np.exp(rng.uniform(0, np.log(100), n))
    relative = np.where(levels < 10, 0.33, 0.01)
    return [[np.array([[v * (1 + r * e)]]) for e in rng.normal(size=4)] for v, r in zip(levels, relative, strict=True)]


def test_the_transformation_increases_and_goes_on_beyond_the_background(rng):
    stabilizer = VarianceStabilizer().fit(_sources(100, rng))
    grid = np.linspace(-50, 500, 1000)[:, None]
    assert (np.diff(stabilizer.transform(grid)[:, 0]) > 0).all()


def test_few_sources_give_a_linear_transformation(rng):
    stabilizer = VarianceStabilizer().fit(_sources(12, rng))
    values = stabilizer.transform(np.array([[1.0], [2.0], [4.0]]))[:, 0]
    assert values[2] - values[1] == pytest.approx(2 * (values[1] - values[0]))


def test_a_variable_without_spread_is_left_finite():
    constant = [[np.array([[float(s)]])] * 3 for s in range(30)]
    assert np.isfinite(VarianceStabilizer().fit(constant).transform(np.array([[3.0], [99.0]]))).all()


def test_small_differences_are_noticed_where_sources_vary_little():
    rng = np.random.default_rng(0)
    background = _sources(300, rng)
    case = np.array([[50.0], [53.0]])  # six standard deviations of a fragment at that level
    p = []
    for stabilize in (False, True):
        model = SameSourceDifferences(Design(1), stabilize=stabilize).fit(background)
        transform = model.stabilizer_.transform
        p.append(float(model.p_values(np.diff(transform(case), axis=0) / np.sqrt(2))[0]))
        fresh = same_source_pairs([[transform(x) for x in s] for s in _sources(300, rng)], Design(1), rng)
        assert (model.p_values(scaled_differences(fresh)) <= 0.1).mean() == pytest.approx(0.1, abs=0.04)
    assert p[1] < 0.02 < p[0]
