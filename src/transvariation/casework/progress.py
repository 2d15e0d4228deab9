"""Report how far a computation is, as codes and shares."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal


@dataclass(frozen=True)
class ProgressStep:
    """A step of a computation; `transvariation.report.wording` puts it in words."""

    code: Literal["reading", "background", "control", "checks", "validation"]
    values: dict[str, int] = field(default_factory=dict)  # the numbers of fragments it concerns
    within: tuple[str, ...] = ()  # the case and the source of the control, where there are several


# A step, and the share of the work done before it; None while that is not known.
Progress = Callable[[ProgressStep, float | None], None]


def ignore_progress(step: ProgressStep, share: float | None) -> None:
    """Report no progress."""


def progress_of_part(progress: Progress, name: str, i: int, n: int) -> Progress:
    """Return what reports the progress of the i-th of n parts."""

    def report(step: ProgressStep, share: float | None) -> None:
        progress(replace(step, within=(name, *step.within)), (i + (share or 0.0)) / n)

    return report
