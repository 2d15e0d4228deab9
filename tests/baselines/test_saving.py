"""A rival kept in a file rates objects as before, bit by bit."""

import numpy as np
import pytest

from transvariation import load, save
from transvariation.baselines import DDSIMCA, KDEOCC, SOMOCC, SVDD, GaussianOCC, KMeansOCC, MixtureOCC

RIVALS = [
    *(GaussianOCC(), MixtureOCC(n_components=2, models=["EII"]), KDEOCC(), KMeansOCC(n_init=1, random_state=0)),
    *(SOMOCC(n_epochs=2, random_state=0), SVDD(), SVDD(kernel="linear"), DDSIMCA()),
]


@pytest.mark.parametrize("rival", RIVALS, ids=repr)
def test_saved_and_loaded(tmp_path, rival):
    X = np.random.default_rng(0).normal(size=(60, 2))
    save(rival.fit(X), tmp_path / "rule")
    loaded = load(tmp_path / "rule")
    assert np.array_equal(loaded.score_samples(X), rival.score_samples(X))
    assert np.array_equal(loaded.predict(2 * X), rival.predict(2 * X))
