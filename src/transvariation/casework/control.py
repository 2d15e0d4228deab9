"""Compare recovered fragments with control fragments, by the classifiers and reductions that can be chosen."""

import warnings
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist, squareform
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from transvariation._typing import Floats, Indices, Rows
from transvariation.base import OneClassClassifier
from transvariation.baselines.ddsimca import DDSIMCA
from transvariation.calibrated import CalibratedOCC, DetectorDescription
from transvariation.calibration import CalibrationPlan, calibration_folds, check_groups, take_rows
from transvariation.casework.decision import MIN_CONTROL_TO_CALIBRATE_ALONE
from transvariation.casework.errors import CaseError, Caution, MethodError
from transvariation.casework.evidence import (
    GROUPING_SENSITIVITY,
    MAX_FRAGMENTS_GROUPED,
    Basis,
    ControlEvidence,
    Distances,
    Variables,
    group_fragments,
)
from transvariation.casework.foreign import Foreign
from transvariation.casework.fragments import Fragments
from transvariation.casework.reading import CaseTables
from transvariation.casework.settings import CaseSettings, groups_for
from transvariation.casework.variables import preprocessing_for, spectral_axis
from transvariation.certificate import required_n
from transvariation.conformal import p_values
from transvariation.decomposition.minor_components import MinorComponents
from transvariation.density_tocc import DensityTOCC
from transvariation.exceptions import DuplicatedSamples, RejectsNothing, TooFewSamples
from transvariation.explanation import corrected_p_values
from transvariation.feature_selection.varsel import VarSel
from transvariation.feature_selection.vip import VIPSelector
from transvariation.neighbor_tocc import NeighborTOCC
from transvariation.ordered import warn_if_ordered
from transvariation.pam_tocc import PAMTOCC
from transvariation.projection_ensemble import ProjectionEnsemble
from transvariation.scalings import ScaledViews
from transvariation.subsample import subsample
from transvariation.tocc import TOCC

MIN_CONTROL_TO_GROUP = required_n(GROUPING_SENSITIVITY)  # control fragments; by fewer, no groups are formed
_MAX_PAIRED = 500  # control fragments whose pairs are measured, of more a random subsample
_N_FOLDS = 10  # of control fragments; two at a time are measured in a scaling learned from the others
# How the methods and reductions that `settings` lists are made, from a seed and the number of variables to keep.
CLASSIFIERS: dict[str, Callable[[int], OneClassClassifier]] = {
    "neighbor": lambda seed: NeighborTOCC(),
    "tocc": lambda seed: TOCC(calibration="loo"),
    "pam": lambda seed: PAMTOCC(calibration="loo"),
    "mixture": lambda seed: DensityTOCC(density="mixture", calibration="cv"),
    "projections": lambda seed: ProjectionEnsemble(TOCC(), random_state=seed, calibration="cv"),
    "ddsimca": lambda seed: DDSIMCA("procrustes", calibration="cv"),
}
REDUCERS: dict[str, Callable[[int, int], BaseEstimator]] = {
    "minor": lambda n, seed: MinorComponents(n),
    "vip": lambda n, seed: VIPSelector(n, kappa=0.5, random_state=seed),
    "varsel": lambda n, seed: VarSel(n),
}


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

    def held_out_scores(self, X: Rows, plan: CalibrationPlan, n_jobs: int | None = None) -> tuple[Indices, Floats]:
        """Score each row by its distances to the others, after steps that were learned without it."""
        steps, neighbors = self.estimator_[:-1], self.estimator_[-1].description_
        if not any(step.learns for step in steps):
            return neighbors.held_out_scores(steps.transform(X), plan, n_jobs)
        found = []
        for train, test in calibration_folds("cv", X, plan.groups):
            rows = clone(steps).fit(take_rows(X, train)).transform(X)
            scored, scores = neighbors.unfitted().fit(rows, plan.groups).held_out_scores(rows, plan, n_jobs)
            chosen = np.isin(scored, test)
            found.append((scored[chosen], scores[chosen]))
        scored, scores = map(np.concatenate, zip(*found, strict=True))
        order = np.argsort(scored)
        return scored[order], scores[order]


def make_classifier(settings: CaseSettings, sensitivity: float, features: Sequence[str]) -> OneClassClassifier:
    """Make the classifier that the settings name; every fold of its calibration repeats preprocessing and reduction."""
    classifier = CLASSIFIERS[settings.method](settings.seed)
    steps: list[BaseEstimator] = []
    if settings.method == "ddsimca" and spectral_axis(features) is None:
        steps.append(StandardScaler())  # variables of different units; the positions of a spectrum share one
    if settings.steps is not None:
        steps += [step for _, step in preprocessing_for(settings.steps, features).steps]
    if settings.reduce is not None:
        if settings.reduce_to > len(features):
            raise CaseError("large-reduction", remedy="reduce-to", reduce_to=settings.reduce_to, n=len(features))
        steps.append(REDUCERS[settings.reduce](settings.reduce_to, settings.seed))
    if steps and settings.reduce is None and isinstance(classifier, NeighborTOCC):
        classifier = PreprocessedNeighborTOCC(make_pipeline(*steps, classifier), calibration="loo")
    elif steps:
        pipeline = make_pipeline(*steps, classifier.set_params(calibration="resubstitution"))
        classifier = CalibratedOCC(pipeline, calibration="cv")
    return classifier.set_params(sensitivity=sensitivity)


def fit_classifier(
    settings: CaseSettings, sensitivity: float, X: pd.DataFrame, groups: ArrayLike | None = None
) -> tuple[OneClassClassifier, dict[str, type[Warning]]]:
    """Fit the classifier of a case; return it and its warnings. A failure is raised in the terms of a case.

    The rows are put into an order that depends on their values only, so that not even rounding errors depend on theirs.
    """
    classifier = make_classifier(settings, sensitivity, list(map(str, X.columns)))
    order, numbers = subsample(X.to_numpy(dtype=float), len(X)), check_groups(groups, len(X))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's are about arrays, not about the case
        warnings.simplefilter("always", UserWarning)
        try:
            classifier.fit(X.iloc[order], groups=None if numbers is None else numbers[order])
            scored = order[classifier.calibration_.training_rows]
            as_given = np.argsort(scored)
            warn_if_ordered(
                classifier.calibration_.scores[as_given], None if numbers is None else numbers[scored][as_given]
            )
        except ValueError as error:
            raise MethodError("method", remedy="other-method", reason=str(error)) from error
    return classifier, {str(w.message): w.category for w in caught if issubclass(w.category, UserWarning)}


def used_features(classifier: BaseEstimator, features: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Return the variables that a fitted classifier uses, those it does not, and how many combinations it forms."""
    steps, _ = _parts_of(classifier)
    step = steps[-1] if steps else None  # a reduction comes last
    if isinstance(step, SelectorMixin):
        chosen, names = step.get_support(), np.asarray(features, dtype=object)
        return tuple(names[chosen]), tuple(names[~chosen]), 0
    return tuple(features), (), len(step.components_) if isinstance(step, MinorComponents) else 0


def tp_of(classifier: BaseEstimator, X: pd.DataFrame) -> np.ndarray | None:
    """Compute the classifier's own tp, after a reduction that in the reduced variables; None if it has none."""
    steps, model = _parts_of(classifier)
    if not hasattr(model, "transvariation_probability"):
        return None
    return model.transvariation_probability(X if steps is None else steps.transform(X))


def _parts_of(classifier: BaseEstimator) -> tuple[Pipeline | None, BaseEstimator]:
    """Return the fitted steps before a classifier, if there are any, and the classifier that they end in."""
    pipeline = classifier.estimator_ if isinstance(classifier, CalibratedOCC) else classifier
    return (pipeline[:-1], pipeline[-1]) if isinstance(pipeline, Pipeline) else (None, classifier)


def compare_with_control(
    tables: CaseTables, settings: CaseSettings, groups: Sequence[tuple[int, ...]] | None = None
) -> ControlEvidence:
    """Judge recovered fragments by a classifier of the control fragments, calibrated by them.

    Strata of a classifier that has several are pooled for a sensitivity of 0.9, so that p-values do not depend on the
    sensitivity of the case.

    Parameters
    ----------
    tables : CaseTables
    settings : CaseSettings
    groups : sequence of tuple of int, optional
        Groups of recovered fragments that a background formed; by default they are formed here.
    """
    control, recovered, features = tables.control.means, tables.recovered.means, list(tables.features)
    if len(control) < 2:
        make_classifier(settings, GROUPING_SENSITIVITY, features)  # wrong parameters are refused, used or not
        return _no_evidence(tables, 1, univariate=None)
    known, new = (pd.DataFrame(means, columns=features) for means in (control, recovered))
    univariate = corrected_p_values(*tables.shown)
    try:
        classifier, warned = fit_classifier(settings, GROUPING_SENSITIVITY, known)
    except MethodError as error:
        if len(control) >= MIN_CONTROL_TO_CALIBRATE_ALONE:
            raise
        if not tables.background:
            raise CaseError(error.code, remedy="background", **error.values) from error
        return _no_evidence(tables, 0, univariate, Caution.of("background-alone", **error.values))
    if groups is None:
        groups = ()
        grouped = groups_for(settings, tables.axis is not None)
        if grouped and len(control) >= MIN_CONTROL_TO_GROUP and 2 <= len(recovered) <= MAX_FRAGMENTS_GROUPED:
            groups = group_fragments(_control_pair_p_values(*tables.means_after(settings.steps)))
    foreign, coverage = tables.foreign, classifier.coverage_report()
    return ControlEvidence(
        basis=Basis(int(min(coverage.n_per_stratum)), min(coverage.smallest_per_stratum)),
        p_values=classifier.p_values(new),
        univariate=univariate,
        groups=tuple(groups),
        group_p_values=tuple(classifier.combined_p_value(new.iloc[list(group)]) for group in groups),
        # The result itself warns of too few samples, at every sensitivity, and of copies.
        cautions=tuple(
            Caution.of("classifier", message=message)
            for message, kind in warned.items()
            if not issubclass(kind, TooFewSamples | RejectsNothing | DuplicatedSamples)
        ),
        variables=Variables(*used_features(classifier, features)),
        tp=tp_of(classifier, new),
        foreign=None
        if foreign is None
        else _foreign(
            foreign, classifier.p_values(pd.DataFrame(foreign.means, columns=features)), classifier.calibration_.ranks()
        ),
        distances=_distances_of(classifier, control, recovered, () if foreign is None else foreign.means),
    )


def _distances_of(classifier: BaseEstimator, *rows: Floats | tuple[()]) -> Distances | None:
    """Compute the distances of control, recovered and foreign fragments by DD-SIMCA; None by another method."""
    steps, model = _parts_of(classifier)
    if not isinstance(model, DDSIMCA):
        return None
    features, freedom = classifier.feature_names_in_, model.degrees_of_freedom_
    parts = []
    for part in rows:
        frame = pd.DataFrame(part, columns=features)
        X = steps.transform(frame) if steps is not None and len(frame) else frame
        parts.append(tuple(map(tuple, np.round(model.distances(X), 6).tolist())) if len(frame) else ())
    control, recovered, foreign = parts
    held_out = np.round(-classifier.calibration_.scores * freedom.sum(), 9)
    return Distances(
        n_components=int(model.n_components_),
        degrees_of_freedom=tuple(freedom.tolist()),
        held_out=tuple(held_out.tolist()),
        control=control,
        recovered=recovered,
        foreign=foreign,
    )


def _foreign(fragments: Fragments, p_values: Floats, control_p_values: Floats) -> Foreign:
    """Collect the evidence on known foreign fragments, whose sources are their classes."""
    levels = tuple(source or "foreign" for source in fragments.sources)
    return Foreign(fragments.names, levels, tuple(p_values.tolist()), tuple(control_p_values.tolist()))


def _no_evidence(tables: CaseTables, n: int, univariate: Floats | None, *cautions: Caution) -> ControlEvidence:
    """Return the record of a control that is no evidence: of one fragment, or too few for the method."""
    return ControlEvidence(
        basis=Basis(n, 1.0),
        p_values=np.full(len(tables.recovered.names), np.nan),
        univariate=univariate,
        cautions=cautions,
        variables=Variables(tables.features),
    )


def _control_pair_p_values(control: Floats, recovered: Floats) -> Floats:
    """Compute p-values of pairs of recovered fragments, by the distances between control fragments.

    Pairs of control fragments are measured in scalings that were learned without them, as recovered ones are: in a
    scaling that was learned from few fragments, these lie too near to each other.
    """
    control = control[subsample(control, _MAX_PAIRED)]  # in an order that does not depend on that of the rows
    views, n = ScaledViews(["whitened"], control), len(control)
    folds = np.arange(n) % min(n, _N_FOLDS)
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
