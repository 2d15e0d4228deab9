"""Drift displays: every alarm is marked."""

import numpy as np
import pytest

from transvariation.displays import DriftDisplay


def test_drift_marks_every_alarm(classifier):
    rng = np.random.default_rng(3)
    stream = np.concatenate([rng.normal(size=(60, 2)), rng.normal(4, 1, size=(60, 2))])
    display = DriftDisplay.from_estimator(classifier, stream, restart=True, block_length=1)
    marks = [line for line in display.ax_.lines if line.get_label().startswith("alarm at")]
    assert [line.get_xdata()[0] for line in marks] == [each.at for each in display.alarm.alarms_]
    with pytest.raises(ValueError, match="times has 3 values for 120 samples"):
        DriftDisplay(display.alarm, times=[1, 2, 3])
