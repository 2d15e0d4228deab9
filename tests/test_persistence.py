"""Models in files: the same predictions from every model, no code and no surprises from any file."""

import io
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.covariance import EllipticEnvelope
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDOneClassSVM
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import OneClassSVM
from sklearn.utils import get_tags

import transvariation
from transvariation import (
    TOCC,
    CalibratedOCC,
    MinorComponents,
    ProjectionEnsemble,
    load,
    load_glass,
    save,
)
from transvariation.model_archive import ModelFileError
from transvariation.persistence import read_about

pytestmark = pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNothing")

METHODS = ("predict", "score_samples", "decision_function", "p_values", "transvariation_probability", "transform")
TREES = ["sklearn.tree._tree.Tree"]
NEIGHBORS = ["sklearn.metrics._dist_metrics.EuclideanDistance64", "sklearn.neighbors._kd_tree.KDTree"]


class Third(TransformerMixin, BaseEstimator):
    """A transformer of somebody else's package."""

    def fit(self, X, y=None):
        self.scale_ = np.abs(np.asarray(X)).max(axis=0)
        return self

    def transform(self, X):
        return np.asarray(X) / self.scale_


def public_estimators() -> list[type]:
    """Every public estimator: a new one is tested as soon as it is exported."""
    values = [getattr(transvariation, name) for name in transvariation.__all__]
    names = ["baselines", "preprocessing"] + ["dask"] * (find_spec("dask") is not None)
    for module in (import_module(f"transvariation.{name}") for name in names):
        values += [getattr(module, name) for name in getattr(module, "__all__", [])]
    return [cls for cls in values if isinstance(cls, type) and issubclass(cls, BaseEstimator)]


def build(cls: type) -> BaseEstimator:
    small = {"n_projections": 7, "n_candidates": 5, "random_state": 0, "n_clusters": 2, "window_length": 3}
    parameters = {name: value for name, value in small.items() if name in cls._get_param_names()}
    try:
        return cls(**parameters)
    except TypeError:  # it wraps another estimator and has no default
        return cls(TOCC(), **parameters)


def through_file(model, trusted=()):
    file = io.BytesIO()
    save(model, file)
    return load(file, trusted=trusted)


@pytest.fixture(scope="module")
def glass():
    data = load_glass()
    return data.control[["K", "Mg", "Si"]], data.recovered[["K", "Mg", "Si"]]


def assert_same(one, other, X):
    methods = [name for name in METHODS if hasattr(one, name)]
    assert methods
    for name in methods:
        np.testing.assert_array_equal(getattr(one, name)(X), getattr(other, name)(X), err_msg=name, strict=True)
    assert repr(one) == repr(other)
    assert vars(one).keys() == vars(other).keys()


class TestRoundTrip:
    @pytest.mark.parametrize("cls", public_estimators(), ids=lambda cls: f"{cls.__module__}.{cls.__name__}")
    def test_every_public_estimator_predicts_the_same_to_the_last_bit(self, cls, glass):
        labels = {"OpenSetClassifier": np.arange(len(glass[0])) % 2}  # transfers learn from pairs of spectra
        y = labels.get(cls.__name__, glass[0])
        model = build(cls).fit(glass[0], y) if get_tags(build(cls)).target_tags.required else build(cls).fit(glass[0])
        assert_same(model, through_file(model), glass[1])

    @pytest.mark.parametrize("calibration", ["resubstitution", "loo", "cv", "split"])
    def test_every_calibration(self, calibration, glass):
        model = TOCC(calibration=calibration).fit(glass[0])
        loaded = through_file(model)
        assert_same(model, loaded, glass[1])
        assert_same(model.set_sensitivity(0.7), loaded.set_sensitivity(0.7), glass[1])

    @pytest.mark.filterwarnings("ignore::transvariation.exceptions.OrderedScores")  # the glass is in some order
    @pytest.mark.parametrize(
        ("model", "trusted"),
        [
            (make_pipeline(StandardScaler(), MinorComponents(n_components=2), TOCC()), []),
            (CalibratedOCC(make_pipeline(SimpleImputer(), StandardScaler(), PCA(2), TOCC())), []),
            (ProjectionEnsemble(TOCC(ties="literal"), n_projections=5, n_candidates=3, random_state=1), []),
            (CalibratedOCC(IsolationForest(n_estimators=5, random_state=0)), TREES),
            (CalibratedOCC(LocalOutlierFactor(novelty=True)), NEIGHBORS),
            (CalibratedOCC(OneClassSVM()), []),
            (CalibratedOCC(SGDOneClassSVM(random_state=0), calibration="split"), []),
            (CalibratedOCC(EllipticEnvelope(random_state=0)), []),
            (CalibratedOCC(make_pipeline(FunctionTransformer(np.log1p), TOCC())), []),
            (make_pipeline(Third(), TOCC()), [Third]),
            (make_pipeline(ColumnTransformer([("keep", "passthrough", [0, 1])]), TOCC()), []),
        ],
        ids=lambda value: repr(value)[:40] if isinstance(value, BaseEstimator) else "",
    )
    def test_estimators_of_scikit_learn_and_of_others(self, model, trusted, glass):
        known, recovered = (table.to_numpy() for table in glass)
        model.fit(known)
        file = io.BytesIO()
        save(model, file)
        if trusted:
            with pytest.raises(ModelFileError, match=r"types that are not trusted: .*trusted=\["):
                load(file)
        np.testing.assert_array_equal(model.predict(recovered), load(file, trusted=trusted).predict(recovered))

    def test_strings_in_a_pipeline(self):
        frame = pd.DataFrame({"x": np.arange(40.0) % 7, "kind": ["a", "b"] * 20})
        columns = ColumnTransformer([("kind", OneHotEncoder(sparse_output=False), ["kind"])], remainder="passthrough")
        model = CalibratedOCC(make_pipeline(columns, TOCC())).fit(frame)
        loaded = through_file(model)
        np.testing.assert_array_equal(model.predict(frame), loaded.predict(frame))
        pd.testing.assert_frame_equal(loaded.sample_, model.sample_, check_dtype=False, check_index_type=False)

    def test_an_unfitted_model_keeps_its_parameters(self):
        model = TOCC(sensitivity=0.75, ties="literal")
        loaded = through_file(model)
        assert loaded.get_params() == model.get_params()
        with pytest.raises(Exception, match="not fitted"):
            loaded.predict([[1.0]])

    def test_values_of_every_kind_come_back_as_they_were(self):
        model = TOCC()
        model.values = values = {
            "floats": (np.inf, -np.inf, 0.1, 5e-324, -0.0),
            "numbers": [1, True, None, "text\x00", 10**30],
            3: range(1, 10, 2),
            "sets": {"b", "a"},
            "scalar": np.float32(1.1),
            "frozen": frozenset({1, 2}),
        }
        model.arrays = arrays = [
            np.asfortranarray(np.arange(6.0).reshape(2, 3)),
            np.array(["a", "bcd"]),
            np.array([1 + 2j]),
            np.empty((0, 3)),
            np.array(5.0),
            np.array([np.nan, -np.inf]),
            np.array(["x", "y"], dtype=object),
            np.arange(3, dtype=">i2"),
        ]
        loaded = through_file(model)
        assert loaded.values == values
        assert type(loaded.values["scalar"]) is np.float32
        for one, other in zip(arrays, loaded.arrays, strict=True):
            np.testing.assert_array_equal(one, other, strict=True)
            assert one.flags.f_contiguous == other.flags.f_contiguous

    def test_metadata_requests_are_not_part_of_the_file(self, glass):
        with config_context(enable_metadata_routing=True):
            model = TOCC().set_fit_request(groups=True).fit(glass[0])
            loaded = through_file(CalibratedOCC(model).fit(glass[0]))
            assert_same(model, loaded.estimator.set_fit_request(groups=True), glass[1])
            assert model.get_metadata_routing().fit.requests == {"groups": True}

    def test_the_same_model_gives_the_same_bytes(self, tmp_path, glass):
        for name in ("a", "b"):
            save(TOCC().fit(glass[0]), tmp_path / name)
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]

    def test_threads_that_write_one_file_write_it_completely(self, tmp_path, glass):
        model, path = TOCC().fit(glass[0]), tmp_path / "model"

        def write_and_read(_):
            save(model, path)
            return load(path).offset_

        with ThreadPoolExecutor(4) as threads:
            assert set(threads.map(write_and_read, range(20))) == {model.offset_}
        assert list(tmp_path.iterdir()) == [path]


class TestAbout:
    def test_about_is_kept_and_must_be_json(self, tmp_path):
        about = {"features": ["Na"], "filling": {"Na": {"median": 1.5}}, "sha256": None}
        save(TOCC(), tmp_path / "model", about=about)
        assert read_about(tmp_path / "model")["about"] == about
        with pytest.raises(TypeError, match="not JSON serializable"):
            save(TOCC(), tmp_path / "other", about={"x": {1, 2}})
        with pytest.raises(ValueError, match="not JSON compliant"):
            save(TOCC(), tmp_path / "other", about={"x": float("nan")})
        assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ProjectionEnsemble(TOCC(), random_state=np.random.default_rng(0)), "ProjectionEnsemble cannot be saved"),
        (make_pipeline(FunctionTransformer(lambda x: x), TOCC()), "Pipeline cannot be saved.*lambda"),
        (TOCC(ties=range(10**12)), "more than 10000 values"),
        ([1, 2], "only estimators and alarms can be saved, not list"),
    ],
)
def test_what_cannot_be_loaded_is_not_saved(model, message, tmp_path):
    with pytest.raises(TypeError, match=message):
        save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_an_incomplete_model_is_not_saved(glass, tmp_path):
    model = TOCC().fit(glass[0])
    del model.description_.center_
    with pytest.raises(TypeError, match=r"it is incomplete: .*center_"):
        save(model, tmp_path / "model")
