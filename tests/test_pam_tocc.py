"""PAM-TOCC as a user meets it."""

import numpy as np
import pytest

from transvariation import PAMTOCC, load_glass


@pytest.fixture
def plane():
    return load_glass().control[["K", "Mg"]]


def test_each_cluster_keeps_its_own_share(plane):
    classifier = PAMTOCC(3, sensitivity=[0.5, 0.8, 1.0]).fit(plane)
    accepted = classifier.predict(plane) == 1
    shares = [accepted[classifier.labels_ == k].mean() for k in range(3)]
    assert np.all(shares >= np.array([0.5, 0.8, 1.0]))
    assert shares[2] == 1 > shares[0]


def test_the_wrong_number_of_sensitivities_is_refused(plane):
    with pytest.raises(ValueError, match="3"):
        PAMTOCC(3, sensitivity=[0.5, 0.8]).fit(plane)


def test_a_single_object_cluster_accepts_only_its_like():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [50, 50]])
    classifier = PAMTOCC(2).fit(X)
    assert classifier.predict([[50, 50], [50, 49], [51, 51]]).tolist() == [1, -1, -1]


def test_the_order_of_samples_does_not_choose_between_medoids_that_are_as_good():
    X, Z = np.random.default_rng(0).normal(size=(46, 1)), np.linspace(-2, 2, 30)[:, None]
    first, second = (PAMTOCC(n_clusters=1).fit(rows) for rows in (X, X[::-1]))
    np.testing.assert_array_equal(first.score_samples(Z), second.score_samples(Z))
