"""What all displays share: their axes, their style and their legends."""

from typing import TYPE_CHECKING, Any, Self

from transvariation.report.figure_style import PHONE_WIDTH, SETTINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class Display:
    """A picture in scikit-learn's form; a subclass draws it by `_draw`, in new axes `_height` inches high."""

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    _height = 3.6

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw in the style of this package; colors and sizes of given axes stay as they are.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default new ones, in a figure of the width of a phone.

        Returns
        -------
        self
            The display, with `ax_` and `figure_`.
        """
        from matplotlib import rc_context

        with rc_context(SETTINGS):
            if ax is None:
                from matplotlib import pyplot as plt

                ax = plt.subplots(figsize=(PHONE_WIDTH, self._height))[1]
            self.ax_, self.figure_ = ax, ax.figure
            self._draw(ax)
        return self

    def _draw(self, ax: "Axes") -> None:
        raise NotImplementedError


def legend(ax: "Axes", **options: Any) -> None:
    """Put the legend below axes that have a figure of their own, otherwise inside."""
    if ax.figure.axes == [ax]:
        ax.figure.legend(loc="outside lower center", **options)
    else:
        ax.legend(**options)


def axes_of(height: float, n: int = 1) -> "tuple[Figure, list[Axes]]":
    """Make a figure that pyplot does not manage, with n pairs of axes, one below the other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(PHONE_WIDTH, height), layout="constrained")
    axes = figure.subplots(n, 1, sharex=True, squeeze=False).ravel().tolist()
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes
