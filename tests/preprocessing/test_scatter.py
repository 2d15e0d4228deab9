"""Scatter corrections: SNV, MSC, EMSC."""

import numpy as np
import pytest
from tests.preprocessing.conftest import spectra

from transvariation.preprocessing import (
    EMSC,
    MSC,
    SNV,
)


def test_snv_gives_every_spectrum_mean_0_and_standard_deviation_1():
    X = SNV().fit_transform(spectra())
    np.testing.assert_allclose(X.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=1, ddof=1), 1)


@pytest.mark.parametrize("transformer", [SNV(), MSC()])
def test_scatter_corrections_remove_offset_and_slope_of_each_spectrum(transformer):
    X = spectra()
    offset, slope = np.arange(5.0)[:, None], np.array([0.5, 1, 2, 3, 4])[:, None]
    transformer.fit(X)
    np.testing.assert_allclose(transformer.transform(offset + slope * X), transformer.transform(X))


def test_msc_equals_least_squares():
    X, new = spectra(), spectra(3, seed=1)
    fitted = MSC().fit(X)
    slope, intercept = np.polyfit(X.mean(axis=0), new.T, 1)
    np.testing.assert_allclose(fitted.transform(new), (new - intercept[:, None]) / slope[:, None])


def test_emsc_of_degree_0_is_msc_and_removes_polynomials():
    X, new = spectra(), spectra(3, seed=1)
    np.testing.assert_allclose(EMSC(degree=0).fit(X).transform(new), MSC().fit(X).transform(new))
    t = np.linspace(-1, 1, 60)
    fitted = EMSC().fit(X)
    np.testing.assert_allclose(fitted.transform(3 * new + 1 - t + 2 * t**2), fitted.transform(new))
