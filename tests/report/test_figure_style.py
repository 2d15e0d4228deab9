"""The style of all figures: legible without color and on a phone."""

import re
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_rgb

from transvariation.report import figure_style as style
from transvariation.report.figure_style import label_axes, label_ticks, wrapped

ROOT = Path(__file__).parents[2]
MARKS = (style.KNOWN, style.KNOWN_REJECTED, style.NEW, style.FOREIGN, style.FOREIGN_ACCEPTED)


def luminance(color):
    """Relative luminance as defined by WCAG 2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_marks_differ_without_color():
    looks = [(mark["marker"], luminance(mark["facecolor"]) > 0.8) for mark in MARKS]
    assert len(set(looks)) == len(MARKS)


@pytest.mark.parametrize("color", [style.DARK, style.RED, style.GRAY])
def test_colors_of_lines_and_text_contrast_with_paper(color):
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


def test_names_are_wrapped_to_three_lines():
    assert wrapped("K") == "K"
    lines = wrapped("one word after the other " * 10, 20).splitlines()
    assert len(lines) == 3
    assert lines[-1].endswith(" …")
    assert max(map(len, lines)) <= 20


def test_east_asian_letters_count_twice():
    assert [len(line) for line in wrapped("鉄" * 30, 20).splitlines()] == [10, 10, 10]


def test_dollar_signs_are_no_formula():
    _, ax = plt.subplots()
    label_axes(ax, "cost $a_1$", 7)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("cost $a_1$", "7")
    assert not ax.xaxis.label.get_parse_math()
    plt.close()


def test_ticks_are_rotated_only_where_they_do_not_fit():
    for names, rotation in ((["K", "Mg"], 0), ([f"concentration {i}" for i in range(12)], 40)):
        figure, ax = plt.subplots(figsize=(4, 3))
        label_ticks(ax, range(len(names)), names)
        labels = ax.get_xticklabels()
        assert [label.get_text().replace("\n", " ") for label in labels] == names
        assert {label.get_rotation() for label in labels} == {rotation}
        plt.close(figure)
