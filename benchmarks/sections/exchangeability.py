"""Tests of exchangeability and the drift alarm: validity and power, beside the tests of MAPIE 1.6."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.signal import lfilter
from scipy.stats import norm

from benchmarks.table import Table
from transvariation import DriftAlarm, exchangeability_test
from transvariation._typing import Floats

LEVEL = 0.05
N, P, N_RUNS, N_PERMUTATIONS = 200, 3, 200, 199
N_REFERENCE, N_STREAM, N_STREAMS = 300, 500, 200
RARE_BATCH = "new batch: exchangeable, rare indicators"


def trend(rng: np.random.Generator, rows: Floats) -> Floats:
    return rows + np.outer(np.linspace(0, 1, len(rows)), [1, 0, 0])


def step(rng: np.random.Generator, rows: Floats) -> Floats:
    return rows + np.outer(np.arange(len(rows)) >= 0.7 * len(rows), [0.6, 0, 0])


def autocorrelated(rng: np.random.Generator, rows: Floats) -> Floats:
    return lfilter([np.sqrt(1 - 0.3**2)], [1, -0.3], rng.normal(size=rows.shape), axis=0)


def days(rng: np.random.Generator, rows: Floats) -> Floats:
    return rows + 0.5 * np.repeat(rng.normal(size=(10, P)), len(rows) // 10, axis=0)


def rare(rows: Floats) -> Floats:
    """Convert standard normal values to indicators of the highest twentieth."""
    return (rows > norm.isf(0.05)).astype(float)


ORDERS: dict[str, Callable[[np.random.Generator, Floats], Floats]] = {
    "exchangeable": lambda rng, rows: rows,
    "exchangeable, heavy tails": lambda rng, rows: rng.standard_t(1.5, size=rows.shape),
    "exchangeable, rounded": lambda rng, rows: np.round(rows),
    "exchangeable, rare indicators": lambda rng, rows: rare(rows),
    "trend of 1 sd in one feature": trend,
    "step of 0.6 sd in one feature": step,
    "autocorrelation 0.3": autocorrelated,
    "ten days that differ by 0.5 sd": days,
}
BATCHES: dict[str, Callable[[Floats], Floats]] = {
    "new batch: exchangeable": lambda rows: rows,
    RARE_BATCH: rare,
    "new batch: 0.5 sd higher in one feature": lambda rows: rows + [0.5, 0, 0],
    "new batch: half the spread": lambda rows: 0.5 * rows,
}


def largest_difference(scores: Floats) -> float:
    """The statistic of MAPIE's PValuePermutationTest: the largest scaled difference of means over all splits."""
    n = len(scores)
    before = np.arange(1, n)
    return float((np.abs(np.cumsum(scores)[:-1] - before * scores.mean()) / np.sqrt(before * (n - before) / n)).max())


def permutation_p_value(rows: Floats, rng: np.random.Generator) -> float:
    """MAPIE's permutation test of each feature, adjusted for their number."""
    found = []
    for scores in rows.T:
        observed = largest_difference(scores)
        permuted = [largest_difference(rng.permutation(scores)) for _ in range(N_PERMUTATIONS)]
        found.append((1 + np.sum(np.array(permuted) >= observed)) / (N_PERMUTATIONS + 1))
    return min(1.0, rows.shape[1] * min(found))


def tests(short: bool) -> Iterator[dict[str, Any]]:
    runs = 3 if short else N_RUNS
    for words, change in ORDERS.items():
        found = []
        for seed in range(runs):
            rng = np.random.default_rng([seed, 1])
            rows = change(rng, rng.normal(size=(N, P)))
            found.append([exchangeability_test(rows).p_value <= LEVEL, permutation_p_value(rows, rng) <= LEVEL])
        ours, theirs = np.mean(found, axis=0)
        yield {"known samples": words, "rejected": float(ours), "rejected, MAPIE's test": float(theirs)}
    for words, changed in BATCHES.items():
        found = []
        for seed in range(runs):
            rng = np.random.default_rng([seed, 2])
            known, new = rng.normal(size=(N, P)), changed(rng.normal(size=(40, P)))
            known = rare(known) if words == RARE_BATCH else known
            found.append(exchangeability_test(known, new=new).p_value <= LEVEL)
        yield {"known samples": words, "rejected": float(np.mean(found))}


def jumper_martingale(p_values: Floats) -> Floats:
    """The evidence of MAPIE's OnlineMartingaleTest, which may raise its alarm at 1 / level."""
    wealth, values = np.full(3, 1 / 3), []
    for p in p_values:
        wealth = (0.99 * wealth + 0.01 / 3 * wealth.sum()) * (1 + np.array([-1, 0, 1]) * (p - 0.5))
        values.append(wealth.sum())
    return np.array(values)


def drift(shift: float, since: int, runs: int) -> dict[str, Any]:
    """Watch streams that change after `since` objects; both tests may raise one false alarm in twenty streams."""
    ours, theirs, starts = [], [], []
    for seed in range(runs):
        rng = np.random.default_rng([seed, 3])
        stream = np.r_[rng.normal(size=since), rng.normal(-shift, 1, size=N_STREAM - since)]
        alarm = DriftAlarm(rng.normal(size=N_REFERENCE), false_alarm=LEVEL / N_STREAM, random_state=seed).update(stream)
        ours.append(alarm.alarm_at_ if alarm.alarm_ else np.inf)
        crossed = np.flatnonzero(jumper_martingale(alarm.p_values_) >= 1 / LEVEL)
        theirs.append(crossed[0] if len(crossed) else np.inf)
        if alarm.alarm_ and shift:
            starts.append(alarm.alarms_[0].since - since)
    row: dict[str, Any] = {"shift": shift, "after": since if shift else None}
    for words, at in (("DriftAlarm", np.array(ours)), ("MAPIE's martingale", np.array(theirs))):
        real = at >= since if shift else np.isfinite(at)
        delay = np.median(at[real]) - since if shift else np.nan
        row |= {
            f"{words}: alarm": float(np.mean(real & np.isfinite(at))),
            f"{words}: median delay": float(delay) if np.isfinite(delay) else None,
        }
    low, middle, high = np.quantile(starts, [0.05, 0.5, 0.95]) if starts else (None, None, None)
    return row | {"estimated start, 5%": low, "median": middle, "95%": high}


def run(short: bool) -> Iterator[Table]:
    note = (
        f"Share of {N_RUNS} tables of {N} samples and {P} features with a p-value of at most {LEVEL}. MAPIE's "
        "permutation test looks for one step; it is given each feature as a score, adjusted for their number."
    )
    yield Table("exchangeability", "Tests of exchangeability", list(tests(short)), note)
    cells = [(0.0, 0), (0.5, 0), (1.0, 0), (2.0, 0), (0.5, 200), (1.0, 200), (2.0, 200)]
    rows = [drift(*cell, 3 if short else N_STREAMS) for cell in cells]
    note = (
        f"{N_STREAMS} streams of {N_STREAM} scores after {N_REFERENCE} reference scores, lower by the shift (in "
        "standard deviations) from some object on. Both may raise a false alarm in one of twenty streams. The "
        "last columns are the errors of the estimated start of the change."
    )
    yield Table("drift", "Detection of a change", rows, note)
