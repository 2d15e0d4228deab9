"""RejectsNothing: a classifier that accepts everything warns once, at fit and at set_sensitivity."""

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
    NeighborTOCC,
    ProjectionEnsemble,
    compare_classifiers,
    load_glass,
    make_scenario,
)
from transvariation.exceptions import RejectsNearlyAll, RejectsNothing


def messages(do):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        do()
    return [str(w.message) for w in caught if issubclass(w.category, RejectsNothing)]


GLASS = load_glass()
FEW = {"n_projections": 9, "n_candidates": 5, "random_state": 0}


@pytest.mark.parametrize(
    "classifier",
    [
        TOCC(calibration="loo"),
        PAMTOCC(calibration="loo"),
        ProjectionEnsemble(TOCC(), calibration="split", **FEW),
        CalibratedOCC(make_pipeline(StandardScaler(), TOCC(calibration="loo"))),
        CalibratedOCC(PAMTOCC(4), response_method="decision_function"),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
def test_warns_once(classifier):
    far = np.full((1, 9), 1e6)
    for do in (lambda: classifier.fit(GLASS.control.to_numpy()), lambda: classifier.set_sensitivity(0.95)):
        (words,) = messages(do)
        assert f"sensitivity={classifier.sensitivity} accepts every sample" in words
        assert "have the lowest attainable score" in words
        assert "use NeighborTOCC" in words
        assert classifier.predict(far).tolist() == [1]


def test_the_message_names_the_share_and_a_sensitivity_that_works():
    classifier = TOCC(calibration="loo")
    (words,) = messages(lambda: classifier.fit(GLASS.control[["K", "Mg"]]))
    assert "15% of the calibration samples (13 of 87)" in words
    assert words.endswith("use NeighborTOCC, fewer features or a sensitivity of at most 0.84")
    assert messages(lambda: classifier.set_sensitivity(0.84)) == []
    assert classifier.predict(GLASS.control[["K", "Mg"]][:1] * 100).tolist() == [-1]
    (words,) = messages(lambda: classifier.fit(GLASS.control[["K", "Mg"]], groups=np.arange(87) // 3))
    assert "of the calibration groups (" in words


@pytest.mark.parametrize(
    "classifier",
    [
        TOCC(),
        NeighborTOCC(),
        ProjectionEnsemble(make_pipeline(StandardScaler(), TOCC(calibration="loo")), **FEW),
        CalibratedOCC(IsolationForest(n_estimators=5, random_state=0), calibration="split"),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
def test_no_warning(classifier):
    """Resubstitution, unbounded scores, and members whose own thresholds are not used."""
    assert messages(lambda: classifier.fit(GLASS.control).set_sensitivity(0.95)) == []


def test_no_warning_from_compare_classifiers():
    candidates = [TOCC(calibration="loo"), PAMTOCC(4)]
    assert messages(lambda: compare_classifiers(candidates, GLASS.control, n_repeats=1)) == []


def test_partial_fit_warns_once_per_call():
    classifier = TOCC(calibration="loo").set_params(sensitivity=0.95)
    X = GLASS.control[["K", "Mg"]].to_numpy()
    assert [len(messages(lambda X=X: classifier.partial_fit(X))) for X in (X[:40], X[40:60], X[60:])] == [1, 1, 1]


def nearly_all(classifier, X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        classifier.fit(X)
    return [str(w.message) for w in caught if issubclass(w.category, RejectsNearlyAll)]


@pytest.mark.parametrize("n", [50, 300])
@pytest.mark.parametrize(("p", "warns"), [(2, False), (8, True), (18, True)])
@pytest.mark.parametrize("classifier", [TOCC(), PAMTOCC()], ids=lambda c: type(c).__name__)
def test_counting_in_many_features_warns_that_nearly_all_are_rejected(classifier, p, warns, n):
    rng = np.random.default_rng(p)
    messages = nearly_all(classifier, rng.normal(size=(n, p)))
    assert len(messages) == warns
    accepted = np.mean(classifier.predict(rng.normal(size=(500, p))) == 1)
    assert accepted < 0.06 if warns else accepted > 0.2
    if warns:
        assert "will reject nearly all new samples" in messages[0]
        assert "use NeighborTOCC" in messages[0]


def test_few_samples_warn_wherever_nearly_all_are_rejected():
    # A fifth of 25 samples holds five: the share is that of all fifths, not of the fifth with the fewest rejections.
    rng = np.random.default_rng(0)
    warned = [len(nearly_all(TOCC(), rng.normal(size=(25, 5)))) for _ in range(40)]  # about 98% are rejected
    assert sum(warned) >= 36


def test_four_features_are_a_matter_of_the_number_of_samples():
    rng = np.random.default_rng(4)
    assert not nearly_all(TOCC(), rng.normal(size=(300, 4)))  # accepts 41% of new samples
    assert nearly_all(PAMTOCC(), rng.normal(size=(50, 4)))  # accepts 3%


@pytest.mark.parametrize("classifier", [TOCC(), PAMTOCC(), PAMTOCC(4)], ids=repr)
def test_the_paper_s_planes_do_not_warn(classifier):
    planes = [GLASS.control[list(names)].to_numpy() for names in (("K", "Mg"), ("Si", "Mg"))]
    planes += [make_scenario(name, random_state=seed)[0] for name in "abcdefghi" for seed in range(3)]
    assert [nearly_all(classifier, X) for X in planes] == [[]] * len(planes)


def test_other_uses_of_counting_do_not_warn():
    X = np.random.default_rng(0).normal(size=(60, 12))
    for classifier in (
        ProjectionEnsemble(TOCC(), **FEW),
        CalibratedOCC(TOCC(), calibration="resubstitution"),
        NeighborTOCC(),
    ):
        assert not nearly_all(classifier, X)
