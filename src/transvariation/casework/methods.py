"""The classifiers and reductions that a case can be judged by."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline, make_pipeline

from transvariation.base import OneClassClassifier
from transvariation.calibrated import CalibratedOCC
from transvariation.calibration import Calibration, CalibrationPlan
from transvariation.casework.errors import CaseError
from transvariation.casework.variables import preprocessing_for
from transvariation.decomposition.minor_components import MinorComponents
from transvariation.density_tocc import DensityTOCC
from transvariation.feature_selection.varsel import VarSel
from transvariation.feature_selection.vip import VIPSelector
from transvariation.neighbor_tocc import NeighborTOCC
from transvariation.pam_tocc import PAMTOCC
from transvariation.projection_ensemble import ProjectionEnsemble
from transvariation.tocc import TOCC

DEFAULT = "neighbor"
PREPROCESSING = {
    "snv": "each spectrum was centred and divided by its standard deviation (SNV)",
    "msc": "the offset and slope of each spectrum against the mean spectrum were removed (MSC)",
    "sg": "spectra were smoothed (Savitzky-Golay)",
    "sg0": "spectra were smoothed (Savitzky-Golay)",
    "sg1": "first derivatives were taken (Savitzky-Golay)",
    "sg2": "second derivatives were taken (Savitzky-Golay)",
}


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

REDUCTIONS: dict[str, tuple[Callable[[int, int], Any], str]] = {
    "minor": (
        lambda n, seed: MinorComponents(n),
        "the combinations of variables in which the control varies least",
    ),
    "vip": (
        lambda n, seed: VIPSelector(n, kappa=0.5, random_state=seed),
        "the most important variables in projection",
    ),
    "varsel": (lambda n, seed: VarSel(n), "the variables that a mixture model selects"),
}


@dataclass(frozen=True)
class Recipe:
    """How a classifier of control fragments is made.

    Attributes
    ----------
    method : str
        A key of `METHODS`.
    reduce : str or None
        A key of `REDUCTIONS`.
    reduce_to : int
        The number of variables or combinations that the reduction leaves.
    preprocess : str or None
        Steps of :func:`transvariation.preprocessing.make_preprocessing`.
    seed : int
    """

    method: str = DEFAULT
    reduce: str | None = None
    reduce_to: int = 2
    preprocess: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise CaseError(f"method={self.method!r} is unknown; choose one of {', '.join(METHODS)}")
        if self.reduce is not None and self.reduce not in REDUCTIONS:
            raise CaseError(f"reduce={self.reduce!r} is unknown; choose one of {', '.join(REDUCTIONS)}")
        if not isinstance(self.reduce_to, int | np.integer) or isinstance(self.reduce_to, bool) or self.reduce_to < 1:
            raise CaseError(f"reduce_to={self.reduce_to!r} must be a whole number, at least 1", "reduce-to")

    @property
    def learns(self) -> bool:
        """Whether the preprocessing learns from other spectra, as MSC does, or treats each one by itself."""
        return "msc" in (self.preprocess or "").split(",")

    @property
    def description(self) -> str:
        """What the classifier does, in plain words."""
        words = METHODS[self.method].description
        if self.reduce is not None:
            what = REDUCTIONS[self.reduce][1]
            done = f"The variables were reduced to {self.reduce_to}, {what}"
            words = f"{done}, in every fold of the calibration. {words}"
        if self.preprocess is not None:
            steps = [PREPROCESSING[step.split(":")[0]] for step in self.preprocess.split(",")]
            how = "learned again in every fold of the calibration" if self.learns else "spectrum by spectrum"
            words = f"The measurements were preprocessed ({self.preprocess}), {how}: {', then '.join(steps)}. {words}"
        return words


class PreprocessedNeighborTOCC(CalibratedOCC):
    """Calibrate NeighborTOCC after steps that treat each sample by itself, from its own leave-one-out distances.

    Refitting such steps in every fold would change nothing, so that no further fits are needed. On the coffee spectra
    (15 known, 18 splits) this rejects all coffees from elsewhere, ten refits 94%.
    """

    def _calibrate(self, X: Any, plan: CalibrationPlan) -> Calibration:
        return self.estimator_[-1]._calibrate(self.estimator_[:-1].transform(X), plan)


def make_classifier(recipe: Recipe, sensitivity: float, n_features: int) -> OneClassClassifier:
    """Make the classifier of a recipe; every fold of its calibration repeats preprocessing and reduction."""
    classifier = METHODS[recipe.method].make(recipe.seed)
    steps = []
    if recipe.preprocess is not None:
        steps += [step for _, step in preprocessing_for(recipe.preprocess, n_features).steps]
    if recipe.reduce is not None:
        if recipe.reduce_to > n_features:
            raise CaseError(f"reduce_to={recipe.reduce_to} exceeds the {n_features} variables", "reduce-to")
        steps.append(REDUCTIONS[recipe.reduce][0](recipe.reduce_to, recipe.seed))
    if steps and recipe.reduce is None and not recipe.learns and isinstance(classifier, NeighborTOCC):
        classifier = PreprocessedNeighborTOCC(make_pipeline(*steps, classifier), calibration="loo")
    elif steps:
        pipeline = make_pipeline(*steps, classifier.set_params(calibration="resubstitution"))
        classifier = CalibratedOCC(pipeline, calibration="cv")
    return classifier.set_params(sensitivity=sensitivity)


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
    step = pipeline[-2] if isinstance(pipeline, Pipeline) and len(pipeline) > 1 else None  # a reduction comes last
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
