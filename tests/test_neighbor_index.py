"""The search finds the nearest rows, and an index is built once."""

import pickle

import numpy as np
import pytest

from transvariation import (
    NeighborTOCC,
)
from transvariation.neighbor_index import NeighborIndex


@pytest.mark.parametrize("shape", [(300, 3), (1_500, 3), (300, 12), (60, 80)])
def test_nearest_finds_what_all_distances_show(shape):
    rng = np.random.default_rng(4)
    # Two tight clusters far apart: single precision would not resolve the distances within them.
    known = rng.normal(scale=1e-6, size=shape) + (np.arange(shape[0]) % 2)[:, None]
    new = known[:50] + rng.normal(scale=1e-6, size=(50, shape[1]))
    distances, found = NeighborIndex(known).query(new, 4)
    exact = np.sqrt(((new[:, None, :] - known[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :4], rtol=1e-6)
    np.testing.assert_allclose(np.take_along_axis(exact, found, axis=1), distances, rtol=1e-6)


def test_an_index_is_built_once_and_not_saved():
    X = np.random.default_rng(0).normal(size=(10_000, 10))
    classifier = NeighborTOCC(calibration="split").fit(X)
    before = classifier.description_.indices
    expected = classifier.score_samples(X[:5])
    assert classifier.description_.indices is before
    content = pickle.dumps(classifier)
    assert len(content) < 3 * classifier.description_.rows.nbytes
    np.testing.assert_array_equal(pickle.loads(content).score_samples(X[:5]), expected)


@pytest.mark.parametrize(("n", "p"), [(300, 4), (300, 5), (1_000, 3), (1_200, 5), (10_000, 2), (10_000, 10)])
def test_a_model_takes_at_most_three_times_the_space_of_its_samples(n, p):
    X = np.random.default_rng(0).normal(size=(n, p))
    assert len(pickle.dumps(NeighborTOCC().fit(X))) < 3 * X.nbytes
