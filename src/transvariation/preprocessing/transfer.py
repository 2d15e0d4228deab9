"""Transfer between instruments by samples measured on both: piecewise direct standardization, orthogonalization."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data

from transvariation._typing import Floats
from transvariation.validation import check_count


class PiecewiseDirectStandardization(TransformerMixin, BaseEstimator):
    """Predict what the first instrument would have measured from spectra of a second instrument.

    Each position of the first instrument is regressed on a window of positions of the second one, by principal
    components of the transfer samples within the window.

    Parameters
    ----------
    window_length : int, default=5
        Number of positions of the second instrument in each regression; odd.
    n_components : int, default=2
        Number of principal components in each window.

    Attributes
    ----------
    coef_ : ndarray of shape (n_outputs, window_length)
        Coefficients of each position of the first instrument. Windows stop at the ends of the axis.
    start_ : ndarray of shape (n_outputs,)
        The first position of each window.
    intercept_ : ndarray of shape (n_outputs,)

    See Also
    --------
    transvariation.preprocessing.InstrumentOrthogonalization : Remove what differs between instruments.

    Notes
    -----
    Differences between the instruments other than a shift, a broadening and a local gain and offset remain: calibrate
    the threshold with samples of the second instrument as well.

    References
    ----------
    Wang, Y., Veltkamp, D. J. and Kowalski, B. R. (1991). Multivariate instrument standardization. Analytical Chemistry
    63, 2750-2756.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.preprocessing import PiecewiseDirectStandardization
    >>> rng = np.random.default_rng(0)
    >>> first = rng.normal(size=(20, 3)) @ rng.normal(size=(3, 40)) + 5
    >>> second = 1.2 * first + 0.3
    >>> transfer = PiecewiseDirectStandardization(n_components=3)
    >>> transfer = transfer.fit(second[:10], first[:10])
    >>> bool(np.allclose(transfer.transform(second[10:]), first[10:]))
    True
    """

    def __init__(self, window_length: int = 5, n_components: int = 2):
        self.window_length = window_length
        self.n_components = n_components

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the transfer.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The transfer samples on the second instrument.
        y : array-like of shape (n_samples, n_outputs)
            The same samples, in the same order, on the first instrument. If the numbers of positions differ, windows
            are placed in proportion.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None: the spectra of the first instrument")
        window = check_count("window_length", self.window_length)
        if window % 2 == 0:
            raise ValueError(f"window_length={window} must be odd, such as 5")
        rows = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        target = check_array(y, dtype=np.float64, ensure_2d=False)
        check_consistent_length(rows, target)
        self._names = np.asarray(getattr(y, "columns", []), dtype=object)
        self._one_to_one = target.ndim == 2 and target.shape[1] == rows.shape[1]
        target = target.reshape(len(rows), -1)
        p, q = rows.shape[1], target.shape[1]
        window = min(window, p)
        middle = np.round(np.linspace(0, p - 1, q)).astype(int) if q > 1 else np.array([p // 2])
        self.start_ = np.clip(middle - window // 2, 0, p - window)
        center, mean = rows.mean(axis=0), target.mean(axis=0)
        self.coef_ = np.empty((q, window))
        for j, start in enumerate(self.start_):
            part = slice(start, start + window)
            self.coef_[j] = _component_regression(
                rows[:, part] - center[part], target[:, j] - mean[j], check_count("n_components", self.n_components)
            )
        self.intercept_ = mean - self._windows(center[None])[0]
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Predict the spectra of the first instrument.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Spectra of the second instrument.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs)
        """
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return self._windows(rows) + self.intercept_

    def _windows(self, rows: Floats) -> Floats:
        total = np.zeros((len(rows), len(self.coef_)))
        for offset in range(self.coef_.shape[1]):
            total += rows[:, self.start_ + offset] * self.coef_[:, offset]
        return total

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Name the positions of the first instrument.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input features, used if both instruments have the same number of positions and the spectra of
            the first one had no names.

        Returns
        -------
        ndarray of str
        """
        from sklearn.utils.validation import _check_feature_names_in

        check_is_fitted(self)
        if len(self._names):
            return self._names.astype(str).astype(object)
        names = _check_feature_names_in(self, input_features)
        return names if self._one_to_one else np.array([f"y{j}" for j in range(len(self.coef_))], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def _component_regression(X: Floats, y: Floats, n_components: int) -> Floats:
    """Regress centered y on the leading principal components of centered X; return the coefficients."""
    left, singular, right = np.linalg.svd(X, full_matrices=False)
    rank = int((singular > singular[0] * max(X.shape) * np.finfo(float).eps).sum())
    k = min(n_components, rank)
    return right[:k].T @ (left[:, :k].T @ y / singular[:k])


class InstrumentOrthogonalization(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Remove the directions in which spectra of the same samples differ between instruments.

    The principal components of the differences within each transfer sample are projected out of every spectrum, of
    all instruments alike. Unlike :class:`PiecewiseDirectStandardization` it is applied to the training spectra as well,
    and serves more than two instruments, temperatures or days. Calibrate the threshold by samples of the second
    instrument from which the directions were not learned.

    Parameters
    ----------
    n_components : int, default=2
        Number of directions to remove.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions removed, orthonormal.
    mean_ : ndarray of shape (n_features,)
        The mean of the transfer spectra, on the first instrument if it is known which that is; it stays.

    See Also
    --------
    transvariation.preprocessing.PiecewiseDirectStandardization : Map one instrument to another.

    References
    ----------
    Roger, J.-M., Chauchard, F. and Bellon-Maurel, V. (2003). EPO-PLS external parameter orthogonalisation of PLS:
    application to temperature-independent measurement of sugar content of intact fruits. Chemometrics and Intelligent
    Laboratory Systems 66, 191-204.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.preprocessing import InstrumentOrthogonalization
    >>> rng = np.random.default_rng(0)
    >>> first, difference = rng.normal(size=(5, 30)), rng.normal(size=30)
    >>> both = np.vstack([first, first + difference])
    >>> sample = [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]
    >>> transfer = InstrumentOrthogonalization(1).fit(both, sample)
    >>> moved = transfer.transform(first + difference)
    >>> bool(np.allclose(transfer.transform(first), moved))
    True
    """

    def __init__(self, n_components: int = 2):
        self.n_components = n_components

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Spectra of the transfer samples on all instruments, or on the second one.
        y : array-like of shape (n_samples,) or (n_samples, n_features)
            The label of the sample that each spectrum belongs to, or the spectra of the same samples, in the same
            order, on the first instrument.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None: the label of each sample")
        rows = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        labels = check_array(y, ensure_2d=False, dtype=None)
        check_consistent_length(rows, labels)
        center = rows
        if labels.shape == rows.shape and rows.shape[1] > 1:
            center = labels.astype(np.float64)
            rows, labels = np.vstack([rows, center]), np.tile(np.arange(len(rows)), 2)
        _, sample = np.unique(labels, return_inverse=True)
        sample = sample.ravel()
        sums = np.zeros((sample.max() + 1, rows.shape[1]))
        np.add.at(sums, sample, rows)
        differences = rows - (sums / np.bincount(sample)[:, None])[sample]
        _, singular, directions = np.linalg.svd(differences, full_matrices=False)
        rank = int((singular > np.abs(rows).max() * max(rows.shape) * np.finfo(float).eps).sum())
        self.components_ = directions[: min(check_count("n_components", self.n_components), rank)]
        self.mean_ = center.mean(axis=0)
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Remove the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Spectra of any of the instruments.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return rows - (rows - self.mean_) @ self.components_.T @ self.components_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def held_out_transfer(transformer: BaseEstimator, X: ArrayLike, y: ArrayLike) -> Floats:
    """Transform each transfer sample by a transfer that was learned from the others.

    A threshold for the second instrument must not be calibrated with spectra from which the transfer was learned: they
    look more like those of the first instrument than new ones do.

    Parameters
    ----------
    transformer : PiecewiseDirectStandardization
        The transfer; a copy is fitted for each sample. It must leave the known spectra as they are: with
        :class:`InstrumentOrthogonalization` the classifier itself would have to be fitted without each sample.
    X : array-like of shape (n_samples, n_features)
        The transfer samples on the second instrument.
    y : array-like of shape (n_samples, n_outputs)
        The same samples on the first instrument.

    Returns
    -------
    ndarray of shape (n_samples, n_outputs)

    See Also
    --------
    transvariation.preprocessing.PiecewiseDirectStandardization : Map one instrument to another.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.preprocessing import (
    ...     PiecewiseDirectStandardization, held_out_transfer)
    >>> rng = np.random.default_rng(0)
    >>> first = rng.normal(size=(10, 2)) @ rng.normal(size=(2, 40))
    >>> transfer = PiecewiseDirectStandardization()
    >>> moved = held_out_transfer(transfer, 2 * first + 1, first)
    >>> bool(np.allclose(moved, first))
    True
    """
    second, first = (np.asarray(rows, dtype=np.float64) for rows in (X, y))
    check_consistent_length(second, first)
    others = ~np.eye(len(second), dtype=bool)
    return np.vstack(
        [clone(transformer).fit(second[o], first[o]).transform(second[i : i + 1]) for i, o in enumerate(others)]
    )
