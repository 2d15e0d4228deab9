"""The file itself: a ZIP of a JSON manifest and .npy arrays, each with its checksum; read without trust."""

import errno
import hashlib
import io
import json
import math
import os
import zipfile
from pathlib import Path
from typing import Any, BinaryIO, Union

import numpy as np

from transvariation.atomic_write import replacing
from transvariation.persistence.errors import ModelFileError

FORMAT = "transvariation model"
MANIFEST, CHECKSUM = "manifest.json", "manifest.sha256"
KINDS = "biufcU"  # booleans, whole and real and complex numbers, text: nothing that runs

Place = Union[str, "os.PathLike[str]", BinaryIO]


def write_archive(target: Place, manifest: dict[str, Any], arrays: list[np.ndarray]) -> None:
    """Write a model file; a file of that name is replaced only once the new one is complete."""
    content = _packed(manifest, arrays)
    if not isinstance(target, str | os.PathLike):
        target.write(content)
        return
    with replacing(Path(target)) as unfinished:
        unfinished.write_bytes(content)


def _packed(manifest: dict[str, Any], arrays: list[np.ndarray]) -> bytes:
    members: dict[str, bytes] = {}
    table = []
    for i, array in enumerate(arrays):
        file = io.BytesIO()
        np.lib.format.write_array(file, array, allow_pickle=False)
        members[_member(i)] = file.getvalue()
        table.append({"dtype": array.dtype.str, "shape": list(array.shape), "sha256": _sha256(file.getvalue())})
    text = json.dumps({**manifest, "arrays": table}, indent=1, allow_nan=False).encode()
    members = {MANIFEST: text, CHECKSUM: _sha256(text).encode(), **members}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)  # dated 1980: the same model gives the same bytes
    return file.getvalue()


def read_archive(source: Place) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Read a model file's manifest and arrays, and check every byte of them against its checksum."""
    try:
        return _read(source)
    except ModelFileError as error:
        if isinstance(source, str | os.PathLike):
            raise ModelFileError(f"{os.fspath(source)}: {error}") from error
        raise


def _read(source: Place) -> tuple[dict[str, Any], list[np.ndarray]]:
    try:
        with zipfile.ZipFile(source) as archive:
            members = _members(archive)
        manifest = _manifest(members)
        arrays = [_array(_member(i), members.get(_member(i)), entry) for i, entry in enumerate(manifest["arrays"])]
    except ModelFileError:
        raise
    except (
        zipfile.BadZipFile,
        EOFError,
        NotImplementedError,
        RuntimeError,
        OverflowError,
        OSError,
        ValueError,
    ) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # that is a place before the file's beginning
            raise
        raise ModelFileError(f"this is no model file, or it is truncated or damaged: {error}") from None
    if unknown := sorted(members.keys() - {MANIFEST, CHECKSUM} - {_member(i) for i in range(len(arrays))}):
        raise ModelFileError(f"the file holds {unknown[0]!r}, which its manifest does not list: it was tampered with")
    return manifest, arrays


def _members(archive: zipfile.ZipFile) -> dict[str, bytes]:
    members: dict[str, bytes] = {}
    if sum(info.compress_size for info in archive.infolist()) > archive.start_dir:
        raise ModelFileError("the archive's members overlap, which those of no model file do: refused")
    for info in archive.infolist():
        # Nothing is compressed, so that nothing can unpack to more than the file weighs.
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size or info.filename in members:
            raise ModelFileError(
                f"the member {info.filename!r} is compressed or doubled, which no model file has: refused"
            )
        members[info.filename] = archive.read(info)
    return members


def _manifest(members: dict[str, bytes]) -> dict[str, Any]:
    text = members.get(MANIFEST)
    if text is None or CHECKSUM not in members:
        raise ModelFileError("the archive has no manifest: it is no model file")
    if _sha256(text).encode() != members[CHECKSUM]:
        raise ModelFileError("the manifest does not match its checksum: the file was changed since it was written")
    try:
        manifest = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"the manifest cannot be read: {error}") from None
    if (
        not isinstance(manifest, dict)
        or manifest.get("format") != FORMAT
        or not isinstance(manifest.get("arrays"), list)
    ):
        raise ModelFileError("the manifest is not that of a transvariation model")
    return manifest


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _array(name: str, content: bytes | None, entry: Any) -> np.ndarray:
    if content is None or not isinstance(entry, dict):
        raise ModelFileError(f"the array {name!r} is missing: the file is incomplete")
    if _sha256(content) != entry.get("sha256"):
        raise ModelFileError(
            f"the array {name!r} does not match its checksum: the file was changed since it was written"
        )
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = read(file)
    except Exception as error:  # NumPy has the header parsed as Python, where a stranger's may fail in any way
        raise ModelFileError(f"the array {name!r} cannot be read: {error}") from None
    # Checked before anything is reserved: a header may claim any size, also of items without one.
    plain = dtype.kind in KINDS and dtype.itemsize and all(type(n) is int and n >= 0 for n in shape)
    if not plain or math.prod(shape) * dtype.itemsize != len(content) - file.tell():
        raise ModelFileError(f"the array {name!r} is not what its header says: refused")
    if dtype.str != entry.get("dtype") or list(shape) != entry.get("shape"):
        raise ModelFileError(f"the array {name!r} is not what the manifest says: refused")
    values = np.frombuffer(content, dtype=dtype, offset=file.tell())
    return values.reshape(shape, order="F" if fortran else "C").copy(order="K")


def _member(number: int) -> str:
    return f"arrays/{number}.npy"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
