"""Calibration modes, groups, p-values, the coverage report and CalibratedOCC."""

import io
import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from transvariation import (
    TOCC,
    CalibratedOCC,
    DensityTOCC,
    NeighborTOCC,
    ProjectionEnsemble,
    load,
    load_glass,
    save,
)
from transvariation.base import OneClassClassifier
from transvariation.calibration import CalibrationPlan, calibration_folds
from transvariation.description import Description
from transvariation.exceptions import DuplicatedSamples, LabelsIgnored, OutliersLeftOut

pytestmark = pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNothing")  # few objects, counted

MODES = ["loo", "cv", "split"]


class Mean(OneClassClassifier):
    """Scores by closeness to the mean: continuous, and easy to check by hand."""

    def __init__(self, *, sensitivity=0.9, calibration="resubstitution"):
        self.sensitivity = sensitivity
        self.calibration = calibration

    def _make_description(self):
        return Closeness()


class Closeness(Description):
    def fit(self, X, groups=None):
        self.mean_ = X.mean(axis=0)
        return self

    def score(self, X):
        return -np.linalg.norm(X - self.mean_, axis=1)


class Halves(Mean):
    """Two strata, left and right of zero."""

    def _make_description(self):
        return TwoHalves()


class TwoHalves(Closeness):
    def strata(self, X):
        return (X[:, 0] > 0).astype(np.intp)


# The samples of some checks are in the order of their classes.
@pytest.mark.filterwarnings("ignore::transvariation.exceptions.OrderedScores")
@parametrize_with_checks(
    [
        TOCC(calibration="cv"),  # "loo" are other folds of the same code
        # Some checks fit ten samples, of which the split mode calibrates with five: too few for 0.9.
        TOCC(calibration="split", sensitivity=0.7),
        CalibratedOCC(OneClassSVM()),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def normal():
    return np.random.default_rng(0).normal(size=(60, 2))


def test_cv_scores_each_sample_by_the_other_folds(normal):
    splitter = KFold(3, shuffle=True, random_state=4)
    classifier = Mean(calibration=splitter).fit(normal)
    for train, test in splitter.split(normal):
        expected = -np.linalg.norm(normal[test] - normal[train].mean(axis=0), axis=1)
        np.testing.assert_array_equal(classifier._calibration.scores[test], expected)
    np.testing.assert_array_equal(classifier.mean_, normal.mean(axis=0))


def test_split_describes_with_one_half_and_counts_the_other(normal):
    classifier = Mean(calibration="split").fit(normal)
    assert len(classifier._calibration.scores) == 30
    assert classifier.coverage_report().n == 30
    assert not np.allclose(classifier.mean_, normal.mean(axis=0))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sensitivity", [0.5, 0.8, 0.9])
def test_accepted_samples_have_p_above_one_minus_sensitivity(normal, mode, sensitivity):
    fresh = np.random.default_rng(1).normal(scale=1.5, size=(200, 2))
    for classifier in (Mean(), Halves(), TOCC()):
        classifier.set_params(calibration=mode, sensitivity=sensitivity).fit(normal)
        np.testing.assert_array_equal(
            classifier.predict(fresh) == 1, classifier.p_values(fresh) > 1 - sensitivity + 1e-12
        )


@pytest.mark.parametrize("mode", MODES)
def test_p_values_are_the_same_in_any_batch(normal, mode):
    fresh = np.random.default_rng(1).normal(size=(20, 2))
    classifier = TOCC(calibration=mode).fit(normal)
    alone = np.concatenate([classifier.p_values(row[None]) for row in fresh])
    np.testing.assert_array_equal(alone, classifier.p_values(fresh))


@pytest.mark.parametrize("p", [1, 2])  # the ranks of one feature alone would give all samples the same halves
def test_split_sensitivity_is_exact_on_average(p):
    """With 19 calibrating objects and a continuous score the share accepted is exactly 18/20 on average."""
    rng = np.random.default_rng(2)
    shares = [
        np.mean(Mean(calibration="split").fit(rng.normal(size=(38, p))).predict(rng.normal(size=(400, p))) == 1)
        for _ in range(400)
    ]
    assert abs(np.mean(shares) - 18 / 20) < 4 * np.std(shares) / np.sqrt(len(shares))


@pytest.mark.parametrize("n", [20, 38, 61])
def test_split_sensitivity_holds_for_two_values_of_any_probability(n):
    """The halves follow from the number of ones: the expected sensitivity is a sum over all samples."""
    accepted = np.empty((n + 1, 2))
    for ones in range(n + 1):
        known = np.random.default_rng(0).permutation(np.repeat([0.0, 1.0], [n - ones, ones]))[:, None]
        accepted[ones] = Mean(calibration="split").fit(known).predict([[0.0], [1.0]]) == 1
    share = np.linspace(0.01, 0.99, 99)
    zeros, ones = accepted.T @ binom.pmf(np.arange(n + 1)[:, None], n, share)
    assert ((1 - share) * zeros + share * ones).min() >= 0.9


def test_resubstitution_misses_the_sensitivity_where_loo_holds_it():
    rng = np.random.default_rng(3)
    paper, loo = [], []
    for _ in range(10):
        X, fresh = rng.normal(size=(60, 3)), rng.normal(size=(300, 3))
        paper.append(np.mean(TOCC().fit(X).predict(fresh) == 1))
        loo.append(np.mean(TOCC(calibration="loo").fit(X).predict(fresh) == 1))
    assert np.mean(paper) < 0.8
    assert np.mean(loo) >= 0.9


@pytest.mark.parametrize("mode", MODES)
def test_groups_are_left_out_and_counted_whole(mode):
    rng = np.random.default_rng(5)
    items = rng.normal(size=(30, 2))
    groups = np.repeat(np.arange(30), 3)
    X = items[groups] + rng.normal(scale=0.01, size=(90, 2))
    classifier = Mean(calibration=mode).fit(X, groups=groups)
    report = classifier.coverage_report()
    assert report.unit == "groups"
    assert report.n == (15 if mode == "split" else 30)
    assert "group" in report.guarantee
    assert classifier.p_values(X).min() >= report.smallest_p_value == 1 / (report.n + 1)
    if mode == "loo":
        rest = X[groups != 0]
        expected = -np.linalg.norm(X[:3] - rest.mean(axis=0), axis=1)
        np.testing.assert_array_equal(classifier._calibration.scores[:3], expected)


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.OrderedScores")
@pytest.mark.filterwarnings("ignore::transvariation.exceptions.DuplicatedSamples")
def test_replicates_would_overstate_n_without_groups():
    X = np.repeat(np.random.default_rng(6).normal(size=(8, 2)), 5, axis=0)
    assert Mean(calibration="loo").fit(X).coverage_report().n == 40
    with pytest.warns(UserWarning, match="by 8 held-out .* at least 9"):
        Mean(calibration="loo").fit(X, groups=np.repeat(range(8), 5))


def test_an_unsupported_sensitivity_names_the_required_n(normal):
    classifier = Mean(calibration="loo").fit(normal)
    with pytest.warns(UserWarning, match=r"sensitivity=0.99 is not supported by 60 .* at least 99"):
        classifier.set_sensitivity(0.99)
    assert classifier.offset_ == -np.inf
    assert "this classifier      accepts every sample\n" in str(classifier.coverage_report())
    with pytest.warns(UserWarning, match="to at most 0.937$"):  # 15 / 16 = 0.9375
        Mean(calibration="loo", sensitivity=0.94).fit(normal[:15])
    with pytest.warns(UserWarning, match="no number of samples supports 1"):
        classifier.set_sensitivity(1.0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sensitivity", [0.5, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.filterwarnings("ignore::transvariation.exceptions.TooFewSamples")
@pytest.mark.parametrize("kind", [Mean, Halves])
def test_predictions_agree_with_p_values_also_for_few_samples(mode, sensitivity, kind):
    """Fifteen samples give no p-value below 1 / 16: at 0.95 nothing can be rejected, whatever its score."""
    rng = np.random.default_rng(0)
    for n in (15, 30):
        classifier = kind(calibration=mode, sensitivity=sensitivity).fit(rng.normal(size=(n, 2)))
        Z = 5 * rng.normal(size=(200, 2))
        np.testing.assert_array_equal(classifier.predict(Z) == 1, classifier.p_values(Z) > 1 - sensitivity + 1e-9)
        nothing = bool((classifier.predict(1e3 * Z) == 1).all())
        assert nothing == classifier.coverage_report().guarantee.startswith("Every sample is accepted")


def test_small_strata_share_one_threshold():
    rng = np.random.default_rng(7)
    X = np.vstack([rng.normal([-5, 0], 1, size=(5, 2)), rng.normal([5, 0], 1, size=(60, 2))])
    classifier = Halves(calibration="loo").fit(X)
    assert classifier.coverage_report().n_per_stratum == (65,)
    assert classifier.thresholds_[0] == classifier.thresholds_[1]
    classifier = Halves(calibration="loo").fit(np.vstack([X, X[:5] + 0.5]))
    assert classifier.coverage_report().n_per_stratum == (10, 60)
    assert classifier.thresholds_[0] != classifier.thresholds_[1]


def test_strata_may_have_their_own_sensitivities(normal):
    classifier = Halves(sensitivity=[0.5, 0.9], calibration="loo").fit(normal)
    left = normal[:, 0] <= 0
    accepted = classifier.predict(normal) == 1
    assert accepted[~left].mean() > 0.8 > accepted[left].mean()
    assert classifier.coverage_report().sensitivity == (0.5, 0.9)
    with pytest.raises(ValueError, match="3 values for 2 strata"):
        classifier.set_sensitivity([0.5, 0.6, 0.7])


def test_wrapper_keeps_names_and_lets_a_pipeline_impute():
    control = load_glass().control.copy()
    control.iloc[0, 0] = np.nan
    chosen = FunctionTransformer(lambda table: table[["K", "Mg"]])
    fill = SimpleImputer().set_output(transform="pandas")
    classifier = CalibratedOCC(make_pipeline(fill, chosen, TOCC()), calibration=KFold(5)).fit(control)
    assert classifier.p_values(control).shape == (87,)
    with pytest.raises(ValueError, match="NaN"):
        CalibratedOCC(TOCC()).fit(control)


def test_wrapper_calibrates_scikit_learns_detectors(normal):
    classifier = CalibratedOCC(IsolationForest(n_estimators=20, random_state=0), calibration="split").fit(normal)
    assert set(classifier.predict(normal * 5)) == {-1, 1}


def test_report_is_text_and_json(normal):
    for mode, word in [("resubstitution", "None"), ("loo", "Approximate"), ("cv", "10 folds"), ("split", "Exact")]:
        report = Mean(calibration=mode).fit(normal).coverage_report()
        assert word in report.guarantee
        assert json.loads(json.dumps(asdict(report)))["calibration"] == mode
        assert f"smallest p-value     {report.smallest_p_value:.3g}" in str(report)
        assert (report.sensitivity_bound is None) == (mode == "resubstitution")


@pytest.mark.parametrize("bad", ["jackknife", 3, None])
def test_unknown_calibration_names_the_choices(normal, bad):
    with pytest.raises(ValueError, match=r"is unknown; choose one of resubstitution, loo, cv, split"):
        Mean(calibration=bad).fit(normal)


def test_overlapping_folds_are_refused(normal):
    with pytest.raises(ValueError, match="twice"):
        Mean(calibration=RepeatedKFold(n_splits=2, n_repeats=2)).fit(normal)


def test_groups_are_checked(normal):
    for n in (2, 59, 61):
        with pytest.raises(ValueError, match=f"groups has {n} labels for 60 samples; give one label per row"):
            Mean().fit(normal, groups=np.arange(n))
    with pytest.raises(ValueError, match="a single group"):
        Mean().fit(normal, groups=np.zeros(60))


DAYS = np.datetime64("2024-01-01") + np.arange(60) // 2


@pytest.mark.parametrize("mode", ["resubstitution", "loo", "cv", "split"])
@pytest.mark.parametrize(
    "labels",
    [
        *(DAYS, pd.PeriodIndex(DAYS, freq="D"), (np.arange(60) // 2).astype(object)),
        np.array([i // 2 if i < 20 else f"x{i // 2}" for i in range(60)], dtype=object),
    ],
    ids=["dates", "periods", "python objects", "mixed"],
)
def test_group_labels_of_any_type_can_be_used_and_saved(normal, labels, mode):
    classifier = TOCC(calibration=mode).fit(normal, groups=labels)
    numbered = TOCC(calibration=mode).fit(normal, groups=np.arange(60) // 2)
    file = io.BytesIO()
    save(classifier, file)
    for each in (classifier, load(file)):
        np.testing.assert_array_equal(each.p_values(normal), numbered.p_values(normal))
        assert each.coverage_report() == numbered.coverage_report()


@pytest.mark.parametrize("mode", ["resubstitution", "loo"])
@pytest.mark.parametrize(
    "groups",
    [
        np.array([1.0, 2.0] * 29 + [np.nan] * 2),
        ["a", "b"] * 29 + [None] * 2,
        ("a", "b") * 29 + (np.nan,) * 2,
        ["a", "b"] * 29 + [pd.NA] * 2,
        pd.Series([1, 2] * 29 + [None] * 2, dtype="Int64"),
        pd.Categorical(["a", "b"] * 29 + [None] * 2),
    ],
    ids=["float", "None", "nan", "NA", "Int64", "Categorical"],
)
def test_missing_group_labels_are_refused(normal, groups, mode):
    with pytest.raises(ValueError, match="groups is missing for 2 of 60 samples; label every sample"):
        Mean(calibration=mode).fit(normal, groups=groups)


def test_a_set_from_one_source_has_a_combined_p_value(normal):
    rng = np.random.default_rng(8)
    fresh, foreign = rng.normal(size=(6, 2)), rng.normal(1.5, size=(6, 2))
    classifier = Mean(calibration="loo").fit(normal)
    assert classifier.combined_p_value(fresh[:1]) == pytest.approx(classifier.p_values(fresh[:1])[0])
    assert classifier.combined_p_value(foreign) < 0.05 < classifier.combined_p_value(fresh)
    grouped = Mean(calibration="loo").fit(normal, groups=np.repeat(np.arange(30), 2))
    assert grouped.combined_p_value(fresh) == pytest.approx(min(1, 2 * grouped.p_values(fresh).mean()))


def test_margins_calibrate_what_raw_scores_cannot():
    """The raw score of a support vector machine sums over its objects and so grows with their number."""
    rng = np.random.default_rng(9)
    accepted = {"score_samples": [], "decision_function": []}
    for _ in range(12):
        X, fresh = rng.normal(size=(100, 2)), rng.normal(size=(300, 2))
        for method, shares in accepted.items():
            classifier = CalibratedOCC(OneClassSVM(nu=0.1), response_method=method).fit(X)
            shares.append(np.mean(classifier.predict(fresh) == 1))
    assert abs(np.mean(accepted["decision_function"]) - 0.9) < 0.03
    assert np.mean(accepted["score_samples"]) > 0.93
    with pytest.raises(ValueError, match="response_method='loudness' is unknown"):
        CalibratedOCC(OneClassSVM(), response_method="loudness").fit(X)


@pytest.mark.parametrize(
    "classifier",
    [
        TOCC(calibration="loo"),
        TOCC(calibration="cv"),
        DensityTOCC(density="gaussian", calibration="cv"),
        NeighborTOCC(),
        ProjectionEnsemble(TOCC(), n_projections=9, random_state=0, calibration="cv"),
        CalibratedOCC(make_pipeline(PCA(2), TOCC())),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
@pytest.mark.parametrize("replicates", [1, 3])
def test_the_smallest_p_value_is_that_of_a_sample_far_outside(classifier, replicates):
    X = np.random.default_rng(1).normal(size=(60, 4))
    groups = None if replicates == 1 else np.arange(60) // replicates
    report = clone(classifier).fit(X, groups=groups).coverage_report()
    far = 1e6 * np.array([[1.0, -2.0, 3.0, 4.0]])
    found = clone(classifier).fit(X, groups=groups).p_values(far)[0]
    assert found == pytest.approx(report.attainable_p_value, rel=1e-12)
    assert report.smallest_per_stratum == (report.attainable_p_value,)
    assert report.attainable_p_value >= report.smallest_p_value == 1 / (report.n + 1)
    if type(classifier) is TOCC:  # beyond the edge of the others tp is 0, for many samples in four features
        assert report.attainable_p_value > 0.3
        assert "gives no sample less than" in str(report)


def test_labeled_outliers_are_left_out_with_a_warning():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 2)), rng.normal(5, 1, size=(10, 2))])
    y, groups = np.repeat([1, -1], [40, 10]), np.arange(50) // 2
    mixed = rng.permutation(50)
    with pytest.warns(OutliersLeftOut, match="10 of 50 samples as outliers"):
        classifier = NeighborTOCC(calibration="split").fit(X[mixed], y[mixed], groups[mixed])
    assert (y[mixed][classifier.reference_] == 1).all()
    expected = NeighborTOCC(calibration="split").fit(X[mixed][y[mixed] == 1], groups=groups[mixed][y[mixed] == 1])
    np.testing.assert_array_equal(classifier.score_samples(X), expected.score_samples(X))
    with pytest.warns(OutliersLeftOut, match="40 of 50 samples as outliers"):
        Mean().fit(X, -y)
    with pytest.raises(ValueError, match="labels 0 of 50 samples as targets"):
        Mean().fit(X, -np.ones(50))
    # Other labels are ignored: numbers, words, and a label per feature.
    for ignored in (np.arange(50), np.where(y == 1, "known", "foreign"), np.where(X > 5, -1, 1)):
        assert Mean().fit(X, ignored).coverage_report().n == 50


@pytest.mark.parametrize("groups", [None, np.arange(12) // 3])
def test_the_folds_of_loo_are_counted_without_listing_them(groups):
    plan = CalibrationPlan("loo", np.random.default_rng(0).normal(size=(12, 2)), groups)
    assert plan.n_folds == len(plan.folds) == (12 if groups is None else 4)


@pytest.mark.parametrize("dtype", [int, float, bool])
def test_labels_0_and_1_are_ignored_with_a_warning(dtype):
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.repeat([0, 1], [40, 10]).astype(dtype)
    with pytest.warns(
        LabelsIgnored, match="10 of 50 samples 1 and the others 0.*all samples are used.*label outliers -1"
    ):
        classifier = Mean().fit(X, y)
    np.testing.assert_array_equal(classifier.score_samples(X), Mean().fit(X).score_samples(X))
    for same in (y[:40], ~y[:40].astype(bool)):  # one label says nothing
        Mean().fit(X[:40], same.astype(dtype))


def test_a_grid_search_with_labels_trains_on_the_targets():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(150, 3)), rng.normal(1.5, 1.5, size=(50, 3))])
    y = np.repeat([1, -1], [150, 50])
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    with pytest.warns(OutliersLeftOut):
        search = GridSearchCV(NeighborTOCC(), {"n_neighbors": [3]}, scoring="roc_auc", cv=folds).fit(X, y)
    by_hand = []
    for train, test in folds.split(X, y):
        scores = NeighborTOCC(3).fit(X[train][y[train] == 1]).score_samples(X[test])
        by_hand.append(roc_auc_score(y[test], scores))
    assert search.best_score_ == pytest.approx(np.mean(by_hand))


def test_copied_samples_are_warned_of():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    copied = np.vstack([X, X[:30]])
    with pytest.warns(DuplicatedSamples, match="33% of the samples equal another one in every feature"):
        NeighborTOCC().fit(copied)
    NeighborTOCC().fit(copied, groups=np.arange(90) % 60)  # known to be replicates
    NeighborTOCC().fit(np.vstack([X, X[:6]]))  # few copies are harmless
    NeighborTOCC().fit(rng.integers(0, 3, size=(90, 2)))  # counts are equal by chance


def test_folds_of_groups_by_hand():
    groups = np.array([2, 0, 2, 1, 0, 3])
    scored = [rows.tolist() for _, rows in calibration_folds("loo", np.eye(6), groups)]
    assert scored == [[1, 4], [3], [0, 2], [5]]
    assert len(calibration_folds("cv", np.eye(6), groups)) == 4  # as many as groups
    assert len(calibration_folds("cv", np.eye(50))) == 10
    assert len(calibration_folds("cv", np.eye(10))) == 10
    assert len(calibration_folds("cv", np.eye(9))) == 9


@pytest.mark.parametrize(("length", "gap"), [(1.0, 0), (1.5, 3), (2.0, 4), (60.0, 10)])
def test_samples_near_a_fold_in_time_do_not_describe_the_class_for_it(length, gap):
    """Twice the length of a block, and at most one fold in ten."""
    folds = CalibrationPlan("blocks", np.zeros((100, 1)), block_length=length).folds
    assert len(folds) == 10
    describing, scored = folds[5]
    assert scored.tolist() == list(range(50, 60))
    assert describing.tolist() == [*range(50 - gap), *range(60 + gap, 100)]
    with pytest.raises(ValueError, match="and no groups"):
        _ = CalibrationPlan("blocks", np.zeros((100, 1)), np.arange(100)).folds


def test_blocks_are_counted_and_strata_without_calibration_samples_have_a_threshold():
    X, rows = np.zeros((100, 1)), np.arange(100)
    blocks = CalibrationPlan("blocks", X, block_length=5.0).calibrated(np.arange(100.0), rows, -np.inf)
    assert blocks.sizes.tolist() == [20]
    scored = rows[rows % 3 < 2]
    strata = CalibrationPlan("cv", X).calibrated(np.arange(67.0), scored, -np.inf, strata=rows % 3)
    assert strata.sizes.tolist() == [34, 33, 0]
    assert strata.thresholds(0.9).shape == (3,)


def test_folds_of_a_table_depend_on_ranks_of_numbers_and_texts():
    numbers, kinds = np.random.default_rng(0).normal(size=40), np.arange(40) % 3
    table = pd.DataFrame({"size": numbers, "wood": np.array(["ash", "birch", "cedar"])[kinds]})
    longer = pd.DataFrame({"size": 1000 * numbers, "wood": np.array(["a", "bb", "ccc"])[kinds]})
    array = np.column_stack([numbers, kinds])
    first, *others = (calibration_folds("cv", X) for X in (table, longer, array))
    for folds in others:
        for (describing, scored), (same_describing, same_scored) in zip(folds, first, strict=True):
            np.testing.assert_array_equal(describing, same_describing)
            np.testing.assert_array_equal(scored, same_scored)


@pytest.mark.parametrize("calibration", ["cv", "split", KFold(2)])
def test_too_few_samples_to_describe_the_class_are_refused(calibration):
    X = np.random.default_rng(0).normal(size=(3, 2))
    with pytest.raises(ValueError, match="leaves 1 of 2 samples to describe the class, which needs 2"):
        TOCC(sensitivity=0.5, calibration=calibration).fit(X[:2])
    assert TOCC(sensitivity=0.5, calibration="loo").fit(X[:2]).calibration_.scores.shape == (2,)
