"""Same-source differences: hand-counted designs, error rates, and invariances."""

import itertools

import numpy as np
import pytest
from benchmarks.panes import make_panes
from benchmarks.sections.casework import simulated_rates
from tests.casework.conftest import make_glass, sources_of

from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import (
    Design,
    case_pairs,
    different_source_pairs,
    same_source_pairs,
    scaled_differences,
)
from transvariation.casework.background.same_source import SameSourceDifferences, VarianceStabilizer, source_p_values


@pytest.mark.parametrize("design", [Design(3, 1, 3, 3), Design(1, 1, 1, 1), Design(2, 2, 3, 3)])
def test_same_source_fragments_are_excluded_as_often_as_stated(design):
    rng = np.random.default_rng(1)
    background = sources_of(make_glass(300, 4, 3, rng))
    model = SameSourceDifferences(design).fit(background)
    unseen = sources_of(make_glass(300, 4, 3, rng))
    fresh = same_source_pairs([[model.stabilizer_.transform(x) for x in source] for source in unseen], design, rng)
    p = model.p_values(scaled_differences(fresh))
    for level in (0.1, 0.05):
        assert (p <= level).mean() == pytest.approx(level, abs=0.03)
    foreign = model.p_values(scaled_differences(different_source_pairs(fresh, rng, 500)))
    assert (foreign > 0.1).mean() < 0.02
    assert foreign.min() == pytest.approx(1 / 301)


def test_folds_without_a_source_that_has_enough_fragments(rng):
    """Of 80 sources, 40 have three fragments, and none of these is in the second half of the folds."""
    sources = sources_of(make_glass(80, 3, 2, rng))
    background = Background([source if i % 20 < 10 else source[:2] for i, source in enumerate(sources)])
    design = Design(2, 1, 2, 2)
    model = background.differences(design)
    assert set(model.pairs_.source % 20) == set(range(10))
    assert model.n_sources_ == 40
    assert np.isfinite(model.views_).all()
    assert np.isfinite(background.calibrated(design).performance.bounds).all()


def test_p_values_do_not_depend_on_units(rng):
    background = sources_of(make_glass(20, 3, 2, rng))
    scale = np.array([1.0, 1e6, 1e-6, 3.0, 7.0])
    pair = case_pairs(background[0][0].mean(axis=0), background[1][0].mean(axis=0), Design(1))
    p = []
    for unit in (np.ones(5), scale):
        model = SameSourceDifferences(Design(1), stabilize=False).fit(
            [[x * unit for x in source] for source in background]
        )
        p.append(model.p_values(scaled_differences(pair) * unit)[0])
    assert p[0] == p[1]


def test_a_mixed_control_differs_more_than_fragments_of_one_source():
    rng = np.random.default_rng(3)
    background = sources_of(make_glass(60, 4, 3, rng))
    model = SameSourceDifferences(Design(3, 1, 3, 3), stabilize=False).fit(background)
    fresh = sources_of(make_glass(100, 4, 3, rng))
    means = [np.array([x.mean(axis=0) for x in source]) for source in fresh]
    own = np.array([model.dispersion_p_value(m[:3]) for m in means])
    assert (own <= 0.1).mean() <= 0.18
    mixed = [model.dispersion_p_value(np.vstack([a[:2], b[:1]])) for a, b in itertools.pairwise(means)]
    assert np.mean(np.array(mixed) <= 0.05) > 0.95


def test_p_values_count_sources_by_hand():
    # Every source has one score: the case's source is counted by a half, and never by less than one in all.
    alone = np.arange(10)
    scores = np.array([-1.0, 0.0, 4.5, 9.0])
    assert source_p_values(alone.astype(float), scores, alone) == pytest.approx(np.array([1, 2, 6, 11]) / 11)
    # Two scores of every source, independent of each other: they are counted as twenty.
    twice = np.repeat(alone, 2)
    spread = np.concatenate([np.arange(10.0), np.arange(10.0, 20.0)[::-1]])[
        np.argsort(np.tile(alone, 2), kind="stable")
    ]
    p = source_p_values(spread, np.array([-1.0, 3.0, 19.0]), twice)
    assert p[0] == pytest.approx(1 / 11)
    assert 2 / 11 < p[1] < 3 / 11
    assert p[2] == pytest.approx(1.0)


def test_held_out_p_values_are_uniform_on_the_background():
    model = SameSourceDifferences(Design(2, 1, 1, 1)).fit(sources_of(make_glass(100, 4, 2, np.random.default_rng(2))))
    p = model.held_out_p_values()
    for level in (0.05, 0.1, 0.3, 0.5):
        assert (p <= level).mean() == pytest.approx(level, abs=0.02)


@pytest.mark.parametrize(
    ("n", "p", "design"),
    [
        (20, 18, Design(3, 1, 5, 5)),
        pytest.param(48, 5, Design(1, 1, 5, 1), marks=pytest.mark.long),
        pytest.param(30, 10, Design(10, 1, 3, 5), marks=pytest.mark.long),
    ],
)
def test_simulated_panes_are_excluded_as_often_as_stated(n, p, design):
    for level, rates in simulated_rates(n, p, design, n_backgrounds=12).items():
        assert rates["tp: false exclusion"] == pytest.approx(level, abs=0.03)
        assert rates["tp: false inclusion"] <= rates["Mahalanobis: false inclusion"] + 0.02


def test_replicates_that_vary_more_than_those_of_the_background():
    rng = np.random.default_rng(4)
    model = SameSourceDifferences(Design(3, 1, 3, 3)).fit(sources_of(make_glass(60, 4, 3, rng)))
    p = {
        noise: [model.replicate_p_value(x[:3]) for x in sources_of(make_glass(60, 4, 3, rng, replicate=noise))]
        for noise in (0.01, 0.03)
    }
    assert np.mean(np.array(p[0.01]) <= 0.05) <= 0.12
    assert np.mean(np.array(p[0.03]) <= 0.05) > 0.95
    assert model.replicate_p_value([x[:1] for x in sources_of(make_glass(1, 3, 1, rng))[0]]) is None


@pytest.mark.slow
def test_the_seed_does_not_decide():
    panes, _ = make_panes(60, 18, np.random.default_rng(3))
    background, design = [list(pane) for pane in panes[:45]], Design(3, 1, 5, 5)
    models = [SameSourceDifferences(design, seed).fit(background) for seed in range(3)]
    unseen = [[models[0].stabilizer_.transform(x) for x in pane] for pane in panes[45:]]
    differences = scaled_differences(same_source_pairs(unseen, design, np.random.default_rng(0)))[::6]
    p = np.array([model.p_values(differences) for model in models])
    assert np.ptp(p, axis=0).max() <= 0.01
    errors = models[0].p_value_errors(differences)
    assert errors.mean() == pytest.approx(p.std(axis=0, ddof=1).mean(), rel=1.0)


def test_too_few_sources_are_refused(rng):
    with pytest.raises(ValueError, match="9 sources with two or more fragments; at least 10"):
        SameSourceDifferences(Design(3)).fit(sources_of(make_glass(9, 4, 3, rng)))


def _sources(n, rng):
    """Contents whose standard deviation is a third of the level below 10 and a hundredth above."""
    levels = np.exp(rng.uniform(0, np.log(100), n))
    relative = np.where(levels < 10, 0.33, 0.01)
    return [[np.array([[v * (1 + r * e)]]) for e in rng.normal(size=4)] for v, r in zip(levels, relative, strict=True)]


def test_the_transformation_increases_and_goes_on_beyond_the_background(rng):
    stabilizer = VarianceStabilizer().fit(_sources(100, rng))
    grid = np.linspace(-50, 500, 1000)[:, None]
    assert (np.diff(stabilizer.transform(grid)[:, 0]) > 0).all()


def test_few_sources_give_a_linear_transformation(rng):
    stabilizer = VarianceStabilizer().fit(_sources(12, rng))
    values = stabilizer.transform(np.array([[1.0], [2.0], [4.0]]))[:, 0]
    assert values[2] - values[1] == pytest.approx(2 * (values[1] - values[0]))


def test_a_variable_without_spread_is_left_finite():
    constant = [[np.array([[float(s)]])] * 3 for s in range(30)]
    assert np.isfinite(VarianceStabilizer().fit(constant).transform(np.array([[3.0], [99.0]]))).all()


def test_small_differences_are_noticed_where_sources_vary_little():
    rng = np.random.default_rng(0)
    background = _sources(300, rng)
    case = np.array([[50.0], [53.0]])  # six standard deviations of a fragment at that level
    p = []
    for stabilize in (False, True):
        model = SameSourceDifferences(Design(1), stabilize=stabilize).fit(background)
        transform = model.stabilizer_.transform
        p.append(float(model.p_values(np.diff(transform(case), axis=0) / np.sqrt(2))[0]))
        fresh = same_source_pairs([[transform(x) for x in s] for s in _sources(300, rng)], Design(1), rng)
        assert (model.p_values(scaled_differences(fresh)) <= 0.1).mean() == pytest.approx(0.1, abs=0.04)
    assert p[1] < 0.02 < p[0]


def test_sources_with_too_few_fragments_calibrate_only_if_others_are_few():
    pairs, whole = (sources_of(make_glass(40, m, 1, np.random.default_rng(m))) for m in (2, 4))
    assert SameSourceDifferences(Design(3)).fit(pairs + whole).n_sources_ == 40
    assert SameSourceDifferences(Design(3)).fit(pairs + whole[:20]).n_sources_ == 60
