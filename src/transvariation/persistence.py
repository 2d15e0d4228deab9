"""Save estimators to files and load them again, without pickle.

A model file is a ZIP archive as skops writes it (``schema.json`` and one ``.npy`` file per array) with one further
member, ``transvariation.json``, that identifies the file. skops refuses to build types that are not trusted. The
archive is checked before skops sees it (:mod:`transvariation.model_archive`), and the model afterwards, because a file
can lack what the model needs.
"""

from __future__ import annotations

import copy
import io
import json
import os
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Union

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from transvariation._typing import Fields
from transvariation.atomic_write import replacing
from transvariation.drift import DriftAlarm
from transvariation.model_archive import (
    FORMAT,
    HEADER,
    SCHEMA,
    TRUSTED,
    VERSION,
    ModelFileError,
    check_schema,
    fingerprint,
    our_class,
    read_header,
    schema_nodes,
)
from transvariation.tables.problems import printable

__all__ = ["ModelFileError", "load", "read_about", "save"]


PathOrFile = Union[str, "os.PathLike[str]", BinaryIO]


def save(model: object, path: PathOrFile, *, about: Mapping[str, object] | None = None) -> None:
    """Write an estimator to a file.

    Parameters
    ----------
    model : estimator or DriftAlarm
        Any scikit-learn estimator, fitted or not.
    path : path or binary file
        An existing file is replaced when the new one is complete.
    about : mapping, optional
        JSON values to keep with the model, such as units and the origin of the data; see
        :func:`transvariation.persistence.read_about`.

    Raises
    ------
    TypeError
        If the model is incomplete or holds something that cannot be loaded again, such as a lambda.

    See Also
    --------
    transvariation.load : Read the file.
    transvariation.persistence.read_about : Read its description only.

    Examples
    --------
    >>> from transvariation import load, save
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

    if not isinstance(model, (BaseEstimator, DriftAlarm)):
        raise TypeError(f"only estimators and alarms can be saved, not {type(model).__name__}")
    header = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"transvariation {transvariation.__version__}",
        "class": f"{type(model).__module__}.{type(model).__name__}",
        "attributes": sorted(vars(model).keys() - {"_metadata_request"}),
        "about": json.loads(json.dumps(dict(about or {}), allow_nan=False)),
    }
    try:
        header["scores_zeros"] = _scores_zeros(model)
        content = _packed(header, model)
        _load(io.BytesIO(content), trusted=None)  # what cannot be loaded must not be written
    except (TypeError, AttributeError, ImportError, RecursionError, ModelFileError) as error:
        raise TypeError(f"{type(model).__name__} cannot be saved: {error}") from error
    if not isinstance(path, str | os.PathLike):
        path.write(content)
        return
    with replacing(Path(path)) as unfinished:
        unfinished.write_bytes(content)


def load(path: PathOrFile, trusted: Sequence[str | type] = ()) -> Any:  # noqa: ANN401  # whatever was saved
    """Read an estimator from a file that :func:`save` wrote.

    No code from the file is run. Estimators of this package and of scikit-learn are built; any other type must be
    trusted by name, because building it runs its code on the values in the file.

    Parameters
    ----------
    path : path or binary file
        The model file.
    trusted : sequence of str or type, optional
        Further types to build, such as ``["pyod.models.knn.KNN"]``. Trees of scikit-learn (IsolationForest,
        LocalOutlierFactor) are among them, because forged ones can crash the process.

    Returns
    -------
    estimator
        Its predictions equal those of the saved one, to the last bit.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, incomplete or of another format, requires more memory than it
        holds, or names types that are not trusted.

    See Also
    --------
    transvariation.save : Write the file.
    transvariation.persistence.read_about : Read its description only.

    Examples
    --------
    >>> from transvariation import load
    >>> import io
    >>> load(io.BytesIO(b"anything"))
    Traceback (most recent call last):
    transvariation.model_archive.ModelFileError: not a model file, or truncated: File is not a zip file
    """
    if isinstance(trusted, str) or not all(isinstance(each, str | type) for each in trusted):
        raise TypeError(f"trusted={trusted!r} must be a list of types or of their full names")
    names = {each if isinstance(each, str) else f"{each.__module__}.{each.__name__}" for each in trusted}
    with _opened(path) as file, _errors_explained(path, file):
        return _load(file, names)


def read_about(path: PathOrFile) -> Fields:
    """Read the description in a model file, without building the model.

    Parameters
    ----------
    path : path-like
        The model file.

    Returns
    -------
    dict
        ``class``, ``version`` (of the format), ``written_by``, ``sha256`` (of the whole model: it tells one model from
        another) and ``about`` as it was given to :func:`transvariation.save`. A stranger may have
        written anything there: escape it before it is printed.

    See Also
    --------
    transvariation.load : Read the model.

    Examples
    --------
    >>> from transvariation.persistence import read_about
    >>> from transvariation import save
    >>> import io
    >>> from transvariation import TOCC
    >>> file = io.BytesIO()
    >>> save(TOCC(), file, about={"features": ["Na", "Mg"]})
    >>> read_about(file)["class"], read_about(file)["about"]
    ('transvariation.tocc.TOCC', {'features': ['Na', 'Mg']})
    """
    with _opened(path) as file, _errors_explained(path, file), zipfile.ZipFile(file) as archive:
        header = read_header(archive)
        return {key: header[key] for key in ("class", "version", "written_by", "sha256", "about")}


def _packed(header: dict[str, object], model: object) -> bytes:
    """Write the archive. It holds neither dates nor memory addresses: the same model gives the same bytes."""
    import skops.io

    members: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(_converted(model, _frame_to_table)))) as source:
        schema = json.loads(source.read(SCHEMA))
        for node in schema_nodes(schema):
            node.pop("__id__", None)
            if "file" in node:
                members[name := f"{len(members)}.npy"] = source.read(node["file"])
                node["file"] = name
    members[SCHEMA] = json.dumps(schema, indent=1).encode()
    header = header | {"sha256": fingerprint(header, members, members.__getitem__)}
    members[HEADER] = json.dumps(header, indent=1).encode()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as target:
        for name, member in members.items():
            target.writestr(zipfile.ZipInfo(name), member)
    return content.getvalue()


@dataclass
class FrameParts:
    """A DataFrame in a form that skops supports."""

    columns: list[object]
    index: np.ndarray
    values: list[np.ndarray]


def _converted(value: object, convert: Callable[[object], object]) -> object:
    """Copy estimators, descriptions and containers, converting what is in them.

    Metadata requests are left out: they refer back to their estimator, which skops refuses.
    """
    from transvariation.description import Description

    if type(value) is list:
        return [_converted(item, convert) for item in value]
    if type(value) is tuple:
        return tuple(_converted(item, convert) for item in value)
    if type(value) is dict:
        return {key: _converted(item, convert) for key, item in value.items()}
    if not isinstance(value, BaseEstimator | Description):
        return convert(value)
    plain = copy.copy(value)
    attributes = {name: item for name, item in vars(plain).items() if name != "_metadata_request"}
    plain.__dict__.clear()
    plain.__dict__.update({name: _converted(item, convert) for name, item in attributes.items()})
    return plain


def _frame_to_table(value: object) -> object:
    if not isinstance(value, pd.DataFrame):
        return value
    values = [value.iloc[:, j].to_numpy() for j in range(value.shape[1])]
    return FrameParts(list(value.columns), value.index.to_numpy(), values)


def _table_to_frame(value: object) -> object:
    if not isinstance(value, FrameParts):
        return value
    if not all(isinstance(column, np.ndarray) for column in (value.index, *value.values)):
        raise ModelFileError("the columns of a table are not arrays")
    frame = pd.DataFrame(dict(enumerate(value.values)), index=value.index)
    return frame.set_axis(value.columns, axis=1)


def _load(file: BinaryIO, trusted: set[str] | None) -> object:
    """Check the archive, build the model, check the model. `trusted=None` trusts what :func:`save` has just written."""
    import skops.io
    from sklearn.base import BaseEstimator
    from skops.io.exceptions import UntrustedTypesFoundException

    with zipfile.ZipFile(file) as archive:
        header = read_header(archive)
        named = check_schema(archive, trusted)
        if header["sha256"] != fingerprint(header, archive.namelist(), archive.read):
            raise ModelFileError("the model is not the one that was saved: the SHA-256 in the file is that of another")
    known = named if trusted is None else trusted
    ours = {name for name in named if name.startswith("transvariation.") and our_class(name)}
    file.seek(0)
    try:
        model = skops.io.load(file, trusted=sorted(TRUSTED | ours | known))
    except UntrustedTypesFoundException:
        unknown = sorted(set(skops.io.get_untrusted_types(file=file)) - TRUSTED - ours - known)
        raise ModelFileError(
            f"it holds types that are not trusted: {unknown}; if you trust the origin of the file, name them: "
            f"load(..., trusted={unknown})"
        ) from None
    if not isinstance(model, (BaseEstimator, DriftAlarm)):
        raise ModelFileError(f"it holds a {type(model).__name__}, not an estimator")
    model = _converted(model, _table_to_frame)
    _check_complete(header, model, archive.start_dir)
    return model


def _opened(path: PathOrFile) -> AbstractContextManager[BinaryIO]:
    if isinstance(path, str | os.PathLike):
        return open(path, "rb")
    path.seek(0)
    return nullcontext(path)


@contextmanager
def _errors_explained(path: PathOrFile, file: BinaryIO) -> Iterator[None]:
    """Turn whatever a file provokes into a ModelFileError in printable characters."""
    try:
        yield
    except Exception as error:
        text = str(error) or type(error).__name__
        if not isinstance(error, ModelFileError):
            file.seek(0)
            if isinstance(error, zipfile.BadZipFile) and file.read(1) == b"\x80":
                text = "a pickle, which could run code when loaded; load it where you trust it, and use save"
            elif isinstance(error, zipfile.BadZipFile):
                text = f"not a model file, or truncated: {text}"
            else:
                text = f"the file is damaged or was changed ({type(error).__name__}: {text})"
        name = f"'{os.fspath(path)}': " if isinstance(path, str | os.PathLike) else ""
        raise ModelFileError(printable(name + text)) from None


def _check_complete(header: dict[str, object], model: object, size: int) -> None:
    """Check that the model has all attributes that were saved, and scores a row as it did then."""
    kind = f"{type(model).__module__}.{type(model).__name__}"
    if (kind, sorted(vars(model))) != (header["class"], header["attributes"]):
        raise ModelFileError("the model is not the one that was saved: attributes were removed or added")
    n, names = getattr(model, "n_features_in_", None), getattr(model, "feature_names_in_", None)
    if n is not None and not (isinstance(n, int | np.integer) and 0 < n <= size):
        raise ModelFileError(f"n_features_in_={n!r} is not possible in a file of {size} bytes")
    if names is not None and not (isinstance(names, np.ndarray) and names.shape == (n,)):
        raise ModelFileError(f"feature_names_in_ does not name {n} features")
    scores = getattr(getattr(model, "_calibration", None), "scores", None)
    if isinstance(scores, np.ndarray) and (scores.dtype != np.float64 or np.isnan(scores).any()):
        raise ModelFileError("calibration scores are not numbers: the model was changed after it was saved")
    if header["scores_zeros"]:
        try:
            _score_zeros(model)
        except Exception as error:
            raise ModelFileError(
                "the model is incomplete: it could score a row when it was saved, and now cannot "
                f"({type(error).__name__}: {error})"
            ) from error


def _scores_zeros(model: object) -> bool:
    """Return whether a model can score a row of zeros; raise if it cannot because it lacks attributes."""
    from sklearn.exceptions import NotFittedError

    try:
        _score_zeros(model)
    except NotFittedError:
        return False
    except AttributeError as error:
        if hasattr(model, "n_features_in_"):
            raise TypeError(f"it is incomplete: {error}") from error
        return False
    except Exception:  # a pipeline may not accept zeros
        return False
    return True


def _score_zeros(model: BaseEstimator) -> None:
    zeros = np.zeros((1, model.n_features_in_))
    row = pd.DataFrame(zeros, columns=model.feature_names_in_) if hasattr(model, "feature_names_in_") else zeros
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for method in ("predict", "p_values", "transform"):
            if hasattr(model, method):
                getattr(model, method)(row)
        if hasattr(model, "coverage_report"):
            model.coverage_report()
