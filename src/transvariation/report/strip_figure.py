"""A strip: where one value lies among the control's, small enough to stand in a table row."""

import numpy as np
from numpy.typing import ArrayLike

WIDTH, HEIGHT, PAD = 260, 26, 12
TICKS = 200  # more control values than this are thinned to quantiles


def strip_svg(control: ArrayLike, value: float, rejected: bool) -> str:
    """Draw control values as ticks, their middle half as a band, their median as a line, the object as a mark.

    The scale spans the control values and half their range on either side; a value beyond that is drawn at the edge
    as an arrow.
    """
    known = np.sort(np.asarray(control, dtype=float))
    if len(known) > TICKS:
        known = np.quantile(known, np.linspace(0, 1, TICKS))
    spread = known[-1] - known[0] or max(abs(known[0]), 1.0) * 1e-3
    low, high = known[0] - spread / 2, known[-1] + spread / 2

    def at(x: float) -> str:
        return f"{PAD + (WIDTH - 2 * PAD) * (x - low) / (high - low):.1f}"

    first, median, third = np.quantile(known, [0.25, 0.5, 0.75])
    band = max(float(at(third)) - float(at(first)), 1.0)
    middle, ink = HEIGHT / 2, "#c1121f" if rejected else "#1b4965"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">',
        f'<rect x="{at(first)}" y="6" width="{band:.1f}" height="14" fill="#cfe3f0"/>',
        f'<path d="{"".join(f"M{at(x)} 8V18" for x in known)}" stroke="#5b6b7b" stroke-opacity=".5"/>',
        f'<path d="M{at(median)} 3V23" stroke="#1d2733" stroke-width="1.5"/>',
    ]
    if value < low:
        parts.append(f'<path d="M10 {middle - 5}L2 {middle}L10 {middle + 5}Z" fill="{ink}"/>')
    elif value > high:
        parts.append(
            f'<path d="M{WIDTH - 10} {middle - 5}L{WIDTH - 2} {middle}L{WIDTH - 10} {middle + 5}Z" fill="{ink}"/>'
        )
    elif rejected:
        x = float(at(value))
        parts.append(f'<path d="M{x - 4:.1f} 9l8 8m0-8l-8 8" stroke="{ink}" stroke-width="2.2"/>')
    else:
        parts.append(f'<circle cx="{at(value)}" cy="{middle}" r="4" fill="{ink}" stroke="#fff"/>')
    return "".join([*parts, "</svg>"])
