"""Compare samples with a target class, feature by feature."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from transvariation.depth.probability import transvariation_probability
from transvariation.validation import column_names

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Judge = Callable[[Floats, Floats], tuple[Floats, NDArray[np.bool_]]]


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
