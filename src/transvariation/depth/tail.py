"""One-dimensional transvariation probability of distances, with a fitted exponential tail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from transvariation._typing import Floats

_MIN_TAIL = 5  # values to fit a tail to, of ten and more


def tail_transvariation_probability(
    x: ArrayLike, z: ArrayLike, *, tail: float = 0.1, min_scale: float = 1e-3, held_out: bool = True, log: bool = False
) -> Floats:
    r"""Compute the share of known values at least as large as each value of `z`, with a fitted tail.

    `x` measures how far out known samples lie, for instance by the distance to their nearest neighbor, and `z` does the
    same for new samples. The transvariation probability of z is the share of known samples that are at least as far
    out. The largest known values end the count: everything beyond them would have the same tp. Above the
    :math:`1 - t` quantile q of `x` the tp is therefore

    .. math:: tp(z) = \frac{\#\{x_i > q\}}{n} \exp\{-(z - q) / s\}

    where t is `tail` and s is the mean excess of the known values over q: the maximum likelihood estimate of an
    exponential tail. New samples keep their order however far out they lie.

    Parameters
    ----------
    x : array-like of shape (n,)
        Known values; large = far out.
    z : array-like of shape (m,)
        Values to compare with them.
    tail : float in (0, 1), default=0.1
        The share of known values to which the tail is fitted; at least five of them, or half of fewer than ten.
    min_scale : float, default=1e-3
        A lower bound of s, for known values whose largest are equal.
    held_out : bool, default=True
        Whether `z` are new values, each of which is counted among the known ones as in a conformal p-value. With
        ``False`` they are values of `x`.
    log : bool, default=False
        Whether to return the logarithm of tp, which remains finite where tp underflows.

    Returns
    -------
    ndarray of shape (m,)

    See Also
    --------
    transvariation.transvariation_probability : The measure in several features.
    transvariation.NeighborTOCC : The classifier that uses it.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import tail_transvariation_probability
    >>> x = np.arange(1.0, 20.0)
    >>> tail_transvariation_probability(x, [0.0, 10.0, 19.0, 30.0]).round(4)
    array([1.    , 0.55  , 0.0497, 0.0013])
    >>> tail_transvariation_probability(x, [30.0, 300.0], log=True).round(1)
    array([ -6.7, -96.7])
    """
    log_tp = fit_tail(x, tail=tail, min_scale=min_scale).log_tp(z, held_out=held_out)
    return log_tp if log else np.exp(log_tp)


@dataclass(frozen=True, eq=False)
class ExponentialTail:
    """Sorted known values, of which those above `start` are described by an exponential tail with mean `scale`."""

    values: Floats
    start: float
    scale: float
    n_beyond: int

    def log_tp(self, z: ArrayLike, *, held_out: bool = True) -> Floats:
        """Compute the logarithm of tp; see :func:`tail_transvariation_probability`."""
        return log_tp([self], np.reshape(z, (-1, 1)), held_out=held_out)[:, 0]


def log_tp(tails: Sequence[ExponentialTail], Z: ArrayLike, *, held_out: bool = True) -> Floats:
    """Compute the logarithm of tp of each column of `Z` with the tail of the same position; NaN stays NaN."""
    values, new = np.asarray(Z), 1 if held_out else 0
    n = np.array([len(tail.values) for tail in tails])
    n_below = [tail.values.searchsorted(z, side="left") for tail, z in zip(tails, values.T, strict=True)]
    body = np.log(np.maximum(n - np.transpose(n_below) + new, 1) / (n + new))
    start, scale, n_beyond = (
        np.array([getattr(tail, name) for tail in tails]) for name in ("start", "scale", "n_beyond")
    )
    beyond = np.log(np.maximum(n_beyond, 1) / n) - (values - start) / scale
    return np.where(values <= start, body, beyond)


def fit_tail(x: ArrayLike, *, tail: float = 0.1, min_scale: float = 1e-3) -> ExponentialTail:
    """Fit the tail of :func:`tail_transvariation_probability` once, for many new values."""
    if not 0 < tail < 1:
        raise ValueError(
            f"tail={tail!r} must lie in (0, 1); 0.1 fits the tail to the largest tenth of the known values"
        )
    x = np.sort(np.asarray(x))
    n_tail = max(int(tail * len(x) + 1e-9), min(_MIN_TAIL, len(x) // 2))
    start = float(x[max(len(x) - n_tail - 1, 0)])
    excess = x[np.searchsorted(x, start, side="right") :] - start
    mean = float(excess.mean(dtype=np.float64)) if len(excess) else 0.0
    return ExponentialTail(x, start, max(mean, min_scale), len(excess))
