"""Save estimators to files and load them again, without pickle.

A model file is a ZIP archive as skops writes it (``schema.json`` and one ``.npy`` file per array) with one further
member, ``transvariation.json``, that identifies the file. skops refuses to build types that are not trusted. This
module checks the archive before skops sees it, because the numbers in a small file can require any amount of memory or
time, and checks the model afterwards, because a file can lack what the model needs.
"""

import copy
import io
import json
import math
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Union

import numpy as np

from transvariation.atomic_write import replacing
from transvariation.tables.problems import printable

__all__ = ["ModelFileError", "load", "read_about", "save"]

FORMAT, VERSION = "transvariation model", 3
HEADER, SCHEMA, OLD_HEADER = "transvariation.json", "schema.json", "manifest.json"
MAX_DEPTH = 200  # levels of JSON; each estimator inside another takes about six
MAX_RANGE = 10_000
MAX_INTEGER = 10**7  # of learned numbers, unless the file is larger
PROTOCOL = 2  # of skops, at least

PathOrFile = Union[str, "os.PathLike[str]", BinaryIO]

_SCALARS = {f"numpy.{np.dtype(code).type.__name__}" for code in "?bBhHiIlLqQefdFDU"}
# The types that each kind of skops node may name. skops by itself also lets a file call numpy.void or map.
_TYPES = {
    "JsonNode": {"builtins.str"},
    "DictNode": {"builtins.dict", "collections.OrderedDict"},
    "ListNode": {"builtins.list"},
    "SetNode": {"builtins.set"},
    "SliceNode": {"builtins.slice"},
    "NdArrayNode": {"numpy.ndarray", *_SCALARS},
    "DTypeNode": {"numpy.dtype"},
    "TypeNode": {f"builtins.{name}" for name in ("bool", "int", "float", "str")} | _SCALARS,
    "ConstructorFromReduceNode": {"builtins.range", "builtins.frozenset", "pathlib.PosixPath", "pathlib.WindowsPath"},
}
# Their types are left to skops: scikit-learn's estimators, NumPy's functions, and those trusted below or by the caller.
_OPEN = {"ObjectNode", "TupleNode", "FunctionNode", "TreeNode", "LossNode"}
_TRUSTED = _TYPES["DTypeNode"] | _TYPES["ConstructorFromReduceNode"]


class ModelFileError(ValueError):
    """A file is not a model file, is damaged or incomplete, or contains types that are not trusted."""


def save(model: Any, path: PathOrFile, *, about: Mapping[str, Any] | None = None) -> None:
    """Write an estimator to a file.

    Parameters
    ----------
    model : estimator
        Any scikit-learn estimator, fitted or not. Estimators of :mod:`transvariation.dask` must have been fitted to
        arrays or blocks, not to a Dask collection: the file holds their rows.
    path : path or binary file
        An existing file is replaced when the new one is complete.
    about : mapping, optional
        JSON values to keep with the model, such as units and the origin of the data; see :func:`read_about`.

    Raises
    ------
    TypeError
        If the model is incomplete or holds something that cannot be loaded again, such as a lambda.

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

    if not isinstance(model, BaseEstimator):
        raise TypeError(f"only estimators can be saved, not {type(model).__name__}")
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


def load(path: PathOrFile, trusted: Sequence[str | type] = ()) -> Any:
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

    Examples
    --------
    >>> import io
    >>> load(io.BytesIO(b"anything"))
    Traceback (most recent call last):
    transvariation.persistence.ModelFileError: not a model file, or truncated: File is not a zip file
    """
    if isinstance(trusted, str) or not all(isinstance(each, str | type) for each in trusted):
        raise TypeError(f"trusted={trusted!r} must be a list of types or of their full names")
    names = {each if isinstance(each, str) else f"{each.__module__}.{each.__name__}" for each in trusted}
    with _opened(path) as file, _errors_explained(path, file):
        return _load(file, names)


def read_about(path: PathOrFile) -> dict[str, Any]:
    """Read the description in a model file, without building the model.

    Parameters
    ----------
    path : path-like
        The model file.

    Returns
    -------
    dict
        ``class``, ``version`` (of the format), ``written_by``, and ``about`` as it was given to :func:`save`. A
        stranger may have written anything there: escape it before it is printed.

    Examples
    --------
    >>> import io
    >>> from transvariation import TOCC
    >>> file = io.BytesIO()
    >>> save(TOCC(), file, about={"features": ["Na", "Mg"]})
    >>> read_about(file)["class"], read_about(file)["about"]
    ('transvariation.tocc.TOCC', {'features': ['Na', 'Mg']})
    """
    with _opened(path) as file, _errors_explained(path, file), zipfile.ZipFile(file) as archive:
        header = _read_header(archive)
        return {key: header[key] for key in ("class", "version", "written_by", "about")}


def _packed(header: dict[str, Any], model: Any) -> bytes:
    """Write the archive. It holds neither dates nor memory addresses: the same model gives the same bytes."""
    import skops.io

    content = io.BytesIO()
    written = io.BytesIO(skops.io.dumps(_converted(model, _frame_to_table)))
    with zipfile.ZipFile(written) as source, zipfile.ZipFile(content, "w") as target:
        schema = json.loads(source.read(SCHEMA))
        number = 0
        for node in _nodes(schema):
            node.pop("__id__", None)
            if "file" in node:
                name, number = f"{number}.npy", number + 1
                target.writestr(zipfile.ZipInfo(name), source.read(node["file"]))
                node["file"] = name
        for name, value in ((SCHEMA, schema), (HEADER, header)):
            target.writestr(zipfile.ZipInfo(name), json.dumps(value, indent=1))
    return content.getvalue()


@dataclass
class Table:
    """A DataFrame in a form that skops supports."""

    columns: list[Any]
    index: np.ndarray
    values: list[np.ndarray]


def _converted(value: Any, convert: Callable[[Any], Any]) -> Any:
    """Copy estimators and containers, converting what is in them.

    Metadata requests are left out: they refer back to their estimator, which skops refuses.
    """
    from sklearn.base import BaseEstimator

    if type(value) in (list, tuple):
        return type(value)(_converted(item, convert) for item in value)
    if type(value) is dict:
        return {key: _converted(item, convert) for key, item in value.items()}
    if not isinstance(value, BaseEstimator):
        return convert(value)
    plain = copy.copy(value)
    attributes = {name: item for name, item in vars(plain).items() if name != "_metadata_request"}
    plain.__dict__.clear()
    plain.__dict__.update({name: _converted(item, convert) for name, item in attributes.items()})
    return plain


def _frame_to_table(value: Any) -> Any:
    import pandas as pd

    if not isinstance(value, pd.DataFrame):
        return value
    values = [value.iloc[:, j].to_numpy() for j in range(value.shape[1])]
    return Table(list(value.columns), value.index.to_numpy(), values)


def _table_to_frame(value: Any) -> Any:
    import pandas as pd

    if not isinstance(value, Table):
        return value
    if not all(isinstance(column, np.ndarray) for column in (value.index, *value.values)):
        raise ModelFileError("the columns of a table are not arrays")
    frame = pd.DataFrame(dict(enumerate(value.values)), index=value.index)
    return frame.set_axis(value.columns, axis=1)


def _load(file: BinaryIO, trusted: set[str] | None) -> Any:
    """Check the archive, build the model, check the model. `trusted=None` trusts what :func:`save` has just written."""
    import skops.io
    from sklearn.base import BaseEstimator
    from skops.io.exceptions import UntrustedTypesFoundException

    with zipfile.ZipFile(file) as archive:
        header = _read_header(archive)
        named = _check_schema(archive, trusted)
    known = named if trusted is None else trusted
    ours = {name for name in named if name.startswith("transvariation.") and _our_class(name)}
    file.seek(0)
    try:
        model = skops.io.load(file, trusted=sorted(_TRUSTED | ours | known))
    except UntrustedTypesFoundException:
        unknown = sorted(set(skops.io.get_untrusted_types(file=file)) - _TRUSTED - ours - known)
        raise ModelFileError(
            f"it holds types that are not trusted: {unknown}; if you trust the origin of the file, name them: "
            f"load(..., trusted={unknown})"
        ) from None
    if not isinstance(model, BaseEstimator):
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


def _read_header(archive: zipfile.ZipFile) -> dict[str, Any]:
    """Check that no member unpacks to more than the file holds, and read what the file is."""
    members = archive.infolist()
    if sum(member.compress_size for member in members) > archive.start_dir:
        raise ModelFileError("members of the archive overlap; no model file is written so")
    names = [member.filename for member in members]
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
            raise ModelFileError(f"the member {member.filename!r} is compressed; no model file is written so")
    if len(set(names)) < len(names):
        raise ModelFileError("a member of the archive occurs twice; no model file is written so")
    if HEADER not in names:
        raise ModelFileError(_what_else(archive, names))
    header = json.loads(archive.read(HEADER))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"{HEADER} is not that of a model file")
    if header.get("version") != VERSION:
        raise ModelFileError(
            f"format version {header.get('version')!r} is unknown; this version of transvariation reads {VERSION}, a "
            "newer one may read it"
        )
    kinds = {"class": str, "written_by": str, "about": dict, "attributes": list, "scores_zeros": bool}
    for key, kind in kinds.items():
        if not isinstance(header.get(key), kind):
            raise ModelFileError(f"{HEADER} lacks {key!r}: the file is damaged or was changed")
    return header


def _what_else(archive: zipfile.ZipFile, names: list[str]) -> str:
    """Describe an archive that is not a model file of this format."""
    if OLD_HEADER in names:
        old = json.loads(archive.read(OLD_HEADER))
        return (
            f"it is of format {old.get('version')!r}, written by {old.get('written_by', 'an early version')}, and "
            f"holds a {old['model']['object']}; this version reads format {VERSION}: fit the model again and save it"
        )
    if SCHEMA in names:
        return "it was written by skops, not by transvariation.save; load it with skops.io.load"
    return "it is a ZIP archive, but not a model file"


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Iterate over the nodes of a skops schema, parents first."""
    stack = [(schema, 0)]
    while stack:
        value, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise ModelFileError(f"the model nests more than {MAX_DEPTH} levels deep")
        if isinstance(value, dict):
            if "__loader__" in value:
                yield value
            stack += [(child, depth + 1) for child in value.values()]
        elif isinstance(value, list):
            stack += [(child, depth + 1) for child in value]


def _check_schema(archive: zipfile.ZipFile, trusted: set[str] | None) -> set[str]:
    """Check that building the model takes no more than the file holds; return the names of the types in it."""
    named = set()
    unused = set(archive.namelist()) - {HEADER, SCHEMA}
    schema = json.loads(archive.read(SCHEMA))
    if schema["protocol"] < PROTOCOL:  # earlier ones name types in other places
        raise ModelFileError(f"protocol {schema['protocol']!r} of skops is not used in model files")
    for node in _nodes(schema):
        loader, name = node["__loader__"], f"{node['__module__']}.{node['__class__']}"
        if not _is_allowed(loader, name, trusted):
            raise ModelFileError(f"{name!r} cannot be kept in a model file (as {loader!r})")
        if "__id__" in node:  # skops would take an earlier node instead, and visit it once for each such reference
            raise ModelFileError("it refers to one object from several places; save writes no such file")
        if loader == "NdArrayNode" and node["type"] == "numpy":
            if node["file"] not in unused:
                raise ModelFileError(f"the array {node['file']!r} is missing, or is used twice")
            unused.remove(node["file"])
            _check_array(archive, node["file"])
        elif loader == "NdArrayNode" and len(node["shape"]["content"]) != 1:
            raise ModelFileError("an array of objects has more than one dimension")
        if name == "builtins.range" and len(range(*map(_plain, node["content"]["content"]))) > MAX_RANGE:
            raise ModelFileError(f"a range has more than {MAX_RANGE} values")
        if loader == "ObjectNode" and name.startswith("transvariation."):
            _check_attributes(node, name, archive.start_dir)
        named.add(name)
    if unused:
        raise ModelFileError(f"the member {min(unused)!r} belongs to nothing in the model")
    return named


def _is_allowed(loader: str, name: str, trusted: set[str] | None) -> bool:
    """Return whether skops may build a type from a node of this kind, as far as it is not for skops to decide."""
    if name.startswith("transvariation."):
        return loader in ("ObjectNode", "TupleNode")  # attributes are set; nothing is called
    if loader in _TYPES:
        return name in _TYPES[loader] or trusted is None or name in trusted
    if loader == "LossNode":
        return name.startswith("sklearn.")
    return loader in _OPEN and not any(name in types for types in _TYPES.values())


def _plain(node: dict[str, Any]) -> Any:
    """Read a number or a string; raise KeyError for anything else."""
    return json.loads(node["content"]) if node["__loader__"] == "JsonNode" else node["not plain"]


def _check_attributes(node: dict[str, Any], name: str, size: int) -> None:
    """Check that an object has its parameters, and no learned number that is larger than what the file can hold.

    Such a number may be the size of an array.
    """
    state = node["content"]
    parameters: list[str] = getattr(_our_class(name), "_get_param_names", list)()
    nothing = state["__loader__"] == "JsonNode" and _plain(state) is None  # an object without attributes
    attributes = {} if nothing else state["content"]
    if missing := set(parameters) - attributes.keys():
        raise ModelFileError(f"{name} lacks its parameter {min(missing)!r}")
    for key, value in attributes.items():
        if value["__loader__"] == "JsonNode" and key not in parameters:
            number = _plain(value)
            if isinstance(number, int) and abs(number) > max(size, MAX_INTEGER):
                raise ModelFileError(f"{key}={number} is not possible in a file of {size} bytes")


def _check_array(archive: zipfile.ZipFile, name: str) -> None:
    """Check that an array has the size in its header: NumPy allocates the memory first."""
    size = archive.getinfo(name).file_size
    with archive.open(name) as file:
        version = np.lib.format.read_magic(file)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in readers:
            raise ModelFileError(f"the array {name!r} has the unknown format {version}")
        shape, _, dtype = readers[version](file)
        plain = not dtype.hasobject and dtype.itemsize and all(type(n) is int and 0 <= n <= size for n in shape)
        if not plain or math.prod(shape) * dtype.itemsize != size - file.tell():
            raise ModelFileError(f"the array {name!r} is not what its header says: {dtype}, {shape}")


def _our_class(name: str) -> type | None:
    module, _, attribute = name.rpartition(".")
    if not re.fullmatch(r"transvariation(\.[a-z]\w*)+", module):  # no __main__, which would run
        return None
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError:
        return None
    return found if isinstance(found, type) and found.__module__ == module else None


def _check_complete(header: dict[str, Any], model: Any, size: int) -> None:
    """Check that the model has all attributes that were saved, and scores a row as it did then."""
    kind = f"{type(model).__module__}.{type(model).__name__}"
    if (kind, sorted(vars(model))) != (header["class"], header["attributes"]):
        raise ModelFileError("the model is not the one that was saved: attributes were removed or added")
    n, names = getattr(model, "n_features_in_", None), getattr(model, "feature_names_in_", None)
    if n is not None and not (isinstance(n, int | np.integer) and 0 < n <= size):
        raise ModelFileError(f"n_features_in_={n!r} is not possible in a file of {size} bytes")
    if names is not None and not (isinstance(names, np.ndarray) and names.shape == (n,)):
        raise ModelFileError(f"feature_names_in_ does not name {n} features")
    if header["scores_zeros"]:
        try:
            _score_zeros(model)
        except Exception as error:
            raise ModelFileError(
                "the model is incomplete: it could score a row when it was saved, and now cannot "
                f"({type(error).__name__}: {error})"
            ) from error


def _scores_zeros(model: Any) -> bool:
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


def _score_zeros(model: Any) -> None:
    import pandas as pd

    row: Any = np.zeros((1, model.n_features_in_))
    if hasattr(model, "feature_names_in_"):
        row = pd.DataFrame(row, columns=model.feature_names_in_)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for method in ("predict", "p_values", "transform"):
            if hasattr(model, method):
                getattr(model, method)(row)
        if hasattr(model, "coverage_report"):
            model.coverage_report()
