"""Comparison without outliers agrees with what outliers would show."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.covariance import EllipticEnvelope
from sklearn.decomposition import PCA
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline

from transvariation import TOCC, NeighborTOCC, compare_classifiers, load_glass, make_scenario
from transvariation.baselines import DDSIMCA, GaussianOCC
from transvariation.metrics import auc
from transvariation.preprocessing import make_preprocessing

LOCAL = LocalOutlierFactor(novelty=True)


def test_banana_shapes_need_a_local_detector():
    target, _ = make_scenario("i", 200, random_state=1)
    choice = compare_classifiers({"ellipse": EllipticEnvelope(support_fraction=1.0), "local": LOCAL}, target)
    assert choice.tightest == "local"
    assert choice.probability_tighter > 0.9
    assert list(choice.table.index) == ["local", "ellipse"]
    assert "local is the tightest" in str(choice)


def test_equal_candidates_are_undecided():
    target, _ = make_scenario("a", random_state=2)
    choice = compare_classifiers({"one": LOCAL, "two": LOCAL}, target, n_repeats=1)
    assert choice.probability_tighter == 0.5


def test_pipelines_frames_and_many_variables():
    control = load_glass().control
    choice = compare_classifiers([make_pipeline(PCA(2), TOCC()), make_pipeline(PCA(3), TOCC())], control, n_repeats=1)
    assert choice.reference == "each feature drawn independently"
    assert choice.table["accepted"].between(0, 1).all()


def test_preprocessing_is_chosen_from_target_samples():
    rng = np.random.default_rng(1)  # with 0 both accept the same share
    position = np.linspace(0, 1, 100)

    def spectra(n, center):
        gain, offset = np.exp(0.3 * rng.normal(size=(2, n, 1)))
        height = 1 + 0.03 * rng.normal(size=(n, 1))
        bands = np.exp(-(((position - 0.3) / 0.05) ** 2)) + height * np.exp(-(((position - center) / 0.05) ** 2))
        return gain * (bands + 0.003 * rng.normal(size=(n, 100))) + offset

    known, new, foreign = spectra(40, 0.7), spectra(80, 0.7), spectra(80, 0.704)
    candidates = {"raw": NeighborTOCC(), "snv": make_pipeline(make_preprocessing("snv"), NeighborTOCC())}
    choice = compare_classifiers(candidates, known, n_repeats=1, n_reference=300)
    areas = {n: auc(c.fit(known).score_samples(new), c.score_samples(foreign)) for n, c in candidates.items()}
    assert choice.tightest == "snv"
    assert areas["snv"] > areas["raw"] + 0.05  # and it is the better one


def test_too_few_components_of_spectra_are_recognized_from_target_samples():
    rng = np.random.default_rng(0)
    basis = rng.normal(size=(3, 200)).cumsum(axis=1)  # three smooth sources of variation
    X = rng.normal(size=(30, 3)) @ basis + 0.1 * rng.normal(size=(30, 200))
    choice = compare_classifiers({f"{k}": DDSIMCA(k) for k in (1, 3, 12)}, X, n_repeats=1, n_reference=300)
    assert choice.reference == "principal components drawn independently, times 3"
    assert choice.table.index[-1] == "1"
    assert choice.table.loc["1", "accepted"] > 0.05  # permuted features would all be rejected
    assert choice.table.loc["1", "probability_tighter"] > 0.99


def test_same_seed_same_table():
    target, _ = make_scenario("e", random_state=3)
    one, two = (compare_classifiers([LOCAL], target, n_repeats=1, random_state=5).table for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_invalid_input_is_refused():
    with pytest.raises(ValueError, match="estimators is empty"):
        compare_classifiers([], np.zeros((20, 2)))
    with pytest.raises(ValueError, match="have the same parameters"):
        compare_classifiers([TOCC(), TOCC()], np.zeros((20, 2)))
    with pytest.raises(ValueError, match="minimum of 10 is required"):
        compare_classifiers([TOCC()], np.zeros((5, 2)))
    for one in (TOCC(), make_pipeline(PCA(2), TOCC())):
        with pytest.raises(TypeError, match=r"is one estimator; give a list or dict of them"):
            compare_classifiers(one, np.zeros((20, 2)))
    with pytest.raises(TypeError, match=r"LocalOutlierFactor.* cannot score new samples"):
        compare_classifiers([LocalOutlierFactor()], load_glass().control)


def test_n_jobs_and_every_parameter():
    target, _ = make_scenario("e", random_state=4)
    given = {"sensitivity": 0.8, "n_folds": 3, "n_repeats": 1, "n_reference": 50}
    with parallel_config(backend="threading"):  # processes would mostly wait for imports
        one, two = (
            compare_classifiers({"half": TOCC(tau_max="half"), "local": LOCAL}, target, n_jobs=n, **given)
            for n in (1, 2)
        )
    pd.testing.assert_frame_equal(one.table, two.table)
    shares = one.table["accepted"] * 50 * 3  # of fifty points, on average over three folds
    np.testing.assert_allclose(shares, shares.round(), atol=1e-9)
    more = compare_classifiers({"half": TOCC(tau_max="half"), "local": LOCAL}, target, **{**given, "sensitivity": 1.0})
    assert (more.table["accepted"] > one.table["accepted"].reindex(more.table.index)).all()


def test_groups_are_held_out_together():
    rng = np.random.default_rng(0)
    items = np.repeat(rng.normal(size=(40, 3)), 4, axis=0)
    X, groups = items + 0.01 * rng.normal(size=items.shape), np.repeat(np.arange(40), 4)
    nearest = {"kNN": NeighborTOCC(1), "Gaussian": GaussianOCC()}
    # Replicates of the same item in the training folds make the nearest neighbor look far too good.
    assert compare_classifiers(nearest, X, n_repeats=1).table.loc["kNN", "accepted"] < 0.02
    assert compare_classifiers(nearest, X, groups=groups, n_repeats=1).table.loc["kNN", "accepted"] > 0.1
    with pytest.raises(ValueError, match="n_folds=5 exceeds the number of groups, 4"):
        compare_classifiers(nearest, X, groups=groups // 10)
