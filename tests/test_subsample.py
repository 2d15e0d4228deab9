import numpy as np

from transvariation.subsample import subsample


def rows():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(40, 2)), rng.integers(0, 2, size=(40, 2))])


def test_order_of_rows_does_not_matter():
    X = rows()
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(X[subsample(X, 20)], X[order][subsample(X[order], 20)])


def test_removing_a_row_changes_at_most_one_that_is_drawn():
    X = rows()
    drawn = X[subsample(X, 20)].tolist()
    for i in range(len(X)):
        rest = np.delete(X, i, axis=0)
        remaining = list(drawn)
        for row in rest[subsample(rest, 20)].tolist():
            if row in remaining:
                remaining.remove(row)
        assert len(remaining) <= 1


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
