"""Preprocessing of spectra."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.signal import detrend
from sklearn.utils.estimator_checks import parametrize_with_checks

import transvariation
from transvariation.preprocessing import (
    EMSC,
    MSC,
    SNV,
    AsymmetricLeastSquares,
    Detrend,
    Normalization,
    RegionScaling,
    SavitzkyGolay,
    make_preprocessing,
)
from transvariation.preprocessing.base import segments

CHEMOTOOLS = json.loads((Path(__file__).parent.parent / "reference" / "chemotools" / "preprocessing.json").read_text())
ALL = [
    SNV(),
    MSC(),
    EMSC(degree=0),
    Detrend(degree=0),
    AsymmetricLeastSquares(),
    Normalization("area"),
    Normalization("peak"),
    Normalization("length"),
    RegionScaling(),
    SavitzkyGolay(window_length=1, polyorder=0),
]


@pytest.mark.slow
@parametrize_with_checks(ALL)
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


@pytest.mark.parametrize(
    "steps", ["", "snv,", "snv:3", "sg3", "sg1:a", "sg1:5:2:1", "pca", "snv,snv", "emsc:x", "peak:900", "als:"]
)
def test_unknown_descriptions_are_refused(steps):
    with pytest.raises(ValueError, match="preprocessing"):
        make_preprocessing(steps)


def test_feature_names_are_kept():
    frame = pd.DataFrame(spectra(), columns=[f"{nm} nm" for nm in range(60)])
    out = make_preprocessing("msc,sg2").set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == list(frame.columns)


def test_reachable_from_the_package():
    assert transvariation.preprocessing.SNV is SNV


@pytest.mark.parametrize(
    ("name", "transformer"),
    [
        ("als", AsymmetricLeastSquares(smoothness=1e3, asymmetry=0.01, max_updates=200)),
        ("detrend", Detrend(degree=2)),
        ("emsc", EMSC(degree=2)),
        ("area", Normalization("area")),
    ],
)
def test_results_equal_those_of_chemotools(name, transformer):
    X = np.array(CHEMOTOOLS["X"])
    np.testing.assert_allclose(transformer.fit(X).transform(X[:3]), CHEMOTOOLS[name], rtol=1e-6, atol=1e-8)


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


def test_emsc_of_degree_0_is_msc_and_removes_polynomials():
    X, new = spectra(), spectra(3, seed=1)
    np.testing.assert_allclose(EMSC(degree=0).fit(X).transform(new), MSC().fit(X).transform(new))
    t = np.linspace(-1, 1, 60)
    fitted = EMSC().fit(X)
    np.testing.assert_allclose(fitted.transform(3 * new + 1 - t + 2 * t**2), fitted.transform(new))


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


def test_axis_must_fit_the_features():
    with pytest.raises(ValueError, match=r"give one number per feature \(60\)"):
        Detrend(axis=[1, 2, 3]).fit(spectra())


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


def test_an_uneven_axis_without_gaps_is_one_segment():
    wavelengths = 1e7 / np.arange(4000.0, 400.0, -4.0)  # from wavenumbers: steps grow a hundredfold
    assert segments(wavelengths) == [slice(0, 900)]
    assert segments(np.delete(wavelengths, [500, 501, 502])) == [slice(0, 500), slice(500, 897)]
    assert segments(np.array([5.0])) == [slice(0, 1)]
