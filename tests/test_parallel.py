"""Several workers give what one gives, to the last bit; and none are called for a trifle."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from joblib import parallel_config

import transvariation as tv
from transvariation import baselines, parallel
from transvariation.decomposition import projections
from transvariation.density import engine, search

seeded = np.random.default_rng(5)
PLANE = seeded.normal(size=(2_100, 2))
LATTICE = np.round(seeded.normal(size=(2_100, 2)), 1)
SPACE = np.round(seeded.normal(size=(2_100, 3)), 1)


@pytest.fixture
def shared_out(monkeypatch):
    """Small problems are taken for large ones."""
    monkeypatch.setattr(parallel, "_CHUNK", 50_000)
    monkeypatch.setattr(parallel, "_FEW", 2)
    monkeypatch.setattr(search, "_BATCH", 2_000)
    monkeypatch.setattr(projections, "_CHUNK", 20_000)


RULES = {
    "counting": partial(tv.TOCC),
    "counting, literal": partial(tv.TOCC, ties="literal"),
    "counting, half": partial(tv.TOCC, tau_max="half"),
    "clusters": partial(tv.PAMTOCC, 3),
    "density": partial(tv.DensityTOCC, density="gaussian"),
    "kernels": partial(tv.KernelTOCC, calibration="split"),
    "kernel density": partial(baselines.KDEOCC, bandwidth="scott"),
    "ball": partial(baselines.SVDD),
}


@pytest.mark.parametrize("X", [PLANE, LATTICE, SPACE, PLANE[:, :1]], ids=["plane", "lattice", "space", "line"])
@pytest.mark.parametrize("name", RULES)
def test_the_same_bits_for_any_number_of_workers(shared_out, name, X):
    X = X[:600] if name in ("kernels", "kernel density", "ball", "density") else X
    Z = np.concatenate([X[:500] * 1.3, X[:500], X[:1] * 0 + np.median(X, axis=0)])
    one = RULES[name](n_jobs=1).fit(X)
    for n_jobs in (2, -1):
        rule = RULES[name](n_jobs=n_jobs).fit(X)
        np.testing.assert_array_equal(rule._calibration_scores, one._calibration_scores)
        np.testing.assert_array_equal(rule.thresholds_, one.thresholds_)
        np.testing.assert_array_equal(rule.score_samples(Z), one.score_samples(Z))


def test_mixtures_projections_and_selections(rng, shared_out):
    X = rng.normal(size=(150, 4)) ** 2
    grids = [tv.GaussianMixtureBIC(range(1, 4), n_jobs=n_jobs).fit(X) for n_jobs in (1, 2)]
    np.testing.assert_array_equal(grids[0].bic_, grids[1].bic_)
    vips = [tv.VIPSelector(n_projections=11, random_state=0, n_jobs=n_jobs).fit(X).ci_ for n_jobs in (1, 2)]
    np.testing.assert_array_equal(*vips)


TWO_ENGINES = """
import numpy as np, transvariation as tv
from transvariation import parallel
from transvariation.density import engine
parallel.PAYS = 0
engine.LOAD_FROM, engine.COMPILE_FROM = 1e5, 1e5  # some fits alone are below, all together above
X = np.random.default_rng(1).normal(size=(60, 3)) ** 2
few = tv.GaussianMixtureBIC(range(1, 4), models=("VEI", "VEV"), random_state=0)
rules = [tv.CalibratedOCC(tv.DensityTOCC(density=few), n_jobs=n, calibration="cv").fit(X[:, :2]) for n in (2, 1)]
assert (rules[0]._calibration_scores == rules[1]._calibration_scores).all()
crowd = [
    tv.ProjectionEnsemble(tv.DensityTOCC(density=few), n_projections=6, n_candidates=3, random_state=0, n_jobs=n).fit(X)
    for n in (2, 1)
]
assert (crowd[0].member_ranks(X) == crowd[1].member_ranks(X)).all()
assert (crowd[0]._known_scores == crowd[1]._known_scores).all()
chosen = [tv.VarSel(mixture=few, n_jobs=n).fit(X).bic_differences_.to_numpy() for n in (2, 1)]
np.testing.assert_array_equal(*chosen)
"""


def test_processes_choose_the_engine_that_one_would():
    # In processes of their own: what ran before in this one must not decide.
    subprocess.run([sys.executable, "-c", TWO_ENGINES], check=True)


def test_the_engine_in_a_lot_depends_on_nothing_else(monkeypatch):
    monkeypatch.setattr(engine, "compiled_engine", engine.cache(lambda: "compiled"))
    monkeypatch.setattr(engine, "_asked_for", 0.0)
    monkeypatch.setattr(engine, "_on_disk", lambda: {engine.IN_PLANE})
    monkeypatch.setattr(engine, "can_compile", lambda: True)
    small, large = engine.lot_of(2), engine.lot_of(1000)
    for _ in range(5):
        with engine.part_of(large):
            assert engine.choose_engine(engine.LOAD_FROM / 500, 2) == "compiled"
        with engine.part_of(small):
            assert engine.choose_engine(engine.LOAD_FROM / 500, 2).merge is None
            with engine.part_of(engine.lot_of(1000)):  # a lot within a piece
                assert engine.choose_engine(engine.LOAD_FROM / 500, 2) == "compiled"
            assert engine.choose_engine(engine.LOAD_FROM / 500, 2).merge is None


@pytest.mark.filterwarnings("ignore::transvariation.conformal.RejectsNothing")
def test_a_trifle_is_done_at_once(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("workers were called for a trifle")

    monkeypatch.setattr(parallel, "Parallel", refuse)
    monkeypatch.setattr(parallel, "PAYS", 60.0)  # a busy machine makes two seconds of a trifle
    X = PLANE[:87]
    for rule in (
        tv.TOCC(n_jobs=2, calibration="cv"),
        tv.KernelTOCC(n_jobs=2),
        tv.PAMTOCC(3, n_jobs=2, calibration="cv"),
        tv.DensityTOCC(density="gaussian", n_jobs=2),
        baselines.SVDD(n_jobs=2, calibration="cv"),
        baselines.GaussianOCC(n_jobs=2, calibration="cv"),
        baselines.KMeansOCC(n_jobs=2, n_init=1, calibration="cv"),
        baselines.KDEOCC(n_jobs=2, calibration="cv"),
    ):
        rule.fit(X).score_samples(X)


def test_joblib_decides_where(monkeypatch):
    monkeypatch.setattr(parallel, "PAYS", 0.0)
    alone = baselines.SOMOCC(calibration="cv", n_epochs=2, random_state=0).fit(PLANE[:60])
    with parallel_config(backend="threading", n_jobs=2):
        together = baselines.SOMOCC(calibration="cv", n_epochs=2, random_state=0).fit(PLANE[:60])
    np.testing.assert_array_equal(alone._calibration_scores, together._calibration_scores)


def test_an_error_in_a_worker_is_the_error():
    with pytest.raises(ZeroDivisionError):
        parallel.run_in_threads(divmod, [(1, 1), (1, 0)], n_jobs=2)
