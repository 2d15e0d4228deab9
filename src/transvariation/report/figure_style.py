"""One style for all figures: reports, studies, benchmarks, the gallery and the manual.

The same thing has the same colour and marker everywhere. Known samples of the target are white circles with a dark
blue edge, new samples of the target filled circles, foreign samples red crosses, foreign samples that are accepted
orange squares. The accepted region is pale blue with a dark blue outline, a threshold or nominal value a dashed red
line. Methods of this package are dark blue, others grey.

The colours are in the order of matplotlib's own cycle (C0 blue, C1 orange, C2 green, C3 red), so code that names
colours by their number looks alike with and without this style.
"""

from typing import Any

from cycler import cycler

from transvariation._typing import Fields

DARK, WARM, GREEN, RED, SKY, GREY = "#1b4965", "#f4a261", "#2a9d8f", "#c1121f", "#8ecae6", "#6c757d"
CYCLE = (DARK, WARM, GREEN, RED, SKY, GREY)
REGION = "#d8e6ef"  # where samples are accepted

# Keyword arguments of `Axes.scatter`. Markers differ as well as colours, for print and colour-blind readers.
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
    "savefig.dpi": 150,
    "svg.hashsalt": "transvariation",
}
