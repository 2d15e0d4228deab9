"""Pairs of fragments in the design of a case, by hand."""

import numpy as np
import pytest

from transvariation.casework.background.pairs import (
    Design,
    different_source_pairs,
    same_source_pairs,
    scaled_differences,
)


def test_every_fragment_is_questioned_once_against_the_others():
    source = [np.array([[1.0, 0.0]]), np.array([[2.0, 0.0]]), np.array([[6.0, 0.0]])]
    pairs = same_source_pairs([source], Design(known=2), np.random.default_rng(0))
    found = dict(zip(pairs.questioned[:, 0], pairs.known[:, 0], strict=True))
    assert found == {1.0: 4.0, 2.0: 3.5, 6.0: 1.5}
    assert pairs.n_known.tolist() == [2, 2, 2]
    difference = dict(zip(pairs.questioned[:, 0], scaled_differences(pairs)[:, 0], strict=True))
    assert difference[1.0] == pytest.approx(3 / np.sqrt(1.5))


@pytest.mark.parametrize(
    ("design", "n_known", "n_questioned"), [(Design(10), 3, 1), (Design(1, 1), 1, 1), (Design(2, 5), 2, 2)]
)
def test_a_source_with_few_fragments_is_divided_as_far_as_it_goes(design, n_known, n_questioned, rng):
    pairs = same_source_pairs([list(rng.normal(size=(4, 1, 2)))], design, rng)
    assert set(pairs.n_known) == {n_known}
    assert set(pairs.n_questioned) == {n_questioned}


def test_replicates_of_the_background_are_reduced_to_those_of_the_case(rng):
    source = [np.array([[0.0], [10.0]]), np.array([[1.0], [11.0]])]
    pairs = same_source_pairs([source], Design(1, 1, 1, 1), rng)
    assert set(np.append(pairs.known, pairs.questioned)) <= {0.0, 1.0, 10.0, 11.0}


def test_different_pairs_come_from_different_sources(rng):
    background = [list(np.full((3, 1, 1), float(s))) for s in range(5)]
    pairs = different_source_pairs(same_source_pairs(background, Design(2), rng), rng, 50)
    assert (pairs.known != pairs.questioned).all()
    assert not pairs.same.any()
