"""Likelihood ratio of one variable with a survey of single values, such as one refractive index per pane.

A survey shows how sources differ, not how much fragments of one source do. That comes from the replicates of the case
or from experience. The ratio is the continuous one of Evett (1986), with a kernel density of the survey.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, t

from transvariation.casework.background.rates import Rate, measure_rate
from transvariation.conformal import is_accepted


@dataclass(frozen=True)
class SurveyComparison:
    """The comparison of known with questioned measurements of one variable by a survey.

    Attributes
    ----------
    log10_lr : float
        At most the logarithm of the number of surveyed sources plus one: a survey shows no rarer value.
    bound : str
        "at least" if the ratio is at that bound.
    p_value : float
        Of Student's t-test of equal means.
    within : float
        The standard deviation of measurements of one source.
    freedom : float
        Its degrees of freedom; infinity if it was given.
    indistinguishable : Rate
        The share of surveyed sources whose value the t-test would not distinguish from the known mean.
    """

    log10_lr: float
    bound: str
    p_value: float
    within: float
    freedom: float
    indistinguishable: Rate


def compare_with_survey(
    known: Sequence[ArrayLike],
    questioned: ArrayLike,
    survey: ArrayLike,
    within: float | None = None,
    sensitivity: float = 0.9,
) -> SurveyComparison:
    """Compare measurements of one variable with a survey of single values.

    Parameters
    ----------
    known : sequence of array-like
        The measurements of the known; fragments are not told apart.
    questioned : array-like of shape (m,)
        The measurements of one questioned fragment.
    survey : array-like of shape (n,)
        One value per source.
    within : float, optional
        The standard deviation of measurements of one source; by default pooled from the known and the questioned ones.
    sensitivity : float
        At which surveyed sources are counted.

    Returns
    -------
    SurveyComparison

    Examples
    --------
    >>> survey = np.random.default_rng(0).normal(1.5180, 0.0020, size=500)
    >>> found = compare_with_survey([[1.51981, 1.51983, 1.51982]], [1.51982, 1.51984], survey)
    >>> found.log10_lr > 1, found.p_value > 0.1
    (True, True)
    >>> compare_with_survey([[1.51981, 1.51983, 1.51982]], [1.52301, 1.52304], survey).log10_lr < -3
    True
    """
    x = np.concatenate([np.atleast_1d(np.asarray(part, dtype=float)) for part in known])
    y, values = np.asarray(questioned, dtype=float), np.asarray(survey, dtype=float)
    freedom = float("inf")
    if within is None:
        freedom = float(len(x) + len(y) - 2)
        squares = ((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum()
        within = float(np.sqrt(squares / freedom)) if freedom > 0 else 0.0
    if not within > 0:
        raise ValueError(
            "the measurements do not show how much those of one source vary: give replicates that differ, or the "
            "standard deviation of measurements of one source as `within`"
        )
    error = within * np.sqrt(1 / len(x) + 1 / len(y))
    law = norm if np.isinf(freedom) else t(freedom)
    spread = min(values.std(ddof=1), np.subtract(*np.quantile(values, (0.75, 0.25))) / 1.34) or values.std(ddof=1)
    width = np.hypot(0.9 * spread * len(values) ** -0.2, within / np.sqrt(len(y)))
    numerator = law.logpdf((x.mean() - y.mean()) / error) - np.log(error)
    density = norm.logpdf((y.mean() - values) / width) - np.log(width)
    ratio = float((numerator - np.logaddexp.reduce(density) + np.log(len(values))) / np.log(10))
    highest = float(np.log10(len(values) + 1))
    p_values = 2 * law.sf(np.abs(x.mean() - values) / error)
    return SurveyComparison(
        log10_lr=min(ratio, highest),
        bound="at least" if ratio >= highest else "",
        p_value=float(2 * law.sf(abs(x.mean() - y.mean()) / error)),
        within=within,
        freedom=freedom,
        indistinguishable=measure_rate(is_accepted(p_values, sensitivity), np.arange(len(values))),
    )
