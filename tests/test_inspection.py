"""Sets of features that are really the smallest, values that are really accepted."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.covariance import EllipticEnvelope
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from transvariation import (
    PAMTOCC,
    TOCC,
    CalibratedOCC,
    DensityTOCC,
    NeighborTOCC,
    ProjectionEnsemble,
    baselines,
    describe_rejections,
    explain_rejections,
    load_glass,
    spatial_median,
)

GLASS = load_glass()
FEATURES = ["RI", "Mg", "Al", "K"]
CLASSIFIERS = [TOCC(), PAMTOCC(n_clusters=3), NeighborTOCC(), NeighborTOCC(calibration="split")]


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
def test_needed_sets_are_the_smallest_and_nearest_values_are_accepted(classifier):
    classifier.fit(GLASS.control[FEATURES])
    recovered = GLASS.recovered[FEATURES].iloc[:5]
    table = explain_rejections(classifier, recovered)
    accepted = classifier.predict(recovered) == 1
    np.testing.assert_array_equal(table["accepted"].to_numpy().reshape(-1, 4)[:, 0], accepted)
    needed = table["needed"].to_numpy().reshape(-1, 4)
    nearest = table["accepted_at"].to_numpy().reshape(-1, 4)
    assert not needed[accepted].any()
    np.testing.assert_array_equal(nearest[accepted], recovered[accepted])
    assert (classifier.predict(_frame(nearest)) == 1).all()
    for i in np.flatnonzero(~accepted)[:2]:
        z = recovered.to_numpy()[i]
        if hasattr(classifier, "centers_"):
            center = classifier.centers_[classifier.description_.strata(z[None])[0]]
        else:
            center = getattr(classifier, "center_", spatial_median(classifier.description_.rows))
        smaller = [np.isin(range(4), c) for size in range(1, needed[i].sum()) for c in combinations(range(4), size)]
        assert all(classifier.predict(_frame(np.where(s, z, center)[None]))[0] == 1 for s in smaller)


def _frame(rows):
    return GLASS.control[FEATURES].iloc[:0].reindex(range(len(rows))).assign(**dict(zip(FEATURES, rows.T, strict=True)))


def test_sufficient_features_among_many():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 14))
    z = np.zeros((1, 14))
    z[0, [3, 7]] = 9.0
    classifier = NeighborTOCC().fit(X)
    table = explain_rejections(classifier, z)
    needed = np.flatnonzero(table["needed"])
    assert set(needed) <= {3, 7}
    assert len(needed) >= 1


def test_rejections_are_described_line_by_line():
    classifier = TOCC().fit(GLASS.control[["K", "Mg"]])
    text = describe_rejections(explain_rejections(classifier, GLASS.recovered[["K", "Mg"]]))
    assert len(text.splitlines()) == 51
    assert all(" rejected: " in line for line in text.splitlines())
    inside = describe_rejections(explain_rejections(classifier, GLASS.control[["K", "Mg"]].iloc[:1]))
    assert inside == "1 accepted" or "rejected" in inside


def test_the_farthest_of_several_sufficient_features_is_named():
    """Beyond the sample tp is 0 in every variable: the reader expects the one that is farthest out."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    table = explain_rejections(TOCC().fit(X), [[3.5, 9.0, 4.0]])
    assert table["needed"].tolist() == [False, True, False]


@pytest.mark.parametrize("far", [10.0, 1e4, 1e6, 1e9])
def test_only_the_far_feature_of_a_sample_changes(far):
    X = np.random.default_rng(0).normal(size=(80, 2))
    nearest = explain_rejections(TOCC().fit(X), [[far, 0.1]])["accepted_at"].to_numpy()
    np.testing.assert_allclose(nearest, [1.822, 0.1], atol=1e-3)
    smooth = explain_rejections(NeighborTOCC().fit(X), [[far, 0.1], [1e3, 0.1]])["accepted_at"].to_numpy()
    np.testing.assert_allclose(smooth[:2], smooth[2:], atol=0.2)


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNearlyAll")
def test_counterfactuals_of_counting_classifiers_change_as_few_values_as_possible():
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(500, 10)), rng.normal(size=(20, 10)) + 5 * (np.arange(10) < 2)
    classifier = TOCC().fit(X)
    table = explain_rejections(classifier, Z)
    changed = (table["value"] != table["accepted_at"]).to_numpy().reshape(Z.shape)
    # tp > 0 needs a known sample that is farther out in every feature, on the same side of the center.
    side = np.sign(Z - classifier.center_)
    farther = side * (X[:, None] - classifier.center_) > side * (Z - classifier.center_)
    np.testing.assert_array_equal(changed.sum(axis=1), (~farther).sum(axis=2).min(axis=0))


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNearlyAll")
def test_a_long_list_of_changes_is_not_called_an_explanation():
    rng = np.random.default_rng(0)
    classifier = TOCC().fit(rng.normal(size=(1000, 30)))
    table = explain_rejections(classifier, rng.normal(size=(2, 30)) + 5 * (np.arange(30) < 3))
    assert table["accepted_at"].isna().all()
    assert table["needed"].sum() == 2
    for line in describe_rejections(table).splitlines():
        assert line.endswith("suffices; no few changes were found with which it is accepted")


SCALED = make_pipeline(StandardScaler(), NeighborTOCC())


@pytest.mark.parametrize(
    ("classifier", "given"),
    [
        (ProjectionEnsemble(n_projections=15, random_state=0), False),
        (CalibratedOCC(NeighborTOCC(), calibration="split"), False),
        (CalibratedOCC(ProjectionEnsemble(n_projections=5, random_state=0), calibration="resubstitution"), False),
        (CalibratedOCC(make_pipeline(StandardScaler(), PCA(2), NeighborTOCC())), True),
        (make_pipeline("passthrough", StandardScaler(), PAMTOCC(3)), True),
        (baselines.GaussianOCC(), True),
        (EllipticEnvelope(random_state=0), True),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
@pytest.mark.parametrize("named", [True, False])
def test_other_classifiers_are_explained_by_the_original_features(classifier, given, named):
    control, recovered = GLASS.control[FEATURES], GLASS.recovered[FEATURES].iloc[:2]
    if not named:
        control, recovered = control.to_numpy(), recovered.to_numpy()
    classifier.fit(control)
    table = explain_rejections(classifier, recovered, control if given else None)
    assert table["feature"].tolist()[:4] == (FEATURES if named else ["x0", "x1", "x2", "x3"])
    np.testing.assert_array_equal(table["value"], np.ravel(recovered))
    np.testing.assert_array_equal(table["accepted"][::4], classifier.predict(recovered) == 1)
    assert not table["accepted"].all()
    nearest = table["accepted_at"].to_numpy().reshape(-1, 4)
    assert (classifier.predict(_frame(nearest) if named else nearest) == 1).all()


def test_a_pipeline_that_only_scales_is_explained_like_its_classifier():
    control, recovered = GLASS.control[FEATURES], GLASS.recovered[FEATURES].iloc[:1]
    scaled = explain_rejections(SCALED.fit(control), recovered, control)
    plain = explain_rejections(NeighborTOCC().fit(control), recovered)
    assert scaled[["feature", "median", "accepted"]].equals(plain[["feature", "median", "accepted"]])
    np.testing.assert_array_equal(scaled["tp"], TOCC().fit(control).explain(recovered)["tp"])


class _Square:
    """The uniform density on the unit square."""

    def box_probability(self, lower, upper):
        return np.prod(np.clip(upper, 0, 1) - np.clip(lower, 0, 1), axis=1)


def test_where_the_threshold_is_minus_infinity_nothing_is_rejected():
    rng = np.random.default_rng(0)
    target = np.vstack([rng.uniform(size=(20, 2)), rng.uniform(1.5, 3, size=(10, 2))])
    classifier = DensityTOCC(density=_Square(), scale="log").fit(target)
    assert np.isneginf(classifier.offset_)
    assert classifier.predict([[3.0, 3.0]])[0] == 1
    assert explain_rejections(classifier, [[3.0, 3.0]])["accepted"].all()


def test_what_cannot_be_explained_is_refused():
    control, recovered = GLASS.control[FEATURES], GLASS.recovered[FEATURES]
    for classifier in (SCALED, EllipticEnvelope()):
        with pytest.raises(TypeError, match=r"does not keep target samples, .* explain_rejections\(classifier, Z, X\)"):
            explain_rejections(classifier.fit(control), recovered)
    with pytest.raises(TypeError, match="cannot classify new samples"):
        explain_rejections(LocalOutlierFactor().fit(control), recovered, control)
    with pytest.raises(NotFittedError):
        explain_rejections(CalibratedOCC(TOCC()), recovered)


def test_one_wrong_feature_of_many_is_the_one_to_change():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(3, 12))
    X = rng.normal(size=(300, 3)) @ factors + 0.3 * rng.normal(size=(300, 12))
    z = X[:20] + 0.01
    z[np.arange(20), np.arange(20) % 12] += 12
    classifier = NeighborTOCC().fit(X)
    decided = []
    counting = classifier.predict
    classifier.predict = lambda rows: decided.append(len(rows)) or counting(rows)
    table = explain_rejections(classifier, z)
    changed = (table["accepted_at"] != table["value"]).to_numpy().reshape(20, 12)
    assert not table["accepted"].any()
    assert np.median(changed.sum(axis=1)) == 1
    assert changed[np.arange(20), np.arange(20) % 12].all()
    assert (counting(table["accepted_at"].to_numpy().reshape(20, 12)) == 1).all()
    assert sum(decided) - len(X) <= 100 * 20
