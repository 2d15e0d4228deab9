"""ProjectionEnsemble: one classifier in each of many compact random projections; the majority decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils.metaestimators import available_if

from transvariation._typing import Fields, Floats, Indices, RandomState
from transvariation.acceleration import resolve_engine
from transvariation.base import OneClassClassifier
from transvariation.calibrated import CalibratedOCC
from transvariation.calibration import CalibrationPlan
from transvariation.decomposition.projections import generator, project, random_projections
from transvariation.description import Description
from transvariation.feature_selection.vip import importance_coefficients
from transvariation.parallel import run_in_processes, run_in_threads
from transvariation.tocc import TOCC
from transvariation.validation import check_count, check_magnitude


def _members_compute_tp(ensemble: ProjectionEnsemble) -> bool:
    return ensemble.estimator is None or hasattr(ensemble.estimator, "transvariation_probability")


class ProjectionEnsemble(MetaEstimatorMixin, OneClassClassifier):
    r"""Fit a one-class classifier in each of many random projections and let the majority decide.

    Each projection is the most compact image of the target class among `n_candidates` random ones. Scores of different
    members are not comparable, ranks are: within a member, the rank of a sample is the share of training samples that
    score no higher (in a member with several thresholds, of those in the sample's stratum). A member accepts at
    sensitivity s exactly the samples whose rank exceeds 1 - s. More than half of the members accept, therefore, exactly
    when the median rank exceeds 1 - s. The score of the ensemble is the median rank (of an even number, the lower of
    the two middle ones).

    Parameters
    ----------
    estimator : estimator, default=None
        Any classifier of this package, or a detector of scikit-learn or PyOD; None stands for :class:`TOCC`. It is
        cloned for each projection. Its own sensitivity, calibration, trim or contamination is not used: all members
        vote at the sensitivity of the ensemble.
    n_projections : int, default=101
        Number of projections. With an even number, a tie rejects.
    n_candidates : int, default=50
        Number of candidates of which each projection is the most compact one.
    n_components : int, default=2
        Number of dimensions of a projection.
    sensitivity : float in (0, 1], default=0.9
        The share of target samples that each member accepts.
    calibration : {"resubstitution", "loo", "cv", "split"} or splitter, default="resubstitution"
        ``"resubstitution"`` is the majority vote. The other modes calibrate the median rank as any other score, see
        :class:`TOCC`.
    random_state : int, Generator, RandomState or None
        The seed of the projections, which depend on the order of the features, and of members that draw random numbers.
    n_jobs : int or None
        The number of processes; the result is the same for every number.

    Attributes
    ----------
    projections_ : ndarray of shape (n_projections, n_features, n_components)
        The matrices with orthonormal columns.
    spread_ : ndarray of shape (n_projections,)
        The sum of the median absolute deviations in each projection.
    estimators_ : list of OneClassClassifier
        The members, which decide about images of samples as they vote; detectors of other packages are wrapped in
        :class:`CalibratedOCC`. An image is ``X @ projections_[i]``, added up in the same order for every sample, so
        that it does not depend on the other samples.
    feature_importances_ : ndarray of shape (n_features,)
        How much the projections depend on each feature: VIP, see :class:`VIPSelector`.
    offset_ : float
        The median rank that a sample must reach.

    See Also
    --------
    transvariation.random_projections : The projections that candidates are drawn from.
    transvariation.NeighborTOCC : The recommended classifier.

    References
    ----------
    Cannings, T. I. and Samworth, R. J. (2017). Random-projection ensemble classification. JRSS B 79, 959-1035.

    Examples
    --------
    >>> from transvariation import TOCC, ProjectionEnsemble, load_glass
    >>> glass = load_glass()
    >>> classifier = ProjectionEnsemble(TOCC(), n_projections=25, random_state=0)
    >>> classifier = classifier.fit(glass.control)
    >>> int((classifier.predict(glass.recovered) == -1).sum())
    50
    """

    description_: RandomProjections

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        n_projections: int = 101,
        n_candidates: int = 50,
        n_components: int = 2,
        *,
        sensitivity: float = 0.9,
        calibration: str | BaseCrossValidator = "resubstitution",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.n_projections = n_projections
        self.n_candidates = n_candidates
        self.n_components = n_components
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _make_description(self) -> RandomProjections:
        member = TOCC() if self.estimator is None else clone(self.estimator)
        if not isinstance(member, OneClassClassifier):
            member = CalibratedOCC(member)
        # Members rank all training samples, so that none of them is left out by `trim`.
        fixed = {"calibration": "resubstitution", "sensitivity": _share(self.sensitivity), "trim": 0.0}
        return RandomProjections(
            member.set_params(**{name: fixed[name] for name in fixed.keys() & member.get_params().keys()}),
            self.n_projections,
            self.n_candidates,
            self.n_components,
            self.random_state,
            self.n_jobs,
        )

    def member_ranks(self, X: ArrayLike) -> Floats:
        """Compute the rank of each sample within every member.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to rank.

        Returns
        -------
        ndarray of shape (n_projections, n_samples)
            The rank of each sample in each member, between 0 and 1.
        """
        rows = self._validated(X)
        return self.description_.each_member(_ranks, rows)

    def set_sensitivity(self, sensitivity: float | ArrayLike, *, confidence: float | None = None) -> Self:
        """Set the parameter `sensitivity` and move the threshold, also those of the members, without refitting.

        Parameters
        ----------
        sensitivity : float in (0, 1]
            The share of target samples to accept.
        confidence : float in (0, 1), optional
            The probability with which this classifier accepts that share; by default the share holds on average.

        Returns
        -------
        self
            The ensemble with its new threshold.
        """
        super().set_sensitivity(sensitivity, confidence=confidence)
        for member in self.estimators_:
            member.set_sensitivity(_share(self.sensitivity))
        return self

    @available_if(_members_compute_tp)
    def transvariation_probability(self, X: ArrayLike) -> Floats:
        """Compute the median over all projections of the tp of each sample's image.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            The tp of each sample.
        """
        rows = self._validated(X)
        return np.median(self.description_.each_member(_tp, rows), axis=0)

    def explain(self, X: ArrayLike) -> pd.DataFrame:
        """Compare samples with the target class, feature by feature.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to explain.

        Returns
        -------
        DataFrame
            The columns of the other classifiers' `explain`, and ``importance``: how much the projections depend on the
            feature.
        """
        table = super().explain(X)
        return table.assign(importance=np.resize(self.feature_importances_, len(table)))


@dataclass(eq=False)
class RandomProjections(Description):
    """The median rank of a sample within the members, one in each projection."""

    member: OneClassClassifier
    n_projections: int
    n_candidates: int
    n_components: int
    random_state: RandomState = None
    n_jobs: int | None = None

    lowest = 0.0

    def fit(self, X: Floats, groups: Indices | None = None) -> Self:
        """Draw the projections and fit the members."""
        check_magnitude(X)
        rng = generator(self.random_state)
        check_count("n_components", self.n_components, X.shape[1])
        self.projections_, self.spread_ = random_projections(
            X, self.n_projections, self.n_candidates, self.n_components, rng=rng, n_jobs=self.n_jobs
        )
        self.feature_importances_ = np.median(importance_coefficients(self.projections_, X.std(axis=0, ddof=1)), axis=0)
        parameters = self.member.get_params()
        seeded = [name for name in parameters if f"__{name}".endswith("__random_state")]
        # Many small fits are one large problem: members that choose between compiled code and NumPy choose for all.
        engines = [name for name, value in parameters.items() if f"__{name}".endswith("__engine") and value == "auto"]
        engine = resolve_engine("auto", self.n_projections * X.size)
        seeds = rng.integers(2**31 - 1, size=self.n_projections).tolist()
        pieces = [
            (self.member, dict.fromkeys(seeded, seed) | dict.fromkeys(engines, engine), matrix, X, groups)
            for seed, matrix in zip(seeds, self.projections_, strict=True)
        ]
        self.estimators_ = run_in_processes(_fit_member, pieces, self.n_jobs)
        self._training_ranks = _lower_median(np.array([member.calibration_.ranks() for member in self.estimators_]))
        return self

    def each_member(self, function: Callable[[OneClassClassifier, Floats], Floats], X: Floats) -> Floats:
        """Call ``function(member, rows)`` for every member and its image of X: (n_projections, n_samples)."""
        pieces = ((function, *pair, X) for pair in zip(self.estimators_, self.projections_, strict=True))
        return np.array(run_in_threads(_ask_member, pieces, self.n_jobs))

    def score(self, X: Floats) -> Floats:
        """Compute the median rank."""
        return _lower_median(self.each_member(_ranks, X))

    def training_scores(self, X: Floats) -> Floats:
        """Return the ranks that the members computed when they were fitted."""
        return self._training_ranks

    def held_out_scores(self, X: Floats, plan: CalibrationPlan, n_jobs: int | None = None) -> tuple[Indices, Floats]:
        """Compute ranks among the training samples of a fold, rounded down to ranks among all.

        Otherwise a new sample that exceeds as many training samples as a held-out one would have the lower rank.
        """
        rows, scores = super().held_out_scores(X, plan, n_jobs)
        return rows, np.floor(scores * len(X) + 1e-9) / len(X)

    def own_threshold(self, sensitivity: float) -> float:
        """Return the rank that the majority vote demands."""
        # The vote is rank > 1 - s; 1e-8 is below the difference of two ranks and above rounding errors.
        return 1 - sensitivity + 1e-8


def _share(sensitivity: float | ArrayLike) -> float:
    """Return the sensitivity of every member, which has one threshold whatever the ensemble is given."""
    return float(np.ravel(sensitivity)[0])


def _fit_member(
    member: OneClassClassifier, parameters: Fields, matrix: Floats, X: Floats, groups: Indices | None
) -> OneClassClassifier:
    return clone(member).set_params(**parameters)._fit_scores(project(X, matrix), groups, with_threshold=True)


def _ask_member(
    function: Callable[[OneClassClassifier, Floats], Floats], member: OneClassClassifier, matrix: Floats, X: Floats
) -> Floats:
    return function(member, project(X, matrix))


def _ranks(member: OneClassClassifier, rows: Floats) -> Floats:
    return member._ranks(rows)


def _tp(member: OneClassClassifier, rows: Floats) -> Floats:
    return member.description_.tp_of_scores(member.description_.score(rows))


def _lower_median(ranks: Floats) -> Floats:
    """Compute the largest value that more than half of the members reach."""
    middle = (len(ranks) - 1) // 2
    return np.partition(ranks, middle, axis=0)[middle]
