"""Gaussian mixtures whose covariance model and number of components are chosen by BIC."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from transvariation._typing import Floats, Indices, RandomState
from transvariation.acceleration import resolve_engine
from transvariation.density.covariance_models import MODELS, MODELS_1D, n_parameters
from transvariation.density.em import fit_mixtures, log_density, search
from transvariation.density.gaussian import GaussianMixtureMixin, MixtureComponents
from transvariation.density.hierarchical import merge_clusters, starting_partitions
from transvariation.validation import check_count, check_magnitude

STARTS = ("variables", "svd")
# Components x samples x variables to fit that take NumPy as long as one row of other computations, about 1 us. With it,
# compiled code is used where NumPy would take some two seconds or more.
_WORK_PER_ROW = 30
_MOST_BYTES = 2**30


class GaussianMixtureBIC(GaussianMixtureMixin, BaseEstimator):
    """Fit a Gaussian mixture whose covariance model and number of components are chosen by BIC, as R's mclust does.

    The components' covariances may share volume, shape and orientation or not: fourteen models, named as in mclust.
    Each is fitted by EM with each number of components G, starting from a model-based hierarchical partition; the fit
    with the largest ``BIC = 2 loglik - df log n`` is kept [1]_, [2]_. A fit in which a component shrinks onto a point,
    a line or a plane has no finite likelihood and is not available (NaN).

    Parameters
    ----------
    n_components : int or iterable of int, default=(1, ..., 9)
        The numbers of components to try.
    models : iterable of str, default=all fourteen
        The covariance models to try. In one dimension only the volume is left to vary and the models are E and V.
    start : {"variables", "svd"}, default="variables"
        Coordinates in which the hierarchical partition is made: the features as they are, which gives the published
        choices on the glass data, or scaled principal axes of the standardized features, the default of newer versions
        of mclust. In one dimension EM starts from quantiles.
    tol : float, default=1e-5
        EM stops when the log likelihood l changes by less than ``tol * (1 + |l|)``, as in mclust. As l depends on the
        unit, so does the end, by more than rounding errors unless `tol` is small.
    max_iter : int, default=1000
        The largest number of EM iterations.
    max_start : int, default=1000
        The largest number of samples, drawn at random, for the hierarchical partition. Its time grows with the square
        of their number, its memory with their number times the square of the number of features.
    random_state : int, RandomState or None, default=None
        The seed of that random subsample and of `sample`.
    n_jobs : int, optional
        The number of threads that share the fits where there are many samples. The result is the same for every number.
    engine : {"auto", "compiled", "numpy"}, default="auto"
        Whether compiled code (numba, the extra ``fast``) or NumPy searches. ``"auto"``
        uses compiled code for fits that take NumPy some two seconds or more; ``"compiled"`` uses it for all, which pays
        if there are many small ones; without numba both use NumPy. The first compiled fit of an installation takes half
        a minute longer. The results are the same.

    Attributes
    ----------
    bic_ : DataFrame
        BIC by model (rows) and number of components (columns), larger is better; NaN = not available.
    model_name_, n_components_ : str, int
        The choice.
    weights_, means_, covariances_ : ndarrays of shape (G,), (G, p), (G, p, p)
        The chosen mixture.
    loglik_ : float
        Its log likelihood.
    n_parameters_ : int
        Its number of free parameters.
    n_iter_, converged_ : int, bool
        The number of EM iterations for it, and whether they converged.
    engine_ : {"compiled", "numpy"}
        The engine in use.

    See Also
    --------
    transvariation.GaussianDensity : One normal distribution.
    transvariation.VarSel : Select features by such mixtures.

    References
    ----------
    .. [1] C. Fraley and A. E. Raftery (2002). Model-based clustering, discriminant analysis, and density estimation.
       Journal of the American Statistical Association 97, 611-631.
    .. [2] L. Scrucca, M. Fop, T. B. Murphy and A. E. Raftery (2016). mclust 5: clustering, classification and density
       estimation using Gaussian finite mixture models. The R Journal 8, 289-317.

    Examples
    --------
    >>> from transvariation import GaussianMixtureBIC
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> wide = rng.normal(size=(60, 2))
    >>> narrow = rng.normal(loc=[6, 0], scale=0.3, size=(40, 2))
    >>> X = np.concatenate([wide, narrow])
    >>> mixture = GaussianMixtureBIC().fit(X)
    >>> mixture.model_name_, mixture.n_components_
    ('VII', 2)
    >>> mixture.bic_.loc["VII", [1, 2, 3]].round(1).to_list()
    [-896.2, -522.9, -534.6]
    """

    def __init__(
        self,
        n_components: int | Iterable[int] = (1, 2, 3, 4, 5, 6, 7, 8, 9),
        models: Iterable[str] = MODELS,
        *,
        start: str = "variables",
        tol: float = 1e-5,
        max_iter: int = 1000,
        max_start: int = 1000,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        engine: str = "auto",
    ):
        self.n_components = n_components
        self.models = models
        self.start = start
        self.tol = tol
        self.max_iter = max_iter
        self.max_start = max_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.engine = engine

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Fit every model with every number of components and keep the best by BIC.

        Parameters
        ----------
        X : array-like of shape (n, p)
            One sample per row.
        y : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        self
            The mixture with the largest BIC.
        """
        return self._fit_rows(validate_data(self, X, dtype=np.float64, ensure_min_samples=2))

    def _fit_rows(self, rows: Floats) -> Self:
        """Fit to validated samples."""
        n, p = rows.shape
        self.n_features_in_ = p
        sizes, models = self._checked(p)
        check_magnitude(rows)
        used = np.arange(n)
        if n > self.max_start:
            used = np.sort(check_random_state(self.random_state).permutation(n)[: self.max_start])
        _check_memory(len(used), p)
        self.engine_ = resolve_engine(self.engine, len(models) * sum(sizes) * rows.size / _WORK_PER_ROW)
        merge, fit_many = merge_clusters, fit_mixtures
        if self.engine_ == "compiled":
            from transvariation.density.compiled import merging, mixture

            merge, fit_many = merging.merge_clusters, mixture.fit_mixtures
        starts = starting_partitions(rows, sizes, self.start, used, merge)
        found = search(rows, models, sizes, starts, fit_many, tol=self.tol, max_iter=self.max_iter, n_jobs=self.n_jobs)
        self._tried, self._bic = (sizes, models), found.bic
        self.__dict__.pop("bic_", None)  # the table of an earlier fit
        if np.isnan(found.bic).all():
            raise ValueError(
                f"no mixture could be fitted to {n} samples of {p} variables: in every one a component collapsed onto "
                "a point or a line. Remove constant variables and multiples of others, reduce the number of variables, "
                "or allow n_components=1 and the models EII and VII, which need least."
            )
        # Of equal values (one component is the same in several models) the first: the simplest model.
        column, row = divmod(int(np.nanargmax(found.bic.T)), len(models))
        self.model_name_, self.n_components_ = models[row], sizes[column]
        self.weights_, self.means_, self.covariances_, self.loglik_, self.n_iter_ = found.pick(row, column)
        self.converged_ = self.n_iter_ < self.max_iter
        self.n_parameters_ = n_parameters(self.model_name_, self.n_components_, p)
        return self

    def _checked(self, p: int) -> tuple[list[int], list[str]]:
        """Check the parameters; in one dimension translate the models into E and V."""
        sizes = sorted({check_count("n_components", G) for G in np.ravel(np.asarray(self.n_components, dtype=object))})
        if not sizes:
            raise ValueError(f"n_components={self.n_components!r} must name at least one number, each 1 or more")
        known = MODELS + MODELS_1D if p == 1 else MODELS
        names = [self.models] if isinstance(self.models, str) else list(self.models)
        for name in names:
            if name not in known:
                raise ValueError(f"models: {name!r} is not one of {', '.join(known)}")
        if not names:
            raise ValueError("models is empty; name at least one, for example 'VVV'")
        if self.start not in STARTS:
            raise ValueError(f"start={self.start!r} is unknown; choose one of {', '.join(STARTS)}")
        if self.max_start < sizes[-1]:
            raise ValueError(f"max_start={self.max_start} must not be below the largest n_components, {sizes[-1]}")
        if not self.tol > 0 or self.max_iter < 1:
            raise ValueError(f"tol={self.tol} must be positive and max_iter={self.max_iter} at least 1")
        return sizes, list(dict.fromkeys(name[0] for name in names)) if p == 1 else list(dict.fromkeys(names))

    @cached_property
    def bic_(self) -> pd.DataFrame:
        """BIC by model (rows) and number of components (columns)."""
        check_is_fitted(self, "_bic")
        sizes, models = self._tried
        index, columns = pd.Index(models, name="model"), pd.Index(sizes, name="n_components")
        return pd.DataFrame(self._bic, index=index, columns=columns)

    def _log_density(self, rows: Floats) -> Floats:
        return log_density(rows, self.weights_, self.means_, self.covariances_)[0]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Compute the probability that each sample comes from each component, (n, G).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to assign.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The probability of each component, given the sample.
        """
        return log_density(self._validated(X), self.weights_, self.means_, self.covariances_)[1]

    def predict(self, X: ArrayLike) -> Indices:
        """Return the most probable component of each sample, (n,).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to assign.

        Returns
        -------
        ndarray of shape (n_samples,)
            The number of the most probable component.
        """
        return self.predict_proba(X).argmax(axis=1)

    def _components(self) -> MixtureComponents:
        return self.weights_, self.means_, self.covariances_

    def sample(self, n_samples: int = 1) -> tuple[Floats, Indices]:
        """Draw samples from the mixture.

        Parameters
        ----------
        n_samples : int, default=1
            Number of samples to draw.

        Returns
        -------
        X : ndarray of shape (n_samples, p)
        component : ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "means_")
        if n_samples < 1:
            raise ValueError(f"n_samples={n_samples} must be at least 1")
        rng = check_random_state(self.random_state)
        component = np.repeat(np.arange(self.n_components_), rng.multinomial(n_samples, self.weights_))
        noise = rng.standard_normal((n_samples, self.means_.shape[1]))
        roots = np.linalg.cholesky(self.covariances_)
        return self.means_[component] + np.einsum("nij,nj->ni", roots[component], noise), component


def _check_memory(n: int, p: int) -> None:
    """Raise if the scatter matrices of the hierarchical partition do not fit into memory."""
    needed = 8 * n * p * p
    if needed > _MOST_BYTES:
        raise ValueError(
            f"a mixture of {p} variables needs {needed / 2**30:.1f} GB to start from {n} samples, more than the "
            f"{_MOST_BYTES / 2**30:.0f} GB allowed; reduce the variables first (MinorComponents, VIPSelector), use one "
            "Gaussian (GaussianDensity), or lower max_start"
        )
