"""
Nominal and actual sensitivity
==============================

A one-class classifier should accept a given share of new target samples, its :term:`sensitivity`, here 90%. We train
classifiers on 100 samples of a known distribution, repeatedly, and measure the share of new target samples that they
accept. With the paper's threshold the share is too small. With a calibrated threshold it is right, but TOCC then
rejects nothing, and warns about it. NeighborTOCC accepts the right share and still rejects other samples.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from transvariation import TOCC, NeighborTOCC, make_scenario
from transvariation.exceptions import RejectsNothing

warnings.simplefilter("ignore", RejectsNothing)  # shown below

classifiers = {
    "TOCC,\nresubstitution": TOCC(),
    "TOCC,\nleave-one-out": TOCC(calibration="loo"),
    "NeighborTOCC,\nresubstitution": NeighborTOCC(calibration="resubstitution"),
    "NeighborTOCC,\nleave-one-out": NeighborTOCC(),
    "NeighborTOCC,\nsplit": NeighborTOCC(calibration="split"),
}

# %%
# Target samples are normal; other samples are uniform in a box around them.

accepted = {name: [] for name in classifiers}
rejected = {name: [] for name in classifiers}
for repeat in range(15):
    target, _ = make_scenario("e", 100, random_state=repeat)
    new, others = make_scenario("e", 400, random_state=1000 + repeat)
    for name, classifier in classifiers.items():
        classifier.fit(target)
        accepted[name].append(np.mean(classifier.predict(new) == 1))
        rejected[name].append(np.mean(classifier.predict(others) == -1))

# %%
# The report of the last classifier.

print(classifiers["NeighborTOCC,\nsplit"].coverage_report())

# %%
# Each dot is a classifier trained on 100 samples; the bar is the mean.

figure, (above, below) = plt.subplots(2, 1, figsize=(4.8, 6.6), layout="constrained")
for panel, shares, label in (
    (above, accepted, "share of new target samples accepted"),
    (below, rejected, "share of other samples rejected"),
):
    for level, values in enumerate(shares.values()):
        panel.plot(values, np.full(len(values), -level), "o", color="C0", alpha=0.3, mew=0)
        panel.plot([np.mean(values)], [-level], "|", color="C0", ms=20, mew=3)
    panel.set_xlabel(label)
    panel.xaxis.set_major_formatter("{x:.0%}")
    panel.set_yticks([-k for k in range(len(classifiers))], list(classifiers))
    panel.set_ylim(0.5 - len(classifiers), 0.5)
above.axvline(0.9, color="C3", ls="--", lw=1.2)
above.text(0.9, 0.55, "nominal", ha="center", va="bottom", color="C3")
plt.show()
