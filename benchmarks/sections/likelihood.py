"""Likelihood ratios on casework glass: cost, misleading evidence, and the one-class verdict beside them.

The Netherlands Forensic Institute's LA-ICP-MS measurements of float glass (log10, relative to Si): 659 panes with three
replicates each as background; 320 panes measured twice and, again, three times to be compared. Cite Vergeer et al.
(2016) and van Es et al. (2017).
"""

import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.data import DATA
from benchmarks.table import RESULTS, Table
from transvariation.casework.likelihood_ratio import LikelihoodSystem, Pairs, by_source, cllr, make_pairs
from transvariation.conformal import p_values
from transvariation.report.ratios import draw_calibration, draw_tippett

GLASS = DATA / "nfi_glass"
LEVEL = 0.1


def run(short: bool) -> Iterator[Table]:
    """Fit on the background, compare every pane measured twice with those measured three times."""
    if not GLASS.is_dir():
        warnings.warn(f"no {GLASS} (see benchmarks/data.py): likelihood ratios are not validated", stacklevel=2)
        return
    tables = {name: pd.read_csv(GLASS / f"{name}.csv") for name in ("training", "duplo", "triplo")}
    elements = list(tables["training"].columns[3:])
    X, sources = tables["training"][elements].to_numpy(), tables["training"]["Item"].to_numpy()
    if short:
        X, sources = X[:300], sources[:300]
    system = LikelihoodSystem(n_pairs=400 if short else 4_000).fit(X, sources)
    twice, thrice = (
        by_source(t[elements].to_numpy(), t["Item"].to_numpy()) for t in (tables["duplo"], tables["triplo"])
    )
    pairs = make_pairs(twice, thrice, n_pairs=400 if short else 10_000, seed=1)
    ratios = system.log10_lr(pairs.first, pairs.second)
    rows = [_row(name, values, pairs.same, system.bounds_[name]) for name, values in ratios.items()]
    yield Table("likelihood", "Likelihood ratios of 320 panes with themselves and pairs of different panes", rows)
    known = make_pairs(by_source(X, sources), n_pairs=1, seed=0)
    yield Table(
        "likelihood_verdicts",
        "The one-class verdict beside the likelihood ratio",
        _verdicts(system, known, pairs, ratios),
    )
    if not short:
        _figure(ratios, pairs.same).savefig(RESULTS / "likelihood.png", dpi=130)


def _row(name: str, values: np.ndarray, same: np.ndarray, bounds: tuple[float, float]) -> dict:
    return {
        "system": name.replace("_", "-"),
        "Cllr": round(cllr(values, same), 4),
        "lowest log10 LR": round(bounds[0], 2),
        "highest log10 LR": round(bounds[1], 2),
        "same source, LR < 1": f"{(values[same] < 0).mean():.2%}",
        "different sources, LR > 1": f"{(values[~same] > 0).mean():.2%}",
    }


def _verdicts(system: LikelihoodSystem, known: Pairs, pairs: Pairs, ratios: dict[str, np.ndarray]) -> list[dict]:
    """Reject a pair whose difference is less typical than nine in ten differences within background sources."""
    model = system.systems_["score_based"]
    own = model.scores(known.first, known.second)[known.same]
    accepted = p_values(own, model.scores(pairs.first, pairs.second)) > LEVEL
    rows = []
    for label, chosen in (("same source", pairs.same), ("different sources", ~pairs.same)):
        for verdict, kept in (("accepted", accepted), ("rejected", ~accepted)):
            row = {"pairs": label, "one-class verdict": verdict, "share": f"{kept[chosen].mean():.2%}"}
            for name, values in ratios.items():
                inside = values[chosen & kept]
                row[f"LR > 1, {name.replace('_', '-')}"] = f"{(inside > 0).mean():.1%}" if len(inside) else "–"
            rows.append(row)
    return rows


def _figure(ratios: dict[str, np.ndarray], same: np.ndarray) -> Figure:
    figure = Figure(figsize=(10, 8), layout="constrained")
    for row, (name, values) in zip(figure.subplots(2, 2), ratios.items(), strict=True):
        draw_tippett(row[0], values, same)
        draw_calibration(row[1], values, same)
        row[0].set_title(f"{name.replace('_', '-')}: Tippett")
        row[1].set_title(f"{name.replace('_', '-')}: calibration")
    return figure
