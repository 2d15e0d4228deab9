"""The gallery: its sections, the order of its examples, style and thumbnails."""

from itertools import groupby
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from PIL import Image
from sphinx.application import Sphinx

from transvariation.report.figure_style import SETTINGS

SECTIONS = ("start", "calibrate", "explain", "casework", "paper")
ORDER = (
    "plot_detectors.py",
    "plot_p_values.py",
    "plot_open_set.py",
    "plot_calibration.py",
    "plot_calibration_curve.py",
    "plot_drift.py",
    "plot_monitoring.py",
    "plot_reasons.py",
    "plot_contributions.py",
    "plot_case.py",
    "plot_coffee.py",
    "plot_transvariation.py",
    "plot_neighbors.py",
    "plot_comparison.py",
    "plot_density_tocc.py",
    "plot_mixture.py",
    "plot_features.py",
    "plot_reduction.py",
    "plot_vip.py",
    "plot_sparse_path.py",
)


class ByTopic:
    """Sort key of sphinx-gallery; an example that is not listed is an error."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, filename: str) -> int:
        """Place an example in the order of the gallery."""
        return ORDER.index(filename)


def use_style(gallery_conf: dict[str, Any], filename: str) -> None:
    """Draw the figures of the next example in the style of the manual."""
    matplotlib.rcParams.update(SETTINGS)


def crop_thumbnails(app: Sphinx) -> None:
    """Show the upper panels of a tall figure in its thumbnail, where the whole figure would be too small."""
    width, height = app.config.sphinx_gallery_conf["thumbnail_size"]
    for thumbnail in (Path(app.srcdir) / "auto_examples").glob("*/images/thumb/sphx_glr_plot_*_thumb.png"):
        drawn = thumbnail.parents[1] / thumbnail.name.replace("thumb", "001")
        if not drawn.exists():  # a build without the gallery
            continue
        figure = Image.open(drawn).convert("RGB")
        most = figure.width * height // width
        if figure.height > most:
            figure.crop((0, 0, figure.width, _widest_gap(figure, most // 2, most))).save(thumbnail)


def _widest_gap(figure: Image.Image, first: int, last: int) -> int:
    """Find where the longest run of rows begins that are white but for a color bar on the right."""
    white = (np.asarray(figure)[first:last, : figure.width * 3 // 4] == 255).all(axis=(1, 2))
    runs = [(len(list(rows)), is_white) for is_white, rows in groupby(white)]
    starts = np.cumsum([0, *(length for length, _ in runs)])
    gaps = [(length, start) for (length, is_white), start in zip(runs, starts[:-1], strict=True) if is_white]
    return first + int(max(gaps)[1]) if gaps else last
