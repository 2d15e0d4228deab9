"""The drift alarm: fair while nothing changes, quick when something does."""

import copy
import pickle

import numpy as np
import pytest
from scipy.stats import kstest

from transvariation import TOCC, DriftAlarm, drift


def test_p_values_are_uniform_and_the_bet_is_fair_while_nothing_changes():
    rng = np.random.default_rng(0)
    final, alarms, p = [], 0, []
    for _ in range(1_000):
        watch = DriftAlarm(np.round(rng.normal(size=20), 1), false_alarm=0.05, random_state=rng)  # many ties
        watch.update(np.round(rng.normal(size=60), 1))
        final.append(10 ** watch.log10_evidence_[29])
        alarms += watch.alarm_
        p.append(watch.p_values_[[3, 59]])
    assert kstest(np.ravel(p), "uniform").pvalue > 0.001
    assert abs(np.mean(final) - 1) < 4 * np.std(final) / np.sqrt(len(final))
    assert alarms <= 0.05 * 1_000 + 3 * np.sqrt(1_000 * 0.05 * 0.95)


def test_by_hand():
    watch = DriftAlarm([1.0, 2.0, 3.0], jump=0.5, random_state=0)
    u = np.random.default_rng(0).uniform(size=2)
    watch.update([0.0]).update([2.0])
    p = [(0 + u[0]) / 4, (2 + u[1] * 2) / 5]  # below, and as many equal ones with itself; of all so far
    np.testing.assert_allclose(watch.p_values_, p)
    capital = np.full(3, 1 / 3)
    expected = []
    for value in p:
        capital = 0.5 * capital + 0.5 * capital.sum() / 3
        capital = capital * (1 + np.array([-1, 0, 1]) * (value - 0.5))
        expected.append(np.log10(capital.sum()))
    np.testing.assert_allclose(watch.log10_evidence_, expected)


@pytest.mark.parametrize("shift", [2.0, -2.0])
def test_a_shift_raises_the_alarm(shift):
    rng = np.random.default_rng(1)
    watch = DriftAlarm(rng.normal(size=500), random_state=1).update(rng.normal(size=200))
    assert not watch.alarm_
    watch.update(rng.normal(shift, 1, size=60))
    assert watch.alarm_
    assert 200 <= watch.alarm_at_ < 240


def test_in_one_go_or_one_by_one():
    scores = np.random.default_rng(2).normal(size=50)
    together, single = DriftAlarm(scores[:10], random_state=3).update(scores), DriftAlarm(scores[:10], random_state=3)
    for score in scores:
        single.update([score])
    np.testing.assert_array_equal(together.p_values_, single.p_values_)
    np.testing.assert_allclose(together.log10_evidence_, single.log10_evidence_)
    assert len(together.update([]).p_values_) == 50


@pytest.mark.parametrize("n_reference", [0, 5, 900])
@pytest.mark.parametrize("batch", [1, 37, 5_000])
def test_the_same_bits_as_the_plain_count_in_any_batches(n_reference, batch):
    scores = np.round(np.random.default_rng(4).normal(size=5_000), 2)  # ties, and more than one run of them
    scores[[3, 2_000]], scores[[5, 3_000]], scores[::90] = np.inf, -np.inf, -0.0
    reference, u = np.round(np.random.default_rng(5).normal(size=n_reference), 2), np.random.default_rng(6)
    watch = DriftAlarm(reference, random_state=6)
    for start in range(0, len(scores), batch):
        watch.update(scores[start : start + batch])
    seen = np.concatenate([reference, scores])
    expected = []
    for n, score in enumerate(scores, start=n_reference):
        below, equal = np.sum(seen[:n] < score), np.sum(seen[:n] == score)
        expected.append((below + u.uniform() * (equal + 1)) / (n + 1))
    np.testing.assert_array_equal(watch.p_values_, expected)
    together = DriftAlarm(reference, random_state=6).update(scores)
    np.testing.assert_array_equal(watch.log10_evidence_, together.log10_evidence_)
    assert watch.alarm_at_ == together.alarm_at_


def test_the_work_grows_hardly_faster_than_the_stream(monkeypatch):
    moved, rooms, n = [], [], 4_096
    monkeypatch.setattr(drift, "_FEW", 8)
    plain = drift._sorted
    monkeypatch.setattr(drift, "_sorted", lambda numbers: moved.append(len(numbers)) or plain(numbers))
    watch = DriftAlarm(np.arange(100.0), random_state=0)
    for score in np.random.default_rng(7).normal(size=n):
        seen, room = watch.update([score])._seen, watch._results
        assert len(seen.latest) < 8
        assert len(seen.runs) <= np.log2(seen.n / 8) + 2
        rooms += [room] if not rooms or room is not rooms[-1] else []
    assert sum(moved) < 2 * n * np.log2(n / 8)
    assert len(rooms) <= np.log2(n) + 1


def test_a_copy_goes_on_where_the_alarm_was():
    scores = np.random.default_rng(8).normal(size=3_000)
    watch = DriftAlarm(scores[:50], random_state=9).update(scores[:2_000])
    for again in (pickle.loads(pickle.dumps(watch)), copy.deepcopy(watch)):
        again.update(scores[2_000:])
        np.testing.assert_array_equal(again.p_values_, DriftAlarm(scores[:50], random_state=9).update(scores).p_values_)
    earlier = watch.p_values_.copy()
    np.testing.assert_array_equal(watch.update(scores[2_000:]).p_values_[:2_000], earlier)


def test_what_it_cannot_watch():
    with pytest.raises(ValueError, match="reference must be numbers"):
        DriftAlarm([0.1, np.nan])
    with pytest.raises(ValueError, match=r"got shape \(1, 2\)"):
        DriftAlarm([0.1]).update([[0.1, 0.2]])
    with pytest.raises(ValueError, match="false_alarm=1"):
        DriftAlarm([0.1], false_alarm=1)


def test_no_reference_at_all():
    scores = TOCC().fit(np.arange(20.0)[:, None]).score_samples(np.arange(20.0)[:, None])
    assert len(DriftAlarm([], random_state=0).update(scores).p_values_) == 20
