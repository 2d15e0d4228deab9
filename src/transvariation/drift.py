"""Objects that arrive one after another: has the process changed since the rule was calibrated?

Each object's score is ranked among all before it. As long as the process stays what it was, these ranks are
independent and uniform, whatever the distribution of the data. A martingale bets against that: its capital is fair, so
that it grows a hundredfold with probability at most one in a hundred, ever, unless the ranks stopped being uniform.
"""

from array import array
from bisect import bisect_left, bisect_right, insort
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_BETS = np.array([-1.0, 0.0, 1.0])  # on low p-values, on nothing, on high ones
_FEW = 1024  # scores that arrive are inserted among at most so many


class DriftAlarm:
    r"""Watch the scores of objects in the order of their arrival, and raise the alarm when they drift.

    A conformal test martingale. The n-th score gets the p-value

    .. math:: p_n = \frac{\#\{i : s_i < s_n\} + u_n \#\{i : s_i = s_n\}}{n},

    counted over the reference scores and all scores so far, its own included, with :math:`u_n` uniform. Three
    players bet :math:`1 + \epsilon (p_n - 1/2)` with :math:`\epsilon = -1, 0, 1`; before each round a share `jump` of
    every player's capital is spread over all (the Simple Jumper). Their joint capital is the evidence of a change.

    Parameters
    ----------
    reference : array-like of shape (n,)
        Scores of target objects that the rule had not seen, in the state that counts as normal: held-out scores, not
        training scores.
    false_alarm : float in (0, 1), default=0.01
        If nothing ever changes, the alarm is raised with at most this probability, however long the stream.
    jump : float in (0, 1), default=0.01
        How readily the players change their minds.
    random_state : int, Generator or None
        For :math:`u_n`, which matters only among equal scores and in the first rounds.

    Attributes
    ----------
    p_values_ : ndarray
        One for each object so far.
    log10_evidence_ : ndarray
        The capital after each object, in powers of ten; 2 stands for a hundred to one.
    alarm_at_ : int or None
        The first object at which the capital reached ``1 / false_alarm``.

    References
    ----------
    Vovk, V., Petej, I., Nouretdinov, I., Ahlberg, E., Carlsson, L. and Gammerman, A. (2021). Retrain or not retrain:
    conformal test martingales for change-point detection. PMLR 152, 191-210.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import TOCC, DriftAlarm
    >>> rng = np.random.default_rng(1)
    >>> rule = TOCC().fit(rng.normal(size=(300, 2)))
    >>> alarm = DriftAlarm(rule.score_samples(rng.normal(size=(300, 2))), random_state=0)
    >>> alarm.update(rule.score_samples(rng.normal(size=(100, 2)))).alarm_at_  # as before
    >>> alarm.update(rule.score_samples(rng.normal(1.5, 1, size=(100, 2)))).alarm_at_  # the process has moved
    128
    """

    def __init__(
        self,
        reference: ArrayLike,
        *,
        false_alarm: float = 0.01,
        jump: float = 0.01,
        random_state: int | np.random.Generator | None = None,
    ):
        for name, value in (("false_alarm", false_alarm), ("jump", jump)):
            if not 0 < value < 1:
                raise ValueError(f"{name}={value} must lie in (0, 1); 0.01 is usual")
        self.false_alarm, self.jump = false_alarm, jump
        self._random = np.random.default_rng(random_state)
        self._seen = _Seen(_scores(reference, "reference"))
        self._shares = np.full(len(_BETS), 1 / len(_BETS))
        self._n, self._results = 0, np.empty((2, 0))  # room for more than there are, so that few updates move them
        self.alarm_at_: int | None = None

    @property
    def p_values_(self) -> Floats:
        """One for each object so far."""
        return self._results[0, : self._n]

    @property
    def log10_evidence_(self) -> Floats:
        """The capital after each object, in powers of ten."""
        return self._results[1, : self._n]

    @property
    def alarm_(self) -> bool:
        """Whether the alarm has been raised."""
        return self.alarm_at_ is not None

    def update(self, scores: ArrayLike) -> Self:
        """Take in the scores of further objects, in the order of their arrival."""
        new = np.array([self._rank(score) for score in _scores(scores, "scores").tolist()])
        before, evidence = self._n, self._bet(new)
        self._keep(new, evidence)
        reached = np.flatnonzero(evidence >= -np.log10(self.false_alarm))
        if self.alarm_at_ is None and len(reached):
            self.alarm_at_ = before + int(reached[0])
        return self

    def _rank(self, score: float) -> float:
        """The p-value of the next score, which then belongs to those seen."""
        below, upto = self._seen.place(score)
        self._seen.add(score)
        return (below + self._random.uniform() * (upto - below + 1)) / self._seen.n

    def _bet(self, p_values: Floats) -> Floats:
        """Play the rounds; the capital is kept as a logarithm and the players' shares in it."""
        capital = float(self.log10_evidence_[-1]) if self._n else 0.0
        evidence = np.empty(len(p_values))
        for i, p in enumerate(p_values):
            shares = ((1 - self.jump) * self._shares + self.jump / len(_BETS)) * (1 + _BETS * (p - 0.5))
            grown = shares.sum()
            self._shares = shares / grown
            capital += np.log10(grown)
            evidence[i] = capital
        return evidence

    def _keep(self, p_values: Floats, evidence: Floats) -> None:
        end = self._n + len(p_values)
        if end > self._results.shape[1]:
            grown = np.empty((2, 2 * end))
            grown[:, : self._n] = self._results[:, : self._n]
            self._results = grown
        self._results[:, self._n : end] = p_values, evidence
        self._n = end


class _Seen:
    """Numbers among which others are ranked, exactly.

    They lie in sorted runs. The last of them are few and take in what comes. Once these are full they become a run of
    their own, which is merged with its neighbour as long as that is no longer: so there are few runs, and no number is
    moved often.
    """

    def __init__(self, numbers: Floats):
        self.n = len(numbers)
        self.runs = [_sorted(numbers)]
        self.latest: list[float] = []

    def place(self, number: float) -> tuple[int, int]:
        """Count the numbers below another, and those up to it."""
        below, upto = bisect_left(self.latest, number), bisect_right(self.latest, number)
        for run in self.runs:
            below += (first := bisect_left(run, number))
            upto += bisect_right(run, number, first)
        return below, upto

    def add(self, number: float) -> None:
        """Take in one more."""
        insort(self.latest, number)
        self.n += 1
        if len(self.latest) < _FEW:
            return
        run, self.latest = array("d", self.latest), []
        while self.runs and len(self.runs[-1]) <= len(run):
            run = _sorted(np.concatenate([self.runs.pop(), run]))
        self.runs.append(run)


def _sorted(numbers: Floats) -> "array[float]":
    """Sort; two runs that are sorted are merged in linear time. Long lists would be searched more slowly."""
    return array("d", np.sort(numbers, kind="stable").tobytes())


def _scores(values: ArrayLike, name: str) -> Floats:
    scores = np.asarray(values, dtype=float)
    if scores.ndim != 1 or np.isnan(scores).any():
        raise ValueError(
            f"{name} must be numbers in one dimension without NaN, one per object; got shape {scores.shape}"
        )
    return scores
