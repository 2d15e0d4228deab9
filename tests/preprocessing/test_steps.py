"""Steps of preprocessing by name."""

import numpy as np
import pytest
from tests.preprocessing.conftest import spectra

from transvariation.preprocessing import (
    EMSC,
    SNV,
    AsymmetricLeastSquares,
    Detrend,
    Normalization,
    SavitzkyGolay,
    make_preprocessing,
)


def test_descriptions_are_parsed():
    X = spectra()
    by_hand = SavitzkyGolay(15, 3, deriv=1).fit_transform(SNV().fit_transform(X))
    np.testing.assert_array_equal(make_preprocessing("SNV, sg1:15:3").fit_transform(X), by_hand)
    smoothing = make_preprocessing("sg").named_steps["sg"]
    assert (smoothing.window_length, smoothing.polyorder, smoothing.deriv) == (11, 2, 0)


@pytest.mark.parametrize(
    "steps", ["", "snv,", "snv:3", "sg3", "sg1:a", "sg1:5:2:1", "pca", "snv,snv", "emsc:x", "peak:900", "als:"]
)
def test_unknown_descriptions_are_refused(steps):
    with pytest.raises(ValueError, match="preprocessing"):
        make_preprocessing(steps)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("detrend:1,snv", SNV().fit_transform(Detrend(1).fit_transform(spectra()))),
        ("als:1e3:0.05", AsymmetricLeastSquares(1e3, 0.05).fit_transform(spectra())),
        ("emsc:1", EMSC(1).fit_transform(spectra())),
        ("peak:10-20,regions:0-29:30-59", None),
        ("area", Normalization("area").fit_transform(spectra())),
    ],
)
def test_every_step_has_a_name(steps, expected):
    found = make_preprocessing(steps).fit_transform(spectra())
    if expected is not None:
        np.testing.assert_array_equal(found, expected)
    assert np.isfinite(found).all()
