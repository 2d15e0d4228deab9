"""The gallery: its order (recommended classifier, applications, the measure, reduction) and its style."""

from typing import Any

import matplotlib

from transvariation.report.figure_style import SETTINGS

ORDER = (
    "plot_neighbors.py",
    "plot_p_values.py",
    "plot_calibration.py",
    "plot_reasons.py",
    "plot_comparison.py",
    "plot_coffee.py",
    "plot_drift.py",
    "plot_transvariation.py",
    "plot_levels.py",
    "plot_pam.py",
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
