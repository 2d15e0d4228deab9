"""partial_fit: the same rule as a fit on the objects that are kept."""

import numpy as np
import pandas as pd
import pytest

from transvariation import TOCC

pytestmark = pytest.mark.filterwarnings("ignore::transvariation.conformal.RejectsNothing")  # few objects, counted


def same(a, b, Z):
    np.testing.assert_array_equal(a.center_, b.center_)
    assert a.offset_ == b.offset_
    np.testing.assert_array_equal(np.sort(a._calibration_scores), np.sort(b._calibration_scores))
    np.testing.assert_array_equal(a.score_samples(Z), b.score_samples(Z))
    np.testing.assert_array_equal(a.p_values(Z), b.p_values(Z))


def about(X, center, **params):
    """A fit about a given centre, from scratch."""
    rule = TOCC(**params).fit(X)
    rule._describe_about(X, center)
    rule._calibrate(X, None, [])
    return rule.set_sensitivity(rule.sensitivity)


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("window", [None, 60])
@pytest.mark.parametrize("recenter", [True, False])
def test_equals_a_fit_on_what_is_kept(p, window, recenter):
    rng = np.random.default_rng(p)
    X, Z = np.round(rng.normal(size=(200, p)), 1), rng.normal(size=(30, p))
    rule, start = TOCC(), 0
    for size in (50, 1, 7, 0, 100, 42):  # some few, some many, none
        if not size:
            continue
        rule.partial_fit(X[start : start + size], window=window, recenter=recenter)
        start += size
        kept = X[max(0, start - (window or start)) : start]
        same(rule, TOCC().fit(kept) if recenter else about(kept, rule.center_), Z)
    first = TOCC().fit(X[:50]).center_
    assert recenter or (rule.center_ == first).all()


def test_a_window_shorter_than_what_comes():
    X = np.random.default_rng(0).normal(size=(90, 2))
    rule = TOCC().fit(X[:30])
    center = rule.center_
    rule.partial_fit(X[30:], window=20, recenter=False)
    same(rule, about(X[70:], center), X)


@pytest.mark.parametrize("ties", ["proper", "literal"])
@pytest.mark.parametrize("tau_max", ["count", "half"])
def test_every_kind_of_tp_with_a_centre_that_is_a_data_point(ties, tau_max):
    X = np.random.default_rng(1).integers(-3, 4, size=(120, 2)).astype(float)
    rule = TOCC(ties=ties, tau_max=tau_max).fit(X[:61])
    for i in range(61, 120, 5):
        rule.partial_fit(X[i : i + 5], window=70, recenter=False)
    same(rule, about(X[50:], rule.center_, ties=ties, tau_max=tau_max), X)


def test_fit_begins_anew():
    X = np.random.default_rng(3).normal(size=(80, 2))
    rule = TOCC().partial_fit(X[:40], recenter=False).partial_fit(X[40:], recenter=False)
    same(rule.fit(X[:50]).partial_fit(X[50:], recenter=False), about(X, TOCC().fit(X[:50]).center_), X)


def test_what_is_refused():
    X = np.random.default_rng(4).normal(size=(40, 2))
    with pytest.raises(ValueError, match="window=1 must be"):
        TOCC().partial_fit(X, window=1)
    with pytest.raises(ValueError, match='calibration="resubstitution"'):
        TOCC(calibration="loo").partial_fit(X, recenter=False)
    with pytest.raises(ValueError, match="tau_max='product'"):
        TOCC(tau_max="product").partial_fit(X, recenter=False)
    with pytest.raises(ValueError, match="3 features"):
        TOCC().fit(X).partial_fit(np.zeros((2, 3)))
    rule = TOCC().fit(X)
    with pytest.raises(ValueError, match="NaN"):
        rule.partial_fit([[np.nan, 1.0]])
    same(rule, TOCC().fit(X), X)


def test_objects_set_apart_cannot_stream():
    X = np.random.default_rng(6).normal(size=(60, 2))
    with pytest.raises(AttributeError, match="partial_fit"):
        TOCC(calibration="split").fit(X).partial_fit(X)
    with pytest.raises(ValueError, match="set objects apart"):
        TOCC(calibration="loo").fit(X, groups=np.arange(60) // 2).partial_fit(X)


def test_names_of_the_variables_stay():
    X = pd.DataFrame(np.random.default_rng(7).normal(size=(60, 2)), columns=["a", "b"])
    for recenter in (True, False):
        rule = TOCC().partial_fit(X[:40], window=30, recenter=recenter).partial_fit(X[40:], recenter=recenter)
        assert list(rule.feature_names_in_) == ["a", "b"]
        assert len(rule._X) == 50


def test_other_calibrations_recentre():
    X = np.random.default_rng(5).normal(size=(60, 2))
    rule = TOCC(calibration="loo").partial_fit(X[:40]).partial_fit(X[40:], window=50)
    same(rule, TOCC(calibration="loo").fit(X[10:]), X)


@pytest.mark.parametrize("recenter", [True, False])
def test_a_stream_that_fails_leaves_the_rule_as_it_was(recenter, monkeypatch):
    X = pd.DataFrame(np.random.default_rng(8).normal(size=(60, 2)), columns=["a", "b"])
    rule, before = TOCC().fit(X[:40]), TOCC().fit(X[:40])

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(TOCC, "set_sensitivity", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rule.partial_fit(X[40:], recenter=recenter)
    same(rule, before, X)
    assert list(rule.feature_names_in_) == ["a", "b"]


def test_a_stream_is_a_fit_and_takes_parameters_as_they_are_then():
    X = np.random.default_rng(9).normal(size=(60, 2))
    rule = TOCC(calibration="loo").fit(X[:40]).set_params(calibration="resubstitution", tau_max="half")
    rule.partial_fit(X[40:], recenter=False)
    same(rule, about(X, rule.center_, tau_max="half"), X)
    assert rule.coverage_report().calibration == "resubstitution"
    with pytest.raises(ValueError, match="tau_max='third' is unknown"):
        rule.set_params(tau_max="third").partial_fit(X, recenter=False)
