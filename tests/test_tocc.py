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


def test_each_cluster_keeps_its_own_share(plane):
    classifier = PAMTOCC(3, sensitivity=[0.5, 0.8, 1.0]).fit(plane)
    accepted = classifier.predict(plane) == 1
    shares = [accepted[classifier.labels_ == k].mean() for k in range(3)]
    assert np.all(shares >= np.array([0.5, 0.8, 1.0]))
    assert shares[2] == 1 > shares[0]


def test_the_wrong_number_of_sensitivities_is_refused(plane):
    with pytest.raises(ValueError, match="3"):
        PAMTOCC(3, sensitivity=[0.5, 0.8]).fit(plane)


@pytest.mark.parametrize("sensitivity", [0, -0.1, 1.2, float("nan")])
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_an_impossible_sensitivity_is_refused(plane, classifier, sensitivity):
    with pytest.raises(ValueError, match=r"sensitivity=.* must lie in \(0, 1\]"):
        clone(classifier).set_params(sensitivity=sensitivity).fit(plane)


def test_a_single_object_cluster_accepts_only_its_like():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [50, 50]])
    classifier = PAMTOCC(2).fit(X)
    assert classifier.predict([[50, 50], [50, 49], [51, 51]]).tolist() == [1, -1, -1]


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


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_explain_has_one_row_per_sample_and_feature(plane, classifier):
    classifier = clone(classifier).fit(plane)
    others = load_glass().recovered[["K", "Mg"]]
    table = classifier.explain(others)
    assert list(table.columns) == [
        *("sample", "feature", "value", "median", "side", "tp", "p_value", "univariate_rejection")
    ]
    assert table["sample"].tolist() == np.repeat(others.index, 2).tolist()
    assert table["feature"].tolist() == ["K", "Mg"] * len(others)
    pd.testing.assert_series_equal(table["value"], pd.Series(others.to_numpy().ravel(), name="value"), check_names=True)
    assert table["tp"].between(0, 1).all()
    assert not (table["univariate_rejection"] & (table["tp"] == 1)).any()


def test_explain_counts_by_hand():
    classifier = TOCC(sensitivity=0.8).fit([[1.0, 10], [2, 20], [3, 30], [4, 40], [5, 50]])
    table = classifier.explain([[4.5, 30.0], [3.0, 60.0]])
    assert table["sample"].tolist() == [0, 0, 1, 1]
    assert table["feature"].tolist() == ["x0", "x1", "x0", "x1"]
    assert table["median"].tolist() == [3, 30, 3, 30]
    assert table["side"].tolist() == ["above", "at", "at", "above"]
    # One of five units lies beyond 4.5: 2 * 1/5. Beyond 60 there is none.
    assert table["tp"].tolist() == [0.4, 1, 1, 0]
    # The units lie 2.5, 1.5, 0, 1.5, 2.5 from the median of the other four: four of them at least 1.5.
    assert table["p_value"].tolist() == pytest.approx([5 / 6, 1, 1, 1 / 6])
    assert table["univariate_rejection"].tolist() == [False, False, False, True]


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
