"""Change detection for a stream of scores: has the process changed since the classifier was calibrated?"""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right, insort
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from transvariation._typing import Fields, Floats
from transvariation.conformal_calibration import ConformalCalibration
from transvariation.ordered import correlation_time, warn_if_ordered
from transvariation.validation import check_count

_BETS = np.array([-1.5, -0.75, 0.75, 1.5])  # negative bets gain from low p-values, positive bets from high ones
_REMEDY = (
    "the rate of false alarms does not hold; use block_length='auto', with reference scores of calibration='blocks' in "
    "the order of time"
)
_BLOCK_CORRELATION_TIMES = 3  # in a block: means of neighboring blocks are then nearly independent


class AlarmRecord(NamedTuple):
    """One alarm of a :class:`DriftAlarm`.

    Attributes
    ----------
    at : int
        Index of the sample that raised the alarm, counted from 0.
    since : int
        Maximum likelihood estimate of the sample at which the change began: among all starts and bets, the bet gained
        most from there to the alarm. With blocks, the first sample of a block. In simulations of a shift by one
        standard deviation, nine in ten estimates lie between 40 samples before and 2 after the change, with a median of
        2 before; for half a standard deviation, between 51 before and 32 after.
    log10_evidence : float
        Common logarithm of the evidence at the alarm.

    See Also
    --------
    transvariation.DriftAlarm : Raises alarms.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import DriftAlarm
    >>> rng = np.random.default_rng(0)
    >>> alarm = DriftAlarm(rng.normal(size=300), random_state=0)
    >>> before, after = rng.normal(size=100), rng.normal(-1.5, 1, size=50)
    >>> changed = np.append(before, after)  # lower scores from sample 100 on
    >>> record = alarm.update(changed).alarms_[0]
    >>> record.at, record.since, round(record.log10_evidence, 1)
    (113, 80, 3.1)
    """

    at: int
    since: int
    log10_evidence: float


class DriftAlarm:
    r"""Detect a change in a stream of scores by a conformal Shiryaev-Roberts procedure.

    The n-th score gets the smoothed conformal p-value

    .. math:: p_n = \frac{\#\{i : s_i < s_n\} + u_n \#\{i : s_i = s_n\}}{n},

    counted over the reference scores and all scores so far, its own included, with :math:`u_n` uniform. While the
    scores are exchangeable, these p-values are independent and uniform, whatever the distribution of the data.
    For each of the bets :math:`\epsilon = \pm 0.75, \pm 1.5` the Shiryaev-Roberts statistic

    .. math:: R_n = (1 + R_{n-1}) \left(1 + \epsilon (p_n - \tfrac12)\right),

    with :math:`R_0 = 0`, sums the evidence for a change at each of the samples so far. Their mean is the evidence of a
    change, and the alarm is raised when it reaches ``1 / false_alarm``. The statistic forgets quiet periods, so a
    change is found as soon after 50,000 samples as after 50.

    Parameters
    ----------
    reference : ConformalCalibration or array-like of shape (n,)
        Scores of target samples in the normal state that the classifier was not trained on: held-out scores, such as
        ``classifier.calibration_``, not training scores.
    false_alarm : float in (0, 1), default=0.001
        Rate of false alarms per sample. If nothing ever changes, the mean number of samples until the alarm is at
        least ``1 / false_alarm``, and the probability of an alarm among the first N samples is at most
        ``N * false_alarm``.
    block_length : int or "auto", default=1
        For autocorrelated scores: p-values are those of the means of so many consecutive scores, of the stream and of
        the reference, which must be in the order of time. ``"auto"`` takes three correlation times of the reference
        scores. Without blocks, the alarm is not valid for autocorrelated scores.
    restart : bool, default=False
        Whether the evidence starts again at 0 after each alarm, so that further changes raise further alarms.
    random_state : int, Generator or None
        Draws :math:`u_n`, which matters only among equal scores and for the first samples.

    Attributes
    ----------
    p_values_ : ndarray
        The p-value of each sample so far, or of each block.
    log10_evidence_ : ndarray
        Common logarithm of the evidence after each sample, or each block.
    alarms_ : list of AlarmRecord
        All alarms, also those before a reset: ``pandas.DataFrame(alarm.alarms_)`` is a table of them.
    alarm_at_ : int or None
        Index of the sample that raised the latest alarm since the last reset, counted from 0; None if there was none.
    block_length_ : int
        The number of scores in a block.

    Warns
    -----
    OrderedScores
        If the reference scores of neighboring samples are correlated and there are no blocks.

    See Also
    --------
    transvariation.exchangeability_test : Test a whole batch at once.
    transvariation.displays.DriftDisplay : Draw the evidence over time.
    transvariation.monitoring.monitor : Control charts of a process.

    Notes
    -----
    Both guarantees need exchangeable scores (for example independent ones) and nothing else. :math:`R_n - n` is then a
    martingale, hence :math:`E[T] = E[R_T] \ge` the threshold for the time T of the alarm, and Doob's inequality gives
    :math:`P(T \le N) \le N \cdot` `false_alarm`. A detector that is never allowed more than a fixed probability of a
    false alarm, however long the stream, must become slower the longer it runs; a constant rate of false alarms is the
    price of a constant delay. For autocorrelated scores the guarantees are approximate, even with blocks.

    References
    ----------
    Page, E. S. (1954). Continuous inspection schemes. Biometrika 41, 100-115.

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
        reference: ConformalCalibration | ArrayLike,
        *,
        false_alarm: float = 0.001,
        block_length: int | str = 1,
        restart: bool = False,
        random_state: int | np.random.Generator | None = None,
    ):
        given = reference.scores if isinstance(reference, ConformalCalibration) else reference
        scores = _scores(given, "reference")
        if block_length == "auto":
            time = correlation_time(scores)
            block_length = 1 if time < 1.5 else math.ceil(_BLOCK_CORRELATION_TIMES * time)
        length = self.block_length_ = check_count("block_length", block_length)  # type: ignore[arg-type]
        if 0 < len(scores) < length:
            raise ValueError(
                f"{len(scores)} reference scores are not one block of {length}: give more, of a longer normal run"
            )
        if not 0 < false_alarm * length < 1:
            raise ValueError(
                f"false_alarm={false_alarm} must lie in (0, {1 / length:.3g}), one in each block of {length}; 0.001 "
                "allows one false alarm in 1,000 samples"
            )
        self.false_alarm, self.restart = false_alarm, restart
        if length == 1:
            warn_if_ordered(scores, remedy=_REMEDY)
        self._random = np.random.default_rng(random_state)
        self._seen: list[float] = np.sort(self._means(scores)).tolist()
        self._waiting: list[float] = []  # scores of an incomplete block
        self._p_values: list[float] = []
        self._evidence: list[float] = []
        self.alarms_: list[AlarmRecord] = []
        self.reset()

    def __repr__(self) -> str:
        n = len(self._p_values) * self.block_length_ + len(self._waiting)
        blocks = f" in blocks of {self.block_length_}" if self.block_length_ > 1 else ""
        alarms = f"alarms at {', '.join(str(each.at) for each in self.alarms_)}" if self.alarms_ else "no alarm"
        evidence = f"{self._evidence[-1]:.1f}" if self._evidence else "-inf"
        return f"<DriftAlarm: {n} samples{blocks}, {alarms}, log10 evidence {evidence}>"

    @property
    def p_values_(self) -> Floats:
        """The p-value of each sample so far, or of each block."""
        return np.array(self._p_values)

    @property
    def log10_evidence_(self) -> Floats:
        """Common logarithm of the evidence after each sample, or each block."""
        return np.array(self._evidence)

    @property
    def threshold_(self) -> float:
        """Common logarithm of the evidence that raises an alarm."""
        return -math.log10(self.false_alarm * self.block_length_)

    @property
    def alarm_(self) -> bool:
        """Whether the alarm has been raised since the last reset."""
        return self.alarm_at_ is not None

    def reset(self) -> Self:
        """Silence the alarm and start the evidence again at 0, keeping the scores seen and the list of alarms.

        For use after an alarm that turned out to be false. After a real change, fit and calibrate the classifier
        again and make a new alarm.

        Returns
        -------
        DriftAlarm
            The alarm itself.
        """
        self._start_again()
        self.alarm_at_: int | None = None
        return self

    def _start_again(self) -> None:
        self._log_statistics = np.full(len(_BETS), -np.inf)
        self._gains = np.zeros(len(_BETS))  # of each bet since the sample at which it gained most
        self._since = np.full(len(_BETS), len(self._p_values))

    def update(self, scores: ArrayLike) -> Self:
        """Add the scores of further samples, in the order of their arrival.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new samples in the order of their arrival (high = typical).

        Returns
        -------
        DriftAlarm
            The alarm itself.
        """
        waiting = np.append(self._waiting, _scores(scores, "scores"))
        complete = len(waiting) - len(waiting) % self.block_length_
        self._waiting = waiting[complete:].tolist()
        for score in self._means(waiting[:complete]).tolist():
            p = self._p_value(score)
            # In logarithms: long after a change the statistic exceeds the range of a float.
            gains = np.log1p(_BETS * (p - 0.5))
            self._log_statistics = np.logaddexp(0, self._log_statistics) + gains
            self._since[self._gains <= 0] = len(self._p_values)
            self._gains = np.maximum(self._gains, 0) + gains
            evidence = float((np.logaddexp.reduce(self._log_statistics) - np.log(len(_BETS))) / np.log(10))
            self._p_values.append(p)
            self._evidence.append(evidence)
            if evidence >= self.threshold_ and (self.restart or self.alarm_at_ is None):
                self.alarm_at_ = len(self._p_values) * self.block_length_ - 1
                since = int(self._since[np.argmax(self._gains)]) * self.block_length_
                self.alarms_.append(AlarmRecord(self.alarm_at_, since, evidence))
                if self.restart:
                    self._start_again()
        return self

    def _means(self, scores: Floats) -> Floats:
        whole = len(scores) - len(scores) % self.block_length_
        return scores[:whole].reshape(-1, self.block_length_).mean(axis=1)

    def _p_value(self, score: float) -> float:
        """Rank a score among those seen and add it to them."""
        below = bisect_left(self._seen, score)
        equal = bisect_right(self._seen, score, below) - below + 1
        insort(self._seen, score, below)
        return float(below + self._random.uniform() * equal) / len(self._seen)

    # Model files keep arrays instead of long lists, and the state of the generator as text.

    def __getstate__(self) -> Fields:
        arrays = {name: np.array(getattr(self, name), dtype=float) for name in _LISTS}
        alarms = np.array(self.alarms_, dtype=float).reshape(-1, len(AlarmRecord._fields))
        return vars(self) | arrays | {"alarms_": alarms, "_random": json.dumps(self._random.bit_generator.state)}

    def __setstate__(self, state: Fields) -> None:
        alarms = [AlarmRecord(int(at), int(since), float(evidence)) for at, since, evidence in state["alarms_"]]
        self.__dict__.update(state | {name: state[name].tolist() for name in _LISTS} | {"alarms_": alarms})
        self._random = np.random.default_rng()
        self._random.bit_generator.state = json.loads(state["_random"])


_LISTS = ("_seen", "_waiting", "_p_values", "_evidence")


def _scores(values: ArrayLike, name: str) -> Floats:
    if hasattr(values, "calibration_"):
        raise TypeError(f"{name} is a {type(values).__name__}; pass its calibration_, the scores of held-out samples")
    scores = np.asarray(values, dtype=float)
    if scores.ndim != 1 or np.isnan(scores).any():
        raise ValueError(
            f"{name} must be numbers in one dimension without NaN, one per sample; got shape {scores.shape}"
        )
    return scores
