"""
Is the plant running normally?
==============================

A process engineer watches a reactor by 14 sensors, one row every three minutes. Two charts are customary: Hotelling's
T2, the distance within the principal components of normal operation, and Q, the squared distance from them. Their
textbook limits assume independent rows from a normal distribution. The rows of a plant are neither, and the limits give
more false alarms than intended.

:func:`transvariation.monitoring.monitor` takes the limits from the normal run itself, by models fitted without each
block of it, and adds the score of :class:`transvariation.NeighborTOCC`.

The plant is simulated (:func:`transvariation.datasets.make_plant`), in the manner of the Tennessee Eastman process.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from transvariation.datasets import make_plant
from transvariation.displays import MonitoringDisplay
from transvariation.monitoring import monitor

# %%
# A normal run and a new one
# --------------------------
# The controllers hold temperature and levels. When the cooling water gets warmer (fault 2, from row 160 on), the valve
# opens and the reactor stays at 340 degrees: the controlled variable shows nothing.
normal = make_plant(1500, random_state=0)
new = make_plant(400, fault=2, onset=160, random_state=1002)
figure, axes = plt.subplots(3, figsize=(4.8, 4.2), sharex=True, layout="constrained")
for ax, name in zip(axes, ["reactor temperature", "cooling valve", "cooling water temperature"], strict=True):
    ax.plot(new[name], linewidth=0.8)
    ax.axvline(160, color="0.5", linestyle=":")
    ax.set_title(name, fontsize=10)
axes[-1].set_xlabel("row")

# %%
# Limits that hold
# ----------------
# One percent of normal rows should exceed one or more limits. On 3,000 new normal rows:
check = monitor(normal, make_plant(3000, random_state=1001))
pca = [chart for chart in check.charts if chart.textbook_limit is not None]
textbook = np.any([np.array(chart.new) > chart.textbook_limit for chart in pca], axis=0)
print(f"flagged with calibrated limits: {check.flagged.mean():.1%}, with textbook limits: {textbook.mean():.1%}")
print(
    f"the normal run is worth {check.n_independent:.0f} independent rows, enough for {check.supported_false_alarm:.1%}"
)

# %%
# Feed and cooling water drift slowly, so that 1,500 rows hold only a few dozen independent states. One percent needs
# 99 of them. With fewer, the limits are the largest values of the normal run, and the result says what to expect.

# %%
# Which variables?
# ----------------
# An alarm is raised by two successive flagged rows. Contributions tell how much of the deviation disappears if one
# variable is replaced by its best fit.
result = monitor(normal, new)
for alarm in result.alarms[:3]:
    print(f"raised at row {alarm.raised} by {', '.join(alarm.charts)}: {', '.join(list(alarm.contributions)[:3])}")
first = next(alarm for alarm in result.alarms if alarm.raised >= 160)
names, shares = zip(*reversed(list(first.contributions.items())[:8]), strict=True)
figure, ax = plt.subplots(figsize=(4.8, 3), layout="constrained")
ax.barh(names, shares)
ax.xaxis.set_major_formatter("{x:.0%}")
ax.set_xlabel("share of the deviation")

# %%
# All faults
# ----------
# Rows from the start of each fault to the alarm, with single rows and with two earlier rows appended to each
# (``lags=2``), which shows changes of the dynamics, such as a sticking valve, sooner. In other
# runs a composition of the feed that stays within the usual variation is not found: it is normal by definition.
faults = [
    *("step in the feed composition", "step in the cooling water temperature", "random feed temperature"),
    *("slow drift of the kinetics", "fouling of the jacket", "sticking valve", "biased thermometer", "loss of feed"),
]
rows = []
for fault, words in enumerate(faults, start=1):
    delays = []
    for lags in (0, 2):
        found = monitor(normal, make_plant(460, fault, random_state=1000 + fault), lags=lags)
        after = [alarm.raised - (160 - lags) for alarm in found.alarms if alarm.raised >= 160 - lags]
        delays.append(str(after[0]) if after else "none")
    rows.append((words, *delays))
print(pd.DataFrame(rows, columns=["fault", "delay", "with 2 lags"]).to_string(index=False))

# %%
# The charts
# ----------
# The normal run is gray, measured by models that have not seen it. Red crosses exceed the calibrated limit; alarms are
# shaded. On the command line: ``transvariation monitor normal.csv new.csv --report plant.html``.
figure, axes = plt.subplots(3, figsize=(4.8, 6.4), sharex=True, layout="constrained")
for ax, chart in zip(axes, result.charts, strict=True):
    MonitoringDisplay.from_result(result, chart=chart.name, ax=ax)
    ax.label_outer()
figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
plt.show()
