"""Known foreign fragments: how often a case notices what does not belong to the control."""

from dataclasses import dataclass

import pandas as pd
from numpy.typing import ArrayLike

from transvariation.conformal import is_accepted
from transvariation.metrics import type_ii_error


@dataclass(frozen=True)
class Foreign:
    """Known foreign fragments, compared with the control as the recovered ones are.

    Attributes
    ----------
    fragments : tuple of str
    levels : tuple of str
        The class of each fragment or its degree of adulteration: the source that its table names.
    p_values : tuple of float
        Of each fragment.
    control_p_values : tuple of float
        Of each control fragment, compared with the others.
    """

    fragments: tuple[str, ...]
    levels: tuple[str, ...]
    p_values: tuple[float, ...]
    control_p_values: tuple[float, ...]

    def missed(self, sensitivity: float) -> int:
        """Count the foreign fragments that are not excluded."""
        return sum(is_accepted(p, sensitivity) for p in self.p_values)

    def type_ii_error(self, sensitivity: float | ArrayLike) -> pd.DataFrame:
        """Estimate the share of foreign fragments that are not excluded, by class or degree of adulteration.

        See :func:`transvariation.metrics.type_ii_error`.
        """
        return type_ii_error(self.p_values, _numbers(self.levels) or self.levels, sensitivity=sensitivity)


def _numbers(levels: tuple[str, ...]) -> list[float] | None:
    """Return levels such as 5 and 10% as numbers; None if some are names."""
    try:
        return [float(level.removesuffix("%")) for level in levels]
    except ValueError:
        return None
