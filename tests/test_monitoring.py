"""Charts of a process over time: statistics, limits, alarms and contributions."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from sklearn.covariance import EmpiricalCovariance
from sklearn.decomposition import PCA

from transvariation.datasets import make_plant
from transvariation.datasets.plant import FAULTS
from transvariation.monitoring import MonitoringResult, _joint_limits, _Model, _runs, monitor


class Distance(EmpiricalCovariance):
    """The Mahalanobis distance as a score: fast."""

    def score_samples(self, X):
        return -self.mahalanobis(X)


@pytest.fixture(scope="module")
def runs():
    return make_plant(500, random_state=0), make_plant(300, fault=2, onset=160, random_state=1)


@pytest.fixture(scope="module")
def result(runs):
    return monitor(*runs, classifier=Distance())


def test_statistics_are_those_of_scikit_learn(runs, result):
    normal, new = runs
    # The package scales by the standard deviation with divisor n - 1.
    rows = (new - normal.mean()) / normal.std()
    pca = PCA(result.n_components).fit(((normal - normal.mean()) / normal.std()).to_numpy())
    t = pca.transform(rows.to_numpy())
    np.testing.assert_allclose(result.chart("T2").new, (t**2 / pca.explained_variance_).sum(axis=1), rtol=1e-8)
    q = ((rows.to_numpy() - pca.inverse_transform(t)) ** 2).sum(axis=1)
    np.testing.assert_allclose(result.chart("Q").new, q, rtol=1e-6)
    assert result.explained == pytest.approx(pca.explained_variance_ratio_.sum())


def test_limits_are_exceeded_by_the_share_asked_for_jointly():
    rows = np.random.default_rng(5).normal(size=(999, 4))
    independent = monitor(rows, rows[:9], classifier=Distance(), n_components=2, false_alarm=0.05)
    assert independent.n_independent > 700
    assert independent.flagged_normal.mean() == pytest.approx(0.05, abs=0.01)


def test_a_normal_run_that_is_too_short_says_so(result):
    assert result.n_independent < 99  # of 500 rows that resemble each other
    assert not result.flagged_normal.any()
    assert result.supported_false_alarm == pytest.approx(1 / (result.n_independent + 1))


def test_joint_limits_by_hand():
    held_out = np.array([[9.0, 1, 1], [8, 1, 1], [1, 9, 1], [1, 8, 1], [1, 1, 9], [2, 2, 2], [0, 0, 0]])
    # One row beyond each limit makes three flagged rows, two make six, which are all but the last row.
    np.testing.assert_array_equal(_joint_limits(held_out, 3), [8, 8, 2])
    np.testing.assert_array_equal(_joint_limits(held_out, 5), [8, 8, 2])
    np.testing.assert_array_equal(_joint_limits(held_out, 2), [9, 9, 9])
    np.testing.assert_array_equal(_joint_limits(held_out, 6), [0, 0, 0])


def test_runs_by_hand():
    flagged = np.array([0, 1, 1, 0, 1, 1, 1, 0, 0, 1], dtype=bool)
    assert list(_runs(flagged, 1)) == [(1, 2), (4, 6), (9, 9)]
    assert list(_runs(flagged, 3)) == [(4, 6)]


def test_a_fault_is_found_soon_and_its_variable_is_named(result):
    alarm = next(a for a in result.alarms if a.raised >= 160)
    assert alarm.raised <= 175
    assert next(iter(alarm.contributions)) == "cooling water temperature"
    assert sum(alarm.contributions.values()) == pytest.approx(1, abs=0.01)
    assert set(alarm.charts) <= {"score", "T2", "Q"}
    assert not any(a.raised < 160 for a in result.alarms)


@pytest.mark.parametrize("chart", [1, 2])
def test_contributions_are_what_the_best_replacement_of_a_variable_removes(runs, chart):
    normal, new = runs
    model = _Model.fit(normal.to_numpy(), 6, Distance())
    row = new.to_numpy()[200:201]
    limits = np.array([np.inf, np.inf, np.inf])
    limits[chart] = 1e-6  # this chart alone flags the row
    shares = model.contributions(row, model.statistics(row), limits)
    gained = []
    for j in range(row.shape[1]):

        def index(value, j=j):
            changed = row.copy()
            changed[0, j] = model.center[j] + model.scale[j] * value
            return model.statistics(changed)[0, chart]

        gained.append(model.statistics(row)[0, chart] - minimize_scalar(index, bounds=(-50, 50), method="bounded").fun)
    np.testing.assert_allclose(shares, np.array(gained) / sum(gained), atol=1e-5)


def test_textbook_limits_hold_for_independent_normal_rows():
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(8, 8))
    normal, new = rng.normal(size=(2000, 8)) @ mixing, rng.normal(size=(20_000, 8)) @ mixing
    result = monitor(normal, new, classifier=Distance(), n_components=4, false_alarm=0.05)
    for name in ("T2", "Q"):
        chart = result.chart(name)
        assert np.mean(np.array(chart.new) > chart.textbook_limit) == pytest.approx(0.05, abs=0.012)
    assert result.flagged.mean() == pytest.approx(0.05, abs=0.015)


def test_lags_show_a_fault_that_single_rows_hide():
    rng = np.random.default_rng(1)

    def series(n, memory):
        x = np.zeros(n)
        for i in range(1, n):
            x[i] = memory * x[i - 1] + np.sqrt(1 - memory**2) * rng.normal()
        return np.column_stack([x, rng.normal(size=n)])

    normal, changed = series(1500, 0.95), series(600, -0.95)  # the same distribution of each row
    at_once = monitor(normal, changed, classifier=Distance(), n_components=1).flagged.mean()
    lagged = monitor(normal, changed, classifier=Distance(), n_components=3, lags=1)
    assert lagged.labels[0] == "1"
    assert at_once < 0.05
    assert lagged.flagged.mean() > 0.3


def test_missing_values_are_no_evidence(runs):
    normal, new = (frame.copy() for frame in runs)
    new = new[:160]
    complete = monitor(normal, new, classifier=Distance())
    gaps = new.mask(np.random.default_rng(2).uniform(size=new.shape) < 0.1)
    with_gaps = monitor(
        normal.mask(np.random.default_rng(3).uniform(size=normal.shape) < 0.05), gaps, classifier=Distance()
    )
    assert with_gaps.flagged.mean() <= complete.flagged.mean() + 0.03
    assert np.isfinite([chart.new for chart in with_gaps.charts]).all()


def test_result_survives_json(result):
    again = MonitoringResult.from_dict(json.loads(json.dumps(result.to_dict())))
    assert again == result


def test_labels_of_a_frame_are_kept(runs):
    normal, new = runs
    days = pd.date_range("2026-01-01", periods=len(new), freq="3min")
    named = monitor(normal, new.set_index(days), classifier=Distance())
    assert named.labels[0] == "2026-01-01 00:00:00"


def test_wrong_input_is_named(runs):
    normal, new = runs
    with pytest.raises(ValueError, match="variables of the two runs differ: feed flow"):
        monitor(normal.drop(columns="feed flow"), new)
    with pytest.raises(ValueError, match=r"false_alarm=0\.001 needs at least 999 normal rows; there are 500"):
        monitor(normal, new, false_alarm=0.001)
    with pytest.raises(ValueError, match="run=0"):
        monitor(normal, new, run=0)
    with pytest.raises(ValueError, match="variable 'feed flow' has fewer than 2 values outside rows 1 to 50"):
        monitor(normal.assign(**{"feed flow": np.nan}), new)
    with pytest.raises(ValueError, match="variable 'feed flow' has fewer than 2 values outside rows 451 to 500"):
        monitor(normal.assign(**{"feed flow": normal["feed flow"][450:]}), new)
    with pytest.raises(ValueError, match="fault=9 is unknown"):
        make_plant(10, fault=9)
    with pytest.raises(ValueError, match="chart 'SPE' is unknown; choose one of score, T2, Q"):
        monitor(normal, new, classifier=Distance()).chart("SPE")


def test_the_plant_is_repeatable_and_under_control():
    first, again = make_plant(50, random_state=3), make_plant(50, random_state=3)
    pd.testing.assert_frame_equal(first, again)
    longer = make_plant(400, fault=7, onset=100, random_state=4)
    # The controller hides the bias of the thermometer: its reading stays at the set point.
    assert longer["reactor temperature"][150:].mean() == pytest.approx(340, abs=0.3)


@pytest.mark.slow
def test_normal_runs_of_the_plant_are_flagged_at_about_the_share_asked_for():
    calibrated, textbook = [], []
    for seed in range(8):
        result = monitor(
            make_plant(800, random_state=seed), make_plant(400, random_state=100 + seed), classifier=Distance()
        )
        calibrated.append(result.flagged.mean())
        textbook.append(np.mean(np.any([np.array(c.new) > c.textbook_limit for c in result.charts[1:]], axis=0)))
    assert np.mean(calibrated) < 0.02
    assert np.mean(textbook) > 3 * np.mean(calibrated)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [2, 3, 4, 5, 7, 8])
def test_faults_of_the_plant_are_found(fault):
    normal, new = make_plant(800, random_state=0), make_plant(700, fault, random_state=1)
    result = monitor(normal, new, classifier=Distance())
    assert any(alarm.raised >= 160 for alarm in result.alarms), FAULTS[fault]


def test_a_constant_variable_contributes_nothing():
    normal, new = make_plant(200, random_state=0), make_plant(120, fault=2, onset=60, random_state=1)
    result = monitor(normal.assign(constant=1.0), new.assign(constant=1.0))
    assert result.alarms
    for alarm in result.alarms:
        assert sum(alarm.contributions.values()) == pytest.approx(1, abs=0.01)
        assert "constant" not in alarm.contributions
    with pytest.raises(ValueError, match="lags=120 needs more rows"):
        monitor(normal, new, lags=120)
