"""The charts that the build draws, in the style of all figures: methods of this package are dark blue, others gray."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib.pyplot as plt

from transvariation.report.figure_style import DARK, GRAY, GREEN, PHONE_WIDTH, RED, SETTINGS, SKY, THRESHOLD, WARM


def dots(path: Path, names: Sequence[str], values: Sequence[float], *, label: str, ours: str, digits: int = 3) -> None:
    """Draw one dot per name, the first on top, with its value; names that contain `ours` are dark blue."""
    with plt.rc_context(SETTINGS):
        figure, axes = plt.subplots(figsize=(PHONE_WIDTH, 0.32 * len(names) + 0.8))
        places = range(len(names))[::-1]
        axes.hlines(places, min(values), values, color="#e6e9ed", lw=1.2)
        for place, name, value in zip(places, names, values, strict=True):
            axes.plot(value, place, "o", ms=8, color=DARK if ours in name else GRAY)
            axes.annotate(f"{value:.{digits}f}", (value, place), (8, -3), textcoords="offset points", fontsize=10)
        axes.set_yticks(list(places), names)
        axes.set(xlabel=label)
        axes.margins(x=0.12)
        axes.tick_params(axis="y", length=0)
        save(figure, path)


def ranges(path: Path, rows: Sequence[tuple[str, float, float, float]], *, label: str, nominal: float) -> None:
    """Draw one dot per row at its mean, with a line from lowest to highest, beside the nominal value."""
    with plt.rc_context(SETTINGS):
        figure, axes = plt.subplots(figsize=(PHONE_WIDTH, 0.32 * len(rows) + 0.8))
        axes.axvline(nominal, label=f"nominal, {nominal:g}", **THRESHOLD)
        for place, (name, mean, low, high) in zip(range(len(rows))[::-1], rows, strict=True):
            color = GRAY if "resubstitution" in name else DARK
            axes.plot([low, high], [place, place], color=color, lw=1.6, solid_capstyle="round")
            axes.plot(mean, place, "o", color=color, ms=6)
        axes.set_yticks(list(range(len(rows))[::-1]), [row[0] for row in rows])
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(label, loc="right")  # beside long names a centered label would be cut off
        axes.legend(loc="lower left")
        save(figure, path)


def groups(path: Path, found: Mapping[str, Mapping[str, float]], *, label: str, ours: str) -> None:
    """Draw one line per case on a log axis, one mark per method; the method whose name contains `ours` is dark blue."""
    cases = list(dict.fromkeys(case for values in found.values() for case in values))
    smallest = min(value for values in found.values() for value in values.values() if value > 0)
    with plt.rc_context(SETTINGS):
        figure, axes = plt.subplots(figsize=(PHONE_WIDTH, 0.45 * len(cases) + 2))
        colors = iter((WARM, GREEN, SKY, GRAY, RED))
        for (name, values), mark in zip(found.items(), "oD^sPv"[: len(found)], strict=True):
            x, y = [max(value, smallest) for value in values.values()], [cases.index(case) for case in values]
            look = {"color": DARK, "zorder": 3} if ours in name else {"color": next(colors)}
            axes.scatter(x, y, s=55, marker=mark, label=name, **look)
        axes.set_yticks(range(len(cases)), cases)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", color="0.92")
        axes.set_axisbelow(True)
        axes.set(xscale="log", xlabel=label, ylim=(len(cases) - 0.5, -0.5))
        figure.legend(loc="outside lower center")
        save(figure, path)


def save(figure: plt.Figure, path: Path) -> None:
    """Write a figure and close it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
