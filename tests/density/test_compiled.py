"""Compiled code and NumPy give the same numbers, and the size of a fit decides which one runs."""

import numpy as np
import pytest
from sklearn.model_selection import RepeatedKFold

from transvariation import GaussianMixtureBIC, MinorComponents, acceleration, load_glass
from transvariation.density.covariance_models import MODELS, MODELS_1D
from transvariation.density.em import log_density, search
from transvariation.density.hierarchical import agglomerate, starting_partitions

pytest.importorskip("numba")

from transvariation.density.compiled import merging, mixture


def fits(X, models, starts, *engine):
    """Every fit of a search by model and number of components, without those that collapsed."""
    sizes = list(starts)
    found = search(X, models, sizes, starts, *engine)
    return {
        (models[row], sizes[column]): found.pick(row, column) for row, column in np.argwhere(np.isfinite(found.bic))
    }


@pytest.mark.parametrize("name", ["glass_k_mg", "glass_pc89", "skew2", "blobs3", "glass9", "ties3"])
def test_same_partitions(reference, name):
    X = reference.table(name)
    slow, fast = agglomerate(X, 9), agglomerate(X, 9, merging.merge_clusters)
    for size in slow:
        np.testing.assert_array_equal(fast[size], slow[size])


@pytest.mark.parametrize("p", [2, 3, 5])
def test_same_partitions_of_data_with_many_equal_distances(rng, p):
    for decimals in (0, 1):
        X = np.round(rng.normal(size=(120, p)), decimals) / 7
        slow, fast = agglomerate(X, 9), agglomerate(X, 9, merging.merge_clusters)
        for size in slow:
            np.testing.assert_array_equal(fast[size], slow[size])


@pytest.mark.parametrize("name", ["glass_k_mg", "glass_si_mg", "glass_pc89", "skew2", "blobs3", "mix1", "glass9"])
def test_same_fits(reference, name):
    X = reference.table(name)
    models = MODELS_1D if X.shape[1] == 1 else MODELS
    starts = starting_partitions(X, [1, 2, 3, 4], "svd", np.arange(len(X)))
    slow, fast = fits(X, models, starts), fits(X, models, starts, mixture.fit_mixtures)
    assert set(slow) == set(fast)
    for problem, fit in slow.items():
        assert fast[problem].n_iter == fit.n_iter, problem
        assert fast[problem].loglik == pytest.approx(fit.loglik, rel=1e-10), problem
        np.testing.assert_allclose(fast[problem].means, fit.means, atol=1e-8 * X.std(axis=0).max())
        np.testing.assert_allclose(fast[problem].weights, fit.weights, atol=1e-8)


@pytest.mark.parametrize("name", ["glass_k_mg", "glass_si_mg", "glass9", "ties3"])
def test_same_choice(reference, name):
    X = reference.table(name)
    slow, fast = (GaussianMixtureBIC(engine=engine).fit(X) for engine in ("numpy", "compiled"))
    assert (fast.model_name_, fast.n_components_) == (slow.model_name_, slow.n_components_)
    assert fast.loglik_ == pytest.approx(slow.loglik_, rel=1e-10)
    assert (slow.engine_, fast.engine_) == ("numpy", "compiled")


@pytest.mark.parametrize("seed", range(12))
def test_same_fits_of_random_samples(seed):
    # Up to nine components of few samples each: many fits collapse, or nearly so.
    rng = np.random.default_rng(seed)
    n, p, n_groups = int(rng.integers(30, 150)), (2, 2, 3, 4)[seed % 4], int(rng.integers(1, 4))
    group = rng.integers(n_groups, size=n)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 3 * rng.normal(size=(n_groups, p))[group]
    X = np.round(X, 1) if seed % 3 == 2 else X
    sizes, rows = range(1, 10), np.arange(n)
    starts = starting_partitions(X, sizes, "variables", rows)
    same = starting_partitions(X, sizes, "variables", rows, merging.merge_clusters)
    assert all(np.array_equal(starts[size], same[size]) for size in starts)
    slow, fast = fits(X, MODELS, starts), fits(X, MODELS, starts, mixture.fit_mixtures)
    assert set(slow) == set(fast)
    for problem, fit in slow.items():
        assert fast[problem].n_iter == fit.n_iter, problem
        assert fast[problem].loglik == pytest.approx(fit.loglik, rel=1e-9), problem


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
def test_a_fit_does_not_depend_on_the_others(reference, engine):
    X = reference.table("glass_k_mg")
    whole = GaussianMixtureBIC(engine=engine).fit(X).bic_
    for model in ("VEI", "VEE", "EVE", "VEV"):
        alone = GaussianMixtureBIC(3, model, engine=engine).fit(X).bic_
        assert alone.loc[model, 3] == pytest.approx(whole.loc[model, 3], rel=1e-12)


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
@pytest.mark.parametrize("model", ["EVE", "VVE"])
def test_a_component_on_a_line_has_collapsed_whatever_the_axes(engine, model):
    # Two samples far from the others are a component of their own, on a line that no common axis follows.
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)) * [3, 1], [[50.0, 50.0], [51.0, 51.3]]])
    with pytest.raises(ValueError, match="collapsed"):
        GaussianMixtureBIC(2, model, engine=engine).fit(X)


@pytest.mark.parametrize("p", [2, 3])
def test_log_likelihood_of_many_samples(p):
    X = np.random.default_rng(0).normal(size=(3000, p)) ** 2
    starts = starting_partitions(X, [4], "variables", np.arange(0, 3000, 10), merging.merge_clusters)
    for fit in fits(X, ("EEE", "VVV"), starts, mixture.fit_mixtures).values():
        by_density = log_density(X, fit.weights, fit.means, fit.covariances)[0].sum()
        assert fit.loglik == pytest.approx(by_density, rel=1e-12)


def test_powers_of_two():
    x = np.concatenate([[0.0, 1e-300, 1e-10, 0.5, -0.5], np.linspace(-1000, 1000, 9973)])
    ours = x[None].copy()
    total = np.ones(len(x))
    mixture.exp2(ours, len(x), total, mixture._EXP2)
    np.testing.assert_allclose(ours[0], np.exp2(x), rtol=1e-15)
    np.testing.assert_array_equal(total, 1 + ours[0])
    beyond = np.array([[-1e308, -np.inf]])
    mixture.exp2(beyond, 2, np.zeros(2), mixture._EXP2)
    np.testing.assert_array_equal(beyond[0], 2.0**-1000)


@pytest.mark.parametrize("unit", [1e-60, 1.0, 1e60])
def test_samples_too_far_for_densities_as_numbers(unit):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)), [[1e4, -1e4], [1e4, 2e4], [2e4, 0.0]]]) * unit
    starts = starting_partitions(X, [1, 2], "variables", np.arange(40))  # no component starts at the far samples
    slow, fast = fits(X, MODELS, starts), fits(X, MODELS, starts, mixture.fit_mixtures)
    assert set(slow) == set(fast)
    for problem, fit in slow.items():
        assert fast[problem].loglik == pytest.approx(fit.loglik, rel=1e-10), problem


def test_a_component_of_two_samples_nearly_along_a_variable_has_collapsed():
    """Rounding must not give its line a width: it did for these fragments, and the fit would have been chosen."""
    control = load_glass().control
    folds = list(RepeatedKFold(n_splits=10, n_repeats=3, random_state=0).split(control))
    X = MinorComponents(2).fit_transform(control.iloc[folds[26][0]].to_numpy())
    starts = starting_partitions(X, [3], "variables", np.arange(len(X)))
    assert not fits(X, ("VVE",), starts)
    assert not fits(X, ("VVE",), starts, mixture.fit_mixtures)


def test_small_fits_do_not_compile(monkeypatch, reference):
    monkeypatch.setattr(acceleration, "can_compile", lambda: True)
    for name in ("glass_k_mg", "glass9"):
        assert GaussianMixtureBIC(range(1, 4)).fit(reference.table(name)).engine_ == "numpy"
    large = acceleration.COMPILE_FROM
    assert acceleration.resolve_engine("auto", large) == "compiled"
    assert acceleration.resolve_engine("auto", large - 1) == "numpy"
    monkeypatch.setattr(acceleration, "can_compile", lambda: False)
    assert acceleration.resolve_engine("auto", large) == "numpy"
    assert acceleration.resolve_engine("compiled", 1) == "numpy"
    with pytest.raises(ValueError, match="engine='numba' is unknown; choose one of auto, compiled, numpy"):
        acceleration.resolve_engine("numba", 1)
