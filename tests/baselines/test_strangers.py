"""Aliens and selectivity against ddsimca."""

import json
from pathlib import Path

import numpy as np
import pytest

from transvariation.baselines import DDSIMCA
from transvariation.baselines.strangers import describe_strangers

REFERENCE = Path(__file__).parent.parent / "reference"
FOLDER = REFERENCE / "mdatools"
BAROLO = np.loadtxt(FOLDER / "wines_barolo.csv", delimiter=",")
GRIGNOLINO = np.loadtxt(FOLDER / "wines_grignolino.csv", delimiter=",")


@pytest.mark.parametrize("case", json.loads((REFERENCE / "prcv" / "strangers.json").read_text())["cases"])
def test_aliens_and_selectivity_equal_those_of_ddsimca(case):
    center, spread = BAROLO.mean(axis=0), BAROLO.std(axis=0, ddof=1)
    model = DDSIMCA(case["n_components"], sensitivity=1 - case["alpha"]).fit((BAROLO - center) / spread)
    strangers = describe_strangers(model, (GRIGNOLINO - center) / spread)
    assert np.flatnonzero(~strangers.alien).tolist() == case["external"]
    assert strangers.noncentrality == pytest.approx(case["s"], rel=1e-9)
    assert strangers.scale == pytest.approx(case["f0"], rel=1e-9)
    assert strangers.specificity == pytest.approx(case["specificity"])
    # ddsimca approximates the noncentral chi-square distribution by a normal one.
    assert strangers.selectivity == pytest.approx(case["selectivity"], abs=0.003)
