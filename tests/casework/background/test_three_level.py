"""The three-level model: a closed form, and levels that are recovered."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal as normal
from tests.casework.conftest import make_glass, sources_of

from transvariation.casework.background.pairs import Design, one_pair, same_source_pairs
from transvariation.casework.background.three_level import Levels, ThreeLevelModel


def test_the_ratio_is_that_of_joint_normal_densities(rng):
    model = ThreeLevelModel()
    levels = model.levels_ = Levels(np.array([[0.04, 0.01], [0.01, 0.02]]), 0.01 * np.eye(2))
    model.sources_, model.kernel_ = np.zeros((1, 2)), np.array([[1.0, 0.3], [0.3, 2.0]])
    model.kernel_freedom_ = np.inf
    design = Design(3, 1, 2, 5)
    a, b = rng.normal(size=(2, 2))
    one = (levels.fragment + levels.replicate / 2) / 3
    two = levels.fragment + levels.replicate / 5
    between = model.kernel_
    joint = np.block([[between + one, between], [between, between + two]])
    same = normal.logpdf(np.append(a, b), np.zeros(4), joint)
    different = normal.logpdf(a, np.zeros(2), between + one) + normal.logpdf(b, np.zeros(2), between + two)
    found = model.log10_lr(one_pair(a, b, design), design)[0]
    assert found == pytest.approx((same - different) / np.log(10), rel=1e-9)


def test_the_levels_are_recovered():
    rng = np.random.default_rng(5)
    model = ThreeLevelModel().fit(sources_of(make_glass(300, 4, 3, rng, fragment=0.02, replicate=0.01)))
    assert np.sqrt(np.diag(model.levels_.fragment)) == pytest.approx(0.02, rel=0.15)
    assert np.sqrt(np.diag(model.levels_.replicate)) == pytest.approx(0.01, rel=0.1)
    assert model.levels_.freedom == np.inf


def test_heavy_tails_within_sources_are_recognised():
    rng = np.random.default_rng(6)
    scales = np.sqrt(2 / rng.chisquare(4, size=(200, 1, 1, 1)))
    sources = rng.normal(size=(200, 1, 1, 3)) + 0.1 * scales * rng.normal(size=(200, 6, 1, 3))
    assert ThreeLevelModel().fit([list(source) for source in sources]).levels_.freedom in (3, 4, 5)


def test_a_source_of_the_background_is_left_out_of_the_density_of_sources(rng):
    sources = [list(rng.normal(size=(1, 1, 2)) + 0.1 * rng.normal(size=(3, 1, 2))) for _ in range(31)]
    design = Design(2)
    model, without = ThreeLevelModel().fit(sources), ThreeLevelModel().fit(sources)
    without.sources_ = model.sources_[1:]
    pairs = same_source_pairs(sources, design, rng).at(np.arange(93) == 0)
    assert pairs.source[0] == 0
    alone = one_pair(pairs.known[0], pairs.questioned[0], design)
    model.held_out_levels_[0] = model.levels_
    assert model.held_out_log10_lr(pairs, design)[0] == pytest.approx(without.log10_lr(alone, design)[0], abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_a_fragment_unlike_any_source_is_no_evidence_for_a_common_one(seed):
    from benchmarks.panes import make_panes

    rng, design = np.random.default_rng(seed), Design(3, 1, 5, 5)
    panes, _ = make_panes(46, 10, rng, 6, 5)
    model = ThreeLevelModel().fit([list(pane) for pane in panes[1:]])
    assert model.kernel_freedom_ <= model.levels_.freedom < 10  # heavy tails within panes, normal ones between them
    a, b = panes[0][:3].mean(axis=(0, 1)), panes[0][3].mean(axis=0)
    step = np.sqrt(np.diag(model.levels_.fragment)) * np.sign(rng.normal(size=10))
    found = [model.log10_lr(one_pair(a, b + t * step, design), design)[0] for t in (0, 20, 50, 100, 1_000)]
    assert found[0] > 1
    assert max(found[1:]) < -1
    assert (np.diff(found) < 0).all()
