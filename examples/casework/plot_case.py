"""
Three control fragments and a background
========================================

A window was broken, and three fragments of it were measured: the *control*. Could four *recovered* fragments come from
it? Three fragments do not show how much the window varies. A *background* does: many other windows with several
measurements each. It calibrates the conclusions, and shows how rare measurements like those of the control are.

The measurements are ten elements of float glass, log10 of the concentration in µg/g, from casework of the Netherlands
Forensic Institute. Two of the recovered fragments are further measurements of the control's window. It is the case of
``pane.csv``, ``questioned.csv`` and ``background.csv``, which ``transvariation demo --tables`` writes.
"""

import matplotlib.pyplot as plt

from transvariation import load_nfi_glass
from transvariation.casework import judge
from transvariation.displays import LikelihoodRatioDisplay

glass = load_nfi_glass().frame
case = glass["source"].isin(["v17", "v42", "v99"])
is_control = (glass["source"] == "v17") & (glass["piece"] <= 3)
is_recovered = case & ~is_control & ((glass["source"] == "v17") | (glass["piece"] == 1))
background = glass[~case]
result = judge(glass[is_control], glass[is_recovered], background=background, logged=True, fragment_column="piece")

# %%
# Each conclusion has a p-value: the share of fragments of one window that differ as much. The likelihood ratio says how
# much more probable the measurements are if control and fragment come from one window than if they do not.
for conclusion in result.conclusions:
    word = "not excluded" if conclusion.accepted else "excluded"
    print(f"{conclusion.fragment}: {word}, p-value {conclusion.p_value:.3f}")

# %%
# The verbal scale is that of the European Network of Forensic Science Institutes.
_, axes = plt.subplots(figsize=(4.8, 3.6), layout="constrained")
LikelihoodRatioDisplay.from_case(result, ax=axes)
plt.show()
