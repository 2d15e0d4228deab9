import numpy as np
import pytest

from transvariation.subsample import random_folds, subsample


def rows():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(40, 2)), rng.integers(0, 2, size=(40, 2))])


def test_order_of_rows_does_not_matter():
    X = rows()
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(X[subsample(X, 20)], X[order][subsample(X[order], 20)])


def test_units_and_the_order_of_columns_change_nothing():
    X = rows()
    rng = np.random.default_rng(1)
    for _ in range(10):
        unit, columns = 10.0 ** rng.integers(-6, 6, X.shape[1]), rng.permutation(X.shape[1])
        np.testing.assert_array_equal(subsample((X * unit + 7 * unit)[:, columns], 20), subsample(X, 20))


def test_missing_values_are_a_value_of_their_own():
    X = rows()
    X[3:6, 0] = np.nan
    order = np.random.default_rng(2).permutation(len(X))
    np.testing.assert_array_equal(X[order][subsample(X[order], 20)], X[subsample(X, 20)])


def test_every_row_has_the_same_chance():
    X = np.arange(20_000.0)[:, None]
    drawn = subsample(X, 2_000)
    assert len(np.unique(drawn)) == 2_000
    counts = np.bincount(drawn // 2_000, minlength=10)
    assert counts.min() > 150
    assert counts.max() < 250


def test_zeros_are_equal_whatever_their_sign():
    X = np.array([[0.0], [0.0], [1.0], [2.0]])
    Y = np.array([[0.0], [-0.0], [1.0], [2.0]])
    np.testing.assert_array_equal(subsample(X, 3), subsample(Y, 3))


@pytest.mark.parametrize("p", [1, 2])
def test_folds_depend_on_nothing_but_the_samples_and_their_groups(p):
    X, groups = rows()[:, :p], np.repeat(np.arange(20), np.tile([1, 7], 10))
    rng = np.random.default_rng(3)
    for labels in (None, groups):
        folds = random_folds(X, 3, labels)
        for _ in range(10):
            order, unit, columns = rng.permutation(len(X)), 10.0 ** rng.integers(-6, 6, p), rng.permutation(p)
            other = (X * unit + 7 * unit)[order][:, columns]
            moved = random_folds(other, 3, None if labels is None else labels[order])
            if labels is None:  # equal rows may change places
                for fold in range(3):
                    assert sorted(X[order][moved == fold].tolist()) == sorted(X[folds == fold].tolist())
            else:
                np.testing.assert_array_equal(moved, folds[order])
        counts = np.bincount(folds[np.unique(np.arange(80) if labels is None else labels, return_index=True)[1]])
        assert np.ptp(counts) <= 1


def test_samples_of_one_column_are_divided_by_other_ranks_each_time():
    rng = np.random.default_rng(4)
    halves = [random_folds(np.sort(rng.normal(size=(20, 1)), axis=0), 2) for _ in range(2_000)]
    assert abs(np.mean(halves, axis=0) - 0.5).max() < 4 * 0.5 / np.sqrt(2_000)


def test_large_groups_are_not_dealt_out_first():
    rng, groups = np.random.default_rng(5), np.repeat(np.arange(11), [50] + [1] * 10)
    large = [random_folds(rng.normal(size=(60, 2)), 2, groups)[0] for _ in range(1_000)]
    assert abs(np.mean(large) - 5 / 11) < 4 * 0.5 / np.sqrt(1_000)
