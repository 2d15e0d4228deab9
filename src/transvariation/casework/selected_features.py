"""Which variables have a say in the verdicts: a reduction leaves some without, or mixes them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline

from transvariation.calibrated import CalibratedOCC
from transvariation.decomposition.minor_components import MinorComponents


class Say(NamedTuple):
    """The variables that a rule judges by.

    Attributes
    ----------
    features : those that have a say
    no_say : those that a selection left out
    combinations : into how many combinations the features were mixed; 0 if they were used as they are
    """

    features: tuple[str, ...]
    no_say: tuple[str, ...] = ()
    combinations: int = 0

    def counted(self) -> str:
        """Count them.

        >>> Say(("Mg", "Si"), ("K",)).counted(), Say(("K",)).counted(), Say(("K", "Mg", "Si"), (), 2).counted()
        ('2 of the 3 variables', '1 variable', '2 combinations of the 3 variables')
        """
        n = len(self.features) + len(self.no_say)
        variables = f"{n} variable{'s' * (n > 1)}"
        if self.combinations:
            return f"{self.combinations} combination{'s' * (self.combinations > 1)} of the {variables}"
        return f"{len(self.features)} of the {variables}" if self.no_say else variables

    def reduced(self) -> str:
        """Tell in a sentence what the reduction came to; nothing without one.

        >>> Say(("Mg", "Si"), ("K", "Na")).reduced()
        'Reduced to Mg and Si; the other 2 variables have no say.'
        """
        if self.combinations:
            return f"All {len(self.features)} variables have a say in these {self.combinations} combinations."
        if not self.no_say:
            return ""
        n = len(self.no_say)
        others = "the other variable has" if n == 1 else f"the other {n} variables have"
        return f"Reduced to {' and '.join(self.features)}; {others} no say."


def having_a_say(rule: Any, features: Sequence[str]) -> Say:
    """Ask a fitted rule which of its variables it uses."""
    pipeline = rule.estimator_ if isinstance(rule, CalibratedOCC) else rule
    step = pipeline[0] if isinstance(pipeline, Pipeline) else None
    if isinstance(step, SelectorMixin):
        chosen = step.get_support()
        used, unused = (tuple(np.asarray(features, dtype=object)[mask]) for mask in (chosen, ~chosen))
        return Say(used, unused)
    return Say(tuple(features), (), len(step.components_) if isinstance(step, MinorComponents) else 0)


def tp_of(rule: Any, rows: pd.DataFrame) -> np.ndarray | None:
    """Give the rule's own tp: after a reduction, that in the reduced variables; None if it has none."""
    pipeline = rule.estimator_ if isinstance(rule, CalibratedOCC) else None
    if isinstance(pipeline, Pipeline):
        rule, rows = pipeline[-1], pipeline[:-1].transform(rows)
    return rule.transvariation_probability(rows) if hasattr(rule, "transvariation_probability") else None
