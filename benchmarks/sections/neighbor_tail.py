"""P-values of NeighborTOCC from 8 to 50 samples: ranks, and an exponential tail of the calibration scores."""

import warnings
from collections.abc import Iterator

import numpy as np

from benchmarks.sections.neighbor_coverage import DRAWS, MARGIN, SEED
from benchmarks.table import Table
from transvariation import NeighborTOCC

SIZES = ((8, 3), (10, 5), (15, 5), (20, 10), (20, 50), (50, 10))
LEVELS = (0.1, 0.05, 0.01)
N_REPEATS, N_FRESH = 100, 100
SHIFT = 2.0  # of the foreign samples, in mean absolute values of the features


def shares(data: str, n: int, p: int, repeats: int) -> tuple[list[float], float]:
    """Mean share of new targets, and of foreign samples, rejected by ranks at .1 and by the tail at each level.

    The second result is the largest standard error of the shares of new targets.
    """
    draw, rng = DRAWS[data], np.random.default_rng([SEED, n, p])
    shift = SHIFT * (np.abs(draw(np.random.default_rng(1), 300, p)).mean(axis=0) + 0.2)
    found = []
    for _ in range(repeats):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of too few samples
            classifier = NeighborTOCC().fit(draw(rng, n, p))
        new = draw(rng, N_FRESH, p)
        row = []
        for Z in (new, draw(rng, N_FRESH, p) + shift):
            tail = classifier.p_values(Z, tail="exponential")
            row += [np.mean(classifier.p_values(Z) <= LEVELS[0] + 1e-9), *(np.mean(tail <= level) for level in LEVELS)]
        found.append(row)
    errors = np.std(found, axis=0, ddof=1)[: 1 + len(LEVELS)] / np.sqrt(repeats)
    return np.mean(found, axis=0).tolist(), float(errors.max())


def run(short: bool) -> Iterator[Table]:
    rows = []
    for data in list(DRAWS)[: 2 if short else None]:
        for n, p in SIZES[:2] if short else SIZES:
            found, error = shares(data, n, p, 2 if short else N_REPEATS)
            names = ["ranks, .1", *(f"tail, {level:g}" for level in LEVELS)]
            rows.append({"data": data, "n": n, "p": p} | dict(zip(names, found[:4], strict=True)))
            rows[-1] |= {f"power of {name}": share for name, share in zip(names[:3], found[4:7], strict=True)}
            kept = all(share <= level + MARGIN for share, level in zip(found[1:4], LEVELS, strict=True))
            rows[-1] |= {"standard error, at most": error, "target": MARGIN, "met": kept}
    note = (
        f"Share of new targets rejected, {N_REPEATS} training sets; power: share of samples shifted by {SHIFT:g} "
        f"mean absolute values. The tail should reject at most {MARGIN} more than each level; it is a model, ranks "
        "need none."
    )
    yield Table("neighbor_tail", "NeighborTOCC with few samples: ranks and an exponential tail", rows, note)
