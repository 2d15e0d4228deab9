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
N_FOLDS = 10  # of sources: how far one lies from the others is measured by the covariance of the other folds
SIGNS = (("outside",) * 2, ("varies-less", "varies-more"), ("varies-less", "varies-more"), ("pattern",) * 2)
LEAST = 0.01  # of the mean variance within sources: rounded values may not vary at all


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
    control mean, the variation of control fragments, that of the replicates of all fragments, and how the latter is
    distributed over the variables. Each is measured from its median, in units of the distance to its 5% or 95%
    quantile. The sum of squares is ranked among those of the sources, so that the four need not be independent.

    Parameters
    ----------
    background : Background
    known : int
        The number of control fragments.
    replicates : int
        Of each.
    fragments : int
        The number of fragments of the case; a source with fewer gives all.
    """

    def __init__(self, background: Background, known: int, replicates: int, fragments: int):
        self.background, self.known, self.replicates = background, known, replicates
        rng = np.random.default_rng(background.seed)
        sources = [[background.stabilizer.transform(x) for x in source] for source in background.usable]
        drawn = [
            [subsample_rows(source[i], replicates, rng) for i in rng.permutation(len(source))[:fragments]]
            for source in sources
            for _ in range(N_SETS)
        ]
        own = np.repeat(np.arange(len(sources)), N_SETS)
        centers = np.array([_center(fragments[:known]) for fragments in drawn])
        variances = [np.array(each) for each in zip(*(_variances(x, known) for x in drawn), strict=True)]
        self._typical = [np.where(each.mean(axis=0) > 0, each.mean(axis=0), 1.0) for each in variances]
        self._pattern = 0.0, 1.0
        pattern = self._relative(self._logs(variances)[1])
        self._pattern = pattern.mean(axis=0), np.maximum(pattern.std(axis=0), LEAST)
        self._statistics = self._describe(self._locations(centers, own), variances)
        self._middle = np.median(self._statistics, axis=0)
        self._ends = np.quantile(self._statistics, (CAUTIONED, 1 - CAUTIONED), axis=0) - self._middle
        self._joint = np.sort(self._unlike(self._statistics)[1])

    def check(self, known: Source, recovered: Source) -> Transfer:
        """Check a case.

        Parameters
        ----------
        known, recovered : sequence of ndarray
            The measurements of each fragment, of shape (replicates, p).
        """
        own = [self.background.stabilizer.transform(x) for x in (*known, *recovered)]
        variances = [each[None] for each in _variances(own, len(known))]
        case = self._describe(self._locations(_center(own[: len(known)])[None]), variances)
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
        """Compute signed distances from the middle of the background, and the sum of their squares.

        A high density of sources and a usual pattern of variation are not unlike; what a case is too small for is zero.
        """
        away = np.nan_to_num(statistics - self._middle)
        ends = np.abs(np.where(away < 0, *self._ends))
        z = away / np.where(ends > 0, ends, 1.0)
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
        found, fold = np.empty(len(centers)), own % N_FOLDS
        for number in np.unique(fold):
            others = model.sources_[np.arange(len(model.sources_)) % N_FOLDS != number]
            between = shrunk_covariance(others - others.mean(axis=0), len(others) - 1)
            at = fold == number
            kernel = model.bandwidth_**2 * between + error
            found[at] = log_density(centers[at], model.sources_, kernel, model.kernel_freedom_, own[at][:, None])
        return found

    def _logs(self, variances: Sequence[Floats]) -> list[Floats]:
        return [np.log(each / typical + LEAST) for each, typical in zip(variances, self._typical, strict=True)]

    def _relative(self, logs: Floats) -> Floats:
        """Compute how the variation is distributed over the variables, relative to the background."""
        center, spread = self._pattern
        return np.asarray((logs - logs.mean(axis=1, keepdims=True) - center) / spread)

    def _describe(self, locations: Floats, variances: Sequence[Floats]) -> Floats:
        """Collect the four statistics; NaN where a case is too small for one."""
        fragments, replicates = self._logs(variances)
        pattern = (self._relative(replicates) ** 2).sum(axis=1)
        return np.column_stack([locations, fragments.mean(axis=1), replicates.mean(axis=1), pattern])


def _center(fragments: Sequence[Floats]) -> Floats:
    return np.asarray(np.mean([x.mean(axis=0) for x in fragments], axis=0))


def _variances(fragments: Sequence[Floats], known: int) -> tuple[Floats, Floats]:
    """Compute the variances, by variable, of the means of the first fragments and of the replicates of all."""
    p = fragments[0].shape[1]
    means = np.array([x.mean(axis=0) for x in fragments[:known]])
    several = [x - x.mean(axis=0) for x in fragments if len(x) > 1]
    of_means = means.var(axis=0, ddof=1) if len(means) > 1 else np.full(p, np.nan)
    freedom = sum(len(x) - 1 for x in several)
    of_rows = (np.concatenate(several) ** 2).sum(axis=0) / freedom if several else np.full(p, np.nan)
    return of_means, of_rows
