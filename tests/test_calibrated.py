"""CalibratedOCC with detectors of scikit-learn and PyOD, and with tables that only its pipeline understands."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.covariance import EllipticEnvelope
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import IsolationForest
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.model_selection import KFold
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import OneClassSVM

from transvariation import (
    TOCC,
    CalibratedOCC,
    NeighborTOCC,
    ProjectionEnsemble,
    auc,
    compare_classifiers,
    explain_rejections,
)
from transvariation.exceptions import UnknownCategories
from transvariation.tocc import CountedDepth

SCIKIT_LEARN = [
    EllipticEnvelope(random_state=0),
    IsolationForest(n_estimators=30, random_state=0),
    LocalOutlierFactor(novelty=True),
    OneClassSVM(nu=0.1),
]


def pyod_detectors():
    models = pytest.importorskip("pyod.models.base", reason="PyOD is not installed")
    assert models
    from pyod.models.ecod import ECOD
    from pyod.models.iforest import IForest
    from pyod.models.knn import KNN
    from pyod.models.lof import LOF

    return [KNN(), IForest(n_estimators=30, random_state=0), ECOD(), LOF()]


X = np.random.default_rng(0).normal(size=(100, 3))
FAR = [[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]]


@pytest.mark.parametrize("i", range(4))
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("package", ["scikit-learn", "PyOD"])
def test_far_samples_are_rejected(package, i, scaled):
    detector = (SCIKIT_LEARN if package == "scikit-learn" else pyod_detectors())[i]
    steps = make_pipeline(StandardScaler(), detector) if scaled else detector
    classifier = CalibratedOCC(steps, calibration="split").fit(X)
    assert classifier.predict(FAR).tolist() == [1, -1]
    assert classifier.p_values(FAR)[1] == classifier.coverage_report().smallest_p_value


@pytest.mark.parametrize("i", range(4))
def test_pyod_scores_rank_anomalies_of_breast_cancer_last(i):
    data = load_breast_cancer()
    benign, malignant = data.data[data.target == 1], data.data[data.target == 0]
    classifier = CalibratedOCC(make_pipeline(StandardScaler(), pyod_detectors()[i]), calibration="split").fit(benign)
    scores = classifier.score_samples(np.vstack([benign, malignant]))
    assert auc(scores[: len(benign)], scores[len(benign) :]) > 0.9


def test_outliers_in_one_batch_do_not_hide_each_other():
    # ECOD counts all samples of a batch like training samples.
    ecod = pyod_detectors()[2]
    outliers = np.random.default_rng(2).normal(6, 1, size=(300, 3))
    classifier = CalibratedOCC(ecod, calibration="split").fit(X)
    assert (classifier.predict(outliers) == -1).all()
    assert classifier.p_values(outliers[:1]) == classifier.p_values(outliers)[0]
    table = explain_rejections(ecod.fit(X), outliers[:3], X)
    assert not table["accepted"].any()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyOD calls what SciPy 1.18 deprecates
def test_detectors_that_need_a_batch_are_refused():
    pyod_detectors()
    from pyod.models.cof import COF
    from pyod.models.lmdd import LMDD

    for detector in (COF(), LMDD()):
        with pytest.raises(ValueError, match="cannot score one sample without others"):
            CalibratedOCC(detector).fit(X)


def test_pyod_in_comparisons_explanations_and_ensembles():
    knn, _, ecod, _ = pyod_detectors()
    known = np.random.default_rng(1).normal(size=(80, 2)) @ [[1.0, 0.95], [0.0, 0.3]]
    result = compare_classifiers({"kNN": knn, "ECOD": ecod}, known, n_repeats=1)
    assert result.tightest == "kNN"  # ECOD looks at the margins only
    assert result.table.loc["kNN", "accepted"] < 0.2
    table = explain_rejections(knn.fit(X), FAR, X)
    assert table["accepted"].tolist() == [True] * 3 + [False] * 3
    assert knn.predict(table["accepted_at"].to_numpy().reshape(-1, 3)).tolist() == [0, 0]
    assert ProjectionEnsemble(knn, 5, 5, random_state=0).fit(X).predict(FAR).tolist() == [1, -1]


class Inverted(OutlierMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        return self

    def decision_function(self, X):
        return np.linalg.norm(X - self.mean_, axis=1) - 2

    def predict(self, X):
        return np.where(self.decision_function(X) > 0, -1, 1)


@pytest.mark.parametrize("mixture", [GaussianMixture, BayesianGaussianMixture])
@pytest.mark.parametrize("seed", range(3))
def test_the_components_of_a_mixture_are_not_taken_for_outliers(mixture, seed):
    """Components 0 and 1 look like the predictions of PyOD: the scores were refused or negated, by chance."""
    X = np.random.default_rng(seed).normal(size=(100, 3)) + np.repeat([[0.0], [6.0]], 50, axis=0)
    classifier = CalibratedOCC(mixture(n_components=2, random_state=0)).fit(X)
    assert classifier.predict([[30.0, 30.0, 30.0], [6.0, 6.0, 6.0]]).tolist() == [-1, 1]


def test_a_detector_that_contradicts_itself_is_refused():
    for classifier in (CalibratedOCC(Inverted()), ProjectionEnsemble(Inverted(), 3, 3)):
        with pytest.raises(ValueError, match="scores of Inverted contradict its predictions"):
            classifier.fit(X)


def test_columns_of_strings_reach_the_pipeline():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"maker": rng.choice(["a", "b"], 60), "RI": rng.normal(size=60), "Mg": rng.normal(size=60)})
    encode = make_column_transformer((OneHotEncoder(), ["maker"]), (StandardScaler(), ["RI", "Mg"]))
    classifier = CalibratedOCC(make_pipeline(encode, NeighborTOCC())).fit(table)
    odd = pd.DataFrame({"maker": ["a", "a"], "RI": [0.0, 9.0], "Mg": [0.0, 9.0]})
    assert classifier.predict(odd).tolist() == [1, -1]
    features = classifier.explain(odd)
    assert features["feature"].tolist() == ["RI", "Mg"] * 2
    assert features["univariate_rejection"].tolist() == [False, False, True, True]
    with pytest.raises(ValueError, match="feature names"):
        classifier.predict(odd[["RI", "Mg", "maker"]])


@pytest.mark.parametrize("steps", [(), (StandardScaler(),)])
def test_the_calibration_of_a_wrapped_classifier_is_not_computed(steps, monkeypatch):
    fits = []
    fit = CountedDepth.fit
    monkeypatch.setattr(CountedDepth, "fit", lambda self, X, groups=None: fits.append(len(X)) or fit(self, X))
    inner = TOCC(calibration="loo")
    classifier = CalibratedOCC(make_pipeline(*steps, inner) if steps else inner, calibration="split", sensitivity=0.2)
    classifier.fit(X)
    assert fits == [50]


class NearestDistance(OutlierMixin, BaseEstimator):
    """A 1-nearest-neighbor detector by brute force, as users write it."""

    def fit(self, X, y=None):
        self.neighbors_ = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(X)
        return self

    def score_samples(self, X):
        return -self.neighbors_.kneighbors(X)[0][:, 0]


@pytest.mark.parametrize("seed", range(5))
def test_a_detector_whose_training_scores_are_zero_up_to_rounding_is_taken(seed):
    rng = np.random.default_rng(seed)
    classifier = CalibratedOCC(NearestDistance()).fit(rng.normal(size=(60, 50)))
    assert (classifier.predict(rng.normal(size=(300, 50))) == 1).mean() > 0.8


def test_sparse_matrices_are_taken_where_the_detector_takes_them():
    rng = np.random.default_rng(0)
    rows = rng.poisson(0.5, size=(80, 12)).astype(float)
    forest = IsolationForest(n_estimators=20, random_state=0)
    # Without a splitter the folds of a sparse matrix are others: its columns are not ranked one by one.
    dense, sparse = (CalibratedOCC(forest, calibration=KFold(5)).fit(X) for X in (rows, csr_matrix(rows)))
    np.testing.assert_array_equal(sparse.predict(csr_matrix(rows)), dense.predict(rows))
    with pytest.raises(TypeError, match="cannot be explained"):
        sparse.explain(csr_matrix(rows))
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        CalibratedOCC(NeighborTOCC()).fit(csr_matrix(rows))


def test_texts_are_taken_by_pipelines_that_begin_with_a_vectorizer():
    rng = np.random.default_rng(0)
    words = np.array(["red", "green", "blue", "wine", "glass", "sand"])
    texts = [" ".join(rng.choice(words, size=8)) for _ in range(60)]
    pipeline = make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0), NeighborTOCC())
    classifier = CalibratedOCC(pipeline).fit(texts)
    assert classifier.predict(texts[:5]).shape == (5,)
    assert classifier.predict(pd.Series(texts[:5])).tolist() == classifier.predict(texts[:5]).tolist()


@pytest.mark.parametrize("vectorizer", [TfidfVectorizer(), None], ids=["texts", "sparse"])
def test_foreign_texts_are_found_as_often_as_the_detector_can_at_that_rate(vectorizer):
    rng = np.random.default_rng(0)
    usual, other = rng.dirichlet(np.full(300, 0.1), size=2)

    def texts(n, p):
        rows = [" ".join(f"w{word}" for word in rng.choice(300, size=30, p=p)) for _ in range(n)]
        return rows if vectorizer else HashingVectorizer(n_features=2**10).transform(rows)

    known, new, foreign = texts(200, usual), texts(600, usual), texts(600, 0.7 * usual + 0.3 * other)
    detector = LocalOutlierFactor(novelty=True, metric="cosine")
    classifier = CalibratedOCC(make_pipeline(vectorizer, detector) if vectorizer else detector).fit(known)
    scores, others = classifier.score_samples(new), classifier.score_samples(foreign)
    best = np.mean(others < np.quantile(scores, 0.1))  # by a threshold that knows the new texts
    assert best > 0.5
    assert np.mean(classifier.predict(new) == -1) < 0.15
    assert np.mean(classifier.predict(foreign) == -1) > best - 0.1


def test_categories_that_are_unknown_when_held_out_are_warned_of():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=100), "maker": rng.zipf(1.3, size=100).astype(str)})
    encode = ColumnTransformer(
        [("c", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["maker"])], remainder="passthrough"
    )
    pipeline = make_pipeline(encode, NeighborTOCC())
    with pytest.warns(UnknownCategories, match="a category of 'maker' that no sample outside their fold has"):
        CalibratedOCC(pipeline).fit(table)
    CalibratedOCC(pipeline, calibration="split").fit(table)
    table["maker"] = rng.choice(["a", "b"], size=100)
    CalibratedOCC(pipeline).fit(table)
