"""Warnings about a promise that does not hold, or holds for nothing; the error of columns that determine each other."""

import os
import sys
import warnings
from collections.abc import Sequence

__all__ = [
    "DuplicatedSamples",
    "LabelsIgnored",
    "NoGuarantee",
    "OrderedScores",
    "OutliersLeftOut",
    "RejectsNearlyAll",
    "RejectsNothing",
    "SmallOverlap",
    "TooFewSamples",
    "TooFewToDiscover",
    "UnknownCategories",
]

_PACKAGE = os.path.dirname(__file__) + os.sep


class RejectsNothing(UserWarning):
    """The threshold is the lowest attainable score, so the classifier accepts everything."""


class RejectsNearlyAll(UserWarning):
    """Nearly all new samples have the lowest attainable score, below the threshold."""


class NoGuarantee(UserWarning):
    """P-values are ranks among scores of training samples, which new samples need not resemble."""


class OutliersLeftOut(UserWarning):
    """Training samples that are labeled as outliers are not used."""


class LabelsIgnored(UserWarning):
    """Training samples are labeled 0 and 1, which may mark outliers; all of them are used."""


class UnknownCategories(UserWarning):
    """Held-out samples have categories that the classifier fitted without them does not know."""


class DuplicatedSamples(UserWarning):
    """Many training samples are copies of others."""


class TooFewSamples(UserWarning):
    """The calibration samples are too few to support the sensitivity."""


class TooFewToDiscover(UserWarning):
    """No sample can be declared: the calibration samples are too few for so many samples at this level."""


class OrderedScores(UserWarning):
    """Neighboring rows are alike, or their scores are correlated: the samples are not exchangeable."""


class SmallOverlap(UserWarning):
    """New samples lie where there are hardly any known samples, or are too few to tell."""


class SingularCovariance(ValueError):
    """Columns make the covariance matrix singular; `problem` has the place `{columns}` for them."""

    def __init__(self, problem: str, columns: Sequence[int] | Sequence[str]) -> None:
        named = ("column " if len(columns) == 1 else "columns ") + ", ".join(map(repr, columns))
        super().__init__(f"the covariance matrix is singular: {problem.format(columns=named)}")
        self.problem, self.columns = problem, columns

    def with_names(self, names: Sequence[str] | None) -> "SingularCovariance":
        """Return the same error with names instead of the numbers of columns, if there are any."""
        if names is None:
            return self
        return SingularCovariance(self.problem, [names[int(column)] for column in self.columns])


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the calling line outside this package.

    Python shows a warning once for a line, but forgets that it did whenever a library changes the filters, as
    scikit-learn does in every fit: a fit in a loop may show it each time.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
