"""Variable importance in projection (VIP): how much compact projections use each feature, and selection by it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from transvariation._typing import Floats, RandomState
from transvariation.decomposition.projections import generator, random_projections
from transvariation.feature_selection.base import TargetSelector
from transvariation.validation import check_count


def importance_coefficients(matrices: ArrayLike, std: ArrayLike) -> Floats:
    r"""Compute the Importance Coefficient CI of every feature in every projection.

    .. math:: CI_{ui} = \sum_{q=1}^{d} \frac{|a_{uqi}| s_u}{\sqrt{\sum_z (a_{zqi} s_z)^2}}

    The paper prints the sum in the denominator with the index of the feature itself, so that :math:`s_u` cancels;
    this is the form of Montanari and Lizzani, where it runs over all features.

    Parameters
    ----------
    matrices : array-like of shape (n_projections, p, d)
    std : array-like of shape (p,)
        The standard deviation of each feature. A constant feature has CI = 0.

    Returns
    -------
    ndarray of shape (n_projections, p)

    References
    ----------
    Montanari, A. and Lizzani, L. (2001). A projection pursuit approach to variable selection. CSDA 35, 463-473.

    Examples
    --------
    >>> importance_coefficients([[[0.6], [0.8]]], [4.0, 3.0]).round(3)
    array([[0.707, 0.707]])
    """
    weights = np.abs(np.asarray(matrices, dtype=np.float64)) * np.asarray(std, dtype=np.float64)[:, None]
    # hypot-like: squares of tiny numbers would vanish.
    largest = weights.max(axis=1, keepdims=True)
    weights = np.divide(weights, largest, out=np.zeros_like(weights), where=largest > 0)
    norm = np.sqrt((weights**2).sum(axis=1, keepdims=True))
    return np.divide(weights, norm, out=np.zeros_like(weights), where=norm > 0).sum(axis=2)


def rank_variables(vip: Floats, X: Floats, kappa: float | None, n_wanted: int) -> list[int]:
    r"""Order features by importance, passing over those too correlated with the ones already taken.

    A candidate is passed over when its absolute correlation with the features taken before, averaged over them,
    exceeds `kappa`, or when it does not vary. Of equally important features the first comes first.

    Returns
    -------
    list of int
        Up to `n_wanted` features, the most important first; fewer if the others were all passed over.
    """
    order = np.argsort(-vip, kind="stable")
    if kappa is None:
        return order[:n_wanted].tolist()
    unit = unit_columns(X)
    total = np.zeros(X.shape[1])  # of the correlations with those taken; all pairs of many variables would not fit
    taken: list[int] = []
    for u in order:
        varies = unit[:, u].any()  # a constant variable is uncorrelated with everything and not informative
        if len(taken) < n_wanted and varies and (not taken or total[u] / len(taken) <= kappa):
            taken.append(int(u))
            total += np.minimum(np.abs(unit.T @ unit[:, u]), 1.0)
    return taken


def unit_columns(X: Floats) -> Floats:
    """Center the columns and divide them by their lengths; constant ones become 0."""
    centered = X - X.mean(axis=0)
    norm = np.sqrt((centered**2).sum(axis=0))
    varies = norm > 1e-14 * np.sqrt(len(X)) * np.abs(X).max(axis=0, initial=0.0)
    return np.divide(centered, norm, out=np.zeros_like(centered), where=varies & (norm > 0))


class VIPSelector(TargetSelector):
    """Select the features that compact random projections of the target use most.

    VIP is the median over projections of the Importance Coefficient. Highly correlated features have about the same
    VIP; with `kappa` a feature is skipped if it repeats, on average, the features already selected
    (kappa-VIP).

    Parameters
    ----------
    n_features_to_select : int, default=2
        Number of features to select.
    kappa : float in [0, 1] or None, default=None
        The largest mean absolute correlation with the features taken before. The paper advises 0.4 to 0.7, the lower
        the stronger the correlations are. None selects by VIP only.
    n_projections : int, default=101
        Number of projections.
    n_candidates : int, default=50
        Number of candidates of which each projection is the most compact one.
    n_components : int, default=2
        Number of dimensions of a projection.
    random_state : int, Generator, RandomState or None
        The seed of the projections.
    n_jobs : int, optional
        The number of threads; the result is the same for every number.

    Attributes
    ----------
    vip_ : ndarray of shape (p,)
        Variable Importance in Projection.
    ci_ : ndarray of shape (n_projections, p)
        The Importance Coefficients that VIP is the median of: its spread.
    ranking_ : ndarray of shape (p,)
        1 for the most important feature, by VIP only.
    selected_ : ndarray of shape (n_features_to_select,)
        Column numbers of the selected features, in the order in which they were taken.

    See Also
    --------
    transvariation.VarSel : Select features by mixtures.
    transvariation.selection_stability : How often each feature is selected.

    Examples
    --------
    >>> from transvariation import VIPSelector, load_glass
    >>> X = load_glass().control
    >>> selector = VIPSelector(2, kappa=0.5, random_state=0).fit(X)
    >>> [str(X.columns[u]) for u in selector.selected_]
    ['Si', 'Mg']
    """

    def __init__(
        self,
        n_features_to_select: int = 2,
        *,
        kappa: float | None = None,
        n_projections: int = 101,
        n_candidates: int = 50,
        n_components: int = 2,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.kappa = kappa
        self.n_projections = n_projections
        self.n_candidates = n_candidates
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _select(self, X: Floats) -> None:
        wanted = check_count("n_features_to_select", self.n_features_to_select, X.shape[1])
        if self.kappa is not None and not 0 <= self.kappa <= 1:
            raise ValueError(f"kappa={self.kappa} must be a correlation in [0, 1], for instance 0.5, or None")
        found = random_projections(
            X,
            self.n_projections,
            self.n_candidates,
            self.n_components,
            rng=generator(self.random_state),
            n_jobs=self.n_jobs,
        )
        self.ci_ = importance_coefficients(found.matrices, X.std(axis=0, ddof=1))
        self.vip_ = np.median(self.ci_, axis=0)
        self.ranking_ = np.empty(X.shape[1], dtype=np.int64)
        self.ranking_[np.argsort(-self.vip_, kind="stable")] = np.arange(1, X.shape[1] + 1)
        taken = rank_variables(self.vip_, X, self.kappa, wanted)
        if len(taken) < wanted:
            raise ValueError(
                f"kappa={self.kappa} leaves only {len(taken)} of the n_features_to_select={wanted} variables: the "
                "others correlate more strongly with those or do not vary; raise kappa or select fewer variables"
            )
        self.selected_ = np.array(taken)
