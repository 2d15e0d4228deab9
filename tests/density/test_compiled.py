"""Machine code and NumPy are the same search; and the first is fetched only when there is enough to do."""

import numpy as np
import pytest
from sklearn.model_selection import RepeatedKFold

from transvariation import MinorComponents, load_glass
from transvariation.density import engine
from transvariation.density.covariance_models import MODELS, MODELS_1D
from transvariation.density.em import log_density
from transvariation.density.hierarchical import agglomerate
from transvariation.density.search import search, starting_partitions

pytest.importorskip("numba")


@pytest.fixture(scope="module")
def compiled():
    return engine.compiled_engine()


@pytest.mark.parametrize("name", ["glass_k_mg", "glass_pc89", "skew2", "blobs3", "glass9", "ties3"])
def test_same_partitions(reference, compiled, name):
    X = reference.table(name)
    slow, fast = agglomerate(X, 9), agglomerate(X, 9, compiled.merge)
    for size in slow:
        np.testing.assert_array_equal(fast[size], slow[size])


@pytest.mark.parametrize("name", ["glass_k_mg", "glass_si_mg", "glass_pc89", "skew2", "blobs3", "mix1", "glass9"])
@pytest.mark.parametrize("vve_axes", ["mclust", "likelihood"])
def test_same_fits(reference, compiled, name, vve_axes):
    X = reference.table(name)
    models = MODELS_1D if X.shape[1] == 1 else MODELS if vve_axes == "mclust" else ("VVE",)
    sizes = [1, 2, 3, 4]
    starts = starting_partitions(X, sizes, "svd", np.arange(len(X)))
    slow = search(X, models, starts, vve_axes=vve_axes)
    fast = search(X, models, starts, compiled.fit_mixtures, vve_axes=vve_axes)
    assert set(slow) == set(fast)
    for problem, fit in slow.items():
        assert fast[problem].loglik == pytest.approx(fit.loglik, abs=1e-4), problem
        assert fast[problem].n_iter == fit.n_iter
        np.testing.assert_allclose(fast[problem].means, fit.means, atol=1e-4 * X.std(axis=0).max())
        np.testing.assert_allclose(fast[problem].weights, fit.weights, atol=1e-5)


@pytest.mark.parametrize("p", [2, 3])
def test_log_likelihood_of_many_objects(compiled, p):
    X = np.random.default_rng(0).normal(size=(3000, p)) ** 2
    starts = starting_partitions(X, [4], "variables", np.arange(0, 3000, 10), compiled.merge)
    for fit in search(X, ("EEE", "VVV"), starts, compiled.fit_mixtures).values():
        by_density = log_density(X, fit.weights, fit.means, fit.covariances)[0].sum()
        assert fit.loglik == pytest.approx(by_density, rel=1e-12)


def test_powers_of_two(compiled):
    from transvariation.density.compiled.algebra import exp2_in_place

    x = np.concatenate([[0.0, 1e-300, 1e-10, 0.5, -0.5], np.linspace(-577, 1000, 9973)])
    ours = x.copy()
    exp2_in_place(ours)
    np.testing.assert_allclose(ours, np.exp2(x), rtol=1e-15)
    beyond = np.array([-1e308, -np.inf])
    exp2_in_place(beyond)
    np.testing.assert_array_equal(beyond, 2.0**-577)


@pytest.mark.parametrize("unit", [1e-60, 1.0, 1e60])
def test_densities_beyond_the_range_of_numbers(compiled, unit):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)), [[1e4, -1e4], [1e4, 2e4], [2e4, 0.0]]]) * unit
    starts = starting_partitions(X, [1, 2], "variables", np.arange(40))  # no component begins at the far ones
    slow = search(X, MODELS, starts)
    fast = search(X, MODELS, starts, compiled.fit_mixtures)
    assert set(slow) == set(fast)
    for problem, fit in slow.items():
        assert fast[problem].loglik == pytest.approx(fit.loglik, abs=1e-4), problem


def test_fetched_only_when_it_pays(monkeypatch):
    fetched = []
    monkeypatch.setattr(engine, "compiled_engine", engine.cache(lambda: fetched.append(True) or "compiled"))
    monkeypatch.setattr(engine, "_asked_for", 0.0)
    monkeypatch.setattr(engine, "_on_disk", frozenset)
    assert engine.choose_engine(engine.LOAD_FROM, 2).merge is None
    monkeypatch.setattr(engine, "can_compile", lambda: False)
    assert engine.choose_engine(engine.COMPILE_FROM, 2).merge is None
    assert not fetched
    monkeypatch.setattr(engine, "can_compile", lambda: True)
    assert engine.choose_engine(1.0, 2) == "compiled"
    monkeypatch.setattr(engine, "_asked_for", 0.0)
    assert engine.choose_engine(1.0, 2) == "compiled"  # once at hand, always used


def test_fetched_sooner_from_disk(monkeypatch):
    monkeypatch.setattr(engine, "compiled_engine", engine.cache(lambda: "compiled"))
    monkeypatch.setattr(engine, "_asked_for", 0.0)
    monkeypatch.setattr(engine, "_on_disk", lambda: {engine.IN_PLANE})
    assert engine.choose_engine(1.0, 2).merge is None
    assert engine.choose_engine(engine.LOAD_FROM, 2) == "compiled"


def test_a_component_of_two_objects_nearly_along_a_variable_has_collapsed(compiled):
    """Its line must not get a width from rounding: these fragments did so, and the fit would have been chosen."""
    control = load_glass().control
    folds = list(RepeatedKFold(n_splits=10, n_repeats=3, random_state=0).split(control))
    X = MinorComponents(2).fit_transform(control.iloc[folds[26][0]].to_numpy())
    starts = starting_partitions(X, [3], "variables", np.arange(len(X)))
    slow, fast = search(X, ("VVE",), starts), search(X, ("VVE",), starts, compiled.fit_mixtures)
    assert not slow
    assert not fast
