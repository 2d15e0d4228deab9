"""
Which variables matter, and how stable is the selection?
========================================================

`VIPSelector` measures the weight of each variable in compact random projections of the control fragments. The weights
vary over the projections (top). Silicon and calcium lead, but they are correlated; with ``kappa=0.5`` a variable that
correlates with those already selected is skipped, and magnesium follows silicon. Over 100 seeds the same pair is
selected almost always (middle). Over bootstrap samples of the fragments, the second variable changes more often
(bottom).
"""

import matplotlib.pyplot as plt
import numpy as np

from transvariation import VIPSelector, load_glass, selection_stability

control = load_glass().control
selector = VIPSelector(n_features_to_select=2, kappa=0.5, random_state=0).fit(control)

figure = plt.figure(figsize=(4.8, 7.6), layout="constrained")
panels = figure.subplot_mosaic([["top"], ["middle"], ["bottom"]])
order = np.argsort(selector.ranking_)
panels["top"].boxplot(selector.ci_[:, order], whis=(5, 95), showfliers=False, tick_labels=control.columns[order])
panels["top"].set_ylabel("Importance Coefficient")
panels["top"].set_title("importance; each box holds half of the projections")
for axes, resample, title in [
    (panels["middle"], "seeds", "over seeds"),
    (panels["bottom"], "bootstrap", "over bootstrap samples"),
]:
    share = selection_stability(selector, control, 100, resample=resample, rng=0).frequency["share"]
    bars = axes.bar(share.index, share, color="C0")
    axes.bar_label(bars, labels=[f"{value:.0%}" if value else "" for value in share], padding=2, fontsize=8)
    axes.set(ylim=(0, 1.1), ylabel="share of selections")
    axes.set_title(f"how often selected {title}")
plt.show()
