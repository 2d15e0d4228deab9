import numpy as np

from transvariation.subsample import subsample


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
