"""What other libraries expect of an estimator: frames, routing, display, and the conventions of PyOD."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from transvariation import (
    PAMTOCC,
    TOCC,
    CalibratedOCC,
    MinorComponents,
    NeighborTOCC,
    ProjectionEnsemble,
    VIPSelector,
    dask,
    load_glass,
    selection_stability,
)
from transvariation.casework import judge

GLASS = load_glass()
CONTROL, RECOVERED = GLASS.control[["Na", "Mg", "K"]], GLASS.recovered[["Na", "Mg", "K"]]


def test_polars_frames_are_taken_like_pandas_frames():
    polars = pytest.importorskip("polars")
    control, recovered = (polars.from_pandas(frame.reset_index(drop=True)) for frame in (CONTROL, RECOVERED))
    classifier = TOCC().fit(control)
    assert classifier.feature_names_in_.tolist() == ["Na", "Mg", "K"]
    np.testing.assert_array_equal(classifier.predict(recovered), TOCC().fit(CONTROL).predict(RECOVERED))
    with pytest.raises(ValueError, match="feature names should match"):
        classifier.predict(recovered.select("K", "Mg", "Na"))


def test_tables_of_other_libraries_are_taken_or_refused_in_words():
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    frame = pytest.importorskip("dask.dataframe")
    classifier = CalibratedOCC(make_pipeline(StandardScaler(), NeighborTOCC()), calibration="split")
    expected = clone(classifier).fit(CONTROL).predict(RECOVERED)
    control, recovered = (polars.from_pandas(frame.reset_index(drop=True)) for frame in (CONTROL, RECOVERED))
    selector = VIPSelector(n_projections=5, n_candidates=3, random_state=0)
    assert set(selection_stability(selector, control, 2).frequency.index) == {"Na", "Mg", "K"}
    for known, new in ((control, recovered), (control.to_arrow(), recovered.to_arrow())):
        np.testing.assert_array_equal(clone(classifier).fit(known).predict(new), expected)
    with pytest.raises(TypeError, match=r"Dask .*compute\(\)"):
        judge(frame.from_pandas(CONTROL.reset_index(drop=True), npartitions=2), RECOVERED)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_transformers_set_their_output(library):
    pytest.importorskip(library)
    for transformer in (MinorComponents(), VIPSelector(n_projections=11, n_candidates=5, random_state=0)):
        table = clone(transformer).set_output(transform=library).fit(CONTROL).transform(RECOVERED)
        assert type(table).__module__.startswith(library)
        assert table.shape == (51, 2)


class TestGroups:
    """Replicates stay together on every path that scikit-learn offers."""

    groups = np.repeat(np.arange(29), 3)

    @pytest.fixture(autouse=True)
    def _routing(self):
        with sklearn.config_context(enable_metadata_routing=True):
            yield

    def classifier(self):
        return NeighborTOCC().set_fit_request(groups=True)

    def test_pipeline(self):
        pipeline = make_pipeline(StandardScaler(), self.classifier()).fit(CONTROL, groups=self.groups)
        report = pipeline[-1].coverage_report()
        assert (report.n, report.unit) == (29, "groups")

    def test_cross_validate(self):
        target = np.ones(len(CONTROL))
        found = cross_validate(
            self.classifier(),
            CONTROL,
            target,
            cv=GroupKFold(3),
            params={"groups": self.groups},
            scoring="accuracy",
            return_estimator=True,
        )
        assert {fitted.coverage_report().unit for fitted in found["estimator"]} == {"groups"}

    def test_grid_search(self):
        search = GridSearchCV(self.classifier(), {"n_neighbors": [1, (1, 3)]}, cv=GroupKFold(3), scoring="accuracy")
        search.fit(CONTROL, np.ones(len(CONTROL)), groups=self.groups)
        assert search.best_estimator_.coverage_report().n == 29


def test_display_and_tags():
    assert "TOCC" in TOCC()._repr_html_()
    assert repr(PAMTOCC(3, sensitivity=0.8)) == "PAMTOCC(n_clusters=3, sensitivity=0.8)"
    assert get_tags(TOCC()).estimator_type == "outlier_detector"


def test_sample_weight_is_refused_in_words_and_not_offered_to_routing():
    weights = np.ones(len(CONTROL))
    for classifier in (TOCC(), NeighborTOCC(), CalibratedOCC(TOCC()), ProjectionEnsemble(), dask.TOCC()):
        for fit in (classifier.fit, classifier.fit_predict):
            with pytest.raises(TypeError, match=f"{type(classifier).__name__} takes no sample_weight.*repeat the rows"):
                fit(CONTROL, sample_weight=weights)
        assert not has_fit_parameter(classifier, "sample_weight")
    with pytest.raises(TypeError, match="TOCC takes no sample_weight"):
        make_pipeline(StandardScaler(), TOCC()).fit(CONTROL, tocc__sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        assert TOCC().set_fit_request(groups=True).get_metadata_routing().fit.requests == {"groups": True}
        with pytest.raises(TypeError, match="sample_weight"):
            TOCC().set_fit_request(sample_weight=True)
    assert TOCC().fit(CONTROL, sample_weight=None).offset_ == TOCC().fit(CONTROL).offset_


def test_conventions_of_pyod_are_one_line_away():
    """The recipe of the manual: outlier scores are negated scores, labels are 0 and 1."""
    pyod = pytest.importorskip("pyod.models.knn")
    classifier = NeighborTOCC().fit(CONTROL)
    decision_scores, labels = -classifier.score_samples(RECOVERED), (classifier.predict(RECOVERED) == -1).astype(int)
    theirs = pyod.KNN().fit(CONTROL.to_numpy())
    np.testing.assert_array_equal(labels, decision_scores > -classifier.offset_)
    assert set(np.unique(theirs.labels_)) == set(labels) == {0, 1}
    far = pd.DataFrame([[0.0, 0.0, 0.0]], columns=CONTROL.columns)
    assert theirs.decision_function(far.to_numpy())[0] > np.median(theirs.decision_scores_)
    assert -classifier.score_samples(far)[0] >= np.median(decision_scores)
