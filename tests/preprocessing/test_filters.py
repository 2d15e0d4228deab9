"""Filters and baselines along the axis of a spectrum."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.signal import detrend
from tests.preprocessing.conftest import spectra

from transvariation.preprocessing import (
    AsymmetricLeastSquares,
    Detrend,
    SavitzkyGolay,
)

CHEMOTOOLS = json.loads((Path(__file__).parent.parent / "reference" / "chemotools" / "preprocessing.json").read_text())


def test_derivatives_of_a_parabola_are_exact():
    x = np.arange(30.0)
    X = np.array([2 * x**2 + 3 * x + 1])
    np.testing.assert_allclose(SavitzkyGolay(7, 2, deriv=0).fit_transform(X), X)
    np.testing.assert_allclose(SavitzkyGolay(7, 2, deriv=1).fit_transform(X), [4 * x + 3])
    np.testing.assert_allclose(SavitzkyGolay(7, 2, deriv=2).fit_transform(X), np.full_like(X, 4.0))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"window_length": 10}, "window_length=10 must be odd"),
        ({"window_length": 3, "polyorder": 3}, "polyorder=3"),
        ({"deriv": 3}, "deriv=3"),
        ({"window_length": 61}, "exceeds the 60 features"),
    ],
)
def test_unusable_windows_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        SavitzkyGolay(**parameters).fit(spectra())


def test_linear_trend_equals_that_of_scipy_and_follows_an_uneven_axis():
    X = spectra()
    np.testing.assert_allclose(Detrend(degree=1).fit_transform(X), detrend(X, axis=1), atol=1e-12)
    axis = np.r_[0:30, 100:130].astype(float)
    np.testing.assert_allclose(Detrend(degree=2, axis=axis).fit_transform([axis**2 - axis]), 0, atol=1e-9)
    falling = Detrend(degree=2, axis=-axis).fit_transform(X)
    np.testing.assert_allclose(falling, Detrend(degree=2, axis=axis).fit_transform(X), atol=1e-12)


def test_baseline_solves_the_published_equations():
    x = np.array(CHEMOTOOLS["X"][0])
    baseline = x - AsymmetricLeastSquares(smoothness=50, asymmetry=0.05).fit_transform([x])[0]
    D = np.diff(np.eye(len(x)), 2, axis=0)
    W = np.diag(np.where(x > baseline, 0.05, 0.95))
    np.testing.assert_allclose((W + 50 * D.T @ D) @ baseline, W @ x, atol=1e-9)


@pytest.mark.parametrize("transformer", [SavitzkyGolay(7, 2, deriv=1), AsymmetricLeastSquares(1e3)])
def test_missing_bands_are_not_bridged(transformer):
    X = spectra()
    X[:, 30:] += 5  # a step across the gap
    names = [*range(1000, 1060, 2), *range(1200, 1260, 2)]
    frame = pd.DataFrame(X, columns=[f"{nm} nm" for nm in names])
    whole = transformer.fit_transform(frame)
    parts = [transformer.fit_transform(X[:, :30]), transformer.fit_transform(X[:, 30:])]
    np.testing.assert_allclose(whole, np.hstack(parts))
    by_axis = transformer.set_params(axis=names).fit_transform(X)
    np.testing.assert_allclose(by_axis, whole)


def test_segment_shorter_than_the_window_is_refused():
    with pytest.raises(ValueError, match="exceeds the 5 features 20 to 24, a segment between gaps"):
        SavitzkyGolay(11, axis=[*range(20), *range(40, 45)]).fit(np.zeros((2, 25)))
