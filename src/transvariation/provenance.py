"""Record what made a result: command, versions, kind of machine."""

import os
import platform
import shlex
import sys
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("transvariation", "numpy", "scipy", "scikit-learn", "pandas", "matplotlib", "numba", "lir", "typst")


def provenance(command: str, **parameters: object) -> dict[str, str]:
    """List the exact versions, the command and the parameters that a result came from."""
    found = {name: str(value) for name, value in parameters.items()}
    found = {"command": command} | found | {"cores": str(os.cpu_count())}
    found |= {"python": platform.python_version(), "system": platform.system()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def command_line() -> str:
    """Return the command as it can be typed again, without the path of the program.

    Bytes that are not UTF-8 are escaped.
    """
    typed = shlex.join(["transvariation", *sys.argv[1:]])
    return os.fsencode(typed).decode("utf-8", "backslashreplace")
