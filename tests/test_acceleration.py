"""Compiled kernels are optional: they load without a cache folder, and a broken numba is reported."""

import subprocess
import sys
from pathlib import Path

import pytest

import transvariation

NO_FOLDER = """
from numba.core.caching import CompileResultCacheImpl
CompileResultCacheImpl._locator_classes = []  # no folder that could be written
from importlib import import_module
for module in MODULES:
    import_module(module)
"""

NO_IMPORT = """
import numpy as np, warnings
from transvariation import TOCC
with warnings.catch_warnings(record=True, action="always") as heard:
    classifier = TOCC().fit(np.random.default_rng(0).normal(size=(60_000, 2)))
assert (classifier.predict([[0.0, 0.0], [9.0, 9.0]]) == [1, -1]).all()
assert [str(w.message) for w in heard] == [
    "numba is installed but cannot be imported (needs another NumPy); the slower NumPy code runs instead: upgrade "
    "numba, or uninstall it"
], [str(w.message) for w in heard]
"""


def test_kernels_load_without_a_cache_folder():
    pytest.importorskip("numba")
    root = Path(transvariation.__file__).parent
    files = [path for folder in ("depth", "density") for path in (root / folder / "compiled").glob("*.py")]
    names = [".".join(("transvariation", *path.relative_to(root).with_suffix("").parts)) for path in files]
    modules = [name.removesuffix(".__init__") for name in names]
    assert {"transvariation.depth.compiled.counting", "transvariation.depth.compiled.median"} <= set(modules)
    subprocess.run([sys.executable, "-c", NO_FOLDER.replace("MODULES", repr(modules))], check=True)


def test_numba_that_cannot_be_imported_is_reported_and_not_needed(tmp_path):
    (tmp_path / "numba.py").write_text('raise ImportError("needs another NumPy")')
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + NO_IMPORT
    subprocess.run([sys.executable, "-c", code], check=True)
