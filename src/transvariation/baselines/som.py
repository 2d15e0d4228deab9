"""SOMOCC: distance to the closest unit of a self-organizing map."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.spatial import cKDTree
from sklearn.utils import check_random_state

from transvariation._typing import Floats, Indices, RandomState
from transvariation.base import OneClassClassifier
from transvariation.description import Description
from transvariation.subsample import subsample
from transvariation.validation import check_magnitude


def train_map(X: Floats, units: Floats, near: Floats, picks: Indices, rate: tuple[float, float]) -> Floats:
    r"""Train a self-organizing map: the closest unit and its neighbors move towards each sample presented.

    .. math:: w_k \leftarrow w_k + \alpha_t (x_t - w_k)

    for the units k within :math:`r_t` of the closest one on the grid. The learning rate :math:`\alpha_t` falls linearly
    from the first to the second value of `rate`, the radius :math:`r_t` linearly from the one that covers two thirds of
    all distances between units to zero.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    units : ndarray of shape (k, p)
        Where the units start.
    near : ndarray of shape (k, k)
        Distances between the units on their grid.
    picks : ndarray of shape (steps,)
        Rows of `X` in the order of presentation.
    rate : (float, float)

    Returns
    -------
    ndarray of shape (k, p)
    """
    codes = np.ascontiguousarray(units.T)
    radius = np.quantile(near, 2 / 3)
    steps = len(picks)
    alphas = rate[0] - (rate[0] - rate[1]) * np.arange(steps) / steps
    # Under one, the radius reaches the closest unit only.
    radii = np.maximum(radius * (1 - np.arange(steps) / steps), 0.0)
    shown = np.ascontiguousarray(X[picks])
    _present(codes, shown, near, alphas, radii)
    return codes.T.copy()


def _present(codes: Floats, shown: Floats, near: Floats, alphas: Floats, radii: Floats) -> None:
    """Move the units, sample by sample."""
    # The neighborhoods are the same until the radius falls below the next distance.
    levels = np.searchsorted(np.unique(near), radii, side="right")
    starts = np.flatnonzero(np.diff(levels, prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(radii)], strict=True):
        inside = (near <= radii[start]).astype(float)
        single = inside.sum() == len(near)
        for x, alpha in zip(shown[start:end, :, None], alphas[start:end].tolist(), strict=True):
            away = x - codes
            closest = np.add.reduce(away * away).argmin()
            if single:
                codes[:, closest] += alpha * away[:, closest]
            else:
                codes += alpha * away * inside[closest]


class SOMOCC(OneClassClassifier):
    """Accept samples near a unit of a self-organizing map.

    A rectangular grid of units with the bubble neighborhood, trained online as in the R package kohonen.

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        The share of target samples to accept.
    calibration : {"resubstitution", "loo", "cv", "split"} or splitter, default="resubstitution"
        How the threshold is set; see :class:`transvariation.TOCC`.
    grid : (int, int), default=(5, 5)
        Rows and columns of the map.
    learning_rate : (float, float), default=(0.5, 0.3)
        At the start and at the end; the default is the paper's. kohonen's own is (0.05, 0.01).
    n_epochs : int, default=100
        How often each sample is shown, on average.
    random_state : int, RandomState or None, default=None
        Seed of the random start and of the order of presentation. With the same seed, the order of the samples and
        features does not change the map; a common unit of all features does so only where distances tie.
    n_jobs : int, optional
        The number of processes for the refits of the calibration. The result is the same for every number.

    Attributes
    ----------
    units_ : ndarray of shape (rows * columns, p)
        The units' positions in the space of the samples.
    quantization_error_ : float
        The mean distance of the training samples to the closest unit.

    See Also
    --------
    transvariation.baselines.KMeansOCC : Centers without a map.

    Notes
    -----
    With as many as 25 units and rates that stay high, units end up on single samples. Training samples are then much
    closer to a unit than fresh ones: of all methods here this one keeps its sensitivity worst with
    ``calibration="resubstitution"``.

    References
    ----------
    Kohonen, T. (1995). Self-Organizing Maps. Springer.

    Wehrens, R. and Kruisselbrink, J. (2018). Flexible self-organizing maps in kohonen 3.0. Journal of Statistical
    Software 87(7).

    Examples
    --------
    >>> from transvariation.baselines import SOMOCC
    >>> from transvariation import load_glass
    >>> glass = load_glass()
    >>> classifier = SOMOCC(random_state=0).fit(glass.control[["K", "Mg"]])
    >>> classifier.units_.shape
    (25, 2)
    """

    def __init__(
        self,
        *,
        sensitivity: float = 0.9,
        calibration: str = "resubstitution",
        grid: tuple[int, int] = (5, 5),
        learning_rate: tuple[float, float] = (0.5, 0.3),
        n_epochs: int = 100,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ):
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.grid = grid
        self.learning_rate = learning_rate
        self.n_epochs = n_epochs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _make_description(self) -> "UnitDistance":
        return UnitDistance(self.grid, self.learning_rate, self.n_epochs, self.random_state)


@dataclass(eq=False)
class UnitDistance(Description):
    """Distance to the nearest unit of a self-organizing map."""

    grid: tuple[int, int]
    learning_rate: tuple[float, float]
    n_epochs: int
    random_state: RandomState

    def fit(self, X: Floats, groups: Indices | None = None) -> Self:
        """Train the map."""
        check_magnitude(X)
        self._check()
        rng = check_random_state(self.random_state)
        n = len(X)
        X = X[subsample(X, n)]  # in an order of their own: the random numbers are drawn by position
        places = np.indices(self.grid).reshape(2, -1).T.astype(float)
        near = np.linalg.norm(places[:, None] - places, axis=2)
        start = rng.choice(n, len(places), replace=n < len(places))
        picks = rng.randint(n, size=self.n_epochs * n)
        self.units_ = train_map(X, X[start], near, picks, self.learning_rate)
        self.quantization_error_ = float(-self.score(X).mean())
        return self

    def _check(self) -> None:
        if min(self.grid) < 1:
            raise ValueError(f"grid={self.grid} must have at least one row and one column; the paper uses (5, 5)")
        if not all(0 < rate <= 1 for rate in self.learning_rate):
            raise ValueError(f"learning_rate={self.learning_rate} must lie in (0, 1]; the paper uses (0.5, 0.3)")
        if self.n_epochs < 1:
            raise ValueError(f"n_epochs={self.n_epochs} must be at least 1; 100 is usual")

    def score(self, X: Floats) -> Floats:
        """Compute minus the distance."""
        return -cKDTree(self.units_).query(X)[0]
