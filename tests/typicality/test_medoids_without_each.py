"""Leaving one out of a partition around medoids: the same as n partitions from scratch."""

import numpy as np
import pytest

from transvariation import PAMTOCC, load_glass, transvariation_probability
from transvariation.typicality.medoids import closest, medoids
from transvariation.typicality.medoids_without_each import medoids_without_each, pam_leave_one_out_probability


def by_hand(X, k, ties="proper"):
    tp = []
    for i in range(len(X)):
        rest = np.delete(X, i, axis=0)
        found = medoids(rest, k)
        centers = rest[found.rows]
        own = closest(X[[i]], centers)[0][0]
        tp.append(transvariation_probability(rest[found.labels == own], X[[i]], centers[own], ties=ties)[0])
    return tp


def samples():
    rng = np.random.default_rng(0)
    yield "eight", rng.normal(size=(8, 2))
    yield "no clusters", rng.normal(size=(60, 2))
    yield "clusters", np.concatenate([rng.normal(c, 0.3, size=(12, 3)) for c in range(5)])
    yield "rounded", rng.normal(size=(40, 3)).round(1)
    yield "one variable", rng.normal(size=(40, 1)).round(1)
    yield "lattice", rng.integers(0, 4, size=(50, 2)).astype(float)
    yield "grid", np.indices((6, 6)).reshape(2, -1).T.astype(float)
    yield "far object", np.vstack([rng.normal(size=(30, 2)), [[1e3, 1e3]]])
    yield (
        "far duplicates",
        np.vstack([np.repeat(rng.normal(size=(6, 2)), 4, axis=0), np.repeat([[1e6, 1e6]], 2, axis=0)]),
    )
    yield "two scales", np.vstack([rng.normal(size=(20, 2)), 1e-8 * rng.normal(size=(20, 2))])
    yield "glass", load_glass().control[["K", "Mg"]].to_numpy()


@pytest.mark.parametrize(("name", "X"), list(samples()), ids=lambda value: value if isinstance(value, str) else "")
def test_equals_n_partitions(name, X):
    for k in (1, 2, 4, 6):
        for ties in ("proper", "literal"):
            np.testing.assert_array_equal(pam_leave_one_out_probability(X, k, ties=ties), by_hand(X, k, ties))


def test_equals_n_partitions_on_the_cases_from_r(reference):
    for name, case in reference.case("case01_pam").items():
        X = reference.table(name)
        for run in case["runs"]:
            if len(X) > 200:
                continue
            for rows, left_out in medoids_without_each(X, run["K"]):
                for i in left_out[::7]:
                    rest = np.delete(np.arange(len(X)), i)
                    assert sorted(rest[medoids(X[rest], run["K"]).rows]) == rows.tolist()


def test_every_object_is_left_out_once():
    X = np.random.default_rng(1).normal(size=(70, 2))
    assert sorted(np.concatenate([left_out for _, left_out in medoids_without_each(X, 5)])) == list(range(70))


def test_the_classifier_uses_it():
    control = load_glass().control[["Si", "Mg"]]
    rule = PAMTOCC(4, calibration="loo").fit(control)
    np.testing.assert_array_equal(rule._calibration_scores, by_hand(control.to_numpy(), 4))


def test_an_object_without_which_there_are_too_few_says_so():
    X = [[0.0, 0], [0, 0], [1, 1], [1, 1], [5, 5]]
    with pytest.raises(ValueError, match=r"n_clusters=3 must lie between 1 and .* here 2"):
        PAMTOCC(3, calibration="loo").fit(X)
    with pytest.warns(UserWarning, match="cannot be promised"):
        PAMTOCC(2, calibration="loo").fit(X)
