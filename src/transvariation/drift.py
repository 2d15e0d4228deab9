"""Change detection for a stream of scores: has the process changed since the classifier was calibrated?"""

from bisect import bisect_left, bisect_right, insort
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_BETS = np.array([-1.5, -0.75, 0.75, 1.5])  # negative bets gain from low p-values, positive bets from high ones


class DriftAlarm:
    r"""Detect a change in a stream of scores by a conformal Shiryaev-Roberts procedure.

    The n-th score gets the smoothed conformal p-value

    .. math:: p_n = \frac{\#\{i : s_i < s_n\} + u_n \#\{i : s_i = s_n\}}{n},

    counted over the reference scores and all scores so far, its own included, with :math:`u_n` uniform. While the
    scores are exchangeable, these p-values are independent and uniform, whatever the distribution of the data.
    For each of the bets :math:`\epsilon = \pm 0.75, \pm 1.5` the Shiryaev-Roberts statistic

    .. math:: R_n = (1 + R_{n-1}) \left(1 + \epsilon (p_n - \tfrac12)\right), \qquad R_0 = 0,

    sums the evidence for a change at each of the objects so far. Their mean is the evidence of a change, and the
    alarm is raised when it reaches ``1 / false_alarm``. The statistic forgets quiet periods, so a change
    is found as soon after 50,000 objects as after 50.

    Parameters
    ----------
    reference : array-like of shape (n,)
        Scores of target samples in the normal state that the classifier was not trained on: held-out scores, not
        training scores.
    false_alarm : float in (0, 1), default=0.001
        Rate of false alarms per object. If nothing ever changes, the mean number of objects until the alarm is at
        least ``1 / false_alarm``, and the probability of an alarm among the first N objects is at most
        ``N * false_alarm``.
    random_state : int, Generator or None
        Draws :math:`u_n`, which matters only among equal scores and for the first objects.

    Attributes
    ----------
    p_values_ : ndarray
        The p-value of each object so far.
    log10_evidence_ : ndarray
        Common logarithm of the evidence after each object.
    alarm_at_ : int or None
        Index of the object that raised the alarm, counted from 0; None if there was no alarm.

    Notes
    -----
    Both guarantees need exchangeable scores (for example independent ones) and nothing else. :math:`R_n - n` is then
    a martingale, hence :math:`E[T] = E[R_T] \ge` the threshold for the time T of the alarm, and Doob's inequality gives
    :math:`P(T \le N) \le N \cdot` `false_alarm`. A detector that is never allowed more than a fixed
    probability of a false alarm, however long the stream, must become slower the longer it runs; a constant rate
    of false alarms is the price of a constant delay.

    References
    ----------
    Vovk, V., Petej, I., Nouretdinov, I., Ahlberg, E., Carlsson, L. and Gammerman, A. (2021). Retrain or not retrain:
    conformal test martingales for change-point detection. PMLR 152, 191-210.

    Vovk, V., Gammerman, A. and Shafer, G. (2022). Algorithmic Learning in a Random World, 2nd edition, chapter 8.
    Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import TOCC, DriftAlarm
    >>> rng = np.random.default_rng(1)
    >>> classifier = TOCC().fit(rng.normal(size=(300, 2)))
    >>> reference = classifier.score_samples(rng.normal(size=(300, 2)))
    >>> alarm = DriftAlarm(reference, random_state=0)
    >>> normal = classifier.score_samples(rng.normal(size=(100, 2)))
    >>> alarm.update(normal).alarm_at_
    >>> shifted = classifier.score_samples(rng.normal(1.5, 1, size=(100, 2)))
    >>> alarm.update(shifted).alarm_at_
    108
    """

    def __init__(
        self,
        reference: ArrayLike,
        *,
        false_alarm: float = 0.001,
        random_state: int | np.random.Generator | None = None,
    ):
        if not 0 < false_alarm < 1:
            raise ValueError(
                f"false_alarm={false_alarm} must lie in (0, 1); 0.001 allows one false alarm in 1,000 objects"
            )
        self.false_alarm = false_alarm
        self._random = np.random.default_rng(random_state)
        self._seen: list[float] = np.sort(_scores(reference, "reference")).tolist()
        self._p_values: list[float] = []
        self._evidence: list[float] = []
        self.reset()

    @property
    def p_values_(self) -> Floats:
        """The p-value of each object so far."""
        return np.array(self._p_values)

    @property
    def log10_evidence_(self) -> Floats:
        """Common logarithm of the evidence after each object."""
        return np.array(self._evidence)

    @property
    def alarm_(self) -> bool:
        """Whether the alarm has been raised."""
        return self.alarm_at_ is not None

    def reset(self) -> Self:
        """Silence the alarm and start the evidence again at 0, keeping the scores seen.

        For use after an alarm that turned out to be false. After a real change, fit and calibrate the classifier
        again and make a new alarm.
        """
        self._log_statistics = np.full(len(_BETS), -np.inf)
        self.alarm_at_: int | None = None
        return self

    def update(self, scores: ArrayLike) -> Self:
        """Add the scores of further objects, in the order of their arrival.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new samples in the order of their arrival (high = typical).
        """
        threshold = -np.log10(self.false_alarm)
        for score in _scores(scores, "scores").tolist():
            p = self._p_value(score)
            # In logarithms: long after a change the statistic exceeds the range of a float.
            self._log_statistics = np.logaddexp(0, self._log_statistics) + np.log1p(_BETS * (p - 0.5))
            evidence = float(np.logaddexp.reduce(self._log_statistics) - np.log(len(_BETS))) / np.log(10)
            if self.alarm_at_ is None and evidence >= threshold:
                self.alarm_at_ = len(self._p_values)
            self._p_values.append(p)
            self._evidence.append(evidence)
        return self

    def _p_value(self, score: float) -> float:
        """Rank a score among those seen and add it to them."""
        below = bisect_left(self._seen, score)
        equal = bisect_right(self._seen, score, below) - below + 1
        insort(self._seen, score, below)
        return float(below + self._random.uniform() * equal) / len(self._seen)


def _scores(values: ArrayLike, name: str) -> Floats:
    scores = np.asarray(values, dtype=float)
    if scores.ndim != 1 or np.isnan(scores).any():
        raise ValueError(
            f"{name} must be numbers in one dimension without NaN, one per object; got shape {scores.shape}"
        )
    return scores
