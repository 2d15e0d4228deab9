"""Names from somebody's table in a figure: as they stand there, in lines that fit."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLAIN: dict[str, Any] = {"parse_math": False}  # two dollar signs in a name are no formula
LETTER = 6.0  # points that a letter takes across, about


def wrapped(name: object, width: int = 36) -> str:
    """Break a name into at most three lines of so many letters; Chinese and the like are twice as wide.

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
    """Write names below their ticks, aslant where they do not fit side by side."""
    labels = [wrapped(name, 24) for name in names]
    longest = max((len(line) for label in labels for line in label.splitlines()), default=0)
    room = ax.bbox.width / ax.figure.dpi * 72 / max(len(labels), 1)
    aslant: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(at, labels, **PLAIN, **(aslant if LETTER * longest > room else {}))
