"""Spectra thin enough to send and draw: few lines, few points, rounded."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LINES = 12  # spectra drawn of each kind
POINTS = 400  # of a line
GAP = 3.0  # times the usual step of the axis: there a line is interrupted


def some(n: int) -> list[int]:
    """Choose up to `LINES` of n spectra, evenly."""
    return np.unique(np.linspace(0, n - 1, min(n, LINES)).round().astype(int)).tolist()


def segments(axis: Floats, lines: Floats) -> list[dict[str, Any]]:
    """Return lines over an axis, in one part for each range of it, with at most `POINTS` points together.

    Of a longer line the smallest and the largest value of every interval are kept, so that no peak is lost.
    """
    order = np.argsort(axis)
    axis, lines = axis[order], np.atleast_2d(lines)[:, order]
    steps = np.diff(axis)
    breaks = np.flatnonzero(steps > GAP * np.median(steps if len(steps) else 0)) + 1
    parts = zip(np.split(axis, breaks), np.split(lines, breaks, axis=1), strict=True)
    share = POINTS / len(axis)
    thin = (_thinned(part, values, max(round(share * len(part)), 2)) for part, values in parts)
    return [{"axis": rounded(x, 7), "lines": [rounded(line) for line in y]} for x, y in thin]


def _thinned(axis: Floats, lines: Floats, points: int) -> tuple[Floats, Floats]:
    if len(axis) <= points:
        return axis, lines
    edges = np.linspace(0, len(axis), points // 2 + 1).astype(int)
    first, last = edges[:-1], edges[1:] - 1
    ends = np.stack([np.minimum.reduceat(lines, first, axis=1), np.maximum.reduceat(lines, first, axis=1)], axis=2)
    falling = lines[:, first] > lines[:, last]
    ends[falling] = ends[falling][:, ::-1]
    return np.column_stack([axis[first], axis[last]]).ravel(), ends.reshape(len(lines), -1)


def rounded(values: Sequence[float] | Floats, digits: int = 4) -> list[float]:
    """Round to significant digits."""
    return [float(f"{value:.{digits}g}") for value in values]
