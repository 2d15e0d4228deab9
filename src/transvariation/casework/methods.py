"""The classifiers and reductions that a case can be judged by."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline, make_pipeline

from transvariation.base import OneClassClassifier
from transvariation.calibrated import CalibratedOCC
from transvariation.casework.errors import CaseError
from transvariation.decomposition.minor_components import MinorComponents
from transvariation.density_tocc import DensityTOCC
from transvariation.feature_selection.varsel import VarSel
from transvariation.feature_selection.vip import VIPSelector
from transvariation.neighbor_tocc import NeighborTOCC
from transvariation.pam_tocc import PAMTOCC
from transvariation.projection_ensemble import ProjectionEnsemble
from transvariation.tocc import TOCC

DEFAULT = "neighbor"


class Method(NamedTuple):
    """A classifier by name: how to make it from a seed, and what it does in plain words."""

    make: Callable[[int], OneClassClassifier]
    description: str


METHODS: dict[str, Method] = {
    "neighbor": Method(
        lambda seed: NeighborTOCC(),
        "A fragment is compared with the control fragments nearest to it. Its transvariation probability (tp) is the "
        "share of control fragments that are at least as far from their own nearest ones, multiplied over several "
        "scalings of the variables.",
    ),
    "tocc": Method(
        lambda seed: TOCC(calibration="loo"),
        "The transvariation probability (tp) of a fragment is the share of control fragments that lie farther from the "
        "centre, in its direction and in every variable at once.",
    ),
    "pam": Method(
        lambda seed: PAMTOCC(calibration="loo"),
        "The control fragments are grouped around typical ones. The transvariation probability (tp) of a fragment is "
        "the share of the closest group that lies farther from its centre, in every variable at once.",
    ),
    "mixture": Method(
        lambda seed: DensityTOCC(density="mixture", calibration="cv"),
        "The control fragments are described by a mixture of normal distributions. The transvariation probability (tp) "
        "of a fragment is the share of the mixture that lies farther from the centre, in its direction.",
    ),
    "projections": Method(
        lambda seed: ProjectionEnsemble(TOCC(), random_state=seed, calibration="cv"),
        "The control fragments are projected onto many planes in which they lie close together; the score of a "
        "fragment is averaged over the planes.",
    ),
}

REDUCTIONS: dict[str, tuple[Callable[[int], Any], str]] = {
    "minor": (lambda seed: MinorComponents(2), "the two combinations of variables in which the control varies least"),
    "vip": (
        lambda seed: VIPSelector(2, kappa=0.5, random_state=seed),
        "the two most important variables in projection",
    ),
    "varsel": (lambda seed: VarSel(2), "the two variables that a mixture model selects"),
}


def make_classifier(method: str, reduce: str | None, sensitivity: float, seed: int) -> tuple[OneClassClassifier, str]:
    """Make the classifier with these names, and its description."""
    if method not in METHODS:
        raise CaseError(f"method={method!r} is unknown; choose one of {', '.join(METHODS)}")
    classifier, description = METHODS[method].make(seed), METHODS[method].description
    if reduce is not None:
        if reduce not in REDUCTIONS:
            raise CaseError(f"reduce={reduce!r} is unknown; choose one of {', '.join(REDUCTIONS)}")
        step, what = REDUCTIONS[reduce]
        description = f"The variables were first reduced to {what}, in every fold of the calibration. {description}"
        pipeline = make_pipeline(step(seed), classifier.set_params(calibration="resubstitution"))
        classifier = CalibratedOCC(pipeline, calibration="cv")
    return classifier.set_params(sensitivity=sensitivity), description


def fit_classifier(
    classifier: OneClassClassifier, X: pd.DataFrame, groups: ArrayLike | None = None
) -> list[tuple[type[Warning], str]]:
    """Fit, and return what the classifier warned of; a failure is raised in the terms of a case."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's are about arrays, not about the case
        warnings.simplefilter("always", UserWarning)
        try:
            classifier.fit(X, groups=groups)
        except ValueError as error:
            raise CaseError(f"the method cannot be used with this control: {error}", "other-method") from error
    found = {str(w.message): w.category for w in caught if issubclass(w.category, UserWarning)}
    return [(category, message) for message, category in found.items()]


def used_features(classifier: Any, features: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Return the variables that a fitted classifier uses, those it does not, and how many combinations it forms."""
    pipeline = classifier.estimator_ if isinstance(classifier, CalibratedOCC) else classifier
    step = pipeline[0] if isinstance(pipeline, Pipeline) else None
    if isinstance(step, SelectorMixin):
        chosen, names = step.get_support(), np.asarray(features, dtype=object)
        return tuple(names[chosen]), tuple(names[~chosen]), 0
    return tuple(features), (), len(step.components_) if isinstance(step, MinorComponents) else 0


def tp_of(classifier: Any, X: pd.DataFrame) -> np.ndarray | None:
    """Compute the classifier's own tp, after a reduction that in the reduced variables; None if it has none."""
    pipeline = classifier.estimator_ if isinstance(classifier, CalibratedOCC) else None
    if isinstance(pipeline, Pipeline):
        classifier, X = pipeline[-1], pipeline[:-1].transform(X)
    return classifier.transvariation_probability(X) if hasattr(classifier, "transvariation_probability") else None
