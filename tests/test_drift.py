"""The drift alarm keeps its rate of false alarms and finds changes equally fast at any time."""

import copy
import io
import pickle

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import kstest

from transvariation import TOCC, DriftAlarm, load, save
from transvariation.exceptions import OrderedScores
from transvariation.ordered import block_folds, correlation_time, warn_if_ordered


def test_false_alarm_guarantees_hold_while_nothing_changes():
    rng = np.random.default_rng(0)
    first, p, n_runs = [], [], 400
    for _ in range(n_runs):
        alarm = DriftAlarm(np.round(rng.normal(size=20), 1), false_alarm=0.02, random_state=rng)  # many ties
        while not alarm.alarm_:
            alarm.update(np.round(rng.normal(size=25), 1))
        first.append(alarm.alarm_at_ + 1)
        p.append(alarm.p_values_[[3, 20]])
    assert kstest(np.ravel(p), "uniform").pvalue > 0.001
    assert np.mean(first) > 50 - 3 * np.std(first) / np.sqrt(n_runs)  # mean run length at least 1 / false_alarm
    for n in (5, 10, 20):  # at most N * false_alarm within N objects
        assert np.mean(np.array(first) <= n) <= 0.02 * n + 3 * np.sqrt(0.02 * n / n_runs)


def test_evidence_minus_number_of_objects_is_a_fair_game():
    rng = np.random.default_rng(1)
    evidence = [
        10 ** DriftAlarm(rng.normal(size=20), random_state=rng).update(rng.normal(size=12)).log10_evidence_[-1]
        for _ in range(2_000)
    ]
    assert abs(np.mean(evidence) - 12) < 4 * np.std(evidence) / np.sqrt(len(evidence))


@pytest.mark.slow
def test_delay_after_50_000_quiet_objects_is_at_most_twice_that_at_the_start():
    rng = np.random.default_rng(2)

    def delay(alarm):
        n_before = len(alarm.p_values_)
        after = alarm.update(rng.normal(-0.7, 1, size=400)).log10_evidence_[n_before:]
        assert after.max() >= 3
        return np.argmax(after >= 3) + 1  # the level of false_alarm=0.001

    at_start = [delay(DriftAlarm(rng.normal(size=500), random_state=rng)) for _ in range(20)]
    quiet = DriftAlarm(rng.normal(size=500), random_state=rng).update(rng.normal(size=50_000))
    later = [delay(copy.deepcopy(quiet).update(rng.normal(size=50))) for _ in range(20)]
    assert np.mean(later) <= 2 * np.mean(at_start)
    assert np.mean(at_start) < 60


def test_statistic_computed_by_hand():
    alarm = DriftAlarm([1.0, 2.0, 3.0], random_state=0)
    u = np.random.default_rng(0).uniform(size=2)
    alarm.update([0.0]).update([2.0])
    p = [(0 + u[0]) / 4, (2 + u[1] * 2) / 5]  # scores below, and those equal including its own, of all so far
    np.testing.assert_allclose(alarm.p_values_, p)
    bets = np.array([-1.5, -0.75, 0.75, 1.5])
    first = 1 + bets * (p[0] - 0.5)
    second = (1 + first) * (1 + bets * (p[1] - 0.5))
    np.testing.assert_allclose(alarm.log10_evidence_, np.log10([first.mean(), second.mean()]))


@pytest.mark.parametrize("shift", [2.0, -2.0])
def test_shift_raises_the_alarm(shift):
    rng = np.random.default_rng(1)
    alarm = DriftAlarm(rng.normal(size=500), random_state=1).update(rng.normal(size=200))
    assert not alarm.alarm_
    alarm.update(rng.normal(shift, 1, size=60))
    assert 200 <= alarm.alarm_at_ < 230


def test_evidence_long_after_a_change_stays_finite():
    alarm = DriftAlarm(np.zeros(100_000), random_state=0).update(np.full(3_000, -1.0))
    assert alarm.log10_evidence_[-1] > 308
    assert np.isfinite(alarm.log10_evidence_).all()


def test_reset_starts_the_evidence_again_and_keeps_the_scores():
    reference = np.random.default_rng(0).permutation(np.arange(100.0))
    alarm = DriftAlarm(reference, random_state=0).update(np.full(50, -1.0))
    assert alarm.alarm_
    alarm.reset()
    assert not alarm.alarm_
    alarm.update([50.0])
    assert alarm.log10_evidence_[-1] < 1
    assert len(alarm.p_values_) == 51


@pytest.mark.parametrize("n_reference", [0, 5, 900])
@pytest.mark.parametrize("batch", [1, 37, 1_000])
def test_p_values_equal_the_plain_count_for_any_batches(n_reference, batch):
    scores = np.round(np.random.default_rng(4).normal(size=1_000), 2)  # with ties
    scores[[3, 200]], scores[[5, 300]], scores[::90] = np.inf, -np.inf, -0.0
    reference, u = np.round(np.random.default_rng(5).normal(size=n_reference), 2), np.random.default_rng(6)
    alarm = DriftAlarm(reference, random_state=6)
    for start in range(0, len(scores), batch):
        alarm.update(scores[start : start + batch])
    seen = np.concatenate([reference, scores])
    expected = []
    for n, score in enumerate(scores, start=n_reference):
        below, equal = np.sum(seen[:n] < score), np.sum(seen[:n] == score)
        expected.append((below + u.uniform() * (equal + 1)) / (n + 1))
    np.testing.assert_array_equal(alarm.p_values_, expected)
    together = DriftAlarm(reference, random_state=6).update(scores)
    np.testing.assert_array_equal(alarm.log10_evidence_, together.log10_evidence_)
    assert alarm.alarm_at_ == together.alarm_at_


def test_copy_continues_where_the_alarm_was():
    scores = np.random.default_rng(8).normal(size=600)
    alarm = DriftAlarm(scores[:50], random_state=9).update(scores[:400])
    for again in (pickle.loads(pickle.dumps(alarm)), copy.deepcopy(alarm)):
        again.update(scores[400:])
        np.testing.assert_array_equal(again.p_values_, DriftAlarm(scores[:50], random_state=9).update(scores).p_values_)


def test_invalid_input_is_refused():
    with pytest.raises(ValueError, match="reference must be numbers"):
        DriftAlarm([0.1, np.nan])
    with pytest.raises(ValueError, match=r"got shape \(1, 2\)"):
        DriftAlarm([0.1]).update([[0.1, 0.2]])
    with pytest.raises(ValueError, match="false_alarm=1"):
        DriftAlarm([0.1], false_alarm=1)
    with pytest.raises(ValueError, match="3 reference scores are not one block of 5"):
        DriftAlarm([0.1, 0.2, 0.3], block_length=5)


def test_reference_may_be_empty():
    scores = TOCC().fit(np.arange(20.0)[:, None]).score_samples(np.arange(20.0)[:, None])
    assert len(DriftAlarm([], random_state=0).update(scores).p_values_) == 20
    assert len(DriftAlarm([]).update([]).p_values_) == 0


def autoregression(rng, n, rho, p=1):
    noise = rng.normal(size=(n + 300, p)) * np.sqrt(1 - rho**2)
    return lfilter([1], [1, -rho], noise, axis=0)[300:]


def test_restarts_list_every_change_and_when_it_began():
    rng = np.random.default_rng(3)
    stream = np.concatenate([rng.normal(size=300), rng.normal(-3, 1, size=40), rng.normal(size=400)])
    alarm = DriftAlarm(rng.normal(size=500), restart=True, random_state=0).update(stream)
    assert 300 <= alarm.alarms_[0].at < 320
    assert abs(alarm.alarms_[0].since - 300) < 10
    assert [each.at for each in alarm.alarms_] == sorted(each.at for each in alarm.alarms_)
    assert all(each.log10_evidence >= 3 for each in alarm.alarms_)
    assert alarm.alarm_at_ == alarm.alarms_[-1].at
    once = DriftAlarm(alarm._seen[:0], random_state=0).update(stream)
    assert len(once.alarms_) == 1
    assert len(once.reset().alarms_) == 1
    assert not once.alarm_


def test_blocks_stay_quiet_on_autocorrelated_scores_and_find_a_change():
    quiet, found, plain = [], [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        series = autoregression(rng, 4_000, 0.9)[:, 0]
        alarm = DriftAlarm(series[:2_000], block_length="auto", false_alarm=1e-4, random_state=0)
        assert alarm.block_length_ > 20
        quiet.append(alarm.update(series[2_000:]).alarm_)
        found.append(alarm.reset().update(series[2_000:] - 1.5).alarm_)
        with pytest.warns(OrderedScores, match="block_length='auto'"):
            plain.append(DriftAlarm(series[:2_000], false_alarm=1e-4, random_state=0).update(series[2_000:]).alarm_)
    assert np.mean(quiet) <= 2_000 * 1e-4 + 0.1  # the bound for 2,000 objects, and the error of 30 runs
    assert np.mean(found) >= 0.9
    assert np.mean(plain) >= 0.9


def test_blocks_are_the_same_for_any_batches():
    scores = np.random.default_rng(1).normal(size=503)
    whole = DriftAlarm(scores[:100], block_length=7, random_state=2).update(scores)
    parts = DriftAlarm(scores[:100], block_length=7, random_state=2)
    for start in range(0, 503, 10):
        parts.update(scores[start : start + 10])
    np.testing.assert_array_equal(whole.p_values_, parts.p_values_)
    assert len(whole.p_values_) == 503 // 7
    assert repr(whole) == repr(parts)
    assert "503 samples in blocks of 7, " in repr(whole)


def test_saved_alarm_continues_where_it_was():
    scores = np.random.default_rng(8).normal(size=600)
    alarm = DriftAlarm(scores[:50], random_state=9).update(scores[:400]).update(np.full(40, -9.0))
    save(alarm, file := io.BytesIO())
    again = load(file)
    assert again.alarms_ == alarm.alarms_
    assert repr(again) == repr(alarm)
    np.testing.assert_array_equal(again.update(scores).log10_evidence_, alarm.update(scores).log10_evidence_)


@pytest.mark.parametrize("rho", [0.0, 0.7, 0.9])
def test_correlation_time_is_that_of_an_autoregression(rho):
    times = [correlation_time(autoregression(np.random.default_rng(seed), 5_000, rho)[:, 0]) for seed in range(10)]
    assert np.mean(times) == pytest.approx((1 + rho) / (1 - rho), rel=0.15)


def test_neighboring_rows_raise_no_warning_unless_they_are_correlated():
    rng = np.random.default_rng(0)
    for _ in range(300):
        warn_if_ordered(rng.standard_cauchy(60))
    with pytest.warns(OrderedScores, match='calibration="blocks"'):
        warn_if_ordered(autoregression(rng, 300, 0.7)[:, 0])
    groups = np.repeat(np.arange(60), 5)
    warn_if_ordered(rng.normal(size=60)[groups] + 0.1 * rng.normal(size=300), groups)  # replicates are alike
    with pytest.warns(OrderedScores, match="neighboring groups"):
        warn_if_ordered(np.sort(rng.normal(size=60))[groups], groups)


def test_folds_are_contiguous_and_keep_a_gap():
    folds = block_folds(103, gap=5)
    np.testing.assert_array_equal(np.concatenate([test for _, test in folds]), np.arange(103))
    for train, test in folds:
        assert np.abs(train[:, None] - test).min() == 6
        assert len(train) >= 103 - len(test) - 10


def test_the_start_of_a_change_maximizes_the_gain_over_all_starts_and_bets():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        alarm = DriftAlarm(rng.normal(size=200), false_alarm=0.01, random_state=seed)
        alarm.update(np.r_[rng.normal(size=60), rng.normal(-1 if seed % 2 else 0.8, 1, size=200)])
        p = alarm.p_values_[: alarm.alarm_at_ + 1]
        gains = [
            [np.log1p(bet * (p[start:] - 0.5)).sum() for start in range(len(p))] for bet in (-1.5, -0.75, 0.75, 1.5)
        ]
        assert alarm.alarms_[0].since == np.unravel_index(np.argmax(gains), np.shape(gains))[1]
