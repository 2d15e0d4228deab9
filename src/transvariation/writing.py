"""Files to write: never over what they are made from."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def check_outputs(outputs: Iterable[Path | None], inputs: Iterable[Any] = ()) -> None:
    """Refuse, before any work is done, an output that would replace an input or another output.

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
        written.append(path)


def _same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)  # by whatever name or link
    return os.path.realpath(one) == os.path.realpath(other)
