"""
One centre or several: TOCC and PAM-TOCC
========================================

With one centre, everything inside the outline of a class is accepted, including gaps. PAM-TOCC divides the class into
clusters around medoids, each with its own centre and threshold, so that gaps between clusters are rejected. The figure
shows both on the last two principal components of the window fragments, with four clusters.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from transvariation import PAMTOCC, TOCC, load_glass
from transvariation.report.scatter_figure import draw_plane

glass = load_glass()
_, directions = np.linalg.eigh(np.cov(glass.control, rowvar=False))
middle = glass.control.mean()
names = ["last component", "last component but one"]
control, recovered = (
    pd.DataFrame((fragments - middle) @ directions[:, :2]).set_axis(names, axis=1)
    for fragments in (glass.control, glass.recovered)
)

figure, panels = plt.subplots(2, 1, figsize=(4.8, 7.6), sharex=True, layout="constrained")
classifiers = {"TOCC, one centre": TOCC(), "PAM-TOCC, four medoids": PAMTOCC(n_clusters=4)}
for axes, (title, classifier) in zip(panels, classifiers.items(), strict=True):
    shades = draw_plane(axes, classifier.fit(control), control, recovered, zoom=True)
    rejected = (classifier.predict(recovered) == -1).sum()
    axes.set_title(f"{title}:\n{rejected} of {len(recovered)} others rejected")
figure.colorbar(shades, ax=panels, label="tp", pad=0.01, aspect=40)
handles, labels = panels[0].get_legend_handles_labels()
labels = [label.split(":")[0] for label in labels]
figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
plt.show()
