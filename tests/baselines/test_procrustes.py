"""Procrustes cross-validation against prcv and ddsimca."""

import json
from pathlib import Path

import numpy as np
import pytest

from transvariation.baselines import DDSIMCA
from transvariation.baselines.procrustes import procrustes_validation

REFERENCE = Path(__file__).parent.parent / "reference"
BAROLO = np.loadtxt(REFERENCE / "mdatools" / "wines_barolo.csv", delimiter=",")


@pytest.mark.parametrize("case", json.loads((REFERENCE / "prcv" / "procrustes.json").read_text())["cases"])
def test_procrustes_validation_equals_that_of_prcv_and_ddsimca(case):
    X = BAROLO[: case["n_samples"]]
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    validation = procrustes_validation(X, max_components=8)
    np.testing.assert_allclose(validation.sensitivities(0.9, case["limits"]), case["sensitivities"])
    np.testing.assert_allclose(validation.held_out_score[:3], case["H"], rtol=1e-9)
    np.testing.assert_allclose(validation.held_out_orthogonal[:3], case["Q"], rtol=1e-9)


def test_procrustes_choice_stops_where_the_limits_fail():
    X = (BAROLO - BAROLO.mean(axis=0)) / BAROLO.std(axis=0, ddof=1)
    # prcv and ddsimca: 53, 53, 53, 51, 51, 52, 39 and 38 of 59 accepted; 48 or fewer of 59 have probability below 5%.
    assert DDSIMCA("procrustes").fit(X).n_components_ == 6
    # 52, 49, 48, 46, ... accepted; 47 or fewer have probability below 5% if 52 of 59 are expected.
    assert DDSIMCA("procrustes", limits="robust").fit(X).n_components_ == 3
    assert DDSIMCA("procrustes").fit(X[:, :1]).n_components_ == 0
