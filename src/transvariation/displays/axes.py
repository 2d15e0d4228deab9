"""Axes and style that all displays share."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from transvariation.report.figure_style import PHONE_WIDTH, SETTINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Plot = TypeVar("Plot", bound=Callable[..., Any])


def styled(plot: Plot) -> Plot:
    """Draw in the style of this package; colours and sizes of given axes stay as they are."""

    @wraps(plot)
    def drawn(*args: Any, **kwargs: Any) -> Any:
        import matplotlib

        with matplotlib.rc_context(SETTINGS):
            return plot(*args, **kwargs)

    return drawn  # type: ignore[return-value]


def given_or_new(ax: "Axes | None", height: float = 3.6) -> "Axes":
    """Return the given axes, or new ones in a figure of the width of a phone."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=(PHONE_WIDTH, height))[1]


def legend(ax: "Axes", **options: Any) -> None:
    """Put the legend below axes that have a figure of their own, otherwise inside."""
    if ax.figure.axes == [ax]:
        ax.figure.legend(loc="outside lower center", **options)
    else:
        ax.legend(**options)
