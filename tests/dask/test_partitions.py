"""Out of core on one machine: the same center, tp and threshold to the last bit, for every partitioning."""

import dataclasses
import errno
import io
import os
import pickle
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

pytest.importorskip("dask")

import transvariation as tv
from transvariation import dask, load, save
from transvariation.dask import calibration
from transvariation.dask.calibration import describes
from transvariation.dask.partitions import Scratch, open_partitions
from transvariation.dask.spatial_median import spatial_median_of_partitions
from transvariation.depth.median import SUM_ROWS
from transvariation.exceptions import RejectsNothing

seeded = np.random.default_rng(0)
SAMPLES = {
    "normal": seeded.normal(size=(34_000, 2)),
    "rounded, many ties, the centre a data point": np.round(seeded.normal(size=(34_000, 2)), 1),
    "compiled": seeded.normal(size=(60_000, 2)),
    "one variable": seeded.normal(size=(20_001, 1)),
    "one rounded variable": np.round(seeded.normal(size=(20_000, 1)), 1),
    "a constant variable": np.column_stack([np.ones(2_000), seeded.normal(size=2_000)]),
    "one line": np.column_stack([np.arange(2_001.0), 2 * np.arange(2_001.0)])[seeded.permutation(2_001)],
    "squares overflow": seeded.normal(size=(2_000, 2)) * 1e200,
    "all the same": np.full((100, 2), 3.0),
    "two rows": np.array([[0.0, 1.0], [2.0, 5.0]]),
    "three variables": np.round(seeded.normal(size=(2_000, 3)), 1),
    "more variables than rows": seeded.normal(size=(5, 9)),
}


def blocks(X, sizes):
    return lambda: iter(np.split(X, np.cumsum(sizes)[:-1]))


def cuts(n):
    yield [n]
    yield [1, n - 1]
    if n > SUM_ROWS + 100:
        yield [7, SUM_ROWS, 0, n - SUM_ROWS - 57, 50]
        yield ([SUM_ROWS, SUM_ROWS, n - 2 * SUM_ROWS] if n > 2 * SUM_ROWS else [SUM_ROWS, n - SUM_ROWS])
    yield [n // 7] * 6 + [n - 6 * (n // 7)]


# Only rounded values meet the centre, where the readings of ties differ.
@pytest.mark.parametrize(
    ("name", "ties"), [(name, "proper") for name in SAMPLES] + [(n, "literal") for n in SAMPLES if "rounded" in n]
)
def test_the_same_bits_for_any_partitioning(name, ties):
    X = SAMPLES[name]
    one, Z = tv.TOCC(ties=ties).fit(X), np.concatenate([X[:40], X[:40] * 1.5 + 0.1, X[:1] * 0 + X.mean()])
    for sizes in cuts(len(X)):
        classifier = dask.TOCC(ties=ties).fit(blocks(X, sizes))
        np.testing.assert_array_equal(classifier.center_, one.center_)
        assert classifier.offset_ == one.offset_
        scores = np.concatenate(classifier._calibration.scores[0].map(lambda rows, number: rows[:, 0]))
        np.testing.assert_array_equal(np.sort(scores), np.sort(one._calibration.scores))
        np.testing.assert_array_equal(classifier.transvariation_probability(Z), one.transvariation_probability(Z))
        np.testing.assert_array_equal(classifier.predict(Z), one.predict(Z))
        np.testing.assert_array_equal(classifier.p_values(Z), one.p_values(Z))


def test_half_and_another_sensitivity():
    X = SAMPLES["rounded, many ties, the centre a data point"]
    one = tv.TOCC(tau_max="half", sensitivity=0.75).fit(X)
    classifier = dask.TOCC(tau_max="half", sensitivity=0.75).fit(X)
    assert classifier.offset_ == one.offset_
    for share in (1.0, 0.99, 0.5, 0.001):
        assert classifier.set_sensitivity(share).offset_ == one.set_sensitivity(share).offset_


@pytest.mark.parametrize("p", [1, 2, 3])
def test_clusters_equal_one_machine_where_the_sample_is_everything(rng, p):
    X = rng.normal(size=(1_900, p))
    one = tv.PAMTOCC(3).fit(X)
    classifier = dask.PAMTOCC(3).fit(blocks(X, [1_000, 899, 1]))
    np.testing.assert_array_equal(classifier.centers_, one.centers_)
    np.testing.assert_array_equal(classifier.thresholds_, one.thresholds_)
    np.testing.assert_array_equal(classifier.score_samples(X), one.score_samples(X))
    np.testing.assert_array_equal(classifier.p_values(X), one.p_values(X))
    assert classifier.offset_ == 0.0
    shares = [0.9, 0.8, 0.7]
    np.testing.assert_array_equal(
        classifier.set_sensitivity(shares).thresholds_, one.set_sensitivity(shares).thresholds_
    )
    assert classifier.set_params(sensitivity=0.5).coverage_report() == one.coverage_report()


class Halves:
    """The halves of rows in partitions, for a classifier on one machine."""

    def split(self, X, y=None, groups=None):
        describing = describes(np.arange(len(X), dtype=np.uint64))
        yield np.flatnonzero(describing), np.flatnonzero(~describing)

    def get_n_splits(self, X=None, y=None, groups=None):
        return 1


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNothing")
@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in ("all the same", "two rows", "compiled")])
def test_half_describes_and_half_calibrates(name):
    X = SAMPLES[name]
    one, Z = tv.TOCC(calibration=Halves(), sensitivity=0.7).fit(X), np.concatenate([X[:40], X[:40] * 1.5 + 0.1])
    for sizes in list(cuts(len(X)))[1:3]:
        classifier = dask.TOCC(calibration="split", sensitivity=0.7).fit(blocks(X, sizes))
        np.testing.assert_array_equal(classifier.center_, one.center_)
        scores = np.concatenate(classifier._calibration.scores[0].map(lambda rows, number: rows[:, 0]))
        np.testing.assert_array_equal(np.sort(scores), np.sort(one._calibration.scores))
        assert classifier.offset_ == one.offset_
        np.testing.assert_array_equal(classifier.predict(Z), one.predict(Z))
        np.testing.assert_array_equal(classifier.p_values(Z), one.p_values(Z))
        assert classifier.coverage_report() == dataclasses.replace(one.coverage_report(), calibration="split")


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNothing")
@pytest.mark.parametrize("p", [1, 2, 3])
def test_halves_in_clusters_some_of_which_share_a_threshold(rng, p):
    X = np.concatenate([rng.normal(size=(1_500, p)), 99 + rng.normal(size=(12, p))])
    one = tv.PAMTOCC(3, calibration=Halves()).fit(X)
    classifier = dask.PAMTOCC(3, calibration="split").fit(blocks(X, [1_000, 512]))
    np.testing.assert_array_equal(classifier.centers_, one.centers_)
    np.testing.assert_array_equal(classifier.thresholds_, one.thresholds_)
    assert len(classifier.coverage_report().n_per_stratum) < 3  # the few far ones are too few
    assert classifier.coverage_report() == dataclasses.replace(one.coverage_report(), calibration="split")
    np.testing.assert_array_equal(classifier.p_values(X), one.p_values(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one share for each cluster: the small one is too small for its own
        shares = [0.9, 0.8, 0.7]
        np.testing.assert_array_equal(
            classifier.set_sensitivity(shares).thresholds_, one.set_sensitivity(shares).thresholds_
        )


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNothing")
def test_a_stratum_without_calibration_rows_uses_those_of_all(rng):
    X = np.concatenate([[[99.0, 99.0]], rng.normal(size=(300, 2))])  # the first row describes
    one = tv.PAMTOCC(3, calibration=Halves(), sensitivity=[0.5, 0.6, 0.7]).fit(X)
    classifier = dask.PAMTOCC(3, calibration="split", sensitivity=[0.5, 0.6, 0.7]).fit(blocks(X, [100, 201]))
    assert min(classifier._calibration.counts) == 0
    np.testing.assert_array_equal(classifier.thresholds_, one.thresholds_)
    np.testing.assert_array_equal(classifier.p_values(X), one.p_values(X))
    assert classifier.coverage_report() == dataclasses.replace(one.coverage_report(), calibration="split")


def test_halves_under_a_density(rng):
    X = rng.normal(size=(2_000, 2))
    one = tv.DensityTOCC(density="gaussian", calibration=Halves()).fit(X)
    classifier = dask.DensityTOCC(density="gaussian", calibration="split").fit(blocks(X, [700, 1_300]))
    assert classifier.offset_ == one.offset_
    assert classifier.coverage_report() == dataclasses.replace(one.coverage_report(), calibration="split")
    np.testing.assert_array_equal(classifier.p_values(X), one.p_values(X))


def test_an_unsupported_sensitivity_warns_at_the_calling_line(rng):
    X = rng.normal(size=(60, 2))
    one = tv.DensityTOCC(density="gaussian", calibration=Halves()).fit(X)
    classifier = dask.DensityTOCC(density="gaussian", calibration="split").fit(X)
    with pytest.warns(UserWarning, match=r"sensitivity=0\.999 is not supported by") as caught:
        classifier.set_sensitivity(0.999)
    assert classifier.offset_ == -np.inf
    with pytest.warns(UserWarning, match="is not supported by") as there:
        assert classifier.offset_ == one.set_sensitivity(0.999).offset_
    assert str(caught[0].message) == str(there[0].message)
    assert caught[0].filename == __file__


def test_halves_are_halves():
    bits = describes(np.arange(1 << 16, dtype=np.uint64))
    assert abs(bits.mean() - 0.5) < 0.01
    for lag in (1, 2, 3, 64, 1000):
        assert abs(np.mean(bits[lag:] == bits[:-lag]) - 0.5) < 0.01


def test_equally_close_medoids_on_a_lattice():
    X, between = np.round(np.random.default_rng(3).normal(size=(900, 2)) * 2), 0
    for k in (2, 3, 6):
        one, classifier = tv.PAMTOCC(k).fit(X), dask.PAMTOCC(k).fit(blocks(X, [500, 400]))
        distance = np.sort(np.linalg.norm(X[:, None] - one.centers_, axis=2), axis=1)
        between += np.sum(distance[:, 0] == distance[:, 1])
        np.testing.assert_array_equal(one.labels_, one.description_.strata(X))
        np.testing.assert_array_equal(classifier.centers_, one.centers_)
        np.testing.assert_array_equal(classifier.thresholds_, one.thresholds_)
        np.testing.assert_array_equal(classifier.score_samples(X), one.score_samples(X))
    assert between > 20  # there are objects in question


def test_clusters_from_a_sample_do_not_depend_on_the_partitioning(rng):
    X = rng.normal(size=(6_000, 2)) + rng.choice([0.0, 8.0], size=(6_000, 1))
    classifiers = [dask.PAMTOCC(2).fit(blocks(X, sizes)) for sizes in cuts(len(X))]
    for classifier in classifiers:
        np.testing.assert_array_equal(classifier.centers_, classifiers[0].centers_)
        np.testing.assert_array_equal(classifier.thresholds_, classifiers[0].thresholds_)
        assert np.mean(classifier.predict(X) == 1) >= 0.9


def test_density_from_a_sample_is_that_of_one_machine_where_the_sample_is_everything(rng):
    X = rng.normal(size=(3_000, 2))
    one = tv.DensityTOCC(density="gaussian", scale="log").fit(X)
    classifier = dask.DensityTOCC(density="gaussian", scale="log").fit(blocks(X, [2_000, 1_000]))
    assert classifier.offset_ == one.offset_
    np.testing.assert_array_equal(classifier.score_samples(X), one.score_samples(X))
    np.testing.assert_array_equal(classifier.transvariation_probability(X), one.transvariation_probability(X))


@pytest.mark.parametrize(
    ("classifier", "others"),
    [
        (
            dask.TOCC(calibration="split", sensitivity=0.7),
            {"calibration": "resubstitution", "tau_max": "half", "ties": "literal"},
        ),
        (dask.PAMTOCC(2), {"calibration": "split", "ties": "literal", "n_clusters": 3}),
        (dask.DensityTOCC(density="gaussian"), {"calibration": "split", "tau_max": "half", "scale": "log"}),
    ],
)
def test_parameters_set_after_the_fit_are_for_the_next_one(rng, classifier, others):
    X = np.round(rng.normal(size=(400, 2)), 1)
    classifier, changed = clone(classifier).fit(X), clone(classifier).fit(X).set_params(**others)
    changed = load_again(changed)
    for method in ("predict", "p_values", "transvariation_probability"):
        np.testing.assert_array_equal(getattr(changed, method)(X), getattr(classifier, method)(X))
    np.testing.assert_array_equal(changed.set_sensitivity(0.6).thresholds_, classifier.set_sensitivity(0.6).thresholds_)


def load_again(classifier):
    save(classifier, file := io.BytesIO())
    return load(file)


def test_memory_maps_frames_and_functions_answer_in_kind(rng, tmp_path):
    import pandas as pd

    X = rng.normal(size=(5_000, 2))
    np.save(tmp_path / "x.npy", X)
    one = tv.TOCC().fit(X)
    classifier = dask.TOCC().fit(np.load(tmp_path / "x.npy", mmap_mode="r"))
    assert classifier.offset_ == one.offset_
    parts = list(classifier.score_samples(blocks(X, [10, 4_990])))
    assert [len(part) for part in parts] == [10, 4_990]
    np.testing.assert_array_equal(np.concatenate(parts), one.score_samples(X))
    np.testing.assert_array_equal(np.concatenate(list(classifier.p_values(blocks(X, [10, 4_990])))), one.p_values(X))
    table = pd.DataFrame(X, columns=["a", "b"])
    classifier.fit(table)
    assert list(classifier.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        classifier.predict(table[["b", "a"]])


def test_blocks_that_are_tables_have_the_same_columns_in_the_same_order(rng, tmp_path):
    import pandas as pd

    X = rng.normal(size=(900, 2)) * [1, 100]
    table = pd.DataFrame(X, columns=["a", "b"])
    tables = [table.loc[:0, ["b", "a"]][:0], table[:300], table[300:]]  # what has no rows has no say
    classifier = dask.TOCC(scratch=tmp_path).fit(lambda: iter(tables))
    assert classifier.offset_ == tv.TOCC().fit(X).offset_
    assert list(classifier.feature_names_in_) == ["a", "b"]
    assert list(pickle.loads(pickle.dumps(classifier)).feature_names_in_) == ["a", "b"]
    swapped = [table[:300], table.loc[300:, ["b", "a"]]]
    message = r"partition 1 has the columns \['b', 'a'\], not \['a', 'b'\]"
    with pytest.raises(ValueError, match=message):
        dask.TOCC(scratch=tmp_path).fit(lambda: iter(swapped))
    for answer in (classifier.predict, classifier.score_samples, classifier.p_values):
        with pytest.raises(ValueError, match=message):
            list(answer(lambda: iter(swapped)))
        np.testing.assert_array_equal(
            np.concatenate(list(answer(lambda: iter([table[:5], X[5:9]])))),
            np.concatenate(list(answer(lambda: iter([table[:9]])))),
        )
    by_arrays = dask.TOCC().fit(blocks(X, [900]))
    assert not hasattr(by_arrays, "feature_names_in_")
    with pytest.raises(ValueError, match=message):
        list(by_arrays.predict(lambda: iter(swapped)))
    numbered = [block.set_axis([0, 1], axis=1) for block in tables]
    assert not hasattr(dask.TOCC().fit(lambda: iter(numbered)), "feature_names_in_")


def test_memory_is_bounded_by_a_block(monkeypatch):
    monkeypatch.setattr("transvariation.dask.tocc.BLOCK_ROWS", 1 << 14)
    peaks = []
    for n in (1 << 16, 1 << 18):

        def make(n=n):
            return (np.random.default_rng(i).normal(size=(1 << 14, 2)) for i in range(n >> 14))

        dask.TOCC().fit(make)  # what is compiled, imported and cached is so now
        tracemalloc.start()
        dask.TOCC().fit(make)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]


def test_selection_is_exact(rng):
    values = np.concatenate([rng.normal(size=5_000), np.zeros(200), [-0.0, np.inf, -np.inf, 5e-324, -5e-324, 1e308]])
    numbers = np.arange(5_206.0)[:, None]
    rows = open_partitions(blocks(numbers, [2_000, 0, 3_206]), Scratch()).derive(lambda n, _: values[n.astype(int)])
    for gather in (calibration._GATHER, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(calibration, "_GATHER", gather)
            for k in (0, 1, 2_500, 2_700, 5_204, 5_205):
                assert calibration.kth_smallest(rows, k, len(values)) == np.sort(values)[k]


def test_spatial_median_equals_that_of_one_array():
    X = SAMPLES["normal"]
    rows = open_partitions(blocks(X, [100, len(X) - 100]), Scratch()).inspect()
    np.testing.assert_array_equal(spatial_median_of_partitions(rows), tv.spatial_median(X))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.array([[1.0, np.nan]]), "partition 1 holds NaN in its row 0, column 1"),
        (np.array([[1.0, 2.0], [-np.inf, 1.0]]), "partition 1 holds an infinite value in its row 1, column 0"),
        (np.array([["a", "b"]]), "partition 1 has values of dtype <U1"),
        (np.array([[1j, 2.0]]), "partition 1 has values of dtype complex128"),
        (np.array([[1.0, 2.0, 3.0]]), "partition 1 has 3 columns, not 2"),
        (np.empty((0, 0)), "partition 1 has 0 columns, not 2"),
        (np.array([1.0, 2.0]), r"partition 1 has shape \(2,\)"),
    ],
)
def test_a_bad_block_is_named(tmp_path, bad, message):
    classifier = dask.TOCC(scratch=tmp_path)
    with pytest.raises(ValueError, match=message):
        classifier.fit(lambda: iter([np.zeros((3, 2)), bad]))
    assert not hasattr(classifier, "offset_")
    assert list(tmp_path.iterdir()) == []


def test_numbers_of_other_types_are_numbers(rng):
    X = rng.integers(-9, 10, size=(300, 2))
    mixed = [X[:100], X[100:200].astype(np.float32), X[200:].astype(np.int8)]
    assert dask.TOCC().fit(lambda: iter(mixed)).offset_ == tv.TOCC().fit(X).offset_


def test_what_cannot_be_fitted_is_refused(rng):
    X = rng.normal(size=(50, 2))
    with pytest.raises(ValueError, match="no rows"):
        dask.TOCC().fit(lambda: iter([]))
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        dask.TOCC().fit(X[:1])
    with pytest.raises(ValueError, match="1 row; at least 2"):
        dask.TOCC().fit(lambda: iter([X[:1]]))
    with pytest.raises(ValueError, match="tau_max='product' is unknown here"):
        dask.TOCC(tau_max="product").fit(X)
    for mode in ("loo", 5):
        with pytest.raises(ValueError, match=f"calibration={mode!r} is not available .* resubstitution, split"):
            dask.TOCC(calibration=mode).fit(X)
    with pytest.raises(ValueError, match="lets 1 of the 2 rows describe"):
        dask.TOCC(calibration="split").fit(X[:2])
    with pytest.raises(ValueError, match=r"sensitivity=1\.2"):
        dask.TOCC(sensitivity=1.2).fit(X)
    with pytest.raises(ValueError, match="no columns"):
        dask.TOCC().fit(lambda: iter([X[:, :0]]))
    for tables in ([X[:10], X[10:20]], (X[:10], X[10:25])):
        with pytest.raises(ValueError, match=r"of tables; give one table, or an iterator"):
            dask.TOCC().fit(tables)


def test_unusable_input_to_predict_is_refused(rng):
    X = rng.normal(size=(50, 2))
    classifier = dask.TOCC().fit(X.tolist())  # rows that are lists are an array
    np.testing.assert_array_equal(classifier.predict(X.tolist()), classifier.predict(list(X)))
    with pytest.raises(ValueError, match="X is a list of tables; give one table"):
        classifier.predict([X, X[:9]])
    with pytest.raises(ValueError, match="partition 1 has 3 columns, not 2"):
        list(classifier.predict(lambda: iter([X, np.zeros((2, 3))])))


def test_a_full_disk_leaves_nothing_behind(rng, tmp_path, monkeypatch):
    def full(self, mode):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pathlib.Path.open", full)
    with pytest.raises(OSError, match="64 bytes of scratch space per row"):
        dask.TOCC(scratch=tmp_path).fit(rng.normal(size=(500, 2)))
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("when", ["reading", "computing"])
def test_an_interruption_leaves_nothing_behind(rng, tmp_path, when, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    def make():
        yield rng.normal(size=(500, 2))
        if when == "reading":
            raise KeyboardInterrupt

    monkeypatch.setattr("transvariation.dask.tocc.training_tp", interrupted)
    classifier = dask.TOCC(scratch=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        classifier.fit(make)
    assert not hasattr(classifier, "offset_")
    assert list(tmp_path.iterdir()) == []


def test_scratch_files_are_deleted_with_the_classifier(rng, tmp_path):
    classifier = dask.TOCC(scratch=tmp_path).fit(rng.normal(size=(500, 2)))
    assert len(list(tmp_path.rglob("*"))) > 1
    del classifier
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process forks here")
def test_files_stay_when_a_forked_child_ends(tmp_path):
    script = """
import os, sys
import numpy as np
from transvariation import dask

X = np.random.default_rng(0).normal(size=(500, 2))
classifier = dask.TOCC(scratch=sys.argv[1]).fit(X)
before = classifier.p_values(X)
if not (child := os.fork()):
    sys.exit()
os.waitpid(child, 0)
assert (classifier.p_values(X) == before).all()
"""
    # In a process of its own: a child of this one would end the tests a second time.
    subprocess.run([sys.executable, "-c", script, tmp_path], check=True)
    assert list(tmp_path.iterdir()) == []


def test_files_that_someone_else_deleted_are_missed(rng, tmp_path):
    X = rng.normal(size=(500, 2))
    classifier = dask.TOCC(scratch=tmp_path).fit(blocks(X, [200, 300]))
    for folder in classifier._calibration.scores[0].scratch.path.iterdir():
        for path in folder.iterdir():
            path.unlink()
    for ask in (
        lambda: classifier.p_values(X),
        lambda: classifier.set_sensitivity(0.8),
        lambda: pickle.dumps(classifier),
        lambda: save(classifier, io.BytesIO()),
    ):
        with pytest.raises(FileNotFoundError, match=r"the scratch file .* is gone; fit again, or name another folder"):
            ask()


def test_a_pickle_holds_the_rows_themselves(rng):
    X = rng.normal(size=(500, 2))
    classifier = dask.PAMTOCC(2).fit(blocks(X, [100, 400]))
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.score_samples(X), classifier.score_samples(X))
    np.testing.assert_array_equal(again.set_sensitivity(0.5).thresholds_, classifier.set_sensitivity(0.5).thresholds_)


# A fifth of the calibrating rows lie beyond the edge of so few: by counting, nine in ten leave nothing to reject.
@pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNothing")
@pytest.mark.parametrize("calibration", ["resubstitution", "split"])
@pytest.mark.parametrize(
    "classifier", [dask.TOCC(), dask.PAMTOCC(2), dask.DensityTOCC(density="kde"), dask.NeighborTOCC()]
)
def test_a_model_file_holds_the_rows_themselves(rng, classifier, calibration, tmp_path):
    X = rng.normal(size=(500, 2))
    classifier = clone(classifier).set_params(calibration=calibration, scratch=tmp_path).fit(blocks(X, [100, 400]))
    save(classifier, file := io.BytesIO())
    again = load(file)
    for method in ("score_samples", "predict", "p_values"):
        np.testing.assert_array_equal(getattr(again, method)(X), getattr(classifier, method)(X))
    np.testing.assert_array_equal(again.set_sensitivity(0.5).thresholds_, classifier.set_sensitivity(0.5).thresholds_)
    assert again.scratch == tmp_path  # for the next fit: the file itself needs no folder
    save(classifier, file := io.BytesIO())
    save(again, second := io.BytesIO())
    assert second.getvalue() == file.getvalue()


@parametrize_with_checks(
    [dask.TOCC(), dask.PAMTOCC(n_clusters=2), dask.DensityTOCC(density="kde"), dask.NeighborTOCC(sensitivity=0.5)]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_an_iterator_over_blocks_is_read_once(rng):
    X = rng.normal(size=(900, 2))
    rows = iter(np.split(X, [200]))
    classifier = dask.TOCC().fit(rows)
    assert classifier.offset_ == tv.TOCC().fit(X).offset_
    np.testing.assert_array_equal(np.concatenate(list(classifier.predict(iter([X[:9], X[9:]])))), classifier.predict(X))


class TestNeighborTOCC:
    def test_scores_are_those_of_one_machine_on_the_describing_half(self, rng):
        X = rng.normal(size=(3_000, 2))
        describing = describes(np.arange(len(X), dtype=np.uint64))
        classifier = dask.NeighborTOCC(sample_size=5_000).fit(blocks(X, [100, 2_900]))
        one = tv.NeighborTOCC(max_reference=None).fit(X[describing])
        np.testing.assert_array_equal(classifier.score_samples(X), one.score_samples(X))
        held_out = np.sort(one.score_samples(X[~describing]))
        rank = int(0.1 * (len(held_out) + 1)) - 1  # by hand: floor(alpha (n + 1)) scores lie at or below the threshold
        assert classifier.offset_ == held_out[rank]
        np.testing.assert_array_equal(
            classifier.p_values(X[:20]),
            [(1 + (held_out <= score).sum()) / (1 + len(held_out)) for score in one.score_samples(X[:20])],
        )

    def test_the_partitioning_does_not_matter(self, rng):
        X = rng.normal(size=(2_500, 3))
        fits = [dask.NeighborTOCC(sample_size=400).fit(blocks(X, sizes)) for sizes in cuts(len(X))]
        for fit in fits[1:]:
            assert fit.offset_ == fits[0].offset_
            np.testing.assert_array_equal(fit.score_samples(X[:50]), fits[0].score_samples(X[:50]))

    def test_new_samples_are_accepted_with_the_nominal_probability(self):
        rng = np.random.default_rng(5)
        classifier = dask.NeighborTOCC(sample_size=500).fit(rng.normal(size=(20_000, 4)))
        assert abs(np.mean(classifier.predict(rng.normal(size=(20_000, 4))) == 1) - 0.9) < 0.01
        assert np.mean(classifier.predict(rng.normal(size=(500, 4)) + 4) == 1) == 0


@pytest.mark.parametrize("name", ["TOCC", "PAMTOCC", "DensityTOCC"])
def test_explain_refers_to_a_sample_of_the_rows(name):
    X = np.random.default_rng(0).normal(size=(3000, 2))
    classifier = getattr(dask, name)().fit(lambda: iter([X[:1000], X[1000:]]))
    table = classifier.explain([[0.0, 0.0], [9.0, 0.0]])
    assert len(classifier.sample_) == 1000
    assert table["univariate_rejection"].tolist() == [False, False, True, False]


@pytest.mark.parametrize("classifier", [dask.TOCC(calibration="split"), dask.PAMTOCC(4, calibration="split")])
def test_a_classifier_that_rejects_nothing_warns_once(classifier):
    control = tv.load_glass().control.to_numpy()
    for do in (lambda: classifier.fit(control), lambda: classifier.set_sensitivity(0.95)):
        with pytest.warns(RejectsNothing, match="accepts every sample.*use NeighborTOCC") as warned:
            do()
        assert len(warned) == 1
