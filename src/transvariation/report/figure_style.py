"""One style for all figures: reports, studies, benchmarks, the gallery and the manual.

The same thing has the same color and marker everywhere. Known samples of the target are white circles with a dark
blue edge, new samples of the target filled circles, foreign samples red crosses, foreign samples that are accepted
orange squares. The accepted region is pale blue with a dark blue outline, a threshold or nominal value a dashed red
line. Methods of this package are dark blue, others gray.

The colors are in the order of matplotlib's own cycle (C0 blue, C1 orange, C2 green, C3 red), so code that names
colors by their number looks alike with and without this style.

Names of a table label axes and ticks unchanged, wrapped to fit.
"""

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from cycler import cycler

from transvariation._typing import Fields

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DARK, WARM, GREEN, RED, SKY, GRAY = "#1b4965", "#f4a261", "#2a9d8f", "#c1121f", "#8ecae6", "#6c757d"
CYCLE = (DARK, WARM, GREEN, RED, SKY, GRAY)
REGION = "#d8e6ef"  # where samples are accepted

# Keyword arguments of `Axes.scatter`. Markers differ as well as colors, for print and color-blind readers.
KNOWN: Fields = {"marker": "o", "s": 24, "facecolor": "white", "edgecolor": DARK, "linewidth": 0.9}
KNOWN_REJECTED: Fields = {**KNOWN, "marker": "*", "s": 80}
NEW: Fields = {"marker": "o", "s": 34, "facecolor": DARK, "edgecolor": "white", "linewidth": 0.5}
FOREIGN: Fields = {"marker": "X", "s": 46, "facecolor": RED, "edgecolor": "white", "linewidth": 0.5}
FOREIGN_ACCEPTED: Fields = {"marker": "s", "s": 38, "facecolor": WARM, "edgecolor": "black", "linewidth": 0.6}

# Keyword arguments of lines.
THRESHOLD: Fields = {"color": RED, "linestyle": "--", "linewidth": 1.2}
OUTLINE: Fields = {"colors": DARK, "linewidths": 1.3}

# Inches. Figures of the manual are at most this wide, so that 11 points are 11 pixels on a phone.
PHONE_WIDTH = 4.8

# Settings for `matplotlib.rc_context`.
SETTINGS: dict[Any, Any] = {
    "axes.prop_cycle": cycler(color=CYCLE),
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.labelsize": 11,
    "legend.fontsize": 10,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#495057",
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.1,  # inches: a title keeps its distance from the axis above it
    "savefig.dpi": 150,
    "svg.hashsalt": "transvariation",
}

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
