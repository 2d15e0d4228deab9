"""How often do the charts of a process raise false alarms, and how soon do they find faults?

The simulated plant (`transvariation.datasets.make_plant`): 800 normal rows, then runs with a fault from row 160 on.
Calibrated charts (score, T2 and Q with joint limits) beside PCA's T2 and Q with the same limits, and with those that
textbooks give, at a nominal 1% each. An alarm is raised by two successive flagged rows. The UCI water treatment
plant: the first 350 normal days against the later ones, and the faulty days.

Run as: python -m benchmarks.process_monitoring
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.progress import track

from benchmarks.data import DATA
from transvariation.datasets import make_plant
from transvariation.datasets.plant import FAULTS
from transvariation.monitoring import MonitoringResult, monitor

OUT = Path(__file__).parents[1] / "docs" / "results" / "plant"
REPEATS, N_NORMAL, ONSET, AFTER, RUN = 12, 800, 160, 300, 2
LEVEL = 0.01
FIRST_DAYS = 350
LONG_RUNS, LONG_NORMAL, LONG_NEW = 60, 4000, 1000

Flags = NDArray[np.bool_]


def systems(result: MonitoringResult) -> dict[str, Flags]:
    """Return which new rows each system flags."""
    pca = [chart for chart in result.charts if chart.textbook_limit is not None]
    textbook = np.any([np.array(c.new) > c.textbook_limit for c in pca], axis=0)
    without_score = np.any([np.array(c.new) > c.limit for c in pca], axis=0)
    return {"calibrated": result.flagged, "T2/Q, same limits": without_score, "T2/Q, textbook limits": textbook}


def delay(flagged: Flags, onset: int, run: int = RUN) -> float:
    """Return the rows from the onset to the alarm; infinity if there is none."""
    runs = np.convolve(flagged, np.ones(run, dtype=int), "valid") == run
    raised = np.flatnonzero(runs) + run - 1
    raised = raised[raised >= onset]
    return float(raised[0] - onset) if len(raised) else np.inf


def alarms(flagged: Flags, run: int) -> int:
    """Count stretches of at least `run` flagged rows."""
    edges = np.flatnonzero(np.diff(np.r_[0, flagged.astype(int), 0]))
    return int(np.sum(edges[1::2] - edges[::2] >= run))


def plant() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure false alarms and delays on the simulated plant."""
    normal_rows, fault_rows, length = [], [], ONSET + AFTER
    for lags in (0, 2):
        found: dict[tuple[int, str], list[tuple[float, ...]]] = {}
        for seed in track(range(REPEATS), f"lags {lags}"):
            known = make_plant(N_NORMAL, random_state=seed)
            runs = [make_plant(length, fault, onset=ONSET, random_state=1000 + seed) for fault in FAULTS]
            # One after the other: the models of the normal run are fitted once.
            together = monitor(known, pd.concat(runs), lags=lags, false_alarm=LEVEL, run=RUN)
            for name, every in systems(together).items():
                for fault in FAULTS:
                    flagged = every[fault * length : (fault + 1) * length - lags]
                    counts = (alarms(flagged, run) for run in (1, RUN))
                    found.setdefault((fault, name), []).append((flagged.mean(), *counts, delay(flagged, ONSET - lags)))
        for (fault, name), values in found.items():
            share, singles, runs_of_rows, delays = np.array(values).T
            if fault == 0:
                error = share.std(ddof=1) / np.sqrt(REPEATS)
                counts = (f"{each.mean() * 1000 / length:.1f}" for each in (singles, runs_of_rows))
                normal_rows.append((name, lags, f"{share.mean():.3f}", f"{error:.3f}", *counts))
            else:
                middle = np.median(delays)
                shown = f"{middle:.0f}" if np.isfinite(middle) else "–"
                fault_rows.append((FAULTS[fault], lags, name, f"{np.isfinite(delays).sum()} of {REPEATS}", shown))
    columns = ["charts", "lags", "rows flagged", "standard error", "alarms per 1,000 rows, run of 1", f"run of {RUN}"]
    return (
        pd.DataFrame(normal_rows, columns=columns),
        pd.DataFrame(fault_rows, columns=["fault", "lags", "charts", "found", "median delay"]).sort_values(
            ["lags", "fault"],
            key=lambda column: column.map({words: i for i, words in FAULTS.items()}).fillna(column),
            kind="stable",
        ),
    )


def long_run() -> pd.DataFrame:
    """Measure false alarms on the simulated plant where the normal run is long enough for the nominal share."""
    found = []
    for seed in track(range(LONG_RUNS), "long normal runs"):
        new = make_plant(LONG_NEW, random_state=5000 + seed)
        result = monitor(make_plant(LONG_NORMAL, random_state=seed), new, false_alarm=LEVEL)
        found.append((result.n_independent, result.supported_false_alarm, result.flagged.mean()))
    n, promised, share = np.mean(found, axis=0)
    error = np.std([flagged for *_, flagged in found], ddof=1) / np.sqrt(LONG_RUNS)
    row = {"normal rows": LONG_NORMAL, "independent rows": f"{n:.0f}", "promised at most": f"{promised:.4f}"}
    return pd.DataFrame([row | {"rows flagged": f"{share:.4f}", "standard error": f"{error:.4f}"}])


def water(folder: Path) -> pd.DataFrame:
    """Measure false alarms and faulty days found in the water treatment plant."""
    table = pd.read_csv(folder / "water_treatment.csv").set_index("DAY")
    table = table.iloc[np.argsort(pd.to_datetime(table.index, format="%d/%m/%y"))]
    sensors, normal = table.drop(columns="state"), table["state"] == "normal"
    first = sensors[normal][:FIRST_DAYS]
    kept = first.columns[first.isna().mean() <= 0.1]
    later = np.cumsum(normal.to_numpy()) > FIRST_DAYS
    rows = []
    days = sensors.loc[later | ~normal.to_numpy(), kept]
    result = monitor(first[kept], days, false_alarm=0.05, run=1)
    is_normal = normal.loc[days.index].to_numpy()
    for name, flagged in systems(result).items():
        rows.append((name, f"{flagged[is_normal].mean():.3f}", f"{flagged[~is_normal].sum()} of {(~is_normal).sum()}"))
    return pd.DataFrame(rows, columns=["charts", "later normal days flagged", "faulty days flagged"])


def main() -> None:
    """Measure, print and keep the tables."""
    OUT.mkdir(parents=True, exist_ok=True)
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / "water_treatment"
    tables = dict(zip(("normal", "faults"), plant(), strict=True)) | {"long": long_run()}
    if folder.exists():
        tables["water"] = water(folder)
    for name, table in tables.items():
        print(table.to_string(index=False))
        table.to_csv(OUT / f"{name}.csv", index=False)


if __name__ == "__main__":
    main()
