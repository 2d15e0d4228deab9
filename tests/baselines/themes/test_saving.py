"""A baseline loaded from a file gives the same scores, bit for bit."""

import numpy as np
import pytest

from transvariation import load, save
from transvariation.baselines import DDSIMCA, KDEOCC, SOMOCC, SVDD, GaussianOCC, KMeansOCC, MixtureOCC

BASELINES = [
    *(GaussianOCC(), MixtureOCC(n_components=2, models=["EII"]), KDEOCC(), KMeansOCC(n_init=1, random_state=0)),
    *(SOMOCC(n_epochs=2, random_state=0), SVDD(), SVDD(kernel="linear"), DDSIMCA()),
]


@pytest.mark.parametrize("baseline", BASELINES, ids=repr)
def test_saved_and_loaded(tmp_path, baseline):
    X = np.random.default_rng(0).normal(size=(60, 2))
    save(baseline.fit(X), tmp_path / "classifier")
    loaded = load(tmp_path / "classifier")
    assert np.array_equal(loaded.score_samples(X), baseline.score_samples(X))
    assert np.array_equal(loaded.predict(2 * X), baseline.predict(2 * X))
