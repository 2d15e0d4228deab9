"""The door of every classifier: what may be learned from or judged, one object per row."""

import math
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

Floats = NDArray[np.float64]


def validate_rows(rule: Any, X: ArrayLike, *, reset: bool, at_least: int = 1) -> Floats:
    """Return finite numbers, one object per row, or say what is wrong with them.

    With `reset` the rule learns how many variables there are and their names, and gets a copy of its own, whatever
    becomes of `X`; else they are compared with those. scikit-learn does all of this. For a plain array of finite
    numbers it comes to the few lines here, and then its search for anything else takes longer than to learn from a
    thousand objects.
    """
    named = hasattr(rule, "feature_names_in_")
    if _plainly_rows(X, at_least) and (reset or (not named and rule.n_features_in_ == X.shape[1])):
        if reset:
            rule.n_features_in_ = X.shape[1]
            if named:
                del rule.feature_names_in_
        return X.copy() if reset else X
    finite = "allow-nan" if get_tags(rule).input_tags.allow_nan else True
    with np.errstate(invalid="ignore"):  # it too tries a sum, in which infinities may meet
        return validate_data(
            rule, X, reset=reset, dtype=np.float64, copy=reset, ensure_min_samples=at_least, ensure_all_finite=finite
        )


def _plainly_rows(X: ArrayLike, at_least: int) -> TypeGuard[Floats]:
    if type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2 or len(X) < at_least or not X.shape[1]:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(X.sum())  # a finite sum has finite terms
