"""The settings of a validation, as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass

from transvariation.tables.options import option
from transvariation.tables.settings import Settings, document


@dataclass(frozen=True, kw_only=True)
class ValidationSettings(Settings):
    """What is compared in a validation, and how often."""

    designs: Sequence[str] = option(
        ("1x1", "3x1"),
        "comparison",
        "names",
        "Known fragments x replicates of each, such as 3x5; one questioned fragment has as many replicates.",
    )
    sensitivities: Sequence[float] = option(
        (0.9,), "comparison", "shares", "The shares of same-source fragments that should not be excluded."
    )
    features: Sequence[str] | None = option(None, "variables", "names", "The variables to use; by default all.")
    log: bool = option(
        True, "variables", "flag", "Take logarithms (base 10) of a database that does not hold them already."
    )
    n_comparisons: int = option(
        2000,
        "comparison",
        "whole",
        "Comparisons of the same source, and as many of different sources, in each design.",
        least=1,
    )
    n_folds: int = option(5, "comparison", "whole", "How many folds of sources are left out in turn.", least=2)
    ratios: bool = option(
        True,
        "comparison",
        "flag",
        "Measure likelihood ratios and other methods as well; without them it takes a fraction of the time.",
    )
    stability: bool = option(
        True,
        "comparison",
        "flag",
        "Repeat some folds with other seeds and with a part of the sources, in the first design.",
    )
    seed: int = option(0, "comparison", "whole", "Of the choice of fragments.")


document(ValidationSettings)
