"""Leaving one out: fits whose threshold comes from ratings without each object, against fits in the paper's mode."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import ratio
from benchmarks.table import Table
from transvariation import PAMTOCC, TOCC, load_glass, make_scenario
from transvariation.conformal import ignoring_power


def samples(short: bool) -> Iterator[tuple[str, np.ndarray]]:
    control = load_glass().control
    yield "glass, K and Mg", control[["K", "Mg"]].to_numpy()
    yield "glass, Si and Mg", control[["Si", "Mg"]].to_numpy()
    yield "glass, all", control.to_numpy()
    for scenario in "ad" if short else "abcdefghi":
        yield f"scenario {scenario}", make_scenario(scenario, n_target=200, shift=1.0, random_state=0)[0]
    rng = np.random.default_rng(0)
    for n in (300, 1_000) if short else (300, 1_000, 10_000, 100_000):
        yield "normal", rng.normal(size=(n, 2))
        yield "normal", rng.normal(size=(n, 5))
    yield "normal", rng.normal(size=(60, 500))
    yield "normal, rounded to 0.1", rng.normal(size=(n, 2)).round(1)


def in_turn(rule: Any, X: np.ndarray) -> None:
    with ignoring_power():  # we ask for the time; that such a rule may reject nothing is known
        rule(calibration="loo").fit(X)


def run(short: bool) -> Iterator[Table]:
    rows = []
    for name, X in samples(short):
        for rule in (TOCC, PAMTOCC):
            loo, paper = ratio(lambda r=rule, X=X: in_turn(r, X), lambda r=rule, X=X: r().fit(X))
            row = {"classifier": rule.__name__, "sample": name, "n": len(X), "p": X.shape[1]}
            rows.append(row | {"loo, s": loo, "paper, s": paper, "loo / paper": loo / paper})
    yield Table(
        "leave_one_out",
        "Thresholds by leaving one out, CPU time of the fit",
        rows,
        "A fit in the paper's mode rates each object once too. With the extra `fast`, from 50 000 rows on.",
    )
