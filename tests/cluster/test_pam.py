import numpy as np
import pytest
from scipy.spatial.distance import cdist

from transvariation import PAMTOCC
from transvariation.cluster.pam import medoids


def test_medoids_and_labels_are_those_of_r(reference):
    cases = reference.case("case01_pam")
    assert cases
    for name, case in cases.items():
        X = reference.table(name)
        for run in case["runs"]:
            found = medoids(X, run["K"])
            assert (found.rows + 1).tolist() == run["medoid_rows"], (name, run["K"])
            assert (found.labels + 1).tolist() == run["labels"], (name, run["K"])
            assert found.objective == pytest.approx(run["objective_swap"], rel=1e-10)


def test_large_samples_come_close_to_the_true_centers():
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0], [10, 0], [0, 10], [10, 10], [5, 5]])
    X = np.concatenate([rng.normal(c, 1, size=(2_000, 2)) for c in centers])
    found = medoids(X, 5)
    assert found.objective == pytest.approx(cdist(X, X[found.rows]).min(axis=1).mean(), rel=1e-12)
    # They are medoids of about 400 objects each, whose standard error is about 0.06 in each variable.
    assert cdist(X[found.rows], centers).min(axis=0).max() < 0.25
    # No set of medoids can do much better than the centers that made the data.
    assert found.objective < 1.01 * np.linalg.norm(X - np.repeat(centers, 2_000, axis=0), axis=1).mean()


def test_a_cluster_per_object_and_one_for_all():
    X = np.array([[0.0, 0], [1, 0], [5, 0]])
    assert medoids(X, 3).labels.tolist() == [0, 1, 2]
    assert medoids(X, 1).rows.tolist() == [1]


def test_error_names_the_number_of_distinct_objects():
    with pytest.raises(ValueError, match=r"n_clusters=3 must lie between 1 and .* here 2"):
        medoids([[0, 0], [0, 0], [1, 1]], 3)


def test_duplicates_stay_together():
    X = np.repeat([[0.0, 0], [3, 3]], 4, axis=0)
    found = medoids(X, 2)
    assert found.labels.tolist() == [0] * 4 + [1] * 4
    assert found.objective == 0


def test_order_of_rows_does_not_matter_in_large_samples():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4_000, 2)).round(2)
    order = rng.permutation(len(X))
    first, second = X[medoids(X, 4).rows], X[order][medoids(X[order], 4).rows]
    assert sorted(map(tuple, first)) == sorted(map(tuple, second))


def test_large_samples_of_few_values():
    X = np.repeat([[0.0, 0], [0, 1], [9, 9]], 1_000, axis=0)
    found = medoids(X, 3)
    assert sorted(map(tuple, X[found.rows])) == [(0, 0), (0, 1), (9, 9)]
    assert found.objective == 0
    with pytest.raises(ValueError, match="here 3"):
        medoids(X, 4)


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNothing")
@pytest.mark.parametrize("scale", [2.0**-700, 2.0**700])
def test_extreme_units_of_measurement_change_nothing(scale):
    X = np.random.default_rng(0).normal(size=(40, 2))
    found, expected = medoids(X * scale, 3), medoids(X, 3)
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.objective == expected.objective * scale
    classifiers = [PAMTOCC(3, calibration="loo").fit(sample) for sample in (X, X * scale)]
    np.testing.assert_array_equal(classifiers[0].score_samples(X), classifiers[1].score_samples(X * scale))
