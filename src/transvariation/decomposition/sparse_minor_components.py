"""Sparse last components: nearly the tightest directions of the target, from a few features each.

scikit-learn's SparsePCA looks for the components of largest variance and has no way to the other end, so the
elastic-net regression of Zou, Hastie and Tibshirani is applied here to the last components, one at a time.
"""

import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import null_space
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram
from sklearn.utils.validation import check_is_fitted

from transvariation._typing import Floats
from transvariation.decomposition.minor_components import MinorComponents, Spectrum, last_components

_MAX_COSINE = 0.5  # two components at least 60 degrees apart: they must not collapse into the same variables


class SparsePath(NamedTuple):
    """The elastic-net path of one component, from the sparsest loadings to the dense ones; one entry per step."""

    penalty: Floats  # as a share of the largest useful one, falling to 0
    coefficients: Floats  # (steps, p), linear in the penalty between steps
    variance: Floats  # of the component with these loadings at unit length

    @property
    def n_nonzero(self) -> NDArray[np.int64]:
        """Number of features at each step."""
        return np.count_nonzero(self.coefficients, axis=1)

    @property
    def loadings(self) -> Floats:
        """Coefficients at unit length."""
        return self.coefficients / np.linalg.norm(self.coefficients, axis=1, keepdims=True)


def sparse_path(S: Floats, direction: Floats, *, ridge: float = 1e-3) -> SparsePath:
    r"""Trace the elastic-net path of one direction.

    With :math:`z = X a`, the scores along the direction :math:`a`, and its variance v, it follows the minimiser of

    .. math:: \frac{1}{2 v}\,\mathrm{var}(z - X b) + \frac{\rho}{2} \lVert b \rVert^2 + \lambda \lVert b \rVert_1

    over b as the penalty falls from the smallest value that makes b zero (share 1) to none (share 0). The scores are
    tight in a last component, so that b may differ from a only in tight directions.

    Parameters
    ----------
    S : ndarray of shape (p, p)
        The covariance matrix of the target.
    direction : ndarray of shape (p,)
        The dense loadings a, of unit length and with positive variance.
    ridge : float
        rho. It makes the path unique where features repeat each other, and the smaller the closer the fit.
    """
    variance = float(direction @ S @ direction)
    # Scaled so that the component has variance 1: the path's own tolerances are absolute.
    with warnings.catch_warnings():
        # It stops where variables repeat each other to rounding; the dense end is added below in any case.
        warnings.simplefilter("ignore", ConvergenceWarning)
        penalty, _, steps = lars_path_gram(
            Xy=S @ direction / variance,
            Gram=S / variance + ridge * np.eye(len(S)),
            n_samples=1,
            method="lasso",
        )
    coefficients = np.vstack([steps.T[1:], direction])
    shares = np.append(penalty[1:] / penalty[0], 0.0)
    some = coefficients.any(axis=1)
    coefficients, shares = coefficients[some], shares[some]
    length2 = np.einsum("ij,ij->i", coefficients, coefficients)
    return SparsePath(shares, coefficients, np.einsum("ij,ij->i", coefficients @ S, coefficients) / length2)


def choose_step(path: SparsePath, bound: float, others: Floats) -> int:
    """Choose the fewest features whose component has a variance of at most `bound` and differs from the others.

    Among as many features, the smallest variance. The dense end always qualifies.
    """
    apart = np.abs(path.loadings @ others.T).max(axis=1, initial=0.0) <= _MAX_COSINE
    fits = np.flatnonzero(apart & (path.variance <= bound))
    if not len(fits):
        return len(path.penalty) - 1
    return int(fits[np.lexsort((path.variance[fits], path.n_nonzero[fits]))[0]])


class SparseMinorComponents(MinorComponents):
    """Project on sparse versions of the last principal components of the target.

    From the last component upwards, the tightest direction orthogonal to the sparse loadings found so far is
    approximated along its elastic-net path.

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    penalty : {"nearer"} or float in [0, 1], default="nearer"
        How sparse. ``"nearer"``: the fewest features for which the component still is nearer to the one it replaces
        than to the next larger one, that is, its variance is at most the geometric mean of their variances; and the
        components stay at least 60 degrees apart. A number is the share of the largest penalty: 0 gives dense
        loadings, values close to 1 a single feature. Results depend strongly on the penalty: look at `path_table`.
    scale : bool, default=False
        Divide the features by their standard deviations first.
    leave_out : float in [0, 1), default=0.0
        See :class:`MinorComponents`, which defines "last".
    ridge : float, default=1e-3
        The weight of the squared length of the loadings, relative to the variance of the component.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, p)
        Loadings of unit length, in the order of the components they replace; not exactly orthogonal.
    explained_variance_ : ndarray of shape (n_components,)
        The variance along each of them. Sparse components overlap, so that shares would not add up.
    paths_ : list of SparsePath
        The whole path of each component.
    numbers_, mean_, scale_
        See :class:`MinorComponents`.

    See Also
    --------
    transvariation.MinorComponents : Components of all features.

    References
    ----------
    Zou, H., Hastie, T. and Tibshirani, R. (2006). Sparse principal component analysis. JCGS 15, 265-286.

    Examples
    --------
    >>> from transvariation import SparseMinorComponents, load_glass
    >>> components = SparseMinorComponents().fit(load_glass().control)
    >>> components.loadings().round(2)
              SPC8  SPC9
    variable
    RI        0.00   1.0
    Na        0.14   0.0
    Mg        0.20   0.0
    Al        0.00   0.0
    Si        0.12   0.0
    K         0.49   0.0
    Ca        0.16   0.0
    Ba        0.81   0.0
    Fe        0.00   0.0
    """

    _prefix = "SPC"

    def __init__(
        self,
        n_components: int = 2,
        *,
        penalty: float | str = "nearer",
        scale: bool = False,
        leave_out: float = 0.0,
        ridge: float = 1e-3,
    ):
        super().__init__(n_components, scale=scale, leave_out=leave_out)
        self.penalty = penalty
        self.ridge = ridge

    def _learn(self, spectrum: Spectrum) -> None:
        if self.penalty != "nearer" and not (isinstance(self.penalty, int | float) and 0 <= self.penalty <= 1):
            raise ValueError(f"penalty={self.penalty!r} must be 'nearer' or a share of the largest penalty in [0, 1]")
        if not self.ridge > 0:
            raise ValueError(f"ridge={self.ridge} must be positive, for instance 1e-3; it keeps the path unique")
        chosen = last_components(spectrum.variance, self.n_components, self.leave_out)
        self.mean_, self.scale_, self.numbers_ = spectrum.mean, spectrum.scale, np.array(chosen) + 1
        S = (spectrum.loadings.T * spectrum.variance) @ spectrum.loadings
        # What is left out must not come back through the next direction.
        kept = Spectrum(*spectrum[:2], spectrum.variance[: chosen.stop], spectrum.loadings[: chosen.stop])
        found = np.empty((0, len(S)))
        self.paths_: list[SparsePath] = []
        for j in reversed(chosen):
            path = sparse_path(S, _tightest(kept, found), ridge=self.ridge)
            self.paths_.insert(0, path)
            found = np.vstack([self._loadings_from(path, spectrum.variance, j, found), found])
        self.components_ = found
        self.explained_variance_ = np.einsum("ij,ij->i", found @ S, found)

    def _loadings_from(self, path: SparsePath, variance: Floats, j: int, found: Floats) -> Floats:
        if self.penalty == "nearer":
            bound = np.sqrt(path.variance[-1]) * np.sqrt(variance[j - 1]) if j else np.inf
            return path.loadings[choose_step(path, bound, found)]
        share = min(float(self.penalty), path.penalty[0])
        # The path is linear between its steps; np.interp needs ascending arguments.
        columns = [np.interp(share, path.penalty[::-1], column[::-1]) for column in path.coefficients.T]
        return np.array(columns) / np.linalg.norm(columns)

    def path_table(self) -> pd.DataFrame:
        """Show every step of every path: component, penalty, number of features, variance, and all loadings.

        Returns
        -------
        DataFrame
            One row per step of the path.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", [f"x{u}" for u in range(self.n_features_in_)])
        parts = []
        for name, path in zip(self._names(), self.paths_, strict=True):
            head = pd.DataFrame(
                {"component": name, "penalty": path.penalty, "variables": path.n_nonzero, "variance": path.variance}
            )
            parts.append(pd.concat([head, pd.DataFrame(path.loadings, columns=list(names))], axis=1))
        return pd.concat(parts, ignore_index=True)


def _tightest(kept: Spectrum, found: Floats) -> Floats:
    """Compute the direction of least variance in the span of the kept components, orthogonal to the loadings so far."""
    if not len(found):
        return kept.loadings[-1]
    free = null_space(found @ kept.loadings.T)
    _, vectors = np.linalg.eigh((free.T * kept.variance) @ free)
    direction = (free @ vectors[:, 0]) @ kept.loadings
    direction /= np.linalg.norm(direction)
    return direction * (-1.0 if direction[np.abs(direction).argmax()] < 0 else 1.0)
