"""
A mixture, its orthants and the density-based tp
================================================

Potassium and magnesium of the 87 window fragments are described by a mixture of Gaussians, chosen by BIC. The axes
through the spatial median divide the plane into four orthants. The tp of an object is the probability of the box beyond
it, divided by that of its orthant. It is smooth, and it does not end at the edge of the sample.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import PowerNorm
from matplotlib.patches import Ellipse, Rectangle

from transvariation import DensityTOCC, load_glass

glass = load_glass()
control, recovered = (table[["K", "Mg"]].to_numpy() for table in (glass.control, glass.recovered))
classifier = DensityTOCC(density="mixture", sensitivity=0.9).fit(control)
mixture, centre = classifier.density_, classifier.center_
print(f"{mixture.model_name_} with {mixture.n_components_} components; threshold tp = {classifier.offset_:.3f}")

# %%
# Left: the mixture. An ellipse contains about 86% of its component. Each orthant is labelled with its probability, the
# denominator of tp. The box beyond one fragment, as seen from the median, is the numerator. Right: the resulting levels
# of tp, and the region in which objects are accepted.

low, high = control.min(axis=0), control.max(axis=0)
low, high = low - 0.12 * (high - low), high + 0.12 * (high - low)
x, y = (np.linspace(a, b, 250) for a, b in zip(low, high, strict=True))
grid = np.stack(np.meshgrid(x, y), axis=-1)
level = classifier.transvariation_probability(grid.reshape(-1, 2)).reshape(grid.shape[:2])

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", sharex=True, sharey=True)
for axes in (left, right):
    axes.axvline(centre[0], color="0.5", linewidth=0.8)
    axes.axhline(centre[1], color="0.5", linewidth=0.8)
    axes.plot(*control.T, ".", color="0.25", markersize=5, label="window fragments")
    axes.plot(*centre, "P", color="white", markeredgecolor="black", markersize=11, label="spatial median")
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="potassium (weight %)")
left.set(ylabel="magnesium (weight %)")

for mean, cov in zip(mixture.means_, mixture.covariances_, strict=True):
    values, vectors = np.linalg.eigh(cov)
    angle = np.degrees(np.arctan2(*vectors[::-1, 1]))
    width, height = 4 * np.sqrt(values[::-1])
    left.add_patch(Ellipse(mean, width, height, angle=angle, facecolor="tab:blue", alpha=0.25, edgecolor="tab:blue"))

for right_side in (False, True):
    for upper_side in (False, True):
        sides = np.array([right_side, upper_side])
        share = mixture.box_probability(np.where(sides, centre, -np.inf), np.where(sides, np.inf, centre))[0]
        left.annotate(
            f"{share:.2f}",
            (centre[0], high[1] if upper_side else low[1]),
            xytext=(8 if right_side else -8, -8 if upper_side else 8),
            textcoords="offset points",
            ha="left" if right_side else "right",
            va="top" if upper_side else "bottom",
            fontsize=13,
        )

tp = classifier.transvariation_probability(control)
chosen = np.flatnonzero((control > centre).all(axis=1))
chosen = chosen[np.argmin(np.abs(tp[chosen] - 0.3))]
corner = control[chosen]
left.add_patch(Rectangle(corner, *(high - corner), facecolor="tab:orange", alpha=0.3))
left.plot(*corner, "o", color="tab:orange", markeredgecolor="black", label=f"a fragment with tp = {tp[chosen]:.2f}")
left.set_title(f"The mixture ({mixture.model_name_}, {mixture.n_components_} components) and its orthants")
left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3, fontsize=9, columnspacing=1, frameon=False)

shades = right.pcolormesh(x, y, level, cmap="Blues", norm=PowerNorm(0.4, vmin=0, vmax=1), shading="nearest")
right.contour(x, y, level, levels=[classifier.offset_], colors="tab:red")
right.plot([], [], color="tab:red", label=f"accepted inside: tp at least {classifier.offset_:.3f}")
right.plot(*recovered.T, "x", color="tab:red", markersize=6, label="other glass (most lies far outside)")
rejected = int((classifier.predict(recovered) == -1).sum())
right.set_title(f"Levels of tp; {rejected} of {len(recovered)} other fragments are rejected")
right.legend(
    *(entries[2:] for entries in right.get_legend_handles_labels()), loc="lower left", fontsize=9, framealpha=0.9
)
figure.colorbar(shades, ax=right, label="transvariation probability (tp)", ticks=[0, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 1])
plt.show()
