"""Properties that every classifier promises: the same answer for the same data, however it is given.

Units: the classifiers in `ANY_UNIT` give the same p-values for any positive scale and any shift of each feature. Those
in `COMMON_UNIT` measure Euclidean distances, as their definitions demand: only one scale for all features, and any
shifts, change nothing; `StandardScaler` before them removes the dependence. Mixtures depend on the scale by the start
that mclust takes, unless ``start="svd"``, and by its rule to stop, unless `tol` is small. The order of rows changes no
classifier. Random projections are drawn by the position of the features: only these depend on their order.
"""

import io
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import transvariation
from transvariation import (
    PAMTOCC,
    TOCC,
    CalibratedOCC,
    DensityTOCC,
    GaussianMixtureBIC,
    NeighborTOCC,
    OpenSetClassifier,
    ProjectionEnsemble,
    baselines,
    load,
    save,
)
from transvariation.base import OneClassClassifier
from transvariation.baselines import DDSIMCA, KDEOCC, SOMOCC, SVDD, GaussianOCC, KMeansOCC, MixtureOCC

pytestmark = [
    pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNothing"),
    pytest.mark.filterwarnings("ignore::transvariation.exceptions.NoGuarantee"),
]


class Mahalanobis(EmpiricalCovariance):
    """A detector of somebody else's package, with any unit."""

    def score_samples(self, X):
        return -self.mahalanobis(X)


ANY_UNIT = {
    "NeighborTOCC": NeighborTOCC(),
    "NeighborTOCC split": NeighborTOCC(calibration="split"),
    "GaussianOCC": GaussianOCC(),
    "KDEOCC": KDEOCC(),
    "CalibratedOCC": CalibratedOCC(Mahalanobis(), calibration="cv"),
    "CalibratedOCC scaled": CalibratedOCC(make_pipeline(StandardScaler(), TOCC()), calibration="cv"),
}
COMMON_UNIT = {
    "TOCC": TOCC(),
    "TOCC loo": TOCC(calibration="loo"),
    "PAMTOCC": PAMTOCC(3),
    "DensityTOCC kde": DensityTOCC(density="kde"),
    "DensityTOCC svd": DensityTOCC(density=GaussianMixtureBIC((1, 2), ["EEE", "VVV"], start="svd", tol=1e-9)),
    "SVDD": SVDD(),
    "DDSIMCA": DDSIMCA(1),
    "DDSIMCA cv": DDSIMCA(1, calibration="cv"),
    "KMeansOCC": KMeansOCC(n_clusters=3, random_state=0),
    "SOMOCC": SOMOCC(random_state=0),
    "ProjectionEnsemble": ProjectionEnsemble(n_projections=7, n_candidates=5, random_state=0),
    "ProjectionEnsemble cv": ProjectionEnsemble(n_projections=3, n_candidates=3, calibration="cv", random_state=0),
}
OWN_UNIT = {
    "DensityTOCC": DensityTOCC(density=GaussianMixtureBIC((1, 2), ["EEE", "VVV"])),
    "MixtureOCC": MixtureOCC(n_components=(1, 2), models=["EEE", "VVV"]),
}
EVERY = ANY_UNIT | COMMON_UNIT | OWN_UNIT
BY_FEATURE = {name for name in EVERY if name.startswith("Projection")}  # random draws per feature


@cache
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(3, 3))
    X, Z = rng.normal(size=(30, 3)) @ mixing, 1.5 * rng.normal(size=(20, 3)) @ mixing
    return X, np.concatenate([Z, X[:3]])  # some of the known samples among the new ones


@cache
def fitted(name: str) -> OneClassClassifier:
    return clone(EVERY[name]).fit(data()[0])


def results(classifier, Z) -> np.ndarray:
    return np.column_stack([classifier.p_values(Z), classifier.predict(Z)])


def assert_same(name, other, Z, atol=1e-9):
    np.testing.assert_allclose(results(other, Z), results(fitted(name), data()[1]), atol=atol)


def refitted(name, X, Z, atol=1e-9, **parameters):
    assert_same(name, clone(EVERY[name]).set_params(**parameters).fit(X), Z, atol)


def test_every_public_classifier_is_listed():
    values = [getattr(module, name) for module in (transvariation, baselines) for name in module.__all__]
    known = {cls for cls in values if isinstance(cls, type) and issubclass(cls, OneClassClassifier)}
    assert known == {type(classifier) for classifier in EVERY.values()}


@pytest.mark.parametrize("name", EVERY)
class TestSameData:
    def test_refit(self, name):
        refitted(name, *data(), atol=0)

    def test_order_of_new_samples_and_one_by_one(self, name):
        Z = data()[1]
        all_at_once = results(fitted(name), Z)
        order = np.random.default_rng(1).permutation(len(Z))
        np.testing.assert_allclose(results(fitted(name), Z[order]), all_at_once[order], atol=1e-12)
        singly = np.concatenate([results(fitted(name), z[None]) for z in Z])
        np.testing.assert_allclose(singly, all_at_once, atol=1e-12)

    def test_layout_in_memory_and_kind_of_table(self, name):
        X, Z = data()
        refitted(name, np.asfortranarray(X), np.asfortranarray(Z))
        refitted(name, *(pd.DataFrame(rows, columns=["a", "b", "c"]) for rows in (X, Z)))
        refitted(name, X.tolist(), Z.tolist())

    def test_single_precision_is_the_same_numbers_in_double(self, name):
        X, Z = (rows.astype(np.float32) for rows in data())
        double = clone(EVERY[name]).fit(X.astype(float))
        np.testing.assert_array_equal(results(clone(EVERY[name]).fit(X), Z), results(double, Z.astype(float)))

    def test_number_of_jobs(self, name):
        if "n_jobs" in EVERY[name].get_params() and not name.startswith("Calibrated"):  # in tests/test_parallel.py
            refitted(name, *data(), atol=0, n_jobs=2)

    def test_save_and_load(self, name):
        if name != "CalibratedOCC":  # of somebody else's package
            file = io.BytesIO()
            save(fitted(name), file)
            assert_same(name, load(file), data()[1], atol=0)

    def test_set_sensitivity_is_a_refit(self, name):
        X, Z = data()
        refit = clone(EVERY[name]).set_params(sensitivity=0.7).fit(X)
        assert_same(name, refit.set_sensitivity(0.9), Z, atol=0)

    def test_a_constant_feature(self, name):
        X, Z = (np.column_stack([rows[:, :2], np.full(len(rows), 3.7)]) for rows in data())
        try:
            first = clone(EVERY[name]).fit(X)
        except ValueError as error:
            assert "constant" in str(error)  # noqa: PT017  # some need a covariance
            return
        second = clone(EVERY[name]).set_params(sensitivity=0.7).fit(X).set_sensitivity(0.9)
        np.testing.assert_array_equal(results(second, Z), results(first, Z))


@pytest.mark.parametrize("name", EVERY)
def test_order_of_training_samples(name):
    X, Z = data()
    refitted(name, X[np.random.default_rng(2).permutation(len(X))], Z)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("calibration", ["loo", "cv", "split"])
# Those that are listed with another calibration besides are the same here.
@pytest.mark.parametrize("name", sorted(n for n in EVERY if not n.endswith((" loo", " cv", " split"))))
def test_order_of_samples_and_features_and_units_together(name, calibration, grouped):
    """Also of the calibration samples, which tie with themselves, alone or together."""
    X, Z = data()[0], np.concatenate(data())
    rng, groups = np.random.default_rng(5), np.repeat(np.arange(15), 2) if grouped else np.arange(30)
    rows, columns = rng.permutation(len(X)), np.arange(3) if name in BY_FEATURE else np.array([2, 0, 1])
    unit = 1.0 if name in OWN_UNIT else 0.001 if name in COMMON_UNIT else np.array([1000.0, 0.003, 7.7])
    first, second = (clone(EVERY[name]).set_params(calibration=calibration, sensitivity=0.8) for _ in range(2))
    first.fit(X, groups=groups)
    second.fit(((X + [4.0, -2.0, 64.0]) * unit)[rows][:, columns], groups=groups[rows])
    new = ((Z + [4.0, -2.0, 64.0]) * unit)[:, columns]
    np.testing.assert_allclose(results(second, new), results(first, Z), atol=1e-9)
    some = slice(2, None, 7)  # known ones and new ones
    np.testing.assert_array_equal(np.concatenate([results(first, z[None]) for z in Z[some]]), results(first, Z)[some])


@pytest.mark.parametrize("name", EVERY)
def test_order_of_features(name):
    X, Z = data()
    if name not in BY_FEATURE:
        refitted(name, X[:, [2, 0, 1]], Z[:, [2, 0, 1]])


@pytest.mark.parametrize("name", ANY_UNIT)
def test_any_unit_and_origin_of_each_feature(name):
    unit, shift = np.array([1000.0, 0.003, 7.7]), np.array([5.0, -0.01, 100.0])
    refitted(name, *(rows * unit + shift for rows in data()))


@pytest.mark.parametrize("name", COMMON_UNIT)
@pytest.mark.parametrize("unit", [1024.0, 0.001])
def test_any_common_unit_and_any_origin(name, unit):
    refitted(name, *((rows + np.array([3.0, -2.0, 50.0])) * unit for rows in data()))


@pytest.mark.parametrize("name", OWN_UNIT)
def test_any_origin(name):
    refitted(name, *(rows + np.array([4.0, -2.0, 64.0]) for rows in data()))


def test_classes_of_an_open_set():
    X, Z = data()
    rows, labels = np.concatenate([X, X + 9]), np.repeat(["a", "b"], len(X))
    first = OpenSetClassifier().fit(rows, labels)
    order, unit = np.random.default_rng(3).permutation(len(rows)), np.array([1000.0, 0.003, 7.7])
    second = OpenSetClassifier().fit(rows[order] * unit, labels[order])
    np.testing.assert_allclose(second.p_values(Z * unit), first.p_values(Z), atol=1e-9)
    np.testing.assert_allclose(np.concatenate([first.p_values(z[None]) for z in Z]), first.p_values(Z), atol=1e-12)


def test_other_detectors_keep_the_units_that_they_are_given():
    detector = CalibratedOCC(LocalOutlierFactor(novelty=True), calibration="cv")
    scaled = CalibratedOCC(make_pipeline(StandardScaler(), LocalOutlierFactor(novelty=True)), calibration="cv")
    (X, Z), unit = data(), np.array([1000.0, 1.0, 1.0])
    first, second = (results(clone(detector).fit(X * u), Z * u) for u in (1.0, unit))
    assert (first != second).any()
    first, second = (results(clone(scaled).fit(X * u), Z * u) for u in (1.0, unit))
    np.testing.assert_allclose(first, second, atol=1e-9)
