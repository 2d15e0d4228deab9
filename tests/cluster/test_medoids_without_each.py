"""Leaving one out of a partition around medoids: the same as n partitions from scratch."""

import numpy as np
import pytest

from transvariation import PAMTOCC, load_glass, transvariation_probability
from transvariation.cluster import medoid_step, medoid_sums
from transvariation.cluster import pam as module
from transvariation.cluster.medoids_without_each import pam_leave_one_out_probability
from transvariation.cluster.pam import closest, find_medoids_without_each, medoids


def by_hand(X, k, ties="proper", rows=None):
    tp = []
    for i in range(len(X)) if rows is None else rows:
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


@pytest.fixture
def bounds_in_small_samples(monkeypatch):
    """Let samples of some tens of objects go the way of those of some hundreds, in small blocks."""
    monkeypatch.setattr(module, "FEW", 20)
    monkeypatch.setattr(medoid_sums, "FEW", 20)
    monkeypatch.setattr(medoid_sums, "_CACHED", 300)
    monkeypatch.setattr(medoid_sums, "_KEPT", 3_000)
    monkeypatch.setattr(medoid_step, "_PAIRS", 500)


@pytest.mark.parametrize(("name", "X"), list(samples()), ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("large", [2_000, 25])
def test_equals_n_partitions_where_bounds_are_used(bounds_in_small_samples, monkeypatch, name, X, large):
    monkeypatch.setattr(module, "LARGE", large)
    rows = np.arange(len(X))[:: max(1, len(X) // 15)]
    for k in (1, 3, 5):
        np.testing.assert_array_equal(pam_leave_one_out_probability(X, k)[rows], by_hand(X, k, rows=rows))


def test_a_sample_that_is_large_with_but_not_without_an_object(bounds_in_small_samples, monkeypatch):
    X = np.random.default_rng(2).integers(0, 6, size=(41, 2)).astype(float)
    monkeypatch.setattr(module, "LARGE", 40)
    np.testing.assert_array_equal(pam_leave_one_out_probability(X, 3), by_hand(X, 3))
    assert sorted(find_medoids_without_each(X, 3)[0]) == sorted(medoids(X, 3).rows)


def test_equals_n_partitions_of_a_large_sample():
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(1_500, 2)), rng.normal(4, 1, size=(900, 2)).round(1)])
    rows, found = find_medoids_without_each(X, 4)
    assert sorted(rows) == sorted(medoids(X, 4).rows)
    assert sorted(np.concatenate([left_out for _, left_out in found])) == list(range(len(X)))
    odd = np.concatenate([left_out[:1] for _, left_out in sorted(found, key=lambda pair: len(pair[1]))[:3]])
    some = [*odd, 0, 2_000]
    tp = pam_leave_one_out_probability(X, 4, found=found)
    np.testing.assert_array_equal(tp[some], by_hand(X, 4, rows=some))


def test_equals_n_partitions_on_the_cases_from_r(reference):
    for name, case in reference.case("case01_pam").items():
        X = reference.table(name)
        for run in case["runs"]:
            if len(X) > 200:
                continue
            for rows, left_out in find_medoids_without_each(X, run["K"])[1]:
                for i in left_out[::7]:
                    rest = np.delete(np.arange(len(X)), i)
                    assert sorted(rest[medoids(X[rest], run["K"]).rows]) == rows.tolist()


def test_every_object_is_left_out_once():
    X = np.random.default_rng(1).normal(size=(70, 2))
    assert sorted(np.concatenate([left_out for _, left_out in find_medoids_without_each(X, 5)[1]])) == list(range(70))


@pytest.mark.filterwarnings("ignore::transvariation.conformal.RejectsNothing")
def test_the_classifier_uses_it():
    control = load_glass().control[["Si", "Mg"]]
    rule = PAMTOCC(4, calibration="loo").fit(control)
    np.testing.assert_array_equal(rule._calibration_scores, by_hand(control.to_numpy(), 4))


@pytest.mark.filterwarnings("ignore::transvariation.conformal.RejectsNothing")
def test_groups_are_left_out_whole():
    X = np.random.default_rng(4).normal(size=(40, 2))
    groups = np.repeat(np.arange(20), 2)
    rule = PAMTOCC(2, calibration="loo", sensitivity=0.8).fit(X, groups=groups)
    alone = PAMTOCC(2).fit(X[2:])
    np.testing.assert_array_equal(rule._calibration_scores[:2], alone.transvariation_probability(X[:2]))


@pytest.mark.filterwarnings("ignore::transvariation.conformal.RejectsNothing")
def test_an_object_without_which_there_are_too_few_says_so():
    X = [[0.0, 0], [0, 0], [1, 1], [1, 1], [5, 5]]
    with pytest.raises(ValueError, match=r"n_clusters=3 must lie between 1 and .* here 2"):
        PAMTOCC(3, calibration="loo").fit(X)
    with pytest.warns(UserWarning, match="cannot be promised"):
        PAMTOCC(2, calibration="loo").fit(X)
