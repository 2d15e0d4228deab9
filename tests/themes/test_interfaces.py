"""What other libraries expect of an estimator: frames, routing, display, and the conventions of PyOD."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import IsolationForest
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from transvariation import (
    PAMTOCC,
    TOCC,
    CalibratedOCC,
    GaussianMixtureBIC,
    MinorComponents,
    NeighborTOCC,
    ProjectionEnsemble,
    SparseMinorComponents,
    VarSel,
    VIPSelector,
    compare_classifiers,
    explain_rejections,
    load,
    load_glass,
    save,
    selection_stability,
    spatial_median,
    transvariation_probability,
)
from transvariation.baselines import DDSIMCA
from transvariation.casework import judge
from transvariation.casework.model_file import fit_model, score_table
from transvariation.density import GaussianDensity, GaussianKernelDensity
from transvariation.preprocessing import MSC, SNV, SavitzkyGolay

GLASS = load_glass()
CONTROL, RECOVERED = GLASS.control[["Na", "Mg", "K"]], GLASS.recovered[["Na", "Mg", "K"]]


FRAMES = ["polars", "pyarrow"]


def frame_of(kind, table):
    """Convert a pandas DataFrame to a frame of another library."""
    if kind == "pandas":
        return table
    columns = {name: table[name].to_numpy() for name in table}
    library = pytest.importorskip(kind)
    return library.DataFrame(columns) if kind == "polars" else library.table(columns)


def assert_same(ours, expected):
    """Compare up to the rounding of sums, whose order depends on the layout of a table in memory."""
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("classifier", "page"),
    [(NeighborTOCC(), "transvariation.NeighborTOCC"), (DDSIMCA(), "transvariation.baselines.DDSIMCA")],
)
def test_the_display_in_a_notebook_links_to_the_reference(classifier, page):
    assert f"https://transvariation.readthedocs.io/en/latest/api/names/{page}.html" in classifier._repr_html_()


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.NoGuarantee")
@pytest.mark.parametrize("kind", FRAMES)
class TestFrames:
    """Frames of other libraries are taken like those of pandas, with their column names."""

    @pytest.fixture
    def frames(self, kind):
        return frame_of(kind, CONTROL), frame_of(kind, RECOVERED)

    @pytest.fixture
    def misplaced(self, kind):
        return frame_of(kind, RECOVERED[["K", "Mg", "Na"]])

    @pytest.mark.parametrize(
        "classifier",
        [
            TOCC(),
            NeighborTOCC(),
            DDSIMCA(n_components=1),
            CalibratedOCC(make_pipeline(SNV(), NeighborTOCC()), calibration="split"),
            CalibratedOCC(IsolationForest(random_state=0), calibration="split"),
            ProjectionEnsemble(TOCC(), n_projections=5, n_candidates=2, random_state=0),
        ],
        ids=lambda classifier: type(classifier).__name__,
    )
    def test_classifiers(self, frames, misplaced, classifier):
        control, recovered = frames
        ours, expected = clone(classifier).fit(control), clone(classifier).fit(CONTROL)
        assert ours.feature_names_in_.tolist() == ["Na", "Mg", "K"]
        assert_same(ours.score_samples(recovered), expected.score_samples(RECOVERED))
        np.testing.assert_array_equal(ours.predict(recovered), expected.predict(RECOVERED))
        assert_same(ours.p_values(recovered), expected.p_values(RECOVERED))
        with pytest.raises(ValueError, match="feature names should match"):
            ours.predict(misplaced)

    @pytest.mark.parametrize(
        "transformer",
        [
            MinorComponents(),
            SparseMinorComponents(),
            VIPSelector(n_projections=5, n_candidates=3, random_state=0),
            VarSel(),
            SNV(),
            MSC(),
            SavitzkyGolay(3),
        ],
        ids=lambda transformer: type(transformer).__name__,
    )
    def test_transformers(self, frames, misplaced, transformer):
        control, recovered = frames
        ours, expected = clone(transformer).fit(control), clone(transformer).fit(CONTROL)
        assert ours.feature_names_in_.tolist() == ["Na", "Mg", "K"]
        assert_same(ours.transform(recovered), expected.transform(RECOVERED))
        with pytest.raises(ValueError, match="feature names should match"):
            ours.transform(misplaced)

    @pytest.mark.parametrize(
        "density", [GaussianMixtureBIC(range(1, 3)), GaussianDensity(), GaussianKernelDensity()], ids=repr
    )
    def test_densities(self, frames, misplaced, density):
        control, recovered = frames
        ours, expected = clone(density).fit(control), clone(density).fit(CONTROL)
        assert ours.feature_names_in_.tolist() == ["Na", "Mg", "K"]
        assert_same(ours.score_samples(recovered), expected.score_samples(RECOVERED))
        with pytest.raises(ValueError, match="feature names should match"):
            ours.score_samples(misplaced)

    def test_functions_on_arrays(self, frames):
        np.testing.assert_array_equal(spatial_median(frames[0]), spatial_median(CONTROL))
        np.testing.assert_array_equal(
            transvariation_probability(*frames), transvariation_probability(CONTROL, RECOVERED)
        )

    def test_explanations(self, frames):
        """Frames without row names have row numbers instead."""
        control, recovered = frames
        numbered = (
            RECOVERED
            if isinstance(getattr(recovered, "to_native", list)(), pd.DataFrame)
            else (RECOVERED.reset_index(drop=True))
        )
        expected = explain_rejections(TOCC().fit(CONTROL), numbered)
        pd.testing.assert_frame_equal(explain_rejections(TOCC().fit(control), recovered), expected)
        pipeline = make_pipeline(SNV(), TOCC())
        pd.testing.assert_frame_equal(
            explain_rejections(clone(pipeline).fit(control), recovered, control),
            explain_rejections(clone(pipeline).fit(CONTROL), numbered, CONTROL),
        )

    def test_comparison_and_stability(self, frames):
        control, _ = frames
        named = ColumnTransformer([("two", "passthrough", ["K", "Na"])])  # fails where names are lost
        candidates = {"two": make_pipeline(named, TOCC()), "all": TOCC()}
        options = {"n_folds": 3, "n_repeats": 1, "n_reference": 50}
        pd.testing.assert_frame_equal(
            compare_classifiers(candidates, control, **options).table,
            compare_classifiers(candidates, CONTROL, **options).table,
        )
        selector = VIPSelector(n_projections=5, n_candidates=3)
        for resample in ("seeds", "bootstrap"):
            stability = selection_stability(selector, control, 2, resample=resample, rng=0)
            expected = selection_stability(selector, CONTROL, 2, resample=resample, rng=0)
            pd.testing.assert_frame_equal(stability.frequency, expected.frequency)

    def test_casework(self, frames, kind, tmp_path):
        if "pandas" not in kind:
            pytest.importorskip("pyarrow")
        control, recovered = frames
        expected = judge(CONTROL.reset_index(drop=True), RECOVERED.reset_index(drop=True))
        conclusions = judge(control, recovered).conclusions
        assert [c.p_value for c in conclusions] == [c.p_value for c in expected.conclusions]
        fitted = fit_model(control, tmp_path / "model")
        assert fitted.classifier.feature_names_in_.tolist() == ["Na", "Mg", "K"]
        assert score_table(tmp_path / "model", recovered, tmp_path / "scores.csv").scored == len(RECOVERED)

    def test_saving(self, frames, tmp_path):
        control, recovered = frames
        classifier = CalibratedOCC(make_pipeline(SNV(), TOCC()), calibration="split").fit(control)
        save(classifier, tmp_path / "model")
        loaded = load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict(recovered), classifier.predict(recovered))

    def test_dask(self, frames, misplaced):
        pytest.importorskip("dask")
        from transvariation import dask

        control, recovered = frames
        expected = dask.TOCC().fit(CONTROL).predict(RECOVERED)
        for rows in (control, iter([control])):
            classifier = dask.TOCC().fit(rows)
            assert classifier.feature_names_in_.tolist() == ["Na", "Mg", "K"]
            np.testing.assert_array_equal(classifier.predict(recovered), expected)
            np.testing.assert_array_equal(np.concatenate(list(classifier.predict(iter([recovered])))), expected)
            with pytest.raises(ValueError, match="feature names should match"):
                classifier.predict(misplaced)
            with pytest.raises(ValueError, match="partition 0: The feature names should match"):
                list(classifier.predict(iter([misplaced])))

    def test_groups(self, frames, kind):
        groups = pd.DataFrame({"pane": np.repeat(np.arange(29), 3)})
        report = NeighborTOCC().fit(frames[0], groups=frame_of(kind, groups)["pane"]).coverage_report()
        assert (report.n, report.unit) == (29, "groups")


@pytest.mark.parametrize("name", ["collect", "to_native", "column_names", "dask", "to_frame"])
def test_a_column_is_not_taken_for_a_method(name):
    """What frames of other libraries are recognized by may be the name of a column."""
    control, recovered = (frame.rename(columns={"K": name}) for frame in (CONTROL, RECOVERED))
    np.testing.assert_array_equal(TOCC().fit(control).predict(recovered), TOCC().fit(CONTROL).predict(RECOVERED))
    found, expected = (judge(*tables).conclusions for tables in ((control, recovered), (CONTROL, RECOVERED)))
    assert [(c.accepted, c.p_value) for c in found] == [(c.accepted, c.p_value) for c in expected]
    calibrated = CalibratedOCC(NeighborTOCC(), calibration="split").fit(control)
    assert set(calibrated.explain(recovered[:1])["feature"]) == {"Na", "Mg", name}
    found = compare_classifiers([TOCC()], control, n_folds=2, n_repeats=1, n_reference=20)
    assert len(found.table) == 1


def test_frames_that_are_not_computed_yet_are_refused_in_words():
    polars = pytest.importorskip("polars")
    frame = pytest.importorskip("dask.dataframe")
    lazy = polars.LazyFrame({name: CONTROL[name].to_numpy() for name in CONTROL})
    with pytest.raises(TypeError, match=r"LazyFrame has not computed its rows.*collect\(\)"):
        judge(lazy, RECOVERED)
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


def test_sample_weight_is_not_offered_to_routing():
    assert not any(has_fit_parameter(kind, "sample_weight") for kind in (TOCC(), NeighborTOCC(), CalibratedOCC(TOCC())))
    with sklearn.config_context(enable_metadata_routing=True):
        assert TOCC().set_fit_request(groups=True).get_metadata_routing().fit.requests == {"groups": True}
        with pytest.raises(TypeError, match="sample_weight"):
            TOCC().set_fit_request(sample_weight=True)


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
