"""Calibration of samples in the order of time, and what fit says about them."""

import io
import warnings

import numpy as np
import pytest
from scipy.signal import lfilter

from transvariation import CalibratedOCC, NeighborTOCC, load, save
from transvariation.baselines import GaussianOCC
from transvariation.exceptions import OrderedScores
from transvariation.ordered import neighbor_excess


def autoregression(rng, n, rho, p=5):
    noise = rng.normal(size=(n + 300, p)) * np.sqrt(1 - rho**2)
    return lfilter([1], [1, -rho], noise, axis=0)[300:]


def rejected_later(classifier, rho, n, runs):
    shares = []
    for seed in range(runs):
        series = autoregression(np.random.default_rng([seed, n]), n + 1_000, rho)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OrderedScores)
            shares.append(np.mean(classifier.fit(series[:n]).predict(series[n:]) == -1))
    return np.mean(shares), np.std(shares) / np.sqrt(runs)


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.7, 0.95])
def test_blocks_keep_the_rate_where_others_exceed_it(rho):
    share, error = rejected_later(GaussianOCC(calibration="blocks"), rho, 500, 30)
    assert abs(share - 0.1) <= 0.03 + 2 * error
    if rho == 0.95:
        assert rejected_later(NeighborTOCC(), rho, 500, 5)[0] > 0.5


def test_blocks_count_correlated_neighbors_as_one():
    series = autoregression(np.random.default_rng(0), 400, 0.95)
    report = NeighborTOCC(calibration="blocks").fit(series).coverage_report()
    assert report.unit == "blocks"
    assert 10 < report.n < 120
    assert "contiguous folds with a gap" in report.guarantee
    independent = NeighborTOCC(calibration="blocks").fit(np.random.default_rng(0).normal(size=(400, 5)))
    assert independent.coverage_report().n > 300


def test_blocks_work_with_pipelines_and_in_model_files():
    series = autoregression(np.random.default_rng(1), 200, 0.8, 2)
    classifier = CalibratedOCC(GaussianOCC(), calibration="blocks").fit(series)
    save(classifier, file := io.BytesIO())
    np.testing.assert_array_equal(load(file).p_values(series), classifier.p_values(series))
    assert load(file).coverage_report() == classifier.coverage_report()


def test_fit_warns_of_ordered_rows_only():
    rng = np.random.default_rng(2)
    with pytest.warns(OrderedScores, match='calibration="blocks"'):
        NeighborTOCC().fit(autoregression(rng, 500, 0.95))
    items = np.repeat(rng.normal(size=(40, 3)), 5, axis=0) + 0.05 * rng.normal(size=(200, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NeighborTOCC().fit(items, groups=np.repeat(np.arange(40), 5))
        NeighborTOCC(calibration="blocks").fit(autoregression(rng, 500, 0.95))
        for _ in range(50):
            NeighborTOCC().fit(rng.standard_t(2, size=(60, 3)))


def warns_of_order(X, groups=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        GaussianOCC(calibration="cv").fit(X, groups=groups)
    return any(each.category is OrderedScores for each in caught)


@pytest.mark.parametrize(("rho", "n"), [(0.95, 50), (0.95, 100), (0.7, 60)])
def test_fit_warns_of_a_short_series_by_its_features(rho, n):
    rng = np.random.default_rng(3)
    assert np.mean([warns_of_order(autoregression(rng, n, rho)) for _ in range(20)]) >= 0.95
    gappy = autoregression(rng, n, rho)
    gappy[rng.random(gappy.shape) < 0.1] = np.nan
    with pytest.warns(OrderedScores, match="neighboring rows are more alike than others"):
        NeighborTOCC().fit(gappy)


def test_fit_does_not_warn_of_sorted_rows_nor_of_one_class_after_another():
    rng = np.random.default_rng(4)
    for _ in range(10):
        rows = rng.normal(size=(100, 4))
        assert not warns_of_order(rows)
        assert not warns_of_order(rows[np.argsort(rows[:, 0])])
        assert not warns_of_order(rows + 3 * (np.arange(100) // 34)[:, None])
    replicates = np.repeat(rng.normal(size=(60, 4)), 3, axis=0) + 0.1 * rng.normal(size=(180, 4))
    assert warns_of_order(replicates)
    assert not warns_of_order(replicates, np.repeat(np.arange(60), 3))
    series = np.repeat(autoregression(rng, 60, 0.95), 3, axis=0) + 0.1 * rng.normal(size=(180, 5))
    assert warns_of_order(series, np.repeat(np.arange(60), 3))


def test_excess_is_compared_with_all_orders_of_the_rows():
    rng = np.random.default_rng(5)
    X = rng.exponential(size=(30, 3)) @ rng.normal(size=(3, 3))
    drawn = np.array([neighbor_excess(X[rng.permutation(30)]) for _ in range(3_000)])
    assert drawn[:, 1].mean() == pytest.approx(0, abs=0.08)
    assert drawn[:, 1].std() == pytest.approx(1, abs=0.06)
    assert drawn[:, 0] == pytest.approx(drawn[:, 1] * drawn[0, 0] / drawn[0, 1])  # the variance is the same for all


def test_blocks_take_no_groups():
    with pytest.raises(ValueError, match="and no groups"):
        NeighborTOCC(calibration="blocks").fit(np.random.default_rng(0).normal(size=(40, 2)), groups=np.arange(40) // 2)
