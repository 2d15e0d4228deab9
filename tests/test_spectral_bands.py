"""Bands of control spectra and the intervals outside them."""

import numpy as np
import pytest

from transvariation.spectral_bands import spectral_band


def spectra(n, rng, p=80):
    axis = np.linspace(0, 6, p)
    return np.sin(axis) + rng.normal(size=(n, 2)) @ np.array([np.cos(axis), axis / 6]) + 0.1 * rng.normal(size=(n, p))


def test_band_holds_the_nominal_share_of_fresh_spectra():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(60):
        band, fresh = spectral_band(spectra(30, rng)), spectra(100, rng)
        inside.append(np.mean(((fresh >= band.lower) & (fresh <= band.upper)).all(axis=1)))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.03)


def test_leave_one_out_deviations_are_those_of_a_loop():
    X = spectra(12, np.random.default_rng(1))
    largest = [
        np.abs((X[i] - np.delete(X, i, axis=0).mean(axis=0)) / np.delete(X, i, axis=0).std(axis=0, ddof=1)).max()
        for i in range(12)
    ]
    assert spectral_band(X, sensitivity=0.75, smooth=1).width == pytest.approx(sorted(largest)[-3])


def test_intervals_are_contiguous_signed_and_sorted():
    rng = np.random.default_rng(2)
    band = spectral_band(rng.normal(size=(40, 60)))
    spectrum = band.center.copy()
    spectrum[10:14] += 20 * band.scale[10:14]
    spectrum[15] += 20 * band.scale[15]
    spectrum[30] -= 50 * band.scale[30]
    assert band.intervals(spectrum)[0].peak == 30
    assert band.intervals(spectrum)[0].deviation == pytest.approx(-50)
    assert {(i.first, i.last) for i in band.intervals(spectrum)} == {(30, 30), (10, 13), (15, 15)}
    assert {(i.first, i.last) for i in band.intervals(spectrum, gap=1)} == {(30, 30), (10, 15)}
    assert band.intervals(band.center) == []


def test_nearly_constant_position_does_not_decide():
    X = spectra(30, np.random.default_rng(3))
    X[:, 5] = 1.0
    X[0, 5] = 1.001
    assert spectral_band(X, smooth=1).width < 10


def test_too_few_spectra_are_refused():
    with pytest.raises(ValueError, match="at least 3 control spectra; there are 2"):
        spectral_band(np.zeros((2, 5)))
