"""Write files completely or not at all, and never over their own inputs."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary file name to write to; the file replaces `path` when the block ends without an error.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "report.html")) as unfinished:
    ...         _ = unfinished.write_text("whole")
    ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
    [('report.html', 'whole')]
    """
    _check_place(path)
    if _is_device(path):
        yield path
        return
    place = Path(os.path.realpath(path))  # a link stays a link
    # A random name: several threads or machines may write the same file at a time.
    unfinished = place.with_name(f".{place.name}.{secrets.token_hex(4)}.unfinished")
    try:
        yield unfinished
        if place.exists():
            shutil.copymode(place, unfinished)
        os.replace(unfinished, place)
    finally:
        unfinished.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, completely or not at all."""
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def check_outputs(outputs: Iterable[Path | None], inputs: Iterable[object] = ()) -> None:
    """Raise an error if an output cannot be written or would replace an input or another output.

    Call this before any work is done. An output that is not wanted is None; inputs that are not paths are ignored.

    Examples
    --------
    >>> check_outputs([Path("case.html"), Path("./case.html")])
    Traceback (most recent call last):
    ValueError: 'case.html' is to be written twice; give each file a different name
    """
    read = [Path(each) for each in inputs if isinstance(each, str | os.PathLike)]
    written: list[Path] = []
    for path in (Path(each) for each in outputs if each is not None):
        if any(_same(path, each) for each in read):
            raise ValueError(f"'{path}' is read by this command and would be lost; give the output another name")
        if any(_same(path, each) for each in written):
            raise ValueError(f"'{path}' is to be written twice; give each file a different name")
        _check_place(path)
        written.append(path)


def make_folder(path: Path) -> None:
    """Create a folder unless it exists; raise an error if it cannot be written to."""
    path.mkdir(parents=True, exist_ok=True)
    _check_writable(path)


def _same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)  # by whatever name or link
    return os.path.realpath(one) == os.path.realpath(other)


def _check_place(path: Path) -> None:
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(folder))
    # A file is replaced by a new one, so its folder must be writable; a read-only file is never replaced.
    needed = [path] if _is_device(path) else [folder, *([path] if path.exists() else [])]
    for each in needed:
        _check_writable(each)


def _check_writable(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "this may not be written to", str(path))


def _is_device(path: Path) -> bool:
    """Return whether this is a pipe or a device, which is written to directly."""
    return path.exists() and not path.is_file()
