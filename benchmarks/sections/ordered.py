"""Samples in the order of time: false alarms of later normal samples, power, and the drift alarm on a normal run."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import DATA
from benchmarks.sections.neighbor_coverage import DRAWS, Draw
from benchmarks.table import Table
from transvariation import CalibratedOCC, DriftAlarm, NeighborTOCC
from transvariation.exceptions import OrderedScores
from transvariation.ordered import block_folds

Floats = NDArray[np.float64]
LEVEL = 0.10
MARGIN = 0.03
N_RUNS = 20
N_LATER = 1_000
FALSE_ALARM = 1e-4
CALIBRATIONS = ("loo", "blocks")
N_WARNED, WARNED_SIZES = 40, (50, 100, 300)


def autoregression(rng: np.random.Generator, n: int, rho: float, p: int = 5) -> Floats:
    """Draw a stationary series of p features with autocorrelation `rho`."""
    noise = rng.normal(size=(n + 300, p)) * np.sqrt(1 - rho**2)
    return lfilter([1], [1, -rho], noise, axis=0)[300:]


def simulated(rho: float, n: int, calibration: str, runs: int) -> dict[str, Any]:
    """Fit to a series and judge what follows it: unchanged, and shifted by three standard deviations in one feature."""
    rejected, found, alarms = [], [], []
    for seed in range(runs):
        series = autoregression(np.random.default_rng([seed, n]), n + N_LATER, rho)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OrderedScores)
            classifier = NeighborTOCC(calibration=calibration).fit(series[:n])
            length = "auto" if calibration == "blocks" else 1
            alarm = DriftAlarm(
                classifier.calibration_.scores, block_length=length, false_alarm=FALSE_ALARM, random_state=0
            )
        later = series[n:]
        rejected.append(np.mean(classifier.p_values(later) <= LEVEL + 1e-9))
        found.append(np.mean(classifier.p_values(later + [3, 0, 0, 0, 0]) <= LEVEL + 1e-9))
        alarms.append(alarm.update(classifier.score_samples(later)).alarm_)
    return {
        "data": f"autocorrelation {rho:g}",
        "n": n,
        "calibration": calibration,
        "false alarms": float(np.mean(rejected)),
        "standard error": float(np.std(rejected) / np.sqrt(runs)),
        "shifted, found": float(np.mean(found)),
        "drift alarm on a normal run": float(np.mean(alarms)),
        "met": bool(abs(np.mean(rejected) - LEVEL) <= MARGIN) if calibration == "blocks" else None,
    }


def water() -> Iterator[dict[str, Any]]:
    """Hold out fifths of the days in the order of the calendar."""
    from benchmarks.water_treatment import read

    normal, faulty, _ = read(DATA / "water_treatment")
    for calibration in ("cv", "blocks"):
        steps = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), NeighborTOCC())
        classifier, rejected = CalibratedOCC(steps, calibration=calibration), []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OrderedScores)
            for train, test in block_folds(len(normal), n_folds=5):
                p = classifier.fit(normal.iloc[train]).p_values(normal.iloc[test])
                rejected.append(np.mean(p <= LEVEL + 1e-9))
            found = np.mean(classifier.fit(normal).p_values(faulty) <= LEVEL + 1e-9)
        yield {
            "data": "Water Treatment, in order",
            "n": len(normal),
            "calibration": calibration,
            "false alarms": float(np.mean(rejected)),
            "standard error": float(np.std(rejected) / np.sqrt(5)),
            "shifted, found": float(found),
            "met": bool(abs(np.mean(rejected) - LEVEL) <= MARGIN) if calibration == "blocks" else None,
        }


def of_process(rho: float) -> Draw:
    return lambda rng, n, p: autoregression(rng, n, rho, p)


def sorted_by_first(rng: np.random.Generator, n: int, p: int) -> Floats:
    rows = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    return rows[np.argsort(rows[:, 0])]


def class_by_class(rng: np.random.Generator, n: int, p: int) -> Floats:
    return rng.normal(size=(n, p)) + 3 * (np.arange(n) * 3 // n)[:, None]


def warned(runs: int) -> Iterator[dict[str, Any]]:
    """Count the fits that warn of the order of the rows."""
    kinds: dict[str, Draw] = {f"autocorrelation {rho:g}": of_process(rho) for rho in (0.95, 0.7, 0.5, 0.3)}
    kinds |= {"sorted by a feature": sorted_by_first, "three classes, one after another": class_by_class}
    kinds |= {f"exchangeable: {name}": draw for name, draw in DRAWS.items()}
    for name, draw in kinds.items():
        row: dict[str, Any] = {"rows": name}
        for n in WARNED_SIZES:
            rng, found = np.random.default_rng([n, 4]), []
            for _ in range(runs):
                rows = draw(rng, n, 5)
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    NeighborTOCC().fit(rows)
                found.append(any(each.category is OrderedScores for each in caught))
            row[f"{n} rows"] = float(np.mean(found))
        yield row


def run(short: bool) -> Iterator[Table]:
    cells = [(0.7, 500), (0.95, 500), (0.7, 2_000), (0.95, 2_000)]
    rows = [
        simulated(rho, n, calibration, 2 if short else N_RUNS)
        for rho, n in cells[: 1 if short else None]
        for calibration in CALIBRATIONS
    ]
    if not short and (DATA / "water_treatment").is_dir():
        rows += water()
    yield table(rows)
    yield warnings_table(2 if short else N_WARNED)


def warnings_table(runs: int) -> Table:
    note = f"Share of {runs} fits to rows of five features that warn of their order (`OrderedScores`)."
    return Table("ordered_warning", "How often fit warns of the order of the rows", list(warned(runs)), note)


def table(rows: list[dict[str, Any]]) -> Table:
    """Make the table of measured cells, some of which may have been measured before."""
    note = (
        f"Share of later normal samples with a p-value of at most {LEVEL:.2f}; of samples shifted by three standard "
        "deviations in one of five features (Water Treatment: of faulty days); and of normal runs of "
        f"{N_LATER:,} samples with a drift alarm at a rate of {FALSE_ALARM:g} per sample. Met: within {MARGIN}."
    )
    return Table("ordered", "Samples in the order of time, NeighborTOCC", rows, note)
