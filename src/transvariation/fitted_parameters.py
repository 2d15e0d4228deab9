"""What a fitted rule is sure of: the parameters of its last fit, and to be left as it was by a fit that fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.base import BaseEstimator


@contextmanager
def all_or_nothing(rule: BaseEstimator) -> Iterator[None]:
    """Leave a rule as it was if learning ends in an exception, also an interrupt or a warning turned into an error."""
    before = vars(rule).copy()
    try:
        yield
    except BaseException:
        vars(rule).clear()
        vars(rule).update(before)
        raise


class LastingParameters:
    """Let parameters that were set after the fit wait for the next one."""

    def _remember(self, *names: str) -> None:
        """Keep parameters that rating needs as they are now."""
        self._fitted_with = {name: getattr(self, name) for name in names}

    def _as_fitted(self, name: str) -> Any:
        """Give a parameter as the last fit had it. Old model files hold only the present one."""
        return getattr(self, "_fitted_with", {}).get(name, getattr(self, name))
