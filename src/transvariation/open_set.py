"""OpenSetClassifier: several known classes, each with a calibrated description, and none of them."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, assert_all_finite, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from transvariation._typing import Bools, Floats, Indices, Rows
from transvariation.base import OneClassClassifier
from transvariation.calibrated import CalibratedOCC
from transvariation.calibration import check_groups, take_rows
from transvariation.coverage_report import CoverageReport
from transvariation.neighbor_tocc import NeighborTOCC
from transvariation.parallel import run_in_processes


class OpenSetClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Assign samples to one of several known classes, or to none of them.

    One one-class classifier is fitted to each class and calibrated by its samples. A new sample gets a p-value for each
    class; the classes whose p-value exceeds one minus the sensitivity form its prediction set: one class, several that
    cannot be told apart, or none. A sample of class c has c in its set with probability at least the sensitivity, as
    far as the calibration promises it (:meth:`coverage_report`), whatever the other classes are.

    Parameters
    ----------
    estimator : estimator, default=None
        A classifier of this package, or a detector of scikit-learn or PyOD, which is calibrated by
        :class:`CalibratedOCC`; None stands for :class:`NeighborTOCC`. It is cloned for each class.
    sensitivity : float in (0, 1], default=0.9
        The share of samples of each class whose prediction set contains it. It replaces that of the estimator.
    none_label : object, default=None
        What `predict` returns where no class accepts. By default ``"none"`` if the labels are strings, and if they are
        numbers -1 or, where that is a class, the next smaller number. It must not be the label of a class.
    n_jobs : int, optional
        The number of classes to fit in parallel.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels of the known classes, sorted.
    estimators_ : list of OneClassClassifier
        The fitted classifier of each class.
    none_label_ : object
        The label of samples that no class accepts.
    n_features_in_ : int
        The number of features.

    See Also
    --------
    CalibratedOCC : One class only, for any detector.

    References
    ----------
    Guan, L. and Tibshirani, R. (2022). Prediction and outlier detection in classification problems. JRSS B 84, 524-546.

    Examples
    --------
    Two of the three cultivars of wine are known:

    >>> from sklearn.datasets import load_wine
    >>> from transvariation import OpenSetClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> known = y < 2
    >>> classifier = OpenSetClassifier().fit(X[known], y[known])
    >>> labels = classifier.predict(X[~known])
    >>> neither = labels == classifier.none_label_
    >>> print(neither.sum(), "of", len(labels), "bottles of the third are neither")
    32 of 48 bottles of the third are neither
    """

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        sensitivity: float = 0.9,
        none_label: object = None,
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.sensitivity = sensitivity
        self.none_label = none_label
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self._one_class()).input_tags.allow_nan
        return tags

    def _one_class(self) -> OneClassClassifier:
        """Return an unfitted classifier of one class."""
        one = NeighborTOCC() if self.estimator is None else clone(self.estimator)
        if not isinstance(one, OneClassClassifier):
            one = CalibratedOCC(one)
        return one.set_params(sensitivity=self.sensitivity)

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Fit one classifier to each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples of the known classes.
        y : array-like of shape (n_samples,)
            Their labels, numbers or strings.
        groups : array-like of shape (n_samples,), optional
            Labels of items, equal for replicates of one item.

        Returns
        -------
        self
        """
        one = self._one_class()
        if y is None:
            raise ValueError("OpenSetClassifier requires y to be passed, but the target y is None; give the classes")
        rows = one._validate(X, reset=True)  # one row per label, names and types; each class is validated again
        for name in ("n_features_in_", "feature_names_in_"):
            if name in vars(one):
                setattr(self, name, vars(one)[name])
            else:
                self.__dict__.pop(name, None)
        labels = _labels(y, rows.shape[0])
        numbers = check_groups(groups, rows.shape[0])
        self.classes_, own = np.unique(labels, return_inverse=True)
        few = [f"{label!r}" for label, count in zip(self.classes_.tolist(), np.bincount(own), strict=True) if count < 2]
        if few:
            raise ValueError(
                f"class {', '.join(few)} has a single sample (n_samples=1); give at least two, and at least as many as "
                f"required_n({self.sensitivity}) to reject anything"
            )
        self.none_label_ = self._none_label()
        table = X if hasattr(X, "columns") or hasattr(X, "tocsr") else np.asarray(X)
        pieces = []
        for k in range(len(self.classes_)):
            inside = np.flatnonzero(own == k)
            pieces.append((one, take_rows(table, inside), None if numbers is None else numbers[inside]))
        self.estimators_ = run_in_processes(_fit_class, pieces, self.n_jobs)
        return self

    def _none_label(self) -> object:
        numeric = self.classes_.dtype.kind in "iufb"
        label = self.none_label
        if label is None:
            label = min(-1, int(np.floor(self.classes_.min())) - 1) if numeric else "none"
        if label in self.classes_.tolist():
            raise ValueError(
                f"none_label={label!r} is the label of a class; give another label for samples that no class accepts"
            )
        return label

    def p_values(self, X: ArrayLike) -> Floats:
        """Compute the p-value of each sample for each class; small values are evidence against the class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to judge.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        check_is_fitted(self)
        return np.column_stack([one.p_values(X) for one in self.estimators_])

    def predict_set(self, X: ArrayLike) -> Bools:
        """Return which classes accept each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to judge.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            Columns in the order of `classes_`; a row without True belongs to none of them.
        """
        check_is_fitted(self)
        return np.column_stack([one.predict(X) == 1 for one in self.estimators_])

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the label of the class with the largest p-value, or `none_label_` where no class accepts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        accepted, p_values = self.predict_set(X), self.p_values(X)
        best = np.where(accepted, p_values, -1.0).argmax(axis=1)
        labels = self.classes_[best]
        none = ~accepted.any(axis=1)
        if none.any():
            labels = labels.astype(np.result_type(labels, np.asarray(self.none_label_)))
            labels[none] = self.none_label_
        return labels

    def coverage_report(self, confidence: float = 0.95) -> dict[object, CoverageReport]:
        """Report for each class the share of its samples that it accepts, and under which assumptions.

        Parameters
        ----------
        confidence : float in (0, 1), default=0.95
            See :meth:`transvariation.NeighborTOCC.coverage_report`.

        Returns
        -------
        dict
            From the label of a class to its :class:`transvariation.CoverageReport`.
        """
        check_is_fitted(self)
        reports = (one.coverage_report(confidence) for one in self.estimators_)
        return dict(zip(self.classes_.tolist(), reports, strict=True))


def _labels(y: ArrayLike, n: int) -> NDArray:
    labels = column_or_1d(np.asarray(y), warn=True)
    if len(labels) != n:
        raise ValueError(f"y has {len(labels)} labels for {n} samples; give one label per row of X")
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    return labels


def _fit_class(one: OneClassClassifier, X: Rows, groups: Indices | None) -> OneClassClassifier:
    return clone(one).fit(X, groups=groups)
