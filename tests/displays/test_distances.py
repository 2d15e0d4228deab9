import numpy as np
import pandas as pd

from transvariation.baselines import DDSIMCA
from transvariation.displays import DistanceDisplay


def test_members_and_strangers_are_in_one_acceptance_plot_with_labels():
    rng = np.random.default_rng(0)
    model = DDSIMCA(2).fit(rng.normal(size=(100, 5)))
    near, far = 0.1 * rng.normal(size=(20, 5)), np.vstack([np.full((3, 5), 9.0), np.zeros(5)])
    index = [*("a", "b", "c"), "disguised"]
    ax = DistanceDisplay.from_estimator(model, {"near": near}, {"far": pd.DataFrame(far, index=index)}).ax_
    assert {c.get_label(): len(c.get_offsets()) for c in ax.collections} == {"near": 20, "far": 4}
    assert [text.get_text().strip() for text in ax.texts] == ["disguised"]
    h, v = np.expm1(ax.lines[0].get_xydata()).T
    np.testing.assert_allclose(np.column_stack([h, v]) @ model.degrees_of_freedom_, model.critical_distances()[0])
    assert [line.get_label() for line in ax.lines] == ["acceptance limit", "outlier limit"]
    assert not DistanceDisplay.from_estimator(model, {"near": near}, labels=False).ax_.texts
