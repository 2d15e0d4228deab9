"""
A mixture of Gaussians, its form chosen by BIC
==============================================

Potassium and magnesium of the control fragments do not follow a single Gaussian. Fourteen models define what the
components of a mixture share: volume, shape, orientation. Each is fitted with one to nine components; BIC weighs the
fit against the number of parameters, and larger is better. Where a line ends, a component has
shrunk onto a point or a line, which happens with rounded measurements: such a fit has no finite likelihood and is
excluded.

The lower panel shows the chosen mixture by ellipses of two standard deviations. Each fragment has the mark and color
of its most probable component. Two components overlap, so one of them is the most probable one for no fragment.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Ellipse

from transvariation import GaussianMixtureBIC, load_glass

control = load_glass().control[["K", "Mg"]]
mixture = GaussianMixtureBIC().fit(control)
print(f"chosen: {mixture.model_name_} with {mixture.n_components_} components")

figure, (above, below) = plt.subplots(2, 1, figsize=(4.8, 9), layout="constrained")

shown = {
    "EII": ("C5", "v"),
    "EEI": ("C0", "o"),
    "EEE": ("C4", "s"),
    "VVI": ("C2", "D"),
    "VEV": ("C1", "^"),
    "VVV": ("C3", "X"),
}
for model in mixture.bic_.index:
    line = mixture.bic_.loc[model]
    ink, mark = shown.get(model, ("0.85", ""))
    above.plot(line.index, line, color=ink, marker=mark, markersize=5, label=model if model in shown else None)
above.plot([], [], color="0.85", label="the other eight")
best = mixture.bic_.loc[mixture.model_name_, mixture.n_components_]
above.scatter(mixture.n_components_, best, s=160, facecolor="none", edgecolor="black", zorder=3, label="chosen")
above.set(xlabel="number of components", ylabel="BIC (larger is better)", title="the search")
above.legend(ncols=2, frameon=False, columnspacing=1, loc="lower right")

low, high = control.min() - 0.15, control.max() + 0.15
x, y = np.meshgrid(np.linspace(low["K"], high["K"], 200), np.linspace(low["Mg"], high["Mg"], 200))
grid = pd.DataFrame({"K": x.ravel(), "Mg": y.ravel()})
density = np.exp(mixture.score_samples(grid)).reshape(x.shape)
equal = {"colors": "0.6", "linewidths": 0.6}
below.contour(x, y, density, levels=density.max() * np.array([0.003, 0.01, 0.03, 0.1, 0.3]), zorder=0, **equal)
component = mixture.predict(control)
looks = zip("so^Dv", ["-", "--", ":", "-.", (0, (6, 1))], strict=True)
for k, (mean, covariance, (mark, style)) in enumerate(zip(mixture.means_, mixture.covariances_, looks, strict=True)):
    size, axes = np.linalg.eigh(covariance)
    angle = np.degrees(np.arctan2(axes[1, 1], axes[0, 1]))
    look = {"linestyle": style, "linewidth": 1.8}
    below.add_patch(Ellipse(mean, *(4 * np.sqrt(size[::-1])), angle=angle, facecolor="none", edgecolor=f"C{k}", **look))
    mine = control[component == k]
    below.scatter(mine["K"], mine["Mg"], s=16, marker=mark, color=f"C{k}")
    label = f"weight {mixture.weights_[k]:.2f}"
    below.plot([], [], color=f"C{k}", marker=mark, markersize=4, label=label, **look)
below.plot([], [], color="0.6", linewidth=0.6, label="equal density")
below.set(xlabel="potassium oxide (weight %)", ylabel="magnesium oxide (weight %)", title="the chosen mixture")
below.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, columnspacing=1)
plt.show()
