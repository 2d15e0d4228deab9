"""Axes and segments of spectra."""

import numpy as np
import pytest
from tests.preprocessing.conftest import spectra

from transvariation.preprocessing import (
    Detrend,
)
from transvariation.preprocessing.base import segments


def test_axis_must_fit_the_features():
    with pytest.raises(ValueError, match=r"give one number per feature \(60\)"):
        Detrend(axis=[1, 2, 3]).fit(spectra())


def test_an_uneven_axis_without_gaps_is_one_segment():
    wavelengths = 1e7 / np.arange(4000.0, 400.0, -4.0)  # from wavenumbers: steps grow a hundredfold
    assert segments(wavelengths) == [slice(0, 900)]
    assert segments(np.delete(wavelengths, [500, 501, 502])) == [slice(0, 500), slice(500, 897)]
    assert segments(np.array([5.0])) == [slice(0, 1)]
