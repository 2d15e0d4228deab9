"""Input arrays of every type are validated alike."""

import numpy as np
import pandas as pd
import pytest

from transvariation import TOCC

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))


def test_every_array_type_is_copied_to_a_plain_array():
    plain = TOCC().fit(X)
    assert not np.shares_memory(plain.description_.rows, X)
    assert plain.n_features_in_ == 2
    others = (X.tolist(), pd.DataFrame(X), X.astype(">f8"), np.asfortranarray(X), np.ma.array(X), X.astype(object))
    for other in others:
        np.testing.assert_array_equal(TOCC().fit(other).score_samples(other), plain.score_samples(X))


def test_a_refit_without_names_removes_the_feature_names():
    classifier = TOCC().fit(pd.DataFrame(X, columns=["K", "Mg"]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        classifier.predict(X)
    assert not hasattr(classifier.fit(X), "feature_names_in_")
    classifier.predict(X)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_refused(bad):
    spoiled = X.copy()
    spoiled[3, 1] = bad
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        TOCC().fit(spoiled)
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        TOCC().fit(X).predict(spoiled)
    spoiled[4, 1] = -bad  # infinities that would cancel
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        TOCC().fit(spoiled)


def test_numbers_so_large_that_their_sum_is_not_finite():
    huge = X * 5e307
    np.testing.assert_array_equal(TOCC().fit(huge).score_samples(huge), TOCC().fit(X).score_samples(X))


def test_wrong_shapes_raise_the_messages_of_scikit_learn():
    classifier = TOCC().fit(X)
    with pytest.raises(ValueError, match="X has 3 features, but TOCC is expecting 2 features"):
        classifier.predict(np.zeros((5, 3)))
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        classifier.predict(X[0])
    with pytest.raises(ValueError, match="Found array with 1 sample"):
        TOCC().fit(X[:1])
    with pytest.raises(ValueError, match=r"Found array with 0 feature\(s\)"):
        TOCC().fit(np.empty((5, 0)))
