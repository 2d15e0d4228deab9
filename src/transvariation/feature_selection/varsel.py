"""Feature selection by Gaussian mixtures: does a feature add more than its regression on those already chosen?

The paper selects by an algorithm named varSel whose description we could not find. This is a stand-in for it: forward
selection in the manner of Raftery and Dean, which chooses the same two features on the glass data.
"""

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from transvariation._typing import Floats
from transvariation.density.covariance import varying
from transvariation.density.gaussian_mixture import GaussianMixtureBIC
from transvariation.feature_selection.base import TargetSelector
from transvariation.parallel import run_in_processes
from transvariation.validation import check_count


def repeated_share(X: Floats) -> Floats:
    """Compute for each feature the share of samples that have its most frequent value.

    Examples
    --------
    >>> import numpy as np
    >>> repeated_share(np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [5.0, 4.0]]))
    array([0.75, 0.25])
    """
    return np.array([np.unique(column, return_counts=True)[1].max() / len(X) for column in X.T])


def regression_bic(y: Floats, X: Floats) -> float:
    """Compute the BIC, ``2 loglik - df log n``, of the linear regression of y on X with an intercept.

    Infinite where the regression is exact: y then adds nothing to X.

    Examples
    --------
    >>> import numpy as np
    >>> round(regression_bic(np.array([1.0, 2.0, 4.0, 3.0]), np.empty((4, 0))), 3)
    -15.017
    """
    n = len(y)
    # Centered, the intercept is zero; at unit length, columns are not taken for rounding errors in another unit.
    centered, design = y - y.mean(), X[:, varying(X)] - X[:, varying(X)].mean(axis=0)
    design /= np.linalg.norm(design, axis=0)
    coefficients, _, rank, _ = np.linalg.lstsq(design, centered, rcond=None)
    residual = float(np.sum((centered - design @ coefficients) ** 2))
    if residual <= (n * np.finfo(float).eps) ** 2 * float(y @ y):
        return np.inf
    return float(-n * (np.log(2 * np.pi * residual / n) + 1) - (rank + 2) * np.log(n))


class VarSel(TargetSelector):
    r"""Select features one by one by what they add to a Gaussian mixture of the target.

    With S the features selected so far, a candidate u has the BIC difference

    .. math:: BIC_\mathrm{mixture}(S, u) - [BIC_\mathrm{mixture}(S) + BIC_\mathrm{regression}(u \mid S)],

    the evidence that u takes part in the structure of the target against its being a linear function of S plus noise.
    The candidate with the largest difference is taken. For the first feature the regression is a normal distribution.

    Features in which one value dominates, such as a trace element that is mostly not detected, have no sensible
    Gaussian mixture (a component collapses onto that value, and the evidence is unbounded). They are set aside by a
    criterion independent of the BIC: see `max_repeated`.

    This is a substitute for the varSel algorithm that the paper cites and does not describe.

    Parameters
    ----------
    n_features_to_select : int or None, default=2
        None goes on until no candidate has a positive difference.
    max_repeated : float in (0, 1], default=0.5
        Set a feature aside if more than this share of the samples have the same value in it.
    mixture : estimator, default=None
        What is fitted: a :class:`GaussianMixtureBIC`, by default as it comes, with ``random_state=0``: beyond 1000
        samples its search draws a subsample.
    n_jobs : int, optional
        The number of processes that share the candidates of a step. The result is the same for every number.

    Attributes
    ----------
    bic_differences_ : DataFrame
        One row per step, one column per feature; NaN for features already selected or set aside, minus infinity
        for those that repeat the selected ones exactly.
    selected_ : ndarray of int
        Column numbers, in the order of selection.
    set_aside_ : ndarray of str
        The names of the features set aside (x0, x1, ... if the training data have none).
    repeated_share_ : ndarray of shape (p,)
        The share of the most frequent value of each feature.

    See Also
    --------
    transvariation.VIPSelector : Select features by projections.
    transvariation.selection_stability : How often each feature is selected.

    References
    ----------
    Raftery, A. E. and Dean, N. (2006). Variable selection for model-based clustering. JASA 101, 168-178.

    Examples
    --------
    >>> from transvariation import VarSel, load_glass
    >>> X = load_glass().control
    >>> selector = VarSel(n_features_to_select=2).fit(X)
    >>> [str(X.columns[u]) for u in selector.selected_], selector.set_aside_.tolist()
    (['K', 'Mg'], ['Ba', 'Fe'])
    """

    def __init__(
        self,
        n_features_to_select: int | None = 2,
        *,
        max_repeated: float = 0.5,
        mixture: GaussianMixtureBIC | None = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.max_repeated = max_repeated
        self.mixture = mixture
        self.n_jobs = n_jobs

    def _select(self, X: Floats) -> None:
        if not 0 < self.max_repeated <= 1:
            raise ValueError(f"max_repeated={self.max_repeated} must be a share in (0, 1], for instance 0.5")
        p = X.shape[1]
        wanted = (
            p
            if self.n_features_to_select is None
            else check_count("n_features_to_select", self.n_features_to_select, p)
        )
        names = np.array(getattr(self, "feature_names_in_", [f"x{u}" for u in range(p)]), dtype=object)
        self.repeated_share_ = repeated_share(X)
        candidates = np.flatnonzero(self.repeated_share_ <= self.max_repeated).tolist()
        self.set_aside_ = np.delete(names, candidates)
        if self.n_features_to_select is not None and wanted > len(candidates):
            raise ValueError(
                f"n_features_to_select={wanted} exceeds the {len(candidates)} of n_features={p} variables that are not "
                f"set aside; in {', '.join(self.set_aside_)} more than max_repeated={self.max_repeated} of the samples "
                "share one value: select fewer variables or raise max_repeated"
            )
        self._steps, self._names = np.array(self._forward(X, candidates, wanted)), names

    @property
    def bic_differences_(self) -> pd.DataFrame:
        """BIC differences, one row per step and one column per feature."""
        check_is_fitted(self)
        steps = pd.RangeIndex(1, len(self._steps) + 1, name="step")
        return pd.DataFrame(self._steps, index=steps, columns=pd.Index(self._names, name="variable"))

    def _forward(self, X: Floats, candidates: list[int], wanted: int) -> list[Floats]:
        taken: list[int] = []
        steps, current = [], 0.0
        while len(taken) < min(wanted, len(candidates)):
            differences = np.full(X.shape[1], np.nan)
            joint = {}
            left = [u for u in candidates if u not in taken]
            pieces = [(X, taken, u, current) for u in left]
            for u, found in zip(left, run_in_processes(self._evidence, pieces, self.n_jobs), strict=True):
                joint[u], differences[u] = found
            steps.append(differences)
            best = max(joint, key=lambda u: differences[u])
            if self.n_features_to_select is None and differences[best] <= 0:
                break
            if differences[best] == -np.inf:
                raise ValueError(
                    f"n_features_to_select={wanted} exceeds the {len(taken)} variables that carry information of "
                    f"their own (n_features={X.shape[1]}): the others are linear functions of them or admit no mixture"
                )
            taken.append(best)
            current = joint[best]
        self.selected_ = np.array(taken, dtype=np.intp)
        return steps

    def _evidence(self, X: Floats, taken: list[int], u: int, current: float) -> tuple[float, float]:
        """Compute the BIC of the mixture with feature u, and its difference from regressing u on the others."""
        regression = regression_bic(X[:, u], X[:, taken])
        if np.isinf(regression):
            return -np.inf, -np.inf
        mixture = GaussianMixtureBIC(random_state=0) if self.mixture is None else clone(self.mixture)
        try:
            joint = float(np.nanmax(mixture.fit(X[:, taken + [u]]).bic_.to_numpy()))
        except ValueError:  # no mixture could be fitted to these variables; others may do
            return -np.inf, -np.inf
        return joint, joint - current - regression
