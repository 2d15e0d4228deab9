"""partial_fit is a fit to the samples that are kept."""

import numpy as np
import pandas as pd
import pytest

from transvariation import TOCC, NeighborTOCC


def assert_same(a, b, Z):
    np.testing.assert_array_equal(a.center_, b.center_)
    assert a.offset_ == b.offset_
    np.testing.assert_array_equal(a.p_values(Z), b.p_values(Z))


@pytest.mark.parametrize("calibration", ["resubstitution", "cv"])
@pytest.mark.parametrize("window", [None, 60])
def test_equals_a_fit_to_the_samples_kept(window, calibration):
    rng = np.random.default_rng(0)
    X, Z = np.round(rng.normal(size=(200, 2)), 1), rng.normal(size=(30, 2))
    classifier, stop = TOCC(calibration=calibration, sensitivity=0.6), 0
    for size in (50, 1, 7, 100, 42):
        stop += size
        classifier.partial_fit(X[stop - size : stop], window=window)
        kept = X[max(0, stop - (window or stop)) : stop]
        assert_same(classifier, TOCC(calibration=calibration, sensitivity=0.6).fit(kept), Z)


def test_feature_names_are_kept():
    X = pd.DataFrame(np.random.default_rng(7).normal(size=(60, 2)), columns=["a", "b"])
    classifier = TOCC().partial_fit(X[:40], window=30).partial_fit(X[40:])
    assert list(classifier.feature_names_in_) == ["a", "b"]
    assert_same(classifier, TOCC().fit(X[10:]), X)


def test_invalid_calls_are_refused():
    X = np.random.default_rng(4).normal(size=(40, 2))
    with pytest.raises(ValueError, match="window=1 must be at least 2"):
        TOCC().partial_fit(X, window=1)
    with pytest.raises(ValueError, match="3 features"):
        TOCC().fit(X).partial_fit(np.zeros((2, 3)))
    with pytest.raises(AttributeError, match="partial_fit"):
        TOCC(calibration="split").partial_fit(X)
    with pytest.raises(ValueError, match="or groups"):
        TOCC().fit(X, groups=np.arange(40) // 2).partial_fit(X)


def test_neighbors_are_sought_among_the_latest_samples():
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(150, 3)), rng.normal(size=(30, 3))
    classifier = NeighborTOCC(max_reference=100)
    for start, stop in ((0, 60), (60, 61), (61, 130), (130, 150)):
        classifier.partial_fit(X[start:stop], window=80)
        latest = NeighborTOCC().fit(X[max(0, stop - 80) : stop])
        np.testing.assert_array_equal(classifier.p_values(Z), latest.p_values(Z))
    classifier.partial_fit(X)
    np.testing.assert_array_equal(classifier.p_values(Z), NeighborTOCC().fit(X[-100:]).p_values(Z))
    with pytest.raises(AttributeError, match="partial_fit"):
        NeighborTOCC(calibration="split").partial_fit(X)


def test_names_of_rows_are_kept():
    rng = np.random.default_rng(8)
    X = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"], index=[f"s{i}" for i in range(80)])
    latest = NeighborTOCC().partial_fit(X[:50]).partial_fit(X[50:], window=60)
    every = NeighborTOCC(max_reference=None).partial_fit(X[:50]).partial_fit(X[50:])
    for classifier, names in ((latest, ("s25", "s70")), (every, ("s0", "s70"))):
        for name in names:
            assert classifier.explain(X.loc[[name]] + 1e-4)["nearest"].iloc[0].startswith(name)


def test_categories_stay_categories_and_new_ones_are_learned():
    rng = np.random.default_rng(9)

    def draw(n, categories):
        values = pd.Categorical(rng.choice(categories, n), categories=["a", "b", "new", "other"])
        return pd.DataFrame({"x": rng.normal(size=n), "c": values})

    first, second, other = draw(100, ["a", "b"]), draw(60, ["b", "new"]), draw(30, ["other"])
    classifier = NeighborTOCC().fit(first).partial_fit(second, window=80)
    latest = NeighborTOCC().fit(pd.concat([first, second]).iloc[-80:])
    for rows in (second, other):
        np.testing.assert_array_equal(classifier.p_values(rows), latest.p_values(rows))


@pytest.mark.parametrize("classifier", [TOCC(), NeighborTOCC()], ids=["TOCC", "NeighborTOCC"])
def test_a_window_that_is_no_number_is_refused_in_words(classifier):
    with pytest.raises(ValueError, match="window='5' must be a positive whole number"):
        classifier.partial_fit(np.random.default_rng(0).normal(size=(20, 2)), window="5")
