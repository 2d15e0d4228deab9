"""Check the archive of a model file before it is built.

The numbers in a small file can require any amount of memory or time, and skops by itself builds what it is told to.
"""

import hashlib
import json
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from transvariation._typing import Fields

FORMAT, VERSION = "transvariation model", 4
HEADER, SCHEMA = "transvariation.json", "schema.json"
MAX_DEPTH = 200  # levels of JSON; each estimator inside another takes about six
MAX_RANGE = 10_000
MAX_INTEGER = 10**7  # of learned numbers, unless the file is larger
MIN_PROTOCOL = 2  # of skops, at least

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
    "ConstructorFromReduceNode": {
        "builtins.range",
        "builtins.frozenset",
        *(f"{module}.{kind}Path" for module in ("pathlib", "pathlib._local") for kind in ("Posix", "Windows")),
    },
}
# Their types are left to skops: scikit-learn's estimators, NumPy's functions, and those trusted below or by the caller.
_OPEN = {"ObjectNode", "TupleNode", "FunctionNode", "TreeNode", "LossNode"}
TRUSTED = _TYPES["DTypeNode"] | _TYPES["ConstructorFromReduceNode"]


class ModelFileError(ValueError):
    """A file is not a model file, is damaged or incomplete, or contains types that are not trusted."""


def read_header(archive: zipfile.ZipFile) -> Fields:
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
        by_skops = "it was written by skops, not by transvariation.save; load it with skops.io.load"
        raise ModelFileError(by_skops if SCHEMA in names else "it is a ZIP archive, but not a model file")
    header = json.loads(archive.read(HEADER))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"{HEADER} is not that of a model file")
    if header.get("version") != VERSION:
        raise ModelFileError(
            f"format version {header.get('version')!r} is unknown; this version of transvariation reads {VERSION}, a "
            "newer one may read it"
        )
    kinds = {"class": str, "written_by": str, "about": dict, "attributes": list, "scores_zeros": bool, "sha256": str}
    for key, kind in kinds.items():
        if not isinstance(header.get(key), kind):
            raise ModelFileError(f"{HEADER} lacks {key!r}: the file is damaged or was changed")
    return header


def fingerprint(header: Fields, names: Iterable[str], read: Callable[[str], bytes]) -> str:
    """Compute the SHA-256 of a model: of all members of its archive, the header without the SHA-256 itself."""
    own = {key: value for key, value in header.items() if key != "sha256"}
    digest = hashlib.sha256(json.dumps(own, sort_keys=True).encode())
    for name in sorted(set(names) - {HEADER}):
        content = read(name)
        digest.update(f"{name} {len(content)}\n".encode("utf-8", "backslashreplace") + content)
    return digest.hexdigest()


def schema_nodes(schema: object) -> Iterator[Fields]:
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


def check_schema(archive: zipfile.ZipFile, trusted: set[str] | None) -> set[str]:
    """Check that building the model takes no more than the file holds; return the names of the types in it."""
    named = set()
    unused = set(archive.namelist()) - {HEADER, SCHEMA}
    schema = json.loads(archive.read(SCHEMA))
    if schema["protocol"] < MIN_PROTOCOL:  # earlier ones name types in other places
        raise ModelFileError(f"protocol {schema['protocol']!r} of skops is not used in model files")
    for node in schema_nodes(schema):
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


def _plain(node: Fields) -> Any:  # noqa: ANN401  # parsed JSON
    """Read a number or a string; raise KeyError for anything else."""
    return json.loads(node["content"]) if node["__loader__"] == "JsonNode" else node["not plain"]


def _check_attributes(node: Fields, name: str, size: int) -> None:
    """Check that an object has its parameters, and no learned number that is larger than what the file can hold.

    Such a number may be the size of an array.
    """
    state = node["content"]
    parameters: list[str] = getattr(our_class(name), "_get_param_names", list)()
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


def our_class(name: str) -> type | None:
    """Return a class of this package by its full name; None if there is none."""
    module, _, attribute = name.rpartition(".")
    if not re.fullmatch(r"transvariation(\.[a-z]\w*)+", module):  # no __main__, which would run
        return None
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError:
        return None
    return found if isinstance(found, type) and found.__module__ == module else None
