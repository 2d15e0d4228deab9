"""Acceptance criteria, which a laboratory writes down before the validation."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from transvariation.casework.errors import CaseError

CRITERIA = {
    "false_exclusion_excess": 0.03,  # above 1 - sensitivity
    "false_inclusion": 0.3,
    "cllr": 0.5,
    "misleading_100": 0.02,  # of either kind, with a ratio beyond 100
}
OF_RATIOS = ("cllr", "misleading_100")


@dataclass(frozen=True)
class Verdict:
    """Whether an acceptance criterion was met in a design.

    Attributes
    ----------
    criterion, design : str
    sensitivity : float or None
    limit : float
    measured, low, high : float or None
        What was measured, and its 95% interval; None where likelihood ratios were not.
    met : bool
        Whether what was measured does not exceed the limit.
    shown : bool
        Whether the whole interval lies on the same side of the limit.
    """

    criterion: str
    design: str
    sensitivity: float | None
    limit: float
    measured: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def met(self) -> bool:
        """Whether what was measured does not exceed the limit."""
        return self.measured is not None and self.measured <= self.limit

    @property
    def shown(self) -> bool:
        """Whether the whole interval lies on the same side of the limit."""
        return self.low is not None and self.high is not None and (self.high <= self.limit or self.low > self.limit)


def read_criteria(path: str | Path | None) -> dict[str, float]:
    """Read acceptance criteria from a TOML file, ``name = limit`` on each line; None gives the defaults.

    Parameters
    ----------
    path : path or None
        The file.

    Returns
    -------
    dict
        The limits by name.
    """
    if path is None:
        return dict(CRITERIA)
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise CaseError("criteria-file", file=path, reason=error) from None
    if not given:
        raise CaseError("no-criteria", file=path, there=list(CRITERIA))
    return check_criteria(given)


def check_criteria(given: Mapping[str, float | str]) -> dict[str, float]:
    """Check the names and limits of acceptance criteria."""
    for name, limit in given.items():
        if name not in CRITERIA:
            raise CaseError("no-criterion", name=name, there=list(CRITERIA))
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 0:
            raise CaseError("criterion-limit", name=name, limit=limit)
    return {name: float(limit) for name, limit in given.items()}
