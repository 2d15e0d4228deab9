"""Coverage reports agree with the counts behind them: ties, groups in several strata, strata without samples."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, PredefinedSplit, ShuffleSplit

from transvariation import PAMTOCC, TOCC, ProjectionEnsemble

pytestmark = pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNothing")  # few objects, counted


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
@pytest.mark.parametrize("splitter", [ShuffleSplit(1, test_size=0.5, random_state=0), KFold(5)])
def test_a_splitter_that_divides_groups_is_refused(splitter):
    X, groups = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 8
    with pytest.raises(ValueError, match=r"keeps groups together, such as GroupKFold"):
        TOCC(calibration=splitter).fit(X, groups=groups)
    assert TOCC(calibration=GroupKFold(4), sensitivity=0.8).fit(X, groups=groups).coverage_report().unit == "groups"


def test_loo_equals_the_splitter_leave_one_out():
    X = np.random.default_rng(0).normal(size=(30, 2))
    for groups in (None, np.arange(30) // 2):
        classifiers = [PAMTOCC(2, calibration=c, sensitivity=0.8) for c in ("loo", LeaveOneOut())]
        named, given = (classifier.fit(X, groups=groups) for classifier in classifiers)
        np.testing.assert_array_equal(given._calibration.scores, named._calibration.scores)
        assert given.coverage_report() == named.coverage_report()


def test_a_group_counts_in_each_stratum_by_its_share():
    rng = np.random.default_rng(0)
    # Ten groups at one place, ten at another with one object in twenty at the first.
    near = rng.normal(size=(10, 20, 2))
    far = rng.normal(50, 1, size=(10, 20, 2))
    far[:, 0] -= 50
    X, groups = np.concatenate([near, far]).reshape(-1, 2), np.repeat(np.arange(20), 20)
    classifier = PAMTOCC(2, calibration="loo", sensitivity=[0.8, 0.8]).fit(X, groups=groups)
    report = classifier.coverage_report()
    assert report.n_per_stratum == (10.5, 9.5)
    assert report.smallest_p_value == pytest.approx(1 / 11.5)
    assert classifier.p_values([[9.0, 9.0]])[0] >= report.smallest_p_value


def test_a_stratum_without_calibration_samples_uses_those_of_all():
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(60, 2)), rng.normal(40, 1, size=(3, 2))])
    describing = np.r_[np.arange(0, 60, 2), 60:63]
    split = PredefinedSplit(np.where(np.isin(np.arange(63), describing), -1, 0))
    classifier = PAMTOCC(2, calibration=split, sensitivity=[0.9, 0.8]).fit(X)
    assert np.isfinite(classifier.thresholds_).all()
    assert 0 < classifier.p_values([[40.0, 40.0]])[0] <= 1


@pytest.mark.parametrize("calibration", ["loo", "cv"])
def test_held_out_ranks_of_an_ensemble_are_attainable_by_new_samples(calibration):
    X = np.random.default_rng(4).normal(size=(39, 3))
    classifier = ProjectionEnsemble(TOCC(), 11, calibration=calibration, random_state=0).fit(X)
    new = classifier.score_samples(np.random.default_rng(5).normal(size=(500, 3)))
    assert set(classifier._calibration.scores) <= set(np.arange(40) / 39)
    assert set(new) <= set(np.arange(40) / 39)
