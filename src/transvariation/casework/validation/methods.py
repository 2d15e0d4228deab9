"""The methods that a validation compares: the one that judges cases, and three others on the same comparisons."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from transvariation._typing import Bools, Fields, Floats, Indices
from transvariation.casework.astm import applies, match_interval
from transvariation.casework.background.basis import most_replicates
from transvariation.casework.background.likelihood_ratio import calibrated_ratio
from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import (
    Design,
    Pairs,
    Source,
    background_rows,
    case_pairs,
    different_source_pairs,
    scaled_differences,
)
from transvariation.casework.background.performance import elub
from transvariation.casework.background.same_source import source_p_values
from transvariation.casework.background.transfer import TransferCheck
from transvariation.casework.reading import varying

if TYPE_CHECKING:
    from lir.lrsystems.two_level import TwoLevelModelNormalKDE

N_LIR_FOLDS = 5  # of the background sources, by which lir's model is calibrated
N_LIR_PAIRS = 600  # comparisons of each kind that calibrate it


@dataclass(frozen=True)
class Compared:
    """Fragments to compare: a known set and one questioned fragment, as measured.

    Attributes
    ----------
    known : sequence of ndarray
        The replicates of each known fragment.
    questioned : ndarray of shape (replicates, p)
    """

    known: Source
    questioned: Floats


def judge_comparisons(
    comparisons: Sequence[Compared],
    sources: Sequence[Source],
    seed: int,
    design: Design,
    ratios: bool = True,
    others: bool = True,
) -> Fields:
    """Compute p-values and likelihood ratios of comparisons by a background, as `judge` does.

    As many replicates are used as the background has. A ratio is refused (NaN) where `judge` refuses it: where the
    fragments were not measured as the background was.

    Parameters
    ----------
    comparisons : sequence of Compared
        All in one design.
    sources : sequence of sources
        The background.
    seed : int
        Of what is drawn at random.
    design : Design
    ratios : bool, default=True
        Whether to compute likelihood ratios, which takes most of the time.
    others : bool, default=True
        Whether to compute the other methods as well.

    Returns
    -------
    dict
        By method, p-values and log10 likelihood ratios, and the number of sources that calibrate.
    """
    kept = varying(sources)
    background = Background([[x[:, kept] for x in source] for source in sources], seed)
    r = min(design.known_replicates, most_replicates(sources))
    used = Design(design.known, 1, r, r)
    known = background.means([x[:r, kept] for each in comparisons for x in each.known])
    questioned = background.means([each.questioned[:r, kept] for each in comparisons])
    centers = known.reshape(len(comparisons), design.known, -1).mean(axis=1)
    pairs = case_pairs(centers, questioned, used)
    model = background.differences(used)
    found = {
        "transvariation": model.p_values(scaled_differences(pairs)),
        "n": np.full(len(pairs.source), model.n_sources_),
    }
    if ratios and (ratio := background.calibrated(used)) is not None:
        check = TransferCheck(background, design.known, r, design.known + 1)
        refused = [
            check.check([x[:r, kept] for x in each.known], [each.questioned[:r, kept]]).refused for each in comparisons
        ]
        found["transvariation_lr"] = np.where(refused, np.nan, ratio.log10_lr(pairs))
        found["bounds"] = np.asarray(ratio.performance.bounds)
    if not others:
        return found
    found["mahalanobis"], found["mahalanobis_lr"] = _mahalanobis(background, pairs, used)
    if find_spec("lir") is not None and background.supports_ratios:
        means = [
            np.array([x[:r, kept].mean(axis=0) for x in fragments])
            for fragments in ([*each.known, each.questioned] for each in comparisons)
        ]
        raw = case_pairs(np.array([m[:-1].mean(axis=0) for m in means]), np.array([m[-1] for m in means]), used)
        found["lir"], found["lir_lr"] = _lir(background, raw, used)
    return found


def matches_interval(compared: Compared, logged: bool) -> float:
    """Apply the 4 s interval to concentrations: 1 for a match, 0 for none, NaN where it does not apply."""
    known, questioned = (10.0**x if logged else x for x in (np.concatenate(list(compared.known)), compared.questioned))
    if not applies(known):
        return np.nan
    low, high = match_interval(known)
    mean = questioned.mean(axis=0)
    return float(((mean >= low) & (mean <= high)).all())


def _calibrated(
    same: Floats, different: Floats, weights: Sequence[Floats], sources: Indices, scores: Floats
) -> tuple[Floats, Floats]:
    """Compute p-values and bounded log10 ratios of scores, high = same source, calibrated by held-out comparisons."""
    raw, is_same = np.concatenate([same, different]), np.arange(len(same) + len(different)) < len(same)
    weight = np.concatenate(list(weights))
    ratio: Callable[[Floats], Floats] = calibrated_ratio(raw, is_same, weight)
    low, high = elub(ratio(raw), is_same, weight)
    return source_p_values(same, scores, sources), np.clip(ratio(scores), low, high)


def _mahalanobis(background: Background, pairs: Pairs, design: Design) -> tuple[Floats, Floats]:
    """Compute p-values and log10 ratios of Mahalanobis distances, from the differences of the model."""
    model = background.differences(design)

    def score(differences: Floats) -> Floats:
        return np.asarray(-np.log(np.linalg.norm(differences, axis=1) + 1e-12))

    same = score(model.held_out_)
    others = different_source_pairs(model.pairs_, np.random.default_rng(0), len(same), model.whitening_)
    different = score(scaled_differences(others) @ model.whitening_)
    weights = model.pairs_.weight, others.weight
    return _calibrated(
        same, different, weights, model.pairs_.source, score(scaled_differences(pairs) @ model.whitening_)
    )


def _lir(background: Background, pairs: Pairs, design: Design) -> tuple[Floats, Floats]:
    """Compute p-values and log10 ratios of lir's two-level model (Bolck et al., 2009) on fragment means."""
    from lir.lrsystems.two_level import TwoLevelModelNormalKDE

    r = design.questioned_replicates
    means = [np.array([x[:r].mean(axis=0) for x in source]) for source in background.usable]
    fold = np.arange(len(means)) % N_LIR_FOLDS
    rng = np.random.default_rng(background.seed)
    drawn = background.differences(design).draw_.pairs(background_rows(background.usable))

    def fit(chosen: Bools) -> "TwoLevelModelNormalKDE":
        some = [m for m, is_chosen in zip(means, chosen, strict=True) if is_chosen]
        owner = np.repeat(np.arange(len(some)), [len(m) for m in some])
        return TwoLevelModelNormalKDE().fit_on_unpaired_instances(np.concatenate(some), owner)

    parts = []
    for number in range(N_LIR_FOLDS):
        few = np.zeros(len(drawn.source), dtype=bool)
        few[rng.permutation(np.flatnonzero(fold[drawn.source] == number))[: N_LIR_PAIRS // N_LIR_FOLDS]] = True
        own, model = drawn.at(few), fit(fold != number)
        others = different_source_pairs(own, rng, N_LIR_PAIRS // N_LIR_FOLDS)
        parts.append(
            (two_level_ratio(model, own), two_level_ratio(model, others), own.weight, others.weight, own.source)
        )
    same, different, *weights, source = (np.concatenate(each) for each in zip(*parts, strict=True))
    return _calibrated(same, different, weights, source, two_level_ratio(fit(np.ones(len(means), dtype=bool)), pairs))


def two_level_ratio(model: "TwoLevelModelNormalKDE", pairs: Pairs) -> Floats:
    """Compute raw log10 ratios; lir uses the mean and the number of fragments only, so that the mean is repeated."""
    most = int(pairs.n_known.max())
    reference = np.repeat(pairs.known[:, None, :], most, axis=1)
    for i, n in enumerate(pairs.n_known):
        reference[i, n:] = np.nan
    return np.asarray(model.transform(pairs.questioned[:, None, :], reference), dtype=float).ravel()
