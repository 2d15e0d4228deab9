"""Measures of likelihood ratios: by hand, and the bounds of lir."""

import numpy as np
import pytest

from transvariation.casework.background.performance import (
    Unseen,
    cllr,
    cross_entropy,
    elub,
    measure_performance,
    recalibrated,
)


def test_bounds_are_those_of_lir(rng):
    bayeserror = pytest.importorskip("lir.algorithms.bayeserror")
    for spread in (0.5, 1.0, 3.0):
        same = np.arange(400) < 150
        ratios = np.where(same, 1, -1) + rng.normal(0, spread, 400)
        assert elub(ratios, same) == pytest.approx(bayeserror.elub(ratios.copy(), same.astype(int)), abs=1e-9)


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
