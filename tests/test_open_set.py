"""OpenSetClassifier: p-values per class, prediction sets, and samples of no known class."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import IsolationForest
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from transvariation import TOCC, NeighborTOCC, OpenSetClassifier, load, save


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.TooFewSamples")  # some checks fit few samples
@parametrize_with_checks([OpenSetClassifier()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def three_classes(n, rng):
    y = np.repeat(["a", "b", "c"], n)
    centers = {"a": 0.0, "b": 4.0, "c": 8.0}
    return rng.normal(size=(3 * n, 3)) + np.array([centers[label] for label in y])[:, None], y


def test_columns_are_the_classifiers_of_the_single_classes():
    rng = np.random.default_rng(0)
    X, y = three_classes(40, rng)
    Z, _ = three_classes(20, rng)
    classifier = OpenSetClassifier(sensitivity=0.8).fit(X, y)
    assert classifier.classes_.tolist() == ["a", "b", "c"]
    for k, label in enumerate("abc"):
        alone = NeighborTOCC(sensitivity=0.8).fit(X[y == label])
        np.testing.assert_array_equal(classifier.p_values(Z)[:, k], alone.p_values(Z))
        np.testing.assert_array_equal(classifier.predict_set(Z)[:, k], alone.predict(Z) == 1)
    assert set(classifier.coverage_report()) == {"a", "b", "c"}


def test_every_class_keeps_its_promise_and_strangers_belong_to_none():
    rng = np.random.default_rng(1)
    kept, stranger = [], []
    for _ in range(30):
        X, y = three_classes(50, rng)
        new, truth = three_classes(100, rng)
        classifier = OpenSetClassifier(sensitivity=0.9).fit(X, y)
        sets = classifier.predict_set(new)
        kept.append([sets[truth == label, k].mean() for k, label in enumerate("abc")])
        stranger.append(np.mean(classifier.predict(rng.normal(size=(50, 3)) + [20, -20, 0]) == "none"))
    assert np.all(np.abs(np.mean(kept, axis=0) - 0.9) < 0.03)
    assert np.mean(stranger) == 1


def test_labels_may_be_numbers_and_the_label_of_none_is_chosen():
    rng = np.random.default_rng(2)
    X, names = three_classes(30, rng)
    y = np.searchsorted(["a", "b", "c"], names)
    far = np.full((1, 3), 99.0)
    assert OpenSetClassifier().fit(X, y).predict(far).tolist() == [-1]
    assert OpenSetClassifier(none_label="unknown").fit(X, names).predict(far).tolist() == ["unknown"]
    with pytest.raises(ValueError, match="none_label='a' is the label of a class"):
        OpenSetClassifier(none_label="a").fit(X, names)
    assert OpenSetClassifier().fit(X, y - 1).predict(far).tolist() == [-2]
    with pytest.raises(ValueError, match="5 labels for 90 samples"):
        OpenSetClassifier().fit(X, y[:5])


def test_groups_names_detectors_and_files(tmp_path):
    rng = np.random.default_rng(3)
    X, y = three_classes(40, rng)
    table = pd.DataFrame(X, columns=["Na", "Mg", "Ca"])
    classifier = OpenSetClassifier(TOCC(), sensitivity=0.7).fit(table, y, groups=np.arange(120) // 4)
    assert classifier.coverage_report()["b"].unit == "groups"
    assert classifier.feature_names_in_.tolist() == ["Na", "Mg", "Ca"]
    with pytest.raises(ValueError, match="feature names"):
        classifier.predict(table[["Mg", "Na", "Ca"]])
    save(classifier, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").p_values(table), classifier.p_values(table))
    forest = OpenSetClassifier(IsolationForest(n_estimators=20, random_state=0)).fit(X, y)
    assert np.mean(forest.predict(X) == y) > 0.8


def test_wine_of_an_unknown_cultivar_is_recognized():
    X, y = load_wine(return_X_y=True)
    for unknown in range(3):
        classifier = OpenSetClassifier().fit(X[y != unknown], y[y != unknown])
        assert np.mean(classifier.predict(X[y == unknown]) == -1) > 0.6


def test_a_grid_search_finds_its_parameters():
    X, y = three_classes(30, np.random.default_rng(4))
    grid = {"estimator__n_neighbors": [1, 3]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        search = GridSearchCV(OpenSetClassifier(NeighborTOCC()), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
