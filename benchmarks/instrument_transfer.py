"""Does a classifier trained on one instrument keep its promise on another, with ten transfer samples?

Spectra of one class and adulterated ones are simulated on two instruments: the second has a shifted and bent wavelength
axis, broader bands, another gain and a sloping offset, and more noise. Forty known samples were measured on the first
instrument, ten further ones on both: these do not train, since a sample is its own nearest neighbor. Measured are the
shares of new genuine samples (nominal 10%) and of adulterated ones that are rejected on the second instrument, with and
without transfer of the spectra and recalibration of the threshold. Each of the ten samples calibrates by a transfer,
and where that changes the known spectra by a classifier, that was learned without it.

Run as: python -m benchmarks.instrument_transfer
"""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.progress import track

from transvariation import NeighborTOCC
from transvariation.conformal import conformal_threshold
from transvariation.preprocessing import (
    InstrumentOrthogonalization,
    PiecewiseDirectStandardization,
    held_out_transfer,
    make_preprocessing,
)

OUT = Path(__file__).parents[1] / "docs" / "results" / "instruments"
AXIS = np.linspace(1100, 2500, 180)
BANDS = np.array([1210.0, 1450, 1730, 1940, 2100, 2310])
WIDTHS = np.array([40.0, 60, 35, 70, 60, 45])
FOREIGN_BAND, FOREIGN_WIDTH = 2180.0, 30.0
REPEATS, N_KNOWN, N_TRANSFER, N_NEW = 40, 40, 10, 100
SENSITIVITY = 0.9
ADULTERANT = 0.06  # height of its band

Floats = NDArray[np.float64]


def concentrations(n: int, rng: np.random.Generator) -> Floats:
    """Draw heights of the bands: three sources of natural variation, correlated across bands."""
    mixing = np.array(
        [[1, 0.5, -0.3, 0.2, 0.4, -0.2], [0.1, -0.6, 0.5, 0.9, -0.1, 0.3], [-0.4, 0.2, 0.3, -0.1, 0.8, 0.6]]
    )
    return np.array([1.0, 1.6, 0.8, 2.0, 1.2, 0.9]) + 0.06 * rng.normal(size=(n, 3)) @ mixing


def measure(heights: Floats, adulterant: float, second: bool, rng: np.random.Generator) -> Floats:
    """Measure samples on one of the instruments; level and slope depend on how a sample is presented."""
    axis = AXIS + (3.0 + 2.0 * np.sin(AXIS / 300) if second else 0.0)
    broad = 6.0 if second else 0.0
    bands = np.exp(-(((axis[:, None] - BANDS) / np.hypot(WIDTHS, broad)) ** 2))
    foreign = np.exp(-(((axis - FOREIGN_BAND) / np.hypot(FOREIGN_WIDTH, broad)) ** 2))
    clean = heights @ bands.T + adulterant * foreign
    if second:
        clean = (1.05 + 0.1 * np.cos(AXIS / 400)) * clean + 0.02 * (AXIS - 1100) / 1400
    n = len(heights)
    gain, offset = 1 + 0.05 * rng.normal(size=(n, 1)), 0.05 * rng.normal(size=(n, 1))
    return gain * (clean + (0.006 if second else 0.004) * rng.normal(size=clean.shape)) + offset


def rates(classifier: NeighborTOCC, threshold: float, genuine: Floats, adulterated: Floats) -> tuple[float, float]:
    """Compute the shares rejected at a threshold."""
    return tuple(float(np.mean(classifier.score_samples(X) < threshold)) for X in (genuine, adulterated))  # type: ignore


def one(seed: int) -> dict[str, tuple[float, float]]:
    """Simulate the instruments once."""
    rng = np.random.default_rng(seed)
    snv = make_preprocessing("snv", AXIS)  # of each spectrum by itself

    def measured(heights: Floats, adulterant: float, second: bool) -> Floats:
        return snv.fit_transform(measure(heights, adulterant, second, rng))

    known = measured(concentrations(N_KNOWN, rng), 0.0, False)
    transfer = concentrations(N_TRANSFER, rng)
    both = measured(transfer, 0.0, True), measured(transfer, 0.0, False)
    new = [(concentrations(N_NEW, rng), adulterant) for adulterant in (0.0, ADULTERANT)]
    new_1, new_2 = ([measured(*each, second) for each in new] for second in (False, True))

    def fitted(X: Floats) -> NeighborTOCC:
        return NeighborTOCC(sensitivity=SENSITIVITY).fit(X)

    def recalibrated(classifier: NeighborTOCC, X: Floats) -> float:
        return conformal_threshold(classifier.score_samples(X), SENSITIVITY, held_out=True)

    plain = fitted(known)
    found = {"first instrument": rates(plain, plain.offset_, *new_1)}
    found["second, nothing done"] = rates(plain, plain.offset_, *new_2)
    found["second, recalibrated only"] = rates(plain, recalibrated(plain, both[0]), *new_2)
    standard = PiecewiseDirectStandardization(window_length=5, n_components=2)
    threshold = recalibrated(plain, held_out_transfer(standard, *both))
    standard.fit(*both)
    moved = [standard.transform(X) for X in new_2]
    found["second, standardized"] = rates(plain, plain.offset_, *moved)
    found["second, standardized and recalibrated"] = rates(plain, threshold, *moved)
    for k in (2, 4):
        removed = InstrumentOrthogonalization(k).fit(*both)
        classifier = fitted(removed.transform(known))
        moved = [removed.transform(X) for X in new_2]
        found[f"second, {k} directions removed"] = rates(classifier, classifier.offset_, *moved)
        scores = []
        for i in range(N_TRANSFER):
            without = InstrumentOrthogonalization(k).fit(*(np.delete(X, i, axis=0) for X in both))
            scores.append(fitted(without.transform(known)).score_samples(without.transform(both[0][i : i + 1]))[0])
        threshold = conformal_threshold(scores, SENSITIVITY, held_out=True)
        found[f"second, {k} directions removed and recalibrated"] = rates(classifier, threshold, *moved)
    return found


def main() -> None:
    """Measure, print and keep the table."""
    runs = [one(seed) for seed in track(range(REPEATS))]
    rows = []
    for name in runs[0]:
        values = np.array([run[name] for run in runs])
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
        rows.append((name, *(f"{m:.3f} ({e:.3f})" for m, e in zip(mean, error, strict=True))))
    table = pd.DataFrame(rows, columns=["instrument", "genuine rejected", "adulterated rejected"])
    print(table.to_string(index=False))
    OUT.mkdir(parents=True, exist_ok=True)
    table.to_csv(OUT / "transfer.csv", index=False)


if __name__ == "__main__":
    main()
