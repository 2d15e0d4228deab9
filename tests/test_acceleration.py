"""The compiled kernels are a help where they can be had, and in nobody's way where not."""

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
with warnings.catch_warnings(record=True, action="always") as told:
    rule = TOCC().fit(np.random.default_rng(0).normal(size=(60_000, 2)))
assert (rule.predict([[0.0, 0.0], [9.0, 9.0]]) == [1, -1]).all()
assert [str(w.message) for w in told] == [
    "numba is installed but cannot be imported (needs another NumPy); NumPy does its work, which takes longer: "
    "upgrade numba, or uninstall it"
], [str(w.message) for w in told]
"""


def test_kernels_need_no_folder_to_be_kept_in():
    pytest.importorskip("numba")
    root = Path(transvariation.__file__).parent
    files = [path for folder in ("depth", "density") for path in (root / folder / "compiled").glob("*.py")]
    names = [".".join(("transvariation", *path.relative_to(root).with_suffix("").parts)) for path in files]
    modules = [*(name.removesuffix(".__init__") for name in names), "transvariation.baselines._som_numba"]
    assert len(modules) > 10
    subprocess.run([sys.executable, "-c", NO_FOLDER.replace("MODULES", repr(modules))], check=True)


def test_a_numba_that_cannot_be_imported_is_done_without(tmp_path):
    (tmp_path / "numba.py").write_text('raise ImportError("needs another NumPy")')
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + NO_IMPORT
    subprocess.run([sys.executable, "-c", code], check=True)
