"""
Which variables matter, and would they be chosen again?
=======================================================

`VIPSelector` asks on which variables compact random projections of the control objects lean. The answer has a
spread over the projections (left). Silicon and calcium lead, but they say much the same; with ``kappa=0.5`` a variable
that correlates with those already taken is passed over, and magnesium follows silicon. Chance decides little: over 100
seeds the same pair comes back almost always (middle). Other control objects would decide more: over bootstrap samples
of the fragments the companion of silicon changes (right). A selection deserves both looks.
"""

import matplotlib.pyplot as plt

from transvariation import VIPSelector, load_glass, selection_stability
from transvariation.report.selection_figure import draw_stability, draw_vip

control = load_glass().control
selector = VIPSelector(n_features_to_select=2, kappa=0.5, random_state=0).fit(control)

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
draw_vip(left, selector)
left.set_title("importance, half of the projections in each box", fontsize=10)
for axes, resample, title in [(middle, "seeds", "over seeds"), (right, "bootstrap", "over bootstrap samples")]:
    draw_stability(axes, selection_stability(selector, control, 100, resample=resample, rng=0))
    axes.set_title(f"how often chosen {title}", fontsize=10)
plt.show()
