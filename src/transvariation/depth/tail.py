"""One-dimensional transvariation probability of distances, with a fitted exponential tail."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_SMALLEST_SCALE = 1e-3  # of the tail: known values that are all equal have no excesses to fit


def tail_transvariation_probability(
    x: ArrayLike, z: ArrayLike, *, tail: float = 0.1, held_out: bool = True, log: bool = False
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
        The share of known values to which the tail is fitted.
    held_out : bool, default=True
        Whether `z` are new values, each of which is counted among the known ones as in a conformal p-value. With
        ``False`` they are known values themselves.
    log : bool, default=False
        Whether to return the logarithm of tp, which remains finite where tp underflows.

    Returns
    -------
    ndarray of shape (m,)

    Examples
    --------
    >>> x = np.arange(1.0, 20.0)
    >>> tail_transvariation_probability(x, [0.0, 10.0, 19.0, 30.0]).round(4)
    array([1.    , 0.55  , 0.0194, 0.    ])
    >>> tail_transvariation_probability(x, [30.0, 300.0], log=True).round(1)
    array([ -14.9, -284.9])
    """
    if not 0 < tail < 1:
        raise ValueError(
            f"tail={tail!r} must lie in (0, 1); 0.1 fits the tail to the largest tenth of the known values"
        )
    x, z = np.sort(np.asarray(x, dtype=np.float64)), np.asarray(z, dtype=np.float64)
    n, own = len(x), 0 if held_out else 1
    q = x[int(np.ceil((1 - tail) * n - 1e-9)) - 1]
    excess = x[np.searchsorted(x, q, side="right") :] - q
    scale = max(float(excess.mean()) if len(excess) else 0.0, _SMALLEST_SCALE)
    n_as_large = n - np.searchsorted(x, z, side="left")
    body = np.log(np.maximum(n_as_large + 1 - own, 1) / (n + 1 - own))
    log_tp = np.where(z > q, np.log(max(len(excess), 1) / n) - (z - q) / scale, body)
    return log_tp if log else np.exp(log_tp)
