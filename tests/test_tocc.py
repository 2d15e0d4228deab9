"""TOCC and PAM-TOCC as a user meets them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from transvariation import PAMTOCC, TOCC, load_glass

CLASSIFIERS = [TOCC(), PAMTOCC(3)]


@pytest.fixture
def plane():
    return load_glass().control[["K", "Mg"]]


@pytest.mark.parametrize("sensitivity", [0.5, 0.8, 0.9, 0.95, 1.0])
def test_at_least_the_nominal_share_of_training_samples_is_accepted(plane, sensitivity):
    accepted = TOCC(sensitivity=sensitivity).fit_predict(plane) == 1
    assert accepted.mean() >= sensitivity


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_set_sensitivity_equals_a_new_fit(plane, classifier):
    moved = clone(classifier).fit(plane).set_sensitivity(0.7)
    refitted = clone(classifier).set_params(sensitivity=0.7).fit(plane)
    np.testing.assert_array_equal(moved.decision_function(plane), refitted.decision_function(plane))
    assert moved.get_params()["sensitivity"] == 0.7


@pytest.mark.parametrize("sensitivity", [0, -0.1, 1.2, float("nan")])
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_an_impossible_sensitivity_is_refused(plane, classifier, sensitivity):
    with pytest.raises(ValueError, match=r"sensitivity=.* must lie in \(0, 1\]"):
        clone(classifier).set_params(sensitivity=sensitivity).fit(plane)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_predictions_do_not_depend_on_the_batch(plane, classifier):
    classifier = clone(classifier).fit(plane)
    others = load_glass().recovered[["K", "Mg"]]
    alone = np.concatenate([classifier.decision_function(others.iloc[[i]]) for i in range(len(others))])
    np.testing.assert_array_equal(alone, classifier.decision_function(others))


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_columns_of_another_name_or_order_are_refused(plane, classifier):
    with pytest.raises(ValueError, match="feature names"):
        clone(classifier).fit(plane).predict(plane[["Mg", "K"]])


def test_tp_is_invariant_under_shift_and_positive_scaling_per_axis(plane):
    # One variable: in more, the spatial median itself does not follow a change of a single axis' unit.
    mg = plane[["Mg"]]
    expected = TOCC().fit(mg).transvariation_probability(mg)
    np.testing.assert_array_equal(TOCC().fit(mg * 4).transvariation_probability(mg * 4), expected)
    np.testing.assert_array_equal(TOCC().fit(mg[::-1]).transvariation_probability(mg), expected)


def test_pipelines_and_grid_search_take_it(plane):
    pipeline = make_pipeline(PCA(2), TOCC()).fit(plane)
    assert set(pipeline.predict(plane)) == {1, -1}
    search = GridSearchCV(
        PAMTOCC(),
        {"n_clusters": [1, 2, 3]},
        scoring=lambda model, X, y=None: np.mean(model.predict(X) == 1),
        n_jobs=2,
        cv=3,
    ).fit(plane)
    assert search.best_params_["n_clusters"] in (1, 2, 3)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, np.nan], [2, 3], [4, 5], [6, 7], [8, 9]], "NaN"),
        ([[1.0, np.inf], [2, 3], [4, 5], [6, 7], [8, 9]], "inf"),
        ([[1.0, 2.0]], "minimum of 2"),
        ([1.0, 2.0, 3.0], "2D array"),
        (np.empty((0, 2)), "0 sample"),
    ],
)
def test_unusable_tables_are_refused(classifier, rows, message):
    with pytest.raises(ValueError, match=message):
        clone(classifier).fit(rows)


def test_a_constant_column_does_no_harm(plane):
    constant = plane.assign(Fe=0.0)
    classifier = TOCC().fit(constant)
    np.testing.assert_array_equal(
        classifier.transvariation_probability(constant), TOCC().fit(plane).transvariation_probability(plane)
    )
    # A value off the constant has no target unit on its side.
    off = pd.DataFrame([[0.5, 3.5, 0.1]], columns=constant.columns)
    assert classifier.transvariation_probability(off).tolist() == [0]
