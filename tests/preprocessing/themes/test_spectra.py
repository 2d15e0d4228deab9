"""Preprocessing of spectra."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.preprocessing.conftest import spectra

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

CHEMOTOOLS = json.loads((Path(__file__).parents[2] / "reference" / "chemotools" / "preprocessing.json").read_text())
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


def test_constant_spectra_stay_finite():
    flat = np.full((2, 8), 3.0)
    np.testing.assert_array_equal(SNV().fit_transform(flat), 0)
    np.testing.assert_array_equal(MSC().fit_transform(flat), 3)


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
