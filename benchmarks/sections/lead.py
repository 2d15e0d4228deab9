"""How often a conclusion on a fragment misleads: by exclusion, and by likelihood ratio.

Which of the two leads a conclusion is a laboratory's policy. The default is the one that misleads less often on glass
that the background does not hold (four folds of sources): Zadora's, the NFI's and that of FIU's vehicles.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from benchmarks.data import DATA
from benchmarks.ratios import folds
from benchmarks.sections.casework import _nfi, _transformed, _zadora
from benchmarks.table import Table
from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import (
    Design,
    Pairs,
    Source,
    different_source_pairs,
    same_source_pairs,
    scaled_differences,
)
from transvariation.casework.background.rates import Rate, measure_rate
from transvariation.conformal import is_accepted

N_FOLDS = 4
N_SOURCES = 200  # of each glass, drawn at random if there are more
N_DIFFERENT = 8_000
SENSITIVITIES = (0.9, 0.95)
NEITHER = np.log10(2)  # a smaller ratio supports neither proposition


def run(short: bool) -> Iterator[Table]:
    """Measure how often either conclusion misleads."""
    rows = []
    for name, (sources, design) in _glasses().items():
        enough = [source for source in sources if len(source) > design.known]
        drawn = np.random.default_rng(0).permutation(len(enough))[: 60 if short else N_SOURCES]
        rows += _misleading(name, [enough[i] for i in drawn], design)
    yield Table("casework_lead", "Conclusions that mislead, by what leads them", rows)


def _glasses() -> dict[str, tuple[list[Source], Design]]:
    found = {"NFI": (_nfi(), Design(2))}
    if (path := DATA / "zadora_glass" / "glass.csv").is_file():
        found["Zadora"] = _zadora(pd.read_csv(path)), Design(3, 1, 3, 3)
    if (path := DATA / "fiu_glass" / "vehicle.csv").is_file():
        items = pd.read_csv(path).groupby("item", sort=False)
        found["FIU"] = [list(rows.iloc[:, 1:].to_numpy(dtype=float)[:, None, :]) for _, rows in items], Design(3)
    return found


def _misleading(name: str, sources: list[Source], design: Design) -> list[dict[str, str]]:
    """One row per policy: the share of comparisons within and between sources whose conclusion is wrong."""
    parts: list[tuple[Pairs, int, np.ndarray, np.ndarray]] = []
    for number, (background, unseen) in enumerate(folds(sources, N_FOLDS)):
        model, rng = Background(background), np.random.default_rng(number)
        same = same_source_pairs(_transformed(unseen, model.stabilizer), design, rng)
        for pairs in (same, different_source_pairs(same, rng, N_DIFFERENT // N_FOLDS)):
            p_values = model.differences(design).p_values(scaled_differences(pairs))
            parts.append((pairs, number, p_values, model.calibrated(design).log10_lr(pairs)))
    shift = len(sources)
    one, other = (np.concatenate([getattr(p, end) + shift * n for p, n, _, _ in parts]) for end in ("source", "other"))
    p, ratio = (np.concatenate([part[i] for part in parts]) for i in (2, 3))
    weight, same = (np.concatenate([getattr(part[0], key) for part in parts]) for key in ("weight", "same"))

    def rate(events: np.ndarray, which: np.ndarray, within: np.ndarray | None = None) -> Rate:
        return measure_rate(events[which], one[which], None if within is None else other[which], weight[which])

    rows = []
    for sensitivity in SENSITIVITIES:
        excluded = ~is_accepted(p, sensitivity)
        against = rate(ratio > NEITHER, same & excluded)
        rows.append(
            {
                "glass": name,
                "known": design.known,
                "leads": f"exclusion at {sensitivity:g}",
                "same source, misled": _text(rate(excluded, same)),
                "different sources, misled": _text(rate(~excluded, ~same, other)),
                "wrongly excluded with LR > 2": f"{against.share:.0%}",
            }
        )
    rows.append(
        {
            "glass": name,
            "known": design.known,
            "leads": "likelihood ratio",
            "same source, misled": _text(rate(ratio < -NEITHER, same)),
            "different sources, misled": _text(rate(ratio > NEITHER, ~same, other)),
        }
    )
    return rows


def _text(rate: Rate) -> str:
    return f"{rate.share:.3f} [{rate.low:.3f}, {rate.high:.3f}]"
