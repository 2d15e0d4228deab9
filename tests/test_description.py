"""Descriptions: held-out scores are those of fits without the samples."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from transvariation import (
    TOCC,
    CalibratedOCC,
    load_glass,
    spatial_median,
    transvariation_probability,
)


def test_loo_is_n_refits_by_hand():
    normal = np.random.default_rng(0).normal(size=(60, 2))
    classifier = TOCC(sensitivity=0.7, calibration="loo").fit(normal)
    for i in (0, 17, 59):
        rest = np.delete(normal, i, axis=0)
        expected = transvariation_probability(rest, normal[[i]], spatial_median(rest))[0]
        assert classifier._calibration.scores[i] == expected


def test_too_many_refits_name_cheaper_modes():
    with pytest.raises(ValueError, match='would fit 1001 times, more than 1000; use calibration="cv"'):
        TOCC(calibration="loo").fit(np.random.default_rng(0).normal(size=(1001, 1)))


def test_a_pipeline_is_refitted_in_every_fold():
    """The reduction must not have seen the sample that it is applied to."""
    seen = []

    class Spy(PCA):
        def fit(self, X, y=None):
            seen.append(len(X))
            return super().fit(X, y)

        def fit_transform(self, X, y=None):
            return self.fit(X).transform(X)

    control = load_glass().control
    CalibratedOCC(make_pipeline(Spy(2), TOCC()), sensitivity=0.8, calibration="cv").fit(control)
    assert seen[0] == 87
    assert sorted(seen[1:]) == [78] * 7 + [79] * 3
