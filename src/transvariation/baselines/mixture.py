"""The mixture of Gaussians chosen by BIC: log density."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from transvariation._typing import Floats, Indices, RandomState
from transvariation.base import OneClassClassifier
from transvariation.density.covariance_models import MODELS
from transvariation.density.gaussian_mixture import GaussianMixtureBIC
from transvariation.description import Description


class MixtureOCC(OneClassClassifier):
    """Accept samples where the density of a Gaussian mixture is high.

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        The share of target samples to accept.
    calibration : {"resubstitution", "loo", "cv", "split"} or splitter, default="resubstitution"
        How the threshold is set; see :class:`transvariation.TOCC`.
    n_components : int or iterable of int, default=(1, ..., 9)
        The numbers of components to try.
    models : iterable of str, default=all fourteen of mclust
        The covariance models to try; see :class:`transvariation.GaussianMixtureBIC`.
    random_state : int, RandomState or None, default=None
        Used beyond 1000 samples, where the start is found on a sample of them.
    engine : {"auto", "compiled", "numpy"}, default="auto"
        Which code searches; see :class:`transvariation.GaussianMixtureBIC`.
    n_jobs : int, optional
        The number of threads for the search, and of processes for the refits of the calibration. The result is the same
        for every number.

    Attributes
    ----------
    mixture_ : GaussianMixtureBIC
        The chosen mixture.

    See Also
    --------
    transvariation.DensityTOCC : tp of the same density.
    transvariation.baselines.GaussianOCC : One component.

    Examples
    --------
    >>> from transvariation.baselines import MixtureOCC
    >>> from transvariation import load_glass
    >>> glass = load_glass()
    >>> classifier = MixtureOCC().fit(glass.control[["K", "Mg"]])
    >>> classifier.mixture_.model_name_, classifier.mixture_.n_components_
    ('EEI', 5)
    """

    def __init__(
        self,
        *,
        sensitivity: float = 0.9,
        calibration: str = "resubstitution",
        n_components: int | Iterable[int] = (1, 2, 3, 4, 5, 6, 7, 8, 9),
        models: Iterable[str] = MODELS,
        random_state: RandomState = None,
        engine: str = "auto",
        n_jobs: int | None = None,
    ):
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.n_components = n_components
        self.models = models
        self.random_state = random_state
        self.engine = engine
        self.n_jobs = n_jobs

    def _make_description(self) -> "MixtureLogDensity":
        return MixtureLogDensity(self.n_components, self.models, self.random_state, self.engine, self.n_jobs)


@dataclass(eq=False)
class MixtureLogDensity(Description):
    """Log density of the Gaussian mixture with the best BIC."""

    n_components: int | Iterable[int]
    models: Iterable[str]
    random_state: RandomState
    engine: str
    n_jobs: int | None = None

    def fit(self, X: Floats, groups: Indices | None = None) -> Self:
        """Choose the mixture."""
        search = GaussianMixtureBIC(
            self.n_components, self.models, random_state=self.random_state, n_jobs=self.n_jobs, engine=self.engine
        )
        self.mixture_ = search.fit(X)
        return self

    def score(self, X: Floats) -> Floats:
        """Compute the log density."""
        return self.mixture_.score_samples(X)
