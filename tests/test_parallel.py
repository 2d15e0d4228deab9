"""Several workers give what one gives, to the last bit."""

from functools import partial

import numpy as np
import pytest
from joblib import parallel_config

import transvariation as tv
from transvariation import baselines, parallel
from transvariation.decomposition import projections
from transvariation.density import em

seeded = np.random.default_rng(5)
PLANE = seeded.normal(size=(2_100, 2))
LATTICE = np.round(seeded.normal(size=(2_100, 2)), 1)
SPACE = np.round(seeded.normal(size=(2_100, 3)), 1)


@pytest.fixture
def shared_out(monkeypatch):
    """Share out problems that are too small for it otherwise."""
    monkeypatch.setattr(parallel, "_CHUNK_COST", 50_000)
    monkeypatch.setattr(em, "_BATCH_SIZE", 2_000)
    monkeypatch.setattr(projections, "_BLOCK_VALUES", 20_000)


CLASSIFIERS = {
    "counting": partial(tv.TOCC),
    "counting, literal": partial(tv.TOCC, ties="literal"),
    "counting, half": partial(tv.TOCC, tau_max="half"),
    "clusters": partial(tv.PAMTOCC, 3),
    "density": partial(tv.DensityTOCC, density="gaussian"),
    "neighbors": partial(tv.NeighborTOCC, calibration="split"),
    "kernel density": partial(baselines.KDEOCC, bandwidth="scott"),
    "ball": partial(baselines.SVDD),
}


@pytest.mark.parametrize("X", [PLANE, LATTICE, SPACE, PLANE[:, :1]], ids=["plane", "lattice", "space", "line"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_number_of_threads_does_not_change_the_result(shared_out, name, X):
    X = X[:600] if name in ("kernel density", "ball", "density") else X
    Z = np.concatenate([X[:500] * 1.3, X[:500], X[:1] * 0 + np.median(X, axis=0)])
    one = CLASSIFIERS[name](n_jobs=1).fit(X)
    several = CLASSIFIERS[name](n_jobs=3).fit(X)
    np.testing.assert_array_equal(several._calibration.scores, one._calibration.scores)
    np.testing.assert_array_equal(several.thresholds_, one.thresholds_)
    np.testing.assert_array_equal(several.score_samples(Z), one.score_samples(Z))


def test_number_of_threads_does_not_change_mixtures_and_projections(rng, shared_out):
    X = rng.normal(size=(150, 4)) ** 2
    grids = [tv.GaussianMixtureBIC(range(1, 4), n_jobs=n_jobs).fit(X) for n_jobs in (1, 2)]
    np.testing.assert_array_equal(grids[0].bic_, grids[1].bic_)
    vips = [tv.VIPSelector(n_projections=11, random_state=0, n_jobs=n_jobs).fit(X).ci_ for n_jobs in (1, 2)]
    np.testing.assert_array_equal(*vips)


@pytest.mark.slow
def test_processes_do_not_change_the_result(rng):
    X = rng.normal(size=(60, 3)) ** 2
    few = tv.GaussianMixtureBIC(range(1, 4), models=("VEI", "VEV"), random_state=0)
    classifiers = [
        tv.CalibratedOCC(tv.DensityTOCC(density=few), n_jobs=n, calibration="cv").fit(X[:, :2]) for n in (2, 1)
    ]
    np.testing.assert_array_equal(*(classifier.p_values(X[:, :2]) for classifier in classifiers))
    options = {"n_projections": 6, "n_candidates": 3, "random_state": 0}
    ensembles = [tv.ProjectionEnsemble(tv.DensityTOCC(density=few), **options, n_jobs=n).fit(X) for n in (2, 1)]
    np.testing.assert_array_equal(*(ensemble.member_ranks(X) for ensemble in ensembles))
    chosen = [tv.VarSel(mixture=few, n_jobs=n).fit(X).bic_differences_.to_numpy() for n in (2, 1)]
    np.testing.assert_array_equal(*chosen)


def test_joblib_backend_does_not_change_the_result():
    alone = baselines.SOMOCC(calibration="cv", n_epochs=2, random_state=0).fit(PLANE[:60])
    with parallel_config(backend="threading", n_jobs=2):
        together = baselines.SOMOCC(calibration="cv", n_epochs=2, random_state=0).fit(PLANE[:60])
    np.testing.assert_array_equal(alone._calibration.scores, together._calibration.scores)


def test_an_error_in_a_worker_is_raised():
    with pytest.raises(ZeroDivisionError):
        parallel.run_in_threads(divmod, [(1, 1), (1, 0)], n_jobs=2)
