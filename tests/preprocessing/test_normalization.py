"""Norms of spectra and of their regions."""

import numpy as np
import pytest
from tests.preprocessing.conftest import spectra

from transvariation.preprocessing import (
    Normalization,
    RegionScaling,
)


def test_norms_and_regions():
    X = spectra()
    np.testing.assert_allclose(np.abs(Normalization("area").fit_transform(X)).sum(axis=1), 1)
    np.testing.assert_allclose(np.linalg.norm(Normalization("length").fit_transform(X), axis=1), 1)
    inside = Normalization("peak", region=(10, 19)).fit_transform(X)
    np.testing.assert_allclose(inside[:, 10:20].max(axis=1), 1)
    scaled = RegionScaling([(0, 9), (40, 59)]).fit_transform(X * np.linspace(1, 9, 60))
    for columns in (slice(0, 10), slice(10, 40), slice(40, 60)):
        assert scaled[:, columns].var(axis=0, ddof=1).sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="region 900 to 1000 holds no position; the axis goes from 0 to 59"):
        Normalization("peak", region=(900, 1000)).fit(X)
    with pytest.raises(ValueError, match="overlap"):
        RegionScaling([(0, 10), (5, 20)]).fit(X)
    with pytest.raises(ValueError, match="norm='sum' is unknown; choose one of area, peak, length"):
        Normalization("sum").fit(X)
