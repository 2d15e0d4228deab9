"""NeighborTOCC on features in one unit, pixels and embeddings: the defaults, the raw scaling, and nearest neighbors."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA

from benchmarks.table import Table
from transvariation import NeighborTOCC, auc

SENSITIVITY = 0.95
N_SPLITS = 10
CLASSIFIERS = {
    "defaults": NeighborTOCC(sensitivity=SENSITIVITY),
    "raw and whitened": NeighborTOCC(scalings=("raw", "whitened"), sensitivity=SENSITIVITY),
    "mean of 5 neighbors": NeighborTOCC(5, scalings=("raw",), sensitivity=SENSITIVITY),
}


def data_sets() -> Iterator[tuple[str, NDArray, NDArray, tuple[int, ...]]]:
    """Yield name, features, labels and target classes."""
    (digits, digit), (cells, benign) = (load(return_X_y=True) for load in (load_digits, load_breast_cancer))
    layer = np.random.default_rng(0).normal(size=(digits.shape[1], 128))
    yield "digits, pixels", digits, digit, tuple(range(10))
    yield "digits, 20 principal components", PCA(20, random_state=0).fit_transform(digits), digit, tuple(range(10))
    yield "digits, 128 random features (ReLU)", np.maximum(digits @ layer, 0), digit, tuple(range(10))
    yield "breast cancer", cells, benign, (1,)


def run(short: bool) -> Iterator[Table]:
    rows: list[dict[str, Any]] = []
    for name, X, y, targets in data_sets():
        found: dict[str, list[tuple[float, float, float]]] = {method: [] for method in CLASSIFIERS}
        for target in targets[:1] if short else targets:
            for seed in range(1 if short else N_SPLITS):
                own = np.random.default_rng(seed).permutation(np.flatnonzero(y == target))
                known, fresh, foreign = X[own[: len(own) // 2]], X[own[len(own) // 2 :]], X[y != target]
                for method, classifier in CLASSIFIERS.items():
                    classifier.fit(known)
                    new, other = classifier.score_samples(fresh), classifier.score_samples(foreign)
                    rates = np.mean(new < classifier.offset_), np.mean(other < classifier.offset_)
                    found[method].append((auc(new, other), *map(float, rates)))
        for method, results in found.items():
            means = (round(float(value), 3) for value in np.mean(results, axis=0))
            rows.append(
                {"data": name, "scalings": method} | dict(zip(("AUC", "error rate", "power"), means, strict=True))
            )
    note = (
        f"Half of a class is known; nominal error rate {1 - SENSITIVITY:.2f}; means over classes and {N_SPLITS} splits."
    )
    yield Table("one_unit", "Features in one unit", rows, note)
