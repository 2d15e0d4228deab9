"""
Has the plant changed?
======================

A classifier that was trained in spring may no longer fit the plant in autumn. Each day's score is ranked among all
earlier days; as long as nothing changes, these ranks are uniform. The evidence against uniformity is summed over all
possible times of a change, and an alarm is raised when it reaches 1,000. Without a change this takes at least 1,000
days on average.

The data are simulated: acidity and conductivity at the inlet of a waste water plant on 400 days, with a slow drift from
day 200 on.
"""

import matplotlib.pyplot as plt
import numpy as np

from transvariation import DriftAlarm, NeighborTOCC

rng = np.random.default_rng(0)
drift = np.clip(np.arange(400) - 200, 0, None)[:, None] / 100
X = rng.normal([7.8, 1500], [0.2, 300], size=(400, 2)) + drift * [0.4, 600]

# %%
# The first 150 days are the normal state. Half of them, drawn at random, train the classifier; the others, which it
# has not seen, are the reference among which later days are ranked.
order = rng.permutation(150)
classifier = NeighborTOCC().fit(X[order[:75]])
alarm = DriftAlarm(classifier.score_samples(X[order[75:]]), random_state=0)
alarm.update(classifier.score_samples(X[150:]))

# %%
# In a real plant consecutive days are similar, so a wet month counts as a change. Whether the change matters is for the
# operator to decide; the alarm tells when to look.
day = np.arange(150, len(X))
figure, (above, below) = plt.subplots(2, sharex=True, figsize=(4.8, 4.8), layout="constrained")
above.plot(day, alarm.p_values_, ".", color="0.5")
above.set(ylabel="rank of the day's score\n(low = unlike before)", title="Each day among those before it")
below.plot(day, alarm.log10_evidence_, color="C0")
below.axhline(3, color="C3", linestyle="--")
below.annotate("alarm level", (day[0], 3), (0, 4), textcoords="offset points", color="C3")
if alarm.alarm_:
    below.axvline(day[alarm.alarm_at_], color="C3", linewidth=1)
    top = (day[alarm.alarm_at_], alarm.log10_evidence_.max())
    below.annotate(f"day {day[alarm.alarm_at_]} ", top, ha="right", va="top", color="C3")
below.margins(y=0.15)
below.set(xlabel="day", ylabel="evidence of a change\n(powers of ten)")
plt.show()
