"""
Which features set rejected samples apart?
==========================================

`explain` gives the contribution of each feature to the distance between a sample and its nearest known samples.
`ContributionDisplay` draws it: bars for one sample, and one strip per feature for many.
"""

import matplotlib.pyplot as plt

from transvariation import NeighborTOCC, load_glass
from transvariation.displays import ContributionDisplay

glass = load_glass()
classifier = NeighborTOCC().fit(glass.control)
rejected = glass.recovered[classifier.predict(glass.recovered) == -1]
print(f"{len(rejected)} of {len(glass.recovered)} other fragments are rejected")

# %%
# One fragment of a headlamp. A red bar is a feature that would reject the fragment by itself.
_, axes = plt.subplots(figsize=(4.8, 3.4), layout="constrained")
ContributionDisplay.from_estimator(classifier, rejected[-1:], ax=axes)
plt.show()

# %%
# All rejected fragments. Magnesium and barium set most of them apart: containers and headlamps contain less magnesium
# than windows, and headlamps contain barium.
_, axes = plt.subplots(figsize=(4.8, 4.2), layout="constrained")
ContributionDisplay.from_estimator(classifier, rejected, ax=axes)
plt.show()
