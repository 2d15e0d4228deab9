"""Files written whole or not at all, and never over what they are made from."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give the name of a file to write; it takes the place of `path` once the block has ended well.

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
    # A name by lot: several threads or machines may write the same file at a time.
    unfinished = place.with_name(f".{place.name}.{secrets.token_hex(4)}.unfinished")
    try:
        yield unfinished
        if place.exists():
            shutil.copymode(place, unfinished)
        os.replace(unfinished, place)
    finally:
        unfinished.unlink(missing_ok=True)


def check_outputs(outputs: Iterable[Path | None], inputs: Iterable[Any] = ()) -> None:
    """Refuse, before any work is done, an output that has no place or would replace an input or another output.

    An output that was not asked for is None; an input that is no path lies in memory and is safe.

    Examples
    --------
    >>> check_outputs([Path("case.html"), Path("./case.html")])
    Traceback (most recent call last):
    ValueError: 'case.html' is to be written twice; give each file a name of its own
    """
    read = [Path(each) for each in inputs if isinstance(each, str | os.PathLike)]
    written: list[Path] = []
    for path in (Path(each) for each in outputs if each is not None):
        if any(_same(path, each) for each in read):
            raise ValueError(f"'{path}' is read by this command and would be lost; give the output another name")
        if any(_same(path, each) for each in written):
            raise ValueError(f"'{path}' is to be written twice; give each file a name of its own")
        _check_place(path)
        written.append(path)


def make_folder(path: Path) -> None:
    """Make a folder to fill where there is none, or say why not, before any work is done."""
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
    # A file is replaced by a new one, which its folder must allow; what is marked as not to be written stays.
    needed = [path] if _is_device(path) else [folder, *([path] if path.exists() else [])]
    for each in needed:
        _check_writable(each)


def _check_writable(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "this may not be written to", str(path))


def _is_device(path: Path) -> bool:
    """Tell a pipe or a device, which is written to as it is."""
    return path.exists() and not path.is_file()
