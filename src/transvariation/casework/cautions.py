"""What to be warned of before relying on a case: too few control objects, and rules that can reject nothing."""

from transvariation.casework.result import ROUNDING, Caution, largest_sensitivity
from transvariation.classifiers.calibration import CoverageReport


def cautions(coverage: CoverageReport, n: int) -> tuple[Caution, ...]:
    """Say from which sensitivity on a rule from n control objects is to be used with care, and why."""
    return (*_powerless(coverage), _too_few(coverage), _few(n))


def _too_few(coverage: CoverageReport) -> Caution:
    most, fewest = largest_sensitivity(coverage), min(coverage.n_per_part)
    where = "" if len(coverage.n_per_part) == 1 else ", as many as the smallest part of the control has"
    words = (
        f"A sensitivity above {most:.3g} cannot be promised from {fewest} control {coverage.unit}{where}; {most:.3g} "
        "is used instead: rejected is what looks more foreign than all of them. A sensitivity of 0.9 needs at least 9, "
        "0.95 at least 19, 0.99 at least 99."
    )
    return Caution(most, words)


def _few(n: int) -> Caution:
    # A third of them should be enough for the promise: required(sensitivity) <= n // 3.
    above = (n // 3) / (n // 3 + 1)
    return Caution(above, f"{n} control objects are few for a sensitivity above {above:.3g}.")


def _powerless(coverage: CoverageReport) -> list[Caution]:
    """Warn of a rule whose control objects share its lowest rating: then whatever is far outside shares it, too."""
    parts = zip(coverage.n_per_part, coverage.smallest_per_part, strict=True)
    n, smallest = max(parts, key=lambda part: part[1])
    if smallest <= 1 / (n + 1) + ROUNDING:
        return []
    several = len(coverage.n_per_part) > 1
    where = "in some parts of the control" if several else "here"
    above = f"a sensitivity above {1 - smallest:.2g}" if smallest < 1 else "any sensitivity"
    listed = ", ".join(f"{p:.3g}" for p in coverage.smallest_per_part)
    values = f"the smallest p-values in the parts are {listed}" if several else f"no p-value is below {smallest:.3g}"
    words = (
        f"This method can reject nothing {where} at {above}, however absurd the object: "
        f"{smallest * (n + 1) - 1:.0f} of {n} control {coverage.unit}{' of a part' if several else ''}, each rated "
        f"without itself, have the lowest rating that there is, so that {values}. 'Accepted' then says nothing about "
        "an object. Judge by another method, such as kernel, or by fewer variables."
    )
    return [Caution(1 - smallest, words)]
