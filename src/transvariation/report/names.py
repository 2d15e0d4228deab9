"""Label axes and ticks with the names of a table, unchanged and wrapped to fit."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from transvariation._typing import Fields

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLAIN: Fields = {"parse_math": False}  # a name with two dollar signs is not a formula
LETTER_WIDTH = 6.0  # approximate width of a letter in points


def wrapped(name: object, width: int = 36) -> str:
    """Wrap a name to at most three lines of `width` letters; East Asian letters are twice as wide.

    >>> print(wrapped("concentration of potassium oxide", 20))
    concentration of
    potassium oxide
    """
    wide = any(east_asian_width(letter) in "WF" for letter in str(name))
    return textwrap.fill(str(name), width // 2 if wide else width, max_lines=3, placeholder=" …")


def label_axes(ax: "Axes", x: object, y: object = "") -> None:
    """Name the axes after variables."""
    ax.set_xlabel(wrapped(x), **PLAIN)
    ax.set_ylabel(wrapped(y), **PLAIN)


def label_ticks(ax: "Axes", at: Sequence[int], names: Iterable[object]) -> None:
    """Label the ticks with names, rotated if they do not fit side by side."""
    labels = [wrapped(name, 24) for name in names]
    longest = max((len(line) for label in labels for line in label.splitlines()), default=0)
    available = ax.bbox.width / ax.figure.dpi * 72 / max(len(labels), 1)
    rotated: Fields = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(at, labels, **PLAIN, **(rotated if LETTER_WIDTH * longest > available else {}))
