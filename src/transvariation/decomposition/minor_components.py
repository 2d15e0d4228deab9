"""Minor components: the last principal components, along which the target varies least."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import svd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from transvariation._typing import Floats
from transvariation.decomposition.projections import project
from transvariation.validation import check_count, check_magnitude


class Spectrum(NamedTuple):
    """All principal components along which the target varies: variances in falling order, loadings as rows."""

    mean: Floats
    scale: Floats
    variance: Floats
    loadings: Floats


def principal_spectrum(X: Floats, *, scale: bool = False) -> Spectrum:
    """Compute the principal components with a variance above rounding error.

    Along the others, of which there are at least ``p - n + 1``, the target does not vary at all: they show
    that a linear relation held in every training sample, not how typical a new one is.
    """
    mean = X.mean(axis=0)
    deviations = X - mean
    # A constant column leaves rounding errors of its mean, not zeros.
    rounding = np.finfo(float).eps * max(X.shape) * np.abs(X).max(axis=0, initial=0.0)
    std = deviations.std(axis=0, ddof=1)
    varies = std > rounding
    deviations[:, ~varies] = 0.0
    divisor = np.where(varies, std, 1.0) if scale else np.ones(X.shape[1])
    deviations /= divisor
    _, singular, loadings = svd(deviations, full_matrices=False)
    # A large number in a constant column does not affect the rounding of the others.
    size = (np.abs(X[:, varies]) / divisor[varies]).max(initial=0.0)
    floor = max(X.shape) * np.finfo(float).eps * max(singular[0], np.sqrt(len(X)) * size)
    rank = int(np.count_nonzero(singular > floor))
    loadings = loadings[:rank]
    # The sign of a component is arbitrary; its largest loading is positive here.
    largest = loadings[np.arange(rank), np.abs(loadings).argmax(axis=1)]
    loadings *= np.where(largest < 0, -1.0, 1.0)[:, None]
    return Spectrum(mean, divisor, singular[:rank] ** 2 / (len(X) - 1), loadings)


def last_components(variance: Floats, n_components: int, leave_out: float) -> range:
    """Determine which components are the last `n_components` once a share `leave_out` of the variance is left out.

    Examples
    --------
    >>> list(last_components(np.array([6.0, 3.0, 0.9, 0.1]), 2, leave_out=0.0))
    [2, 3]
    >>> list(last_components(np.array([6.0, 3.0, 0.9, 0.1]), 2, leave_out=0.01))
    [1, 2]
    """
    if not 0 <= leave_out < 1:
        raise ValueError(f"leave_out={leave_out} must be a share of variance in [0, 1), for instance 0.01")
    # 1e-12: a share stated as the ratio of two variances must not miss its own component by rounding.
    tail = np.cumsum(variance[::-1]) <= leave_out * variance.sum() * (1 + 1e-12)
    stop = len(variance) - int(np.count_nonzero(tail))
    if stop < n_components:
        skipped = f"once the last {len(variance) - stop} are left out " if leave_out else ""
        remedy = " or leave out less" if leave_out else "; constant and repeated variables add none"
        raise ValueError(
            f"n_components={n_components} exceeds the {stop} principal components in which the target varies {skipped}"
            f"(leave_out={leave_out}); use at most {stop}{remedy}"
        )
    return range(stop - n_components, stop)


class MinorComponents(TransformerMixin, BaseEstimator):
    """Project on the last principal components of the target.

    The directions of least variance describe the target most tightly, and a sample from elsewhere has no reason to be
    close in them (Tax and Müller, 2003).

    "Last" means: of the components along which the training samples vary. With more features than samples, or with
    constant or repeated features, there are further directions without any variance; they are never used. In
    spectra the last of what remains is mostly noise of the instrument: `leave_out` skips it.

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    scale : bool, default=False
        Whether to divide the features by their standard deviations first (components of the correlation matrix). The
        paper does not.
    leave_out : float in [0, 1), default=0.0
        Leave out the very last components that carry together at most this share of the total variance.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, p)
        Loadings, in the order of falling variance.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
    numbers_ : ndarray of shape (n_components,)
        Which principal components these are, counted from 1.
    mean_, scale_ : ndarray of shape (p,)

    See Also
    --------
    transvariation.SparseMinorComponents : The same with few features in each component.
    transvariation.VIPSelector : Select features instead.

    References
    ----------
    Tax, D. M. J. and Müller, K.-R. (2003). Feature extraction for one-class classification. ICANN/ICONIP, 342-349.

    Examples
    --------
    >>> from transvariation import MinorComponents, load_glass
    >>> glass = load_glass()
    >>> components = MinorComponents().fit(glass.control)
    >>> components.transform(glass.recovered).shape
    (51, 2)
    >>> components.get_feature_names_out().tolist()
    ['PC8', 'PC9']
    """

    _prefix = "PC"

    def __init__(self, n_components: int = 2, *, scale: bool = False, leave_out: float = 0.0):
        self.n_components = n_components
        self.scale = scale
        self.leave_out = leave_out

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Compute the last components of the target samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The target samples.
        y : None
            Ignored; present by convention.

        Returns
        -------
        self
            The fitted transformer.
        """
        rows: Floats = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        check_magnitude(rows, largest=1e150)  # only squares are summed
        check_count("n_components", self.n_components, rows.shape[1])
        self._learn(principal_spectrum(rows, scale=self.scale))
        return self

    def _learn(self, spectrum: Spectrum) -> None:
        chosen = last_components(spectrum.variance, self.n_components, self.leave_out)
        self.mean_, self.scale_ = spectrum.mean, spectrum.scale
        self.numbers_ = np.array(chosen) + 1
        self.components_ = spectrum.loadings[chosen.start : chosen.stop]
        self.explained_variance_ = spectrum.variance[chosen.start : chosen.stop]
        self.explained_variance_ratio_ = self.explained_variance_ / spectrum.variance.sum()

    def transform(self, X: ArrayLike) -> Floats:
        """Project samples on the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to project.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The samples in the components.
        """
        check_is_fitted(self)
        rows: Floats = validate_data(self, X, dtype=np.float64, reset=False)
        return project((rows - self.mean_) / self.scale_, self.components_.T)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the names of the components by their number: PC8, PC9; of sparse ones SPC8, SPC9.

        Parameters
        ----------
        input_features : None
            Ignored; present by convention.

        Returns
        -------
        ndarray of str
            The names of the components.
        """
        check_is_fitted(self)
        return np.array([f"{self._prefix}{number}" for number in self.numbers_], dtype=object)

    def loadings(self) -> pd.DataFrame:
        """Show the loadings as a table: one row per feature, one column per component.

        Returns
        -------
        DataFrame
            One row per feature and one column per component.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", [f"x{u}" for u in range(self.n_features_in_)])
        return pd.DataFrame(self.components_.T, index=pd.Index(names, name="variable"), columns=self._names())

    def _names(self) -> list[str]:
        return [str(name) for name in self.get_feature_names_out()]
