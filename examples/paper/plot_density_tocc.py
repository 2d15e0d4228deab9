"""
A mixture, its orthants and the density-based tp
================================================

Potassium and magnesium of the 87 window fragments are described by a mixture of Gaussians, chosen by BIC. The axes
through the spatial median divide the plane into four orthants. The tp of a sample is the probability of the box beyond
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
mixture, center = classifier.density_, classifier.center_
print(f"{mixture.model_name_} with {mixture.n_components_} components; threshold tp = {classifier.offset_:.3f}")

# %%
# Above: the mixture. An ellipse contains about 86% of its component. Each orthant is labeled with its probability, the
# denominator of tp. The box beyond one fragment, as seen from the median, is the numerator. Below: the resulting levels
# of tp, and the region in which samples are accepted. Of the 51 pieces of other glass, most lie far outside
# the panel.

low, high = control.min(axis=0), control.max(axis=0)
low, high = low - 0.12 * (high - low), high + 0.12 * (high - low)
x, y = (np.linspace(a, b, 250) for a, b in zip(low, high, strict=True))
grid = np.stack(np.meshgrid(x, y), axis=-1)
level = classifier.transvariation_probability(grid.reshape(-1, 2)).reshape(grid.shape[:2])

figure, (above, below) = plt.subplots(2, 1, figsize=(4.8, 8.4), layout="constrained", sharex=True, sharey=True)
for axes in (above, below):
    axes.axvline(center[0], color="0.5", linewidth=0.8)
    axes.axhline(center[1], color="0.5", linewidth=0.8)
    axes.scatter(*control.T, s=16, color="white", edgecolor="C0", linewidth=0.8, zorder=2, label="window fragments")
    axes.scatter(*center, marker="+", s=160, color="black", linewidth=2, zorder=3, label="spatial median")
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), ylabel="magnesium oxide (weight %)")
below.set(xlabel="potassium oxide (weight %)")

for mean, cov in zip(mixture.means_, mixture.covariances_, strict=True):
    values, vectors = np.linalg.eigh(cov)
    angle = np.degrees(np.arctan2(*vectors[::-1, 1]))
    width, height = 4 * np.sqrt(values[::-1])
    above.add_patch(Ellipse(mean, width, height, angle=angle, facecolor="C4", alpha=0.3, edgecolor="C0"))

for right_side in (False, True):
    for upper_side in (False, True):
        sides = np.array([right_side, upper_side])
        share = mixture.box_probability(np.where(sides, center, -np.inf), np.where(sides, np.inf, center))[0]
        above.annotate(
            f"{share:.2f}",
            (center[0], high[1] if upper_side else low[1]),
            xytext=(8 if right_side else -8, -8 if upper_side else 8),
            textcoords="offset points",
            ha="left" if right_side else "right",
            va="top" if upper_side else "bottom",
            fontsize=11,
        )

tp = classifier.transvariation_probability(control)
chosen = np.flatnonzero((control > center).all(axis=1))
chosen = chosen[np.argmin(np.abs(tp[chosen] - 0.3))]
corner = control[chosen]
above.add_patch(Rectangle(corner, *(high - corner), facecolor="C1", alpha=0.3))
above.plot(*corner, "^", color="C3", markersize=9, label=f"a fragment with tp = {tp[chosen]:.2f}")
above.set_title("the mixture and its orthants")

shades = below.pcolormesh(x, y, level, cmap="Blues", norm=PowerNorm(0.4, vmin=0, vmax=1), shading="nearest")
below.contour(x, y, level, levels=[classifier.offset_], colors="C0", linewidths=1.3)
below.plot([], [], color="C0", label=f"accepted inside: tp ≥ {classifier.offset_:.3f}")
in_view = recovered[((recovered > low) & (recovered < high)).all(axis=1)]
label = f"other glass, {len(in_view)} of {len(recovered)} in view"
below.scatter(*in_view.T, marker="X", s=70, color="C3", edgecolor="white", linewidth=0.5, zorder=4, label=label)
rejected = int((classifier.predict(recovered) == -1).sum())
below.set_title(f"levels of tp: {rejected} of {len(recovered)} other fragments rejected")
entries = [axes.get_legend_handles_labels() for axes in (above, below)]
handles, labels = (first + second[2:] for first, second in zip(*entries, strict=True))
figure.legend(handles, labels, loc="outside lower center", frameon=False)
figure.colorbar(shades, ax=below, label="tp", ticks=[0, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 1])
plt.show()
