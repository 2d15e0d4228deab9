"""The simulation scenarios (a) to (i): a target class and what does not belong to it, in two variables."""

import numpy as np

from transvariation._typing import Floats, RandomState
from transvariation.validation import check_count

SCENARIOS = tuple("abcdefghi")

_TARGET_CORRELATION = 0.35
_BOX_RANGES = 3.0  # interquartile ranges from the median to each side of the box of scenarios (e) to (h)
# The paper gives neither radius nor angles of the bananas: these are the customary ones, with a shorter non-target arc.
_RADIUS, _NOISE = 5.0, 1.0
_TARGET_ARC, _OTHER_ARC = 1.25 * np.pi, 0.75 * np.pi


def make_scenario(
    name: str, n_target: int = 100, shift: float = 1.0, random_state: RandomState = None
) -> tuple[Floats, Floats]:
    r"""Draw target samples and half as many non-target samples of one scenario of the simulation study.

    Parameters
    ----------
    name : {"a", "b", ..., "i"}
        The target is (a) bivariate normal with standard margins and correlation 0.35; (b) its squares; (c) the square
        roots of its absolute values; (d) the logarithms of its absolute values. There the non-target samples are drawn
        like the target and shifted. (e) to (h) have the targets of (a) to (d) and non-target samples uniform in a box:
        three interquartile ranges of the target samples to either side of their median, in each variable. (i) two
        bananas with arcs of different width.
    n_target : int, default=100
        The number of target samples. The non-target samples are ``n_target // 2``.
    shift : float, default=1.0
        How far the non-target samples of (a) to (d) are shifted in both variables, after the transformation (the paper
        does not specify it): 1 is small, 2 is large.
    random_state : int, Generator or None, default=None
        A number gives the same samples each time.

    Returns
    -------
    target : ndarray of shape (n_target, 2)
    non_target : ndarray of shape (n_target // 2, 2)

    See Also
    --------
    transvariation.load_glass : Measured data.

    References
    ----------
    Fortunato, F., Anderlucci, L. and Montanari, A. (2020). One-class classification with application to forensic
    analysis. JRSS C 69, 1227-1249.

    Examples
    --------
    >>> from transvariation import make_scenario
    >>> target, other = make_scenario("b", n_target=200, shift=2.0, random_state=0)
    >>> target.shape, other.shape, bool((target >= 0).all()), bool((other >= 2).all())
    ((200, 2), (100, 2), True, True)
    """
    if name not in SCENARIOS:
        raise ValueError(f"scenario {name!r} is unknown; choose one of {', '.join(SCENARIOS)}")
    if check_count("n_target", n_target) < 2:
        raise ValueError(f"n_target={n_target} must be at least 2: half as many non-target samples are drawn")
    if not np.isfinite(shift):
        raise ValueError(f"shift={shift} must be a finite number; 1 is small, 2 is large")
    rng = np.random.default_rng(random_state)
    if name == "i":
        target, other = _banana(n_target, _TARGET_ARC, rng), _banana(n_target // 2, _OTHER_ARC, rng)
        # Turned by half a circle and moved inside: each banana lies with one horn in the other's hollow.
        return target, -other - 0.75 * _RADIUS * np.array([1.0, 1.0])
    transform = _TRANSFORMS["abcd".index(name) if name in "abcd" else "efgh".index(name)]
    target = transform(_normal(n_target, rng))
    if name in "efgh":
        return target, _uniform_around(target, n_target // 2, rng)
    other = _normal(n_target // 2, rng)
    return target, transform(other) + shift


_TRANSFORMS = (
    lambda Z: Z,
    np.square,
    lambda Z: np.sqrt(np.abs(Z)),
    lambda Z: np.log(np.abs(Z)),
)


def _normal(n: int, rng: np.random.Generator) -> Floats:
    Z = rng.standard_normal((n, 2))
    Z[:, 1] = _TARGET_CORRELATION * Z[:, 0] + np.sqrt(1 - _TARGET_CORRELATION**2) * Z[:, 1]
    return Z


def _uniform_around(target: Floats, n: int, rng: np.random.Generator) -> Floats:
    lower, median, upper = np.quantile(target, [0.25, 0.5, 0.75], axis=0)
    return median + _BOX_RANGES * (upper - lower) * rng.uniform(-1, 1, size=(n, 2))


def _banana(n: int, arc: float, rng: np.random.Generator) -> Floats:
    """Draw points along an arc about the direction (1, -1), with normal noise."""
    angle = 0.75 * np.pi + arc * rng.uniform(-0.5, 0.5, size=n)
    return _RADIUS * np.column_stack([np.sin(angle), np.cos(angle)]) + _NOISE * rng.standard_normal((n, 2))
