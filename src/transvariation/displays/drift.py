"""The evidence of a change over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from transvariation._typing import Fields
from transvariation.displays.axes import Display
from transvariation.drift import DriftAlarm
from transvariation.report.figure_style import DARK, RED, THRESHOLD

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class DriftDisplay(Display):
    """Draw the evidence of a change over time, its alarm level and the alarms.

    Parameters
    ----------
    alarm : DriftAlarm
        After it was updated.
    times : array-like of shape (n,), optional
        The time of each sample; by default its number.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    transvariation.DriftAlarm : The alarm that is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import DriftAlarm
    >>> from transvariation.displays import DriftDisplay
    >>> rng = np.random.default_rng(0)
    >>> alarm = DriftAlarm(rng.normal(size=300), random_state=0)
    >>> alarm = alarm.update(rng.normal(size=100)).update(rng.normal(-2, 1, size=50))
    >>> display = DriftDisplay(alarm).plot()
    >>> [line.get_label() for line in display.ax_.lines][-1]
    'alarm at 111'
    """

    def __init__(self, alarm: DriftAlarm, *, times: ArrayLike | None = None):
        self.alarm = alarm
        n = len(alarm.log10_evidence_) * alarm.block_length_
        self.times = np.arange(n) if times is None else np.asarray(times)
        if len(self.times) < n:
            raise ValueError(f"times has {len(self.times)} values for {n} samples; give one for each")

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        *,
        times: ArrayLike | None = None,
        false_alarm: float = 0.001,
        block_length: int | str = "auto",
        restart: bool = False,
        random_state: int | np.random.Generator | None = 0,
        ax: Axes | None = None,
    ) -> Self:
        """Watch samples in the order of time by the calibration scores of a classifier, and draw the evidence.

        Parameters
        ----------
        estimator : one-class classifier
            Fitted with held-out calibration scores, in the order of time if samples are autocorrelated
            (``calibration="blocks"``).
        X : array-like of shape (n_samples, n_features)
            The samples to watch, in the order of time.
        times : array-like of shape (n_samples,), optional
            The time of each sample.
        false_alarm, block_length, restart, random_state
            See :class:`transvariation.DriftAlarm`.
        ax : matplotlib Axes, optional

        Returns
        -------
        DriftDisplay
        """
        check_is_fitted(estimator)
        options: Fields = {"false_alarm": false_alarm, "block_length": block_length, "restart": restart}
        alarm = DriftAlarm(estimator.calibration_, random_state=random_state, **options)
        return cls(alarm.update(estimator.score_samples(X)), times=times).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        reference: ArrayLike,
        scores: ArrayLike,
        *,
        times: ArrayLike | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Watch scores in the order of time and draw the evidence.

        Parameters
        ----------
        reference : ConformalCalibration or array-like of shape (m,)
            Held-out scores in the normal state.
        scores : array-like of shape (n,)
            The scores to watch.
        times : array-like of shape (n,), optional
            The time of each sample.
        ax : matplotlib Axes, optional
        **options
            Further parameters of :class:`transvariation.DriftAlarm`.

        Returns
        -------
        DriftDisplay
        """
        return cls(DriftAlarm(reference, **options).update(scores), times=times).plot(ax)

    def _draw(self, ax: Axes) -> None:
        alarm, length = self.alarm, self.alarm.block_length_
        at = np.arange(1, len(alarm.log10_evidence_) + 1) * length - 1
        ax.plot(self.times[at], alarm.log10_evidence_, color=DARK, drawstyle="steps-post" if length > 1 else "default")
        ax.axhline(alarm.threshold_, label="alarm level", **THRESHOLD)
        for each in alarm.alarms_:
            when = str(self.times[each.at]).removesuffix("T00:00:00.000000000")
            ax.axvline(self.times[each.at], color=RED, linewidth=1, label=f"alarm at {when}")
        ax.set(xlabel="sample" if np.issubdtype(self.times.dtype, np.integer) else "time")
        ax.set(ylabel="evidence of a change\n(powers of ten)")
        if len(alarm.alarms_) <= 3:
            ax.legend()
