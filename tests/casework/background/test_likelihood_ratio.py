"""Likelihood ratios: a closed form, calibration, bounds and the measures of performance."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal as normal
from tests.casework.conftest import make_glass, sources_of

from transvariation.casework.background.likelihood_ratio import (
    SCALE,
    LikelihoodSystem,
    ThreeLevelModel,
    cllr,
    cross_entropy,
    in_words,
    performance,
    recalibrated,
)
from transvariation.casework.background.pairs import Design, different_source_pairs, one_pair, same_source_pairs

pytest.importorskip("lir")


@pytest.fixture(scope="module")
def system():
    return LikelihoodSystem().fit(sources_of(make_glass(60, 4, 3, np.random.default_rng(0), between=0.05)))


def test_the_ratio_is_that_of_joint_normal_densities(rng):
    model = ThreeLevelModel()
    model.fragment_, model.replicate_ = np.array([[0.04, 0.01], [0.01, 0.02]]), 0.01 * np.eye(2)
    model.sources_, model.kernel_ = np.zeros((1, 2)), np.array([[1.0, 0.3], [0.3, 2.0]])
    design = Design(3, 1, 2, 5)
    a, b = rng.normal(size=(2, 2))
    one = (model.fragment_ + model.replicate_ / 2) / 3
    two = model.fragment_ + model.replicate_ / 5
    between = model.kernel_
    joint = np.block([[between + one, between], [between, between + two]])
    same = normal.logpdf(np.append(a, b), np.zeros(4), joint)
    different = normal.logpdf(a, np.zeros(2), between + one) + normal.logpdf(b, np.zeros(2), between + two)
    found = model.log10_lr(one_pair(a, b, design), design)[0]
    assert found == pytest.approx((same - different) / np.log(10), rel=1e-9)


def test_the_levels_are_recovered():
    rng = np.random.default_rng(5)
    model = ThreeLevelModel().fit(sources_of(make_glass(300, 4, 3, rng, fragment=0.02, replicate=0.01)))
    assert np.sqrt(np.diag(model.fragment_)) == pytest.approx(0.02, rel=0.15)
    assert np.sqrt(np.diag(model.replicate_)) == pytest.approx(0.01, rel=0.1)


def test_ratios_separate_sources_and_stay_within_their_bounds(system):
    rng = np.random.default_rng(1)
    design = Design(3, 1, 3, 3)
    ratio = system.calibrate(design)
    fresh = same_source_pairs(sources_of(make_glass(200, 4, 3, rng, between=0.05)), design, rng)
    same, different = (ratio.log10_lr(pairs) for pairs in (fresh, different_source_pairs(fresh, 500, rng)))
    low, high = ratio.performance.bounds
    assert low < 0 < high
    assert (same < 0).mean() <= 0.06
    assert (different > 0).mean() <= 0.1
    assert min(same.min(), different.min()) >= low
    assert max(same.max(), different.max()) <= high
    assert ratio.performance.cllr < 0.3
    assert ratio.performance.cllr_min <= ratio.performance.cllr
    assert ratio.performance.same_below_one == pytest.approx((same < 0).mean(), abs=0.04)


def test_fewer_replicates_weaken_the_evidence(system):
    strong, weak = (system.calibrate(Design(3, 1, r, r)).performance for r in (3, 1))
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
    best = performance(ratios, same, (-2, 2))
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


def test_too_few_sources_are_refused(rng):
    with pytest.raises(ValueError, match=r"20 sources .* needs at least 30"):
        LikelihoodSystem().fit(sources_of(make_glass(20, 3, 1, rng)))
