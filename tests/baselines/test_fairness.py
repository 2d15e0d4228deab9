"""Equal scores give equal thresholds, whichever classifier computed them."""

import numpy as np
import pytest

from transvariation import PAMTOCC, TOCC, DensityTOCC
from transvariation.base import OneClassClassifier
from transvariation.baselines import KDEOCC, SOMOCC, SVDD, GaussianOCC, KMeansOCC, MixtureOCC
from transvariation.conformal import conformal_threshold

CLASSIFIERS = [TOCC, DensityTOCC, GaussianOCC, MixtureOCC, KDEOCC, KMeansOCC, SOMOCC, SVDD]
SHARED = ["fit", "predict", "decision_function", "score_samples", "set_sensitivity", "p_values", "_calibrate"]


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("calibration", ["resubstitution", "split", "cv", "loo"])
def test_equal_scores_give_equal_thresholds(monkeypatch, kind, calibration):
    X = np.random.default_rng(0).normal(size=(60, 2))
    # Every classifier scores a sample by minus its norm, whatever it learns.
    monkeypatch.setattr(kind, "_describe", lambda self, X: setattr(self, "learned_", True))
    monkeypatch.setattr(kind, "_score", lambda self, X: -np.linalg.norm(X, axis=1))
    monkeypatch.setattr(kind, "_lowest", OneClassClassifier._lowest)
    monkeypatch.setattr(kind, "_training_scores", OneClassClassifier._training_scores)
    monkeypatch.setattr(kind, "_loo_scores", OneClassClassifier._loo_scores)
    classifier = kind(calibration=calibration, sensitivity=0.8).fit(X)

    class Norm(OneClassClassifier):
        def __init__(self, *, sensitivity=0.9, calibration="resubstitution"):
            self.sensitivity, self.calibration = sensitivity, calibration

        def _describe(self, X):
            self.learned_ = True

        def _score(self, X):
            return -np.linalg.norm(X, axis=1)

    expected = Norm(calibration=calibration, sensitivity=0.8).fit(X)
    Z = np.random.default_rng(1).normal(size=(100, 2)) * 2
    assert classifier.offset_ == expected.offset_
    assert np.array_equal(classifier.predict(Z), expected.predict(Z))
    assert np.array_equal(classifier.p_values(Z), expected.p_values(Z))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_the_threshold_is_the_quantile_of_the_training_scores(kind):
    X = np.random.default_rng(0).normal(size=(87, 2))
    classifier = kind(sensitivity=0.9).fit(X)
    assert classifier.offset_ == conformal_threshold(classifier.score_samples(X), 0.9)
    assert (classifier.predict(X) == 1).sum() >= 79


@pytest.mark.parametrize("kind", [*CLASSIFIERS, PAMTOCC])
def test_no_classifier_overrides_the_shared_decision_methods(kind):
    assert all(getattr(kind, name) is getattr(OneClassClassifier, name) for name in SHARED)
