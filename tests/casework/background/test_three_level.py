"""The three-level model: densities, levels that are recovered, and fragments unlike any source."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.stats import multivariate_normal as normal
from scipy.stats import multivariate_t
from tests.casework.conftest import make_glass, sources_of

from transvariation.casework.background.pairs import Design, case_pairs, same_source_pairs
from transvariation.casework.background.three_level import Levels, ThreeLevelModel


def test_the_ratio_is_that_of_densities_of_scipy(rng):
    model = ThreeLevelModel()
    levels = model.levels_ = Levels(np.array([[0.04, 0.01], [0.01, 0.02]]), 0.01 * np.eye(2))
    model.sources_, model.kernel_, model.kernel_freedom_ = np.zeros((1, 2)), np.array([[1.0, 0.3], [0.3, 2.0]]), np.inf
    model.center_, model.between_ = np.array([0.5, -0.5]), np.array([[3.0, 1.0], [1.0, 4.0]])
    design = Design(3, 1, 2, 5)
    a, b = rng.normal(size=(2, 2))
    one = (levels.fragment + levels.replicate / 2) / 3
    two = levels.fragment + levels.replicate / 5

    def student(x, covariance):  # with three degrees of freedom
        return multivariate_t(shape=covariance / 3, df=3).pdf(x)

    def density(x, error):  # of one known source, and of one more
        known = normal.pdf(x, np.zeros(2), model.kernel_ + error)
        return known / 2 + student(x - model.center_, model.between_ + error) / 2

    joint = np.linalg.inv(np.linalg.inv(one) + np.linalg.inv(two))
    middle = joint @ (np.linalg.solve(one, a) + np.linalg.solve(two, b))
    different = density(a, one) * density(b, two) / density(middle, joint)
    scale = (2 / 0.03) ** (2 / 3)
    expected = student(a - b, one + two) / (different + student(a - b, scale * (one + two)) / 2)
    assert model.log10_lr(case_pairs(a, b, design), design)[0] == pytest.approx(np.log10(expected), rel=1e-6)


def test_the_levels_are_recovered():
    rng = np.random.default_rng(5)
    model = ThreeLevelModel().fit(sources_of(make_glass(300, 4, 3, rng, fragment=0.02, replicate=0.01)))
    assert np.sqrt(np.diag(model.levels_.fragment)) == pytest.approx(0.02, rel=0.15)
    assert np.sqrt(np.diag(model.levels_.replicate)) == pytest.approx(0.01, rel=0.1)


def test_a_source_of_the_background_is_left_out_of_the_density_of_sources(rng):
    sources = [list(rng.normal(size=(1, 1, 2)) + 0.1 * rng.normal(size=(3, 1, 2))) for _ in range(31)]
    design = Design(2)
    model = ThreeLevelModel().fit(sources)
    pairs = same_source_pairs(sources, design, rng)
    before, seen = (ratios(pairs, design) for ratios in (model.held_out_log10_lr, model.log10_lr))
    model.sources_[0] += 1.0
    after, moved = (ratios(pairs, design) for ratios in (model.held_out_log10_lr, model.log10_lr))
    own = pairs.source == 0
    np.testing.assert_allclose(before[own], after[own], atol=1e-6)
    assert (np.abs(seen - moved)[own] > 0.01).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_fragment_unlike_any_source_is_no_evidence_for_a_common_one(seed):
    from benchmarks.panes import make_panes

    rng, design = np.random.default_rng(seed), Design(3, 1, 5, 5)
    panes, _ = make_panes(46, 10, rng, 6, 5)
    model = ThreeLevelModel().fit([list(pane) for pane in panes[1:]])
    a, b = panes[0][:3].mean(axis=(0, 1)), panes[0][3].mean(axis=0)
    step = np.sqrt(np.diag(model.levels_.fragment)) * np.sign(rng.normal(size=10))
    found = [model.log10_lr(case_pairs(a, b + t * step, design), design)[0] for t in (0, 20, 50, 100, 1_000)]
    assert found[0] > 1
    assert max(found[1:]) < -1
    assert (np.diff(found) < 0).all()


def test_a_difference_in_what_hardly_differs_between_sources_is_none_either():
    from benchmarks.panes import make_panes

    rng, design = np.random.default_rng(3), Design(10, 1, 5, 5)
    panes, _ = make_panes(33, 18, rng, 12, 5)
    model = ThreeLevelModel().fit([list(pane) for pane in panes[1:]])
    a, b = panes[0][:10].mean(axis=(0, 1)), panes[0][10].mean(axis=0)
    within = model.levels_.fragment + model.levels_.replicate / 5
    steps = within @ eigh(model.between_, within)[1]  # the first is that in which sources differ least
    steps /= np.sqrt(np.diag(steps.T @ np.linalg.solve(within, steps)))
    found = [model.log10_lr(case_pairs(a, b + t * steps[:, 0], design), design)[0] for t in (0, 100, 300, 1_000)]
    assert found[0] > 1
    assert max(found[1:]) < -1
