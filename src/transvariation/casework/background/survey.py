"""Likelihood ratio of one variable with a survey of single values, such as one refractive index per pane.

A survey shows how sources differ, not how much fragments of one source do. That comes from the replicates of the case
or from experience. The ratio is the continuous one of Evett (1986), with a kernel density of the survey.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, t

from transvariation._typing import Floats
from transvariation.casework.background.rates import Rate, measure_rate
from transvariation.conformal import is_accepted

SURVEY = "survey"  # the name of the likelihood-ratio system


@dataclass(frozen=True)
class Survey:
    """A survey with one value per source, as a case uses it.

    Attributes
    ----------
    n : int
        The number of surveyed sources.
    within : float
        The standard deviation of measurements of one source; of several fragments, their median.
    freedom : float or None
        Its degrees of freedom; None if it was given.
    source_p_values : dict
        By surveyed source: the p-value of Student's t-test of its value against the control, for those above 0.01.
    """

    n: int
    within: float
    freedom: float | None
    source_p_values: dict[str, float]

    def indistinguishable(self, sensitivity: float) -> tuple[tuple[str, ...], Rate]:
        """Return the surveyed sources that the test does not distinguish from the control, and their share."""
        found = tuple(name for name, p in self.source_p_values.items() if is_accepted(p, sensitivity))
        return found, measure_rate(np.arange(self.n) < len(found), np.arange(self.n))


@dataclass(frozen=True)
class SurveyComparison:
    """The comparison of known with questioned measurements of one variable by a survey.

    Attributes
    ----------
    log10_lr : float
        Its size is at most the logarithm of the number of surveyed sources plus one: a survey shows no rarer value, and
        tails of a normal distribution are not known so far out.
    bound : str
        "at least" or "at most" if the ratio is at a bound.
    p_value : float
        Of Student's t-test of equal means.
    within : float
        The standard deviation of measurements of one source.
    freedom : float
        Its degrees of freedom; infinity if it was given.
    source_p_values : ndarray of shape (n,)
        Of the same test of the known mean against the value of each surveyed source.
    """

    log10_lr: float
    bound: str
    p_value: float
    within: float
    freedom: float
    source_p_values: Floats


def compare_with_survey(
    known: Sequence[ArrayLike],
    questioned: ArrayLike,
    survey: ArrayLike,
    within: float | None = None,
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

    Examples
    --------
    >>> survey = np.random.default_rng(0).normal(1.5180, 0.0020, size=500)
    >>> found = compare_with_survey([[1.51981, 1.51983, 1.51982]], [1.51982, 1.51984], survey)
    >>> found.log10_lr > 1, found.p_value > 0.1
    (True, True)
    >>> compare_with_survey([[1.51981, 1.51983, 1.51982]], [1.52301, 1.52304], survey).bound
    'at most'
    """
    x = np.concatenate([np.asarray(part, dtype=float).ravel() for part in known])
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
    # With the tails of the numerator: lighter ones would make a value beyond the survey evidence for a common source.
    density = law.logpdf((y.mean() - values) / width) - np.log(width)
    ratio = float((numerator - np.logaddexp.reduce(density) + np.log(len(values))) / np.log(10))
    highest = float(np.log10(len(values) + 1))
    p_values = 2 * law.sf(np.abs(x.mean() - values) / error)
    return SurveyComparison(
        log10_lr=min(max(ratio, -highest), highest),
        bound="at least" if ratio >= highest else "at most" if ratio <= -highest else "",
        p_value=float(2 * law.sf(abs(x.mean() - y.mean()) / error)),
        within=within,
        freedom=freedom,
        source_p_values=p_values,
    )


def summarize(names: Sequence[str], comparisons: Sequence[SurveyComparison]) -> Survey:
    """Summarize the comparisons of all fragments of a case with a survey.

    Parameters
    ----------
    names : sequence of str
        Of the surveyed sources.
    comparisons : sequence of SurveyComparison
        One per recovered fragment.
    """
    middle = sorted(comparisons, key=lambda found: found.within)[len(comparisons) // 2]
    alike = zip(names, middle.source_p_values.tolist(), strict=True)
    freedom = None if np.isinf(middle.freedom) else middle.freedom
    return Survey(len(names), middle.within, freedom, {name: p for name, p in alike if is_accepted(p, 0.99)})
