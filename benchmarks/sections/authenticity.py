"""Food authenticity and other wide tables: every classifier calibrated alike, on fresh samples.

Further data are read from the folder ``authenticity`` of the data folder, if it exists: CSV files with the class in the
column ``class`` and one column per feature. Files named ``*_spectra.csv`` get SNV and a first derivative.
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import KFold
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from benchmarks import data
from benchmarks.table import Table
from transvariation import NeighborTOCC, auc, baselines
from transvariation.conformal import conformal_threshold
from transvariation.preprocessing import make_preprocessing

SENSITIVITY = 0.9
MAX_TRAIN = 300
MIN_SAMPLES = 20  # of a class that serves as a target
N_SPLITS = 20  # five leave the first two classifiers within the error of the mean


class Mahalanobis(BaseEstimator):
    """Mahalanobis distance with the Ledoit-Wolf covariance."""

    def fit(self, X, y=None):
        self.covariance_ = LedoitWolf().fit(X)
        return self

    def score_samples(self, X):
        return -self.covariance_.mahalanobis(X)


class KNN(BaseEstimator):
    """Mean distance to the five nearest neighbors."""

    def fit(self, X, y=None):
        self.neighbors_ = NearestNeighbors(n_neighbors=min(5, len(X))).fit(X)
        return self

    def score_samples(self, X):
        return -self.neighbors_.kneighbors(X)[0].mean(axis=1)


CLASSIFIERS = {
    "NeighborTOCC": NeighborTOCC(calibration="resubstitution"),  # calibrated below, like the others
    "DD-SIMCA": baselines.DDSIMCA(),
    "Mahalanobis, Ledoit-Wolf": Mahalanobis(),
    "OneClassSVM": OneClassSVM(nu=0.1),
    "KNN": KNN(),
    "LOF": LocalOutlierFactor(n_neighbors=10, novelty=True),
}
PUBLISHED = "DD-SIMCA, published limits"


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray, list, Any]]:
    """Load spectra or features, labels, target classes and preprocessing of each data set."""
    from chemotools.datasets import load_coffee

    spectra, origin = load_coffee()
    wine, digits, cancer = load_wine(), load_digits(), load_breast_cancer()
    origin = origin["labels"].to_numpy()
    found = {
        "coffee": (spectra.to_numpy(), origin, sorted(set(origin)), make_preprocessing("snv,sg1")),
        "wine": (wine.data, wine.target, [0, 1, 2], StandardScaler()),
        "digits": (digits.data, digits.target, list(range(10)), StandardScaler()),
        "breast cancer": (cancer.data, cancer.target, [1], StandardScaler()),  # 1 = benign
    }
    for path in sorted((data.DATA / "authenticity").glob("*.csv")):
        table = pd.read_csv(path)
        kind = table.pop("class").to_numpy()
        targets = [name for name, n in zip(*np.unique(kind, return_counts=True), strict=True) if n >= MIN_SAMPLES]
        preprocessing = make_preprocessing("snv,sg1") if path.stem.endswith("_spectra") else StandardScaler()
        found[path.stem] = table.to_numpy(dtype=float), kind, targets, preprocessing
    return found


def score(fitted: Any, X: np.ndarray) -> np.ndarray:
    # The raw scores of support vector machines depend on the sample size; their margins are comparable across folds.
    svm = isinstance(fitted[-1], OneClassSVM)
    return fitted.decision_function(X) if svm else fitted.score_samples(X)


def evaluate(pipeline: Any, train: np.ndarray, fresh: np.ndarray, foreign: np.ndarray) -> dict[str, float]:
    """Calibrate by ten folds; measure on fresh target samples and on the other classes."""
    started = time.process_time()
    held_out = np.empty(len(train))
    for kept, left in KFold(10, shuffle=True, random_state=0).split(train):
        held_out[left] = score(clone(pipeline).fit(train[kept]), train[left])
    threshold = conformal_threshold(held_out, SENSITIVITY, held_out=True)
    fitted = clone(pipeline).fit(train)
    own, other = score(fitted, fresh), score(fitted, foreign)
    seconds = time.process_time() - started
    rates = {"sensitivity": np.mean(own >= threshold), "specificity": np.mean(other < threshold)}
    return {key: float(value) for key, value in rates.items()} | {"AUC": auc(own, other), "CPU s": seconds}


def published(pipeline: Any, train: np.ndarray, fresh: np.ndarray, foreign: np.ndarray) -> dict[str, float]:
    """Measure DD-SIMCA with its own limits."""
    started = time.process_time()
    fitted = clone(pipeline).fit(train)
    rates = {
        "sensitivity": float(np.mean(fitted.predict(fresh) == 1)),
        "specificity": float(np.mean(fitted.predict(foreign) == -1)),
        "AUC": auc(score(fitted, fresh), score(fitted, foreign)),
    }
    return rates | {"CPU s": time.process_time() - started}


def study(classifiers: dict[str, Any], n_splits: int, names: tuple[str, ...] | None = None) -> list[dict[str, Any]]:
    """Return one row per data set and classifier: means over target classes and random splits."""
    rows = []
    for source, (X, y, targets, preprocessing) in data_sets().items():
        if names and source not in names:
            continue
        found: dict[str, list[dict[str, float]]] = {}
        for target in targets:
            own = X[y == target]
            for seed in range(n_splits):
                order = np.random.default_rng(seed).permutation(len(own))
                n_train = min(3 * len(own) // 4, MAX_TRAIN)
                split = own[order[:n_train]], own[order[n_train:]], X[y != target]
                for name, classifier in classifiers.items():
                    pipeline = make_pipeline(preprocessing, classifier)
                    found.setdefault(name, []).append(evaluate(pipeline, *split))
                    if name == "DD-SIMCA":
                        found.setdefault(PUBLISHED, []).append(published(pipeline, *split))
        rows += [
            {"data": source, "classifier": name}
            | {key: float(np.mean([r[key] for r in results])) for key in results[0]}
            for name, results in found.items()
        ]
    return rows


def tables(rows: list[dict[str, Any]]) -> Iterator[Table]:
    columns = ("sensitivity", "specificity", "AUC", "CPU s")
    means = []
    for name in dict.fromkeys(row["classifier"] for row in rows):
        own = [row for row in rows if row["classifier"] == name]
        means.append({"classifier": name} | {key: float(np.mean([row[key] for row in own])) for key in columns})
    means.sort(key=lambda row: -row["AUC"])
    note = "Sensitivity and specificity of fresh samples at a nominal sensitivity of 0.9."
    yield Table("authenticity", "Wide tables: mean over data sets", means, note)
    yield Table("authenticity_data", "Wide tables: each data set, mean over target classes and splits", rows)


def run(short: bool) -> Iterator[Table]:
    yield from tables(study(CLASSIFIERS, 1, ("coffee", "wine")) if short else study(CLASSIFIERS, N_SPLITS))
