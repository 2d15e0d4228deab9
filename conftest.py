"""Set up the test session: one thread per process, and the package imported before its files are collected.

Workers of pytest-xdist share the cores, and threads of BLAS would only compete. Without the early import a module could
be imported twice under different names when its doctests are collected, and its classes would differ.
"""

import os
from importlib import import_module
from importlib.util import find_spec

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import transvariation.baselines
import transvariation.projection_ensemble  # noqa: F401

collect_ignore = [] if find_spec("dask") else ["docs/howto/scale.md"]  # all of it needs Dask

MODULES = (
    "baselines",
    "casework",
    "dask",
    "datasets",
    "density",
    "displays",
    "exceptions",
    "metrics",
    "monitoring",
    "persistence",
    "preprocessing",
    "report.case",
    "spectral_bands",
    "studies.simulation",
    "tables",
)
PUBLIC = {
    name
    for module in ("", *(f".{name}" for name in MODULES))
    if module != ".dask" or find_spec("dask")
    for name in import_module(f"transvariation{module}").__all__
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the examples of public names in an empty namespace, as they run when pasted into an interpreter."""
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.path.suffix == ".py" and item.dtest is not None:
            name = item.dtest.name.removeprefix(item.dtest.globs["__name__"]).lstrip(".")
            if name.split(".")[0] in PUBLIC:
                item.dtest.globs.clear()
