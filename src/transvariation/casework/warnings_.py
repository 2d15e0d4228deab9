"""What to be warned of before relying on a case: too few control objects, and rules that can reject nothing."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from transvariation.calibration import CoverageReport, calibration_folds
from transvariation.casework.methods import DEFAULT
from transvariation.casework.result import ROUNDING, Caution, largest_sensitivity
from transvariation.density.covariance import differing, varying


def cautions(coverage: CoverageReport, n: int, way_out: str) -> tuple[Caution, ...]:
    """Say from which sensitivity on a rule from n control objects is to be used with care, and why.

    `way_out` is what to do where the rule can reject nothing: see `remedy`.
    """
    powerless = _powerless(coverage, way_out)
    return (*powerless, _too_few(coverage, rejects=not powerless), _few(n))


def remedy(method: str, known: pd.DataFrame, groups: NDArray | None) -> str:
    """Say what to do if a rule can reject nothing.

    The kernel rule rates everything lowest that differs in a variable without spread. It is without power if a
    control object left out does: then it is the variable that has to go.
    """
    if method != DEFAULT:
        return f"Judge by another method, such as {DEFAULT}, or by fewer variables."
    names = _hardly_varying(known, groups)
    if not 0 < len(names) < varying(known.to_numpy()).sum():
        return "It takes more control objects, or fewer variables."
    listed, which, them = ", ".join(names), "these have", "them"
    if len(names) == 1:
        which, them = "this variable has", "it"
    return (
        f"Leave out {listed}: {which} one value in nearly all control objects. On the page untick {them}; else name "
        "the other variables by --features, in Python by features=."
    )


def _hardly_varying(known: pd.DataFrame, groups: NDArray | None) -> list[str]:
    """Name the variables with one value in all control objects but some of one fold."""
    X = known.to_numpy()
    found = np.zeros(X.shape[1], dtype=bool)
    for others, fold in calibration_folds("cv", len(X), groups):
        found |= ~varying(X[others]) & differing(X[fold], X[others][0]).any(axis=0)
    return [str(name) for name in known.columns[found]]


def _too_few(coverage: CoverageReport, *, rejects: bool) -> Caution:
    most, fewest = largest_sensitivity(coverage), min(coverage.n_per_stratum)
    where = "" if len(coverage.n_per_stratum) == 1 else ", as many as the smallest part of the control has"
    words = (
        f"A sensitivity above {most:.3g} cannot be promised from {_counted(fewest)} control {coverage.unit}{where}; "
        f"{most:.3g} is used instead{': rejected is what looks more foreign than all of them' * rejects}. A "
        "sensitivity of 0.9 needs at least 9, 0.95 at least 19, 0.99 at least 99."
    )
    return Caution(most, words)


def _few(n: int) -> Caution:
    # A third of them should be enough for the promise: required(sensitivity) <= n // 3.
    above = (n // 3) / (n // 3 + 1)
    return Caution(above, f"{n} control objects are few for a sensitivity above {above:.3g}.")


def _counted(n: float) -> str:
    """Write a number of objects or groups: a group that lies in several parts counts in each by its share."""
    return f"{n:.0f}" if n == round(n) else f"{n:.3g}"


def _powerless(coverage: CoverageReport, way_out: str) -> list[Caution]:
    """Warn of a rule whose control objects share its lowest rating: then whatever is far outside shares it, too."""
    parts = zip(coverage.n_per_stratum, coverage.smallest_per_stratum, strict=True)
    n, smallest = max(parts, key=lambda part: part[1])
    if smallest <= 1 / (n + 1) + ROUNDING:
        return []
    several, lowest = len(coverage.n_per_stratum) > 1, smallest * (n + 1) - 1
    where = "in some parts of the control" if several else "here"
    above = f"a sensitivity above {1 - smallest:.2g}" if smallest < 1 else "any sensitivity"
    listed = ", ".join(f"{p:.3g}" for p in coverage.smallest_per_stratum)
    values = f"the smallest p-values in the parts are {listed}" if several else f"no p-value is below {smallest:.3g}"
    words = (
        f"This method can reject nothing {where} at {above}, however absurd the object: "
        f"{lowest:.0f} of {_counted(n)} control {coverage.unit}{' of a part' if several else ''}, each rated "
        f"without itself, {'has' if round(lowest) == 1 else 'have'} the lowest rating that there is, so that {values}. "
        f"'Accepted' then says nothing about an object. {way_out}"
    )
    return [Caution(1 - smallest, words)]
