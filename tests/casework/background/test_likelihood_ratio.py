"""Likelihood ratios: a closed form, calibration, bounds and the measures of performance."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal as normal
from tests.casework.conftest import make_glass, sources_of

from transvariation.casework.background.likelihood_ratio import calibrated_ratio
from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import Design, different_source_pairs, one_pair, same_source_pairs
from transvariation.casework.background.performance import (
    Unseen,
    cllr,
    cross_entropy,
    elub,
    measure_performance,
    recalibrated,
)
from transvariation.casework.background.three_level import Levels, ThreeLevelModel
from transvariation.report.wording import SCALE, in_words


@pytest.fixture(scope="module")
def background():
    return Background(sources_of(make_glass(60, 4, 3, np.random.default_rng(0), between=0.05)))


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


def test_bounds_are_those_of_lir(rng):
    bayeserror = pytest.importorskip("lir.algorithms.bayeserror")
    for spread in (0.5, 1.0, 3.0):
        same = np.arange(400) < 150
        ratios = np.where(same, 1, -1) + rng.normal(0, spread, 400)
        assert elub(ratios, same) == pytest.approx(bayeserror.elub(ratios.copy(), same.astype(int)), abs=1e-9)


def test_ratios_separate_sources_and_stay_within_their_bounds(background):
    rng = np.random.default_rng(1)
    design = Design(3, 1, 3, 3)
    ratio = background.calibrated(design)
    unseen = sources_of(make_glass(200, 4, 3, rng, between=0.05))
    fresh = same_source_pairs([[background.stabilizer.transform(x) for x in s] for s in unseen], design, rng)
    others = different_source_pairs(fresh, rng, 500)
    same, different = (ratio.log10_lr(pairs) for pairs in (fresh, others))
    low, high = ratio.performance.bounds
    assert low < 0 < high
    assert (same < 0).mean() <= 0.06
    assert np.average(different > 0, weights=others.weight) <= 0.1
    assert min(same.min(), different.min()) >= low
    assert max(same.max(), different.max()) <= high
    assert ratio.performance.cllr < 0.3
    assert ratio.performance.cllr_min <= ratio.performance.cllr
    assert ratio.performance.same_below_one.share == pytest.approx((same < 0).mean(), abs=0.04)


def test_fewer_replicates_weaken_the_evidence(background):
    strong, weak = (background.calibrated(Design(3, 1, r, r)).performance for r in (3, 1))
    assert strong.cllr < weak.cllr


def test_cllr_by_hand():
    same = np.array([True, False])
    assert cllr(np.zeros(2), same) == pytest.approx(1)
    assert cllr(np.array([np.log10(3), -np.log10(3)]), same) == pytest.approx(np.log2(4 / 3))


def test_cross_entropy_at_even_odds_is_cllr(rng):
    same = np.arange(40) < 20
    ratios = np.where(same, 1, -1) + rng.normal(size=40)
    ece = cross_entropy(ratios, same)
    assert ece[len(ece) // 2] == pytest.approx(cllr(ratios, same))
    pairs = Unseen(same, np.arange(40), np.arange(40), np.full(40, 1 / 40), np.zeros(40, dtype=int))
    best = measure_performance(ratios, pairs, (-2, 2))
    assert best.cllr_min == pytest.approx(cllr(recalibrated(ratios, same), same))
    assert max(np.array(best.ece["recalibrated"]) - best.ece["reference"]) <= 1e-9


@pytest.mark.parametrize(
    ("log10_lr", "words"),
    [
        (0.2, "no support for either proposition"),
        (0.5, "weak support for a common source"),
        (-1.5, "moderate support for different sources"),
        (7, "extremely strong support for a common source"),
    ],
)
def test_the_verbal_scale(log10_lr, words):
    assert in_words(log10_lr) == words
    assert len(SCALE) == 7


def test_scores_are_combined_as_a_likelihood_ratio_of_normals(rng):
    # For normal scores with equal variances the log ratio is linear, with known slopes.
    same = np.arange(40_000) < 20_000
    scores = rng.normal(size=(40_000, 2)) + np.where(same, 1, -1)[:, None] * [0.5, 0.25]
    calibrate = calibrated_ratio(scores, same, np.ones(40_000))
    at = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert calibrate(at) * np.log(10) == pytest.approx([0, 1, 0.5], abs=0.05)


def test_a_score_that_points_the_wrong_way_is_not_used(rng):
    same = np.arange(2_000) < 1_000
    scores = np.column_stack([rng.normal(size=2_000) + same, rng.normal(size=2_000) - same])
    calibrate = calibrated_ratio(scores, same, np.ones(2_000))
    assert calibrate(np.array([[0.0, 5.0]])) == calibrate(np.array([[0.0, -5.0]]))


@pytest.mark.slow
def test_the_seed_does_not_decide():
    from benchmarks.panes import make_panes

    panes, _ = make_panes(60, 8, np.random.default_rng(3))
    sources, design = [list(pane) for pane in panes], Design(3, 1, 5, 5)
    models = [Background(sources[:45], seed) for seed in range(2)]
    ratios = [model.calibrated(design) for model in models]
    unseen = [[models[0].stabilizer.transform(x) for x in source] for source in sources[45:]]
    pairs = same_source_pairs(unseen, design, np.random.default_rng(0))
    found = np.array([ratio.log10_lr(pairs) for ratio in ratios])
    assert np.ptp(found, axis=0).max() <= 0.05
    assert np.ptp([ratio.performance.bounds for ratio in ratios], axis=0).max() <= 0.05
    assert 0 < np.median(ratios[0].errors(pairs)) < 0.05


def test_all_comparisons_of_a_small_background_leave_no_monte_carlo_error(background):
    ratio = background.calibrated(Design(3, 1, 3, 3))
    others, _ = background.others(Design(3, 1, 3, 3))
    assert len(others.source) == 60 * 59 * 4 * 4
    assert ratio.errors(ratio.differences.pairs_).max() == 0
    assert background.calibrated(Design(3, 1, 1, 1)).errors(ratio.differences.pairs_).max() > 0


def test_too_few_sources_give_no_ratio(rng):
    assert Background(sources_of(make_glass(20, 3, 1, rng))).calibrated(Design(2)) is None
