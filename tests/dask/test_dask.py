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

from transvariation.dask.partitions import open_partitions

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


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.NoGuarantee")
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
    labels = classifier.predict(da.from_array(Z, chunks=(300, 2)))
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels.compute(), one.predict(Z))
    with pytest.raises(ValueError, match=r"\['b', 'a'\], the classifier was fitted to \['a', 'b'\]"):
        classifier.predict(frame[["b", "a"]])
    np.testing.assert_array_equal(classifier.p_values(da.from_array(Z, chunks=(300, 2))).compute(), one.p_values(Z))
    small = pd.DataFrame(Z, columns=["a", "b"])  # answered at once
    np.testing.assert_array_equal(classifier.decision_function(small), one.decision_function(Z))


def test_partitions_must_have_the_columns_of_the_frame(cluster):
    table = pd.DataFrame(X[:2_000], columns=["a", "b"])
    parts = [table[:1_000], table.loc[1_000:, ["b", "a"]]]
    mixed = dd.from_map(lambda i: parts[i], [0, 1], meta=table[:0])
    message = r"partition 1 has the columns \['b', 'a'\], not \['a', 'b'\]"
    with pytest.raises(ValueError, match=message):
        tv_dask.TOCC().fit(mixed)
    whole = dd.from_pandas(table, npartitions=2)
    for target in (whole, whole.to_dask_array(lengths=True)):
        with pytest.raises(ValueError, match=message):
            tv_dask.TOCC().fit(target).predict(mixed).compute()


def test_clusters_and_density(cluster):
    some = da.from_array(X[:1_900] + 0.001 * Z[0], chunks=(600, 2))
    one, classifier = tv.PAMTOCC(3).fit(some.compute()), tv_dask.PAMTOCC(3).fit(some)
    np.testing.assert_array_equal(classifier.thresholds_, one.thresholds_)
    assert classifier.coverage_report() == one.coverage_report()
    np.testing.assert_array_equal(
        classifier.score_samples(da.from_array(Z, chunks=200)).compute(), one.score_samples(Z)
    )
    held_out = [tv_dask.PAMTOCC(3, calibration="split").fit(rows).thresholds_ for rows in (some, some.compute())]
    np.testing.assert_array_equal(*held_out)
    smooth = tv_dask.DensityTOCC(density="gaussian").fit(some)
    expected = tv.DensityTOCC(density="gaussian").fit(some.compute())
    assert smooth.offset_ == expected.offset_
    np.testing.assert_array_equal(smooth.predict(da.from_array(Z, chunks=200)).compute(), expected.predict(Z))
    near, there = tv_dask.NeighborTOCC().fit(some), tv_dask.NeighborTOCC().fit(some.compute())
    assert near.offset_ == there.offset_
    for method in ("predict", "p_values", "transvariation_probability"):
        lazy = getattr(near, method)(da.from_array(Z, chunks=200))
        np.testing.assert_array_equal(lazy.compute(), getattr(there, method)(Z))


def test_three_variables(rng, cluster):
    many = np.round(rng.normal(size=(900, 3)), 1)
    classifier, one = tv_dask.TOCC().fit(da.from_array(many, chunks=(300, 3))), tv.TOCC().fit(many)
    assert classifier.offset_ == one.offset_
    np.testing.assert_array_equal(classifier.score_samples(many[:50]), one.score_samples(many[:50]))


def spoil(block, what, block_info=None):
    if block_info[0]["chunk-location"][0] != 2:
        return block
    return block.astype(object) if what == "dtype" else np.where(block == block.max(), np.nan, block)


@pytest.mark.parametrize(
    ("what", "message"),
    [("nan", "partition 2 holds NaN in its row"), ("dtype", "partition 2 has values of dtype obj")],
)
def test_a_bad_partition_is_named(cluster, what, message):
    bad = da.from_array(X[:8_000], chunks=(2_000, 2)).map_blocks(spoil, what, dtype=float)
    classifier = tv_dask.TOCC()
    with pytest.raises(ValueError, match=message):
        classifier.fit(bad)
    assert not hasattr(classifier, "offset_")


def once_in_a_while(block, marker, block_info=None):
    """The worker of partition 1 dies the third time that this partition is read, once."""
    if block_info[0]["chunk-location"][0] == 1:
        with open(marker, "a") as file:
            file.write("x")
        if os.path.getsize(marker) == 3:
            os._exit(1)
    return block


def test_a_killed_worker_costs_time_not_the_result(cluster, tmp_path):
    marker = tmp_path / "reads"
    rows = da.from_array(X, chunks=(12_000, 2)).map_blocks(once_in_a_while, str(marker), dtype=float)
    before = set(cluster.scheduler_info()["workers"])
    classifier, one = tv_dask.TOCC().fit(rows), tv.TOCC().fit(X)
    assert marker.stat().st_size > 3
    assert classifier.offset_ == one.offset_
    np.testing.assert_array_equal(classifier.center_, one.center_)
    # The training scores that the lost worker kept are recomputed when they are needed.
    os.kill(next(iter(cluster.run(os.getpid).values())), signal.SIGKILL)
    assert classifier.set_sensitivity(0.8).offset_ == one.set_sensitivity(0.8).offset_
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


def test_memory_errors_name_the_partition(cluster):
    rows = open_partitions(da.from_array(X[:100], chunks=(50, 2)))
    with pytest.raises(MemoryError, match=r"not enough memory for partition 1 \(no room\)"):
        rows.map(_no_room)


def _no_room(rows, number):
    if number == 1:
        raise MemoryError("no room")


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


def test_the_simulation_study_on_dask(cluster, tmp_path):
    from joblib import parallel_config

    from transvariation.studies.simulation import Study

    def table(folder, jobs):
        study = Study(scenarios="a", sizes=(40,), shifts=(1.0,), repeats=2, jobs=jobs)
        checkpoint = study.checkpoint(tmp_path / folder)
        for _ in study.run(checkpoint):
            pass
        return study.table(checkpoint).drop(columns="seconds")

    for folder in ("one", "scheduler", "joblib"):
        (tmp_path / folder).mkdir()
    alone = table("one", 1)
    pd.testing.assert_frame_equal(table("scheduler", cluster.scheduler.address), alone)
    with parallel_config(backend="dask"):
        pd.testing.assert_frame_equal(table("joblib", 2), alone)


def test_a_fit_on_one_machine_does_not_score_lazily():
    classifier = tv_dask.TOCC().fit(X[:500])
    with pytest.raises(ValueError, match="not to a Dask collection; give it arrays or blocks"):
        classifier.score_samples(da.from_array(Z, chunks=200))


def test_a_model_file_does_not_fetch_the_rows_of_a_collection(tmp_path):
    classifier = tv_dask.TOCC()
    tv.save(classifier, tmp_path / "unfitted")
    with pytest.raises(TypeError, match=r"hold all its rows; fit one to a memory map, to blocks or, with X.compute"):
        tv.save(classifier.fit(da.from_array(X[:500], chunks=(200, 2))), tmp_path / "fitted")
    assert [path.name for path in tmp_path.iterdir()] == ["unfitted"]
