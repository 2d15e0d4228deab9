"""Careless use: reused buffers, misspelt names, parameters set after the fit, labels that are not unique."""

from functools import partial
from inspect import isabstract

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

import transvariation
from transvariation import (
    PAMTOCC,
    TOCC,
    CalibratedOCC,
    DensityTOCC,
    GaussianMixtureBIC,
    NeighborTOCC,
    ProjectionEnsemble,
    baselines,
    describe_rejections,
    explain_rejections,
    load_glass,
    make_scenario,
)
from transvariation.base import OneClassClassifier
from transvariation.exceptions import NoGuarantee

pytestmark = pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNothing")  # few objects, counted


@pytest.fixture
def control():
    return load_glass().control[["K", "Mg"]]


@pytest.fixture
def recovered():
    return load_glass().recovered[["K", "Mg"]]


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize(
    "classifier",
    [TOCC(), PAMTOCC(3), NeighborTOCC(), DensityTOCC(density="kde"), baselines.KDEOCC(), baselines.SVDD()],
    ids=lambda classifier: type(classifier).__name__,
)
def test_a_classifier_does_not_change_with_the_table_it_was_fitted_to(classifier, as_frame):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(60, 2)), rng.normal(size=(30, 2))
    table = pd.DataFrame(X, columns=["a", "b"]) if as_frame else X.copy()
    new = pd.DataFrame(Z, columns=["a", "b"]) if as_frame else Z
    before = classifier.fit(table).score_samples(new)
    table[:] = 7.0
    np.testing.assert_array_equal(classifier.score_samples(new), before)


def test_samples_of_the_same_name_are_explained_separately(control, recovered):
    classifier = TOCC().fit(control)
    both = pd.concat([control.iloc[1:2].reset_index(drop=True), recovered.iloc[:1].reset_index(drop=True)])
    accepted, rejected = describe_rejections(explain_rejections(classifier, both)).split("\n")
    assert accepted == "0 accepted"
    assert rejected == describe_rejections(explain_rejections(classifier, recovered.iloc[:1])).replace("164", "0")


@pytest.mark.parametrize("labels", [[np.nan, np.nan, 1.0], [None, "a", None], [pd.NA, pd.NA, "b"]])
def test_samples_without_a_name_are_explained_separately(control, recovered, labels):
    table = explain_rejections(TOCC().fit(control), recovered.iloc[:3].set_axis(pd.Index(labels), axis=0))
    assert len(describe_rejections(table).splitlines()) == 3


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.OutliersLeftOut")
def test_grid_search_may_replace_a_step_of_a_calibrated_pipeline_by_passthrough(control, recovered):
    pipe = Pipeline([("scale", "passthrough"), ("classifier", TOCC())])
    assert CalibratedOCC(pipe).fit(control)._repr_html_()
    X, y = pd.concat([control, recovered]), np.repeat([1, -1], [len(control), len(recovered)])
    grid = {"estimator__scale": ["passthrough", StandardScaler()]}
    found = GridSearchCV(CalibratedOCC(pipe), grid, scoring="f1", cv=3, error_score="raise").fit(X, y)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


def test_missing_values_reach_an_imputer_in_the_pipeline(control):
    gappy = control.copy()
    gappy.iloc[3, 0] = np.nan
    fill = ColumnTransformer([("fill", SimpleImputer(), ["K"])], remainder="passthrough")
    assert CalibratedOCC(make_pipeline(fill, TOCC())).fit(gappy).predict(gappy).shape == (87,)
    with pytest.raises(ValueError, match="contains NaN"):
        CalibratedOCC(TOCC()).fit(gappy)


@pytest.mark.parametrize("calibration", ["resubstitution", "loo"])
@pytest.mark.parametrize(
    "classifier",
    [TOCC(ties="Literal"), PAMTOCC(ties="Literal"), TOCC(tau_max="Half"), ProjectionEnsemble(TOCC(ties="Literal"))],
    ids=str,
)
def test_fit_refuses_misspelt_parameters(classifier, calibration):
    with pytest.raises(ValueError, match=r"='(Literal|Half)' is unknown; choose one of"):
        classifier.set_params(calibration=calibration).fit(load_glass().control)


@pytest.mark.parametrize("wrong", [90, 0, np.nan, "0.9", None, [0.9, 2.0]])
def test_a_wrong_sensitivity_is_refused_before_anything_is_learned(control, wrong):
    classifier = NeighborTOCC(sensitivity=wrong)
    with pytest.raises(ValueError, match="sensitivity="):
        classifier.fit(control)
    with pytest.raises(NotFittedError):
        classifier.predict(control)


@pytest.mark.parametrize("classifier", [TOCC(), PAMTOCC(n_clusters=3), ProjectionEnsemble(TOCC(), 3, 5)])
@pytest.mark.parametrize("wrong", ["0.9", None, 90, np.nan])
def test_a_wrong_sensitivity_does_not_change_a_fitted_classifier(control, classifier, wrong):
    classifier = clone(classifier).fit(control)
    with pytest.raises(ValueError, match="sensitivity="):
        classifier.set_sensitivity(wrong)
    assert classifier.sensitivity == 0.9


@pytest.mark.parametrize("calibration", ["resubstitution", "loo"])
def test_reports_at_a_wrong_sensitivity_are_refused(control, calibration):
    classifier = NeighborTOCC(calibration=calibration).fit(control)
    for report in (classifier.coverage_report, partial(classifier.p_values, control)):
        with pytest.raises(ValueError, match=r"sensitivity=5 must lie in \(0, 1\]"):
            report(sensitivity=5)


def test_a_list_of_one_sensitivity_is_that_sensitivity(control):
    for classifier in (TOCC(), ProjectionEnsemble(TOCC(), 3, 5, random_state=0)):
        plain, listed = clone(classifier).fit(control), clone(classifier).set_params(sensitivity=[0.9]).fit(control)
        np.testing.assert_array_equal(listed.thresholds_, plain.thresholds_)
        np.testing.assert_array_equal(listed.predict(control), plain.predict(control))


def test_reports_refer_to_the_sensitivity_in_force(control):
    classifier = TOCC(sensitivity=0.5).fit(control)
    report, table = classifier.coverage_report(), classifier.explain(control)
    classifier.set_params(sensitivity=0.99)
    assert classifier.coverage_report() == report
    pd.testing.assert_frame_equal(classifier.explain(control), table)


SPECIAL = [
    TOCC(tau_max="half", ties="literal"),
    PAMTOCC(3),
    NeighborTOCC(calibration="resubstitution"),
    DensityTOCC(density="kde"),
    DensityTOCC(density="kde", scale="log"),
    CalibratedOCC(TOCC()),
    ProjectionEnsemble(PAMTOCC(2), 5, 5, random_state=0),
    baselines.SVDD(kernel="linear"),
    baselines.KMeansOCC(random_state=0),
    baselines.SOMOCC(n_epochs=2, random_state=0),
    baselines.MixtureOCC(n_components=2, models=["VVV"]),
]
OTHERS = {
    **{"sensitivity": 0.5, "calibration": "split", "n_clusters": 2, "estimator": TOCC(tau_max="half")},
    **{"tau_max": "half", "ties": "literal", "density": "gaussian", "center": "density", "scale": "log"},
    **{"response_method": "decision_function", "kernel": "linear", "gamma": 3.0, "bandwidth": 0.1},
}


def every_classifier():
    """One or more of each public classifier."""
    public = [getattr(package, name) for package in (transvariation, baselines) for name in package.__all__]
    classes = [cls for cls in public if isinstance(cls, type) and issubclass(cls, OneClassClassifier)]
    special = {type(classifier) for classifier in SPECIAL} - {TOCC}
    return SPECIAL + [cls() for cls in classes if cls not in special and not isabstract(cls)]


@pytest.mark.parametrize("classifier", every_classifier(), ids=str)
def test_a_parameter_set_after_fit_waits_for_the_next_fit(classifier):
    X, Z = np.random.default_rng(0).integers(-6, 7, size=(2, 60, 2)).astype(float)  # many equal the center somewhere
    classifier = clone(classifier).fit(X)
    verdicts, ranks = classifier.predict(Z), classifier.p_values(Z)
    for name, value in classifier.get_params().items():
        if name.endswith("n_jobs"):
            continue  # it changes no result, and may be set at any time
        for other in {OTHERS.get(name, "unknown"), "unknown"}:
            classifier.set_params(**{name: other})
            np.testing.assert_array_equal(classifier.predict(Z), verdicts, err_msg=f"{name}={other!r}")
            np.testing.assert_array_equal(classifier.p_values(Z), ranks, err_msg=f"{name}={other!r}")
            classifier.set_params(**{name: value})


@pytest.mark.parametrize("method", ["combined_p_value", "p_values", "explain", "transvariation_probability"])
@pytest.mark.parametrize("classifier", [TOCC(), PAMTOCC(), NeighborTOCC(), ProjectionEnsemble()])
def test_unfitted_classifiers_raise_not_fitted_error(classifier, method, control):
    with pytest.raises(NotFittedError):
        getattr(classifier, method)(control)


def test_a_detector_that_cannot_score_new_samples_is_refused(control):
    with pytest.raises(TypeError, match="novelty=True"):
        CalibratedOCC(LocalOutlierFactor()).fit(control)


@pytest.mark.parametrize(
    "use",
    [
        lambda X: PAMTOCC(2.5).fit(X),
        lambda X: PAMTOCC("5").fit(X),
        lambda X: PAMTOCC(None).fit(X),
        lambda X: GaussianMixtureBIC(n_components="12").fit(X),
        lambda X: GaussianMixtureBIC(n_components=[1, 2.5]).fit(X),
        lambda X: TOCC().fit(X).partial_fit(X, window=2.5),
        lambda X: make_scenario("a", n_target=2.5),
    ],
)
def test_a_number_of_something_is_a_whole_number(control, use):
    with pytest.raises(ValueError, match=r"(n_clusters|n_components|window|n_target)=.* whole number"):
        use(control)


def test_a_shift_is_a_number():
    with pytest.raises(ValueError, match="shift=nan"):
        make_scenario("a", shift=np.nan)
    with pytest.raises(ValueError, match=r"n_neighbors='3'"):
        NeighborTOCC("3").fit(make_scenario("a", random_state=0)[0])


def test_messages_name_columns_values_and_the_remedy(control):
    gappy = control.copy()
    gappy.iloc[3, 0] = np.nan
    with pytest.raises(ValueError, match=rf"contains NaN in column '{control.columns[0]}'.*SimpleImputer"):
        TOCC().fit(gappy)
    with pytest.raises(ValueError, match=r"contains NaN in column 0, which TOCC does not accept; use NeighborTOCC"):
        TOCC().fit(gappy.to_numpy())
    with pytest.raises(ValueError, match=r"which OneClassSVM does not accept; .*SimpleImputer\(\), OneClassSVM"):
        CalibratedOCC(OneClassSVM()).fit(gappy)
    with pytest.raises(ValueError, match=r"columns 'Mg', 'twice' determine each other"):
        DensityTOCC(density="gaussian").fit(control[["K", "Mg"]].assign(twice=2 * control["Mg"]))
    with pytest.warns(NoGuarantee, match=r"have no guarantee.*use calibration='cv'"):
        TOCC().fit(control).p_values(control)
    with pytest.warns(UserWarning, match=r"n_neighbors=100 exceeds the number of other samples; 86 is used"):
        NeighborTOCC(n_neighbors=100).fit(control)
    with pytest.raises(ValueError, match=r"not numbers: 'maker'; drop them, or encode"):
        TOCC().fit(control.assign(maker="x"))
    with pytest.raises(
        ValueError, match=r"not numbers: 2; give categorical_features=\[2\] if they are categories, drop"
    ):
        NeighborTOCC().fit(control.assign(maker="x").to_numpy())
    with pytest.raises(TypeError, match=r"no parameter contamination; use sensitivity=0\.9"):
        TOCC(contamination=0.1)
    with pytest.raises(TypeError, match=r"RandomForestClassifier needs labels y; give a detector"):
        CalibratedOCC(RandomForestClassifier()).fit(control)
    assert TOCC().fit(control.astype(str)).predict(control.astype(str)).shape == (87,)
