"""P-values, likelihood ratios, counts and lists in words."""

import math
from collections.abc import Iterable

from transvariation.tables.problems import printable, some_of

MAX_NAMES_LISTED = 20  # names in a sentence
SCALE_NAME = "ENFSI Guideline for Evaluative Reporting in Forensic Science (2015)"
# Upper ends of the verbal scale of the European Network of Forensic Science Institutes.
SCALE = (
    (2, "no support for either proposition"),
    (10, "weak support"),
    (100, "moderate support"),
    (1_000, "moderately strong support"),
    (10_000, "strong support"),
    (1_000_000, "very strong support"),
    (math.inf, "extremely strong support"),
)


def format_p(p: float | None) -> str:
    """Write a p-value with two significant digits, or as below 0.001; a dash for none.

    Examples
    --------
    >>> format_p(0.0471), format_p(0.1), format_p(1.0), format_p(1e-9), format_p(None)
    ('0.047', '0.10', '1.0', '< 0.001', '–')
    """
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:#.2g}"


def p_equals(p: float) -> str:
    """Write a p-value for a sentence.

    Examples
    --------
    >>> p_equals(0.0471), p_equals(1e-9)
    ('p = 0.047', 'p < 0.001')
    """
    return f"p {format_p(p)}" if p < 0.001 else f"p = {format_p(p)}"


def format_share(share: float | None) -> str:
    """Write a share as a percentage with at most two significant digits; a dash for None.

    Examples
    --------
    >>> format_share(0.0976), format_share(0.123), format_share(1.0), format_share(0.0002)
    ('9.8%', '12%', '100%', '< 0.1%')
    """
    if share is None:
        return "–"
    if 0 < share < 0.001:
        return "< 0.1%"
    return f"{100 * share:.2g}%" if share < 0.0995 else f"{100 * share:.0f}%"


def in_words(log10_lr: float) -> str:
    """Put a likelihood ratio on the verbal scale.

    Examples
    --------
    >>> in_words(2.5), in_words(-0.1)
    ('moderately strong support for a common source', 'no support for either proposition')
    """
    words = next(words for end, words in SCALE if 10 ** min(abs(log10_lr), 300.0) <= end)
    if words == SCALE[0][1]:
        return words
    return f"{words} for {'a common source' if log10_lr > 0 else 'different sources'}"


def significant(value: float, digits: int) -> str:
    """Write a measurement with so many significant digits.

    Examples
    --------
    >>> significant(16234.5, 4), significant(0.08312, 2), significant(560.0, 2)
    ('16,230', '0.083', '560')
    """
    return f"{float(f'{value:.{digits}g}'):,.12g}"


def plural(n: int, unit: str) -> str:
    """Write a number of units.

    Examples
    --------
    >>> plural(1, "row"), plural(3, "row")
    ('1 row', '3 rows')
    """
    return f"{n} {unit}" if n == 1 else f"{n} {unit}s"


def listed(names: Iterable[str], shown: int = MAX_NAMES_LISTED) -> str:
    """List names, at most `shown` of them."""
    return some_of([printable(str(name)) for name in names], shown)
