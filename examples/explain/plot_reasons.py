"""
Why was this sample rejected?
=============================

`explain_rejections` gives the reasons of a rejection. It compares a rejected fragment with the window fragments,
feature by feature: which features are needed for the rejection, and which value would have been accepted.
"""

import matplotlib.pyplot as plt

from transvariation import NeighborTOCC, describe_rejections, explain_rejections, load_glass

glass = load_glass()
control = glass.control[["RI", "Na", "Mg", "Al", "K", "Ba"]]
headlamp = glass.recovered[control.columns].tail(1)
classifier = NeighborTOCC(sensitivity=0.9).fit(control)
reasons = explain_rejections(classifier, headlamp)
print(describe_rejections(reasons).replace("; ", ";\n"))

# %%
# Each panel shows one feature: the window fragments (ticks and gray shape), and the value of the fragment in question.
# A red triangle marks a feature that would reject the fragment by itself. The fragment would be accepted if it had the
# values to which the arrows lead. Barium suffices for the rejection: the glass of headlamps contains it, and window
# glass hardly does.
figure, panels = plt.subplots(len(reasons), 1, figsize=(4.8, 6), layout="constrained")
for axes, row in zip(panels, reasons.itertuples(), strict=True):
    values = control[row.feature]
    axes.violinplot(values, orientation="horizontal", positions=[0], widths=1.2, showextrema=False)
    axes.collections[0].set(facecolor="0.8", alpha=1)
    axes.plot(values, 0 * values, "|", color="C0", markersize=10)
    axes.plot(row.value, 0, "^", markersize=11, color="C3" if row.univariate_rejection else "C0")
    if row.accepted_at != row.value:
        axes.annotate("", (row.accepted_at, 0), (row.value, 0), arrowprops={"arrowstyle": "->", "color": "C2", "lw": 2})
    axes.set_ylabel(row.feature, rotation=0, ha="right", va="center")
    axes.set(yticks=[], ylim=(-0.7, 0.7))
    axes.spines["left"].set_visible(False)
figure.supxlabel("refractive index (RI), weight % of the oxides", fontsize=11)
plt.show()

# %%
# For `NeighborTOCC`, `explain` also names the known samples that are nearest and what each feature contributes to the
# distance from them.
table = classifier.explain(headlamp).nlargest(3, "contribution")
print(table[["feature", "value", "median", "contribution", "nearest"]].round(2).to_string(index=False))
