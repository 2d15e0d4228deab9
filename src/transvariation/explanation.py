"""Compare samples with a target class, feature by feature."""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from transvariation.depth.probability import transvariation_probability
from transvariation.validation import column_names, native_frame

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Judge = Callable[[Floats, Floats], tuple[Floats, NDArray[np.bool_]]]


class ExplanationMixin:
    """Explain samples feature by feature, for classifiers with p-values that keep training samples in `sample_`."""

    sample_: Any
    _sample_groups: Indices | None
    _sensitivity: Any
    _stratum: Callable[[Floats], Indices | None]
    _validated: Callable[[ArrayLike], Floats]

    def explain(self, Z: ArrayLike) -> "pd.DataFrame":
        """Compare samples with the target class, feature by feature.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_features)
            The samples to explain.

        Returns
        -------
        DataFrame
            One row per sample and feature: ``sample`` (the index of `Z`, or the row number), ``feature``, ``value``,
            ``median`` of the target samples (of those in the sample's own stratum, where there are several), ``side``
            (below, at, above the median), and the results for this feature only: ``tp``, the transvariation
            probability, ``p_value`` and ``univariate_rejection``, the decision of the same kind of classifier with the
            same calibration at the same sensitivity. They refer to `sample_`, at most 1,000 training samples.
        """
        Z = native_frame(Z)
        rows = self._validated(Z)
        names = getattr(self, "feature_names_in_", None)
        known, new = as_frame(self.sample_, names), as_frame(rows, names)
        if hasattr(Z, "iloc"):
            new.index = Z.index  # type: ignore[assignment, union-attr]
        return feature_table(known, new, self._stratum(self.sample_), self._stratum(rows), self._judge_feature)

    def _judge_feature(self, known: Floats, new: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Compute p-values and decisions from one feature; missing values are no evidence against a sample."""
        there, measured = np.isfinite(known), np.isfinite(new)
        column = known[there, None]
        groups = {} if self._sample_groups is None else {"groups": self._sample_groups[there]}
        classifier = self._univariate(column).set_params(sensitivity=float(np.mean(self._sensitivity)))
        p_values, accepted = np.ones(len(new)), np.ones(len(new), dtype=bool)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # `fit` issued those that concern the classifier
            classifier.fit(column, **groups)
        if measured.any():
            p_values[measured] = classifier.p_values(new[measured, None])
            accepted[measured] = classifier.predict(new[measured, None]) == 1
        return p_values, accepted

    def _univariate(self, column: Floats) -> Any:
        """Return an unfitted classifier of the same kind for one feature."""
        return clone(self)


def as_frame(X: Any, names: Any = None) -> "pd.DataFrame":
    """Convert rows to a DataFrame of their numeric columns; columns without names are called x0, x1, ..."""
    import pandas as pd

    if column_names(X) is None:
        X = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])] if names is None else names)
    return to_pandas(X).select_dtypes("number")


def to_pandas(X: Any) -> Any:
    """Convert a polars or Arrow table to pandas; return anything else as it is."""
    import pandas as pd

    names = column_names(X)
    if names is None or hasattr(X, "iloc"):
        return X
    return pd.DataFrame({name: X[name].to_numpy() for name in names})


def feature_table(
    known: "pd.DataFrame", new: "pd.DataFrame", known_strata: Indices | None, strata: Indices | None, judge: Judge
) -> "pd.DataFrame":
    """Describe every sample by every feature on its own.

    Parameters
    ----------
    known : DataFrame
        The target samples.
    new : DataFrame
        The samples to describe, with the same columns.
    known_strata, strata : ndarray of int, optional
        Median and tp refer to the target samples in the sample's own stratum.
    judge : callable
        Takes one feature of `known` and `new` and returns p-values and which samples are accepted.

    Returns
    -------
    DataFrame
        See :meth:`transvariation.base.OneClassClassifier.explain`.
    """
    import pandas as pd

    shape = new.shape
    value, median, tp, p_value = (np.full(shape, np.nan) for _ in range(4))
    accepted = np.ones(shape, dtype=bool)
    for j, name in enumerate(known.columns):
        own, value[:, j] = known[name].to_numpy(dtype=np.float64), new[name].to_numpy(dtype=np.float64)
        p_value[:, j], accepted[:, j] = judge(own, value[:, j])
        for stratum in [0] if strata is None else np.unique(strata):
            units = own if known_strata is None else own[known_strata == stratum]
            units = units[np.isfinite(units)]
            inside = np.isfinite(value[:, j]) & (True if strata is None else strata == stratum)
            if len(units) and inside.any():
                median[inside, j] = np.median(units)
                tp[inside, j] = transvariation_probability(units, value[inside, j], tau_max="half")
    side = np.sign(np.nan_to_num(value - median)).astype(int)
    return pd.DataFrame(
        {
            "sample": np.repeat(new.index.to_numpy(), shape[1]),
            "feature": np.tile(np.asarray(known.columns, dtype=object), shape[0]),
            "value": value.ravel(),
            "median": median.ravel(),
            "side": np.array(["below", "at", "above"], dtype=object)[side + 1].ravel(),
            "tp": tp.ravel(),
            "p_value": p_value.ravel(),
            "univariate_rejection": ~accepted.ravel(),
        }
    )
