import numpy as np

from transvariation.subsample import subsample


def rows():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(40, 2)), rng.integers(0, 2, size=(40, 2))])


def test_the_same_in_whatever_order():
    X = rows()
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(X[subsample(X, 20)[0]], X[order][subsample(X[order], 20)[0]])


def test_without_a_row_one_place_falls_vacant():
    X = rows()
    drawn, vacant = subsample(X, 20)
    for i in range(len(X)):
        rest = np.delete(X, i, axis=0)
        np.testing.assert_array_equal(rest[subsample(rest, 19)[0]], np.delete(X[drawn], vacant[i], axis=0))


def test_every_row_has_the_same_chance():
    X = np.arange(20_000.0)[:, None]
    drawn = subsample(X, 2_000)[0]
    assert len(np.unique(drawn)) == 2_000
    counts = np.bincount(drawn // 2_000, minlength=10)
    assert counts.min() > 150
    assert counts.max() < 250


def test_zeros_are_equal_whatever_their_sign():
    X = np.array([[0.0], [0.0], [1.0], [2.0]])
    Y = np.array([[0.0], [-0.0], [1.0], [2.0]])
    for one, other in zip(subsample(X, 3), subsample(Y, 3), strict=True):
        np.testing.assert_array_equal(one, other)
