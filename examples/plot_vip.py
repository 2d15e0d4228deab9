"""
Which variables matter, and how stable is the selection?
========================================================

`VIPSelector` measures the weight of each variable in compact random projections of the control objects. The weights
vary over the projections (above). Silicon and calcium lead, but they are correlated; with ``kappa=0.5`` a variable that
correlates with those already selected is skipped, and magnesium follows silicon. Over 100 seeds the same pair is
selected almost always (below left). Over bootstrap samples of the fragments, the second variable changes more often
(below right).
"""

import matplotlib.pyplot as plt

from transvariation import VIPSelector, load_glass, selection_stability
from transvariation.report.selection_figure import draw_stability, draw_vip

control = load_glass().control
selector = VIPSelector(n_features_to_select=2, kappa=0.5, random_state=0).fit(control)

figure = plt.figure(figsize=(7.2, 6.2), layout="constrained")
panels = figure.subplot_mosaic([["above", "above"], ["left", "right"]])
draw_vip(panels["above"], selector)
panels["above"].set_title("importance; each box holds half of the projections")
for axes, resample, title in [
    (panels["left"], "seeds", "over seeds"),
    (panels["right"], "bootstrap", "over bootstrap samples"),
]:
    draw_stability(axes, selection_stability(selector, control, 100, resample=resample, rng=0))
    axes.set_title(f"how often selected\n{title}")
plt.show()
