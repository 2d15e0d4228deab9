"""On Dask: the same bits as on one machine, a lost worker costs time and nothing else, errors name the partition."""

import logging
import logging.handlers
import os
import signal
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import transvariation as tv
from transvariation import dask as tv_dask

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")
client_of = pytest.importorskip("distributed")

seeded = np.random.default_rng(1)
X = np.round(seeded.normal(size=(36_000, 2)), 2)
Z = seeded.normal(size=(700, 2)) * 1.5


@contextmanager
def preloaded(*modules):
    context = client_of.utils.get_mp_context()
    context.set_forkserver_preload(list(modules))
    yield


@pytest.fixture(scope="module")
def cluster():
    quiet = {
        "distributed.worker.profile.enabled": False,
        "distributed.comm.timeouts.connect": "30s",
        # A name whose worker is away when this is over is given up for good, and here workers are lost often.
        "distributed.deploy.lost-worker-timeout": "1h",
        # Workers that take the place of lost ones need not repeat all imports.
        "distributed.worker.multiprocessing-method": "forkserver",
    }
    with (
        dask.config.set(quiet),
        preloaded("distributed", "dask.dataframe", "transvariation.dask", "sklearn.utils.validation"),
        client_of.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
        client_of.Client(cluster) as client,
    ):
        yield client


def test_array_and_frame_equal_one_machine(cluster):
    one = tv.TOCC().fit(X)
    uneven = da.from_array(X, chunks=((7, 16_384, 10_000, 9_609), (1, 1)))
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b"]), npartitions=3)
    for target in (uneven, frame):
        classifier = tv_dask.TOCC().fit(target)
        np.testing.assert_array_equal(classifier.center_, one.center_)
        assert classifier.offset_ == one.offset_
    scores = classifier.score_samples(dd.from_pandas(pd.DataFrame(Z, columns=["a", "b"]), npartitions=2))
    assert isinstance(scores, da.Array)
    np.testing.assert_array_equal(scores.compute(), one.score_samples(Z))
    new = dd.from_pandas(pd.DataFrame(Z, columns=["a", "b"]), npartitions=3)
    for method in ("predict", "p_values", "transvariation_probability"):
        lazy = getattr(classifier, method)(new)
        np.testing.assert_array_equal(lazy.compute(), getattr(one, method)(Z))
    assert classifier.predict(new).dtype == np.int64
    with pytest.raises(ValueError, match=r"partition \d: The feature names should match"):
        classifier.predict(frame[["b", "a"]]).compute()


def spoil(block, block_info=None):
    return np.where(block == block.max(), np.nan, block) if block_info[0]["chunk-location"][0] == 2 else block


def test_a_bad_partition_is_named(cluster):
    bad = da.from_array(X[:8_000], chunks=(2_000, 2)).map_blocks(spoil, dtype=float)
    with pytest.raises(ValueError, match=r"partition 2: .*NaN"):
        tv_dask.TOCC().fit(X[:500]).predict(bad).compute()


def once_in_a_while(block, marker, block_info=None):
    """The worker of partition 1 dies the first time that this partition is read."""
    if block_info[0]["chunk-location"][0] == 1:
        with open(marker, "a") as file:
            file.write("x")
        if os.path.getsize(marker) == 1:
            os._exit(1)
    return block


def test_a_killed_worker_costs_time_not_the_result(cluster, tmp_path):
    marker = tmp_path / "reads"
    rows = da.from_array(X, chunks=(12_000, 2)).map_blocks(once_in_a_while, str(marker), dtype=float)
    before = set(cluster.scheduler_info()["workers"])
    classifier, one = tv_dask.TOCC().fit(rows), tv.TOCC().fit(X)
    assert marker.stat().st_size > 1
    assert classifier.offset_ == one.offset_
    np.testing.assert_array_equal(classifier.center_, one.center_)
    assert set(cluster.scheduler_info()["workers"]) != before


def test_no_key_stands_for_two_tasks(cluster):
    """The scheduler warns where it gets a key that it knows with another task."""
    logger, warned = logging.getLogger("distributed.scheduler"), logging.handlers.BufferingHandler(1000)
    level = logger.level
    logger.setLevel(logging.WARNING)
    logger.addHandler(warned)
    try:
        rows, new = da.from_array(X[:2000], chunks=(500, 2)), da.from_array(Z, chunks=(300, 2))
        for kind in (tv_dask.TOCC, tv_dask.NeighborTOCC):
            classifier = kind().fit(rows)
            scores = classifier.score_samples(new).compute()
            classifier.p_values(new).compute()
            classifier.fit(new).predict(rows).compute()
            np.testing.assert_array_equal(classifier.fit(rows).score_samples(new).compute(), scores)
        assert [record.getMessage() for record in warned.buffer] == []
        os.kill(next(iter(cluster.run(os.getpid).values())), signal.SIGKILL)
        np.testing.assert_array_equal(classifier.score_samples(new).compute(), scores)
        assert not any("run_spec" in record.getMessage() for record in warned.buffer)
    finally:
        logger.removeHandler(warned)
        logger.setLevel(level)


@pytest.mark.parametrize("what", ["ensemble", "calibration"])
def test_joblib_on_dask_changes_nothing(rng, cluster, what):
    from joblib import parallel_config

    wide = rng.normal(size=(120, 6))
    if what == "ensemble":
        classifier = tv.ProjectionEnsemble(
            tv.DensityTOCC(density="gaussian"), n_projections=7, n_candidates=5, random_state=0
        )
    else:
        classifier = tv.CalibratedOCC(tv.DensityTOCC(density="gaussian"), calibration="cv")
        wide = wide[:, :2]
    alone = classifier.fit(wide).score_samples(wide), classifier.offset_
    with parallel_config(backend="dask"):
        together = classifier.fit(wide).score_samples(wide), classifier.offset_
    np.testing.assert_array_equal(alone[0], together[0])
    assert alone[1] == together[1]


def test_the_simulation_study_on_dask(small_study, cluster):
    from joblib import parallel_config

    alone = small_study(1)
    with parallel_config(backend="dask"):
        pd.testing.assert_frame_equal(small_study(3), alone)  # by 2, another test may have run it
