"""One classifier in each of many compact random projections; the majority decides."""

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from transvariation.acceleration import resolve_engine
from transvariation.base import OneClassClassifier
from transvariation.calibrated import CalibratedOCC
from transvariation.calibration import Calibration, Fold
from transvariation.decomposition.projections import generator, project, random_projections
from transvariation.density_tocc import DensityTOCC
from transvariation.depth.batched import SMALL, stacked_spatial_median, stacked_tp
from transvariation.feature_selection.vip import importance_coefficients
from transvariation.pam_tocc import PAMTOCC
from transvariation.tocc import TOCC
from transvariation.validation import check_count

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


class _Ratings(NamedTuple):
    """How one member rates objects, and to which part of the target class it assigns them."""

    scores: Floats
    strata: NDArray[np.intp]


def _members_measure_tp(ensemble: Any) -> bool:
    return ensemble.estimator is None or hasattr(ensemble.estimator, "transvariation_probability")


class ProjectionEnsemble(MetaEstimatorMixin, OneClassClassifier):
    r"""Fit a one-class classifier in each of many random projections and let the majority decide.

    Each projection is the most compact image of the target among `n_candidates` random ones. The members' scores
    are not comparable across projections, their ranks are: within a member, an object's rank is the share of
    training objects that score no higher (in a member with several thresholds, of those in the object's part). A
    member accepts at sensitivity s exactly the objects whose rank exceeds 1 - s. More than half of the members
    accept, therefore, exactly when the median rank exceeds 1 - s: the median rank (of an even number, the lower
    of the two middle ones) is the score of the ensemble.

    Parameters
    ----------
    estimator : estimator, default=None
        Any classifier of this package or outlier detector with scikit-learn's methods; None stands for
        :class:`TOCC`. It is cloned for each projection. Its own sensitivity, calibration or contamination plays no
        part: all members vote at the sensitivity of the ensemble.
    n_projections, n_candidates, n_components, criterion
        See :func:`transvariation.random_projections`. An odd number of projections cannot end in a tie; with an even
        number, a tie rejects.
    sensitivity : float in (0, 1], default=0.9
        The share of target objects that each member accepts.
    calibration : str, default="resubstitution"
        ``"resubstitution"`` takes the majority vote as it is. Otherwise the median rank is cut as any other score
        would be, see
        :class:`TOCC`.
    random_state : int, Generator, RandomState or None
        The seed of the projections and of members that draw random numbers.
    n_jobs : int or None
        The number of processes; the result is the same for every number.

    Attributes
    ----------
    projections_ : ndarray of shape (n_projections, p, n_components)
        The matrices with orthonormal columns; an object z is seen as ``z @ projections_[i]``.
    spread_ : ndarray of shape (n_projections,)
        The criterion that each projection reached.
    estimators_ : list of estimators
        The members. Those of this package decide about images of objects as they vote: at the sensitivity of the
        ensemble, in the paper's mode. Training objects equal themselves only in the images of
        :func:`transvariation.decomposition.projections.project`, not in those of ``@``.
    feature_importances_ : ndarray of shape (p,)
        Which variables the projections lean on: VIP, see :class:`VIPSelector`.
    offset_ : float
        The median rank that an object must reach.

    References
    ----------
    Cannings, T. I. and Samworth, R. J. (2017). Random-projection ensemble classification. JRSS B 79, 959-1035.

    Examples
    --------
    >>> from transvariation import TOCC, ProjectionEnsemble, load_glass
    >>> glass = load_glass()
    >>> rule = ProjectionEnsemble(TOCC(), n_projections=25, random_state=0).fit(glass.control)
    >>> int((rule.predict(glass.recovered) == -1).sum())
    50
    """

    def __init__(
        self,
        estimator: Any = None,
        n_projections: int = 101,
        n_candidates: int = 50,
        n_components: int = 2,
        *,
        criterion: str = "mad",
        sensitivity: float = 0.9,
        calibration: str = "resubstitution",
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.n_projections = n_projections
        self.n_candidates = n_candidates
        self.n_components = n_components
        self.criterion = criterion
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _describe(self, X: Floats) -> None:
        rng = generator(self.random_state)
        self._X = X
        check_count("n_components", self.n_components, X.shape[1])
        self.projections_, self.spread_ = random_projections(
            X,
            self.n_projections,
            self.n_candidates,
            self.n_components,
            criterion=self.criterion,
            rng=rng,
            n_jobs=self.n_jobs,
        )
        self.feature_importances_ = np.median(importance_coefficients(self.projections_, X.std(axis=0, ddof=1)), axis=0)
        prototype = TOCC() if self.estimator is None else self.estimator
        if not isinstance(prototype, OneClassClassifier):
            prototype = CalibratedOCC(prototype, calibration="resubstitution")
        seeds = rng.integers(2**31 - 1, size=self.n_projections).tolist()
        parameters = prototype.get_params()
        random_parts = [name for name in parameters if f"__{name}".endswith("__random_state")]
        # Many small fits are one large problem: members that choose between compiled code and NumPy choose for all.
        engines = [name for name, value in parameters.items() if f"__{name}".endswith("__engine") and value == "auto"]
        engine = resolve_engine("auto", self.n_projections * X.size)
        prototype = clone(prototype).set_params(**dict.fromkeys(engines, engine))
        members = [clone(prototype).set_params(**dict.fromkeys(random_parts, seed)) for seed in seeds]
        fitted = self._each(_fit_block, members, X)
        self.estimators_ = [member for member, _ in fitted]
        # Plain arrays, one row per member: they can be kept in any file.
        self._known_scores = np.array([ratings.scores for _, ratings in fitted])
        self._known_strata = np.array([ratings.strata for _, ratings in fitted])
        self._known_ranks = self._ranked([ratings for _, ratings in fitted])

    def _each(self, work: Any, members: list[Any], X: Floats) -> list[Any]:
        """Apply `work` to blocks of members and their images of X, one block per process; one result per member."""
        n_blocks = min(effective_n_jobs(self.n_jobs), len(members))
        edges = np.linspace(0, len(members), n_blocks + 1).astype(int)
        blocks = [(members[start:stop], self.projections_[start:stop]) for start, stop in pairwise(edges)]
        if n_blocks == 1:
            return _work_through(work, *blocks[0], X)
        done = Parallel(n_jobs=self.n_jobs)(delayed(_work_through)(work, *block, X) for block in blocks)
        return [result for block in done for result in block]

    def member_ranks(self, X: ArrayLike) -> Floats:
        """Rank objects within every member: shape (n_projections, n), the votes before they are counted."""
        return self._member_ranks(self._validated(X))

    def _member_ranks(self, X: Floats) -> Floats:
        return self._ranked(self._each(_rate_block, self.estimators_, X))

    def _ranked(self, rated: list[_Ratings]) -> Floats:
        known = map(_Ratings, self._known_scores, self._known_strata)
        return np.array([_ranks(reference, new) for reference, new in zip(known, rated, strict=True)])

    @available_if(_members_measure_tp)
    def transvariation_probability(self, Z: ArrayLike) -> Floats:
        """Compute the median over the projections of each object's tp: there tp refers to that member's image."""
        rows = self._validated(Z)
        return np.median(self._each(_tp_block, self.estimators_, rows), axis=0)

    def explain(self, Z: ArrayLike) -> "pd.DataFrame":
        """Say, variable by variable, how each object compares with the target class.

        Returns
        -------
        DataFrame
            The table of :meth:`TOCC.explain`, in the variables as they are, and ``importance``: how much the
            projections lean on the variable.
        """
        import pandas as pd

        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        known = self._X if names is None else pd.DataFrame(self._X, columns=names)
        table = TOCC(sensitivity=self._sensitivity).fit(known).explain(Z)
        return table.assign(importance=np.tile(self.feature_importances_, len(table) // self.n_features_in_))

    def _score(self, X: Floats) -> Floats:
        return _lower_median(self._member_ranks(X))

    def _lowest(self) -> float:
        return 0.0  # a rank below all training objects

    def _training_scores(self, X: Floats) -> Floats:
        return _lower_median(self._known_ranks)

    def _calibrate(self, X: Floats, groups: NDArray | None, folds: list[Fold]) -> Calibration:
        calibration = super()._calibrate(X, groups, folds)
        if len(folds) < 2:
            return calibration
        # Ranks among fewer training samples, rounded down to ranks among all: otherwise a new sample that exceeds as
        # many as a held-out one would have the lower rank.
        return replace(calibration, scores=np.floor(calibration.scores * len(X) + 1e-9) / len(X))

    def _set_threshold(self, sensitivity: float | ArrayLike) -> None:
        super()._set_threshold(sensitivity)
        share = float(np.ravel(sensitivity)[0])
        for member, scores, strata in zip(self.estimators_, self._known_scores, self._known_strata, strict=True):
            known = Calibration("resubstitution", 0, scores, strata, int(strata.max()) + 1)
            member.set_calibration(known, share)
        if not self._calibration.held_out:
            # The vote: rank > 1 - s. The margin is far below the distance of two ranks, far above rounding.
            self.offset_ = 1 - share + 1e-12
            self.thresholds_ = np.array([self.offset_])


def _lower_median(ranks: Floats) -> Floats:
    """More than half of the members reach exactly the values up to this one."""
    middle = (len(ranks) - 1) // 2
    return np.partition(ranks, middle, axis=0)[middle]


def _ranks(known: _Ratings, new: _Ratings) -> Floats:
    """The share of training objects in the same part of the target that score no higher than each new object."""
    ranks = np.zeros(len(new.scores))
    for k in np.unique(known.strata):
        ordered = np.sort(known.scores[known.strata == k])
        here = new.strata == k
        ranks[here] = np.searchsorted(ordered, new.scores[here], side="right") / len(ordered)
    return ranks


def _work_through(work: Any, members: list[Any], projections: Floats, X: Floats) -> list[Any]:
    results = []
    # As many members at a time as fit into 32 MB: their images come out of one product.
    step = max(1, 4_000_000 // max(1, len(X) * projections.shape[2]))
    for start in range(0, len(members), step):
        block = projections[start : start + step]
        images = project(X, block.swapaxes(0, 1).reshape(X.shape[1], -1)).reshape(len(X), len(block), -1)
        results += work(members[start : start + step], np.ascontiguousarray(images.swapaxes(0, 1)))
    return results


def _fit_block(members: list[Any], images: Floats) -> list[tuple[Any, _Ratings]]:
    median = type(members[0]) is TOCC or (type(members[0]) is DensityTOCC and members[0]._takes_spatial_median())
    centers = stacked_spatial_median(images) if median and images.shape[1] ** 2 <= SMALL else None
    for i, (member, T) in enumerate(zip(members, images, strict=True)):
        _describe(member, T, None if centers is None else centers[i])
    ratings = _rate_stack(members, images) or _one_by_one(_training, members, images)
    return list(zip(members, ratings, strict=True))


def _describe(member: Any, T: Floats, center: Floats | None) -> None:
    # The rows are validated already, and the member's threshold comes from the ratings of all members together.
    if center is None:
        member._describe(T)
    else:
        member._describe_about(T, center)
    member.n_features_in_ = T.shape[1]


def _one_by_one(work: Any, members: list[Any], images: Floats) -> list[Any]:
    return [work(member, T) for member, T in zip(members, images, strict=True)]


def _training(member: Any, T: Floats) -> _Ratings:
    return _Ratings(member._training_scores(T), _strata(member, T))


def _strata(member: Any, T: Floats) -> NDArray[np.intp]:
    strata = member._stratum(T)
    return np.zeros(len(T), dtype=np.intp) if strata is None else strata


def _rate_block(members: list[Any], images: Floats) -> list[_Ratings]:
    return _rate_stack(members, images) or _one_by_one(_rate, members, images)


def _rate_stack(members: list[Any], images: Floats) -> list[_Ratings] | None:
    """Rate small images by all members together where they count tp; None where they have to be asked one by one."""
    kind = type(members[0])  # a subclass may rate in another way
    if kind not in (TOCC, PAMTOCC) or images.shape[1] * len(members[0]._X) > SMALL:
        return None
    X, strata = np.stack([m._X for m in members]), np.zeros(images.shape[:2], dtype=np.intp)
    ties = members[0]._ties
    if kind is TOCC:
        if members[0]._tau_max != "count":
            return None
        tp = stacked_tp(X, images, np.stack([m.center_ for m in members])[:, None], ties=ties)
    else:
        strata = np.stack([m._stratum(T) for m, T in zip(members, images, strict=True)])
        centers = np.stack([m.centers_[part] for m, part in zip(members, strata, strict=True)])
        same = np.stack([m.labels_ for m in members])[:, None, :] == strata[:, :, None]
        tp = stacked_tp(X, images, centers, same=same, ties=ties)
    return [_Ratings(*pair) for pair in zip(tp, strata, strict=True)]


def _rate(member: Any, T: Floats) -> _Ratings:
    return _Ratings(member._score(T), _strata(member, T))


def _tp_block(members: list[Any], images: Floats) -> list[Floats]:
    return _one_by_one(_tp, members, images)


def _tp(member: Any, T: Floats) -> Floats:
    return member._tp(T)
