"""A column at an extreme scale is handled or refused by its number, never by a linear-algebra message."""

import numpy as np
import pytest

from transvariation import (
    PAMTOCC,
    TOCC,
    DensityTOCC,
    MinorComponents,
    NeighborTOCC,
    ProjectionEnsemble,
    SparseMinorComponents,
    VarSel,
    VIPSelector,
    baselines,
)

SCALE_FREE = [TOCC(), PAMTOCC(2), NeighborTOCC()]
CHECKED = [
    DensityTOCC(),
    DensityTOCC(density="gaussian"),
    DensityTOCC(density="kde"),
    ProjectionEnsemble(TOCC(), 11, 5, random_state=0),
    MinorComponents(),
    SparseMinorComponents(),
    VIPSelector(n_projections=11, n_candidates=5, random_state=0),
    VarSel(1),
    baselines.GaussianOCC(),
    baselines.KDEOCC(),
    baselines.KMeansOCC(n_clusters=2, random_state=0),
    baselines.SOMOCC(n_epochs=2, random_state=0),
    baselines.SVDD(),
    baselines.DDSIMCA(),
    baselines.MixtureOCC(n_components=2),
]


def _name(estimator):
    return f"{type(estimator).__name__}-{getattr(estimator, 'density', '')}".strip("-")


@pytest.fixture(params=[1e-300, 1e160, 1e300])
def X(request):
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:, 1] *= request.param
    return X


@pytest.mark.parametrize("classifier", SCALE_FREE, ids=_name)
def test_scale_free_classifiers_take_any_scale(classifier, X):
    assert (classifier.fit(X).predict(X) == 1).mean() > 0.8


@pytest.mark.parametrize("estimator", CHECKED, ids=_name)
def test_other_estimators_name_the_column_and_the_divisor(estimator, X):
    with pytest.raises(ValueError, match=r"column 1 ranges from .*; divide it by 1e[+-]\d+ first"):
        estimator.fit(X)
