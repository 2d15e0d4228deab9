import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.utils.estimator_checks import parametrize_with_checks

from transvariation import GaussianMixtureBIC, VarSel, load_glass
from transvariation.feature_selection.varsel import regression_bic

QUICK = GaussianMixtureBIC(n_components=(1, 2), models=("EEE", "VVV"))


@parametrize_with_checks([VarSel(1, mixture=QUICK)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_potassium_then_magnesium_on_glass():
    X = load_glass().control
    selector = VarSel(2).fit(X)
    assert selector.get_feature_names_out(X.columns).tolist() == ["Mg", "K"]  # in the order of the columns
    assert X.columns[selector.selected_].tolist() == ["K", "Mg"]  # in the order of selection
    assert selector.set_aside_.tolist() == ["Ba", "Fe"]
    table = selector.bic_differences_
    assert table.shape == (2, 9)
    assert table.columns.tolist() == X.columns.tolist()
    assert table[["Ba", "Fe"]].isna().all(axis=None)
    assert np.isnan(table.loc[2, "K"])
    assert table.idxmax(axis=1).tolist() == ["K", "Mg"]


def test_regression_bic_against_the_likelihood():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    y = 3 + X @ [1.0, -2.0] + rng.standard_normal(40)
    fit = np.linalg.lstsq(np.column_stack([np.ones(40), X]), y, rcond=None)[0]
    residuals = y - fit[0] - X @ fit[1:]
    loglik = stats.norm.logpdf(residuals, scale=residuals.std()).sum()
    assert regression_bic(y, X) == pytest.approx(2 * loglik - 4 * np.log(40), rel=1e-12)
    assert regression_bic(X[:, 0] * 2 + 1, X) == np.inf


@pytest.mark.parametrize("unit", [1e-15, 1e-3, 1e15])
def test_the_regression_does_not_depend_on_units(unit):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    y = 3 + X @ [1.0, -2.0] + rng.standard_normal(40)
    shift = 2 * 40 * np.log(unit)  # the density of y in the other unit
    assert regression_bic(y * unit, X * unit) + shift == pytest.approx(regression_bic(y, X), abs=1e-9)
    assert regression_bic(y, np.column_stack([X, np.full(40, 0.1)])) == pytest.approx(regression_bic(y, X), abs=1e-9)
    assert regression_bic((X[:, 0] * 2 + 1) * unit, X * unit) == np.inf


def test_glass_in_tiny_units():
    X = load_glass().control
    selector = VarSel(2, mixture=QUICK)
    assert selector.fit(X * 1e-15).selected_.tolist() == selector.fit(X).selected_.tolist()


def groups(n=60):
    """Two groups that differ in the first two variables; the third follows the first, the fourth is noise."""
    rng = np.random.default_rng(0)
    shift = np.repeat([0.0, 6.0], n)
    first, second = rng.standard_normal((2, 2 * n)) + [shift, shift[::-1]]
    return np.column_stack([first, second, first + 0.5 * rng.standard_normal(2 * n), rng.standard_normal(2 * n)])


def test_redundant_and_noisy_variables_add_little():
    selector = VarSel(2, mixture=QUICK).fit(groups())
    assert selector.selected_.tolist() == [0, 1]
    table = selector.bic_differences_
    assert table.loc[1, "x2"] > 50  # alone it shows the two groups
    assert table.loc[2, "x2"] < 0 < table.loc[2, "x1"]  # given the first variable it only follows
    assert (table["x3"] < 2).all()


def test_without_a_number_it_stops_when_nothing_is_added():
    selector = VarSel(None, mixture=QUICK).fit(groups()[:, :3])
    assert selector.selected_.tolist() == [0, 1]
    assert selector.bic_differences_.iloc[-1].max() <= 0


def test_duplicated_constant_and_mostly_zero_variables():
    X = groups()
    zeros = np.where(np.arange(120) < 70, 0.0, np.arange(120.0))
    awkward = np.column_stack([X[:, 0], X[:, 0], np.full(120, 2.0), zeros, X[:, 1]])
    selector = VarSel(2, mixture=QUICK).fit(awkward)
    assert selector.set_aside_.tolist() == ["x2", "x3"]
    assert selector.get_support()[:2].sum() == 1
    assert selector.get_support()[4]
    with pytest.raises(ValueError, match="exceeds the 2 variables that carry information of their own"):
        VarSel(3, mixture=QUICK).fit(awkward)
    with pytest.raises(ValueError, match=r"exceeds the 3 of n_features=5 .* in x2, x3 more than max_repeated=0.5"):
        VarSel(4, mixture=QUICK).fit(awkward)


def test_one_variable():
    assert VarSel(1, mixture=QUICK).fit(np.arange(20.0)[:, None]).get_support().tolist() == [True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features_to_select": 10}, "n_features_to_select=10 exceeds .* n_features=9"),
        ({"max_repeated": 0}, "max_repeated=0 must be a share"),
    ],
)
def test_impossible_requests(options, message):
    with pytest.raises(ValueError, match=message):
        VarSel(**options).fit(load_glass().control)


def test_large_samples_give_reproducible_results():
    X = np.random.default_rng(0).standard_t(3, size=(1200, 2))  # beyond 1000 the search begins from a sample
    one, two = (VarSel(1).fit(X).bic_differences_ for _ in range(2))
    pd.testing.assert_frame_equal(one, two)
