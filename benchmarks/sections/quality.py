"""AUC of one-class classifiers on twelve ADBench sets, learned from normal samples only."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.covariance import LedoitWolf
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from benchmarks.data import DATA
from benchmarks.table import Table
from transvariation import NeighborTOCC, baselines

Floats = NDArray[np.float64]

MAX_TRAIN, MAX_TEST, N_SPLITS = 1_500, 3_000, 5
# Left out of the table of variants. An early look at variants did include them; it changed no default.
FINAL = ("Pima", "thyroid", "vowels", "wine")
# The other models share a part of the orientation between components; they take minutes on 1,500 samples.
MIXTURE_MODELS = ("EII", "VII", "EEI", "VVI", "EEE", "VVV")


def datasets() -> Iterator[tuple[str, Floats, NDArray]]:
    if not (DATA / "adbench").is_dir():
        warnings.warn(f"no {DATA / 'adbench'} (see benchmarks/data.py): nothing to measure", stacklevel=2)
        return
    for path in sorted((DATA / "adbench").glob("*.npz")):
        with np.load(path) as file:
            yield path.stem.split("_", 1)[1], file["X"].astype(float), file["y"]


def split(X: Floats, y: NDArray, seed: int) -> tuple[Floats, Floats, NDArray]:
    """Half of the normal samples to learn from, the others and all anomalies to rank.

    Equal rows are on the same side, so that no classifier is rewarded for remembering a row.
    """
    rng = np.random.default_rng(seed)
    row = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    normal = np.flatnonzero(y == 0)
    distinct = rng.permutation(np.unique(row[normal]))
    sizes = np.bincount(row[normal], minlength=row.max() + 1)[distinct]
    known = distinct[np.cumsum(sizes) <= len(normal) / 2]
    train = rng.permutation(normal[np.isin(row[normal], known)])[:MAX_TRAIN]
    rest = np.flatnonzero(~np.isin(row, known))
    anomalies = rest[y[rest] == 1]
    test = np.append(rng.permutation(rest[y[rest] == 0])[: MAX_TEST - len(anomalies)], anomalies)
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), scaler.transform(X[test]), y[test]


def _sklearn(detector: Any) -> Callable[[Floats, Floats], Floats]:
    def scores(train: Floats, test: Floats) -> Floats:
        detector.fit(train)
        return np.asarray(getattr(detector, "score_samples", detector.decision_function)(test))

    return scores


def _pyod(name: str, *, in_batches: bool = False) -> Callable[[Floats, Floats], Floats]:
    """Score by a detector of PyOD; in batches of 1% of the training samples if scores depend on the other samples.

    ECOD and COPOD compare a sample with the training samples and with the rest of its batch. A large batch with many
    anomalies would hide them.
    """

    def scores(train: Floats, test: Floats) -> Floats:
        from importlib import import_module

        detector = getattr(import_module(f"pyod.models.{name.lower()}"), name)().fit(train)
        size = max(1, len(train) // 100) if in_batches else len(test)
        return -np.concatenate([detector.decision_function(test[i : i + size]) for i in range(0, len(test), size)])

    return scores


def _mahalanobis(train: Floats, test: Floats) -> Floats:
    return -np.asarray(LedoitWolf().fit(train).mahalanobis(test))


def _mixture(train: Floats, test: Floats) -> Floats:
    varying = np.ptp(train, axis=0) > 0
    mixture = baselines.MixtureOCC(models=MIXTURE_MODELS, random_state=0)
    return mixture.fit(train[:, varying]).score_samples(test[:, varying])


def _neighbor(k: int) -> Callable[[Floats, Floats], Floats]:
    return lambda train, test: -NearestNeighbors(n_neighbors=k).fit(train).kneighbors(test)[0].mean(axis=1)


METHODS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "NeighborTOCC": _sklearn(NeighborTOCC()),
    "nearest neighbor": _neighbor(1),
    "PyOD KNN": _pyod("KNN"),
    "LOF": _sklearn(LocalOutlierFactor(20, novelty=True)),
    "OneClassSVM": _sklearn(OneClassSVM()),
    "IsolationForest": _sklearn(IsolationForest(random_state=0)),
    "ECOD": _pyod("ECOD", in_batches=True),
    "COPOD": _pyod("COPOD", in_batches=True),
    "HBOS": _pyod("HBOS"),
    "Gaussian (Ledoit-Wolf)": _mahalanobis,
    "mixture": _mixture,
}
VARIANTS: dict[str, Any] = {
    "default": NeighborTOCC(),
    "one neighbor": NeighborTOCC(1),
    "1, 3 and 10 neighbors": NeighborTOCC((1, 3, 10)),
    "3 and 10 neighbors": NeighborTOCC((3, 10)),
    "with standard": NeighborTOCC(scalings=("standard", "range", "normal", "whitened")),
    "without range": NeighborTOCC(scalings=("normal", "whitened")),
    "without normal": NeighborTOCC(scalings=("range", "whitened")),
    "without whitened": NeighborTOCC(scalings=("range", "normal")),
    "1,000 reference samples": NeighborTOCC(max_reference=1_000),
    "300 reference samples": NeighborTOCC(max_reference=300),
}


def aucs(methods: dict[str, Callable[[Floats, Floats], Floats]], n_splits: int, names: Any = None) -> dict[str, dict]:
    """Mean AUC over the splits, method by set."""
    found: dict[str, dict[str, float]] = {method: {} for method in methods}
    for name, X, y in datasets():
        if names is not None and name not in names:
            continue
        splits = [split(X, y, seed) for seed in range(n_splits)]
        for method, scores in methods.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of single fits
                values = [roc_auc_score(label, -scores(train, test)) for train, test, label in splits]
            found[method][name] = float(np.mean(values))
    return found


def ranking(found: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    table = np.array([list(cells.values()) for cells in found.values()])
    ranks = np.apply_along_axis(rankdata, 0, -table).mean(axis=1)
    final = [name in FINAL for name in next(iter(found.values()))]
    rows = [
        {"method": method, "mean AUC": float(row.mean()), "mean rank": float(rank)}
        | ({"AUC, final four": float(row[final].mean())} if any(final) else {})
        for method, row, rank in zip(found, table, ranks, strict=True)
    ]
    return sorted(rows, key=lambda row: row["mean rank"])


def run(short: bool) -> Iterator[Table]:
    if not any(True for _ in datasets()):
        return
    quick = ("NeighborTOCC", "nearest neighbor", "PyOD KNN")
    methods = {name: job for name, job in METHODS.items() if not short or name in quick}
    names = ("wine", "glass") if short else None
    found = aucs(methods, 1 if short else N_SPLITS, names)
    rows = ranking(found)
    note = (
        f"Final four, left out when variants were compared: {', '.join(FINAL)}. "
        f"Mixture: up to nine components, models {', '.join(MIXTURE_MODELS)}."
    )
    yield Table("quality", "AUC on ADBench sets, learned from normal samples only", rows, note)
    cells = [{"method": method} | values for method, values in found.items()]
    yield Table("quality_sets", "AUC, mean over the splits", cells)
    others = [name for name, _, _ in datasets() if name not in FINAL and (names is None or name in names)]
    variants = {name: _sklearn(classifier) for name, classifier in VARIANTS.items()}
    yield Table(
        "quality_variants",
        "Variants of NeighborTOCC on the sets that are not kept for the final look",
        ranking(aucs(variants, 1 if short else 2, others)),
    )
