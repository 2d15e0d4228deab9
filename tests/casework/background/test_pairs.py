"""Pairs of fragments in the design of a case, by hand."""

import numpy as np
import pytest

from transvariation.casework.background.pairs import (
    Design,
    background_rows,
    different_source_pairs,
    draw_pairs,
    same_source_pairs,
    scaled_differences,
)
from transvariation.casework.background.same_source import SameSourceDifferences


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


def test_every_division_of_a_small_source_is_drawn_equally_often(rng):
    values = 2.0 ** np.arange(5)  # every set has a sum of its own
    pairs = same_source_pairs([list(values[:, None, None])] * 10, Design(3), rng, 100_000)
    divisions = np.column_stack([pairs.source, pairs.questioned, pairs.known])
    _, counts = np.unique(divisions.round(6), axis=0, return_counts=True)
    assert len(counts) == 10 * 5 * 4
    assert len(set(counts)) == 1


def test_every_choice_of_replicates_is_compared_where_all_are_few(rng):
    values = 2.0 ** np.arange(12).reshape(4, 3, 1)  # four fragments with three replicates
    draw = draw_pairs([list(values)] * 40, Design(1), rng)
    pairs = draw.pairs(background_rows([list(values)] * 40))
    assert draw.n_parts == 1
    assert len(pairs.source) == 40 * 4 * 3 * 3 * 3
    assert len(np.unique(np.column_stack([pairs.source, pairs.known, pairs.questioned]), axis=0)) == len(pairs.source)
    more = draw_pairs([list(values)] * 40, Design(1), rng, 1000)
    assert more.n_parts > 1


def test_the_seed_is_without_effect_where_every_division_is_compared():
    rng = np.random.default_rng(0)
    sources = [list(level + 0.1 * rng.normal(size=(4, 3, 2))) for level in rng.normal(size=(40, 2))]
    new = rng.normal(size=(50, 2)) * 0.2
    first, second = (SameSourceDifferences(Design(1), seed).fit(sources).p_values(new) for seed in (0, 1))
    np.testing.assert_array_equal(first, second)


def test_different_pairs_come_from_different_sources(rng):
    background = [list(np.full((3, 1, 1), float(s))) for s in range(5)]
    pairs = different_source_pairs(same_source_pairs(background, Design(2), rng), rng, 50)
    assert (pairs.known != pairs.questioned).all()
    assert not pairs.same.any()


class TestManySources:
    @pytest.fixture
    def same(self):
        rng = np.random.default_rng(0)
        sources = [list(mean + rng.normal(size=(4, 1, 1))) for mean in 100 * rng.normal(size=200)]
        return same_source_pairs(sources, Design(1), rng, 10_000)

    def test_nearer_sources_are_compared_more_often_and_all_pairs_count_equally(self, same):
        means = np.bincount(same.source, same.known[:, 0]) / np.bincount(same.source)
        rank = np.abs(means[:, None] - means).argsort(axis=1).argsort(axis=1)  # 0 of a source itself
        count, weight = np.zeros((2, 200))
        for seed in range(20):
            pairs = different_source_pairs(same, np.random.default_rng(seed), 10_000)
            at = rank[pairs.source, pairs.other]
            count += np.bincount(at, minlength=200)
            weight += np.bincount(at, pairs.weight, 200)
        assert count[0] == 0
        assert count[1] / count[100] == pytest.approx(100, rel=0.3)
        assert weight[1:] / 20 == pytest.approx(np.full(199, 200), rel=0.5)
        assert weight[1:11].mean() / 20 == pytest.approx(200, rel=0.01)

    def test_the_draw_hardly_changes_how_often_sources_are_alike(self):
        rng = np.random.default_rng(0)
        sources = [list(mean + rng.normal(size=(4, 1, 5))) for mean in 4 * rng.normal(size=(200, 5))]
        same, shares = same_source_pairs(sources, Design(1), rng, 10_000), []
        for seed in range(12):
            pairs = different_source_pairs(same, np.random.default_rng(seed), 10_000)
            alike = ((pairs.known - pairs.questioned) ** 2).sum(axis=1) < 2.25
            shares.append(np.average(alike, weights=pairs.weight))
        assert np.std(shares) / np.mean(shares) < 0.4  # 1.1 where the nearest quarter is compared four times each
