"""DD-SIMCA against the numbers of mdatools, and calibrated."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.decomposition import PCA

from transvariation.baselines import DDSIMCA

REFERENCE = Path(__file__).parent.parent / "reference"
FOLDER = REFERENCE / "mdatools"
CASES = json.loads((FOLDER / "ddsimca.json").read_text())["cases"]
BAROLO = np.loadtxt(FOLDER / "wines_barolo.csv", delimiter=",")
GRIGNOLINO = np.loadtxt(FOLDER / "wines_grignolino.csv", delimiter=",")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["source"])
def test_distances_and_limits_equal_those_of_mdatools(case):
    kept = np.delete(BAROLO, np.array(case["left_out"], dtype=int) - 1, axis=0)
    center, spread = kept.mean(axis=0), kept.std(axis=0, ddof=1)
    train, barolo, grignolino = ((X - center) / spread for X in (kept, BAROLO, GRIGNOLINO))
    model = DDSIMCA(case["n_components"], limits=case["limits"], sensitivity=1 - case["alpha"]).fit(train)
    assert model.degrees_of_freedom_.tolist() == [case["Nh"], case["Nq"]]
    dof = case["Nh"] + case["Nq"]
    rtol = 1e-9 if case["source"].startswith("ddsimcares") else 5e-6  # the web application iterates
    np.testing.assert_allclose(-model.offset_ * dof, case["critical"], rtol=rtol)
    for X, expected in ((barolo, case["barolo"]), (grignolino, case["grignolino"])):
        rows = [int(row) - 1 for row in expected]
        values = np.reshape(list(expected.values()), (-1, 3))
        if rows:
            np.testing.assert_allclose(model.distances(X[rows]), values[:, :2], rtol=rtol)
            np.testing.assert_allclose(-model.score_samples(X[rows]) * dof, values[:, 2], rtol=rtol)
    if case["rejected"] is not None:
        rejected = np.flatnonzero(model.predict(barolo) == -1) + 1
        assert sorted({*rejected.tolist()} - {*case["left_out"]}) == case["rejected"]


def test_roles_equal_those_of_mdatools():
    X = (BAROLO - BAROLO.mean(axis=0)) / BAROLO.std(axis=0, ddof=1)
    roles = DDSIMCA(4, limits="robust", sensitivity=0.99).fit(X).roles(X)
    assert {role: (np.flatnonzero(roles == role) + 1).tolist() for role in ("extreme", "outlier")} == {
        "extreme": [14, 51],
        "outlier": [32],
    }
    kept = np.delete(BAROLO, 31, axis=0)
    model = DDSIMCA(2, sensitivity=0.95).fit((kept - kept.mean(axis=0)) / kept.std(axis=0, ddof=1))
    np.testing.assert_allclose(model.critical_distances(), (22.3620324948269, 39.3889956717461))


def test_distances_equal_those_of_scikit_learns_pca():
    X = np.random.default_rng(0).normal(size=(40, 6)) @ np.diag([5, 4, 3, 1, 1, 1])
    model, pca = DDSIMCA(3).fit(X), PCA(3).fit(X)
    scores = pca.transform(X)
    h = (scores**2 / pca.explained_variance_).sum(axis=1)
    v = ((X - pca.inverse_transform(scores)) ** 2).sum(axis=1)
    np.testing.assert_allclose(model.distances(X), np.column_stack([h / h.mean(), v / v.mean()]))


def test_published_limits_are_chi_square_quantiles_and_move_after_the_fit():
    X = np.random.default_rng(1).normal(size=(200, 5))
    model = DDSIMCA(2).fit(X)
    accepted = model.predict(X) == 1
    np.testing.assert_array_equal(accepted, model.p_values(X) >= 0.1)
    np.testing.assert_array_equal(model.set_sensitivity(0.99).predict(X) == 1, model.p_values(X) >= 0.01)
    assert model.offset_ == pytest.approx(
        -chi2.ppf(0.99, sum(model.degrees_of_freedom_)) / sum(model.degrees_of_freedom_)
    )


@pytest.mark.parametrize("limits", ["classic", "robust"])
def test_limits_hold_for_large_samples(limits):
    rng = np.random.default_rng(2)
    scale = np.sqrt([9, 4, 1, 1, 1, 1])
    model = DDSIMCA(2, limits=limits).fit(rng.normal(size=(2_000, 6)) * scale)
    assert np.mean(model.predict(rng.normal(size=(4_000, 6)) * scale) == 1) == pytest.approx(0.9, abs=0.025)


def test_calibration_keeps_the_sensitivity_where_the_published_limits_do_not():
    rng = np.random.default_rng(3)

    def draw(n):
        return rng.normal(size=(n, 3)) @ basis + 0.3 * rng.normal(size=(n, 200))

    fresh = {"resubstitution": [], "cv": [], "split": []}
    for _ in range(10):
        basis = rng.normal(size=(3, 200))
        train, new = draw(30), draw(300)
        for calibration, shares in fresh.items():
            shares.append(np.mean(DDSIMCA(3, calibration=calibration).fit(train).predict(new) == 1))
    assert np.mean(fresh["resubstitution"]) < 0.5
    assert 0.87 < np.mean(fresh["cv"]) < 0.98
    assert 0.87 < np.mean(fresh["split"]) < 0.98


def test_default_number_of_components_explains_95_percent():
    X = np.random.default_rng(4).normal(size=(80, 6)) * [9, 6, 3, 1, 0.5, 0.1]
    model = DDSIMCA().fit(X)
    share = PCA().fit(X).explained_variance_ratio_.cumsum()
    assert share[model.n_components_ - 2] < 0.95 <= share[model.n_components_ - 1]
    assert DDSIMCA().fit(X[:, :1]).n_components_ == 0  # the orthogonal distance only


def test_unusable_parameters_are_refused():
    X = np.random.default_rng(5).normal(size=(10, 4))
    with pytest.raises(ValueError, match=r"n_components=4 must lie between 0 and 3"):
        DDSIMCA(4).fit(X)
    with pytest.raises(ValueError, match="limits='other'"):
        DDSIMCA(limits="other").fit(X)
    with pytest.raises(ValueError, match="all samples are equal"):
        DDSIMCA().fit(np.ones((5, 3)))


def test_outlier_limit_moves_with_a_calibrated_acceptance_limit():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(15, 3)) @ rng.normal(size=(3, 300)) + 0.3 * rng.normal(size=(15, 300))
    published, calibrated = DDSIMCA(3).fit(X), DDSIMCA(3, calibration="cv").fit(X)
    ratio = chi2.ppf(0.99 ** (1 / 15), sum(published.degrees_of_freedom_)) / chi2.ppf(
        0.9, sum(published.degrees_of_freedom_)
    )
    for model in (published, calibrated):
        extreme, outlier = model.critical_distances()
        assert outlier / extreme == pytest.approx(ratio)
    assert calibrated.critical_distances()[0] > published.critical_distances()[1]
    assert "extreme" in calibrated.roles(X.mean(axis=0) + np.linspace(1, 3, 50)[:, None] * (X[0] - X.mean(axis=0)))
    everything, beyond = DDSIMCA(3, sensitivity=1.0).fit(X).critical_distances()
    assert everything == beyond == np.inf
