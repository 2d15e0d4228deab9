"""Compare recovered with control fragments by a background: same-source differences and likelihood ratios."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.spatial import KDTree

from transvariation.casework.background.likelihood_ratio import MIN_SOURCES, SYSTEM, CalibratedRatio, LikelihoodSystem
from transvariation.casework.background.pairs import (
    Design,
    Pairs,
    Source,
    different_source_pairs,
    one_pair,
    scaled_differences,
)
from transvariation.casework.background.same_source import SameSourceDifferences, VarianceStabilizer, source_p_values
from transvariation.casework.checks import homogeneity_check, replicate_check
from transvariation.casework.conclusions import Calibration
from transvariation.casework.control_comparison import MAX_GROUPED, Evidence, Ratios, group_fragments
from transvariation.casework.fragments import Floats
from transvariation.casework.reading import CaseTables
from transvariation.conformal import group_weights
from transvariation.scalings import Standardization

RATES = np.linspace(0.5, 1.0, 101)  # the sensitivities at which error rates are measured
N_DIFFERENT = 2_000  # pairs of different sources for error rates
DESCRIPTION = (
    "The mean of the recovered fragment is compared with the mean of the control fragments. Differences between "
    "fragments of one source, taken from every background source in the same design, form the class of same-source "
    "differences. The transvariation probability (tp) of the case's difference is the share of them that lie at least "
    "as far from their nearest ones, after whitening by the within-source covariance. Every variable is first "
    "transformed so that fragments of one source vary equally at every level."
)


def compare_with_background(tables: CaseTables, seed: int, progress: Callable[[str, float], None]) -> Evidence:
    """Judge recovered fragments by the same-source differences of a background, and compute likelihood ratios."""
    kept, k, r_known = tables.kept, len(tables.control.names), tables.control.n_replicates
    background = _Background(tables.background, seed)
    control, recovered = (
        np.array(
            [background.stabilizer.transform(tables.prepared(x)[:, kept]).mean(axis=0) for x in fragments.replicates]
        )
        for fragments in (tables.control, tables.recovered)
    )
    background.cautions += _scale_cautions(tables, control.mean(axis=0), background.centers)
    univariate = np.ones(tables.recovered.means.shape)
    ranks, ratios = np.empty(len(recovered)), []
    counts = [len(rows) for rows in tables.recovered.rows]
    for i, r in enumerate(counts):
        progress(f"comparing with the background, fragment {i + 1} of {len(counts)}", i / len(counts))
        design = Design(k, 1, r_known, r)
        pair = one_pair(control.mean(axis=0), recovered[i], design)
        ranks[i] = background.p_value(pair, design)
        if not tables.is_summarised:  # a component is no variable that could be a reason
            univariate[i, kept] = background.univariate_p_values(pair, design)
        ratios.append(background.log10_lr(pair, design))
    usual = Design(k, 1, r_known, sorted(counts)[len(counts) // 2])
    evidence = Evidence(_background_calibration(background.differences(usual), seed), ranks, univariate, ratios=ratios)
    if k > 1:
        p = background.differences(usual).dispersion_p_value(control)
        words = "differ from each other more than fragments of one background source do"
        # Few sources give no smaller p-values than this level.
        evidence.checks.append(homogeneity_check(tables.control, p, words, level=0.05))
    replicates = [tables.prepared(x)[:, kept] for x in (*tables.control.replicates, *tables.recovered.replicates)]
    share = background.differences(usual).replicate_p_value(replicates)
    if share is not None:
        evidence.checks.append(replicate_check(share, level=0.05))
    if 2 <= len(recovered) <= MAX_GROUPED:
        for group in group_fragments(background.pair_p_values(recovered, usual.questioned_replicates)):
            design = Design(k, len(group), r_known, usual.questioned_replicates)
            pair = one_pair(control.mean(axis=0), recovered[group].mean(axis=0), design)
            found = background.p_value(pair, design), background.log10_lr(pair, design)
            evidence.groups.append((group, *found))
    if usual in background.ratios:
        evidence.likelihood = {SYSTEM: background.ratios[usual].performance}
    evidence.cautions = background.cautions
    return evidence


def _scale_cautions(tables: CaseTables, center: Floats, sources: Floats) -> list[str]:
    """Warn of a control that lies farther from all background sources than any of them lies from the others.

    A likelihood ratio would extrapolate the density of sources there, and supports a common source of fragments that
    clearly differ.
    """
    standard = Standardization().fit(sources)
    scaled = standard.transform(sources)
    tree = KDTree(scaled)
    apart = tree.query(scaled, k=2)[0][:, 1].max()
    if tree.query(standard.transform(center[None]))[0][0] <= apart or tables.background_table is None:
        return []
    where = ""
    if not tables.is_summarised:
        outside = (center < sources.min(axis=0)) | (center > sources.max(axis=0))
        listed = np.asarray(tables.features, dtype=object)[tables.kept][outside][:8]
        where = f" (outside their range in {', '.join(listed)})" if len(listed) else ""
    return [
        "No likelihood ratios: the control lies outside the background. It is farther from every source of "
        f"{tables.background_table.name} than any of these is from the others{where}. Check that both are in the same "
        "units and on the same scale; the p-values hold only if they are."
    ]


class _Background:
    """Same-source differences and likelihood-ratio systems of a background, one for each design of comparison."""

    def __init__(self, sources: Sequence[Source], seed: int):
        self.sources = sources
        self.stabilizer = VarianceStabilizer().fit(sources)
        self.centers = self.stabilizer.transform(np.array([np.concatenate(x).mean(axis=0) for x in sources]))
        self.seed = seed
        self.models: dict[Design, SameSourceDifferences] = {}
        self.system: LikelihoodSystem | None = None
        self.ratios: dict[Design, CalibratedRatio] = {}
        self.cautions: list[str] = []
        usable = sum(len(source) > 1 for source in sources)
        if usable < MIN_SOURCES:
            self.cautions.append(
                f"No likelihood ratios: the background has {usable} sources with two or more fragments; at least "
                f"{MIN_SOURCES} are needed."
            )

    def differences(self, design: Design) -> SameSourceDifferences:
        if design not in self.models:
            self.models[design] = SameSourceDifferences(design, self.seed).fit(self.sources)
        return self.models[design]

    def p_value(self, pair: Pairs, design: Design) -> float:
        return float(self.differences(design).p_values(scaled_differences(pair))[0])

    def univariate_p_values(self, pair: Pairs, design: Design) -> Floats:
        model = self.differences(design)
        own, case = (-np.abs(scaled_differences(pairs)) for pairs in (model.pairs_, pair))
        source = model.pairs_.source
        return np.array([source_p_values(own[:, j], case[:, j], source)[0] for j in range(own.shape[1])])

    def pair_p_values(self, means: Floats, replicates: int) -> Floats:
        """Compute p-values of all pairs of fragments, one against one."""
        first, second = np.triu_indices(len(means), 1)
        model = self.differences(Design(1, 1, replicates, replicates))
        found = np.ones((len(means), len(means)))
        found[first, second] = found[second, first] = model.p_values((means[first] - means[second]) / np.sqrt(2))
        return found

    def log10_lr(self, pair: Pairs, design: Design) -> Ratios:
        if self.cautions:
            return {}
        try:
            if design not in self.ratios:
                if self.system is None:
                    stabilized = [[self.stabilizer.transform(x) for x in source] for source in self.sources]
                    self.system = LikelihoodSystem(self.seed).fit(stabilized)
                self.ratios[design] = self.system.calibrate(design)
        except ImportError as error:
            self.cautions.append(f"No likelihood ratios: {error}.")
            return {}
        value = float(self.ratios[design].log10_lr(pair)[0])
        low, high = self.ratios[design].performance.bounds
        return {SYSTEM: (value, "at most" if value <= low else "at least" if value >= high else "")}


def _background_calibration(model: SameSourceDifferences, seed: int) -> Calibration:
    """Measure error rates on the background: same-source comparisons left out in turn, and different sources."""
    same = model.held_out_p_values()
    rng = np.random.default_rng(seed)
    different = model.p_values(scaled_differences(different_source_pairs(model.pairs_, N_DIFFERENT, rng)))
    weights = group_weights(model.pairs_.source) / model.n_sources_
    levels = 1 - RATES + 1e-9
    n = model.n_sources_
    return Calibration(
        n=n,
        smallest_p_value=1 / (n + 1),
        description=DESCRIPTION,
        guarantee=(
            "Approximate: every background source counts once and was scored without itself. If the source of the "
            "control is like the background sources and was measured alike, a fragment of it is excluded with a "
            "probability of about 1 - sensitivity. This was measured on glass and on simulated panes; it is not proved."
        ),
        rates={
            "sensitivity": tuple(map(float, RATES)),
            "false_exclusion": tuple(float(weights[same <= level].sum()) for level in levels),
            "false_inclusion": tuple(float((different > level).mean()) for level in levels),
        },
    )
