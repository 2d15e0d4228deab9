"""How often a case is refused or cautioned because it was not measured as its background was.

Cases of the background's own laboratory are sources left out of it. Cases of a foreign laboratory are the same sources
with other variation, simulated, or real ones: FIU's vehicle glass judged by the NFI's float glass, and the
reverse, with equal medians.
"""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.panes import make_panes
from benchmarks.ratios import folds
from benchmarks.sections.validation import FIU
from benchmarks.table import Table
from transvariation._typing import Floats
from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import Design, Source
from transvariation.casework.background.rates import measure_rate
from transvariation.casework.background.transfer import Transfer, TransferCheck
from transvariation.datasets import load_nfi_glass
from transvariation.report.case_text import format_rate

N_FOLDS = 5
N_CASES = 200  # of each kind


def run(short: bool) -> Iterator[Table]:
    """Measure refusals and cautions."""
    rows = [*_simulated(short), *_measured(short)]
    yield Table("transfer_check", "Cases that are refused, or cautioned at least", rows)
    yield Table("transfer_packaged", "Simulated panes of two makers with the packaged background", _packaged(short))


def _simulated(short: bool) -> Iterator[dict[str, Any]]:
    """Panes with ten elements, 48 in the background; the foreign laboratory's vary half as much within a source."""
    panes = [list(pane) for pane in make_panes(60 if short else 240, 10, np.random.default_rng(0), 6, 5)[0]]
    for known, replicates in ((3, 1),) if short else ((1, 1), (3, 1), (1, 5), (3, 5)):
        found: dict[str, list[Transfer]] = {"own": [], "foreign: half the variation": [], "foreign: 10% higher": []}
        for unseen, background in folds(panes, 2 if short else N_FOLDS):
            check = TransferCheck(Background(background), known, replicates, known + 1)
            for pane in unseen:
                center = np.mean([x.mean(axis=0) for x in pane], axis=0)
                for kind, case in (
                    ("own", pane),
                    ("foreign: half the variation", [center + (x - center) / 2 for x in pane]),
                    ("foreign: 10% higher", [x + np.log10(1.1) for x in pane]),
                ):
                    found[kind].append(_check(check, case, known, replicates))
        yield from _rows("simulated, 48 panes", known, replicates, found)


def _measured(short: bool) -> Iterator[dict[str, Any]]:
    if not FIU.is_dir():
        warnings.warn(f"no {FIU} (see benchmarks/data.py): the check is measured on simulated panes only", stacklevel=2)
        return
    nfi, fiu = _two_laboratories()
    for name, own, foreign in (("NFI", nfi, fiu), ("FIU", fiu, nfi)):
        for known in (1, 3):
            usable = [source for source in own if len(source) > known][: 60 if short else None]
            others = [source for source in foreign if len(source) > known][: 60 if short else None]
            found: dict[str, list[Transfer]] = {"own": [], "foreign: the other": []}
            for number, (background, unseen) in enumerate(folds(usable, N_FOLDS)):
                check = TransferCheck(Background(background), known, 1, known + 1)
                for kind, cases in (("own", unseen), ("foreign: the other", others[number::N_FOLDS])):
                    found[kind] += [_check(check, case, known, 1) for case in cases[: N_CASES // N_FOLDS]]
            yield from _rows(f"{name}, {len(usable)} sources", known, 1, found)


def _two_laboratories() -> tuple[list[Source], list[Source]]:
    """Return log10 contents of the elements that both laboratories measured, one array per fragment."""
    glass, table = load_nfi_glass(), pd.read_csv(FIU / "vehicle.csv", dtype={"item": str})
    theirs = {"".join(c for c in name if c.isalpha()): name for name in table.columns if name != "item"}
    names = {name: "".join(c for c in name if c.isalpha()) for name in glass.elements}
    common = [name for name in glass.elements if names[name] in theirs]
    nfi = [rows[common].to_numpy() for _, rows in glass.frame.groupby("source", sort=False)]
    columns = [theirs[names[name]] for name in common]
    fiu = [rows[columns].to_numpy() for _, rows in table.groupby("item", sort=False)]
    # Their units differ, which would be found at once: the medians are made equal.
    shift = np.median(np.concatenate(nfi), axis=0) - np.median(np.concatenate(fiu), axis=0)
    return [list(x[:, None]) for x in nfi], [list((x + shift)[:, None]) for x in fiu]


def _packaged(short: bool) -> list[dict[str, Any]]:
    """Panes that vary by about 2 %, in the middle of the NFI's; the first replicates are compared, as `judge` does."""
    glass = load_nfi_glass()
    elements = [rows[glass.elements].to_numpy() for _, rows in glass.frame.groupby("source", sort=False)]
    background = Background([list(x[:, None]) for x in elements])
    middle, rows = np.median(np.concatenate(elements), axis=0), []
    for known, replicates in ((3, 5),) if short else ((1, 1), (1, 5), (3, 5)):
        measured = replicates if replicates > 1 else None
        check = TransferCheck(background, known, 1, known + 1, measured)
        differences = background.differences(Design(known))
        found: dict[str, list[Any]] = {"refused": [], "one": [], "other": [], "included": []}
        for seed in range(1 if short else 4):
            panes, makers = make_panes(48, 10, np.random.default_rng([31, seed]), known + 1, replicates)
            moved = np.array(panes) + middle - np.median(np.concatenate(panes), axis=(0, 1))
            cases = [check.check(list(x[:known]), list(x[known:])) for x in moved]
            first = [background.means(list(x[:, :1])) for x in moved]
            one, other = np.nonzero((makers[:, None] == makers) & ~np.eye(len(panes), dtype=bool))
            pairs = np.array([first[i][:known].mean(axis=0) - first[j][known] for i, j in zip(one, other, strict=True)])
            found["refused"] += [case.cautioned for case in cases]  # the packaged background is another laboratory's
            found["one"] += (one + 48 * seed).tolist()
            found["other"] += (other + 48 * seed).tolist()
            found["included"] += (differences.p_values(pairs / np.sqrt(1 + 1 / known)) > 0.1).tolist()
        refused = np.array(found["refused"])
        kept = ~refused[found["one"]]
        included, one, other = (np.array(found[name]) for name in ("included", "one", "other"))
        rows.append(
            {
                "known x replicates": f"{known} x {replicates}",
                "ratios refused": format_rate(measure_rate(refused, np.arange(len(refused)))),
                "same maker, not excluded": format_rate(measure_rate(included, one, other)),
                "the same, where ratios are not refused": format_rate(
                    measure_rate(included[kept], one[kept], other[kept])
                ),
            }
        )
    return rows


def _check(check: TransferCheck, case: Sequence[Floats], known: int, replicates: int) -> Transfer:
    fragments = [x[:replicates] for x in case[: known + 1]]
    return check.check(fragments[:known], fragments[known:])


def _rows(background: str, known: int, replicates: int, found: dict[str, list[Transfer]]) -> Iterator[dict[str, Any]]:
    for kind, cases in found.items():
        source = np.arange(len(cases))
        yield {
            "background": background,
            "known x replicates": f"{known} x {replicates}",
            "laboratory": kind,
            "refused": format_rate(measure_rate([case.refused for case in cases], source)),
            "refused or cautioned": format_rate(measure_rate([case.cautioned for case in cases], source)),
        }
