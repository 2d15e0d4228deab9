"""Nominal against actual sensitivity, per classifier and calibration: glass, water treatment, twelve ADBench sets."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import DATA
from benchmarks.table import Table
from transvariation import PAMTOCC, TOCC, CalibratedOCC, NeighborTOCC, baselines, load_glass
from transvariation.exceptions import RejectsNothing

NOMINAL = 0.9
N_TRAIN = 100
CALIBRATIONS = ("resubstitution", "loo", "cv", "split")
CLASSIFIERS = {
    "TOCC": TOCC(),
    "PAM-TOCC": PAMTOCC(),
    "NeighborTOCC": NeighborTOCC(),
    "Gaussian": baselines.GaussianOCC(),
    "KDE": baselines.KDEOCC(),
}


def datasets(short: bool) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, target samples and other samples of each data set; the target is the normal class."""
    glass = load_glass()
    yield "glass", glass.control.to_numpy(), glass.recovered.to_numpy()
    if short:
        return
    if not DATA.is_dir():
        warnings.warn(
            f"no {DATA} (see benchmarks/data.py): coverage is measured on the packaged glass fragments only",
            stacklevel=2,
        )
        return
    import pandas as pd

    water = pd.read_csv(DATA / "water_treatment" / "water_treatment.csv")
    sensors, normal = water.drop(columns=["DAY", "state"]).to_numpy(dtype=float), water["state"] == "normal"
    yield "water", sensors[normal], sensors[~normal]
    for path in sorted((DATA / "adbench").glob("*.npz")):
        with np.load(path) as file:
            name = path.stem.split("_", 1)[1]
            yield "ADBench glass" if name == "glass" else name, file["X"][file["y"] == 0], file["X"][file["y"] == 1]


def judge(classifier: Any, calibration: str, target: Any, other: Any, n_repeats: int) -> tuple[float, float]:
    """Measure the share of fresh targets accepted and of the others rejected; the whole pipeline is fitted."""
    accepted, rejected = [], []
    n = min(N_TRAIN, 2 * len(target) // 3)
    for train, test in ShuffleSplit(n_repeats, train_size=n, random_state=0).split(target):
        steps = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), PCA(2, random_state=0), classifier)
        # With resubstitution each classifier sets its own threshold: PAM-TOCC has one per cluster.
        if calibration != "resubstitution":
            steps = CalibratedOCC(steps, sensitivity=NOMINAL, calibration=calibration)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RejectsNothing)  # whether anything is rejected is measured here
            steps.fit(target[train])
        accepted.append(np.mean(steps.predict(target[test[:1000]]) == 1))
        rejected.append(np.mean(steps.predict(other) == -1))
    return float(np.mean(accepted)), float(np.mean(rejected))


def run(short: bool) -> Iterator[Table]:
    rows = []
    classifiers = {name: CLASSIFIERS[name] for name in ("TOCC", "NeighborTOCC")} if short else CLASSIFIERS
    for name, target, other in datasets(short):
        for classifier_name, classifier in classifiers.items():
            for calibration in CALIBRATIONS:
                se, sp = judge(classifier, calibration, target, other, 1 if short else 3)
                rows.append(
                    {"data": name, "classifier": classifier_name, "calibration": calibration, "sensitivity": se}
                )
                rows[-1]["specificity"] = sp
    yield Table("coverage", f"Sensitivity on fresh targets, nominal {NOMINAL}", rows, "two principal components")
    summary = []
    for classifier_name in classifiers:
        for calibration in CALIBRATIONS:
            found = [r for r in rows if r["classifier"] == classifier_name and r["calibration"] == calibration]
            se = np.array([r["sensitivity"] for r in found])
            sp = np.mean([r["specificity"] for r in found])
            summary.append(
                {"classifier": classifier_name, "calibration": calibration, "mean": se.mean(), "lowest": se.min()}
            )
            summary[-1] |= {"highest": se.max(), "specificity": sp}
    note = f"{N_TRAIN} training targets, {len({r['data'] for r in rows})} data sets"
    yield Table("coverage_summary", f"Over all data sets, nominal {NOMINAL}", summary, note)
