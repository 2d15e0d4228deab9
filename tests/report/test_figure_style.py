"""The style of all figures: legible without colour and on a phone."""

import re
from pathlib import Path

import matplotlib
import pytest
from matplotlib.colors import to_rgb

from transvariation.report import figure_style as style

ROOT = Path(__file__).parents[2]
MARKS = (style.KNOWN, style.KNOWN_REJECTED, style.NEW, style.FOREIGN, style.FOREIGN_ACCEPTED)


def luminance(color):
    """Relative luminance as defined by WCAG 2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_marks_differ_without_colour():
    looks = [(mark["marker"], luminance(mark["facecolor"]) > 0.8) for mark in MARKS]
    assert len(set(looks)) == len(MARKS)


@pytest.mark.parametrize("color", [style.DARK, style.RED, style.GREY])
def test_colours_of_lines_and_text_contrast_with_paper(color):
    assert 1.05 / (luminance(color) + 0.05) >= 4.5


def test_matplotlib_knows_the_settings():
    with matplotlib.rc_context(style.SETTINGS):
        assert matplotlib.rcParams["axes.prop_cycle"].by_key()["color"] == list(style.CYCLE)


WIDE = {"plot_detectors"}  # a grid of fifteen panels, for the width of a desktop


@pytest.mark.parametrize("file", sorted((ROOT / "examples").rglob("*.py")), ids=lambda file: file.stem)
def test_figures_of_examples_fit_a_phone(file):
    if file.stem in WIDE:
        return
    widths = re.findall(r"figsize\W+([\d.]+)", file.read_text(encoding="utf-8"))
    assert all(float(width) <= style.PHONE_WIDTH for width in widths)


KEPT = sorted([*(ROOT / "docs" / "results").glob("*/*.png"), *(ROOT / "benchmarks" / "results").glob("*.png")])


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_figures_of_kept_results_fit_a_phone(file):
    width = int.from_bytes(file.read_bytes()[16:20])  # of the header of a PNG file
    assert width == style.PHONE_WIDTH * style.SETTINGS["savefig.dpi"]
