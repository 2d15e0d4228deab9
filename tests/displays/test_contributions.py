import matplotlib.pyplot as plt
import pytest

from transvariation import TOCC, NeighborTOCC, load_glass
from transvariation.displays import ContributionDisplay

GLASS = load_glass()


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_bars_of_one_sample_are_its_contributions():
    model, sample = NeighborTOCC().fit(GLASS.control), GLASS.recovered[:1]
    display = ContributionDisplay.from_estimator(model, sample)
    expected = model.explain(sample).set_index("feature")["contribution"].sort_values(ascending=False)
    assert display.features[:3] == list(expected.index[:3])
    lengths = sorted((bar.get_width() for bar in display.ax_.patches), reverse=True)
    assert lengths == pytest.approx(expected.tolist())


def test_several_samples_have_one_dot_each_and_only_the_strongest_features_are_drawn():
    model = NeighborTOCC().fit(GLASS.control)
    display = ContributionDisplay.from_estimator(model, GLASS.recovered[:7], n_features=4)
    assert len(display.features) == 4
    assert sum(len(dots.get_offsets()) for dots in display.ax_.collections) == 4 * 7


def test_a_classifier_without_contributions_is_drawn_by_p_values():
    model = TOCC().fit(GLASS.control[["K", "Mg"]])
    display = ContributionDisplay.from_predictions(model.explain(GLASS.recovered[["K", "Mg"]][:1]))
    assert "p-value" in display.ax_.get_xlabel()
