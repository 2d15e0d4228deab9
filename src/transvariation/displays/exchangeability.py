"""Which features show that samples are not exchangeable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from transvariation.displays.axes import Display, legend
from transvariation.exchangeability import ExchangeabilityResult, exchangeability_test
from transvariation.report.figure_style import CYCLE, THRESHOLD

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEATURES_SHOWN = 12  # features
_SMALLEST_P = 1e-12  # p-value


class ExchangeabilityDisplay(Display):
    """Draw the p-values of a test of exchangeability for the features that drive it.

    Parameters
    ----------
    result : ExchangeabilityResult
        Of :func:`transvariation.exchangeability_test`.
    level : float, default=0.05
        The level that is marked.

    Attributes
    ----------
    features : list of str
        The features that are drawn, that with the smallest p-value first.
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    transvariation.exchangeability_test : The test that is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.displays import ExchangeabilityDisplay
    >>> walk = np.random.default_rng(0).normal(size=(100, 3)).cumsum(axis=0)
    >>> display = ExchangeabilityDisplay.from_predictions(walk)
    >>> display.ax_.get_xlabel()
    'p-value, adjusted for all tests'
    """

    def __init__(self, result: ExchangeabilityResult, *, level: float = 0.05):
        self.result, self.level = result, level
        smallest: dict[str, float] = {}
        for test in result.tests:
            name = test.feature or "all together"
            smallest[name] = min(smallest.get(name, 1.0), test.p_value)
        self.features = sorted(smallest, key=lambda name: smallest[name])[:_FEATURES_SHOWN]
        self._height = 1.6 + 0.28 * len(self.features)

    @classmethod
    def from_predictions(cls, X: ArrayLike, *, level: float = 0.05, ax: Axes | None = None, **options: Any) -> Self:
        """Test samples and draw the result.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The known samples.
        level : float, default=0.05
            The level that is marked.
        ax : matplotlib Axes, optional
        **options
            `order`, `groups` and `new` of :func:`transvariation.exchangeability_test`.

        Returns
        -------
        ExchangeabilityDisplay
        """
        return cls(exchangeability_test(X, **options), level=level).plot(ax)

    def _draw(self, ax: Axes) -> None:
        shown = self.features
        kinds = list(dict.fromkeys(test.test for test in self.result.tests))
        for k, kind in enumerate(kinds):
            own = [
                test for test in self.result.tests if test.test == kind and (test.feature or "all together") in shown
            ]
            p = np.maximum([self.result.adjusted(test) for test in own], _SMALLEST_P)
            beside = 0.75 * (k - (len(kinds) - 1) / 2) / len(kinds)  # so that equal p-values do not hide each other
            rows = [shown.index(test.feature or "all together") + beside for test in own]
            ax.scatter(p, rows, marker="osD^"[k % 4], color=CYCLE[k % len(CYCLE)], s=22, label=kind, zorder=2)
        ax.axvline(self.level, label=f"level {self.level:g}", **THRESHOLD)
        ax.set(xscale="log", xlabel="p-value, adjusted for all tests", ylim=(len(shown) - 0.5, -0.5))
        ax.set_yticks(range(len(shown)), shown)
        if ax.get_xlim()[0] > 1e-3:
            ax.set_xlim(left=1e-3)
        legend(ax, ncols=2)
