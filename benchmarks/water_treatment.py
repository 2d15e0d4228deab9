"""Which faulty days of a water treatment plant does each classifier find, and why?

The UCI Water Treatment Plant data: 527 days, 38 sensors, 14 days on which the plant is known to have failed. The normal
days are the target class. Values are missing: sensors that miss more than a tenth of the normal days are left out, and
the remaining gaps get the sensor's median over the normal days, inside every fold. Each classifier is calibrated to
accept 90% of normal days, by ten folds; the main one also in blocks of days, because consecutive days are alike.

Run as: python -m benchmarks.water_treatment [FOLDER-OF-THE-DATA]
"""

import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from rich.progress import track
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import DATA
from transvariation import (
    PAMTOCC,
    TOCC,
    CalibratedOCC,
    DensityTOCC,
    DriftAlarm,
    MinorComponents,
    NeighborTOCC,
    ProjectionEnsemble,
    transvariation_probability,
)
from transvariation.baselines import DDSIMCA, GaussianOCC, KMeansOCC
from transvariation.displays import DriftDisplay, ExchangeabilityDisplay
from transvariation.ordered import block_folds
from transvariation.report.figure_style import PHONE_WIDTH, SETTINGS

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "results" / "water"
MISSING_AT_MOST = 0.1
LEVEL = 0.1  # a day is found if its p-value is at most this
REASON = 0.01  # a sensor is a reason if its tp is at most this
SHOWN = 4  # reasons named per day
MAIN = "NeighborTOCC, all sensors"


def read(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """Return the normal days and the faulty days, in the order of the calendar, and what happened on those."""
    table = pd.read_csv(folder / "water_treatment.csv").set_index("DAY")
    table = table.iloc[np.argsort(pd.to_datetime(table.index, format="%d/%m/%y"))]
    sensors = table.drop(columns="state")
    normal = table["state"] == "normal"
    kept = sensors.columns[sensors[normal].isna().mean() <= MISSING_AT_MOST]
    print(f"{len(kept)} of {sensors.shape[1]} sensors kept; left out: {', '.join(sensors.columns.difference(kept))}")
    return sensors.loc[normal, kept], sensors.loc[~normal, kept], table.loc[~normal, "state"]


def classifiers(calibration: str = "cv") -> dict[str, CalibratedOCC]:
    """List the classifiers, each with the same handling of missing values."""

    def calibrated(*steps: Any) -> CalibratedOCC:
        pipeline = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), *steps)
        return CalibratedOCC(pipeline, calibration=calibration)

    return {
        MAIN: calibrated(NeighborTOCC()),
        "TOCC, 2 last components": calibrated(MinorComponents(2), TOCC()),
        "PAM-TOCC, 2 last components": calibrated(MinorComponents(2), PAMTOCC()),
        "TOCC_db, 2 last components": calibrated(MinorComponents(2), DensityTOCC()),
        "TOCC, random projections": calibrated(ProjectionEnsemble(TOCC(), random_state=0)),
        "Gaussian, all sensors": calibrated(GaussianOCC()),
        "k-means, all sensors": calibrated(KMeansOCC(random_state=0)),
        "DD-SIMCA, all sensors": calibrated(DDSIMCA()),
    }


def fresh_share(classifier: CalibratedOCC, normal: pd.DataFrame) -> float:
    """Estimate the share of other normal days that are accepted, by five folds; in blocks by fifths of the calendar."""
    accepted, in_blocks = 0, classifier.calibration == "blocks"
    folds = block_folds(len(normal), n_folds=5) if in_blocks else _folds(normal)
    for train, test in folds:
        fitted = clone(classifier).fit(normal.iloc[train])
        accepted += int((fitted.predict(normal.iloc[test]) == 1).sum())
    return accepted / len(normal)


def _folds(normal: pd.DataFrame) -> list[tuple[Any, Any]]:
    return list(KFold(5, shuffle=True, random_state=0).split(normal))


def failed_sensors(classifier: CalibratedOCC, normal: pd.DataFrame, faulty: pd.DataFrame) -> pd.DataFrame:
    """Measure what is lost if some of the sensors fail on the days that are judged."""
    folds = _folds(normal)
    fitted = [clone(classifier).fit(normal.iloc[train]) for train, _ in folds]
    rows = []
    for n_failed in (0, 5, 10, 20):
        rng = np.random.default_rng(0)
        accepted, found = [], []
        for (_, test), model in zip(folds, fitted, strict=True):
            failed = rng.choice(normal.columns, n_failed, replace=False)
            accepted += (model.predict(normal.iloc[test].assign(**dict.fromkeys(failed, np.nan))) == 1).tolist()
            found += (model.predict(faulty.assign(**dict.fromkeys(failed, np.nan))) == -1).tolist()
        rows.append((n_failed, f"{np.mean(accepted):.3f}", f"{np.mean(found):.3f}"))
    return pd.DataFrame(rows, columns=["sensors failed", "new normal days accepted", "faulty days found"])


def reasons(normal: pd.DataFrame, faulty: pd.DataFrame) -> pd.Series:
    """Name, for each faulty day, the sensors that are far out by themselves; a missing value is no reason."""
    tp = pd.DataFrame(np.nan, index=faulty.index, columns=faulty.columns)
    for sensor in normal:
        measured = faulty.index[faulty[sensor].notna()]
        known = normal[[sensor]].dropna().to_numpy()
        tp.loc[measured, sensor] = transvariation_probability(known, faulty.loc[measured, [sensor]].to_numpy())
    named = [", ".join(day[day <= REASON].sort_values(kind="stable").index[:SHOWN]) for _, day in tp.iterrows()]
    return pd.Series(named, index=faulty.index).replace("", "none by itself")


def drift(normal: pd.DataFrame, n_first: int = 350) -> tuple[DriftAlarm, pd.Index]:
    """Learn from the first days and watch the later normal days, in blocks."""
    model = classifiers("blocks")[MAIN].fit(normal.iloc[:n_first])
    alarm = DriftAlarm(model.calibration_, block_length="auto", random_state=0)
    later = normal.iloc[n_first:]
    return alarm.update(model.score_samples(later)), later.index


def p_value_figure(p_values: pd.DataFrame, state: pd.Series) -> Figure:
    """Draw the p-value of each faulty day by each classifier; a dot means found."""
    figure = Figure(figsize=(PHONE_WIDTH, 6))
    ax = figure.subplots()
    shades = ax.imshow(np.log10(p_values), cmap="Blues_r", vmin=-3, vmax=0, aspect="auto")
    days, methods = np.nonzero((p_values <= LEVEL).to_numpy())
    ax.plot(methods, days, "o", color="white", markersize=5)
    ax.set_xticks(range(p_values.shape[1]), p_values.columns, rotation=90)
    ax.set_yticks(range(len(p_values)), [f"{day}  {what}" for day, what in state.items()])
    bar = figure.colorbar(shades, ax=ax, label="p-value", aspect=40)
    bar.set_ticks([-3, -2, -1, 0], labels=["0.001", "0.01", "0.1", "1"])
    return figure


def drift_figure(alarm: DriftAlarm, days: pd.Index) -> Figure:
    """Draw the evidence of a change over the days."""
    figure = Figure(figsize=(PHONE_WIDTH, 3.6))
    ax = figure.subplots()
    DriftDisplay(alarm, times=pd.to_datetime(days, format="%d/%m/%y").to_numpy()).plot(ax)
    locator = AutoDateLocator(maxticks=6)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    ax.set(xlabel="day")
    return figure


def exchangeability_figure(normal: pd.DataFrame) -> Figure:
    """Draw which sensors show that the days are not exchangeable."""
    figure = Figure(figsize=(PHONE_WIDTH, 5.4))
    ExchangeabilityDisplay.from_predictions(normal, ax=figure.subplots())
    return figure


def main(data: Path = DATA / "water_treatment") -> None:
    if not data.exists():
        sys.exit(f"NOT RUN: no folder {data} with water_treatment.csv, the UCI Water Treatment Plant data")
    normal, faulty, state = read(data)
    p_values = pd.DataFrame(index=faulty.index)
    summary = []
    candidates = classifiers()
    candidates = {MAIN: candidates.pop(MAIN), f"{MAIN}, in blocks": classifiers("blocks")[MAIN]} | candidates
    for name, classifier in track(candidates.items(), description="classifiers"):
        share = fresh_share(classifier, normal)
        p_values[name] = classifier.fit(normal).p_values(faulty)
        found = int((p_values[name] <= LEVEL).sum())
        summary.append((name, f"{found} of {len(faulty)}", f"{share:.3f}"))
    OUT.mkdir(parents=True, exist_ok=True)
    columns = ["classifier", "faulty days found", "new normal days accepted"]
    pd.DataFrame(summary, columns=columns).to_csv(OUT / "classifiers.csv", index=False)
    days = pd.DataFrame(
        {
            "day": faulty.index,
            "what went wrong": state.to_numpy(),
            "sensors missing": faulty.isna().sum(axis=1).to_numpy(),
            "p-value of NeighborTOCC": [f"{p:.2g}" for p in p_values[MAIN]],
            "found by": [f"{n} of {p_values.shape[1]}" for n in (p_values <= LEVEL).sum(axis=1)],
            "sensors that are far out by themselves": reasons(normal, faulty).to_numpy(),
        }
    )
    days.to_csv(OUT / "days.csv", index=False)
    with matplotlib.rc_context(SETTINGS):
        p_value_figure(p_values, state).savefig(OUT / "days.png")
    failed_sensors(classifiers()[MAIN], normal, faulty).to_csv(OUT / "failed_sensors.csv", index=False)
    with matplotlib.rc_context(SETTINGS):
        drift_figure(*drift(normal)).savefig(OUT / "drift.png")
        exchangeability_figure(normal).savefig(OUT / "exchangeability.png")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
