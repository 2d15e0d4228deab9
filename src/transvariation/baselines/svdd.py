"""Support vector data description: the smallest soft ball around the target samples, also in a feature space."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.spatial.distance import cdist

from transvariation._typing import Floats, Indices
from transvariation.base import OneClassClassifier
from transvariation.density.covariance import squared_norms
from transvariation.description import Description
from transvariation.parallel import map_row_chunks
from transvariation.validation import check_magnitude

KERNELS = ("rbf", "linear")
_BLOCK_VALUES = 1 << 20  # kernel values held at a time
_RELATIVE_TOLERANCE = 1e-10  # of the squared distances, relative
_MAX_STEPS = 1_000_000


def ball_weights(X: Floats, C: float) -> Floats:
    r"""Find the weights of the smallest soft ball, linear kernel.

    .. math:: \max_a \sum_i a_i |x_i|^2 - \Bigl|\sum_i a_i x_i\Bigr|^2, \qquad 0 \le a_i \le C, \quad \sum_i a_i = 1

    Sequential minimal optimization: the farthest sample that may gain weight takes it from the nearer one where that
    helps most. The center is all that the distances need, so no kernel matrix is formed.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    C : float, at least 1 / n

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> ball_weights(np.array([[0.0], [1.0], [4.0]]), C=1.0)
    array([0.5, 0. , 0.5])
    """
    X = X - X.mean(axis=0)
    # Start from the samples farthest from the mean, which is close already.
    weights = np.zeros(len(X))
    outermost = np.argsort(-(X**2).sum(axis=1), kind="stable")[: int(np.ceil(1 / C - 1e-9))]
    weights[outermost] = C
    weights[outermost[-1]] = 1 - C * (len(outermost) - 1)
    slack = 1e-12 * C
    center = weights @ X
    for _ in range(_MAX_STEPS):
        distance2 = ((X - center) ** 2).sum(axis=1)
        gainer = int(np.where(weights < C - slack, distance2, -np.inf).argmax())
        givers = np.flatnonzero(weights > slack)
        excess = distance2[gainer] - distance2[givers]
        if excess.max() <= _RELATIVE_TOLERANCE * distance2.max() or weights[gainer] >= C - slack:
            return weights
        apart = ((X[givers] - X[gainer]) ** 2).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            best = int(np.where(excess > 0, excess**2 / apart, -1.0).argmax())
        giver = givers[best]
        step = min(excess[best] / (2 * apart[best]), C - weights[gainer], weights[giver])
        # Set, not added: a weight at its bound stays exactly there.
        weights[gainer] = C if step == C - weights[gainer] else weights[gainer] + step
        weights[giver] = 0.0 if step == weights[giver] else weights[giver] - step
        center = weights[weights > 0] @ X[weights > 0]
    raise RuntimeError(f"no convergence in {_MAX_STEPS} steps; rescale the variables to a comparable size")


def rbf_weights(X: Floats, C: float, gamma: float) -> Floats:
    """Find the weights for the kernel exp(-gamma |x - y|^2): those of the one-class SVM with nu = 1 / (n C).

    Where k(x, x) is constant the two problems are the same up to a scale.

    Examples
    --------
    >>> rbf_weights(np.array([[0.0], [1.0], [4.0]]), C=1.0, gamma=0.01).round(3)
    array([0.5, 0. , 0.5])
    """
    from sklearn.svm import OneClassSVM

    n = len(X)
    if C * n <= 1 + 1e-9:
        return np.full(n, 1 / n)  # no choice
    machine = OneClassSVM(kernel="rbf", gamma=gamma, nu=1 / (n * C), tol=1e-10)
    machine.fit(X - X.mean(axis=0))  # libsvm computes |x|^2 + |y|^2 - 2xy, which loses everything far from zero
    weights = np.zeros(n)
    weights[machine.support_] = machine.dual_coef_[0] / machine.dual_coef_.sum()
    return weights


class SVDD(OneClassClassifier):
    """Accept samples near the center of the smallest soft ball (Tax and Duin, 2004).

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        The share of target samples to accept.
    calibration : {"resubstitution", "loo", "cv", "split"} or splitter, default="resubstitution"
        How the threshold is set; see :class:`transvariation.TOCC`.
    C : float, default=0.1
        The most weight that one sample may have, at least 1 / n; smaller lets more samples lie outside the ball
        (at most 1 / C of them).
    kernel : {"rbf", "linear"}, default="rbf"
        ``"linear"`` describes the class by a ball in the space of the features themselves.
    gamma : "variance" or float, default="variance"
        Of the RBF kernel ``exp(-gamma |x - y|^2)``. ``"variance"`` is one over the sum of the features' variances;
        unlike scikit-learn's ``"scale"`` it does not change when the data are shifted.
    n_jobs : int, optional
        The number of threads that score many samples, and of processes for the refits of the calibration. The result
        is the same for every number.

    Attributes
    ----------
    weights_ : ndarray of shape (n,)
        The dual weights, which sum to one. Not unique between duplicated samples.
    support_ : ndarray
        The rows with weight.
    dual_objective_ : float
    gamma_ : float
        RBF kernel only.

    See Also
    --------
    transvariation.CalibratedOCC : Calibrate scikit-learn's OneClassSVM.

    Notes
    -----
    The score is minus the squared distance to the center of the ball.

    References
    ----------
    Tax, D. M. J. and Duin, R. P. W. (2004). Support vector data description. Machine Learning 54, 45-66.

    Examples
    --------
    >>> from transvariation.baselines import SVDD
    >>> from transvariation import load_glass
    >>> glass = load_glass()
    >>> classifier = SVDD(kernel="linear").fit(glass.control[["K", "Mg"]])
    >>> classifier.center_.round(2).tolist()
    [0.3, 3.48]
    """

    def __init__(
        self,
        *,
        sensitivity: float = 0.9,
        calibration: str = "resubstitution",
        C: float = 0.1,
        kernel: str = "rbf",
        gamma: str | float = "variance",
        n_jobs: int | None = None,
    ):
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.n_jobs = n_jobs

    def _make_description(self) -> "BallDistance":
        return BallDistance(self.C, self.kernel, self.gamma, self.n_jobs)


@dataclass(eq=False)
class BallDistance(Description):
    """Squared distance from the center of the smallest soft ball."""

    C: float
    kernel: str
    gamma: str | float
    n_jobs: int | None = None

    def fit(self, X: Floats, groups: Indices | None = None) -> Self:
        """Find the ball."""
        check_magnitude(X)
        self._check(len(X))
        if self.kernel == "rbf":
            self.gamma_ = self._gamma(X)
            self.weights_ = rbf_weights(X, self.C, self.gamma_)
        else:
            self.weights_ = ball_weights(X, self.C)
        self.support_ = np.flatnonzero(self.weights_)
        self._support_rows, self._weights = X[self.support_], self.weights_[self.support_]
        self._spread = self._within()
        distance2 = -self.score(X)
        # sum a_i k_ii - a'Ka is also the weighted mean of the squared distances to the center.
        self.dual_objective_ = float(self.weights_ @ distance2)
        return self

    def _check(self, n: int) -> None:
        if self.kernel not in KERNELS:
            raise ValueError(f"kernel={self.kernel!r} is unknown; choose one of {', '.join(KERNELS)}")
        if not self.C * n >= 1 - 1e-9:
            raise ValueError(
                f"C={self.C} is too small for n_samples={n}: weights of at most C cannot sum to one; choose C of at "
                f"least 1 / n = {1 / n:.3g}"
            )

    def _gamma(self, X: Floats) -> float:
        if self.gamma == "variance":
            total = float(X.var(axis=0, ddof=1).sum())
            return 1 / total if total > 0 else 1.0
        if isinstance(self.gamma, str) or not 0 < self.gamma < np.inf:
            raise ValueError(f'gamma={self.gamma!r} must be a positive number or "variance"')
        return float(self.gamma)

    def _within(self) -> float:
        """Compute a'Ka for the RBF kernel; the linear one needs only the center."""
        if self.kernel == "linear":
            self.center_ = self._weights @ self._support_rows
            return 0.0
        return float(self._weights @ self._similarity(self._support_rows))

    def _similarity(self, X: Floats) -> Floats:
        """Compute the weighted sum of kernel values between each row and the support samples."""
        result = np.empty(len(X))
        step = max(1, _BLOCK_VALUES // len(self._support_rows))
        for start in range(0, len(X), step):
            block = slice(start, start + step)
            values = np.exp(-self.gamma_ * cdist(X[block], self._support_rows, "sqeuclidean"))
            # Not a matrix product: that would round one row differently from many.
            result[block] = (values * self._weights).sum(axis=1)
        return result

    def score(self, X: Floats) -> Floats:
        """Compute minus the squared distance."""
        if self.kernel == "linear":
            return -squared_norms(X - self.center_)
        similarity = map_row_chunks(self._similarity, X, len(self._support_rows), self.n_jobs)
        return -(1 - 2 * similarity + self._spread)
