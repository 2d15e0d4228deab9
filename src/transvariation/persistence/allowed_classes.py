"""Which classes a model file may name: those of this package, and a few of scikit-learn that hold only numbers."""

import dataclasses
import re
from importlib import import_module
from typing import Any

from transvariation.persistence.errors import ModelFileError

ROOMS = (
    "baselines",
    "base",
    "calibrated",
    "calibration",
    "cluster",
    "conformal",
    "dask",
    "decomposition",
    "density",
    "density_tocc",
    "depth",
    "feature_selection",
    "kernel_tocc",
    "pam_tocc",
    "projection_ensemble",
    "tocc",
)
GUESTS = {
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing.MinMaxScaler",
    "sklearn.preprocessing.RobustScaler",
    "sklearn.preprocessing.StandardScaler",
}
_NAME = re.compile(rf"({'|'.join(ROOMS)})(\.[a-z_][a-z0-9_]*)*\.[A-Za-z_][A-Za-z0-9_]*")


def name_of(cls: type) -> str | None:
    """Name a class as model files do; None where they may not hold it.

    Examples
    --------
    >>> from transvariation import TOCC
    >>> name_of(TOCC), name_of(dict)
    ('tocc.TOCC', None)
    """
    for guest in GUESTS:
        module, _, name = guest.rpartition(".")
        if cls.__name__ == name and getattr(import_module(module), name) is cls:
            return guest
    package, _, module = cls.__module__.partition(".")
    room = module.partition(".")[0]
    if package != "transvariation" or room not in ROOMS or kind_of(cls) is None:
        return None
    # The short name outlives a move from one file of the room to another.
    short = getattr(import_module(f"transvariation.{room}"), cls.__name__, None) is cls
    name = f"{room if short else module}.{cls.__qualname__}"
    return name if _NAME.fullmatch(name) else None


def class_named(name: str) -> type:
    """Find the class that a model file names.

    Examples
    --------
    >>> class_named("os.system")
    Traceback (most recent call last):
    transvariation.persistence.errors.ModelFileError: the file names 'os.system', no class of transvariation: refused
    """
    if name in GUESTS:
        module, _, attribute = name.rpartition(".")
        return getattr(import_module(module), attribute)
    if _NAME.fullmatch(name):
        module, _, attribute = name.rpartition(".")
        try:
            found = getattr(import_module(f"transvariation.{module}"), attribute, None)
        except ImportError:
            found = None
        if isinstance(found, type) and found.__module__.startswith("transvariation.") and kind_of(found):
            return found
    raise ModelFileError(f"the file names {name!r}, no class of transvariation: refused")


def kind_of(cls: type) -> str | None:
    """Tell how instances are taken apart: as an estimator, a dataclass or a named tuple; None = not at all."""
    from sklearn.base import BaseEstimator

    if issubclass(cls, BaseEstimator):
        return "estimator"
    if dataclasses.is_dataclass(cls):
        return "dataclass"
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return "tuple"
    return None


def parts_of(value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Take an object apart: what its constructor was given, and what it learned since."""
    kind = kind_of(type(value))
    if kind == "estimator":
        params = value.get_params(deep=False)
        # What was requested of scikit-learn's routing is no part of what was learned, and no plain value.
        left_out = {*params, "_metadata_request"}
        return params, {name: item for name, item in vars(value).items() if name not in left_out}
    if kind == "tuple":
        return dict(zip(value._fields, value, strict=True)), {}
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}, {}


def assembled(cls: type, given: dict[str, Any], learned: dict[str, Any]) -> Any:
    """Put an object together again. An estimator's constructor stores what it is given and does nothing else."""
    kind = kind_of(cls)
    if kind == "estimator":
        allowed = set(cls._get_param_names())  # type: ignore[attr-defined]
    elif kind == "tuple":
        allowed = set(cls._fields)  # type: ignore[attr-defined]
    else:
        allowed = {field.name for field in dataclasses.fields(cls)}
    if unknown := sorted(given.keys() - allowed):
        raise ModelFileError(
            f"{cls.__name__} has no parameter {unknown[0]!r}: written by a newer version, or tampered with"
        )
    if kind == "dataclass" and (missing := sorted(allowed - given.keys())):
        raise ModelFileError(f"{cls.__name__} lacks its {missing[0]!r}: the file was tampered with")
    for name in learned:
        if not name.isidentifier() or name.startswith("__") or (hasattr(cls, name) and callable(getattr(cls, name))):
            raise ModelFileError(
                f"{name!r} cannot be an attribute that {cls.__name__} learned: the file was tampered with"
            )
    if kind == "dataclass":
        value: Any = object.__new__(cls)  # what it checks and converts on the way in was checked and converted before
        for name, item in given.items():
            object.__setattr__(value, name, item)
        return value
    try:
        value = cls(**given)
    except TypeError as error:
        raise ModelFileError(f"{cls.__name__} cannot be put together: {error}") from None
    if kind == "estimator":
        vars(value).update(learned)
    return value
