"""Figures show what was computed."""

import io

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from transvariation.baselines import DDSIMCA, describe_strangers
from transvariation.metrics import type_ii_error
from transvariation.report.acceptance_figures import (
    aliens_figure,
    distance_figure,
    extremes_figure,
    importance_figure,
    selectivity_figure,
    sensitivity_specificity_figure,
    spectrum_figure,
    type_ii_figure,
)
from transvariation.spectral_bands import spectral_band


def drawn(figure):
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=40)
    assert buffer.tell() > 1_000
    return figure.axes


def test_members_and_strangers_are_in_one_acceptance_plot_with_labels():
    rng = np.random.default_rng(0)
    model = DDSIMCA(2).fit(rng.normal(size=(100, 5)))
    near, far = 0.1 * rng.normal(size=(20, 5)), np.vstack([np.full((3, 5), 9.0), np.zeros(5)])
    index = [*("a", "b", "c"), "disguised"]
    (ax,) = drawn(distance_figure(model, {"near": near}, {"far": pd.DataFrame(far, index=index)}))
    assert {c.get_label(): len(c.get_offsets()) for c in ax.collections} == {"near": 20, "far": 4}
    assert [text.get_text().strip() for text in ax.texts] == ["disguised"]
    h, v = np.expm1(ax.lines[0].get_xydata()).T
    np.testing.assert_allclose(np.column_stack([h, v]) @ model.degrees_of_freedom_, model.critical_distances()[0])
    assert [line.get_label() for line in ax.lines] == ["acceptance limit", "outlier limit"]
    (bare,) = drawn(distance_figure(model, {"near": near}, labels=False))
    assert not bare.texts


def test_aliens_and_selectivity_are_drawn():
    rng = np.random.default_rng(1)
    model = DDSIMCA(2).fit(rng.normal(size=(200, 5)))
    strangers = describe_strangers(model, rng.normal(1.5, 1, size=(100, 5)))
    (ax,) = drawn(aliens_figure(strangers))
    expected, observed = ax.lines[1].get_xydata().T
    assert np.abs(expected - observed).max() < 15
    (ax,) = drawn(selectivity_figure({"far": strangers}))
    error, sensitivity = ax.lines[0].get_xydata().T
    at = np.argmin(np.abs(sensitivity - 0.9))
    assert 1 - error[at] == pytest.approx(strangers.selectivity, abs=0.01)


def test_extremes_figure_draws_observed_numbers():
    (ax,) = drawn(extremes_figure([0.1, 0.5, 0.6, 1.0]))
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), [1, 2, 3, 4])


def test_sensitivity_and_specificity_are_drawn_over_the_threshold():
    (ax,) = drawn(sensitivity_specificity_figure([0.9, 0.8, 0.3], [0.5, 0.1], 0.6))
    assert {line.get_label() for line in ax.lines} == {"sensitivity", "specificity", "threshold in use"}


@pytest.mark.parametrize("levels", [[5, 5, 10, 10], ["a", "a", "b", "b"]])
def test_type_ii_figure_has_a_line_per_sensitivity(levels):
    table = type_ii_error([0.5, 0.02, 0.3, 0.02], levels=levels, sensitivity=[0.9, 0.95])
    (ax,) = drawn(type_ii_figure(table))
    assert len(ax.get_legend().get_texts()) == 2


def test_spectrum_figure_shades_the_foreign_intervals():
    control = np.random.default_rng(1).normal(size=(30, 50))
    spectrum = np.zeros(50)
    spectrum[[10, 11, 30]] = 20
    first, second = drawn(spectrum_figure(spectral_band(control), {"foreign": spectrum, "own": np.zeros(50)}))
    assert len(first.patches) == 2
    assert len(second.patches) == 0
    assert first.get_title() == "foreign: 2 foreign intervals"


def test_importance_figure_draws_shares_above_and_below_the_band():
    band = spectral_band(np.random.default_rng(2).normal(size=(30, 50)))
    samples = np.zeros((4, 50))
    samples[:3, 10], samples[0, 20] = 30, -30
    (ax,) = drawn(importance_figure(band, samples, np.arange(50.0, 0.0, -1.0)))
    above, below = (collection.get_paths()[0].vertices for collection in ax.collections)
    assert above[:, 1].max() == 0.75
    assert above[above[:, 1].argmax(), 0] == 40.0
    assert below[:, 1].min() == -0.25
    assert ax.get_xlim() == (50.0, 1.0)


def test_figures_can_be_drawn_in_a_part_of_a_figure():
    figure = Figure(figsize=(8, 3), layout="constrained")
    left, right = figure.subfigures(1, 2)
    sensitivity_specificity_figure([0.9, 0.8], [0.5, 0.1], figure=left)
    extremes_figure([0.1, 0.5], figure=right)
    assert len(drawn(figure)) == 2
    assert figure.get_size_inches().tolist() == [8, 3]
