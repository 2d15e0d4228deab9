"""Models in files: NumPy arrays and JSON, no pickle; reading a stranger's file runs nothing of theirs."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from transvariation.persistence.archive import FORMAT, Place, read_archive, write_archive
from transvariation.persistence.errors import ModelFileError

__all__ = ["ModelFileError", "load", "read_about", "save"]

VERSION = 2


def save(model: Any, path: Place, *, about: Mapping[str, Any] | None = None) -> None:
    """Write a model to a file.

    Parameters
    ----------
    model : estimator
        Any estimator of this package, fitted or not; or a scikit-learn pipeline of them, with scalers. Not one of
        :mod:`transvariation.dask` fitted to a Dask collection, whose rows the file would have to hold.
    path : path or binary file
        A file of that name is replaced.
    about : mapping, default=None
        JSON values to keep with the model, such as the units and the origin of the data; see :func:`read_about`.

    Raises
    ------
    TypeError
        If the model holds something that could not be read back without running code, naming where.

    Examples
    --------
    >>> import io
    >>> from transvariation import TOCC, load_glass
    >>> control = load_glass().control[["K", "Mg"]]
    >>> file = io.BytesIO()
    >>> save(TOCC().fit(control), file)
    >>> load(file).offset_ == TOCC().fit(control).offset_
    True
    """
    from sklearn.base import BaseEstimator

    import transvariation
    from transvariation.persistence.nodes import Encoder

    if not isinstance(model, BaseEstimator):
        raise TypeError(f"only estimators can be saved, not {type(model).__name__}")
    encoder = Encoder()
    node = encoder.node(model, type(model).__name__)
    remarks = json.loads(json.dumps(dict(about or {}), allow_nan=False))  # refused here rather than half-written
    manifest = {"format": FORMAT, "version": VERSION, "written_by": f"transvariation {transvariation.__version__}"}
    write_archive(path, {**manifest, "about": remarks, "model": node}, encoder.arrays)


def load(path: Place) -> Any:
    """Read a model from a file that :func:`save` wrote, in this version or an earlier one.

    Parameters
    ----------
    path : path or binary file

    Returns
    -------
    estimator
        It predicts what the saved one predicts, to the last bit.

    Raises
    ------
    ModelFileError
        If the file is truncated, damaged or tampered with, of a newer format, or names anything but estimators of this
        package.

    Examples
    --------
    >>> import io
    >>> load(io.BytesIO(b"anything"))
    Traceback (most recent call last):
    transvariation.persistence.errors.ModelFileError: this is no model file, or it is truncated or damaged: ...
    """
    from sklearn.base import BaseEstimator

    from transvariation.persistence.nodes import Decoder

    manifest, arrays = read_archive(path)
    model = Decoder(arrays).value(upgraded(manifest)["model"])
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(f"the file holds no estimator but a {type(model).__name__}: refused")
    return model


def read_about(path: Place) -> dict[str, Any]:
    """Say what a model file holds, without making the model.

    Returns
    -------
    dict
        ``class``, ``version`` (of the format), ``written_by``, and ``about`` as it was given to :func:`save`.

    Examples
    --------
    >>> import io
    >>> from transvariation import TOCC
    >>> file = io.BytesIO()
    >>> save(TOCC(), file, about={"features": ["Na", "Mg"]})
    >>> read_about(file)
    {'class': 'tocc.TOCC', 'version': 2, 'written_by': 'transvariation ...', 'about': {'features': ['Na', 'Mg']}}
    """
    manifest, _ = read_archive(path)
    newest = upgraded(manifest)
    return {
        "class": newest["model"]["object"],
        "version": manifest["version"],
        "written_by": newest.get("written_by", ""),
        "about": newest["about"],
    }


def _from_1(manifest: dict[str, Any]) -> dict[str, Any]:
    """Format 1 kept no remarks."""
    return {**manifest, "about": {}}


# What turns the manifest of each older format into that of the next.
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _from_1}


def upgraded(manifest: dict[str, Any]) -> dict[str, Any]:
    """Bring a manifest of any known format to the present one."""
    version = manifest.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise ModelFileError(
            f"format version {version!r} is unknown: this version reads 1 to {VERSION}; a newer one may"
        )
    for older in range(version, VERSION):
        manifest = {**UPGRADES[older](manifest), "version": older + 1}
    node = manifest.get("model")
    if not isinstance(node, dict) or "object" not in node or not isinstance(manifest.get("about"), dict):
        raise ModelFileError("the file holds no estimator")
    return manifest
