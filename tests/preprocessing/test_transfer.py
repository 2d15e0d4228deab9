"""Transfer between instruments."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from transvariation.preprocessing import (
    InstrumentOrthogonalization,
    LaggedVariables,
    PiecewiseDirectStandardization,
)

CHEMOTOOLS = json.loads((Path(__file__).parent.parent / "reference" / "chemotools" / "preprocessing.json").read_text())
FIRST, SECOND = np.array(CHEMOTOOLS["X"]), np.array(CHEMOTOOLS["Z"])
ORDER = "a row depends on the rows before it"


@pytest.mark.slow
@parametrize_with_checks(
    [PiecewiseDirectStandardization(), InstrumentOrthogonalization(), LaggedVariables()],
    expected_failed_checks=lambda estimator: (
        {"check_methods_sample_order_invariance": ORDER, "check_methods_subset_invariance": ORDER}
        if isinstance(estimator, LaggedVariables)
        else {}
    ),
)
def test_estimator_checks(estimator, check):
    check(estimator)


def test_each_position_is_a_regression_on_its_window():
    found = PiecewiseDirectStandardization(5, 3).fit(SECOND, FIRST).transform(SECOND)
    for j in (0, 7, 39):
        start = min(max(j - 2, 0), 35)
        window = SECOND[:, start : start + 5]
        regression = make_pipeline(PCA(3), LinearRegression()).fit(window, FIRST[:, j])
        np.testing.assert_allclose(found[:, j], regression.predict(window))


def test_standardization_removes_a_shift_and_a_gain():
    t = np.linspace(0, 1, 80)
    rng = np.random.default_rng(0)
    height = rng.uniform(0.5, 2, (40, 2))
    first = height @ [np.exp(-(((t - 0.3) / 0.1) ** 2)), np.exp(-(((t - 0.7) / 0.1) ** 2))]
    second = 1.3 * height @ [np.exp(-(((t - 0.31) / 0.1) ** 2)), np.exp(-(((t - 0.71) / 0.1) ** 2))] + 0.2
    transfer = PiecewiseDirectStandardization().fit(second[:10], first[:10])
    before, after = np.abs(second[10:] - first[10:]).max(), np.abs(transfer.transform(second[10:]) - first[10:]).max()
    assert before > 0.5
    assert after < 0.01


def test_a_coarser_instrument_is_mapped_to_the_axis_of_the_first():
    transfer = PiecewiseDirectStandardization(3, 3).fit(SECOND[:, ::2], pd.DataFrame(FIRST).add_prefix("nm"))
    assert transfer.transform(SECOND[:, ::2]).shape == FIRST.shape
    assert list(transfer.get_feature_names_out())[:2] == ["nm0", "nm1"]


def test_directions_equal_those_of_chemotools():
    samples = np.r_[0:14, 0:14]
    fitted = InstrumentOrthogonalization(2).fit(np.vstack([FIRST, SECOND]), samples)
    expected = np.array(CHEMOTOOLS["epo_directions"])
    np.testing.assert_allclose(fitted.components_.T @ fitted.components_, expected.T @ expected, atol=1e-9)
    np.testing.assert_allclose(fitted.transform(FIRST) @ expected.T, fitted.transform(SECOND) @ expected.T, atol=1e-9)


def test_transfer_needs_pairs():
    with pytest.raises(ValueError, match="window_length=4 must be odd"):
        PiecewiseDirectStandardization(4).fit(SECOND, FIRST)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        PiecewiseDirectStandardization().fit(SECOND[:5], FIRST)
