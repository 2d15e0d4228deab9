"""Compare recovered with control fragments by a background: same-source differences and likelihood ratios."""

from collections.abc import Callable, Sequence

import numpy as np

from transvariation.casework.background.likelihood_ratio import MIN_SOURCES, SYSTEM
from transvariation.casework.background.model import Background, bound_of
from transvariation.casework.background.pairs import Design, Pairs, Source, one_pair, scaled_differences
from transvariation.casework.decision import Basis, is_accepted
from transvariation.casework.errors import Caution
from transvariation.casework.evidence import MAX_GROUPED, BackgroundEvidence, Ratios, group_fragments
from transvariation.casework.fragments import Floats
from transvariation.casework.reading import CaseTables


def compare_with_background(
    tables: CaseTables, seed: int, progress: Callable[[str, float], None]
) -> BackgroundEvidence:
    """Judge recovered fragments by the same-source differences of a background, and compute likelihood ratios."""
    kept, k, r_known = tables.kept, len(tables.control.names), tables.control.n_replicates
    background = _CaseBackground(tables.background, seed)
    control, recovered = (
        np.array(
            [background.stabilizer.transform(tables.prepared(x)[:, kept]).mean(axis=0) for x in fragments.replicates]
        )
        for fragments in (tables.control, tables.recovered)
    )
    univariate = np.full(tables.recovered.means.shape, np.nan)
    ranks, ratios = np.empty(len(recovered)), []
    counts = [len(rows) for rows in tables.recovered.rows]
    usual = Design(k, 1, r_known, sorted(counts)[len(counts) // 2])
    background.cautions += _scale_cautions(tables, background, control.mean(axis=0), usual)
    for i, r in enumerate(counts):
        progress(f"comparing with the background, fragment {i + 1} of {len(counts)}", i / len(counts))
        design = Design(k, 1, r_known, r)
        pair = one_pair(control.mean(axis=0), recovered[i], design)
        ranks[i] = background.p_value(pair, design)
        if not tables.is_summarised:  # a component is no variable that could be a reason
            univariate[i, kept] = background.univariate_p_values(pair, design)
        ratios.append(background.log10_lr(pair, design))
    differences, n = background.differences(usual), len(background.usable)
    replicates = [tables.prepared(x)[:, kept] for x in (*tables.control.replicates, *tables.recovered.replicates)]
    groups: tuple[tuple[int, ...], ...] = ()
    if 2 <= len(recovered) <= MAX_GROUPED:
        groups = group_fragments(background.pair_p_values(recovered, usual.questioned_replicates))
    joint = [
        (one_pair(control.mean(axis=0), recovered[list(group)].mean(axis=0), design), design)
        for group in groups
        for design in [Design(k, len(group), r_known, usual.questioned_replicates)]
    ]
    ratio = None if background.cautions else background.calibrated(usual)
    return BackgroundEvidence(
        basis=Basis(n, 1 / (n + 1), background.rates(usual)),
        p_values=ranks,
        univariate=None if tables.is_summarised else univariate,
        ratios=tuple(ratios),
        groups=groups,
        group_p_values=tuple(background.p_value(*each) for each in joint),
        group_ratios=tuple(background.log10_lr(*each) for each in joint),
        likelihood={} if ratio is None else {SYSTEM: ratio.performance},
        homogeneity_p_value=differences.dispersion_p_value(control) if k > 1 else None,
        replicate_p_value=differences.replicate_p_value(replicates),
        cautions=tuple(background.cautions),
    )


def _scale_cautions(tables: CaseTables, background: Background, center: Floats, design: Design) -> list[Caution]:
    """Warn of a control that lies farther from all background sources than any of them lies from the others.

    A likelihood ratio would extrapolate the density of sources there, and supports a common source of fragments that
    clearly differ.
    """
    n = len(background.usable)
    if is_accepted(background.location_p_value(center, design), n / (n + 1)) or tables.background_table is None:
        return []
    outside: list[str] = []
    if not tables.is_summarised:
        sources = background.means([np.concatenate(source) for source in background.usable])
        beyond = (center < sources.min(axis=0)) | (center > sources.max(axis=0))
        outside = np.asarray(tables.features, dtype=object)[tables.kept][beyond].tolist()
    return [Caution.of("control-outside-background", background=tables.background_table.name, variables=outside)]


class _CaseBackground(Background):
    """A background, and what is to be known before its likelihood ratios are used."""

    def __init__(self, sources: Sequence[Source], seed: int):
        super().__init__(sources, seed)
        self.cautions: list[Caution] = []
        if not self.supports_ratios:
            self.cautions.append(Caution.of("few-sources-for-ratios", n=len(self.usable), need=MIN_SOURCES))

    def p_value(self, pair: Pairs, design: Design) -> float:
        return float(self.differences(design).p_values(scaled_differences(pair))[0])

    def log10_lr(self, pair: Pairs, design: Design) -> Ratios:
        ratio = None if self.cautions else self.calibrated(design)
        if ratio is None:
            return {}
        value = float(ratio.log10_lr(pair)[0])
        return {SYSTEM: (value, bound_of(value, ratio))}
