"""Distances to neighbors: gaps, pairs of features, the unit of whitened distances."""

import tracemalloc

import numpy as np
import pytest

from transvariation import (
    NeighborTOCC,
)
from transvariation.neighbor_distances import feature_pairs
from transvariation.neighbor_index import NeighborIndex


def correlated(rng, shape):
    return rng.normal(size=shape) + rng.normal(size=(shape[0], 1))


def test_known_samples_are_as_far_from_their_neighbors_as_new_ones():
    rng = np.random.default_rng(1)
    differences = []
    for _ in range(12):
        X, Z = correlated(rng, (200, 100)), correlated(rng, (200, 100))
        fitted = NeighborTOCC(pairs=False).fit(X).description_
        new = fitted._log(fitted._distances(fitted.indices, None, list(fitted.scaled.transform(Z)), Z))
        known = np.transpose(fitted._known)
        differences.append((new.mean(axis=0) - known.mean(axis=0)) / new.std(axis=0))
    assert np.abs(np.mean(differences, axis=0)).max() < 0.1


def test_features_are_paired_with_those_they_depend_on():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    X[:, 3], X[:, 7] = np.exp(X[:, 2]) + 0.05 * rng.normal(size=400), -X[:, 5] + rng.normal(size=400)
    pairs = feature_pairs(X)
    assert pairs[:2] == [(2, 3), (5, 7)]
    assert len(pairs) == 8
    order = rng.permutation(12)
    assert [tuple(sorted(order[list(pair)])) for pair in feature_pairs(X[::-1, order] * 3 + 1)] == pairs


def test_pairs_add_evidence_where_one_dependence_of_many_features_is_broken():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(2, 600, 10))
    for rows in (X, Z):
        rows[:, 3] = np.round(rows[:, 2]) + 0.01 * rng.normal(size=600)
    Z[300:, 3] = rng.permutation(Z[300:, 3])
    aucs = []
    for pairs in (True, False):
        scores = NeighborTOCC(pairs=pairs).fit(X).score_samples(Z)
        aucs.append(np.mean(scores[:300, None] > scores[300:]))
    assert aucs[0] > aucs[1] + 0.02


@pytest.mark.parametrize("p", [2, 6])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("categorical", [False, True])
def test_distances_with_gaps_and_categories_are_those_of_the_definition(p, missing, categorical):
    rng = np.random.default_rng(0)
    known, new, mismatch = rng.normal(size=(60, p)), rng.normal(size=(20, p)), np.zeros(p)
    if categorical:
        known[:, 0], new[:, 0], mismatch[0] = rng.integers(0, 4, 60), rng.integers(0, 5, 20), 2.0
    known[rng.random(known.shape) < missing] = np.nan
    new[rng.random(new.shape) < missing] = np.nan
    expected = np.full((20, 60), np.inf)
    for i, z in enumerate(new):
        for j, x in enumerate(known):
            common = np.flatnonzero(~np.isnan(z) & ~np.isnan(x))
            squares = [mismatch[a] * (z[a] != x[a]) if mismatch[a] else (z[a] - x[a]) ** 2 for a in common]
            if len(common):
                expected[i, j] = np.sqrt(np.sum(squares) * p / len(common))
    distances, _ = NeighborIndex(known, mismatch).query(new, 4)
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :4])


def test_memory_of_scoring_grows_by_the_scores_only():
    rng = np.random.default_rng(0)
    description = NeighborTOCC().fit(rng.normal(size=(200, 6))).description_
    X, peaks = rng.normal(size=(16_384, 6)), []
    for size in (2_048, 16_384):
        tracemalloc.start()
        description.score(X[:size])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 2 * 8 * 14_336  # the views of the further samples take far more
