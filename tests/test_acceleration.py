"""Compiled kernels are optional: they load without a cache folder, and a broken numba is reported."""

import os
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
    files = [root / "depth" / "compiled.py", *(root / "density" / "compiled").glob("*.py")]
    names = [".".join(("transvariation", *path.relative_to(root).with_suffix("").parts)) for path in files]
    modules = [name.removesuffix(".__init__") for name in names]
    assert {"transvariation.depth.compiled", "transvariation.density.compiled.mixture"} <= set(modules)
    subprocess.run([sys.executable, "-c", NO_FOLDER.replace("MODULES", repr(modules))], check=True)


def test_numba_that_cannot_be_imported_is_reported_and_not_needed(tmp_path):
    (tmp_path / "numba.py").write_text('raise ImportError("needs another NumPy")')
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + NO_IMPORT
    subprocess.run([sys.executable, "-c", code], check=True)


SAME = """
import hashlib, sys
if "without" in sys.argv:
    sys.modules["numba"] = None
import numpy as np
from transvariation import TOCC, NeighborTOCC, PAMTOCC, load_glass
from transvariation.casework import judge
glass = load_glass()
features = ["Na", "Mg", "Al", "Ca"]
found = judge(glass.control[features], glass.recovered[features].iloc[:10], seed=3)
words = [(c.fragment, c.accepted, round(c.p_value, 12)) for c in found.conclusions]
X = np.random.default_rng(0).normal(size=(60_000, 2))  # enough for compiled code
for model, n in ((TOCC(), 60_000), (PAMTOCC(n_clusters=3), 1000), (NeighborTOCC(calibration="cv"), 1000)):
    words.append(np.round(model.fit(X[:n]).score_samples(X[:300]), 9).tolist())
print(hashlib.sha256(repr(words).encode()).hexdigest())
"""


@pytest.mark.slow
def test_results_do_not_depend_on_hash_seeds_threads_or_numba():
    """Equal up to the twelfth digit of p-values and the ninth of scores, over processes that differ in all three."""
    found = set()
    for seed, threads, numba in (("0", "1", "with"), ("12345", "2", "without")):
        changes = {"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        done = subprocess.run(
            [sys.executable, "-c", SAME, numba],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, **changes},
        )
        found.add(done.stdout.strip())
    assert len(found) == 1
