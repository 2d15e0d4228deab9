"""NeighborTOCC: its formula from scikit-learn's parts, its contract, and the sensitivity on fresh samples."""

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.covariance import LedoitWolf
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.estimator_checks import parametrize_with_checks

from transvariation import NeighborTOCC, load_glass, make_scenario
from transvariation.scalings import SCALINGS, Standardization, WhiteningScaling, rounding_step


@parametrize_with_checks([NeighborTOCC(), NeighborTOCC(2, scalings=["whitened"], calibration="cv")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_score_of_one_view_orders_samples_by_neighbor_distance():
    X, Z = make_scenario("b", 60, random_state=0)
    Z = np.vstack([Z, np.outer([20.0, 50.0, 1e3, 1e6], [1.0, -1.0])])
    classifier = NeighborTOCC(3, scalings=["standard"]).fit(X)
    distances, _ = NearestNeighbors(n_neighbors=3).fit(X / X.std(axis=0)).kneighbors(Z / X.std(axis=0))
    scores = classifier.score_samples(Z)
    far = distances.mean(axis=1) > np.exp(np.quantile(classifier._known, 0.9))  # in the tail, where there are no ties
    np.testing.assert_array_equal(rankdata(-scores[far]), rankdata(distances.mean(axis=1)[far]))
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("shape", [(40, 5), (30, 30), (12, 50)])
def test_whitening_is_scikit_learns_ledoit_wolf(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) @ rng.normal(size=(shape[1], shape[1]))
    rows = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LedoitWolf().fit(rows)
    scaling = WhiteningScaling().fit(rows)
    assert scaling.shrinkage_ == pytest.approx(model.shrinkage_)
    W = scaling.transform(rows)
    expected = np.einsum("ip,pq,iq->i", rows, model.precision_, rows)
    np.testing.assert_allclose((W**2).sum(axis=1), expected, rtol=1e-8)


def test_normal_scores_continue_past_the_ends_by_their_unit():
    X = np.arange(10.0)[:, None]
    scaling = SCALINGS["normal"]().fit(X)
    low, inside, top, beyond = scaling.transform(np.array([[0.0], [4.5], [9.0], [11.0]]))[:, 0]
    assert inside == pytest.approx(0)
    assert (low, beyond) == (pytest.approx(-top), pytest.approx(top + 2))


def test_rounding_step_bounds_the_scale_of_a_nearly_constant_feature():
    X = np.zeros((400, 2))
    X[:, 0] = np.random.default_rng(0).normal(size=400)
    X[7, 1] = 1
    np.testing.assert_array_equal(rounding_step(X), [0, 1])
    assert Standardization().fit(X).scale_[1] == pytest.approx(12**-0.5)


def heavy(rng, shape):
    return rng.standard_t(2, size=shape)


def correlated(rng, shape):
    return rng.normal(size=shape) + rng.normal(size=(shape[0], 1))


def discrete(rng, shape):
    return (rng.random(shape) < np.linspace(0.01, 0.5, shape[1])).astype(float)


@pytest.mark.parametrize("draw", [heavy, correlated, discrete])
@pytest.mark.parametrize("shape", [(10, 5), (19, 18), (20, 200)])
def test_false_rejections_stay_nominal_for_few_samples_of_many_features(draw, shape):
    rng = np.random.default_rng(5)
    rejected = [
        np.mean(NeighborTOCC().fit(draw(rng, shape)).predict(draw(rng, (200, shape[1]))) == -1) for _ in range(8)
    ]
    assert np.mean(rejected) <= 0.13 + 2 * np.std(rejected) / np.sqrt(8)


def test_duplicates_constant_columns_and_extreme_values():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.repeat(rng.normal(size=20), 3), np.full(60, 0.3), 1e-300 * rng.normal(size=60)])
    X = np.column_stack([X, 1e300 * rng.normal(size=60)])
    classifier = NeighborTOCC().fit(X)
    Z = np.vstack([X[:5], X[:5] * 1e5, np.full(4, 1e300)])
    scores = classifier.score_samples(Z)
    assert np.isfinite(scores).all()
    assert (classifier.predict(Z[5:]) == -1).all()
    assert NeighborTOCC().fit(np.ones((20, 2))).predict([[1.0, 1.0], [1.0, 1.1]]).tolist() == [1, -1]


def test_order_of_rows_and_number_of_threads_change_nothing():
    X = np.random.default_rng(1).normal(size=(90, 3))
    Z = np.random.default_rng(2).normal(size=(40, 3))
    first = NeighborTOCC().fit(X)
    second = NeighborTOCC(n_jobs=2).fit(X[::-1])
    np.testing.assert_allclose(second.score_samples(Z), first.score_samples(Z), rtol=1e-9)
    np.testing.assert_array_equal(second.p_values(Z), first.p_values(Z))


@pytest.mark.parametrize("calibration", ["loo", "split", "cv"])
def test_explain_names_the_nearest_known_samples(calibration):
    glass = load_glass()
    classifier = NeighborTOCC(calibration=calibration).fit(glass.control)
    nearby = glass.control.iloc[[3, 40]] + 1e-9
    table = classifier.explain(nearby)
    known = set(glass.control.index[classifier.reference_])
    for i, name in enumerate(nearby.index):
        named = table["nearest"].iloc[9 * i].split(", ")
        assert len(named) == 3
        assert set(map(int, named)) <= known
        if name in known:
            assert str(name) in named
    np.testing.assert_allclose(table.groupby("sample")["contribution"].sum(), 1)


def test_explain_attributes_the_distance_to_the_feature_that_is_off():
    X = np.random.default_rng(0).normal(size=(80, 6))
    z = np.zeros((1, 6))
    z[0, 4] = 9.0
    table = NeighborTOCC().fit(X).explain(z)
    assert table["contribution"].idxmax() == 4
    assert table["contribution"].max() > 0.8


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0 must be a positive"),
        ({"n_neighbors": ()}, "must each name at least one"),
        ({"scalings": ["minmax"]}, "'minmax' is unknown; choose from standard, range, normal, whitened"),
        ({"max_reference": 0}, "max_reference=0 must be a positive"),
    ],
)
def test_parameters_are_checked(parameters, words):
    with pytest.raises(ValueError, match=words):
        NeighborTOCC(**parameters).fit(np.random.default_rng(0).normal(size=(20, 2)))
