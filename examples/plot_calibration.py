"""
Promised and kept: sensitivity on fresh objects
===============================================

A one-class rule promises to accept a share of the target objects, here nine in ten. We learn rules from 100 objects of
a known distribution, many times, and count how many fresh targets they accept. In the paper's mode the promise is
broken; with a calibrated threshold it is kept, but plain counting then rejects nothing at all, of which it warns. A
smooth rating keeps the promise and rejects.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from transvariation import TOCC, NeighborTOCC, make_scenario
from transvariation.conformal import RejectsNothing

warnings.simplefilter("ignore", RejectsNothing)  # we know, and show it

rules = {
    "TOCC, paper": TOCC(),
    "TOCC, leave-one-out": TOCC(calibration="loo"),
    "NeighborTOCC, resubstitution": NeighborTOCC(calibration="resubstitution"),
    "NeighborTOCC, leave-one-out": NeighborTOCC(),
    "NeighborTOCC, split": NeighborTOCC(calibration="split"),
}

# %%
# Normal target objects, and foreign ones uniform in a box around them.

accepted = {name: [] for name in rules}
rejected = {name: [] for name in rules}
for repeat in range(15):
    target, _ = make_scenario("e", 100, random_state=repeat)
    fresh, foreign = make_scenario("e", 400, random_state=1000 + repeat)
    for name, rule in rules.items():
        rule.fit(target)
        accepted[name].append(np.mean(rule.predict(fresh) == 1))
        rejected[name].append(np.mean(rule.predict(foreign) == -1))

# %%
# What the last rule says about itself.

print(rules["NeighborTOCC, split"].coverage_report())

# %%
# Each dot is one rule learned from 100 objects; the bar is the mean.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
for panel, shares, label in (
    (left, accepted, "share of fresh targets accepted"),
    (right, rejected, "share of foreign objects rejected"),
):
    for level, values in enumerate(shares.values()):
        panel.plot(values, np.full(len(values), -level), "o", color="#4c72b0", alpha=0.35, mew=0)
        panel.plot([np.mean(values)], [-level], "|", color="#c44e52", ms=20, mew=3)
    panel.set_xlabel(label)
    panel.spines[["top", "right"]].set_visible(False)
left.axvline(0.9, color="0.4", lw=1)
left.set_yticks([-k for k in range(len(rules))], list(rules))
left.set_ylim(0.5 - len(rules), 0.5)
left.text(0.9, 0.55, "promised", ha="center", va="bottom", color="0.4", fontsize=9)
plt.show()
