"""Which faulty days of a water treatment plant does each classifier find, and why?

The UCI Water Treatment Plant data: 527 days, 38 sensors, 14 days on which the plant is known to have gone wrong. The
normal days are the target class. Sensors fail too: values are missing, and what is done about it is said here, not
hidden. Sensors that miss more than a tenth of the days are set aside; the remaining gaps get the sensor's median over
the normal days, inside every fold. Each rule is calibrated to accept nine normal days in ten.

Run as: python -m benchmarks.water_treatment [FOLDER-OF-THE-DATA]
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from rich.progress import track
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import DATA
from transvariation import PAMTOCC, TOCC, CalibratedOCC, DensityTOCC, KernelTOCC, MinorComponents, ProjectionEnsemble
from transvariation.baselines import GaussianOCC, KMeansOCC

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "results" / "water"
MISSING_AT_MOST = 0.1
LEVEL = 0.1  # a day is found where its p-value is at most this
SHOWN = 4  # sensors named per day


def read(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """Give the normal days, the faulty days and what happened on those."""
    table = pd.read_csv(folder / "water_treatment.csv").set_index("DAY")
    sensors = table.drop(columns="state")
    normal = table["state"] == "normal"
    kept = sensors.columns[sensors[normal].isna().mean() <= MISSING_AT_MOST]
    print(f"{len(kept)} of {sensors.shape[1]} sensors kept; set aside: {', '.join(sensors.columns.difference(kept))}")
    return sensors.loc[normal, kept], sensors.loc[~normal, kept], table.loc[~normal, "state"]


def rules() -> dict[str, CalibratedOCC]:
    """List the classifiers, each with the same handling of gaps."""

    def whole(*steps):
        return CalibratedOCC(make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), *steps))

    return {
        "TOCC, 2 last components": whole(MinorComponents(2), TOCC()),
        "PAM-TOCC, 2 last components": whole(MinorComponents(2), PAMTOCC()),
        "TOCC_db, 2 last components": whole(MinorComponents(2), DensityTOCC()),
        "KernelTOCC, 2 last components": whole(MinorComponents(2), KernelTOCC(calibration="resubstitution")),
        "KernelTOCC, all sensors": whole(KernelTOCC(calibration="resubstitution")),
        "TOCC, random projections": whole(ProjectionEnsemble(TOCC(), random_state=0)),
        "Gaussian, all sensors": whole(GaussianOCC()),
        "k-means, all sensors": whole(KMeansOCC(random_state=0)),
    }


def unseen_share(rule: CalibratedOCC, normal: pd.DataFrame) -> float:
    """Estimate the share of normal days accepted that the rule has not seen, by five folds."""
    accepted = 0
    for train, test in KFold(5, shuffle=True, random_state=0).split(normal):
        accepted += int((rule.fit(normal.iloc[train]).predict(normal.iloc[test]) == 1).sum())
    return accepted / len(normal)


def reasons(normal: pd.DataFrame, faulty: pd.DataFrame) -> pd.Series:
    """Name, for each faulty day, the sensors that alone would have rejected it, the least typical first."""
    gaps = normal.median()
    table = TOCC().fit(normal.fillna(gaps)).explain(faulty.fillna(gaps))
    alone = table[table["rejected_alone"]].sort_values("tp", kind="stable")
    named = alone.groupby("object", sort=False)["variable"].agg(lambda names: ", ".join(names[:SHOWN]))
    return named.reindex(faulty.index).fillna("none alone")


def picture(p_values: pd.DataFrame, state: pd.Series) -> Figure:
    """Draw each faulty day's p-value by each rule: dark is found."""
    figure = Figure(figsize=(8.6, 6.4), layout="constrained")
    ax = figure.subplots()
    shades = ax.imshow(np.log10(p_values), cmap="viridis", vmin=-3, vmax=0, aspect="auto")
    for i, j in np.argwhere((p_values <= LEVEL).to_numpy()):
        ax.text(j, i, "found", ha="center", va="center", color="white", fontsize=8)
    ax.set_xticks(range(p_values.shape[1]), p_values.columns, rotation=35, ha="right")
    ax.set_yticks(range(len(p_values)), [f"{day}  {what}" for day, what in state.items()])
    bar = figure.colorbar(shades, ax=ax, label="p-value")
    bar.set_ticks([-3, -2, -1, 0], labels=["0.001", "0.01", "0.1", "1"])
    return figure


def main(data: Path = DATA / "water_treatment") -> None:
    if not data.exists():
        sys.exit(f"NOT RUN: no folder {data} with water_treatment.csv, the UCI Water Treatment Plant data")
    normal, faulty, state = read(data)
    p_values = pd.DataFrame(index=faulty.index)
    summary = []
    for name, rule in track(rules().items(), description="rules"):
        share = unseen_share(rule, normal)
        p_values[name] = rule.fit(normal).p_values(faulty)
        found = int((p_values[name] <= LEVEL).sum())
        summary.append((name, f"{found} of {len(faulty)}", f"{share:.3f}"))
    OUT.mkdir(parents=True, exist_ok=True)
    columns = ["rule", "faulty days found", "normal days accepted, unseen"]
    pd.DataFrame(summary, columns=columns).to_csv(OUT / "rules.csv", index=False)
    days = pd.DataFrame(
        {
            "day": faulty.index,
            "what went wrong": state.to_numpy(),
            "sensors missing": faulty.isna().sum(axis=1).to_numpy(),
            "rules that found it": [f"{n} of {p_values.shape[1]}" for n in (p_values <= LEVEL).sum(axis=1)],
            "sensors that alone speak against it": reasons(normal, faulty).to_numpy(),
        }
    )
    days.to_csv(OUT / "days.csv", index=False)
    picture(p_values, state).savefig(OUT / "days.png", dpi=120)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
