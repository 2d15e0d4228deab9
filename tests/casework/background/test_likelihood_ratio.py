"""Likelihood ratios: a closed form, calibration, bounds and the measures of performance."""

import numpy as np
import pytest
from tests.casework.conftest import make_glass, sources_of

from transvariation.casework.background.likelihood_ratio import calibrated_ratio
from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import Design, different_source_pairs, same_source_pairs
from transvariation.report.wording.numbers import SCALE, in_words


@pytest.fixture(scope="module")
def background():
    return Background(sources_of(make_glass(60, 4, 3, np.random.default_rng(0), between=0.05)))


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
