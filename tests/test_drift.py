"""The drift alarm keeps its rate of false alarms and finds changes equally fast at any time."""

import copy
import pickle

import numpy as np
import pytest
from scipy.stats import kstest

from transvariation import TOCC, DriftAlarm


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
    alarm = DriftAlarm(np.arange(100.0), random_state=0).update(np.full(50, -1.0))
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


def test_reference_may_be_empty():
    scores = TOCC().fit(np.arange(20.0)[:, None]).score_samples(np.arange(20.0)[:, None])
    assert len(DriftAlarm([], random_state=0).update(scores).p_values_) == 20
    assert len(DriftAlarm([]).update([]).p_values_) == 0
