"""Equal scores give equal thresholds: every classifier is calibrated by the same estimator."""

import numpy as np
import pytest

from transvariation import PAMTOCC, TOCC, CalibratedOCC, DensityTOCC, NeighborTOCC, ProjectionEnsemble
from transvariation.base import OneClassClassifier
from transvariation.baselines import DDSIMCA, KDEOCC, SOMOCC, SVDD, GaussianOCC, KMeansOCC, MixtureOCC
from transvariation.conformal import conformal_threshold

QUANTILE = [TOCC, DensityTOCC, GaussianOCC, MixtureOCC, KDEOCC, KMeansOCC, SOMOCC, SVDD]
ALL = [*QUANTILE, PAMTOCC, DDSIMCA, NeighborTOCC, CalibratedOCC, ProjectionEnsemble]
SHARED = [
    "predict",
    "decision_function",
    "score_samples",
    "p_values",
    "coverage_report",
    "_calibrate",
    "_set_threshold",
]


@pytest.mark.parametrize("kind", QUANTILE)
def test_the_threshold_is_the_quantile_of_the_training_scores(kind):
    X = np.random.default_rng(0).normal(size=(87, 2))
    classifier = kind(sensitivity=0.9).fit(X)
    assert classifier.offset_ == conformal_threshold(classifier.score_samples(X), 0.9)
    assert (classifier.predict(X) == 1).sum() >= 79


@pytest.mark.parametrize("kind", ALL)
def test_classifiers_differ_in_the_description_only(kind):
    shared = [name for name in SHARED if (kind, name) != (NeighborTOCC, "p_values")]  # which adds a tail by a model
    assert all(getattr(kind, name) is getattr(OneClassClassifier, name) for name in shared)
