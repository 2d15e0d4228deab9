import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import VarianceThreshold

from transvariation import VIPSelector, load_glass, selection_stability

LIGHT = VIPSelector(2, kappa=0.5, n_projections=15, n_candidates=10)


def test_counts_over_seeds():
    X = load_glass().control
    result = selection_stability(LIGHT, X, 12, rng=0)
    assert result.frequency.index.tolist() == X.columns.tolist()
    assert result.frequency["chosen"].sum() == 24
    assert result.sets["chosen"].sum() == 12
    assert result.sets["chosen"].is_monotonic_decreasing
    np.testing.assert_allclose(result.frequency["share"], result.frequency["chosen"] / 12)
    assert result.n_refused == 0


@pytest.mark.parametrize("resample", ["seeds", "bootstrap"])
def test_reproducible(resample):
    X = load_glass().control
    one, two = (selection_stability(LIGHT, X, 6, resample=resample, rng=3) for _ in range(2))
    pd.testing.assert_frame_equal(one.sets, two.sets)


def test_bootstrap_counts_by_hand():
    """The variance of the second variable comes from one object, which a bootstrap sample misses in 1 of e cases."""
    X = np.column_stack([np.arange(50.0), np.r_[np.zeros(49), 1.0]])
    result = selection_stability(VarianceThreshold(), X, 300, resample="bootstrap", rng=0)
    assert result.frequency.index.tolist() == ["x0", "x1"]
    assert result.frequency.loc["x0", "share"] == 1
    assert result.frequency.loc["x1", "share"] == pytest.approx(1 - (1 - 1 / 50) ** 50, abs=0.08)


def test_refused_samples_are_counted():
    X = np.r_[np.zeros(9), 1.0][:, None]
    result = selection_stability(VarianceThreshold(), X, 100, resample="bootstrap", rng=0)
    assert 0 < result.n_refused < 100
    assert result.frequency["chosen"].sum() == 100 - result.n_refused


def test_impossible_requests():
    X = load_glass().control
    with pytest.raises(ValueError, match="VarianceThreshold draws no random numbers"):
        selection_stability(VarianceThreshold(), X)
    with pytest.raises(ValueError, match="resample='jackknife' is unknown"):
        selection_stability(LIGHT, X, resample="jackknife")
    with pytest.raises(ValueError, match="n_repeats=0 must be a positive"):
        selection_stability(LIGHT, X, 0)
    with pytest.raises(ValueError, match="all 3 bootstrap samples were refused"):
        selection_stability(VarianceThreshold(1e9), X, 3, resample="bootstrap")
    with pytest.raises(ValueError, match="n_features_to_select=99"):
        selection_stability(VIPSelector(99), X, 3)


@pytest.mark.slow
def test_any_number_of_workers():
    X = load_glass().control
    one, two = (selection_stability(LIGHT, X, 6, resample="bootstrap", rng=3, n_jobs=n) for n in (1, 2))
    pd.testing.assert_frame_equal(one.frequency, two.frequency)
    pd.testing.assert_frame_equal(one.sets, two.sets)
