"""Choose and prepare the variables of a case: ranges of an axis, variables left out, preprocessing."""

from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from transvariation._typing import Floats
from transvariation.casework.errors import CaseError
from transvariation.preprocessing import SavitzkyGolay, make_preprocessing
from transvariation.preprocessing.steps import STEPS
from transvariation.tables import Table
from transvariation.tables.axis import positions
from transvariation.tables.headers import MIN_POSITIONS, locate, split_unit

Ranges = Sequence[tuple[float, float]]

MANY_VARIABLES = 100  # variables; of more, reasons name a few, and comparisons with a background use components
MOST_COMPONENTS = 10
ENOUGH_VARIANCE = 0.99  # the share of the variance beyond which no more components are used


def spectral_axis(features: Sequence[str]) -> Floats | None:
    """Return the positions of a spectrum; None unless all names are numbers that rise or fall from column to column.

    Examples
    --------
    >>> spectral_axis([str(800 + i) for i in range(20)])[:2], spectral_axis(["Na", "Mg"])
    (array([800., 801.]), None)
    """
    found = positions(features)
    if len(features) < MIN_POSITIONS or len(found) < len(features):
        return None
    axis = np.array(list(found.values()))
    steps = np.sign(np.diff(axis))
    return axis if steps[0] and (steps == steps[0]).all() else None


def check_preprocess(steps: str) -> str:
    """Return the steps of a preprocessing as they are written, such as "snv,sg1"; refuse others."""
    try:
        preprocessing = make_preprocessing(steps)
        for _, step in preprocessing.steps:
            if isinstance(step, SavitzkyGolay):
                step.fit(np.zeros((1, step.window_length)))
    except ValueError as error:
        raise ValueError(f"={steps!r}: {error}") from error
    return ",".join(preprocessing.named_steps)


def preprocessing_for(steps: str, features: Sequence[str]) -> Pipeline:
    """Make the preprocessing of spectra with these variables; refuse a filter that is wider than they are."""
    n_features = len(features)
    preprocessing = make_preprocessing(steps, spectral_axis(features))
    widths = [getattr(step, "window_length", 1 + getattr(step, "degree", 0)) for _, step in preprocessing.steps]
    if n_features < (fewest := max(3, *widths)):
        raise CaseError("few-positions", remedy="preprocess", steps=steps, need=fewest, n=n_features)
    return preprocessing


class Components(TransformerMixin, BaseEstimator):
    """Summarize spectra by a few principal components and what these leave.

    Comparisons with a background need the covariance of the variables, which thousands of positions make large
    and uncertain. The last column is the logarithm of the length of the residual: a band that the
    background does not have is seen there.
    """

    def fit(self, X: Floats, y: object = None) -> "Components":
        """Compute the principal components of spectra."""
        self.mean_ = X.mean(axis=0)
        _, singular, loadings = np.linalg.svd(X - self.mean_, full_matrices=False)
        shares = np.cumsum(singular**2) / max(float((singular**2).sum()), np.finfo(float).tiny)
        n = min(int(np.searchsorted(shares, ENOUGH_VARIANCE)) + 1, MOST_COMPONENTS)
        self.components_, self.explained_ = loadings[:n], float(shares[n - 1])
        self.smallest_ = 1e-12 * max(float(singular[0]), np.finfo(float).tiny)  # an empty residual has no logarithm
        return self

    def transform(self, X: Floats) -> Floats:
        """Compute the scores and the logarithm of the length of the residual."""
        centered = X - self.mean_
        scores = centered @ self.components_.T
        rest = np.linalg.norm(centered - scores @ self.components_, axis=1, keepdims=True)
        return np.hstack([scores, np.log(np.maximum(rest, self.smallest_))])


def without_derivatives(preprocess: str) -> str | None:
    """Return the steps that leave a spectrum readable, in which it is shown and explained.

    Examples
    --------
    >>> without_derivatives("snv,sg1")
    'snv'
    """
    kept = [step for step in preprocess.split(",") if STEPS[step.split(":")[0]].readable]
    return ",".join(kept) or None


def select_ranges(features: Sequence[str], ranges: Ranges) -> list[str]:
    """Return the variables whose names are numbers within one of the ranges."""
    found = positions(features)
    chosen = [name for name, x in found.items() if any(low <= x <= high for low, high in ranges)]
    if not chosen:
        words, numbers = [f"{low:g} to {high:g}" for low, high in ranges], list(found.values())
        if not found:
            raise CaseError("ranges-without-numbers", remedy="ranges", ranges=words)
        raise CaseError("empty-ranges", remedy="ranges", ranges=words, low=min(numbers), high=max(numbers))
    return chosen


def check_without(without: Sequence[str], *tables: Table) -> None:
    """Refuse a variable to leave out that no table has."""
    for name in without:
        if all(locate([name], list(t.roles))[0] is None for t in tables):
            some = [split_unit(h)[0] for h, role in tables[0].roles.items() if role in ("measurement", "ignore")]
            there = [*some[:12], *(["others"] if len(some) > 12 else [])]
            raise CaseError("no-variable-to-leave-out", remedy="without", name=name, there=there)
