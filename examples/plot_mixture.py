"""
A mixture of Gaussians, its form chosen by BIC
==============================================

The control fragments of the glass data in potassium and magnesium do not look like one Gaussian. Fourteen models say
what the components of a mixture may share: volume, shape, orientation. Each is fitted with one to nine components; BIC
weighs the fit against the number of parameters and is larger for better mixtures. Where a line ends, a component has
shrunk onto a point or a line, which rounded measurements invite: such a fit has no finite likelihood and takes no part.

On the right the chosen mixture, with grey lines of equal density. Fragments have the colour of the component that they
most probably come from; two components overlap, so that one of them is nobody's first choice.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Ellipse

from transvariation import GaussianMixtureBIC, load_glass

control = load_glass().control[["K", "Mg"]]
mixture = GaussianMixtureBIC().fit(control)
print(f"chosen: {mixture.model_name_} with {mixture.n_components_} components")

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.8), layout="constrained")

shown = {
    "EII": "tab:gray",
    "EEI": "tab:red",
    "EEE": "tab:blue",
    "VVI": "tab:green",
    "VEV": "tab:orange",
    "VVV": "tab:purple",
}
for model in mixture.bic_.index:
    line = mixture.bic_.loc[model]
    left.plot(line.index, line, color=shown.get(model, "0.85"), marker=".", label=model if model in shown else None)
left.plot([], [], color="0.85", marker=".", label="the other eight")
best = mixture.bic_.loc[mixture.model_name_, mixture.n_components_]
left.scatter(mixture.n_components_, best, s=160, facecolor="none", edgecolor="black", zorder=3, label="chosen")
left.set(xlabel="number of components", ylabel="BIC (larger is better)", title="The search")
left.legend(ncols=2, frameon=False, fontsize=9)

low, high = control.min() - 0.15, control.max() + 0.15
x, y = np.meshgrid(np.linspace(low["K"], high["K"], 200), np.linspace(low["Mg"], high["Mg"], 200))
grid = pd.DataFrame({"K": x.ravel(), "Mg": y.ravel()})
density = np.exp(mixture.score_samples(grid)).reshape(x.shape)
right.contour(x, y, density, levels=density.max() * np.array([0.003, 0.01, 0.03, 0.1, 0.3]), cmap="Greys", vmin=-2)
component = mixture.predict(control)
for k, (mean, covariance) in enumerate(zip(mixture.means_, mixture.covariances_, strict=True)):
    size, axes = np.linalg.eigh(covariance)
    angle = np.degrees(np.arctan2(axes[1, 1], axes[0, 1]))
    right.add_patch(
        Ellipse(mean, *(4 * np.sqrt(size[::-1])), angle=angle, facecolor="none", edgecolor=f"C{k}", linewidth=1.5)
    )
    mine = control[component == k]
    right.scatter(mine["K"], mine["Mg"], s=16, color=f"C{k}", label=f"component of weight {mixture.weights_[k]:.2f}")
right.set(
    xlabel="K, weight per cent", ylabel="Mg, weight per cent", title="The chosen mixture: ellipses of two deviations"
)
right.legend(frameon=False, fontsize=9)
plt.show()
