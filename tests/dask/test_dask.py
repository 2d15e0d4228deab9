"""On Dask: the same bits as on one machine, a lost worker costs time and nothing else, errors name the partition."""

import os
import re
import signal
import types
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import transvariation as tv
from transvariation import dask as tv_dask
from transvariation import parallel

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")
client_of = pytest.importorskip("distributed")

from transvariation.dask import worker_failure as loss  # noqa: E402  these need Dask
from transvariation.dask.collections import DaskRows, parts_of  # noqa: E402

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
        # Workers that take the place of lost ones need not import everything anew.
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
        rule = tv_dask.TOCC().fit(target)
        np.testing.assert_array_equal(rule.center_, one.center_)
        assert rule.offset_ == one.offset_
    scores = rule.score_samples(dd.from_pandas(pd.DataFrame(Z, columns=["a", "b"]), npartitions=2))
    assert isinstance(scores, da.Array)
    np.testing.assert_array_equal(scores.compute(), one.score_samples(Z))
    labels = rule.predict(da.from_array(Z, chunks=(300, 2)))
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels.compute(), one.predict(Z))
    with pytest.raises(ValueError, match=r"\['b', 'a'\], the rule was fitted to \['a', 'b'\]"):
        rule.predict(frame[["b", "a"]])
    np.testing.assert_array_equal(rule.p_values(da.from_array(Z, chunks=(300, 2))).compute(), one.p_values(Z))
    small = pd.DataFrame(Z, columns=["a", "b"])  # answered at once
    np.testing.assert_array_equal(rule.decision_function(small), one.decision_function(Z))


def test_partitions_have_the_columns_that_the_frame_says_it_has(cluster):
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
    one, rule = tv.PAMTOCC(3).fit(some.compute()), tv_dask.PAMTOCC(3).fit(some)
    np.testing.assert_array_equal(rule.thresholds_, one.thresholds_)
    assert rule.coverage_report() == one.coverage_report()
    np.testing.assert_array_equal(rule.score_samples(da.from_array(Z, chunks=200)).compute(), one.score_samples(Z))
    held_out = [tv_dask.PAMTOCC(3, calibration="split").fit(rows).thresholds_ for rows in (some, some.compute())]
    np.testing.assert_array_equal(*held_out)
    smooth = tv_dask.DensityTOCC(density="gaussian").fit(some)
    expected = tv.DensityTOCC(density="gaussian").fit(some.compute())
    assert smooth.offset_ == expected.offset_
    np.testing.assert_array_equal(smooth.predict(da.from_array(Z, chunks=200)).compute(), expected.predict(Z))


def test_three_variables(rng, cluster):
    many = np.round(rng.normal(size=(900, 3)), 1)
    rule, one = tv_dask.TOCC().fit(da.from_array(many, chunks=(300, 3))), tv.TOCC().fit(many)
    assert rule.offset_ == one.offset_
    np.testing.assert_array_equal(rule.score_samples(many[:50]), one.score_samples(many[:50]))


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
    rule = tv_dask.TOCC()
    with pytest.raises(ValueError, match=message):
        rule.fit(bad)
    assert not hasattr(rule, "offset_")


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
    rule, one = tv_dask.TOCC().fit(rows), tv.TOCC().fit(X)
    assert marker.stat().st_size > 3
    assert rule.offset_ == one.offset_
    np.testing.assert_array_equal(rule.center_, one.center_)
    # The training scores that the lost worker kept are computed anew when they are asked for.
    os.kill(next(iter(cluster.run(os.getpid).values())), signal.SIGKILL)
    assert rule.set_sensitivity(0.8).offset_ == one.set_sensitivity(0.8).offset_
    assert set(cluster.scheduler_info()["workers"]) != before


def deadly_from(block, marker, reading, block_info=None):
    """From a certain reading of partition 2 on, its worker ends as if the kernel had ended it for want of memory."""
    if block_info[0]["chunk-location"][0] == 2:
        with open(marker, "a") as file:
            file.write("x")
        if os.path.getsize(marker) >= reading:
            os._exit(137)
    return block


# The first time that everything is looked at, in Newton's sums, and when rows are regrouped.
@pytest.mark.parametrize("reading", [1, 4, 6])
def test_a_worker_out_of_memory_is_an_error_that_names_the_partition(few_failures, tmp_path, reading):
    marker = tmp_path / "reads"
    deadly = da.from_array(X[:8_000], chunks=(2_000, 2)).map_blocks(deadly_from, str(marker), reading, dtype=float)
    rule = tv_dask.TOCC()
    with pytest.raises(RuntimeError, match=r"every worker that took partition 2 was lost.*smaller partitions"):
        rule.fit(deadly)
    assert not hasattr(rule, "offset_")


@pytest.fixture
def few_failures(cluster):
    cluster.run_on_scheduler(allow_failures, 1)
    yield cluster
    cluster.run_on_scheduler(allow_failures, 3)
    cluster.wait_for_workers(2, timeout=30)


def test_dask_may_blame_a_neighbour_but_we_do_not(monkeypatch):
    graph = dict(sum_of_partitions().__dask_graph__())
    keys = {i: next(k for k in graph if str(k).endswith(f"partition-{i}")) for i in range(4)}
    losses = [{keys[2], keys[3], "of another user"}, {keys[2], keys[3], keys[0]}, {keys[1], keys[2]}]
    events = [(0.0, {"action": "remove-worker", "expected": False, "processing-tasks": there}) for there in losses]
    client = types.SimpleNamespace(get_events=lambda topic: events)
    monkeypatch.setattr(client_of, "get_client", lambda: client)
    # Partition 3 was with partition 2 each time that it was there at a loss: both come under suspicion.
    assert loss._present_at_every_loss(keys[3], graph) == [keys[3], keys[2]]
    assert loss._present_at_every_loss(keys[2], graph) == [keys[2]]
    error = client_of.KilledWorker(task=keys[3], last_worker=None, allowed_failures=1)
    monkeypatch.setattr(loss, "_is_deadly", lambda key, graph: key == keys[2])
    assert "took partition 2 was lost" in loss._explained(error, [sum_of_partitions(graph)])
    monkeypatch.setattr(loss, "_is_deadly", lambda key, graph: False)
    assert "partition 2 and partition 3 on them; each of these passes alone" in loss._explained(
        error, [sum_of_partitions(graph)]
    )
    assert loss.Labels(graph).of([("source", 1, 0)]) == [("partition", 1)]


def sum_of_partitions(graph=None):
    from dask.delayed import Delayed

    graph = graph or {
        **{("source", i, 0): (int, i) for i in range(4)},
        **{f"transvariation-look-abc-partition-{i}": (int, ("source", i, 0)) for i in range(4)},
        "all": (sum, [f"transvariation-look-abc-partition-{i}" for i in range(4)]),
    }
    return Delayed("all", graph)


def test_a_slab_is_no_partition(cluster):
    rows = DaskRows(parts_of(da.from_array(X[:100], chunks=(50, 2))))
    regrouped = rows.exchange(_halves, 2).derive(_counted)
    assert [re.fullmatch(r"transvariation-.*-slab-(\d)", part.key)[1] for part in regrouped.parts] == ["0", "1"]
    with pytest.raises(MemoryError, match=r"does not suffice for slab 1 \(no room\)"):
        regrouped.map(_no_room)


def _halves(rows, number):
    return [rows[:10], rows[10:]]


def _counted(rows, number):
    return rows


def _no_room(rows, number):
    if number == 1:
        raise MemoryError("no room")


def allow_failures(number, dask_scheduler=None):
    dask_scheduler.allowed_failures = number


@pytest.mark.parametrize("what", ["ensemble", "calibration"])
def test_joblib_on_dask_changes_nothing(rng, cluster, what, monkeypatch):
    from joblib import parallel_config

    monkeypatch.setattr(parallel, "PAYS", 0.0)
    wide = rng.normal(size=(120, 6))
    if what == "ensemble":
        rule = tv.ProjectionEnsemble(
            tv.DensityTOCC(density="gaussian"), n_projections=7, n_candidates=5, random_state=0
        )
    else:
        rule = tv.CalibratedOCC(tv.DensityTOCC(density="gaussian"), calibration="cv")
        wide = wide[:, :2]
    alone = rule.fit(wide).score_samples(wide), rule.offset_
    with parallel_config(backend="dask"):
        together = rule.fit(wide).score_samples(wide), rule.offset_
    np.testing.assert_array_equal(alone[0], together[0])
    assert alone[1] == together[1]


def test_the_simulation_study_on_dask(cluster, tmp_path):
    from joblib import parallel_config

    from transvariation.studies.simulation import Study

    def table(folder, jobs):
        study = Study(scenarios="a", sizes=(40,), shifts=(1.0,), repeats=2, jobs=jobs)
        journal = study.journal(tmp_path / folder)
        for _ in study.run(journal):
            pass
        return study.table(journal).drop(columns="seconds")

    for folder in ("one", "scheduler", "joblib"):
        (tmp_path / folder).mkdir()
    alone = table("one", 1)
    pd.testing.assert_frame_equal(table("scheduler", cluster.scheduler.address), alone)
    with parallel_config(backend="dask"):
        pd.testing.assert_frame_equal(table("joblib", 2), alone)


def test_out_of_core_rules_do_not_score_lazily():
    rule = tv_dask.TOCC().fit(X[:500])
    with pytest.raises(ValueError, match="without Dask; give it arrays or blocks"):
        rule.score_samples(da.from_array(Z, chunks=200))


def test_a_model_file_does_not_fetch_the_rows_of_a_collection(tmp_path):
    rule = tv_dask.TOCC()
    tv.save(rule, tmp_path / "unfitted")
    with pytest.raises(TypeError, match=r"hold all its rows; fit one to a memory map, to blocks or, with X.compute"):
        tv.save(rule.fit(da.from_array(X[:500], chunks=(200, 2))), tmp_path / "fitted")
    assert [path.name for path in tmp_path.iterdir()] == ["unfitted"]
