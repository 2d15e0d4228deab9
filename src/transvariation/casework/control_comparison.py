"""Compare recovered fragments with control fragments, by the classifiers and reductions that can be chosen."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from transvariation.base import OneClassClassifier
from transvariation.baselines.ddsimca import DDSIMCA
from transvariation.calibrated import CalibratedOCC, DetectorDescription
from transvariation.calibration import CalibrationPlan, calibration_folds, take_rows
from transvariation.casework.background.likelihood_ratio import Performance
from transvariation.casework.checks import Check
from transvariation.casework.conclusions import ENOUGH, Calibration, Variables
from transvariation.casework.errors import CaseError
from transvariation.casework.foreign import Foreign
from transvariation.casework.fragments import Floats, Fragments
from transvariation.casework.reading import CaseTables
from transvariation.casework.settings import CaseSettings
from transvariation.casework.variables import preprocessing_for, spectral_axis
from transvariation.certificate import required_n
from transvariation.conformal import RejectsNothing, TooFewSamples, p_values
from transvariation.decomposition.minor_components import MinorComponents
from transvariation.density_tocc import DensityTOCC
from transvariation.explanation import univariate_p_values
from transvariation.feature_selection.varsel import VarSel
from transvariation.feature_selection.vip import VIPSelector
from transvariation.neighbor_tocc import NeighborTOCC
from transvariation.pam_tocc import PAMTOCC
from transvariation.preprocessing import make_preprocessing
from transvariation.preprocessing.steps import STEPS
from transvariation.projection_ensemble import ProjectionEnsemble
from transvariation.scalings import ScaledViews
from transvariation.subsample import subsample
from transvariation.tocc import TOCC

Ratios = dict[str, tuple[float, str]]  # log10 likelihood ratio and bound by system

GROUPING = 0.9  # the sensitivity at which recovered fragments are grouped
MIN_KNOWN = required_n(GROUPING)  # control fragments; by fewer, no groups are formed
MAX_GROUPED = 60  # recovered fragments; of more, no groups are formed
_MEASURED = 500  # control fragments whose pairs are measured, of more a random subsample
_FOLDS = 10  # of control fragments; two at a time are measured in a scaling learned from the others
GUARANTEE = (
    "Approximate: every control fragment was scored without itself; a further fragment of the control's source is not "
    "excluded about as often as the sensitivity states. This was measured on data of many kinds; it is not proved for "
    "all."
)


class Method(NamedTuple):
    """A classifier by name: how to make it from a seed, and what it does in plain words."""

    make: Callable[[int], OneClassClassifier]
    description: str


CLASSIFIERS: dict[str, Method] = {
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
    "ddsimca": Method(
        lambda seed: DDSIMCA("procrustes", calibration="cv"),
        "The control fragments are described by principal components, as many as Procrustes cross-validation supports. "
        "The score of a fragment is its full distance within and from the components (DD-SIMCA), with a limit that is "
        "calibrated by control fragments left out.",
    ),
}

REDUCERS: dict[str, tuple[Callable[[int, int], Any], str]] = {
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


def describe_comparison(settings: CaseSettings) -> str:
    """Describe in plain words what the classifier does."""
    words = CLASSIFIERS[settings.method].description
    if settings.reduce is not None:
        what = REDUCERS[settings.reduce][1]
        done = f"The variables were reduced to {settings.reduce_to}, {what}"
        words = f"{done}, in every fold of the calibration. {words}"
    if settings.steps is not None:
        steps = [STEPS[step.split(":")[0]].words for step in settings.steps.split(",")]
        learns = any(step.learns for _, step in make_preprocessing(settings.steps).steps)
        how = "learned again in every fold of the calibration" if learns else "spectrum by spectrum"
        words = f"The measurements were preprocessed ({settings.steps}), {how}: {', then '.join(steps)}. {words}"
    return words


class PreprocessedNeighborTOCC(CalibratedOCC):
    """Calibrate NeighborTOCC after preprocessing, from its own leave-one-out distances.

    Refitting steps that treat each sample by itself would change nothing. MSC is learned again in ten folds; the
    distances of the samples left out are still measured among all. Scores by classifiers that were fitted without a
    fold have longer tails, so that of few samples a single unusual one sets a low threshold: on the coffee spectra (15
    known, 18 splits) they reject fewer coffees from elsewhere.
    """

    def _make_description(self) -> "PreprocessedNeighbors":
        return PreprocessedNeighbors(self.estimator, self.response_method)


class PreprocessedNeighbors(DetectorDescription):
    """A pipeline that ends in NeighborTOCC; see :class:`PreprocessedNeighborTOCC`."""

    def held_out_scores(self, X: Any, plan: CalibrationPlan, n_jobs: int | None = None) -> tuple[Any, Any]:
        """Score each row by its distances to the others, after steps that were learned without it."""
        steps, neighbors = self.estimator_[:-1], self.estimator_[-1].description_
        if not any(step.learns for step in steps):
            return neighbors.held_out_scores(steps.transform(X), plan, n_jobs)
        found = []
        for train, test in calibration_folds("cv", len(X), plan.groups):
            rows = clone(steps).fit(take_rows(X, train)).transform(X)
            scored, scores = neighbors.unfitted().fit(rows, plan.groups).held_out_scores(rows, plan, n_jobs)
            chosen = np.isin(scored, test)
            found.append((scored[chosen], scores[chosen]))
        scored, scores = map(np.concatenate, zip(*found, strict=True))
        order = np.argsort(scored)
        return scored[order], scores[order]


def make_classifier(settings: CaseSettings, sensitivity: float, features: Sequence[str]) -> OneClassClassifier:
    """Make the classifier that the settings name; every fold of its calibration repeats preprocessing and reduction."""
    classifier = CLASSIFIERS[settings.method].make(settings.seed)
    steps: list[Any] = []
    if settings.method == "ddsimca" and spectral_axis(features) is None:
        steps.append(StandardScaler())  # variables of different units; the positions of a spectrum share one
    if settings.steps is not None:
        steps += [step for _, step in preprocessing_for(settings.steps, features).steps]
    if settings.reduce is not None:
        if settings.reduce_to > len(features):
            raise CaseError(f"reduce_to={settings.reduce_to} exceeds the {len(features)} variables", "reduce-to")
        steps.append(REDUCERS[settings.reduce][0](settings.reduce_to, settings.seed))
    if steps and settings.reduce is None and isinstance(classifier, NeighborTOCC):
        classifier = PreprocessedNeighborTOCC(make_pipeline(*steps, classifier), calibration="loo")
    elif steps:
        pipeline = make_pipeline(*steps, classifier.set_params(calibration="resubstitution"))
        classifier = CalibratedOCC(pipeline, calibration="cv")
    return classifier.set_params(sensitivity=sensitivity)


def fit_classifier(
    settings: CaseSettings, sensitivity: float, X: pd.DataFrame, groups: ArrayLike | None = None
) -> tuple[OneClassClassifier, dict[str, type[Warning]]]:
    """Fit the classifier of a case; return it and its warnings. A failure is raised in the terms of a case."""
    classifier = make_classifier(settings, sensitivity, list(map(str, X.columns)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's are about arrays, not about the case
        warnings.simplefilter("always", UserWarning)
        try:
            classifier.fit(X, groups=groups)
        except ValueError as error:
            raise CaseError(f"the method cannot be used with this control: {error}", "other-method") from error
    return classifier, {str(w.message): w.category for w in caught if issubclass(w.category, UserWarning)}


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


@dataclass
class Evidence:
    """Evidence on the recovered fragments from one basis.

    Attributes
    ----------
    calibration : Calibration
    p_values : ndarray of shape (q,)
    univariate : ndarray of shape (q, p)
        P-values of comparisons by one variable.
    variables : Variables
        Those that the classifier uses.
    tp : ndarray or None
    groups : list of (indices, joint p-value, ratios)
        Recovered fragments that cannot be distinguished from each other.
    ratios : list of dict
        Log10 likelihood ratio and bound by system, for each fragment.
    likelihood : dict
        Performance of each likelihood-ratio system.
    checks : list of Check
        Checks of the control fragments, and of all replicates, against the background.
    joint_p_value : callable
        The p-value of a group of recovered fragments, by their indices.
    foreign : Foreign or None
        The evidence on known foreign fragments.
    cautions : list of str
    """

    calibration: Calibration
    p_values: Floats
    univariate: Floats
    variables: Variables = field(default_factory=lambda: Variables(()))
    tp: Floats | None = None
    groups: list[tuple[list[int], float, Ratios]] = field(default_factory=list)
    ratios: list[Ratios] = field(default_factory=list)
    likelihood: dict[str, Performance] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    joint_p_value: Callable[[list[int]], float] = lambda group: 1.0
    cautions: list[str] = field(default_factory=list)
    foreign: Foreign | None = None


def compare_with_control(tables: CaseTables, settings: CaseSettings) -> Evidence:
    """Judge recovered fragments by a classifier of the control fragments, calibrated by them.

    Strata of a classifier that has several are pooled for a sensitivity of 0.9, so that p-values do not depend on the
    sensitivity of the case.
    """
    control, recovered, features = tables.control.means, tables.recovered.means, list(tables.features)
    if len(control) < 2:
        make_classifier(settings, GROUPING, features)  # wrong parameters are refused, used or not
        calibration = Calibration(
            1, 1.0, describe_comparison(settings), "None: one fragment does not show how fragments differ."
        )
        foreign = tables.foreign
        return Evidence(
            calibration,
            np.ones(len(recovered)),
            np.ones(recovered.shape),
            variables=Variables(tables.features),
            foreign=None if foreign is None else _foreign(foreign, np.ones(len(foreign.names)), np.ones(1)),
        )
    known, new = (pd.DataFrame(means, columns=features) for means in (control, recovered))
    try:
        classifier, warned = fit_classifier(settings, GROUPING, known)
    except CaseError as error:
        return _without_classifier(tables, settings, error)
    coverage = classifier.coverage_report()
    evidence = Evidence(
        Calibration(
            int(min(coverage.n_per_stratum)),
            min(coverage.smallest_per_stratum),
            describe_comparison(settings),
            GUARANTEE,
        ),
        classifier.p_values(new),
        univariate_p_values(*tables.shown),
        variables=Variables(*used_features(classifier, features)),
        tp=tp_of(classifier, new),
        joint_p_value=lambda group: classifier.combined_p_value(new.iloc[group]),
        # The result itself warns of these, at every sensitivity.
        cautions=[message for message, kind in warned.items() if not issubclass(kind, TooFewSamples | RejectsNothing)],
    )
    if tables.foreign is not None:
        others = pd.DataFrame(tables.foreign.means, columns=features)
        evidence.foreign = _foreign(tables.foreign, classifier.p_values(others), classifier.calibration_.ranks())
    if len(control) >= MIN_KNOWN and 2 <= len(recovered) <= MAX_GROUPED:
        for group in group_fragments(_control_pair_p_values(*tables.means_after(settings.steps))):
            evidence.groups.append((group, evidence.joint_p_value(group), {}))
    return evidence


def _foreign(fragments: Fragments, p_values: Floats, control_p_values: Floats) -> Foreign:
    """Collect the evidence on known foreign fragments, whose sources are their classes."""
    levels = tuple(source or "foreign" for source in fragments.sources)
    return Foreign(fragments.names, levels, tuple(p_values.tolist()), tuple(control_p_values.tolist()))


def _without_classifier(tables: CaseTables, settings: CaseSettings, error: CaseError) -> Evidence:
    """Leave few control fragments to the background if the method cannot be used with them; else raise the error."""
    if error.remedy != "other-method" or len(tables.control.names) >= ENOUGH:
        raise error
    if not tables.background:
        raise CaseError(error.problem, "background") from error
    return Evidence(
        Calibration(0, 1.0, describe_comparison(settings), "None: the method was not used."),
        np.ones(len(tables.recovered.names)),
        univariate_p_values(*tables.shown),
        variables=Variables(tables.features),
        cautions=[f"The conclusions rest on the background alone, because {error.problem}."],
    )


def _control_pair_p_values(control: Floats, recovered: Floats) -> Floats:
    """Compute p-values of pairs of recovered fragments, by the distances between control fragments.

    Pairs of control fragments are measured in scalings that were learned without them, as recovered ones are: in a
    scaling that was learned from few fragments, these lie too near to each other.
    """
    control = control[subsample(control, _MEASURED)]  # in an order that does not depend on that of the rows
    views, n = ScaledViews(["whitened"], control), len(control)
    folds = np.arange(n) % min(n, _FOLDS)
    own = np.zeros((n, n))
    for pair in combinations(np.unique(folds), 2):
        within = np.isin(folds, pair)
        part = ScaledViews(["whitened"], control[~within], views)
        own[np.ix_(within, within)] = _distances(part, control[within])
    known = squareform(own, checks=False)
    new = squareform(_distances(views, recovered), checks=False)
    return squareform(p_values(-known, -new, np.full(len(known), n / len(known))))


def _distances(views: ScaledViews, rows: Floats) -> Floats:
    return squareform(pdist(*views.transform(rows)))


def group_fragments(pair_p_values: Floats) -> list[list[int]]:
    """Find sets of two or more fragments of which every pair is indistinguishable (complete linkage)."""
    distances = squareform(1 - pair_p_values, checks=False)
    labels = fcluster(linkage(distances, "complete"), GROUPING - 1e-9, "distance")
    groups = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    return [group for group in groups if len(group) > 1]
