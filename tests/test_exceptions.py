"""Warnings point at the user's line, however deep in the package they arise."""

import linecache

import numpy as np
import pytest

from transvariation import TOCC, CalibratedOCC
from transvariation.exceptions import TooFewSamples

X = np.random.default_rng(0).normal(size=(12, 2))


@pytest.mark.parametrize("classifier", [TOCC(calibration="cv"), CalibratedOCC(TOCC(), calibration="cv")])
def test_a_warning_names_the_line_of_the_user_s_fit(classifier):
    classifier.set_params(sensitivity=0.99)
    with pytest.warns(TooFewSamples) as heard:
        classifier.fit(X)
    (few,) = [warning for warning in heard if warning.category is TooFewSamples]
    assert few.filename == __file__
    assert "classifier.fit(X)" in linecache.getline(few.filename, few.lineno)
