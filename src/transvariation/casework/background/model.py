"""Learn a background once, and compare fragments with it many times."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from transvariation._typing import Floats
from transvariation.casework.background.likelihood_ratio import (
    MIN_SOURCES_FOR_RATIOS,
    CalibratedRatio,
    calibrate_background,
)
from transvariation.casework.background.pairs import (
    Design,
    Pairs,
    Source,
    background_rows,
    different_source_pairs,
    row_numbers,
    scaled_differences,
)
from transvariation.casework.background.rates import Rate, measure_rates
from transvariation.casework.background.same_source import SameSourceDifferences, VarianceStabilizer, source_p_values
from transvariation.casework.background.three_level import ThreeLevelModel
from transvariation.conformal import ROUNDING_ERROR, is_accepted
from transvariation.explanation import largest_p_values

N_GROUPING = 6_000  # same-source comparisons by which recovered fragments are grouped: a rough question
SENSITIVITIES = np.linspace(0.5, 1.0, 101)  # at which error rates are measured, besides the highest supported one


class Background:
    """A background, learned once for each design of comparison.

    Parameters
    ----------
    sources : sequence of sources
        Each a sequence of fragments, each an array of shape (replicates, p).
    seed : int
        Of what is drawn at random.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> levels = rng.normal(size=(40, 3))
    >>> sources = [[level + 0.1 * rng.normal(size=(2, 3)) for _ in range(4)] for level in levels]
    >>> model, design = Background(sources[1:]), Design(known=3, known_replicates=2, questioned_replicates=2)
    >>> known, questioned = model.means(sources[0][:3]).mean(axis=0), model.means([sources[0][3], sources[0][3] + 2.0])
    >>> model.differences(design).p_values((known - questioned) / np.sqrt(1 / 3 + 1)) > 0.05
    array([ True, False])
    """

    def __init__(self, sources: Sequence[Source], seed: int = 0):
        self.sources = sources
        self.seed = seed
        self.stabilizer = VarianceStabilizer().fit(sources)
        self.usable = [source for source in sources if len(source) > 1]
        self._differences: dict[Design, SameSourceDifferences] = {}
        self._others: dict[Design, tuple[Pairs, Floats]] = {}
        self._ratios: dict[Design, CalibratedRatio] = {}

    @property
    def supports_ratios(self) -> bool:
        """Whether there are enough sources for likelihood ratios."""
        return len(self.usable) >= MIN_SOURCES_FOR_RATIOS

    def means(self, fragments: Source) -> Floats:
        """Compute the means of fragments, after the transformation that stabilizes the within-source variance."""
        n = np.array([len(x) for x in fragments])
        rows = self.stabilizer.transform(np.concatenate(list(fragments)))
        return np.asarray(np.add.reduceat(rows, np.cumsum(n) - n) / n[:, None])

    def differences(self, design: Design) -> SameSourceDifferences:
        """Return the same-source differences in a design."""
        if design not in self._differences:
            self._differences[design] = SameSourceDifferences(design, self.seed).fit(self.sources)
        return self._differences[design]

    @cached_property
    def stabilized(self) -> list[list[Floats]]:
        """The usable sources, after the transformation that stabilizes the within-source variance."""
        rows = self.stabilizer.transform(background_rows(self.usable))
        return [[rows[at] for at in fragments] for fragments in row_numbers(self.usable)]

    @cached_property
    def three_level(self) -> ThreeLevelModel:
        """The model of sources, fragments and replicates."""
        return ThreeLevelModel().fit(self.stabilized)

    def calibrated(self, design: Design) -> CalibratedRatio | None:
        """Return the calibrated likelihood ratio in a design; None if the background has too few sources."""
        if not self.supports_ratios:
            return None
        if design not in self._ratios:
            model, differences = self.three_level, self.differences(design)
            self._ratios[design] = calibrate_background(model, differences, *self.others(design))
        return self._ratios[design]

    def others(self, design: Design) -> tuple[Pairs, Floats]:
        """Return different-source comparisons in a design, and their scores by the same-source differences."""
        if design not in self._others:
            model = self.differences(design)
            rng = np.random.default_rng(self.seed)
            pairs = different_source_pairs(model.pairs_, rng, whitening=model.whitening_)
            self._others[design] = pairs, model.score(scaled_differences(pairs))
        return self._others[design]

    def univariate_p_values(self, pair: Pairs, design: Design) -> Floats:
        """Compute the p-value of a comparison by each variable only, corrected for the number of variables."""
        model = self.differences(design)
        own, case = (np.abs(scaled_differences(pairs)) for pairs in (model.pairs_, pair))
        return largest_p_values(own, case, lambda known, new: source_p_values(known, new, model.pairs_.source))[0]

    def pair_differences(self, replicates: int) -> SameSourceDifferences:
        """Learn the differences of one fragment from one other, with few draws."""
        design = Design(1, 1, replicates, replicates)
        return SameSourceDifferences(design, self.seed, n_pairs=N_GROUPING).fit(self.sources)

    def pair_p_values(self, means: Floats, replicates: int) -> Floats:
        """Compute p-values of all pairs of fragments, one against one."""
        first, second = np.triu_indices(len(means), 1)
        model = self.pair_differences(replicates)
        found = np.ones((len(means), len(means)))
        found[first, second] = found[second, first] = model.p_values((means[first] - means[second]) / np.sqrt(2))
        return found

    def source_p_values(self, center: Floats, design: Design) -> Floats:
        """Compute for every background source the median p-value of its fragments, questioned in this design.

        Parameters
        ----------
        center : ndarray of shape (p,)
            The mean of the control fragments, as `means` transforms them.
        design : Design
        """
        model, scale = self.differences(design), np.sqrt(1 / design.known + 1)
        means = [self.means([x[: design.questioned_replicates] for x in source]) for source in self.usable]
        p = model.p_values((center - np.concatenate(means)) / scale)
        return np.array([np.median(each) for each in np.split(p, np.cumsum([len(m) for m in means])[:-1])])

    def error_rates(self, design: Design, sensitivities: Sequence[float]) -> tuple[list[Rate], list[Rate]]:
        """Measure false exclusion and false inclusion at sensitivities; sources are left out in turn."""
        model, (others, scores) = self.differences(design), self.others(design)
        pairs = model.pairs_
        same, different = model.held_out_p_values(), source_p_values(model.calibration_, scores, pairs.source)
        highest = 1 - 1 / model.n_sources_  # of the other sources, among which each is ranked
        excluded = np.column_stack([~is_accepted(same, min(x, highest)) for x in sensitivities])
        included = np.column_stack([is_accepted(different, x) for x in sensitivities])
        return (
            measure_rates(excluded, pairs.source, weight=pairs.weight),
            measure_rates(included, others.source, others.other, others.weight),
        )

    def rates(self, design: Design) -> dict[str, tuple[float, ...]]:
        """Measure the error rates at many sensitivities, up to the highest one that the sources support."""
        n = self.differences(design).n_sources_
        highest = n / (n + 1)
        chosen = (*SENSITIVITIES[highest - ROUNDING_ERROR > SENSITIVITIES].tolist(), highest)
        found: dict[str, tuple[float, ...]] = {"sensitivity": chosen}
        for name, rates in zip(("exclusion", "inclusion"), self.error_rates(design, chosen), strict=True):
            for suffix, part in (("", "share"), ("_low", "low"), ("_high", "high"), ("_n", "n")):
                found[f"false_{name}{suffix}"] = tuple(float(getattr(rate, part)) for rate in rates)
        return found


def bound_of(value: float, ratio: CalibratedRatio) -> str:
    """Return "at most" or "at least" for a log10 ratio at a bound, and nothing for any other."""
    low, high = ratio.performance.bounds
    return "at most" if value <= low else "at least" if value >= high else ""
