"""Compare recovered with control fragments by a background: same-source differences and likelihood ratios."""

from collections.abc import Callable, Sequence

import numpy as np

from transvariation._typing import Floats
from transvariation.casework.background.grouping import measure_grouping
from transvariation.casework.background.likelihood_ratio import MIN_SOURCES_FOR_RATIOS, SYSTEM
from transvariation.casework.background.model import Background, bound_of
from transvariation.casework.background.pairs import Design, Pairs, Source, case_pairs, scaled_differences
from transvariation.casework.background.transfer import TransferCheck
from transvariation.casework.errors import Caution
from transvariation.casework.evidence import (
    MAX_FRAGMENTS_GROUPED,
    BackgroundEvidence,
    Basis,
    RatiosBySystem,
    group_fragments,
)
from transvariation.casework.progress import ProgressStep
from transvariation.casework.reading import CaseTables
from transvariation.conformal import is_accepted


def compare_with_background(
    tables: CaseTables, seed: int, grouped: bool, progress: Callable[[ProgressStep, float], None]
) -> BackgroundEvidence:
    """Judge recovered fragments by the same-source differences of a background, and compute likelihood ratios.

    If asked for, fragments that cannot be distinguished from each other are also judged as a set.
    """
    kept, k = tables.kept, len(tables.control.names)
    if seed not in tables.learned:
        tables.learned[seed] = Background(tables.background, seed)
    background = tables.learned[seed]
    most = most_replicates(tables.background)
    r_known = min(tables.control.n_replicates, most)
    control, recovered = (
        background.means([tables.prepared(x[:most])[:, kept] for x in fragments.replicates])
        for fragments in (tables.control, tables.recovered)
    )
    univariate = np.full(tables.recovered.means.shape, np.nan)
    ranks, ratios = np.empty(len(recovered)), []
    counts = [min(len(rows), most) for rows in tables.recovered.rows]
    errors = np.zeros((len(recovered), 2))  # of p-values and log10 ratios
    usual = Design(k, 1, r_known, sorted(counts)[len(counts) // 2])
    replicates = [tables.prepared(x)[:, kept] for x in (*tables.control.replicates, *tables.recovered.replicates)]
    cautions = [*_few_sources(background), *_transfer_cautions(tables, background, usual, replicates)]
    refused = any(caution.code != "perhaps-measured-otherwise" for caution in cautions)

    def log10_lr(pair: Pairs, design: Design) -> RatiosBySystem:
        return {} if refused else _log10_lr(background, pair, design)

    for i, r in enumerate(counts):
        progress(ProgressStep("background", {"fragment": i + 1, "of": len(counts)}), i / len(counts))
        design = Design(k, 1, r_known, r)
        pair = case_pairs(control.mean(axis=0), recovered[i], design)
        ranks[i] = _p_value(background, pair, design)
        errors[i, 0] = background.differences(design).p_value_errors(scaled_differences(pair))[0]
        if not tables.is_summarized:  # a component is no variable that could be a reason
            univariate[i, kept] = background.univariate_p_values(pair, design)
        ratios.append(log10_lr(pair, design))
        if ratios[-1] and (calibrated := background.calibrated(design)):
            errors[i, 1] = calibrated.errors(pair)[0]
    differences = background.differences(usual)
    n = differences.n_sources_
    names = [name for name, x in zip(tables.background_names, tables.background, strict=False) if len(x) > 1]
    shares = zip(names, background.source_p_values(control.mean(axis=0), usual).tolist(), strict=False)
    alike = {name: p for name, p in shares if is_accepted(p, 0.99)}
    groups: tuple[tuple[int, ...], ...] = ()
    grouping = None
    if grouped and 2 <= len(recovered) <= MAX_FRAGMENTS_GROUPED:
        r = usual.questioned_replicates
        p_values = background.pair_p_values(recovered, r)
        if is_accepted(
            np.triu(p_values, 1), 1 - 2 / (len(background.usable) + 2)
        ).any():  # otherwise no level groups any
            grouping = measure_grouping(tables.background, len(recovered), r, seed)
        levels = () if grouping is None else (grouping.level,)
        groups = group_fragments(p_values, *levels)
    joint = [
        (case_pairs(control.mean(axis=0), recovered[list(group)].mean(axis=0), design), design)
        for group in groups
        for design in [Design(k, len(group), r_known, usual.questioned_replicates)]
    ]
    ratio = None if refused else background.calibrated(usual)
    return BackgroundEvidence(
        basis=Basis(
            n,
            1 / (n + 1),
            background.rates(usual),
            alike,
            float(errors[:, 0].max()),
            float(errors[:, 1].max()),
            len(background.usable),
        ),
        p_values=ranks,
        univariate=None if tables.is_summarized else univariate,
        ratios=tuple(ratios),
        groups=groups,
        grouping=grouping,
        group_p_values=tuple(_p_value(background, *each) for each in joint),
        group_ratios=tuple(log10_lr(*each) for each in joint),
        likelihood={} if ratio is None else {SYSTEM: ratio.performance},
        homogeneity_p_value=differences.dispersion_p_value(control) if k > 1 else None,
        replicate_p_value=differences.replicate_p_value(replicates),
        cautions=(*cautions, *_replicate_cautions(tables, most)),
    )


def _replicate_cautions(tables: CaseTables, most: int) -> list[Caution]:
    """Say that the case has more replicates than the background, so that only some of them are used."""
    own = max(map(len, (*tables.control.replicates, *tables.recovered.replicates)))
    return [Caution.of("fewer-replicates-in-background", own=own, background=most)] if own > most else []


def most_replicates(sources: Sequence[Source]) -> int:
    """Return how many replicates of a fragment are compared with a background: no more than it has itself.

    Means of more replicates than the background has vary less than its own.
    """
    return max(len(x) for source in sources for x in source)


def _transfer_cautions(
    tables: CaseTables, background: Background, design: Design, replicates: Sequence[Floats]
) -> list[Caution]:
    """Warn of a case that was not measured as the background was; its likelihood ratios are refused if that is sure.

    It is, if the background is known to be of another laboratory.
    """
    if tables.background_table is None or not background.supports_ratios:
        return []
    k = design.known
    measured = tables.control.n_replicates if tables.one_fragment and tables.control.n_replicates > 1 else None
    check = TransferCheck(background, k, design.known_replicates, len(replicates), measured)
    found = check.check(replicates[:k], replicates[k:])
    if not found.cautioned:
        return []
    outside: list[str] = []
    if "outside" in found.signs and not tables.is_summarized:
        centers = np.array([np.concatenate(source).mean(axis=0) for source in background.usable])
        own = np.mean([x.mean(axis=0) for x in replicates[:k]], axis=0)
        beyond = (own < centers.min(axis=0)) | (own > centers.max(axis=0))
        outside = np.asarray(tables.features, dtype=object)[tables.kept][beyond].tolist()
    name = tables.background_table.name
    foreign = any(caution.code == "another-laboratory" for caution in tables.cautions)
    code = "measured-otherwise" if found.refused or foreign else "perhaps-measured-otherwise"
    share = round(found.p_value, 4)
    return [Caution.of(code, background=name, signs=list(found.signs), share=share, variables=outside)]


def _few_sources(background: Background) -> list[Caution]:
    if background.supports_ratios:
        return []
    return [Caution.of("few-sources-for-ratios", n=len(background.usable), need=MIN_SOURCES_FOR_RATIOS)]


def _p_value(background: Background, pair: Pairs, design: Design) -> float:
    return float(background.differences(design).p_values(scaled_differences(pair))[0])


def _log10_lr(background: Background, pair: Pairs, design: Design) -> RatiosBySystem:
    ratio = background.calibrated(design)
    if ratio is None:
        return {}
    value = float(ratio.log10_lr(pair)[0])
    return {SYSTEM: (value, bound_of(value, ratio))}
