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
from transvariation.casework.decision import Basis, is_accepted
from transvariation.casework.errors import Caution
from transvariation.casework.evidence import MAX_GROUPED, BackgroundEvidence, Ratios, group_fragments
from transvariation.casework.fragments import Floats
from transvariation.casework.reading import CaseTables
from transvariation.conformal import group_weights
from transvariation.scalings import Standardization

RATES = np.linspace(0.5, 1.0, 101)  # the sensitivities at which error rates are measured
N_DIFFERENT = 2_000  # pairs of different sources for error rates


def compare_with_background(
    tables: CaseTables, seed: int, progress: Callable[[str, float], None]
) -> BackgroundEvidence:
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
    univariate = np.full(tables.recovered.means.shape, np.nan)
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
    differences = background.differences(usual)
    replicates = [tables.prepared(x)[:, kept] for x in (*tables.control.replicates, *tables.recovered.replicates)]
    groups: tuple[tuple[int, ...], ...] = ()
    if 2 <= len(recovered) <= MAX_GROUPED:
        groups = group_fragments(background.pair_p_values(recovered, usual.questioned_replicates))
    joint = [
        (one_pair(control.mean(axis=0), recovered[list(group)].mean(axis=0), design), design)
        for group in groups
        for design in [Design(k, len(group), r_known, usual.questioned_replicates)]
    ]
    group_ratios = tuple(background.log10_lr(*each) for each in joint)
    return BackgroundEvidence(
        basis=_measured_basis(differences, seed),
        p_values=ranks,
        univariate=None if tables.is_summarised else univariate,
        ratios=tuple(ratios),
        groups=groups,
        group_p_values=tuple(background.p_value(*each) for each in joint),
        group_ratios=group_ratios,
        likelihood={SYSTEM: background.ratios[usual].performance} if usual in background.ratios else {},
        homogeneity_p_value=differences.dispersion_p_value(control) if k > 1 else None,
        replicate_p_value=differences.replicate_p_value(replicates),
        cautions=tuple(background.cautions),
    )


def _scale_cautions(tables: CaseTables, center: Floats, sources: Floats) -> list[Caution]:
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
    outside: list[str] = []
    if not tables.is_summarised:
        beyond = (center < sources.min(axis=0)) | (center > sources.max(axis=0))
        outside = np.asarray(tables.features, dtype=object)[tables.kept][beyond].tolist()
    return [Caution.of("control-outside-background", background=tables.background_table.name, variables=outside)]


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
        self.cautions: list[Caution] = []
        usable = sum(len(source) > 1 for source in sources)
        if usable < MIN_SOURCES:
            self.cautions.append(Caution.of("few-sources-for-ratios", n=usable, need=MIN_SOURCES))

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
            self.cautions.append(Caution.of("no-ratios", problem=str(error)))
            return {}
        value = float(self.ratios[design].log10_lr(pair)[0])
        low, high = self.ratios[design].performance.bounds
        return {SYSTEM: (value, "at most" if value <= low else "at least" if value >= high else "")}


def _measured_basis(model: SameSourceDifferences, seed: int) -> Basis:
    """Measure error rates on the background: same-source comparisons left out in turn, and different sources."""
    same = model.held_out_p_values()
    rng = np.random.default_rng(seed)
    different = model.p_values(scaled_differences(different_source_pairs(model.pairs_, N_DIFFERENT, rng)))
    weights, n = group_weights(model.pairs_.source) / model.n_sources_, model.n_sources_
    return Basis(
        n,
        1 / (n + 1),
        {
            "sensitivity": tuple(map(float, RATES)),
            "false_exclusion": tuple(float(weights[~is_accepted(same, rate)].sum()) for rate in RATES),
            "false_inclusion": tuple(float(is_accepted(different, rate).mean()) for rate in RATES),
        },
    )
