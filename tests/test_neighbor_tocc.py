"""NeighborTOCC: its formula from scikit-learn's parts, its contract, and the sensitivity on fresh samples."""

import tracemalloc

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from transvariation import (
    TOCC,
    CalibratedOCC,
    NeighborTOCC,
    ProjectionEnsemble,
    compare_classifiers,
    describe_rejections,
    explain_rejections,
    load,
    load_glass,
    make_scenario,
    save,
)
from transvariation.exceptions import OrderedScores
from transvariation.scalings import Standardization, WhiteningScaling


@parametrize_with_checks([NeighborTOCC()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_score_of_one_view_orders_samples_by_neighbor_distance():
    X, Z = make_scenario("b", 60, random_state=0)
    Z = np.vstack([Z, np.outer([20.0, 50.0, 1e3, 1e6], [1.0, -1.0])])
    classifier = NeighborTOCC(3, scalings=["standard"]).fit(X)
    distances, _ = NearestNeighbors(n_neighbors=3).fit(X / X.std(axis=0)).kneighbors(Z / X.std(axis=0))
    scores = classifier.score_samples(Z)
    # In the tail there are no ties.
    far = distances.mean(axis=1) > np.exp(np.quantile(classifier.description_._known, 0.9))
    np.testing.assert_array_equal(rankdata(-scores[far]), rankdata(distances.mean(axis=1)[far]))
    assert np.isfinite(scores).all()


def test_units_of_the_features_change_nothing():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), rng.random(60) < 0.05, np.full(60, 0.3), rng.poisson(2, 60)])
    Z = np.vstack([X[:5] + 0.1, [[0.0, 1.0, 0.3, 2.0], [0.0, 0.0, 0.4, 2.0], [0.0, 2.0, 40.0, 2.0]]])
    units, shift = np.array([3.7, 0.013, 2.0, 11.0]), np.array([1.0, -2.0, 0.0, 5.0])
    other = Standardization().fit(X * units + shift).transform(Z * units + shift)
    np.testing.assert_allclose(other, Standardization().fit(X).transform(Z), rtol=1e-9)


@pytest.mark.parametrize("n", [20, 100])
def test_a_change_of_a_constant_feature_is_rejected(n):
    X = np.random.default_rng(1).normal(size=(n, 8))
    X[:, 3] = 0.0
    Z = X[:20] * 0.9
    Z[:, 3] = 2.2
    assert np.mean(NeighborTOCC().fit(X).predict(Z) == -1) > 0.9


def heavy(rng, shape):
    return rng.standard_t(2, size=shape)


def correlated(rng, shape):
    return rng.normal(size=shape) + rng.normal(size=(shape[0], 1))


def discrete(rng, shape):
    return (rng.random(shape) < np.linspace(0.01, 0.5, shape[1])).astype(float)


@pytest.mark.parametrize("draw", [heavy, correlated, discrete])
@pytest.mark.parametrize("shape", [(10, 5), (19, 18), (20, 100)])
def test_false_rejections_stay_nominal_for_few_samples_of_many_features(draw, shape):
    rng = np.random.default_rng(5)
    rejected = [
        np.mean(NeighborTOCC().fit(draw(rng, shape)).predict(draw(rng, (200, shape[1]))) == -1) for _ in range(8)
    ]
    assert np.mean(rejected) <= 0.13 + 2 * np.std(rejected) / np.sqrt(8)


@pytest.mark.parametrize("scalings", [("whitened",), ("range", "normal", "whitened")])
@pytest.mark.parametrize(("n", "noise"), [(30, 0.1), (80, 0.1), (80, 1.0)])
def test_p_values_hold_for_strongly_correlated_features_in_many_dimensions(scalings, n, noise):
    # All distances of new samples are alike here: a few percent between the folds and the whole would decide.
    rng = np.random.default_rng(7)
    shares = []
    for _ in range(10):
        X, Z = (rng.normal(size=(m, 1)) + noise * rng.normal(size=(m, 300)) for m in (n, 100))
        p = NeighborTOCC(scalings=scalings).fit(X).p_values(Z)
        shares.append([np.mean(p <= level) for level in (0.1, 0.2, 0.3)])
    error = np.std(shares, axis=0) / np.sqrt(len(shares))
    assert (np.mean(shares, axis=0) <= np.array([0.13, 0.23, 0.33]) + 2 * error).all()


def test_as_many_features_as_samples_leave_no_error_rate_unused():
    # Distances whitened by nine in ten of the samples are longer than those by all: .02 were rejected.
    rejected = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        classifier = NeighborTOCC(scalings=["whitened"], pairs=False).fit(correlated(rng, (100, 100)))
        rejected.append(np.mean(classifier.predict(correlated(rng, (400, 100))) == -1))
    assert 0.045 < np.mean(rejected) <= 0.1


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


@pytest.mark.parametrize(("n", "p", "groups"), [(60, 4, False), (60, 4, True), (1_500, 4, False), (40, 100, False)])
def test_order_of_rows_changes_nothing_where_distances_are_equal(n, p, groups):
    # In a table of integers many distances are equal, but sums in another order round them differently.
    rng = np.random.default_rng(n + p)
    X, Z, order = rng.integers(0, 4, size=(n, p)), rng.integers(0, 5, size=(100, p)), rng.permutation(n)
    items = np.arange(n) // 3 if groups else None
    here = NeighborTOCC().fit(X, groups=items)
    there = NeighborTOCC().fit(X[order], groups=None if items is None else items[order])
    np.testing.assert_allclose(there.score_samples(Z), here.score_samples(Z), atol=1e-9)
    assert there.offset_ == pytest.approx(here.offset_, abs=1e-9)


@pytest.mark.parametrize("calibration", ["loo", "split", "cv"])
def test_explain_names_the_nearest_known_samples(calibration):
    glass = load_glass()
    classifier = NeighborTOCC(calibration=calibration).fit(glass.control)
    nearby = glass.control.iloc[[3, 40]] + 1e-4
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
    scalings = [column for column in table if column.startswith("contribution_")]
    assert scalings == ["contribution_range", "contribution_normal", "contribution_whitened"]
    np.testing.assert_allclose(table[scalings].mean(axis=1), table["contribution"])
    assert (table[scalings].idxmax() == 4).all()


def test_contributions_are_shares_of_the_squared_distance_to_the_nearest(rng):
    X, z = rng.normal(size=(40, 3)) + 10, np.array([13.0, 10.5, 9.0])
    table = NeighborTOCC(1, scalings=["range"], pairs=False).fit(X).explain([z])
    squares = ((X - z) / np.ptp(X, axis=0)) ** 2
    nearest = squares[squares.sum(axis=1).argmin()]
    np.testing.assert_allclose(table["contribution"], nearest / nearest.sum())
    X[1:3] = X[0]
    table = NeighborTOCC(1, scalings=["range"], pairs=False).fit(X).explain(X[:1])
    np.testing.assert_allclose(table["contribution"], 1 / 3)  # no distance to divide: each feature has an equal share


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0 must be a positive"),
        ({"n_neighbors": ()}, "must each name at least one"),
        ({"scalings": ["minmax"]}, "'minmax' is unknown; choose from standard, range, normal, whitened"),
        ({"scalings": "range"}, r"must be a sequence of names, not a string; use scalings=\('range',\)"),
        ({"max_reference": 0}, "max_reference=0 must be a positive"),
    ],
)
def test_parameters_are_checked(parameters, words):
    with pytest.raises(ValueError, match=words):
        NeighborTOCC(**parameters).fit(np.random.default_rng(0).normal(size=(20, 2)))


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.TooFewSamples")
def test_only_other_sample_counts_although_it_is_equal():
    X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    first, other, last = NeighborTOCC().fit(X, groups=[0, 0, 1]).score_samples(X)
    assert first == last > other


def test_replicates_are_not_neighbors_of_each_other():
    rng = np.random.default_rng(0)
    items = np.repeat(rng.normal(size=(30, 4)), 4, axis=0)
    X, groups = items + 0.01 * rng.normal(size=items.shape), np.repeat(np.arange(30), 4)
    fresh = rng.normal(size=(400, 4))
    grouped = NeighborTOCC().fit(X, groups=groups)
    assert grouped.coverage_report().n == 30
    assert np.mean(grouped.predict(fresh) == -1) <= 0.2
    with pytest.warns(OrderedScores, match="replicates of items"):
        alone = NeighborTOCC().fit(X)  # each sample has its replicates at hand
    assert np.mean(alone.predict(fresh) == -1) > 0.9


def test_split_calibration_counts_the_other_half():
    X = np.random.default_rng(0).normal(size=(200, 3))
    report = NeighborTOCC(calibration="split").fit(X).coverage_report()
    assert (report.calibration, report.n) == ("split", 100)


def test_reference_subsample_limits_the_neighbors_and_the_calibration():
    rng = np.random.default_rng(0)
    X, fresh = rng.normal(size=(3_000, 2)), rng.normal(size=(2_000, 2))
    classifier = NeighborTOCC(max_reference=500).fit(X)
    assert len(classifier.reference_) == 500 == classifier.coverage_report().n
    assert abs(np.mean(classifier.predict(fresh) == 1) - 0.9) < 0.04


def test_training_samples_are_measured_without_themselves():
    X = np.random.default_rng(3).normal(size=(400, 3))
    classifier = NeighborTOCC().fit(X)
    assert abs(np.mean(classifier.predict(X) == 1) - 0.9) < 0.03
    np.testing.assert_array_equal(NeighborTOCC().fit_predict(X), classifier.predict(X))


def test_rounding_in_a_pipeline_does_not_make_training_samples_new():
    # PCA rounds the same row differently in fit_transform, in transform, and alone.
    X = np.random.default_rng(4).normal(size=(400, 6)) + 10
    classifier = CalibratedOCC(make_pipeline(PCA(3), NeighborTOCC())).fit(X)
    scores = classifier.score_samples(X)
    assert abs(np.mean(scores >= classifier.offset_) - 0.9) < 0.05
    # Two samples that are each other's nearest have one distance: rounding may count one sample more or less.
    np.testing.assert_allclose([classifier.score_samples(x[None])[0] for x in X[:50]], scores[:50], atol=0.05)


def test_more_features_than_samples_need_no_square_matrix_of_features():
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(20, 4_000)), axis=1)  # smooth spectra; 4,000 x 4,000 would be 128 MB
    tracemalloc.start()
    NeighborTOCC(scalings=["standard", "whitened"]).fit(X).predict(X[:5] + 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30e6


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.OrderedScores")  # rows of the glass are in some order
def test_it_works_inside_the_other_tools(tmp_path):
    glass = load_glass()
    control, recovered = glass.control[["K", "Mg", "Ca"]], glass.recovered[["K", "Mg", "Ca"]]
    plain = NeighborTOCC().fit(control)
    save(plain, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").p_values(recovered), plain.p_values(recovered))
    assert load(tmp_path / "model").explain(recovered).equals(plain.explain(recovered))
    calibrated = CalibratedOCC(NeighborTOCC(), calibration="split").fit(control)
    assert np.mean(calibrated.predict(recovered) == -1) > 0.7
    ensemble = ProjectionEnsemble(NeighborTOCC(), n_projections=2, n_candidates=2, calibration="split", random_state=0)
    ensemble.fit(control)
    assert np.mean(ensemble.predict(recovered) == -1) > 0.5
    choice = compare_classifiers({"neighbor": NeighborTOCC(), "TOCC": TOCC()}, control, n_repeats=1)
    assert choice.tightest == "neighbor"
    table = explain_rejections(plain, recovered.iloc[:3])
    assert {"accepted", "needed", "accepted_at"} <= set(table.columns)
    words = describe_rejections(table).splitlines()
    assert any(f"closest known samples: {table['nearest'].iloc[0]}" in line for line in words)


def test_mixed_tables_with_many_discrete_columns_keep_sensitivity_and_power():
    rng = np.random.default_rng(6)

    def draw(n, shift=0.0):
        categories = np.eye(12)[rng.integers(12, size=n)]
        return np.hstack([categories, rng.poisson(3 + shift, size=(n, 3)), rng.normal(shift, 1, size=(n, 2))])

    accepted, rejected = [], []
    for _ in range(5):
        classifier = NeighborTOCC().fit(draw(80))
        accepted.append(np.mean(classifier.predict(draw(200)) == 1))
        rejected.append(np.mean(classifier.predict(draw(200, 4.0)) == -1))
    assert np.mean(accepted) > 0.87
    assert np.mean(rejected) > 0.9


@pytest.mark.parametrize("calibration", ["cv", "split"])
def test_groups_reach_the_description_whatever_the_calibration(calibration):
    """Replicates are no neighbors of each other: tp of new samples is about the same for every calibration."""
    rng = np.random.default_rng(0)

    def replicated(n_items):
        return np.repeat(rng.normal(size=(n_items, 4)), 4, axis=0) + 0.001 * rng.normal(size=(4 * n_items, 4))

    X, groups, new = replicated(60), np.repeat(np.arange(60), 4), replicated(100)
    loo = NeighborTOCC().fit(X, groups=groups).transvariation_probability(new)
    other = NeighborTOCC(calibration=calibration).fit(X, groups=groups).transvariation_probability(new)
    assert np.median(loo) > 0.005
    assert 0.5 < np.median(other) / np.median(loo) < 2


def units_and_order(rng, X, Z):
    """The same samples in other units, with other origins and in another order of rows and columns."""
    p = X.shape[1]
    unit, columns, rows = 10.0 ** rng.integers(-4, 4, p) * rng.uniform(1, 2, p), rng.permutation(p), None
    shift, rows = 5 * unit * rng.normal(size=p), rng.permutation(len(X))
    return (X * unit + shift)[rows][:, columns], (Z * unit + shift)[:, columns]


@pytest.mark.parametrize(("n", "p"), [(40, 9), (40, 2), (12, 30), (700, 4)])
@pytest.mark.parametrize("kind", ["continuous", "rounded", "missing"])
def test_units_and_the_order_of_rows_and_features_change_nothing(n, p, kind):
    rng = np.random.default_rng([n, p])
    mixing = rng.normal(size=(p, p))
    X, Z = rng.normal(size=(n, p)) @ mixing, rng.normal(size=(200, p)) @ mixing
    if kind == "rounded":
        X, Z = np.round(X), np.round(Z)
    if kind == "missing":
        X[rng.random(X.shape) < 0.1], Z[rng.random(Z.shape) < 0.1] = np.nan, np.nan
    classifier = NeighborTOCC().fit(X)
    for _ in range(3):
        other_X, other_Z = units_and_order(rng, X, Z)
        other = NeighborTOCC(n_jobs=2).fit(other_X)
        np.testing.assert_allclose(other.p_values(other_Z), classifier.p_values(Z), atol=1e-9)
        np.testing.assert_allclose(other.score_samples(other_Z), classifier.score_samples(Z), rtol=1e-4, atol=1e-4)


def test_one_sample_is_scored_as_in_a_batch():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(600, 6)), rng.normal(size=(40, 6))
    classifier = NeighborTOCC().fit(X)
    one_by_one = np.concatenate([classifier.score_samples(z[None]) for z in Z])
    np.testing.assert_allclose(one_by_one, classifier.score_samples(Z), rtol=1e-5)


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_missing_values_keep_the_error_rate(share):
    mixing = np.random.default_rng(5).normal(size=(5, 5))
    shares = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, new = rng.normal(size=(150, 5)) @ mixing, rng.normal(size=(400, 5)) @ mixing
        X[rng.random(X.shape) < share], new[rng.random(new.shape) < share] = np.nan, np.nan
        shares.append(np.mean(NeighborTOCC().fit(X).p_values(new) <= 0.1))
    assert 0.05 < np.mean(shares) < 0.13


def test_a_sample_without_any_value_is_accepted():
    X = np.random.default_rng(0).normal(size=(60, 4))
    X[::5, 1] = np.nan
    assert NeighborTOCC().fit(X).predict(np.full((1, 4), np.nan)) == 1


def test_a_known_sample_with_a_gap_is_not_its_own_neighbor():
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[0, 1] = np.nan
    classifier = NeighborTOCC(3).fit(X)
    filled = np.array([[X[0, 0], 0.1, X[0, 2]]])  # another sample, with the same values where both are measured
    own, other = (classifier.explain(x)["nearest"].iloc[0].split(", ") for x in (X[:1], filled))
    assert "0" not in own
    assert other[0] == "0"


def test_missing_values_are_expected_by_the_other_features():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 1)) + 0.2 * rng.normal(size=(500, 4))
    scaling = WhiteningScaling().fit(rows)
    covariance = np.linalg.inv(scaling.transform(np.eye(4)) @ scaling.transform(np.eye(4)).T)
    new = np.array([[1.0, np.nan, 1.2, np.nan]])
    observed, missing = [0, 2], [1, 3]
    solved = np.linalg.solve(covariance[np.ix_(observed, observed)], new[0, observed])
    new[0, missing] = covariance[np.ix_(missing, observed)] @ solved
    gaps = np.array([[1.0, np.nan, 1.2, np.nan]])
    np.testing.assert_allclose(scaling.transform(gaps), scaling.transform(new), rtol=1e-6)


@pytest.mark.parametrize("n_bad", [5, 25])
def test_trim_finds_a_cluster_of_bad_training_samples(n_bad):
    """Five rows in 500 take all power from the nearest neighbors: each has the others of its cluster near."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(8, 8))
    center = 4 * rng.normal(size=8) @ mixing
    X = np.vstack([center + 0.1 * rng.normal(size=(n_bad, 8)), rng.normal(size=(500 - n_bad, 8)) @ mixing])
    bad, new = center + 0.1 * rng.normal(size=(100, 8)), rng.normal(size=(400, 8)) @ mixing
    assert np.mean(NeighborTOCC().fit(X).predict(bad) == -1) < 0.1
    classifier = NeighborTOCC(trim=0.1).fit(X)
    assert set(classifier.suspicious_) == set(range(n_bad))
    assert not set(classifier.reference_) & set(range(n_bad))
    assert np.mean(classifier.predict(bad) == -1) > 0.9
    assert np.mean(classifier.predict(new) == -1) < 0.13
    wrapped = CalibratedOCC(make_pipeline(StandardScaler(), NeighborTOCC(trim=0.1)), calibration="split").fit(X)
    assert np.mean(wrapped.predict(bad) == -1) > 0.9


def test_trim_leaves_clean_samples_alone():
    X = np.random.default_rng(1).normal(size=(300, 4))
    trimmed = NeighborTOCC(trim=0.1).fit(X)
    assert len(trimmed.suspicious_) == 0
    np.testing.assert_array_equal(trimmed.p_values(X), NeighborTOCC().fit(X).p_values(X))


@pytest.mark.parametrize("trim", [0.5, -0.1, "0.1"])
def test_trim_is_checked(trim):
    with pytest.raises(ValueError, match="share from 0 to"):
        NeighborTOCC(trim=trim).fit(np.eye(5))


def test_trim_keeps_two_samples():
    assert len(NeighborTOCC(trim=0.25, calibration="resubstitution").fit([[0.0], [1.0]]).reference_) == 2


def test_exponential_tail_gives_levels_that_few_ranks_cannot():
    rng = np.random.default_rng(0)
    rejected = []
    for _ in range(30):
        with pytest.warns(UserWarning, match="not supported by 8"):
            classifier = NeighborTOCC().fit(rng.normal(size=(8, 3)))
        new, far = rng.normal(size=(100, 3)), rng.normal(size=(100, 3)) + 6
        assert (classifier.p_values(far) > 0.1).all()
        rejected.append([np.mean(classifier.p_values(Z, tail="exponential") <= 0.1) for Z in (new, far)])
    targets, foreign = np.mean(rejected, axis=0)
    assert targets <= 0.13
    assert foreign > 0.7


def test_exponential_tail_needs_single_samples_and_held_out_scores():
    X = np.random.default_rng(0).normal(size=(20, 2))
    for classifier in (NeighborTOCC().fit(X, groups=np.arange(20) // 2), NeighborTOCC(calibration="cv").fit(X)):
        if classifier.calibration_.unit == "groups":
            with pytest.raises(ValueError, match="without groups"):
                classifier.p_values(X, tail="exponential")
        else:
            assert np.isfinite(classifier.p_values(X, tail="exponential")).all()
    with pytest.raises(ValueError, match="tail='normal'"):
        NeighborTOCC().fit(X).p_values(X, tail="normal")
