"""Many samples at once: false discovery rate, bounds after looking and the number of anomalies; validity and power."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.table import Table
from transvariation import ConformalCalibration, benjamini_hochberg, count_anomalies, false_discovery_bound

LEVEL, CONFIDENCE = 0.1, 0.95
N_RUNS = 500
CELLS = ((200, 100, 20, 3.0), (1_000, 1_000, 50, 3.0), (1_000, 1_000, 300, 1.0), (1_000, 200, 0, 0.0))
ENVELOPES = {"Berk-Jones": "mc_bj", "KS": "ks"}


def peer(n: int, m: int) -> dict[str, Callable[[NDArray[np.float64], NDArray[np.bool_]], int]]:
    """Return nonconform's bounds of the number of false discoveries up to a p-value, where it is installed."""
    try:
        from nonconform._internal.fdp_bounds import prepare_envelope
    except ImportError:
        return {}
    options = dict.fromkeys(("n_resamples", "seed", "lower", "upper", "beta"))
    bounds = {}
    for name, method in ENVELOPES.items():
        own = options | ({"n_resamples": 2_000, "seed": 0} if method != "ks" else {})
        envelope = prepare_envelope(n_calibration=n, n_test=m, confidence=CONFIDENCE, method=method, boost=False, **own)

        def bound(p: NDArray[np.float64], selected: NDArray[np.bool_], envelope: Any = envelope) -> int:
            if not selected.any():
                return 0
            share = float(envelope.evaluate(np.array([p[selected].max()]))[0])
            return min(int(selected.sum()), int(np.floor(m * share + 1e-9)))

        bounds[f"nonconform, {name}"] = bound
    return bounds


def row(n: int, m: int, foreign: int, shift: float, runs: int) -> dict[str, Any]:
    """Draw scores, select by Benjamini and Hochberg, then bound and count."""
    rng, peers = np.random.default_rng([n, m, foreign]), peer(n, m)
    found: dict[str, list[float]] = {}
    for _ in range(runs):
        known = ConformalCalibration(rng.normal(size=n))
        p = known.p_values(np.r_[rng.normal(-shift, 1, size=foreign), rng.normal(size=m - foreign)])
        chosen = benjamini_hochberg(p, LEVEL, calibration=known)
        false = int(chosen[foreign:].sum())
        bound = false_discovery_bound(p, chosen, CONFIDENCE, calibration=known)
        simes = false_discovery_bound(p, chosen, CONFIDENCE)
        counts = {t: count_anomalies(p, CONFIDENCE, test=t, calibration=known).at_least for t in ("simes", "rank_sum")}
        values = {
            "false discovery rate": false / max(chosen.sum(), 1),
            "anomalies found": chosen[:foreign].mean() if foreign else np.nan,
            "selected": chosen.sum(),
            "false, at most": bound,
            "bound holds": false <= bound,
            "false, at most (Simes)": simes,
            "anomalies, at least": counts["simes"],
            "count holds": counts["simes"] <= foreign,
            "anomalies, at least (rank sum)": counts["rank_sum"],
            "holds (rank sum)": counts["rank_sum"] <= foreign,
        }
        values |= {name: compute(p, chosen) for name, compute in peers.items()}
        for name, value in values.items():
            found.setdefault(name, []).append(float(value))
    cells = {name: float(np.mean(values)) for name, values in found.items()}
    return {"calibration samples": n, "batch": m, "anomalies": foreign, "shift": shift} | cells


def run(short: bool) -> Iterator[Table]:
    rows = [row(*cell, 5 if short else N_RUNS) for cell in CELLS]
    note = (
        f"Scores are normal, those of anomalies lower by the shift; means over {N_RUNS} batches. Selection by "
        f"Benjamini and Hochberg at {LEVEL}; bounds with {CONFIDENCE:.0%} confidence. nonconform: its bounds of the "
        "false discoveries among the same selection, which hold for selections by a p-value only."
    )
    yield Table("discoveries", "Many samples at once", rows, note)
