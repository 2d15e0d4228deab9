"""A rule that can reject nothing says so, once, when it is calibrated or moved."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from transvariation import (
    PAMTOCC,
    TOCC,
    CalibratedOCC,
    KernelTOCC,
    ProjectionEnsemble,
    compare_classifiers,
    dask,
    load_glass,
)
from transvariation.conformal import RejectsNothing


def heard(do):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        do()
    return [str(w.message) for w in caught if issubclass(w.category, RejectsNothing)]


GLASS = load_glass()
FEW = {"n_projections": 9, "n_candidates": 5, "random_state": 0}


@pytest.mark.parametrize(
    "rule",
    [
        TOCC(calibration="loo"),
        PAMTOCC(calibration="loo"),
        ProjectionEnsemble(TOCC(), calibration="split", **FEW),
        CalibratedOCC(make_pipeline(StandardScaler(), TOCC(calibration="loo"))),
        CalibratedOCC(PAMTOCC(4), rating="decision_function"),
        dask.TOCC(calibration="split"),
        dask.PAMTOCC(4, calibration="split"),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_a_rule_that_rejects_nothing_says_so_once(rule):
    far = np.full((1, 9), 1e6)
    for do in (lambda: rule.fit(GLASS.control.to_numpy()), lambda: rule.set_sensitivity(0.95)):
        (words,) = heard(do)
        assert f"sensitivity={rule.sensitivity} leaves a rule that can reject nothing" in words
        assert "have the lowest rating that there is" in words
        assert "use KernelTOCC" in words
        assert rule.predict(far).tolist() == [1]


def test_the_share_and_the_remedy_are_those_of_the_rule():
    rule = TOCC(calibration="loo")
    (words,) = heard(lambda: rule.fit(GLASS.control[["K", "Mg"]]))
    assert "15% of the calibrating objects (13 of 87)" in words
    assert words.endswith("use KernelTOCC, fewer variables or a sensitivity of at most 0.84")
    assert heard(lambda: rule.set_sensitivity(0.84)) == []
    assert rule.predict(GLASS.control[["K", "Mg"]][:1] * 100).tolist() == [-1]
    (words,) = heard(lambda: rule.fit(GLASS.control[["K", "Mg"]], groups=np.arange(87) // 3))
    assert "of the calibrating groups (" in words


@pytest.mark.parametrize(
    "rule",
    [
        TOCC(),
        KernelTOCC(),
        ProjectionEnsemble(make_pipeline(StandardScaler(), TOCC(calibration="loo")), **FEW),
        CalibratedOCC(IsolationForest(n_estimators=5, random_state=0), calibration="split"),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_other_rules_say_nothing(rule):
    """The paper's cut, ratings that have no end, and members whose own thresholds nobody uses."""
    assert heard(lambda: rule.fit(GLASS.control).set_sensitivity(0.95)) == []


def test_a_comparison_of_ratings_says_nothing():
    assert heard(lambda: compare_classifiers([TOCC(calibration="loo"), PAMTOCC(4)], GLASS.control, n_repeats=1)) == []


def test_a_stream_says_it_once_per_call():
    rule = TOCC(calibration="loo").set_params(sensitivity=0.95)
    X = GLASS.control[["K", "Mg"]].to_numpy()
    assert [len(heard(lambda X=X: rule.partial_fit(X))) for X in (X[:40], X[40:60], X[60:])] == [1, 1, 1]
