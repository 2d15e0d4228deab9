"""Check whether a case was measured as its background was: where it lies, and how much it varies.

A background of another laboratory makes promises that do not hold. Where the case varies less than the background,
fragments of other sources escape exclusion; where it varies more, fragments of the control's source are excluded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from transvariation._typing import Floats, Indices
from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import Source, subsample_rows
from transvariation.casework.background.three_level import log_density, shrunk_covariance
from transvariation.conformal import is_accepted

REFUSED, CAUTIONED = 0.02, 0.05  # the shares of cases of the background's own laboratory, about
N_SETS = 4  # drawn from each source
_N_FOLDS = 10  # of sources: how far one lies from the others is measured by the covariance of the other folds
SIGNS = (("outside",) * 2, ("varies-less", "varies-more"), ("varies-less", "varies-more"), ("pattern",) * 2)
LEAST_VARIANCE = 0.01  # of the mean variance within sources: rounded values may not vary at all


@dataclass(frozen=True)
class Transfer:
    """How unlike the background a case is.

    Attributes
    ----------
    p_value : float
        The share of background sources that are as unlike the others, in all respects together.
    signs : tuple of str
        The respects in which the case is most unlike: "outside", "varies-less", "varies-more", "pattern" (of the
        variation of replicates over the variables).
    n : int
        The number of background sources.
    """

    p_value: float
    signs: tuple[str, ...]
    n: int

    @property
    def refused(self) -> bool:
        """Whether likelihood ratios are refused."""
        return not is_accepted(self.p_value, 1 - max(REFUSED, 1 / (self.n + 1)))

    @property
    def cautioned(self) -> bool:
        """Whether the error rates may not hold."""
        return not is_accepted(self.p_value, 1 - max(CAUTIONED, 1 / (self.n + 1)))


class TransferCheck:
    """Compare cases of one size with the sources of a background.

    Four statistics are computed of the case and of sets of fragments of every source: the density of sources at the
    control mean, the variation of control fragments, that of the replicates of a fragment, on average over all
    fragments, and how the latter is distributed over the variables. Each is measured from its median, in units of the
    distance to its 5% or 95% quantile. The sum of squares is ranked among those of the sources, so that the four need
    not be independent.

    Parameters
    ----------
    background : Background
    known : int
        The number of control fragments.
    replicates : int
        Of each, as they are compared with the background.
    fragments : int
        The number of fragments of the case; a source with fewer gives all.
    measured : int, optional
        How often a fragment of the case was measured, if each source of the background is one fragment whose
        replicates stand for fragments. Then its sources show how replicates vary.
    """

    def __init__(
        self, background: Background, known: int, replicates: int, fragments: int, measured: int | None = None
    ):
        self.background, self.known, self.replicates = background, known, replicates
        rng = np.random.default_rng(background.seed)
        sources = background.stabilized
        usual = int(np.median([len(source) for source in sources]))
        self._rows = replicates if measured is None else min(measured, usual)
        own = np.repeat(np.arange(len(sources)), N_SETS)
        drawn = [[sources[i][j] for j in rng.permutation(len(sources[i]))[:fragments]] for i in own]
        compared = [[subsample_rows(x, replicates, rng) for x in each] for each in drawn]
        if measured is not None:
            drawn = [[np.concatenate(sources[i])] for i in own]
        repeated = [[subsample_rows(x, self._rows, rng) for x in each] for each in drawn]
        centers = np.array([_center(each[:known]) for each in compared])
        variances = [_between(each[:known]) for each in compared], [_within(each) for each in repeated]
        self._typical = [_typical(each) for each in variances]
        self._pattern = 0.0, 1.0
        pattern = self._relative(self._logs(variances)[1])
        self._pattern = pattern.mean(axis=0), np.maximum(pattern.std(axis=0), LEAST_VARIANCE)
        self._statistics = self._describe(self._locations(centers, own), variances)
        self._middle = np.median(self._statistics, axis=0)
        away = np.nan_to_num(self._statistics - self._middle)
        ends = np.abs(np.quantile(away, (CAUTIONED, 1 - CAUTIONED), axis=0))
        self._ends = np.where(ends > 0, ends, 1.0)
        beyond = [np.maximum(sign * away / end - 1, 0.0) for sign, end in zip((-1, 1), self._ends, strict=True)]
        excess = np.array([each.sum(axis=0) / np.maximum((each > 0).sum(axis=0), 1) for each in beyond])
        self._excess = np.where(excess > 0, excess, 1.0)
        self._joint = np.sort(self._unlike(self._statistics)[1])

    def check(self, known: Source, recovered: Source) -> Transfer:
        """Check a case.

        Parameters
        ----------
        known, recovered : sequence of ndarray
            The measurements of each fragment, of shape (replicates, p).
        """
        own = [self.background.stabilizer.transform(x) for x in (*known, *recovered)]
        compared = [x[: self.replicates] for x in own[: len(known)]]
        variances = [_between(compared)], [_within([x[: self._rows] for x in own])]
        case = self._describe(self._locations(_center(compared)[None]), variances)
        signed, joint = self._unlike(case)
        n = len(self.background.usable)
        p_value = (1 + int(np.count_nonzero(self._joint >= joint[0])) / N_SETS) / (n + 1)
        return Transfer(p_value, tuple(dict.fromkeys(self._signs(signed[0]))), n)

    def _signs(self, signed: Floats) -> Iterator[str]:
        """Name the respects that make most of the difference."""
        for words, z in zip(SIGNS, signed, strict=True):
            if abs(z) >= max(1.0, np.abs(signed).max() / 2):
                yield words[int(z > 0)]

    def _unlike(self, statistics: Floats) -> tuple[Floats, Floats]:
        """Compute how rare each statistic is, with the sign of its distance from the middle, and the sum of squares.

        The unit is the distance to the 5% or 95% quantile, and beyond it the mean excess of the sources over it, for
        heavy tails have larger ones. A high density of sources and a usual pattern of variation are not unlike; what a
        case is too small for is zero.
        """
        away = np.nan_to_num(statistics - self._middle)
        upper = (away > 0).astype(int)
        z = np.abs(away) / np.take_along_axis(self._ends, upper, axis=0)
        z = np.where(z > 1, 1 + (z - 1) / np.take_along_axis(self._excess, upper, axis=0), z) * np.sign(away)
        z[:, 0] = np.minimum(z[:, 0], 0.0)
        z[:, 3] = np.maximum(z[:, 3], 0.0)
        return z, (z**2).sum(axis=1)

    def _locations(self, centers: Floats, own: Indices | None = None) -> Floats:
        """Compute the log density of sources at means; a source's own mean is left out."""
        model = self.background.three_level
        levels = model.levels_
        error = (levels.fragment + levels.replicate / self.replicates) / self.known
        if own is None:
            return log_density(centers, model.sources_, model.kernel_ + error, model.kernel_freedom_)
        found, fold = np.empty(len(centers)), own % _N_FOLDS
        for number in np.unique(fold):
            others = model.sources_[np.arange(len(model.sources_)) % _N_FOLDS != number]
            between = shrunk_covariance(others - others.mean(axis=0), len(others) - 1)
            at = fold == number
            kernel = model.bandwidth_**2 * between + error
            found[at] = log_density(centers[at], model.sources_, kernel, model.kernel_freedom_, own[at][:, None])
        return found

    def _logs(self, variances: Sequence[Sequence[Floats]]) -> list[Floats]:
        return [
            np.array([np.log(x / typical + LEAST_VARIANCE).mean(axis=0) for x in each])
            for each, typical in zip(variances, self._typical, strict=True)
        ]

    def _relative(self, logs: Floats) -> Floats:
        """Compute how the variation is distributed over the variables, relative to the background."""
        center, spread = self._pattern
        return np.asarray((logs - logs.mean(axis=1, keepdims=True) - center) / spread)

    def _describe(self, locations: Floats, variances: Sequence[Sequence[Floats]]) -> Floats:
        """Collect the four statistics; NaN where a case is too small for one."""
        fragments, replicates = self._logs(variances)
        pattern = (self._relative(replicates) ** 2).sum(axis=1)
        return np.column_stack([locations, fragments.mean(axis=1), replicates.mean(axis=1), pattern])


def _center(fragments: Sequence[Floats]) -> Floats:
    return np.asarray(np.mean([x.mean(axis=0) for x in fragments], axis=0))


def _between(fragments: Sequence[Floats]) -> Floats:
    """Compute the variances of the means of fragments, by variable; NaN of one fragment."""
    means = np.array([x.mean(axis=0) for x in fragments])
    return means.var(axis=0, ddof=1, keepdims=True) if len(means) > 1 else np.full_like(means, np.nan)


def _within(fragments: Sequence[Floats]) -> Floats:
    """Compute the variances of the replicates of each fragment, by variable; NaN if no fragment has several."""
    found = [x.var(axis=0, ddof=1) for x in fragments if len(x) > 1]
    return np.array(found) if found else np.full((1, fragments[0].shape[1]), np.nan)


def _typical(variances: Sequence[Floats]) -> Floats:
    mean = np.concatenate(variances).mean(axis=0)
    return np.where(mean > 0, mean, 1.0)
