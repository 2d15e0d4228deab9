"""
From dense to sparse components
===============================

The last principal components of the glass fragments mix all nine variables. `SparseMinorComponents` follows each of
them along a path: the stronger the penalty, the fewer variables, and the larger the variance. The default is the
smallest number of variables for which the component is still closer to the one it replaces than to the next larger one
(dotted). The result of a classifier depends strongly on the penalty, as the lower panel shows, so inspect the path and
the loadings rather than one number. The lower panel uses the other fragments, which a selection must not.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from transvariation import TOCC, MinorComponents, SparseMinorComponents, auc, load_glass

warnings.filterwarnings("ignore", "TOCC .* will reject nearly all")  # with the strongest penalties
glass = load_glass()
chosen = SparseMinorComponents().fit(glass.control)
path = chosen.path_table().query("component == 'SPC8'")
larger, own = MinorComponents(3).fit(glass.control).explained_variance_[:2]

figure, (upper, lower) = plt.subplots(2, 1, figsize=(4.8, 6.4), sharex=True, layout="constrained")
upper.plot(path["penalty"], path["variance"], "o-", color="C0", label="component, with its number of variables")
apart = path[path["penalty"].diff(-1).fillna(1) > 1e-3]  # the last two steps coincide
for step in apart.itertuples():
    upper.annotate(str(step.variables), (step.penalty, step.variance), xytext=(6, -11), textcoords="offset points")
upper.axhline(np.sqrt(own * larger), color="0.4", linestyle=":", label="below: nearer to its own variance")
upper.axhline(chosen.explained_variance_[0], color="C3", linestyle="--", linewidth=1.2, label="chosen: six variables")
upper.set(ylabel="variance of the component", ylim=(0.0013, 0.0075))
upper.legend(frameon=False, loc="upper left")

areas = []
for penalty in (shares := np.linspace(0, 1, 41)):
    components = SparseMinorComponents(penalty=penalty).fit(glass.control)
    control, recovered = components.transform(glass.control), components.transform(glass.recovered)
    classifier = TOCC().fit(control)
    areas.append(auc(classifier.score_samples(control), classifier.score_samples(recovered)))
lower.plot(shares, areas, ".-", color="C0")
lower.set(xlabel="penalty, as a share of the largest", ylabel="area under the ROC curve", ylim=(0.9, 1.005))
plt.show()
