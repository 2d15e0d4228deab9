"""DensityTOCC: the paper's glass cells, and each kind of density."""

import numpy as np
import pytest
from scipy.stats import expon, norm, uniform
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from transvariation import (
    CalibratedOCC,
    DensityTOCC,
    GaussianDensity,
    GaussianKernelDensity,
    GaussianMixtureBIC,
    auc,
    spatial_median,
    specificity_at_sensitivity,
)
from transvariation.baselines import KDEOCC
from transvariation.density.box_probability import TooManyVariables
from transvariation.exceptions import RejectsNothing

SAMPLE = np.random.default_rng(0).normal(size=(80, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])


# A short search: the checks fit some hundred times.
SHORT = GaussianMixtureBIC(n_components=(1, 2), models=("EII", "VVI"))


@parametrize_with_checks([DensityTOCC(density=SHORT), DensityTOCC(density="kde", scale="log")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


# The paper's cells for TOCC_db: area under the curve and specificity at a sensitivity of 0.9.
@pytest.mark.parametrize(
    ("name", "area", "specificity"),
    [("glass_pc89", 0.905, 0.804), ("glass_k_mg", 0.997, 0.980), ("glass_si_mg", 0.988, 0.961)],
)
def test_the_glass_cells_of_the_paper(reference, name, area, specificity):
    control, recovered = reference.table(name), reference.table(f"{name}_nontarget")
    classifier = DensityTOCC(calibration="resubstitution").fit(control)
    tp = [classifier.transvariation_probability(Z) for Z in (control, recovered)]
    assert round(auc(*tp), 3) == area
    assert round(specificity_at_sensitivity(*tp, 0.9), 3) == specificity
    assert round(float(np.mean(classifier.predict(recovered) == -1)), 3) == specificity


@pytest.mark.parametrize("density", ["mixture", "gaussian", "kde"])
@pytest.mark.parametrize("calibration", ["resubstitution", "split"])
def test_the_named_densities(density, calibration):
    classifier = DensityTOCC(density=density, calibration=calibration).fit(SAMPLE)
    tp = classifier.transvariation_probability(SAMPLE)
    assert ((tp >= 0) & (tp <= 1)).all()
    assert classifier.transvariation_probability([classifier.center_])[0] == 1
    assert (classifier.predict(SAMPLE) == 1).mean() >= 0.8
    assert classifier.predict([[9.0, -9.0]])[0] == -1


def test_the_center_is_the_spatial_median():
    np.testing.assert_array_equal(DensityTOCC(density="gaussian").fit(SAMPLE).center_, spatial_median(SAMPLE))


def test_tp_is_smooth_and_positive_beyond_the_sample():
    classifier = DensityTOCC(density="kde").fit(SAMPLE)
    edge = SAMPLE.max(axis=0)
    tp = classifier.transvariation_probability(edge + np.linspace(-0.5, 0.5, 50)[:, None])
    assert (tp > 0).all()
    assert (np.diff(tp) < 0).all()


def test_far_objects_rank_on_the_log_scale():
    far = np.array([[60.0, 60.0], [70.0, 70.0], [700.0, 700.0]])
    plain, log = (DensityTOCC(density="gaussian", scale=s).fit(SAMPLE) for s in ("tp", "log"))
    assert (plain.score_samples(far) == 0).all()
    assert (np.diff(log.score_samples(far)) < 0).all()
    np.testing.assert_array_equal(plain.log_transvariation_probability(far), log.score_samples(far))
    np.testing.assert_array_equal(plain.predict(SAMPLE), log.predict(SAMPLE))
    assert log.offset_ == pytest.approx(np.log(plain.offset_))


def test_a_frozen_distribution_about_either_median():
    x = np.random.default_rng(1).exponential(size=(50, 1))
    sample, own = (DensityTOCC(density=expon(), center=c).fit(x) for c in ("sample", "density"))
    assert sample.center_[0] == np.median(x)
    assert own.center_[0] == pytest.approx(np.log(2), rel=1e-12)
    np.testing.assert_allclose(own.transvariation_probability([[2.0]]), 2 * expon.sf(2.0), rtol=1e-9)
    assert clone(own).fit(x).center_ == own.center_


def test_the_median_of_a_kernel_density():
    x = np.random.default_rng(2).normal(size=(31, 1))
    classifier = DensityTOCC(density="kde", center="density").fit(x)
    assert classifier.density_.box_probability(classifier.center_, [np.inf])[0] == pytest.approx(0.5, rel=1e-12)


def test_an_estimator_is_cloned_and_fitted():
    given = GaussianKernelDensity(bandwidth="scott", diagonal=False)
    classifier = DensityTOCC(density=given).fit(SAMPLE)
    assert not hasattr(given, "means_")
    np.testing.assert_array_equal(classifier.density_.means_, SAMPLE)


def test_a_frozen_estimator_is_kept():
    fitted = GaussianDensity().fit(SAMPLE + 1)
    classifier = DensityTOCC(density=FrozenEstimator(fitted), calibration="cv").fit(SAMPLE)
    np.testing.assert_array_equal(classifier.density_.mean_, fitted.mean_)


def test_any_object_with_boxes():
    class Square:
        """Uniform on the square from -4 to 4."""

        def box_probability(self, lower, upper):
            return np.prod(np.maximum(np.clip(upper, -4, 4) - np.clip(lower, -4, 4), 0) / 8, axis=1)

    classifier = DensityTOCC(density=Square()).fit(SAMPLE)
    m = classifier.center_
    c = np.array([2.0, 3.0])
    assert classifier.transvariation_probability([c])[0] == pytest.approx(np.prod((4 - c) / (4 - m)))
    assert classifier.transvariation_probability([[5.0, 5.0]])[0] == 0


def test_the_product_form():
    classifier = DensityTOCC(density="gaussian", tau_max="product").fit(SAMPLE)
    np.testing.assert_array_equal(classifier.center_, np.median(SAMPLE, axis=0))
    sd = SAMPLE.std(axis=0)
    c = np.array([1.5, -0.7])
    z = (c - SAMPLE.mean(axis=0)) / sd
    assert classifier.transvariation_probability([c])[0] == pytest.approx(4 * norm.sf(z[0]) * norm.cdf(z[1]), rel=1e-9)
    about_own = DensityTOCC(density="gaussian", tau_max="product", center="density").fit(SAMPLE)
    np.testing.assert_allclose(about_own.center_, SAMPLE.mean(axis=0), atol=1e-12)


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNothing")
@pytest.mark.parametrize("calibration", ["resubstitution", "loo", "cv", "split"])
@pytest.mark.parametrize("sensitivity", [0.4, 0.9])
def test_where_tp_is_zero_its_logarithm_decides_alike(calibration, sensitivity):
    """Objects beyond the end of a density, and among them the threshold: minus infinity is a score like any other."""
    x = np.random.default_rng(0).uniform(-0.3, 1.3, size=(100, 1))
    Z = np.array([[-9.0], [0.0], [0.3], [0.5], [2.0]])
    options = {"density": uniform(), "calibration": calibration, "sensitivity": sensitivity}
    tp, log = (DensityTOCC(scale=scale, **options).fit(x) for scale in ("tp", "log"))
    assert np.isneginf(log.offset_) == (sensitivity == 0.9)
    assert not np.isnan(log.decision_function(Z)).any()
    np.testing.assert_array_equal(log.predict(Z), tp.predict(Z))
    np.testing.assert_array_equal(log.p_values(Z), tp.p_values(Z))
    assert log.coverage_report() == tp.coverage_report()


def test_a_margin_over_minus_infinity_is_calibrated():
    x = np.random.default_rng(0).uniform(-0.3, 1.3, size=(100, 1))
    density = DensityTOCC(density=uniform(), scale="log")
    classifier = CalibratedOCC(density, response_method="decision_function", calibration="split")
    with pytest.warns(RejectsNothing, match=r"of the calibration samples \(21 of 50\)"):
        classifier.fit(x)
    assert classifier.decision_function([[-9.0], [0.5]]).tolist() == [0.0, np.inf]
    assert classifier.coverage_report().attainable_p_value == 22 / 51


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"density": "histogram"}, "histogram"),
        ({"density": "kde", "center": "mean"}, "center='mean'"),
        ({"density": "kde", "center": "density"}, "spatial median"),
        ({"density": "kde", "tau_max": "count"}, "tau_max='count'"),
        ({"density": "kde", "scale": "sqrt"}, "scale='sqrt'"),
        ({"density": norm()}, "2 variables"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        DensityTOCC(**parameters).fit(SAMPLE)


@pytest.mark.parametrize(
    ("density", "X", "message"),
    [
        ("gaussian", np.random.default_rng(0).normal(size=(4, 6)), "reduce the variables below 4"),
        ("kde", np.column_stack([np.arange(9.0), np.ones(9)]), "constant"),
        ("gaussian", np.tile([[1.0, 2.0]], (9, 1)), "singular"),
    ],
)
def test_data_that_have_no_density_are_named(density, X, message):
    with pytest.raises(ValueError, match=message):
        DensityTOCC(density=density).fit(X)


def test_too_many_variables_are_named():
    X = np.random.default_rng(0).normal(size=(60, 30))
    with pytest.raises(ValueError, match="reduce the variables"):
        DensityTOCC(density="gaussian").fit(X)
    assert DensityTOCC(density="kde").fit(X).offset_ > 0  # diagonal kernels have no such limit


@pytest.mark.parametrize("p", [4, 5])
def test_far_samples_of_correlated_variables_have_a_score(p):
    """Their boxes are too small for a precise probability; predict used to raise TooManyVariables."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(22, p)) @ rng.normal(size=(p, p))
    classifier = DensityTOCC(density="gaussian").fit(X)
    Z = X.mean(axis=0) + rng.normal(size=(6, p)) * X.std(axis=0) * [[10.0], [1e3], [1e3], [1e6], [1e100], [1e200]]
    log_tp = classifier.log_transvariation_probability(Z)
    assert (log_tp < -50).all()
    assert not np.isnan(log_tp).any()
    assert (classifier.predict(Z) == -1).all()


def test_imprecise_target_samples_are_refused_when_fitted(monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 4)) @ np.triu(np.ones((4, 4)))
    monkeypatch.setattr(GaussianDensity, "box_error", lambda self, lower, upper: np.full(len(lower), 0.2))
    with pytest.raises(TooManyVariables, match=r"4 correlated variables has a relative error of 0.2, more than 0.01"):
        DensityTOCC(density="gaussian").fit(X)


@pytest.mark.parametrize("n", [17, 20])
@pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNothing")
def test_fresh_sensitivity_with_about_as_many_samples_as_variables(n):
    """The full sample covariance is close to singular here, and a bandwidth from it rejected nearly all samples."""
    p = 18
    root = np.linalg.cholesky(np.full((p, p), 0.5) + 0.5 * np.eye(p))
    kernels = DensityTOCC(density=GaussianKernelDensity(), calibration="cv", scale="log")
    for classifier in (kernels, KDEOCC(calibration="cv")):
        rejected = []
        for repeat in range(8):
            rng = np.random.default_rng([n, repeat])
            classifier.fit(rng.normal(size=(n, p)) @ root.T)
            rejected.append((classifier.predict(rng.normal(size=(100, p)) @ root.T) == -1).mean())
        assert np.mean(rejected) < 0.17  # nominal 0.10; the standard error is about 0.03
