import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

pytest.importorskip("dask")

import transvariation as tv
from transvariation import dask

rng = np.random.default_rng(0)
X, Z = rng.normal(size=(1_500, 2)), 1.5 * rng.normal(size=(300, 2))
PAIRS = {
    "TOCC": (dask.TOCC(), tv.TOCC()),
    "PAMTOCC": (dask.PAMTOCC(3, calibration="split"), tv.PAMTOCC(3, calibration="split")),
    "DensityTOCC": (dask.DensityTOCC(density="gaussian"), tv.DensityTOCC(density="gaussian")),
    "NeighborTOCC": (dask.NeighborTOCC(calibration="cv"), tv.NeighborTOCC(calibration="cv")),
}
METHODS = ("score_samples", "decision_function", "predict", "transvariation_probability", "p_values")


@pytest.mark.parametrize("name", PAIRS)
def test_the_result_is_that_of_one_machine_if_all_rows_are_drawn(name):
    parted, whole = PAIRS[name]
    parted.fit(lambda: iter(np.array_split(X, 4)))
    whole.fit(X)
    assert parted.coverage_report() == whole.coverage_report()
    for method in METHODS:
        expected = getattr(whole, method)(Z)
        np.testing.assert_array_equal(getattr(parted, method)(Z), expected)
        blocks = getattr(parted, method)(iter([Z[:100], Z[100:100], Z[100:]]))
        np.testing.assert_array_equal(np.concatenate(list(blocks)), expected)


def test_more_rows_are_sampled_alike_in_memory_and_in_blocks():
    one, other = (dask.NeighborTOCC(sample_size=400).fit(rows) for rows in (X, iter(np.array_split(X, 7))))
    assert 200 <= one.coverage_report().n <= 400
    np.testing.assert_array_equal(one.score_samples(Z), other.score_samples(Z))


@pytest.mark.parametrize("kind", [dask.NeighborTOCC, dask.TOCC])
def test_new_samples_are_accepted_with_the_nominal_probability(kind):
    known, new = np.random.default_rng(1).normal(size=(2, 40_000, 2))
    classifier = kind(calibration="split", sample_size=10_000).fit(iter(np.array_split(known, 8)))
    assert (classifier.predict(new) == 1).mean() == pytest.approx(0.9, abs=0.02)


def test_groups_and_labels_are_for_rows_in_one_table():
    groups = np.repeat(np.arange(500), 3)
    classifier = dask.TOCC(calibration="cv", sample_size=600).fit(X, groups=groups)
    assert classifier.coverage_report().n <= 500
    with pytest.raises(ValueError, match="groups is for rows in one table"):
        dask.TOCC().fit(iter([X]), groups=groups)
    with pytest.raises(ValueError, match="y is for rows in one table"):
        dask.TOCC().fit(iter([X]), np.ones(len(X)))
    with pytest.raises(ValueError, match="weights are for rows in memory"):
        classifier.p_values(iter([X]), weights=(np.ones(3), np.ones(3)))


def test_categories_and_missing_values_are_those_of_the_classifier():
    table = pd.DataFrame({"a": X[:, 0], "kind": pd.Categorical(np.where(X[:, 1] > 0, "x", "y"))})
    table.loc[::50, "a"] = np.nan
    whole = tv.NeighborTOCC().fit(table)
    parted = dask.NeighborTOCC().fit(table[i : i + 400] for i in range(0, len(table), 400))
    np.testing.assert_array_equal(parted.p_values(table[:90]), whole.p_values(table[:90]))


def test_a_bad_partition_is_named_when_it_is_scored():
    classifier = dask.TOCC().fit(X)
    blocks = classifier.predict(iter([Z[:9], np.where(Z.max() == Z, np.nan, Z)]))
    assert len(next(blocks)) == 9
    with pytest.raises(ValueError, match=r"partition 1: .*NaN"):
        next(blocks)
    with pytest.raises(ValueError, match="sample_size=0"):
        dask.TOCC(sample_size=0).fit(X)


def test_saved_and_pickled_classifiers_score_alike(tmp_path):
    for parted, _ in PAIRS.values():
        parted.fit(iter([X]))
        tv.save(parted, tmp_path / type(parted).__name__)
        for copy in (tv.load(tmp_path / type(parted).__name__), pickle.loads(pickle.dumps(parted))):
            np.testing.assert_array_equal(copy.score_samples(Z), parted.score_samples(Z))


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNearlyAll")
@parametrize_with_checks([dask.TOCC(), dask.NeighborTOCC()])  # the others differ in the classifier inside only
def test_scikit_learn_contract(estimator, check):
    check(estimator)
