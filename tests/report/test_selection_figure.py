from matplotlib.figure import Figure

from transvariation import VIPSelector, load_glass, selection_stability
from transvariation.report.selection_figure import draw_features, draw_stability, draw_vip

SELECTOR = VIPSelector(2, kappa=0.5, n_projections=15, n_candidates=10, random_state=0)


def labels(ax):
    return [text.get_text() for text in ax.get_xticklabels()]


def test_bars_are_the_shares():
    result = selection_stability(SELECTOR, load_glass().control, 5, rng=0)
    ax = Figure().subplots()
    draw_stability(ax, result)
    assert [bar.get_height() for bar in ax.patches] == result.frequency["share"].tolist()
    assert labels(ax) == result.frequency.index.tolist()


def test_vip_boxes_in_the_order_of_importance():
    X = load_glass().control
    selector = SELECTOR.fit(X)
    ax = Figure().subplots()
    draw_vip(ax, selector)
    assert labels(ax)[0] == X.columns[selector.vip_.argmax()]
    draw_vip(ax, selector, names=list("abcdefghi"))
    draw_vip(ax, SELECTOR.fit(X.to_numpy()))


def test_long_names_do_not_lie_on_each_other():
    X = load_glass().control
    long = X.set_axis([f"$potassium$ oxide {name} (weight per cent)" for name in X], axis=1)
    for draw, given in (
        (draw_vip, SELECTOR.fit(long)),
        (draw_stability, selection_stability(SELECTOR, long, 2, rng=0)),
    ):
        ax = Figure(figsize=(8, 4), layout="constrained").subplots()
        draw(ax, given)
        assert {text.get_rotation() for text in ax.get_xticklabels()} == {40}
        assert not any(text.get_parse_math() for text in ax.get_xticklabels())


def test_one_panel_per_variable():
    glass = load_glass()
    axes = Figure().subplots(2, 5)
    draw_features(axes, {"control": glass.control, "recovered": glass.recovered})
    assert [ax.get_title() for ax in axes.ravel()[:9]] == glass.control.columns.tolist()
    assert not axes[1, 4].get_visible()
