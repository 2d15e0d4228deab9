"""Preprocessing of spectra."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import transvariation
from transvariation.preprocessing import MSC, SNV, SavitzkyGolay, make_preprocessing


@parametrize_with_checks([SNV(), MSC(), SavitzkyGolay(window_length=1, polyorder=0)])
def test_estimator_checks(estimator, check):
    check(estimator)


def spectra(n=5, p=60, seed=0):
    rng = np.random.default_rng(seed)
    axis = np.linspace(0, 3, p)
    return 1 + np.sin(axis) + rng.normal(0, 0.02, size=(n, p))


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


def test_constant_spectra_stay_finite():
    flat = np.full((2, 8), 3.0)
    np.testing.assert_array_equal(SNV().fit_transform(flat), 0)
    np.testing.assert_array_equal(MSC().fit_transform(flat), 3)


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


def test_descriptions_are_parsed():
    X = spectra()
    by_hand = SavitzkyGolay(15, 3, deriv=1).fit_transform(SNV().fit_transform(X))
    np.testing.assert_array_equal(make_preprocessing("SNV, sg1:15:3").fit_transform(X), by_hand)
    smoothing = make_preprocessing("sg").named_steps["sg"]
    assert (smoothing.window_length, smoothing.polyorder, smoothing.deriv) == (11, 2, 0)


@pytest.mark.parametrize("steps", ["", "snv,", "snv:3", "sg3", "sg1:a", "sg1:5:2:1", "pca", "snv,snv"])
def test_unknown_descriptions_are_refused(steps):
    with pytest.raises(ValueError, match="preprocessing"):
        make_preprocessing(steps)


def test_feature_names_are_kept():
    frame = pd.DataFrame(spectra(), columns=[f"{nm} nm" for nm in range(60)])
    out = make_preprocessing("msc,sg2").set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == list(frame.columns)


def test_reachable_from_the_package():
    assert transvariation.preprocessing.SNV is SNV
